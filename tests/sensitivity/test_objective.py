"""Values at given times: interpolated between the points of a run, and exact in the motion of events between them."""

from __future__ import annotations

import numpy as np
import pytest

import gridcore as gc
from gridcore.sensitivity import evaluate
from gridcore.sensitivity.objective import Sampling

# beside the fault (0.1 to 0.183 s) and the trip of a line (0.192 s), on points of the grid and between them
TIMES = np.array([0.0, 0.0985, 0.1, 0.104, 0.18, 0.1815, 0.1849, 0.31, 0.5])


@pytest.fixture(scope="module")
def run():
    case = gc.load_case("wscc9")
    case.set("trip.t", 0.192)
    return gc.simulate(gc.build(case), t_end=0.5, step=0.01)


def test_values_are_those_of_linear_interpolation(run):
    at = evaluate(run, [gc.At([t], lambda v: v["GEN2", "omega"]) for t in TIMES])
    np.testing.assert_allclose(at.values, np.interp(TIMES, run.t, run["GEN2", "omega"]), rtol=0, atol=1e-15)


def test_at_an_instant_of_switching_it_is_the_value_before(run):
    first, second, _ = np.flatnonzero(run.t == 0.1)
    Vm = run["BUS7", "Vm"]
    assert Sampling.of(run, [0.1]).values(Vm)[0] == Vm[first] != Vm[second]


@pytest.mark.parametrize("t", [0.0, 0.1, 0.183, 0.192, 0.5], ids=["start", "fault", "clearing", "trip", "end"])
@pytest.mark.parametrize("off", [-1e-13, 1e-13])
@pytest.mark.filterwarnings("ignore::gridcore.sensitivity.CoincidenceWarning")
def test_a_time_that_is_an_instant_but_for_round_off_is_that_instant(run, t, off):
    at, near = (gc.adjoint(run, gc.At([time], lambda v: v["BUS7", "Vm"]), "fault.*") for time in (t, t + off))
    np.testing.assert_allclose(near["value"], at["value"], rtol=1e-10)
    np.testing.assert_allclose(near, at, rtol=1e-8, atol=1e-12)


def test_derivatives_are_those_of_the_program(run):
    weights = np.linspace(1, 2, len(TIMES))
    objectives = [gc.At(TIMES, lambda v: v["BUS7", "Vm"] ** 2, weights),
                  gc.At(TIMES[3:5], lambda v: v["GEN2", "omega"])]
    wrt = ["GEN2.H", "LINE7-8.x", "GEN2.P0", "fault.clear"]
    exact, expected = gc.adjoint(run, objectives, wrt), gc.differences(run, objectives, wrt)
    np.testing.assert_allclose(exact, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(gc.analyses.forward_gradient(run, objectives, wrt), exact, rtol=1e-10, atol=1e-13)


def test_squared_deviations_are_the_squares_of_the_values(run):
    data, weights = np.linspace(0.9, 1.1, len(TIMES)), np.linspace(1, 2, len(TIMES))
    found = evaluate(run, [gc.Sampled(TIMES, lambda v: v["BUS7", "Vm"], data, weights)]).values.item()
    values = evaluate(run, [gc.At([t], lambda v: v["BUS7", "Vm"]) for t in TIMES]).values
    assert found == pytest.approx(weights @ (values - data) ** 2, rel=1e-14)


def test_without_data_and_weights_it_is_the_sum_of_squares(run):
    values = evaluate(run, [gc.At([t], lambda v: v["BUS7", "Vm"]) for t in TIMES]).values
    assert gc.Sampled(TIMES, lambda v: v["BUS7", "Vm"]).value(run) == pytest.approx(values @ values, rel=1e-14)


@pytest.mark.parametrize("time", [-0.1, 0.6, np.nan])
def test_a_time_outside_the_run_is_refused(run, time):
    with pytest.raises(gc.errors.CaseError, match=rf"sample time {time:g} s is outside the run \(0 to 0.5 s\)"):
        evaluate(run, [gc.At([0.2, time, 0.3, 99.0], lambda v: v["BUS7", "Vm"])])


def test_a_run_without_a_step_has_nothing_to_sample():
    with pytest.raises(gc.errors.CaseError, match=r"sample time 0 s is outside the run \(0 to 0 s\)"):
        evaluate(gc.simulate("smib", t_end=1e-12), [gc.At([0.0], lambda v: v["BUS1", "Vm"])])


def test_time_and_the_bases_may_stand_in_an_objective(run):
    found = evaluate(run, [gc.Integral(lambda v: v["base", "time"]), gc.Terminal(lambda v: v["base", "omega_b"]),
                           gc.At([0.1, 0.3], lambda v: v["base", "base_mva"] * v["base", "time"])])
    np.testing.assert_allclose(found.values, [0.5**2 / 2, 2 * np.pi * 60, 100 * 0.4], rtol=1e-12)
    with pytest.raises(gc.errors.CaseError, match="no device 'base'"):
        evaluate(run, [gc.Terminal(lambda v: v["base", "omega"])])


def test_an_objective_of_time_moves_with_the_points_of_events(run):
    objectives = [gc.Integral(lambda v: v["base", "time"] ** 2 * v["BUS7", "Vm"]),
                  gc.At([0.1815, 0.31], lambda v: v["base", "time"] * v["GEN2", "omega"])]
    wrt = ["fault.clear", "trip.t", "GEN2.H"]
    exact = gc.adjoint(run, objectives, wrt)
    np.testing.assert_allclose(exact, gc.differences(run, objectives, wrt), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(gc.analyses.forward_gradient(run, objectives, wrt), exact, rtol=1e-10, atol=1e-13)


def test_its_clocks_are_those_of_points_that_move_with_their_events_unless_that_is_not_asked_for(run):
    speed = gc.Integral(lambda v: v["GEN2", "omega"] - 1.0)
    assert speed.clocks(run) == speed.clocks(run, True) != speed.clocks(run, False)
    assert {clock: amount.item() for clock, amount in evaluate(run, [speed]).clocks} == speed.clocks(run)


def test_parameters_that_it_reads_are_among_its_derivatives(run):
    both = gc.Terminal(lambda v: v["GEN2", "H"] * v["GEN2", "omega"] + v["fault", "x"])
    layout = run.system.layout
    found = evaluate(run, [both]).parameters(run.system)
    assert found == sorted(layout.address(name) for name in ("GEN2.H", "fault.x"))
    direct = gc.adjoint(run, both, "GEN2.H").item() - gc.adjoint(run, gc.Terminal(
        lambda v: v["GEN2", "omega"]), "GEN2.H").item() * run.system.Z0[layout.address("GEN2.H")]
    assert direct == pytest.approx(run["GEN2.omega"][-1], rel=1e-12)


@pytest.mark.parametrize("key", ["GEN2", "ab", 7, ("GEN2",), ("GEN2", "omega", "pu"), (), ["GEN2", "omega"]])
def test_what_is_no_pair_of_a_device_and_a_quantity_is_told_how_quantities_are_named(run, key):
    with pytest.raises(gc.errors.CaseError, match="quantities are named by a pair"):
        evaluate(run, [gc.Terminal(lambda v: v[key])])
