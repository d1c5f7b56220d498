"""The graph of a case, and the islands that numbers alone find faster."""

from __future__ import annotations

import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from devices_for_tests import registered
from hypothesis import given, settings
from hypothesis import strategies as st

import gridcore as gc
from gridcore.case import validate
from gridcore.equations import Layout
from gridcore.network import Network
from gridcore.system.islands import Islands
from gridcore_example_dc import devices as dc


class Star(gc.Device):
    """Three windings between three buses."""

    attaches = ("bus1", "bus2", "bus3")
    g = gc.Param("pu", 1.0)

    def currents(s, bus1, bus2, bus3):
        re, im = (bus1.Vr + bus2.Vr + bus3.Vr) / 3, (bus1.Vi + bus2.Vi + bus3.Vi) / 3
        return tuple((s.g * (re - bus.Vr), s.g * (im - bus.Vi)) for bus in (bus1, bus2, bus3))


class Guest(gc.Device):
    """Hangs on two devices, or on one by two ports."""

    attaches = ("host", "other")


@pytest.fixture(autouse=True)
def _devices():
    with registered(*dc.DEVICES, Star, Guest):
        yield


def network(*records):
    case = gc.Case("test")
    case.records = list(records)
    return Network(validate(case).records)


def line(a, b, **fields):
    return gc.Record("Line", {"bus1": a, "bus2": b, "r": 0.0, "x": 0.1, **fields})


def star(a, b, c):
    return Star(bus1=a, bus2=b, bus3=c)


def dc_line(a, b):
    return dc.DCLine(dc1=a, dc2=b, r=0.1)


def converter(a, b):
    return dc.Converter(bus=a, dc=b, P0=0.1)


def buses(*numbers):
    return [gc.Bus(id=k) for k in numbers]


def test_nodes_are_node_devices_and_edges_are_what_connects_them():
    made = network(*buses(1, 2), dc.DCNode(id=1), line(1, 2), line(1, 2), dc.Converter(bus=2, dc=1, P0=0.1),
                   gc.Record("ZIP", {"bus": 1, "P0": 0.1}))
    assert isinstance(made.graph, nx.MultiGraph)
    assert list(made.graph.nodes(data="model")) == [("BUS1", "Bus"), ("BUS2", "Bus"), ("DC1", "DCNode")]
    assert list(made.graph.edges(keys=True)) == [
        ("BUS1", "BUS2", ("LINE1-2", "bus1", "bus2")), ("BUS1", "BUS2", ("LINE1-2_2", "bus1", "bus2")),
        ("BUS2", "DC1", ("CONV2-1", "bus", "dc"))]
    assert made.graph.edges["BUS2", "DC1", ("CONV2-1", "bus", "dc")] == {"device": "CONV2-1", "model": "Converter"}
    assert made.attached("BUS1") == ["LINE1-2", "LINE1-2_2", "LOAD1"]
    assert made.terminals("CONV2-1") == {"bus": "BUS2", "dc": "DC1"}


def test_a_device_with_three_terminals_is_edges_that_differ_and_connects_all_of_them():
    made = network(*buses(1, 2, 3, 4), Star(id="T", bus1=1, bus2=3, bus3=2))
    assert {frozenset(ends): key for *ends, key in made.graph.edges(keys=True)} == {
        frozenset({"BUS1", "BUS3"}): ("T", "bus1", "bus2"), frozenset({"BUS3", "BUS2"}): ("T", "bus2", "bus3")}
    assert {device for *_, device in made.graph.edges(data="device")} == {"T"}
    assert made.islands() == [["BUS1", "BUS2", "BUS3"], ["BUS4"]]
    assert made.islands({"T": False}) == [["BUS1"], ["BUS2"], ["BUS3"], ["BUS4"]]


def test_dependants_are_all_that_hangs_on_a_device_once_and_nearest_first():
    made = gc.build("wscc9").network
    assert made.dependants("GEN1") == ["EXC1"]
    assert made.dependants("BUS1") == []
    made = network(Guest(id="G", host="H", other="H"), gc.Ramp(id="H", parameter="H.scale", t0=0, t1=1),
                   gc.Trip(id="X", device="G", t=1.0), Guest(id="L", host="G", other="X"))
    assert made.dependants("H") == ["G", "X", "L"]
    assert made.dependants("L") == []


def test_devices_that_hang_on_each_other_in_a_ring_are_an_error_that_names_them():
    with pytest.raises(gc.errors.CaseError, match=r"hang on each other in a ring: [ABC], [ABC], [ABC]"):
        network(*(gc.Trip(id=a, device=b, t=1.0) for a, b in ("AB", "BC", "CA")))


def test_the_layout_reads_order_ports_and_dependants_from_the_network():
    system = gc.build("wscc9")
    assert system.layout.network is system.network
    assert [i.id for i in system.layout.instances] == [i.id for i in system.network.instances] == system.case.ids()
    exciter = system.layout.find("EXC2")
    assert system.layout.ports[exciter] == {"machine": system.layout.find("GEN2")}
    assert "EXC2" in system.network.dependants("GEN2")
    assert system.with_values({"GEN2.H": 5.0}).network is system.network  # values do not change it


def test_a_converter_joins_no_islands():
    made = network(*buses(1, 2), dc.DCNode(id=1), dc.Converter(bus=1, dc=1, P0=0.1), dc.DCNode(id=2),
                   dc.DCLine(dc1=1, dc2=2, r=0.1))
    assert made.islands() == [["BUS1"], ["BUS2"], ["DC1", "DC2"]]


def test_what_hangs_on_what_is_out_of_service_connects_nothing():
    made = network(*buses(1, 2), line(1, 2, status=0))
    assert made.islands() == [["BUS1"], ["BUS2"]]
    assert made.islands({"LINE1-2": True}) == [["BUS1", "BUS2"]]


@st.composite
def networks(draw):
    """Buses and DC nodes in any order, devices of two and three terminals between them, and a status for each."""
    count = draw(st.integers(2, 12))
    ac = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    nodes = [gc.Bus(id=k) if here else dc.DCNode(id=k) for k, here in enumerate(ac)]
    of = {True: [k for k in range(count) if ac[k]], False: [k for k in range(count) if not ac[k]]}
    devices = []
    for n in range(draw(st.integers(0, 15))):
        make, buses_wanted, dc_wanted = draw(st.sampled_from([
            (line, 2, 0), (star, 3, 0), (dc_line, 0, 2), (converter, 1, 1)]))
        if len(of[True]) < buses_wanted or len(of[False]) < dc_wanted:
            continue
        devices.append(make(*draw(st.permutations(of[True]))[:buses_wanted],
                            *draw(st.permutations(of[False]))[:dc_wanted]))
        devices[-1].fields["id"] = f"D{n}"
    status = {r.fields["id"]: draw(st.booleans()) for r in devices}
    return draw(st.permutations([*nodes, *devices])), status


@settings(max_examples=150, deadline=None)
@given(networks())
def test_islands_from_numbers_are_those_of_the_graph(made):
    records, status = made
    net = network(*records)
    layout = Layout(net)
    islands = Islands(layout)
    Z = np.ones(layout.size)
    for id, on in status.items():
        Z[layout.address(f"{id}.status")] = on
    count, island = islands.components(Z)
    found = [[net.nodes[k] for k in np.flatnonzero(island == i)] for i in range(count)]
    assert found == net.islands(status)
    assert islands.buses == [i for i in islands.nodes if layout.instances[i].model == "Bus"]
    assert [islands.nodes[k] for k in islands.bus_places] == islands.buses


@pytest.mark.parametrize("name", ["wscc9", "kundur", "ieee118"])
def test_islands_of_shipped_cases_after_any_one_trip(name):
    system = gc.build(name)
    branches = dict.fromkeys(device for *_, device in system.network.graph.edges(data="device"))
    for id in branches:
        Z = system.Z0.copy()
        Z[system.layout.address(f"{id}.status")] = 0
        count, island = system.islands.components(Z)
        expected = system.network.islands({id: False})
        assert count == len(expected)
        assert [[system.network.nodes[k] for k in np.flatnonzero(island == i)] for i in range(count)] == expected


@pytest.mark.parametrize(("ask", "says"), [
    (lambda net: net.islands({"LINE4-55": False}), "no device 'LINE4-55'; did you mean LINE4-5"),
    (lambda net: net.dependants("GEN4"), "no device 'GEN4'; did you mean GEN"),
    (lambda net: net.terminals("LINE4-7"), "no device 'LINE4-7'; did you mean LINE"),
    (lambda net: net.attached("BUS10"), "no node 'BUS10'; did you mean BUS1"),
    (lambda net: net.attached("GEN1"), "no node 'GEN1'")])
def test_a_name_that_is_not_there_is_answered_with_the_nearest(ask, says):
    with pytest.raises(gc.errors.CaseError, match=says):
        ask(gc.build("wscc9").network)


def test_networkx_is_loaded_when_its_graph_is_asked_for_and_by_no_run():
    code = ("import sys, gridcore as gc\nrun = gc.simulate('smib', t_end=0.02)\nassert 'networkx' not in sys.modules\n"
            "run.system.network.graph\nassert 'networkx' in sys.modules")
    subprocess.run([sys.executable, "-c", code], check=True)
