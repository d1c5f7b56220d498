"""With ``max_step`` what comes and goes within a step that nothing else keeps short is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gridcore as gc


class Passing(gc.Device):
    """Counts crossings of a sine of the time, and those of a state that is above zero from 40 s to 60 s."""

    zero, below = gc.Param("", 0.0), gc.Param("", -24.0)
    n, x, k = (gc.State("", start_at=name) for name in ("zero", "below", "zero"))
    y = gc.Algebraic("", equals=lambda s: np.sin(2 * np.pi * s.time))

    def rates(s: Any) -> Any:
        return 0.0, -(s.time - 50.0) / 50.0, 0.0

    @gc.guard("up", then={"n": lambda s: s.n + 1})
    def up(s: Any) -> Any:
        return s.y - 0.5

    @gc.guard("up", then={"k": lambda s: s.k + 1})
    def bump(s: Any) -> Any:
        return s.x


@pytest.fixture(scope="module")
def system() -> Any:
    with gc.registered(Passing):
        case = gc.Case("passing")
        case.add("Passing", id="P")
        yield gc.build(case)


@pytest.mark.parametrize("method", ["theta", "trbdf2", "bdf"])
def test_no_step_is_longer_from_the_first_on_and_after_events_and_where_a_run_goes_on(system: Any, method: str) -> None:
    run = gc.simulate(system, 70.0, "auto", method, rtol=1e-3, atol=1e-5, max_step=0.2)
    assert np.diff(run.t).max() < 0.2 * (1 + 1e-9)
    assert run["P", "n"][-1] == pytest.approx(70.0, abs=1e-9)
    assert run["P", "k"][-1] == pytest.approx(1.0, abs=1e-9)
    assert run.settings["max_step"] == 0.2
    longer = gc.simulate(run, 75.0)
    assert np.diff(longer.t).max() < 0.2 * (1 + 1e-9)
    assert longer["P", "n"][-1] == pytest.approx(75.0, abs=1e-9)


def test_without_it_steps_are_as_long_as_errors_allow(system: Any) -> None:
    run = gc.simulate(system, 70.0, "auto", rtol=1e-3, atol=1e-5)
    assert np.diff(run.t).max() > 5.0
    assert "max_step" not in run.settings


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, "0.1"])
def test_a_longest_step_is_a_positive_number(system: Any, value: Any) -> None:
    with pytest.raises(gc.errors.CaseError, match=r"max_step = .* must be a number greater than 0"):
        gc.simulate(system, 1.0, "auto", max_step=value)


def test_a_grid_has_no_longest_step(system: Any) -> None:
    with pytest.raises(gc.errors.CaseError, match=r"has no option 'max_step'.*; step = 'auto' takes it"):
        gc.simulate(system, 1.0, 0.01, max_step=0.1)
