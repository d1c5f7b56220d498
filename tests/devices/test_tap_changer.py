"""Tap changers: when they step, how far, and what the voltage and the load are over minutes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import gridcore as gc
from gridcore.errors import CaseError

TAPS = "OLTC_TRANSFORMER2-3"
TD, TC, TSD, STEP, VMI = 30.0, 0.5, 5.0, 0.00625, 0.98


def feeder(*events, **values):
    """A source, two lines, a transformer, and a load that recovers to constant power."""
    case = gc.Case("feeder")
    for n in (1, 2, 3):
        case.add("Bus", id=n)
    case.add("InfiniteBus", bus=1, control="slack", V0=1.05)
    case.add("Line", bus1=1, bus2=2, x=0.2)
    case.add("Line", id="second", bus1=1, bus2=2, x=0.2)
    case.add("Transformer", bus1=2, bus2=3, x=0.08, tap=0.98)
    case.add("ExponentialRecovery", bus=3, P0=0.9, Q0=0.3, alpha_s=0, alpha_t=2, beta_s=0, beta_t=2, Tp=60, Tq=60)
    case.add("TapChanger", transformer="TRANSFORMER2-3", bus=3,
             **{"VMI": VMI, "VMA": 1.02, "TD": TD, "TC": TC, "TSD": TSD, "step": STEP} | values)
    for event in events:
        case.add(event)
    return case


def trip(t=10.0, **values):
    return gc.BranchTrip(id="trip", branch="second", t=t, **values)


def steps(run):
    """Times at which the position changed, and by how much."""
    position = run[TAPS, "position"]
    at = np.flatnonzero(np.diff(position))
    return run.t[at + 1], np.diff(position)[at]


def voltage(tap, x_line, xp, xq, gp, gq):
    """Of the load with the powers ``x + g V^2``, behind the lines and the transformer."""
    E, X = 1.05 / tap, x_line / tap**2 + 0.08
    a, c = (1 + X * gq) ** 2 + (X * gp) ** 2, X**2 * (xp**2 + xq**2)
    b = 2 * X * xq - E**2 + 2 * X**2 * (gp * xp + gq * xq)
    return np.sqrt((-b + np.sqrt(b * b - 4 * a * c)) / (2 * a))


def alone(t_end):
    """The same by its law: the load's two states by scipy, from one step of the tap to the next."""
    P0, Q0 = 0.9, 0.3
    V0 = voltage(0.98, 0.1, P0, Q0, 0.0, 0.0)

    def rates(t, x, tap, x_line):
        V = voltage(tap, x_line, *x, P0 / V0**2, Q0 / V0**2)
        law = 1 - (V / V0) ** 2
        return (P0 * law - x[0]) / 60, (Q0 * law - x[1]) / 60

    t, x, tap, at = 10.0, np.zeros(2), 0.98, []
    while t < t_end:
        V = voltage(tap, 0.2, *x, P0 / V0**2, Q0 / V0**2)
        target = min(t + (TSD if at else TD) + TC, t_end) if V < VMI else t_end
        x = solve_ivp(rates, (t, target), x, args=(tap, 0.2), rtol=1e-11, atol=1e-13).y[:, -1]
        if V < VMI and target < t_end:
            tap -= STEP
            at.append(target)
        t = target
    return np.array(at), tap, voltage(tap, 0.2, *x, P0 / V0**2, Q0 / V0**2), x[0]


@pytest.mark.parametrize(("step", "within"), [(0.1, 1e-7), ("auto", 1e-5)])
def test_a_load_recovers_behind_a_tap_changer_for_300_s_after_a_line_is_lost(step, within):
    run = gc.simulate(feeder(trip()), 300.0, step)
    times, tap, V, xp = alone(300.0)
    assert len(times) == 6
    at, change = steps(run)
    assert_allclose(at, times, rtol=1e-12)
    assert_allclose(change, 1.0)
    assert_allclose(run[TAPS, "tap"][-1], tap, rtol=1e-14)
    assert_allclose([run["BUS3", "Vm"][-1], run["LOAD3", "xp"][-1]], [V, xp], rtol=0, atol=within)
    assert VMI < V < 1.0


def test_the_range_ends_it():
    run = gc.simulate(feeder(trip(), RMI=0.98 - 2 * STEP), 200.0, 0.1)
    assert len(steps(run)[0]) == 2
    assert run["BUS3", "Vm"][-1] < VMI
    assert run[TAPS, "tap"].min() >= 0.98 - 2 * STEP - 1e-12


def test_a_voltage_that_is_back_in_time_steps_nothing_and_one_that_comes_back_too_late_a_last_time():
    back = gc.simulate(feeder(trip(reclose=39.0)), 100.0, 0.1)
    assert not len(steps(back)[0])
    moving = gc.simulate(feeder(trip(reclose=40.25)), 50.0, 0.1)
    assert_allclose(steps(moving)[0], [40.5], rtol=1e-12)


def test_a_voltage_that_is_too_high_is_stepped_down_until_it_is_in_the_band():
    run = gc.simulate(feeder(trip(reclose=150.0)), 300.0, 0.1)
    at, change = steps(run)
    assert_allclose(at[6:], 150 + TD + TC + np.arange(len(at) - 6) * (TSD + TC), rtol=1e-12)
    assert set(change[:6]) == {1.0}
    assert set(change[6:]) == {-1.0}
    assert VMI < run["BUS3", "Vm"][-1] < 1.02 < run["BUS3", "Vm"].max()


def test_a_delay_after_the_voltage_was_back_is_the_first_one_again():
    again = gc.Record("ParameterStep", {"id": "more", "parameter": "LOAD3.P0", "t": 150.0, "by": 0.2})
    at, _ = steps(gc.simulate(feeder(trip(), again), 200.0, 0.1))
    assert_allclose(at[6:8], [150 + TD + TC, 150 + TD + TC + TSD + TC], rtol=1e-12)


def test_a_bus_on_the_side_of_the_tap_is_held_by_steps_the_other_way():
    case = feeder(trip(), step=-STEP)
    case["TRANSFORMER2-3"].fields |= {"bus1": 3, "bus2": 2, "tap": 1 / 0.98, "id": "TRANSFORMER2-3"}
    run = gc.simulate(case, 100.0, 0.1)
    at, change = steps(run)
    assert at[0] == pytest.approx(10 + TD + TC)
    assert set(change) == {1.0}
    assert_allclose(run[TAPS, "tap"][-1], 1 / 0.98 + STEP * len(at), rtol=1e-14)
    assert run["BUS3", "Vm"][-1] > VMI


def test_several_steps_of_no_delay_are_made_at_one_instant():
    run = gc.simulate(feeder(trip(t=10.03), TD=0.0, TC=0.0, TSD=0.0), 10.1, 0.1)
    at, _ = steps(run)
    assert len(at) > 2
    assert set(at) == {10.03}
    assert run["BUS3", "Vm"][-1] > VMI


def test_nothing_is_stepped_on_a_transformer_that_is_out_of_service():
    case = feeder(trip())
    case.add("Transformer", id="beside", bus1=2, bus2=3, x=0.5)
    case[TAPS].fields |= {"id": TAPS, "transformer": "beside"}
    case.add(gc.Trip(id="out", device="beside", t=35.0))
    run = gc.simulate(case, 100.0, 0.1)
    assert run["BUS3", "Vm"][-1] < VMI
    assert not len(steps(run)[0])


@pytest.mark.parametrize(("fields", "said"), [
    ({"step": 0.0}, "step is zero"), ({"VMI": 1.03}, "VMI = 1.03 must be below VMA = 1.02"),
    ({"RMI": 1.2}, "RMI = 1.2 must be below RMA = 1.1")])
def test_what_could_never_act_is_refused(fields, said):
    with pytest.raises(CaseError, match=said):
        gc.build(feeder(**fields))


def test_it_hangs_on_a_transformer_and_on_nothing_else():
    case = feeder()
    case.set(f"{TAPS}.transformer", "second")
    with pytest.raises(CaseError, match="there is no Transformer 'second'"):
        gc.build(case)
