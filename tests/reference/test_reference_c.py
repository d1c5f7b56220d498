"""Reference C, Chaniotis, Pai & Hiskens (2001): four strategies to solve for sensitivities, and their counts."""

from __future__ import annotations

import numpy as np
import pytest
from scripts import script

c = script("reference_c")
cases = pytest.mark.parametrize("case", list(c.CLEARED))
JACOBIANS, DIRECT, ITERATIVE = 564, 564, 534  # of the paper, stable case


def work(case, method, parameter="fault.t"):
    """What a method did; by default with sensitivities from the fault on, as the paper's counts are."""
    return c.sensitivities(case, method, parameter, c.TOLERANCE).attrs


def test_grid_has_the_661_points_of_the_paper():
    run = c.simulate("stable")
    assert run.counters["steps"] + 1 == 661
    assert len(np.unique(run.t)) == 661
    assert [e.what for e in run.events] == ["fault", "fault cleared"]


@cases
@pytest.mark.parametrize("method", c.STRATEGIES)
def test_all_strategies_find_what_the_adjoint_finds(case, method):
    assert c.against_adjoint(case, method) < 1e-10


def test_nothing_moves_before_the_clearing():
    S, run = c.sensitivities("stable", "SHM"), c.simulate("stable")
    assert np.abs(S.values[run.t < 0.3 - 1e-9]).max() == 0
    assert np.abs(S.values[run.t > 0.3 + 1e-9]).min(axis=0).max() > 0


def test_staggered_direct_makes_a_jacobian_and_factors_a_step_as_in_the_paper():
    done = work("stable", "SDM")
    assert done["jacobians"] == pytest.approx(JACOBIANS, rel=0.03)
    assert done["factorisations"] == pytest.approx(DIRECT, rel=0.03)


@pytest.mark.parametrize("method", ["SCM", "SHM"])
def test_with_old_factors_nearly_all_sensitivities_are_iterated_as_in_the_paper(method):
    done = work("stable", method)
    assert done["iterative_solves"] == pytest.approx(ITERATIVE, rel=0.03)
    assert done["jacobians"] == pytest.approx(JACOBIANS, rel=0.03)
    assert 10 * done["factorisations"] < work("stable", "SDM")["factorisations"]


@pytest.mark.parametrize("method", c.STRATEGIES)
def test_newton_makes_two_to_seven_iterations_a_step(method):
    """4.42 to 5.23 in the paper: fewest with new factors at each step, most where sensitivities must converge, too."""
    made = {m: work("stable", m)["newton_iterations"] for m in c.STRATEGIES}
    assert 2 < made[method] / 660 < 7
    assert made["SDM"] <= made[method] <= made["SICM"]


@cases
@pytest.mark.parametrize("parameter", ["fault.clear", "fault.t"])
def test_gmres_saves_iterations(case, parameter):
    assert 0.9 < c.saved_by_gmres(case, parameter) < 3


@cases
def test_the_simultaneous_corrector_costs_most(case):
    flop = {method: work(case, method)["mflop"] for method in c.STRATEGIES}
    assert max(flop, key=flop.get) == "SICM"


def test_the_unstable_case_takes_more():
    for method in c.STRATEGIES:
        stable, unstable = (work(case, method, "fault.clear") for case in c.CLEARED)
        assert all(unstable[name] > stable[name] for name in ("newton_iterations", "factorisations", "mflop"))
