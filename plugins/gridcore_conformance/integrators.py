"""What any integrator must show: run on a small problem whose solution is known, with events of every kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from gridcore.case import Case
from gridcore.contract import Algebraic, Device, Mode, Param, State, guard, timer
from gridcore.equations import Workspace
from gridcore.equilibrium import Equilibrium, build
from gridcore.integrate import Linearised, Stepper, new_stepper, simulate
from gridcore.registry import Integrator, analyses, registered
from gridcore.results import Run
from gridcore.sensitivity import Integral, Replay, Terminal, adjoint
from gridcore.tape import GRID, Step, segment_length
from gridcore.testing import NotExamined, Suite, require

T_END, STEP = 1.5, 0.02
WRT = ["fading.k", "fading.x0", "fading.level", "fading.kick", "fading.low", "fading.wait", "fading.at"]
_HALVED = 4  # the step, to see the order
_SHORT = 0.25  # by which the order that is found may fall short: events fall anywhere in their steps
_SOLVED = 1e-10
_TRANSPOSED = 1e-12
_INTERPOLANT = 3  # between points that are better no more is asked for
DERIVED = 1e-6  # the accuracy of differences


class Fading(Device):
    """``dx/dt = -y x (1 + t)`` with ``0 = y - k x``; kicked up once when x falls to `level`.

    k changes then, again at the time `at`, and a last time `wait` after x has fallen to `low`.
    """

    k, x0 = Param("", 1.0), Param("", 1.0)
    level, kick, low = Param("", 0.6), Param("", 0.3), Param("", 0.49)
    wait, at = Param("s", 0.137), Param("s", 0.9037)
    x = State("", start_at="x0")
    y = Algebraic("")
    kicked, late = Mode(0), Mode(0)

    def rates(s: Any) -> Any:
        return -s.y * s.x * (1.0 + s.time)

    def residuals(s: Any) -> Any:
        return s.y - s.k * s.x

    @guard("down", when={"kicked": 0}, then={"kicked": 1, "x": lambda s: s.x + s.kick, "k": lambda s: 0.8 * s.k})
    def falls(s: Any) -> Any:
        """Low: kicked up"""
        return s.x - s.level

    @guard("down", when={"late": 0}, then={"late": 1, "k": lambda s: 0.5 * s.k}, delay="wait", cancel=False)
    def lags(s: Any) -> Any:
        """Low for some time"""
        return s.x - s.low

    changes = timer("at", then={"k": lambda s: 1.5 * s.k}, doc="change")


def solution() -> tuple[list[float], float]:
    """Times of the four events of :class:`Fading`, and x at the end."""
    def when(x: float, begun: float, x0: float, k: float) -> float:
        return math.sqrt(1 + 2 * (_grown(begun) + (1 / x - 1 / x0) / k)) - 1

    kicked = when(0.6, 0.0, 1.0, 1.0)
    changed = then(0.9037, kicked, 0.9, 0.8)
    low = when(0.49, 0.9037, changed, 1.2)
    x = then(low + 0.137, 0.9037, changed, 1.2)
    return [kicked, 0.9037, low, low + 0.137], then(T_END, low + 0.137, x, 0.6)


def then(t: Any, begun: float = 0.0, x0: float = 1.0, k: float = 1.0) -> Any:
    """The state at times `t`, as long as k is what it is."""
    return x0 / (1 + k * x0 * (_grown(t) - _grown(begun)))


def _grown(t: Any) -> Any:
    return t + t * t / 2


def fading() -> Equilibrium:
    """The problem; Fading is to be registered."""
    case = Case("conformance")
    case.add("Fading", id="fading")
    return build(case)


@dataclass
class _Problem:
    """The problem, and the method that is to solve it."""

    system: Equilibrium
    name: str
    options: dict[str, Any]
    order: float | None

    def stepper(self) -> Stepper:
        return new_stepper(self.name, STEP, self.options)[0]

    def run(self, step: float = STEP, **how: Any) -> Run:
        return simulate(self.system, T_END, step, self.name, **how, **self.options)

    def restart(self, stepper: Stepper, ws: Workspace) -> Workspace:
        """A workspace in which a stepper stands at t0."""
        ws.load(self.system.Z0)
        ws.differential[:] = self.system.differential(ws.Z)
        stepper.restart(ws, 0.0)
        return ws


@contextmanager
def _method(make: Callable[..., Stepper], *, order: float | None = None, **options: Any) -> Iterator[_Problem]:
    """A method, with options; `order` is that of convergence, by default the ``order`` of the stepper."""
    name = str(getattr(make, "name", None) or getattr(make, "__name__", "integrator"))
    with registered(Integrator(name, make), Fading):
        yield _Problem(fading(), name, options, order)


integrator_checks = Suite(_method)


@integrator_checks.add("stepper")
def _is_a_stepper(problem: _Problem) -> str:
    stepper = problem.stepper()
    for attribute, kind in (("name", str), ("order", (int, float))):
        require(isinstance(getattr(stepper, attribute, None), kind), f"the class says no {attribute}")
    require(stepper.name == problem.name, f"its name is {stepper.name!r}")
    return f"order {stepper.order}, weight {stepper.end_weight:g} of the end of a step in integrals"


@integrator_checks.add("run")
def _arrives(problem: _Problem) -> str:
    run = problem.run()
    require(run.t[-1] == T_END, f"the run ends at {run.t[-1]:.6g} s, not at {T_END} s")
    found, expected = [event.item for event in run.events], ["falls", "changes", "lags", "lags"]
    require(found == expected, f"events {', '.join(found) or 'none'} in place of {', '.join(expected)}")
    tolerance = _SOLVED if problem.stepper().exact_ends else 1e-3
    worst = float(np.abs(run["fading", "y"] - run["fading", "k"] * run["fading", "x"]).max())
    require(worst <= tolerance, f"algebraic equations are off by {worst:.1e} at the points of the run")
    return f"{len(run.t)} points, {len(run.events)} events; algebraic equations off by {worst:.0e} at most"


@integrator_checks.add("order")
def _converges(problem: _Problem) -> str:
    def error(step: float) -> float:
        run, (times, x) = problem.run(step), solution()
        return float(np.linalg.norm([run["fading", "x"][-1] - x, *(e.t - t for e, t in zip(run.events, times))]))

    stepper = problem.stepper()
    if not stepper.one_step:
        raise NotExamined("its steps are its own")
    expected = stepper.order if problem.order is None else problem.order
    coarse, fine = error(STEP), error(STEP / _HALVED)
    if fine < 1e-12:
        return f"exact: an error of {fine:.0e}"
    found = math.log(coarse / fine, _HALVED)
    require(found >= expected - _SHORT, f"{found:.2f} in place of {expected:g}, through events: errors {coarse:.1e} "
                                         f"and {fine:.1e} at steps of {STEP:g} s and a {_HALVED}th of that")
    return f"{found:.2f} through events; an error of {fine:.0e} at {STEP / _HALVED:g} s"


@integrator_checks.add("state within a step")
def _within_a_step(problem: _Problem) -> str:
    stepper, other, part = problem.stepper(), problem.stepper(), 0.3 * STEP
    ws = problem.restart(stepper, problem.system.workspace())
    stepper.advance(0.0, STEP)
    stepper.state_at(part)
    found = ws.X.copy()
    require(ws.Z[-1] == part, "state_at(t) leaves another time than t in ws.Z[-1]")
    ws = problem.restart(other, problem.system.workspace())
    if other.advance(0.0, part).t < part:
        raise NotExamined("its steps are its own")
    worst = float(np.abs(ws.X - found).max())
    require(worst <= (_SOLVED if stepper.exact_ends else 1e-3),
             f"state_at(t) is not where advance to t leads: off by {worst:.1e}")
    return f"ends of steps can be moved; off by {worst:.0e}"


@integrator_checks.add("between points", "run")
def _interpolates(problem: _Problem) -> str:
    def order(part: float) -> float:
        """Of the errors at this part of each step."""
        def error(step: float) -> float:
            times = step * (np.arange(1, round(0.5 / step)) + part)
            return float(np.abs(problem.run(step).at(times)["fading.x"] - then(times)).max())

        fine = error(STEP / _HALVED)
        return math.log(error(STEP) / fine, _HALVED) if fine > 1e-12 else math.inf

    stepper, run = problem.stepper(), problem.run()
    points, worst = Linearised(run.system, run.tape, ()), 0.0
    for record in (record for record in run.tape.records if isinstance(record, Step) and record.h):
        ends = slice(record.k, record.k + 2)
        X = stepper.interpolate(record, points, run.t[ends])
        differential = points.differential(int(run.point_settings[record.k]))
        worst = max(worst, float(np.abs(X - run.X[ends])[:, differential].max()))
    require(worst <= _SOLVED, f"interpolate(record, points, t) does not give the ends of steps: off by {worst:.1e}")
    if not stepper.one_step:
        return f"the ends of steps to {worst:.0e}"
    expected, found = min(order(0.0), _INTERPOLANT), order(0.37)
    require(found >= expected - _SHORT, f"order {found:.2f}, where at the points it is {expected:.2f}")
    return f"order {found:.2f}; the ends of steps to {worst:.0e}"


@integrator_checks.add("restart")
def _restarts(problem: _Problem) -> str:
    stepper, fresh = problem.stepper(), problem.stepper()
    if not stepper.one_step:
        raise NotExamined("it says that it depends on what was before")
    ws, t = problem.restart(stepper, problem.system.workspace()), 0.0
    for _ in range(5):
        t = stepper.advance(t, t + STEP).t
    problem.restart(stepper, ws)
    other = problem.restart(fresh, problem.system.workspace())
    for number in range(2):
        for each in (stepper, fresh):
            each.advance(number * STEP, (number + 1) * STEP)
        require(np.array_equal(ws.X, other.X),
                 f"step {number + 1} after a restart depends on what was before it, by "
                 f"{np.abs(ws.X - other.X).max():.1e}: a stepper with one_step = True forgets everything")
    points = segment_length(problem.system.n)
    step = T_END / (6 * points)
    whole, light = problem.run(step), problem.run(step, checkpoint=8 * problem.system.n * 5 * points)
    require(np.array_equal(whole.X, light.X), "a run that is recomputed from checkpoints is another")
    return "nothing is left of what was before; recomputed from checkpoints a run is the same to the last bit"


@integrator_checks.add("transpose")
def _transposed(problem: _Problem) -> str:
    if not problem.stepper().differentiable:
        raise NotExamined("it has no operator")
    return transposed(problem.run(), lambda operator, *v: (operator.forward(*v), np.zeros(2)),
                      lambda operator, aX, aP, aT: operator.transpose(aX, aP))


@integrator_checks.add("derivatives")
def _derived(problem: _Problem) -> str:
    if not problem.stepper().differentiable:
        raise NotExamined("it has no operator")
    error, words = against_differences(problem.run())
    require(error <= DERIVED, words)
    return f"the adjoint is that of differences to {error:.0e}, through events, delays and resets"


def transposed(run: Run, forward: Callable[..., Any], transpose: Callable[..., Any]) -> str:
    """Require ``<a, J v> = <J' a, v>`` of every step of a run, for random a and v.

    ``forward(operator, dX, dP, dT0, dT1)`` gives dX+ and dT+; ``transpose(operator, aX, aP, aT)`` is its transpose.
    """
    def inner(u: Iterable[np.ndarray], v: Iterable[np.ndarray]) -> np.ndarray:
        return sum((p @ q.T if p.ndim > 1 else np.outer(p, q) for p, q in zip(u, v)), np.zeros((3, 2)))

    rng, n, worst = np.random.default_rng(0), run.system.n, 0.0
    carried = np.arange(n, n + run.system.layout.n_p)
    replay = Replay(run.system, run.tape, carried)
    for record in (record for record in run.tape.records if isinstance(record, Step)):
        operator, aP = replay.step(record), np.zeros((3, len(carried)))
        v = [rng.normal(size=(2, n)), rng.normal(size=(2, len(carried))),
             *(rng.normal(size=2) * (clock != GRID) for clock in (record.start, record.end))]
        operator.before = [(rng.normal(size=(2, n)), np.zeros(2)) for _ in operator.past]
        v += [dX for dX, _ in operator.before]
        a = [rng.normal(size=(3, n)), rng.normal(size=3) * (record.end != GRID)]
        out = forward(operator, *v[:4])
        aX, *aT = transpose(operator, a[0].copy(), aP, a[1])
        there, back = inner(a, out), inner([aX, aP, *aT, *(each for each, _ in operator.before)], v)
        size = inner(map(abs, a), map(abs, out)) + np.abs(back)
        worst = max(worst, float((np.abs(there - back) / size).max()))
    require(worst <= _TRANSPOSED, f"<a, J v> and <J' a, v> differ by {worst:.1e} of their size")
    return f"of the tangent to {worst:.0e}"


def against_differences(run: Run, **how: Any) -> tuple[float, str]:
    """The largest error of adjoints of a run of the problem, as a part of the largest derivative; and where it is."""
    objectives = [Terminal(lambda v: v["fading", "x"]), Integral(lambda v: v["fading", "x"] * v["fading", "y"])]
    found, expected = adjoint(run, objectives, WRT, **how).values, analyses.differences(run, objectives, WRT).values
    error = np.abs(found - expected) / np.abs(expected).max(axis=1, keepdims=True)
    row, column = np.unravel_index(int(error.argmax()), error.shape)
    return float(error.max()), (f"of {('the end', 'an integral')[row]} in {WRT[column]}: {found[row, column]:.8g}, "
                                f"by differences {expected[row, column]:.8g}")
