"""Lines and loads whose currents are states."""

from __future__ import annotations

import numpy as np
import pytest

import gridcore as gc

OMEGA = 120 * np.pi


def grid(*, inductor: bool = True, rl: bool = False) -> gc.Case:
    """An infinite bus, a line, and a load: a resistance, or a resistance and an inductance beside it."""
    case = gc.Case("line", base_mva=100)
    for number in (1, 2):
        case.add("Bus", id=number)
    case.add("InfiniteBus", id="INF", bus=1, control="slack")
    case.add("Line", bus1=1, bus2=2, r=0.02, x=0.2)
    case.add("ZIP", bus=2, P0=0.5, Q0=0.0)
    if rl:
        case.add("RLLoad", id="RL", bus=2, P0=0.3, Q0=0.1)
    if inductor:
        case.add("LineInductor", bus1=1, bus2=2, line="LINE1-2")
    return case


def value(system, address):
    return system.Z0[system.layout.address(address)]


def same(found, true):
    assert len(found) == len(true)
    for number in true:
        assert min(abs(found - number)) < 1e-9 * abs(number)


def test_the_eigenvalues_of_a_line_with_a_resistance_are_those_of_the_circuit():
    system = gc.build(grid())
    R = gc.simulate(system, 0.01)["BUS2", "Vm"][0] ** 2 / 0.5
    found = gc.analyses.small_signal(system).eigenvalues
    same(found, [OMEGA * (-(0.02 + R) / 0.2 + sign * 1j) for sign in (1, -1)])


def test_the_eigenvalues_of_a_line_with_a_resistance_and_an_inductance_are_those_of_the_circuit():
    system = gc.build(grid(rl=True))
    R = gc.simulate(system, 0.01)["BUS2", "Vm"][0] ** 2 / 0.5
    r, x = value(system, "RL.R"), value(system, "RL.X")
    # V2 = R (i - j): x1 i' = V1 - r1 i - R (i - j), x j' = R (i - j) - r j, both turned by the frame
    A = np.array([[-(0.02 + R) / 0.2, R / 0.2], [R / x, -(R + r) / x]])
    same(gc.analyses.small_signal(system).eigenvalues,
         [OMEGA * (real + sign * 1j) for real in np.linalg.eigvals(A) for sign in (1, -1)])


@pytest.mark.parametrize("rl", [False, True])
def test_it_rests_where_the_static_line_does(rl):
    static, dynamic = (gc.simulate(gc.build(grid(inductor=inductor, rl=rl)), 0.5) for inductor in (False, True))
    assert np.abs(dynamic.X - dynamic.X[0]).max() < 1e-9
    assert dynamic["BUS2", "Vm"][0] == pytest.approx(static["BUS2", "Vm"][0], abs=1e-12)


def test_after_a_step_the_current_swings_at_the_nominal_frequency_to_the_static_one():
    case = grid()
    case.add("ParameterStep", id="step", parameter="INF.E", t=0.01, by=-0.1)
    case.set("LOAD2.P0", 0.02)
    case.set("LINE1-2.x", 2.0)
    run = gc.simulate(gc.build(case), 0.03, 1e-5)
    R = (run["BUS2", "Vm"][0] ** 2) / 0.02
    tau = 2.0 / ((0.02 + R) * OMEGA)
    current = run["INDUCTOR_LINE1-2", "ir"] + 1j * run["INDUCTOR_LINE1-2", "ii"]
    end = current[0] * 0.9
    after = run.t > 0.01
    t = run.t[after] - 0.01
    assert np.abs(current[after] - end - (current[0] - end) * np.exp(-t / tau - 1j * OMEGA * t)).max() < 1e-5


def test_an_open_line_carries_no_current():
    case = grid(rl=True)
    case.add("Line", id="OTHER", bus1=1, bus2=2, r=0.02, x=0.2)
    case.add("BranchTrip", id="trip", branch="LINE1-2", t=0.05)
    run = gc.simulate(gc.build(case), 0.3, 1e-3)
    assert run["INDUCTOR_LINE1-2", "status"][-1] == 0
    assert run["OTHER", "I2"][-1] == pytest.approx(
        np.hypot(run["LOAD2", "P"][-1] + run["RL", "P"][-1], run["LOAD2", "Q"][-1] + run["RL", "Q"][-1])
        / run["BUS2", "Vm"][-1], abs=1e-9)


def test_an_inductance_draws_reactive_power():
    case = grid()
    case.add("RLLoad", id="RL", bus=2, P0=0.3, Q0=0.0)
    with pytest.raises(gc.errors.CaseError, match="Q0 must be above zero"):
        gc.build(case)
