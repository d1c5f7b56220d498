"""No result depends on a tolerance: each of the table, ten times larger and smaller, moves less than it states."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
import scenes
from industry_studies import INDUSTRY
from studies import words

import gridcore as gc
from gridcore import numerics
from gridcore.equilibrium import Equilibrium
from gridcore_klu import solver as klu
from gridcore_theta import stepper as theta

STUDIES = {"hiskens_pai": scenes.STUDIES["hiskens_pai"], "regulator_limits": scenes.STUDIES["regulator_limits"],
           "bus_fed_exciters": INDUSTRY["bus_fed_exciters"]}
AT_RUN_TIME = [row for rows in numerics.TABLE.values() for row in rows if row.moves is not None]
ACT_WHEN_BUILT = [*numerics.TABLE["Power flow and initial state"], *(r for r in AT_RUN_TIME if r.name == "AT_REST")]


class Result(NamedTuple):
    """Of a study: what happened, when, the states at all points, and derivatives of three objectives."""

    events: list[str]
    t: np.ndarray
    X: np.ndarray
    gradient: np.ndarray


def result(name: str, system: Equilibrium | None = None) -> Result:
    """Of a study whose system is built anew, unless one is given."""
    study = STUDIES[name]()
    run = gc.simulate(system or gc.build(study.case), t_end=study.t_end, step=study.step)
    gradient = gc.adjoint(run, study.objectives()[:3], list(study.wrt)[:12]).values
    return Result(words(run.events), run.t, run.X, gradient)


@cache
def built(name: str) -> Equilibrium:
    return gc.build(STUDIES[name]().case)


@cache
def as_it_is(name: str) -> Result:
    return result(name)


def moved(found: Result, reference: Result) -> float:
    """The largest change of states, times and derivatives, relative to them, or to one where they are smaller."""
    assert found.events == reference.events
    largest = np.abs(reference.gradient).max(axis=1, keepdims=True)
    return max(np.max(np.abs(found.X - reference.X) / (1 + np.abs(reference.X))), np.max(np.abs(found.t - reference.t)),
               np.max(np.abs(found.gradient - reference.gradient) / largest))


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize(("plugin", "tolerance"), [
    (klu, "SINGULAR"), (klu, "PIVOT_GROWTH"), (klu, "LOWEST_PIVOT"), (theta, "TINY_STEP")])
def test_results_move_as_little_by_those_of_klu_and_theta(plugin, tolerance, name, monkeypatch):
    value = getattr(plugin, tolerance)
    for factor in (10.0, 0.1):
        monkeypatch.setattr(plugin, tolerance, factor * value)
        assert moved(result(name, built(name)), as_it_is(name)) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("row", AT_RUN_TIME, ids=lambda row: row.name)
def test_results_move_by_less_than_the_table_states(row, name, monkeypatch):
    reference = as_it_is(name)
    system = None if row in ACT_WHEN_BUILT else built(name)
    for factor in (10.0, 0.1):
        monkeypatch.setattr(numerics, row.name, factor * row.value)
        assert moved(result(name, system), reference) < row.moves


def test_what_is_varied_is_what_acts(monkeypatch):
    reference = as_it_is("regulator_limits")
    monkeypatch.setattr(numerics, "NEWTON_REMAINS", 1e-4)
    monkeypatch.setattr(numerics, "NEWTON", 1e-4)
    assert moved(result("regulator_limits"), reference) > 1e-9
