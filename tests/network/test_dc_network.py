"""A DC network, alone and beside an AC one: initial state, events, islands, results, messages."""

from __future__ import annotations

import numpy as np
import pytest
from devices_for_tests import registered

import gridcore as gc
from gridcore.testing import device_checks
from gridcore_example_dc import devices as dc
from gridcore_verbs.summary import describe_system, layout


@pytest.fixture(autouse=True)
def _devices():
    with registered(*dc.DEVICES):
        yield


def system(*records, **options):
    case = gc.Case("test")
    case.records = list(records)
    return gc.build(case, **options)


def feeder(**load):
    """A source at node 1, a line, a load at node 2."""
    return [dc.DCNode(id=1), dc.DCNode(id=2), dc.DCSource(dc=1, E=1.05), dc.DCLine(dc1=1, dc2=2, r=0.04),
            dc.DCLoad(dc=2, P0=1.0, **load)]


def far_end(E, r, P):
    """Voltage at the end of a resistance r that feeds a constant power P from a voltage E: the upper solution."""
    return E / 2 + np.sqrt(E * E / 4 - r * P)


def test_the_initial_state_is_the_closed_form():
    made = system(*feeder())
    V2 = far_end(1.05, 0.05, 1.0)
    at = {name: made.Z0[made.layout.address(name)] for name in ("DC1.V", "DC2.V", "DCSRC1.V", "DCLOAD2.Vf")}
    assert at == pytest.approx({"DC1.V": V2 + 0.04 / V2, "DC2.V": V2, "DCSRC1.V": 1.05 - 0.006 / V2,
                                "DCLOAD2.Vf": V2}, rel=1e-13)
    assert made.operating_point.power_flow is None
    assert made.operating_point.buses == []
    run = gc.simulate(made, 0.1, 0.01)
    assert np.ptp(run["DC2", "V"]) < 1e-12


def test_a_dc_network_stands_beside_ac_buses_of_which_none_is_energised():
    dead = [gc.Bus(id=1), gc.Bus(id=2), gc.Record("Line", {"bus1": 1, "bus2": 2, "x": 0.1})]
    made, alone = system(*dead, *feeder(), deenergise=True), system(*feeder())
    for name in ("DC1.V", "DC2.V", "DCSRC1.V", "DCLOAD2.Vf"):
        assert made.Z0[made.layout.address(name)] == alone.Z0[alone.layout.address(name)]
    assert not made.Z0[[made.layout.address(f"BUS{k}.{part}") for k in (1, 2) for part in ("Vr", "Vi")]].any()
    assert made.operating_point.power_flow is None
    with pytest.raises(gc.GridcoreError, match="no AC bus in service"):
        made.power_flow  # noqa: B018


def test_a_line_trip_ends_at_the_closed_form_of_what_is_left():
    made = system(*feeder(), dc.DCLine(dc1=1, dc2=2, r=0.12), gc.BranchTrip(branch="DCLINE1-2", t=0.1))
    run = gc.simulate(made, 3.0, 0.01)
    assert run["DC2", "V"][0] == pytest.approx(far_end(1.05, 0.01 + 0.03, 1.0), rel=1e-13)
    assert run["DC2", "V"][-1] == pytest.approx(far_end(1.05, 0.01 + 0.12, 1.0), rel=1e-9)
    assert [(e.device, e.item) for e in run.events] == [("trip", "opens")]
    assert run["DCLINE1-2_2", "I"][-1] * run["DC2", "V"][-1] == pytest.approx(1.0, rel=1e-9)


def test_an_island_of_dc_nodes_without_a_source_is_refused_or_taken_out_of_service():
    records = [*feeder(), gc.BranchTrip(branch="DCLINE1-2", t=0.1)]
    with pytest.raises(gc.errors.NetworkError, match="island without a voltage source: DC2"):
        gc.simulate(system(*records), 0.2, 0.01)
    run = gc.simulate(system(*records, deenergise=True), 0.2, 0.01)
    assert run["DC2", "V"][-1] == 0
    assert run["DC2", "energised"][-1] == 0
    assert run["DCLOAD2", "status"][-1] == 0
    assert run["DC1", "V"][-1] == pytest.approx(1.05, abs=0.005)  # no load, and the droop on its way there


def nine_bus(*records):
    case = gc.load_case("wscc9")
    for id in ("fault", "trip"):
        if id in case:
            case.remove(id)
    for r in records:
        case.add(r)
    return case


def test_a_converter_draws_from_the_ac_side_what_it_gives_to_the_dc_side():
    made = gc.build(nine_bus(*feeder(), dc.Converter(bus=5, dc=2, P0=0.3)))
    address, Z = made.layout.address, made.Z0
    V1, V2 = Z[address("DC1.V")], Z[address("DC2.V")]
    assert V2 == pytest.approx(far_end(1.05, 0.05, 0.7), rel=1e-13)
    assert V1 == pytest.approx(V2 + 0.04 * 0.7 / V2, rel=1e-13)
    without = gc.build(nine_bus())
    slack = Z[address("GEN1.P0")] - without.Z0[without.layout.address("GEN1.P0")]
    assert slack == pytest.approx(0.3, abs=0.02)  # losses change a little
    assert made.operating_point.buses == [f"BUS{k}" for k in range(1, 10)]
    assert made.operating_point.residual < 1e-10
    assert np.ptp(gc.simulate(made, 0.1, 0.01)["DC2", "V"]) < 1e-10


def test_a_dead_dc_side_takes_its_converter_with_it_and_the_ac_side_stays():
    case = nine_bus(*feeder(), dc.Converter(bus=5, dc=2, P0=0.3), gc.BranchTrip(branch="DCLINE1-2", t=0.1))
    run = gc.simulate(gc.build(case, deenergise=True), 0.3, 0.01)
    assert run["CONV5-2", "status"][-1] == 0
    assert run["BUS5", "Vm"][-1] > run["BUS5", "Vm"][0]
    assert run["DC2", "V"][-1] == 0


class Rectifier(dc.Converter):
    """Holds the DC voltage by a droop, and draws from the AC bus what it gives at t0."""

    attaches = (gc.Port("dc", node=dc.DCNode), "bus")
    naming = "REC{bus}-{dc}"
    source = True

    def flows(s, dc, bus):
        power = s.P0 + 5.0 * (1.0 - dc.V)
        return power / dc.V, (-power * bus.Vr / bus.V2, -power * bus.Vi / bus.V2)


def test_a_source_holds_its_first_node_and_falls_with_its_second():
    with registered(Rectifier):
        case = nine_bus(dc.DCNode(id=1), Rectifier(dc=1, bus=5, P0=1.0), dc.DCLoad(dc=1, P0=1.0),
                        gc.BranchTrip(id="a", branch="LINE4-5", t=0.1), gc.BranchTrip(id="b", branch="LINE5-7", t=0.2))
        run = gc.simulate(gc.build(case, deenergise=True), 0.3, 0.01)
    assert run["DC1", "V"][0] == pytest.approx(1.0, rel=1e-12)
    assert run["REC5-1", "status"][-1] == 0
    assert (run["BUS5", "energised"][-1], run["DC1", "energised"][-1]) == (0, 0)  # the rectifier went with its bus


def test_nodes_are_named_as_their_class_names_them():
    case = gc.Case("test")
    case.records = [dc.DCNode(id=3), dc.DCNode(id="far"), gc.Bus(id=3), dc.DCLine(dc1=3, dc2="far", r=1.0),
                    dc.DCLoad(dc="DC3", P0=0.1)]
    assert case.ids() == ["DC3", "far", "BUS3", "DCLINE3-far", "DCLOAD3"]


@pytest.mark.parametrize(("records", "words"), [
    ([dc.DCNode()], "a DC node needs a number or a name"),
    ([dc.DCNode(id=1), dc.DCLoad(dc=2, P0=1.0)], "there is no DC node 'DC2'; did you mean DC1"),
    ([gc.Bus(id=1), dc.DCLoad(dc="BUS1", P0=1.0)], "there is no DC node 'BUS1'"),
    ([dc.DCNode(id=1), gc.Record("ZIP", {"bus": "DC1", "P0": 1.0})], "there is no bus 'DC1'"),
    ([dc.DCNode(id=1), dc.DCLoad(P0=1.0)], "a DC node is wanted"),
    ([dc.DCNode(id=1), dc.DCLine(dc1=1, dc2=1, r=1.0)], "'DC1' is dc1 too: the ends are different DC nodes"),
    ([dc.DCNode(id=1), gc.Trip(device="DC1", t=1.0)], "there is no device 'DC1'"),
    ([*feeder(), dc.DCTrip(line="DCLOAD2")], "there is no DCLine 'DCLOAD2'; did you mean"),
    ([*feeder(), dc.DCTrip()], "the id of a DCLine is wanted"),
    ([dc.DCNode(id=1, status=0)], "a DCNode has no such field")])
def test_what_is_wrong_with_a_record_is_said_in_the_words_of_its_node(records, words):
    with pytest.raises(gc.errors.CaseError, match=words):
        system(*records)


def test_results_know_dc_nodes_as_a_kind_of_their_own():
    run = gc.simulate(gc.build(nine_bus(*feeder(), dc.Converter(bus=5, dc=2, P0=0.3))), 0.05, 0.01)
    data = run.to_xarray()
    assert data["V"].dims == ("time", "DC_node")
    assert list(data["DC_node"].values) == ["DC1", "DC2"]
    assert list(data["Vm"].dims) == ["time", "bus"]
    assert len(data["bus"]) == 9


def test_rotor_angles_are_told_beside_a_dc_part_and_its_source_is_no_infinite_bus():
    case = nine_bus(*feeder(), dc.Converter(bus=5, dc=2, P0=0.3), gc.BranchTrip(branch="LINE5-7", t=0.05))
    run = gc.simulate(gc.build(case), 0.2, 0.01)
    machines = gc.analyses.rotors(run)
    assert machines.devices == ["GEN1", "GEN2", "GEN3"]
    assert machines.infinite_buses == []
    H = np.array([run.system.Z0[run.system.layout.address(f"GEN{k}.H")] for k in (1, 2, 3)])
    Sn = np.array([run.system.Z0[run.system.layout.address(f"GEN{k}.Sn")] for k in (1, 2, 3)])
    assert machines.relative @ (H * Sn) == pytest.approx(0, abs=1e-9 * (H * Sn).sum())
    text = layout(list(describe_system(run.system)))
    assert "9 buses, 2 DC nodes, " in text
    assert "Converter" in text


@pytest.mark.parametrize("cls", [dc.DCNode, dc.DCLine, dc.Converter, dc.DCTrip])
def test_the_doctor_stands_them_in_a_grid(cls):
    report = device_checks.report(cls)
    assert report.ok, str(report)


def test_other_values_give_what_a_new_build_gives_to_the_last_bit():
    records = [*feeder(), dc.Converter(bus=5, dc=2, P0=0.3), gc.BranchTrip(branch="DCLINE1-2", t=0.1)]
    made = gc.build(nine_bus(*records), deenergise=True).with_values({"DCLINE1-2.r": 0.06, "CONV5-2.P0": 0.2})
    case = nine_bus(*records)
    case.set("DCLINE1-2.r", 0.06)
    case.set("CONV5-2.P0", 0.2)
    assert (made.Z0 == gc.build(case, deenergise=True).Z0).all()


def test_small_signal_of_a_feeder_is_its_closed_form():
    made = system(*feeder())
    V, E, i = (made.Z0[made.layout.address(a)] for a in ("DC2.V", "DCSRC1.V", "DCLOAD2.Vf"))
    G, R = 1 / V**2, 0.004 + 0.04  # V2 = E' / (1 + R G(Vf)): the load is a conductance P0 / Vf^2
    dV_dE, dV_dVf = 1 / (1 + R * G), E * R * 2 * G / V / (1 + R * G) ** 2
    di_dE, di_dVf = G * dV_dE, G * dV_dVf - 2 * G / V * V
    A = np.array([[(-1 - 0.006 * di_dE) / 0.05, -0.006 * di_dVf / 0.05], [dV_dE / 0.1, (dV_dVf - 1) / 0.1]])
    assert i == V
    found = gc.analyses.small_signal(made).eigenvalues
    assert np.sort(found.real) == pytest.approx(np.sort(np.linalg.eigvals(A).real), rel=1e-9)
    assert np.abs(found.imag).max() == pytest.approx(np.abs(np.linalg.eigvals(A).imag).max(), abs=1e-9)
