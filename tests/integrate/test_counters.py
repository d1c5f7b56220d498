"""What a run counts of its work: iterations of Newton's method by what they are for."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import gridcore as gc
from gridcore.equations import Workspace
from gridcore.integrate import Crossing, Stepper
from gridcore.linear import Newton
from gridcore.results import Run
from gridcore_bdf.stepper import Bdf
from gridcore_theta.stepper import Theta
from gridcore_trbdf2.stepper import TrBdf2

METHODS = pytest.mark.parametrize("stepper", [Theta, Bdf, TrBdf2])
STEPS = pytest.mark.parametrize("step", [0.01, "auto"])


def run_of(stepper: type[Stepper], step: Any) -> Run:
    """A fault whose clearing opens a line; limits are met and left after it."""
    return gc.simulate("ieee39", 1.3, step, stepper.name)


@METHODS
@STEPS
def test_iterations_of_locations_and_of_solving_anew_are_those_made_there(
        stepper: type[Stepper], step: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made, within = Counter[str](), ["a step"]

    def told(of: type, name: str, purpose: str) -> None:
        function = getattr(of, name)

        def call(*given: Any, **named: Any) -> Any:
            made[f"{purpose}, calls"] += 1
            within.append(purpose)
            try:
                return function(*given, **named)
            finally:
                within.pop()
        monkeypatch.setattr(of, name, call)

    def counted(of: type, name: str, where: tuple[str, ...]) -> None:
        function = getattr(of, name)

        def call(*given: Any, **named: Any) -> Any:
            made[within[-1]] += within[-1] in where
            return function(*given, **named)
        monkeypatch.setattr(of, name, call)

    monkeypatch.setattr(stepper, "stretch", Stepper.stretch)  # iterations in C are not seen
    told(Crossing, "locate", "a location")
    told(Newton, "resolve", "solving anew")
    counted(Workspace, "newton", ("a step", "a location"))
    counted(Newton, "factor", ("solving anew",))  # by damped corrections, each with factors of its own
    counters = run_of(stepper, step).counters
    assert counters["locations"] == made["a location, calls"] > 2
    assert counters["resolves"] == made["solving anew, calls"] == 2  # the fault begins, and ends
    assert counters["location_iterations"] == made["a location"] > counters["locations"]
    assert counters["resolve_iterations"] == made["solving anew"] > counters["resolves"]
    assert counters["newton_iterations"] == made["a step"] + made["a location"] + made["solving anew"]


@METHODS
@STEPS
def test_those_that_are_made_in_c_are_counted_as_well(stepper: type[Stepper], step: Any,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    counters = run_of(stepper, step).counters
    monkeypatch.setattr(stepper, "stretch", Stepper.stretch)
    one_by_one = run_of(stepper, step).counters
    for name in ("locations", "resolves", "resolve_iterations"):
        assert counters[name] == one_by_one[name]
    assert counters["location_iterations"] == pytest.approx(one_by_one["location_iterations"], rel=0.5)


def test_a_run_that_is_continued_counts_what_it_made_before() -> None:
    whole, first = gc.simulate("ieee39", 1.3), gc.simulate("ieee39", 1.11)
    assert 0 < first.counters["location_iterations"] < whole.counters["location_iterations"]
    assert gc.simulate(first, 1.3).counters == whole.counters


def test_a_method_says_by_its_counters_what_a_location_took(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = run_of(Theta, 0.01).counters
    monkeypatch.setattr(Theta, "iterations", Stepper.iterations)
    assert run_of(Theta, 0.01).counters == usual
