"""The four solution strategies: they find what direct solves and the adjoint find; what they do, and how often."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError
from gridcore.sensitivity import Terminal
from gridcore.tape import Step
from gridcore_tsa.strategies import STRATEGIES

SAME = 1e-10
# span, step, parameters
STUDIES = {
    "wscc9": (1.0, 0.01, ["fault.clear", "GEN*.H", "GEN*.P0", "*.KA"]),
    "kundur": (2.0, 0.01, ["fault.clear", "GEN*.H", "GEN*.P0", "EXC*.K"]),
    "wscc9_paper": (0.5, 0.01, ["fault.*", "GEN*.H", "GEN*.P0", "*.KA", "*.VRMAX", "GEN1.delta"]),
}
strategies = pytest.mark.parametrize("strategy", STRATEGIES)
studies = pytest.mark.parametrize("name", ["wscc9", "kundur", "wscc9_paper"])


@functools.cache
def run_of(name, step=None):
    t_end, usual, _ = STUDIES[name]
    return gc.simulate(gc.build(name), t_end, step or usual)


@functools.cache
def found_by(name, strategy=None, step=None, **options):
    return gc.analyses.tsa(run_of(name, step), STUDIES[name][2], strategy=strategy, **options)


def worst(found, true, of=None):
    """Largest difference, relative to the largest value of the same quantity in the same parameter on the way.

    What is a hundred times smaller than another quantity is measured by that: a vector is iterated as a whole.
    """
    by_quantity = np.abs(true if of is None else of).max(axis=0)
    scale = np.maximum(by_quantity, 1e-2 * by_quantity.max(axis=0))
    return float((np.abs(found - true) / np.where(scale > 1e-12, scale, 1.0)).max())


@strategies
@studies
def test_all_find_what_direct_solves_find(name, strategy):
    assert worst(found_by(name, strategy).values, found_by(name).values) < SAME


@strategies
@studies
def test_all_find_what_the_adjoint_finds(name, strategy):
    found = found_by(name, strategy)
    quantities = [tuple(q.rsplit(".", 1)) for q in found["quantity"].values]
    true = gc.adjoint(run_of(name), [Terminal(lambda v, q=q: v[q]) for q in quantities], STUDIES[name][2])
    assert list(true["parameter"].values) == list(found["parameter"].values)
    assert worst(found.values[-1], true.values, of=found.values) < SAME


@strategies
def test_events_of_every_kind_are_crossed(strategy):
    """Regulators that reach and leave their limits at located times, on the way."""
    assert {e.item for e in run_of("wscc9_paper").events} >= {"VR_at_VRMAX", "VR_off_VRMAX", "strikes", "clears"}
    for options in ({"jumps": "continuous"}, {"fixed_time": True}, {"dispatch": "direct"}):
        found, true = (found_by("wscc9_paper", s, **options) for s in (strategy, None))
        assert worst(found.values, true.values) < SAME


@strategies
def test_algebraic_variables_are_found_too(strategy):
    quantities = (("BUS7", "Vm"), ("EXC2", "VR"), ("GEN3", "Iq"))
    found, true = (found_by("wscc9", s, quantities=quantities) for s in (strategy, None))
    assert worst(found.values, true.values) < SAME


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s != "staggered direct"])
def test_error_follows_the_tolerance(strategy):
    true = found_by("kundur").values
    errors = [worst(found_by("kundur", strategy, tolerance=t).values, true) for t in (1e-4, 1e-7, 1e-10)]
    assert errors[0] > 30 * errors[1] > 900 * errors[2]
    assert errors[1] < 1e-4


@strategies
@studies
def test_counters_are_consistent(name, strategy):
    run, work = run_of(name), found_by(name, strategy).attrs
    count = len(found_by(name, strategy)["parameter"])
    steps, switches = run.counters["steps"], run.counters["switches"]
    switches += sum(isinstance(r, Step) and r.h == 0.0 for r in run.tape.records)  # steps of no length beside them
    assert work["strategy"] == strategy
    assert work["steps"] == steps
    assert work["direct_solves"] + work["iterative_solves"] == steps + switches
    assert work["newton_iterations"] >= steps + switches
    assert work["right_hand_sides"] >= work["newton_iterations"]
    assert work["jacobians"] >= work["factorisations"]
    assert work["solves"] >= work["newton_iterations"] + count * (steps + switches) - work["iterative_solves"] * count
    assert work["mflop"] > 0


@studies
def test_staggered_direct_factors_at_every_step_and_solves_each_sensitivity_once(name):
    run, work = run_of(name), found_by(name, "staggered direct").attrs
    assert work["factorisations"] >= run.counters["steps"] + run.counters["switches"]
    assert work["iterative_solves"] == work["inner_solves"] == 0


@studies
@pytest.mark.parametrize("strategy", ["staggered corrector", "staggered hybrid"])
def test_with_old_factors_there_are_far_fewer_of_them(name, strategy):
    """In steps as short as those of the study that the strategies come from."""
    old, new = (found_by(name, s, 0.001).attrs for s in (strategy, "staggered direct"))
    assert 8 * old["factorisations"] < new["factorisations"]
    assert old["iterative_solves"] > 20 * old["direct_solves"]
    assert old["jacobians"] < 1.1 * new["jacobians"]


@studies
def test_gmres_needs_fewer_iterations_than_the_quasi_newton_iteration(name):
    quasi, krylov = (found_by(name, s, 0.001).attrs for s in ("staggered corrector", "staggered hybrid"))
    assert krylov["iterations"] / krylov["iterative_solves"] < quasi["iterations"] / quasi["iterative_solves"]


@strategies
def test_nothing_is_solved_before_anything_has_moved(strategy):
    """The clearing time matters from the clearing on."""
    run = run_of("wscc9")
    assert len(run.events) == 3  # and no limit that is reached, an instant with solves of its own
    work = gc.analyses.tsa(run, "fault.clear", strategy=strategy).attrs
    after = int((run.t > 0.183 + 1e-9).sum())
    # besides: the networks of the fault and of its clearing, the step from the fault to the grid, that to the clearing
    assert after < work["direct_solves"] + work["iterative_solves"] <= after + 4
    assert work["steps"] == run.counters["steps"]


def test_an_unknown_strategy_is_refused_with_those_that_there_are():
    with pytest.raises(CaseError, match="did you mean staggered direct"):
        gc.analyses.tsa(run_of("wscc9"), "GEN1.H", strategy="stagered direct")


@pytest.mark.parametrize("tolerance", [0, -1e-3, 1, np.nan, "1e-3", None])
def test_a_tolerance_is_a_number_between_zero_and_one(tolerance):
    with pytest.raises(CaseError, match="must be a number between 0 and 1"):
        gc.analyses.tsa(run_of("wscc9"), "GEN1.H", strategy="staggered direct", tolerance=tolerance)
