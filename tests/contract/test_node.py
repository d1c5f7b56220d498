"""What is declared of nodes and ports, and what is refused in words."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import gridcore as gc
from gridcore.contract import Scope, Shape
from gridcore.equations import Trace


class Pole(gc.Node):
    """Two potentials, and one more variable with an equation of its own."""

    naming = "P-{id}"
    kind = "bipole"
    a = gc.Algebraic("pu", init=1.0)
    b = gc.Algebraic("pu", init=-1.0)
    gap = gc.Algebraic("pu", equals=lambda s: s.a - s.b)


def device(attaches, **body):
    return type("Made", (gc.Device,), {"attaches": attaches, **body})


def test_a_name_that_begins_with_bus_is_an_ac_bus_and_any_other_a_device():
    ports = device(("bus1", "machine", gc.Port("dc", node=Pole), gc.Port("host", node=gc.Source))).attaches
    assert ports == ("bus1", "machine", "dc", "host")
    assert [port.node for port in ports] == [gc.Bus, None, Pole, gc.Source]
    assert [port.at_node for port in ports] == [True, False, True, False]
    assert [port.at_bus for port in ports] == [True, False, False, False]
    assert [port.kind for port in ports] == ["bus", "device", "bipole", "Source"]
    assert device("bus").attaches == (gc.Port("bus", node=gc.Bus),)
    assert device("bus").attaches[0].node is gc.Bus


def test_a_port_says_what_may_stand_there():
    class Wide(gc.Bus):
        pass

    class Machine(gc.Source):
        pass

    accepts = {(port, cls): gc.Port(port, node).accepts(cls)
               for port, node in (("any", None), ("bus", gc.Bus), ("node", gc.Node), ("host", gc.Source))
               for cls in (Wide, Pole, Machine, gc.Load)}
    assert {key for key, may in accepts.items() if may} == {
        ("any", Machine), ("any", gc.Load), ("bus", Wide), ("node", Wide), ("node", Pole), ("host", Machine)}


def test_a_name_that_begins_with_bus_may_be_declared_as_something_else():
    assert device(gc.Port("busbar", node=Pole)).attaches[0].node is Pole


def test_ports_are_inherited_with_their_declarations():
    parent = device(("bus", gc.Port("dc", node=Pole)))
    child = type("Child", (parent,), {})
    assert [port.node for port in child.attaches] == [gc.Bus, Pole]
    assert child.node_ports() == ("bus", "dc")
    assert child.bus_ports() == ("bus",)


def test_a_port_survives_copies_and_pickles():
    port = gc.Port("dc", node=gc.Bus)
    for other in (copy.copy(port), copy.deepcopy(port), pickle.loads(pickle.dumps(port))):
        assert (other, other.node) == ("dc", gc.Bus)


@pytest.mark.parametrize("node", [int, "Bus", np.zeros])
def test_a_port_of_a_class_that_is_no_node_and_no_device_is_refused(node):
    with pytest.raises(gc.errors.DeviceError, match=r"port 'dc': .*(int|Bus|zeros).* is no Node and no Device"):
        gc.Port("dc", node=node)


@pytest.mark.parametrize(("attaches", "words"), [
    ((gc.Bus,), "attaches has Bus, which is neither the name of a port nor a Port"),
    ((3,), "attaches has 3, which is neither"),
    (("bus", gc.Port("bus", node=Pole)), "two of its ports have one name: bus, bus")])
def test_what_is_no_port_is_refused(attaches, words):
    with pytest.raises(gc.errors.DeviceError, match=words):
        device(attaches)


def test_flows_are_declared_once():
    with pytest.raises(gc.errors.DeviceError, match=r"Made has both flows\(\) and currents\(\)"):
        device("bus", flows=lambda s, bus: (0, 0), currents=lambda s, bus: (0, 0))


def test_a_node_has_no_residuals_of_its_own():
    with pytest.raises(gc.errors.DeviceError, match=r"Bad\.residuals: a node has none, its rows are sums of flows"):
        type("Bad", (gc.Node,), {"V": gc.Algebraic(), "residuals": lambda s: s.V})


def test_potentials_are_the_algebraic_variables_without_an_equation():
    assert Pole.potentials() == ("a", "b")
    assert gc.Bus.potentials() == ("Vr", "Vi")
    assert gc.Node.potentials() == ()


def test_the_rows_of_a_node_hold_it_at_zero_while_it_is_dead_and_its_own_equations_stay():
    values = {"a": 0.7, "b": -0.4, "gap": 2.0}
    for energised, expected in ((1.0, (0.0, 0.0)), (0.0, (0.7, -0.4))):
        scope = Scope(Shape(Pole), lambda path, name, on=energised: {**values, "energised": on}[name])
        a, b, gap = scope.residuals()
        assert (a, b) == expected
        assert gap == pytest.approx(1.1 - 2.0)


def test_numbers_are_ids_by_the_naming_of_the_class():
    assert [Pole.id_of(value) for value in (3, "3", "main")] == ["P-3", "3", "main"]
    assert [Pole.short(value) for value in ("P-3", "P-x", "main", 3)] == ["3", "P-x", "main", 3]
    assert gc.Bus.id_of(7) == "BUS7"


DC = Shape(Pole)


@pytest.mark.parametrize(("ports", "given", "expected"), [
    (("dc",), lambda s, dc: (1.0, 2.0), {"dc": (1.0, 2.0)}),
    (("dc",), lambda s, dc: np.array([1.0, 2.0]), {"dc": (1.0, 2.0)}),
    (("dc", "bus"), lambda s, dc, bus: ((1.0, 2.0), [3.0, 4.0]), {"dc": (1.0, 2.0), "bus": (3.0, 4.0)}),
    (("line", "dc"), lambda s, line, dc: (5.0, (1.0, 2.0)), {"line": (5.0,), "dc": (1.0, 2.0)}),
    (("line",), lambda s, line: 5.0, {"line": (5.0,)}),
    (("line",), lambda s, line: (5.0,), {"line": (5.0,)})])
def test_flows_are_a_tuple_for_each_node_and_a_number_where_there_is_one_potential(ports, given, expected):
    assert scope_of(ports, given).flows() == expected


@pytest.mark.parametrize(("ports", "given", "words"), [
    (("dc",), lambda s, dc: 1.0, r"flows\(\) must return one tuple for each of its nodes, .*: 2 at dc"),
    (("dc",), lambda s, dc: (1.0, 2.0, 3.0), "2 at dc"),
    (("dc",), lambda s, dc: ((1.0, 2.0), (3.0, 4.0)), "2 at dc"),
    (("dc", "line"), lambda s, dc, line: ((1.0, 2.0), 3.0, 4.0), "2 at dc, 1 at line"),
    (("dc", "line"), lambda s, dc, line: ((1.0, 2.0), (3.0, 4.0)), "2 at dc, 1 at line"),
    ((), lambda s: 1.0, "it has no node port")])
def test_flows_of_another_shape_are_refused_with_what_is_wanted(ports, given, words):
    with pytest.raises(gc.errors.DeviceError, match=words):
        scope_of(ports, given).flows()


class Single(gc.Node):
    """One potential."""

    V = gc.Algebraic("pu", init=1.0)


KINDS = {"dc": Pole, "bus": gc.Bus, "line": Single}


def scope_of(ports, flows):
    cls = device(tuple(gc.Port(port, node=KINDS[port]) for port in ports), flows=flows)
    return Scope(Shape(cls, tuple((port, Shape(KINDS[port])) for port in ports)), lambda path, name: 0.0)


def test_flows_go_to_the_rows_of_the_potentials_on_the_base_of_the_system():
    cls = device(gc.Port("dc", node=Pole), Sn=gc.Param("MVA", 50.0), flows=lambda s, dc: (dc.b, 2.0 * dc.a))
    trace = Trace(Shape(cls, (("dc", DC),)))
    assert [symbol for symbol, _ in trace.rows] == [(("dc",), "a"), (("dc",), "b")]
    assert [name for _, name in trace.symbols] == ["b", "a", "Sn", "base_mva", "status"]
