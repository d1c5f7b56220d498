"""DERA1: which part trips and comes back, what the flags choose, how fast currents are."""

from __future__ import annotations

import numpy as np
import pytest

import gridcore as gc

TRIPS = {"vl0": 0.4, "vl1": 0.8, "tvl0": 0.2, "tvl1": 0.1, "vh1": 1.1, "vh0": 1.3, "tvh0": 0.2, "tvh1": 0.1,
         "Vrfrac": 0.6, "Imax": 3.0}


def grid(*steps: tuple[float, str, float], **values: float) -> gc.Case:
    """The model at a source of given voltage; `steps` are (time, address, what is added)."""
    case = gc.Case("one", base_mva=100)
    case.add("Bus", id=1)
    case.add("InfiniteBus", id="INF", bus=1, control="slack", V0=1.0)
    case.add("DERA1", id="D", bus=1, control="PQ", P0=0.5, Q0=0.1, **{**TRIPS, **values})
    for k, (t, address, by) in enumerate(steps):
        case.add("ParameterStep", id=f"S{k}", parameter=address, t=t, by=by)
    return case


def after(*steps: tuple[float, str, float], t_end: float = 2.0, **values: float):
    """The run, and the last value of what the model has."""
    run = gc.simulate(gc.build(grid(*steps, **values)), t_end, 0.005)
    return run, lambda name: run["D", name][-1]


def dip(depth: float, duration: float) -> tuple[tuple[float, str, float], ...]:
    """The voltage falls to `depth` (or rises) at 0.1 s and comes back."""
    return (0.1, "INF.E", depth - 1.0), (0.1 + duration, "INF.E", 1.0 - depth)


def test_it_rests():
    run, _ = after(t_end=2.0)
    assert not run.events
    assert np.abs(run.X - run.X[0]).max() < 1e-9


@pytest.mark.parametrize(("depth", "duration", "part"), [
    (0.6, 0.05, 1.0),  # too short: all comes back
    (0.6, 0.6, 0.5 + 0.6 * 0.5),  # of the half that tripped 0.6
    (0.7, 0.6, 0.75 + 0.6 * 0.25),
    (0.3, 0.15, 0.6),  # all trips, for less than tvl0
    (0.3, 0.6, 0.0),  # nothing comes back
    (1.2, 0.05, 1.0),
    (1.2, 0.6, 0.5 + 0.6 * 0.5),
    (1.4, 0.6, 0.0),
    (0.85, 0.6, 1.0)])
def test_the_part_that_comes_back_is_said_by_the_worst_voltage_and_by_how_long_it_lasted(depth, duration, part):
    run, last = after(*dip(depth, duration))
    assert last("low") * last("high") == pytest.approx(part, abs=1e-4)  # Vf comes near its end in steps
    assert last("Ip") == pytest.approx(0.5 * part, abs=1e-4)
    before = run["D", "Mult"][np.searchsorted(run.t, 0.1 + duration) - 1]
    if duration > 0.5:  # while it lasts, the part between both thresholds
        v0, v1 = (0.4, 0.8) if depth < 1 else (1.3, 1.1)
        assert before == pytest.approx(np.clip((depth - v0) / (v1 - v0), 0, 1) if part else 0.0, abs=1e-4)


def test_a_second_dip_takes_more_only_where_it_is_deeper():
    shallow = ((0.1, "INF.E", -0.3), (0.5, "INF.E", 0.3))
    once = after(*shallow)[1]("low")
    for depth, part in ((0.25, once), (0.4, 0.5 + 0.6 * 0.5)):
        twice = after(*shallow, (0.8, "INF.E", -depth), (1.2, "INF.E", depth))[1]("low")
        assert twice == pytest.approx(part, abs=1e-4)


def test_without_VtripFlag_nothing_trips_by_voltage():
    assert after(*dip(0.3, 0.6), VtripFlag=0.0)[1]("Mult") == 1.0


@pytest.mark.parametrize(("depth", "trips"), [(1.0, True), (0.7, False)])
def test_it_trips_by_frequency_unless_the_voltage_is_below_Vpr(depth, trips):
    """The angle of the source turns by 5 % of nominal speed, as its frequency is above."""
    case = grid((0.02, "INF.E", depth - 1.0), vl1=0.5, Vpr=0.8, fh=1.03, tfh=0.1)
    case.add("Ramp", id="turn", parameter="INF.angle", t0=0.1, t1=0.7, by=0.05 * 0.6 * 120 * np.pi)
    run = gc.simulate(gc.build(case), 1.5, 0.002)
    assert (run["D", "stopped"][-1] == 1) == trips
    assert run["D", "Ip"][-1] == pytest.approx(0.0 if trips else 0.5 / depth, abs=1e-6)


def test_the_active_current_recovers_at_rrpwr_and_falls_without_limit():
    run, _ = after(*dip(0.3, 0.15), rrpwr=0.5)
    Ip, t = run["D", "Ip"], run.t
    rising = (t > 0.5) & (t < 0.8)
    assert np.diff(Ip[rising]) / np.diff(t[rising]) == pytest.approx(0.5, abs=1e-6)
    assert np.diff(Ip)[np.diff(t) > 0].min() / 0.005 < -1.0


@pytest.mark.parametrize(("PqFlag", "Ip", "Iq"), [(0.0, np.sqrt(0.6 ** 2 - 0.45 ** 2), 0.45),
                                                   (1.0, 0.5, np.sqrt(0.6 ** 2 - 0.5 ** 2))])
def test_the_current_without_priority_has_what_the_other_leaves(PqFlag, Ip, Iq):
    """Reactive current that rises to 0.45, or more than what is left, under a limit of 0.6."""
    _, last = after((0.1, "D.Qref", 0.35), PfFlag=0.0, PqFlag=PqFlag, Imax=0.6)
    assert last("Ip") == pytest.approx(Ip, abs=1e-6)
    assert last("Iq") == pytest.approx(Iq, abs=1e-6)


@pytest.mark.parametrize(("flag", "Q"), [(1.0, 0.08), (0.0, 0.1)])
def test_the_power_factor_or_the_reactive_power_is_kept(flag, Q):
    _, last = after((0.1, "D.Pref", -0.1), PfFlag=flag, dbd1=-1.0, dbd2=1.0)
    assert last("P") == pytest.approx(0.4, abs=1e-8)
    assert last("Q") == pytest.approx(Q, abs=1e-8)


def test_the_voltage_is_controlled_beyond_its_dead_band():
    _, last = after((0.1, "INF.E", -0.08), dbd1=-0.05, dbd2=0.05, Kqv=2.0, PfFlag=0.0)
    assert last("Iq") == pytest.approx(0.1 / 0.92 + 2.0 * 0.03, abs=1e-8)


def test_power_follows_frequency_beyond_its_dead_band_with_FreqFlag():
    case = grid(FreqFlag=1.0, Ddn=10.0, fdbd2=0.001, fdbd1=-0.001, fh=2.0)
    case.add("Ramp", id="turn", parameter="INF.angle", t0=0.1, t1=3.1, by=0.01 * 3.0 * 120 * np.pi)
    run = gc.simulate(gc.build(case), 3.0, 0.002)
    slip = run["D", "slip"][-1]
    assert slip == pytest.approx(0.01, abs=1e-5)
    assert run["D", "Pf"][-1] == pytest.approx(0.5 - 10.0 * (slip - 0.001), abs=1e-6)


@pytest.mark.parametrize("wrong", [{"vl0": 0.9}, {"fl": 1.1}, {"Pmin": 1.2}])
def test_limits_out_of_order_are_refused(wrong):
    with pytest.raises(gc.errors.CaseError, match="must be in this order"):
        gc.build(grid(**wrong))


@pytest.mark.parametrize("name", ["Kig", "femin", "femax"])
def test_what_controls_the_frequency_is_asked_for_where_it_is_controlled_alone(name):
    gc.build(grid(**{name: 0.0}))
    with pytest.raises(gc.errors.CaseError, match="FreqFlag = 1 needs a gain Kig, and femin below zero, femax above"):
        gc.build(grid(**{name: 0.0}, FreqFlag=1.0))
