"""Direct current: shares of droop after the loss of a terminal, circuits, balance, limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import root

import gridcore as gc

DROOPS = {"VSC2": (0.4, 100.0, 8.0), "VSC3": (0.5, 200.0, 5.0), "VSC4": (0.27, 50.0, 20.0)}  # P0, Sn, kd
LOSS = {"la": 0.011, "lb": 0.0034, "lc": 0.0049}


def terminals(count: int) -> gc.Case:
    """As many AC grids, each an infinite bus with a short line to the bus of a converter."""
    case = gc.Case("direct current", base_mva=100)
    for k in range(1, count + 1):
        case.add("Bus", id=k)
        case.add("Bus", id=10 + k)
        case.add("InfiniteBus", bus=10 + k, control="slack")
        case.add("Line", bus1=10 + k, bus2=k, r=0.001, x=0.01)
    return case


def at_one_bus() -> gc.Case:
    """Four converters without losses at one DC bus; the one that feeds it trips."""
    case = terminals(4)
    case.add("DCBus", id=1)
    case.add("DCSlack", dc=1, c=0.3)
    case.add("VSC", bus=1, dc=1, control="PQ", Sn=150.0, P0=-sum(P0 for P0, _, _ in DROOPS.values()))
    for k, (P0, Sn, kd) in enumerate(DROOPS.values(), 2):
        case.add("VSC", bus=k, dc=1, control="PQ", P0=P0, Sn=Sn, kd=kd)
    case.add("Trip", device="VSC1", t=0.1)
    return case


def test_droops_share_the_power_of_a_lost_terminal_in_their_proportion():
    """Without losses, at one voltage: each gives its ``kd Sn`` of the sum, and the voltage falls by P over that."""
    run = gc.simulate(gc.build(at_one_bus()), 3.0, 0.002)
    lost, total = sum(P0 for P0, _, _ in DROOPS.values()), sum(Sn / 100 * kd for _, Sn, kd in DROOPS.values())
    assert run["DCBUS1", "V"][0] == pytest.approx(1.0, abs=1e-12)
    assert run["DCBUS1", "V"][-1] == pytest.approx(1.0 - lost / total, abs=1e-9)
    for name, (P0, Sn, kd) in DROOPS.items():
        assert Sn / 100 * run[name, "P"][-1] == pytest.approx(P0 - lost * (Sn / 100 * kd) / total, abs=1e-9)


def mesh(**loss: float) -> gc.Case:
    """The same converters at DC buses of their own, meshed."""
    case = terminals(4)
    for k in (1, 2, 3, 4):
        case.add("DCBus", id=k)
        case.add("DCSlack" if k == 1 else "DCCapacitor", dc=k, c=0.08)
    for dc1, dc2, r in ((1, 2, 0.01), (2, 3, 0.015), (3, 4, 0.02), (1, 4, 0.012), (1, 3, 0.02)):
        case.add("DCCable", dc1=dc1, dc2=dc2, r=r, l=0.2 * r)
    case.add("VSC", bus=1, dc=1, control="PQ", Sn=150.0, P0=-1.2, **loss)
    for k, (P0, Sn, kd) in enumerate(DROOPS.values(), 2):
        case.add("VSC", bus=k, dc=k, control="PQ", P0=P0, Sn=Sn, kd=kd, **loss)
    return case


def test_droops_share_with_cables_and_losses_as_the_network_equations_say():
    """Droops, losses and Ohm's law of the four buses, solved by themselves."""
    case = gc.analyses.balance_dc(mesh(**LOSS), "VSC1")
    case.add("Trip", device="VSC1", t=0.1)
    run = gc.simulate(gc.build(case), 4.0, 0.002)
    before = {k: run[f"DCBUS{k}", "V"][0] for k in (1, 2, 3, 4)}
    ac = {k: run[f"BUS{k}", "Vm"][-1] for k in (2, 3, 4)}
    G = np.zeros((4, 4))
    for record in case.of("DCCable"):
        a, b, g = record.fields["dc1"] - 1, record.fields["dc2"] - 1, 1 / record.fields["r"]
        G[[a, b], [a, b]] += g
        G[[a, b], [b, a]] -= g

    def drawn(k: int, V: float) -> float:
        P0, Sn, kd = DROOPS[f"VSC{k}"]
        P = P0 / (Sn / 100) + kd * (V - before[k])
        current = np.hypot(P, 0.0) / ac[k]
        return Sn / 100 * (P + LOSS["la"] + LOSS["lb"] * current + LOSS["lc"] * current**2) / V

    def kirchhoff(V: np.ndarray) -> np.ndarray:
        return G @ V + np.array([0.0, *(drawn(k, V[k - 1]) for k in (2, 3, 4))])

    expected = root(kirchhoff, [before[k] - 0.05 for k in (1, 2, 3, 4)], tol=1e-13).x
    assert before[1] == pytest.approx(1.0, abs=1e-12)
    assert expected.max() < 0.96
    np.testing.assert_allclose([run[f"DCBUS{k}", "V"][-1] for k in (1, 2, 3, 4)], expected, rtol=0, atol=1e-9)


def test_a_balanced_dispatch_pays_for_all_losses():
    case = mesh(**LOSS)
    with pytest.warns(gc.errors.DataWarning, match="balance_dc"):
        gc.build(case)
    balanced = gc.analyses.balance_dc(case, "VSC1")
    assert case["VSC1"].fields["P0"] == -1.2
    run = gc.simulate(gc.build(balanced), 0.02)
    assert abs(run.system.Z0[run.system.layout.address("SLACK1.spare")]) < 1e-11
    injected = sum(Sn / 100 * run[f"VSC{k}", "P"][0] for k, Sn in ((1, 150), (2, 100), (3, 200), (4, 50)))
    losses = sum(Sn / 100 * run[f"VSC{k}", "loss"][0] for k, Sn in ((1, 150), (2, 100), (3, 200), (4, 50)))
    cables = sum(run[name, "losses"][0] for name in balanced.ids() if name.startswith("CABLE"))
    assert losses > 0.05
    assert cables > 1e-3
    assert injected + losses + cables == pytest.approx(0.0, abs=1e-10)


def test_what_cannot_be_balanced_is_told():
    case = mesh()
    with pytest.raises(gc.errors.CaseError, match="must be a VSC"):
        gc.analyses.balance_dc(case, "SLACK1")
    case.remove("SLACK1")
    case.add("DCCapacitor", dc=1, c=0.08)
    with pytest.raises(gc.errors.CaseError, match="no DCSlack"):
        gc.analyses.balance_dc(case, "VSC1")


def test_a_mesh_rests():
    run = gc.simulate(gc.build(gc.analyses.balance_dc(mesh(**LOSS), "VSC1")), 5.0, 0.01)
    assert run.events == []
    assert np.abs(run.X - run.X[0]).max() < 1e-9


def test_two_capacitors_and_a_cable_have_the_eigenvalues_of_their_circuit():
    """``λ² + λ (r + r1 + r2) / l + (1/c1 + 1/c2) / l``, and the zero of the charge that nothing takes."""
    case = gc.Case("circuit", base_mva=100)
    for k, (c, r) in enumerate(((0.02, 0.003), (0.05, 0.001)), 1):
        case.add("DCBus", id=k)
        case.add("DCSlack" if k == 1 else "DCCapacitor", dc=k, c=c, r=r)
    case.add("DCCable", dc1=1, dc2=2, r=0.01, l=0.004)
    found = sorted(gc.analyses.small_signal(gc.build(case)).eigenvalues, key=lambda v: (abs(v), v.imag))
    roots = np.roots([1.0, (0.01 + 0.003 + 0.001) / 0.004, (1 / 0.02 + 1 / 0.05) / 0.004])
    assert abs(found[0]) < 1e-9
    np.testing.assert_allclose(sorted(found[1:], key=lambda v: v.imag), sorted(roots, key=lambda v: v.imag), rtol=1e-10)


def point_to_point(**values: float) -> gc.Case:
    """A rectifier of constant power, and an inverter that holds the DC voltage."""
    case = terminals(2)
    for k in (1, 2):
        case.add("DCBus", id=k)
    case.add("DCCapacitor", dc=1, c=0.08)
    case.add("DCSlack", dc=2, c=0.08)
    case.add("DCCable", dc1=1, dc2=2, r=0.01, l=0.002)
    case.add("VSC", bus=1, dc=1, control="PQ", P0=-0.8, **LOSS)
    case.add("VSC", bus=2, dc=2, control="PQ", P0=0.75, Q0=0.1, kd=8.0, kdi=80.0, **{**LOSS, **values})
    return gc.analyses.balance_dc(case, "VSC2")


def test_the_control_of_the_dc_voltage_brings_it_back_and_passes_on_the_power():
    case = point_to_point()
    case.add("ParameterStep", id="less", parameter="VSC1.Pref", t=0.1, by=0.3)
    run = gc.simulate(gc.build(case), 6.0, 0.002)
    assert np.ptp(run["DCBUS2", "V"]) > 0.005
    assert run["DCBUS2", "V"][-1] == pytest.approx(1.0, abs=1e-9)
    cable = run["CABLE1-2", "losses"][-1]
    through = -run["VSC1", "P"][-1] - run["VSC1", "loss"][-1] - cable
    assert run["VSC2", "P"][-1] + run["VSC2", "loss"][-1] == pytest.approx(through, abs=1e-9)


def test_the_control_of_the_ac_voltage_brings_it_back():
    case = point_to_point(kv=2.0, kvi=500.0)
    case.add("ParameterStep", id="dip", parameter="INF12.E", t=0.1, by=-0.005)
    run = gc.simulate(gc.build(case), 6.0, 0.002)
    assert run["BUS2", "Vm"][-1] == pytest.approx(run["BUS2", "Vm"][0], abs=1e-9)
    assert run["VSC2", "Q"][-1] - run["VSC2", "Q"][0] > 0.2


def test_in_a_dip_the_current_is_limited_and_the_active_one_has_priority():
    case = point_to_point(Imax=0.9, kv=4.0)
    case.add("ParameterStep", id="dip", parameter="INF12.E", t=0.1, by=-0.15)
    run = gc.simulate(gc.build(case), 3.0, 0.002)
    assert "VSC2.reactive_at_Iqmax" in {f"{e.device}.{e.item}" for e in run.events}
    assert run["VSC2", "I"][-1] == pytest.approx(0.9, abs=1e-6)
    through = run["VSC2", "P"] + run["VSC2", "loss"]
    assert through[-1] == pytest.approx(through[0], abs=1e-6)


def test_a_fault_by_all_methods_is_one_trajectory():
    pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    case = point_to_point(kv=2.0)
    case.add("BusFault", id="fault", bus=2, t=0.05, clear=0.15, x=0.02)
    system = gc.build(case)
    exact = gc.simulate(system, 0.5, 0.002, "ida", rtol=1e-9, atol=1e-11)
    for method in ("theta", "trbdf2"):
        run = gc.simulate(system, 0.5, 0.0002, method)
        assert [e.words for e in run.events] == [e.words for e in exact.events]
        np.testing.assert_allclose(run.X[-1], exact.X[-1], rtol=0, atol=2e-5)
