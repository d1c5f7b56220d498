"""Names and indices."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from devices_for_tests import registered, system

import gridcore as gc
from gridcore.contract import Algebraic, Device, Input, Mode, Param, Reference, Setpoint, State


class Plant(Device):
    a, b = Param("", 2.0), Param("", 3.0)
    u = Input("", 0.5)
    w = Input("", 0.25)
    Pset = Setpoint("", equals=lambda s: s.a)
    x, z = State(""), State("")
    y = Algebraic("")
    on = Mode(1)

    def rates(s):
        return s.u - s.x, s.w - s.z

    def residuals(s):
        return s.y - s.x - s.z


class Controller(Device):
    attaches = "plant"
    gain = Param("", 4.0)
    bias = Param("", 0.75, drives="plant.w")
    v = State("", drives="plant.u")

    def rates(s, plant):
        return s.gain - s.v


class Trim(Device):
    """Takes the place of a parameter wherever it is read."""

    target = Reference()
    by = Param("", 1.0)
    value = Algebraic("", drives="target")

    def residuals(s):
        return s.value - s.target - s.by


@pytest.fixture(scope="module", autouse=True)
def _registered():
    with registered(Plant, Controller, Trim):
        yield


@pytest.fixture
def plants():
    return system(Plant(id="P1"), Controller(id="C1", plant="P1"), Plant(id="P2", a=7.0), Plant(id="P3"),
                  Controller(id="C3", plant="P3", gain=5.0))


def test_the_buffer_is_variables_then_parameters_then_modes_then_time(plants):
    layout = plants.layout
    assert layout.size == len(plants.Z0) == layout.n + layout.n_p + layout.n_m + 1
    assert layout.n == 3 * 3 + 2
    for name in ("P1.x", "P3.y", "C3.v"):
        assert layout.address(name) < layout.n
    for name in ("P1.a", "P2.u", "P2.Pset", "C1.gain", "base.base_mva"):
        assert layout.n <= layout.address(name) < layout.n + layout.n_p
    for name in ("P1.on", "C3.status"):
        assert layout.n + layout.n_p <= layout.address(name) < layout.t


def test_labels_are_the_inverse_of_addresses(plants):
    layout = plants.layout
    labels = [layout.label(k) for k in range(layout.size - 1)]
    assert len(set(labels)) == len(labels)
    assert [layout.address(label) for label in labels] == list(range(layout.size - 1))


def test_variables_stand_in_the_order_of_the_case(plants):
    assert plants.variables[:5] == [("P1", "x"), ("P1", "z"), ("P1", "y"), ("C1", "v"), ("P2", "x")]
    assert plants.variables[-1] == ("C3", "v")


def test_values_stand_where_their_names_say(plants):
    Z, address = plants.Z0, plants.layout.address
    assert Z[address("P1.a")] == 2
    assert Z[address("P2.a")] == 7
    assert Z[address("C3.gain")] == 5
    assert Z[address("base.omega_b")] == pytest.approx(2 * np.pi * 60)
    assert Z[address("base.base_mva")] == 100
    assert Z[address("P2.status")] == Z[address("P2.on")] == 1


def test_the_instances_of_a_layout_say_where_their_values_are(plants):
    instance = plants.layout.instances[0]
    for ask in (lambda values: values["a"], lambda values: values.get("a"), lambda values: "a" in values, dict, len):
        with pytest.raises(gc.GridcoreError, match=r"system\.instances\[k\]\.values"):
            ask(instance.values)
    assert plants.instances[0].values["a"] == 2
    assert pickle.loads(pickle.dumps(plants)).layout.instances[0].id == instance.id


def test_a_driven_input_is_read_from_the_state_or_the_parameter_that_drives_it(plants):
    layout = plants.layout
    assert layout.source[layout.address("P1.u")] == layout.address("C1.v")
    assert layout.source[layout.address("P1.w")] == layout.address("C1.bias")
    assert layout.source[layout.address("P2.u")] == layout.address("P2.u")
    run = gc.simulate(plants, 0.1, 0.1)
    assert run["P1", "u"][0] == pytest.approx(4.0)
    assert run["P3", "u"][0] == pytest.approx(5.0)
    assert run["P2", "u"][0] == 0.5
    assert run["P1", "w"][0] == 0.75
    np.testing.assert_allclose(plants.Z0[: plants.n],
                               [4, .75, 4.75, 4, 0.5, .25, .75, 5, .75, 5.75, 5], rtol=1e-14)


def test_a_driven_input_is_no_parameter(plants):
    names = plants.layout.parameter_names
    assert "P2.u" in names
    assert "P1.u" not in names
    assert "P1.Pset" in names
    assert {"base.omega_b", "base.base_mva"} <= set(names)


def test_devices_of_one_shape_are_one_group(plants):
    groups = {g.shape.cls.__name__: [plants.layout.instances[i].id for i in g.members] for g in plants.layout.groups}
    assert groups == {"Plant": ["P1", "P2", "P3"], "Controller": ["C1", "C3"]}
    (controllers,) = (g for g in plants.layout.groups if g.shape.cls is Controller)
    assert [plants.layout.instances[i].id for i in controllers.at[("plant",)]] == ["P1", "P3"]


def test_one_class_on_different_hosts_has_different_shapes():
    s = gc.build("wscc9_paper")
    assert len({g.shape for g in s.layout.groups}) == len(s.layout.groups)
    assert sum(len(g) for g in s.layout.groups) == len(s.layout.instances)


def test_parameters_are_where_their_addresses_say(plants):
    layout = plants.layout
    assert {"P1.a", "P2.b", "C3.gain"} < set(layout.parameter_names)
    assert all(layout.address(name) == at for name, at in layout.parameter_names.items())


def test_unknown_names_are_refused_with_the_nearest(plants):
    layout = plants.layout
    with pytest.raises(gc.errors.CaseError, match=r"no device 'P4'.*P1"):
        layout.address("P4.a")
    with pytest.raises(gc.errors.CaseError, match=r"C1 \(Controller\) has no 'gian'.*gain"):
        layout.address("C1.gian")


def test_two_devices_that_drive_one_input_are_refused():
    with pytest.raises(gc.errors.GridcoreError, match=r"C2 and C1 both drive P\.w|C2 and C1 both drive P\.u"):
        system(Plant(id="P"), Controller(id="C1", plant="P"), Controller(id="C2", plant="P"))


def test_dependants_are_what_hangs_on_a_device_directly_or_not(plants):
    assert plants.network.dependants("P1") == ["C1"]
    assert plants.network.dependants("P2") == []
    s = gc.build("wscc9_recovery_loads")
    host = next(i for i in s.layout.instances if "branch" in i.ports)
    assert host.id in s.network.dependants(host.ports["branch"])


def test_a_device_goes_out_of_service_with_all_that_hang_on_it(plants):
    Z, address = plants.Z0.copy(), plants.layout.address
    plants.layout.set_status(Z, "P1", 0.0)
    assert [Z[address(f"{id}.status")] for id in ("P1", "C1", "P3", "C3")] == [0, 0, 1, 1]


# ---------------------------------------------------------------- references


def test_a_reference_takes_the_place_of_a_parameter_wherever_it_is_read():
    s = system(Trim(id="T", target="P.a", by=0.5), Plant(id="P"))
    assert s.Z0[s.layout.address("P.Pset")] == pytest.approx(2.5)
    assert s.Z0[s.layout.address("P.a")] == 2.0
    assert s.Z0[s.layout.address("T.value")] == pytest.approx(2.5)


def test_references_to_one_parameter_stand_in_a_row():
    s = system(Plant(id="P"), Trim(id="T1", target="P.a", by=0.5), Trim(id="T2", target="P.a", by=0.25))
    assert s.Z0[s.layout.address("T1.value")] == pytest.approx(2.5)
    assert s.Z0[s.layout.address("T2.value")] == pytest.approx(2.75)
    assert s.Z0[s.layout.address("P.Pset")] == pytest.approx(2.75)


def test_a_reference_to_a_driven_input_reads_the_driver():
    records = Plant(id="P"), Controller(id="C", plant="P"), Trim(id="T", target="P.u", by=1.0)
    for order in (records, records[::-1]):
        s = system(*order)
        assert s.Z0[s.layout.address("T.value")] == pytest.approx(5.0)
        assert s.Z0[s.layout.address("P.x")] == pytest.approx(5.0)


def test_a_step_of_a_driven_input_is_refused_for_it_would_do_nothing():
    records = Plant(id="P"), Controller(id="C", plant="P")
    with pytest.raises(gc.errors.CaseError, match=r"field 'parameter': P\.u is driven by C .* name one of C") as caught:
        system(*records, gc.ParameterStep(parameter="P.u", t=0.1, by=1.0))
    assert caught.value.field == "parameter"
    system(*records, gc.ParameterStep(parameter="C.gain", t=0.1, by=1.0))


@pytest.mark.parametrize(("order", "value"), [("+*+", 9.0), ("*+*", 14.0), ("++*", 10.0), ("*++", 8.0)])
def test_what_drives_one_parameter_acts_in_the_order_of_the_case_whatever_its_models(order, value):
    class Twice(gc.Device):
        target = gc.Reference()
        y = gc.Algebraic("", drives="target", equals=lambda s: 2.0 * s.target)

    class More(gc.Device):
        target = gc.Reference()
        y = gc.Algebraic("", drives="target", equals=lambda s: s.target + 1.0)

    class Reader(gc.Device):
        p = gc.Param("", 3.0)
        x = gc.Algebraic("", equals=lambda s: s.p)

    with gc.registered(Twice, More, Reader):
        case = gc.Case("chain")
        case.add(Reader(id="R"))
        for k, model in enumerate(order):
            case.add({"*": Twice, "+": More}[model](id=f"D{k}", target="R.p"))
        system = gc.build(case)
    assert system.Z0[system.layout.address("R.x")] == value
