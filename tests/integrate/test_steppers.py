"""What a method has that says no more than it must: a weight of ends, a slope of them, factors while it needs them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from devices_for_tests import Driven, system

import gridcore as gc
from gridcore.equations import Workspace
from gridcore.errors import PluginError
from gridcore.integrate import Advance, StepOperator, Stepper
from gridcore.registry import Integrator, registered
from gridcore.sensitivity import evaluate
from gridcore.system import System

pytestmark = pytest.mark.usefixtures("small_devices")


class Given(Stepper):
    """``x = 1 + t^2``, whatever the equations say."""

    name, order = "given", 1

    def __init__(self, step: float):
        pass

    def restart(self, ws: Workspace, t: float) -> None:
        self.ws = ws

    def advance(self, t: float, target: float) -> Advance:
        self.state_at(target)
        return Advance(target)

    def state_at(self, t: float) -> None:
        self.ws.X[:], self.ws.Z[-1] = 1.0 + t * t, t


@pytest.mark.parametrize("reached", [0.25, 0.2, 0.6, float("nan")])
def test_a_method_that_does_not_go_towards_its_target_is_an_error_that_names_it(reached: float) -> None:
    """Where it was, back, beyond: it would go on for ever, or over what is due at the target."""

    class Stuck(Given):
        def advance(self, t: float, target: float) -> Advance:
            self.state_at(target if t < 0.25 else reached)
            return Advance(target if t < 0.25 else reached)

    named = pytest.raises(PluginError, match=r"'given' went to .* s, from 0\.25 to 0\.5 s")
    with registered(Integrator("stuck", Stuck)), named:
        gc.simulate(system(Driven(id="D", x0=1.0)), 1.0, 0.25, "stuck")


def test_integrals_are_by_the_trapezoidal_rule_where_a_method_does_not_say_otherwise() -> None:
    with registered(Integrator("given", Given)):
        run = gc.simulate(system(Driven(id="D", x0=1.0)), 1.0, [(0.0, 0.25), (0.5, 0.1)], "given")
        found = evaluate(run, [gc.Integral(lambda v: v["D", "x"])]).values
    assert found[0] == pytest.approx(np.trapezoid(1 + run.t**2, run.t), rel=1e-14)


def test_the_slope_of_a_step_is_the_tangent_of_its_end_where_only_the_time_of_that_moves() -> None:
    """One row of each: a method may put them side by side."""

    class Linear(StepOperator):
        def forward(self, dX: np.ndarray, dP: np.ndarray, dT0: np.ndarray, dT1: np.ndarray) -> np.ndarray:
            return np.hstack([dX, dP, dT0[:, None], dT1[:, None]]) @ matrix

        def transpose(self, adjoint: np.ndarray, aP: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            raise NotImplementedError

    matrix = np.arange(1.0, 22.0).reshape(7, 3)
    points: Any = SimpleNamespace(n=3, width=2)
    assert np.array_equal(Linear(None, points).slope(), matrix[-1])  # type: ignore[arg-type]


def test_the_way_back_over_a_run_needs_no_more_factors_the_longer_it_is(monkeypatch: Any) -> None:
    """Those of a step serve another."""
    taken: list[int] = []
    factors = System.factors
    monkeypatch.setattr(System, "factors", lambda *args, **kwargs: taken.append(1) or factors(*args, **kwargs))
    counts = []
    for t_end in (0.2, 0.4):
        run = gc.simulate(system(Driven(id="D")), t_end, 0.01)
        taken.clear()
        gc.adjoint(run, gc.Terminal(lambda v: v["D", "x"]), ["D.a"])
        counts.append(len(taken))
    assert counts[0] == counts[1] > 0
