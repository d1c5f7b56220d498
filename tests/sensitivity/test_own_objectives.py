"""Kinds of objectives that a third party writes, against public names only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import gridcore as gc
from gridcore.sensitivity import Partials, Points, Pointwise, Taken

WRT = ["GEN2.P0", "GEN3.H", "fault.clear"]


class SmoothPeak(Pointwise):
    """``log(sum(exp(sharpness r))) / sharpness`` over the points: nearly the largest value of a function."""

    def __init__(self, function: Callable[[Any], Any], sharpness: float):
        self.function, self.sharpness = function, sharpness

    def take(self, points: Points, r: np.ndarray) -> Taken:
        powers = np.exp(self.sharpness * (r - r.max()))
        return Taken(r.max() + np.log(powers.sum()) / self.sharpness, powers / powers.sum())


class Product(gc.Objective):
    """Of two quantities, one at the end of the run and one at its start."""

    def __init__(self, end: str, start: str):
        self.names = (end, start)

    def _of(self, run: gc.Run) -> tuple[np.ndarray, float, float]:
        at = np.array([run.system.layout.address(name) for name in self.names])
        values = run.read(at)
        return at, values[-1, 0], values[0, 1]

    def value(self, run: gc.Run) -> float:
        _, end, start = self._of(run)
        return end * start

    def weights(self, run: gc.Run) -> Partials:
        at, end, start = self._of(run)
        points = np.zeros((len(run.t), 2))
        points[-1, 0], points[0, 1] = start, end
        return Partials(at, points)

    def clocks(self, run: gc.Run, moving: bool = True) -> Mapping[int, float]:
        return {}


class Clearing(gc.Objective):
    """The time at which the fault is cleared: of that of the clock alone."""

    def value(self, run: gc.Run) -> float:
        return float(run.t[self._clock(run)[1]])

    def weights(self, run: gc.Run) -> Partials:
        return Partials(np.zeros(0, dtype=int), np.zeros((len(run.t), 0)))

    def clocks(self, run: gc.Run, moving: bool = True) -> Mapping[int, float]:
        return {self._clock(run)[0]: 1.0}

    def _clock(self, run: gc.Run) -> tuple[int, int]:
        """Its number, and the first point at it."""
        at = run.system.layout.address("fault.clear")
        number = next(k for k, clock in enumerate(run.tape.clocks) if clock.kind == "timer" and clock.of == at)
        return number, list(run.tape.point_clock).index(number)


@pytest.fixture(scope="module")
def run() -> gc.Run:
    case = gc.load_case("wscc9")
    case.remove("trip")  # at the instant of clearing: finite differences would change the order
    return gc.simulate(gc.build(case), t_end=0.5, step=0.01)


KINDS = {
    "pointwise": lambda: SmoothPeak(lambda v: v["GEN2", "omega"], 2e3),
    "direct": lambda: Product("GEN2.omega", "BUS7.Vr"),
    "mixed": lambda: (gc.Integral(lambda v: v["GEN3", "omega"]) + 2.0 * SmoothPeak(lambda v: v["BUS7", "Vm"], 50.0)
                      + 0.5 * Product("BUS5.Vr", "BUS7.Vr")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_its_adjoint_is_its_forward_gradient_and_its_finite_differences(run: gc.Run, kind: str) -> None:
    objective = KINDS[kind]()
    exact = gc.adjoint(run, objective, WRT)
    assert exact["value"].item() == objective.value(run)
    np.testing.assert_allclose(gc.analyses.forward_gradient(run, objective, WRT), exact, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(gc.differences(run, objective, WRT), exact, rtol=2e-5, atol=1e-9)


def test_a_kind_may_depend_on_the_times_of_events(run: gc.Run) -> None:
    found = gc.adjoint(run, 3.0 * Clearing(), WRT)
    assert found["value"].item() == 3 * 0.183
    assert found.values.tolist() == [[0.0, 0.0, 3.0]]


def test_together_with_others_it_is_the_same_as_alone(run: gc.Run) -> None:
    objectives = [KINDS[kind]() for kind in KINDS]
    alone = np.concatenate([gc.adjoint(run, objective, WRT).values for objective in objectives])
    np.testing.assert_allclose(gc.adjoint(run, objectives, WRT), alone, rtol=1e-12, atol=1e-15)


def test_the_parts_of_an_objective_can_be_asked_for(run: gc.Run) -> None:
    integral = gc.Integral(lambda v: v["GEN3", "omega"] ** 2)
    partials = integral.weights(run)
    assert partials.points.shape == (len(run.t), 1)
    assert run.system.layout.address("GEN3.omega") == partials.at.item()
    total = (partials.points[:, 0] * run["GEN3", "omega"]).sum()
    np.testing.assert_allclose(total, 2 * integral.value(run), rtol=1e-13)
    assert list(integral.clocks(run))
    assert not gc.Terminal(lambda v: v["GEN3", "omega"]).clocks(run)


@pytest.mark.parametrize(("base", "left_out"), [
    (Product, "value"), (Product, "weights"), (Product, "clocks"), (SmoothPeak, "take")])
def test_one_that_lacks_a_method_cannot_be_made(base: type, left_out: str) -> None:
    methods = {name: method for name, method in vars(base).items() if name not in ("__init__", left_out)}
    with pytest.raises(TypeError, match=f"abstract method .*{left_out}"):
        type("Partly", base.__bases__, methods)()
