"""What any integrator must show: run on a small problem whose solution is known, with events of every kind.

``print(check_integrator(MyMethod))``, and ``assert check_integrator(MyMethod).ok`` in its tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..case.records import Case
from ..contract.device import Algebraic, Device, Mode, Param, State, guard, timer
from ..contract.record import Record
from ..equilibrium.build import build
from ..equilibrium.equilibrium import Equilibrium
from ..integrate import Stepper, simulate
from ..integrate.base import new_stepper
from ..registry import Integrator, registered
from ..results.run import Run
from ..sensitivity.adjoint import adjoint
from ..sensitivity.finite_differences import differences
from ..sensitivity.objective import Integral, Terminal
from ..sensitivity.operators import Replay
from ..tape.checkpoints import SEGMENT
from ..tape.records import GRID, Step
from .doctor import Report

T_END, STEP = 1.5, 0.02
WRT = ["fading.k", "fading.x0", "fading.level", "fading.kick", "fading.low", "fading.wait", "fading.at"]
_HALVED = 4  # the step, to see the order
_SHORT = 0.25  # by which the order that is found may fall short: events fall anywhere in their steps
_SOLVED = 1e-10
_TRANSPOSED = 1e-12
_DERIVED = 1e-6  # the accuracy of differences


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
    def grown(t: float) -> float:
        return t + t * t / 2

    def when(x: float, begun: float, x0: float, k: float) -> float:
        return math.sqrt(1 + 2 * (grown(begun) + (1 / x - 1 / x0) / k)) - 1

    def then(t: float, begun: float, x0: float, k: float) -> float:
        return x0 / (1 + k * x0 * (grown(t) - grown(begun)))

    kicked = when(0.6, 0.0, 1.0, 1.0)
    changed = then(0.9037, kicked, 0.9, 0.8)
    low = when(0.49, 0.9037, changed, 1.2)
    x = then(low + 0.137, 0.9037, changed, 1.2)
    return [kicked, 0.9037, low, low + 0.137], then(T_END, low + 0.137, x, 0.6)


def check_integrator(make: Callable[..., Stepper], *, order: float | None = None, **options: Any) -> Report:
    """Check one integrator; it need not be registered.

    Parameters
    ----------
    make : callable
        ``make(step, **options)``, most often the class itself.
    order : float, optional
        Of convergence, with these options; by default the ``order`` of the stepper.
    **options
        Of the method.

    Returns
    -------
    Report
        ``problems`` in words; ``ok`` where there are none.
    """
    name = str(getattr(make, "name", None) or getattr(make, "__name__", "integrator"))
    report = Report(name)
    with registered(Integrator(name, make), Fading):
        case = Case("conformance")
        case.add(Record("Fading", {"id": "fading"}))
        patient = _Patient(build(case), name, options, order)
        for what, check in _CHECKS.items():
            try:
                report.passed.append(f"{what}: {check(patient)}")
            except _Wrong as wrong:
                report.problems.append(f"{what}: {wrong}")
            except Exception as error:
                report.problems.append(f"{what}: {type(error).__name__}: {error}")
    return report


class _Wrong(Exception):
    """What is wrong, in words."""


class _Patient:
    """The problem, and the method that is to solve it."""

    def __init__(self, system: Equilibrium, name: str, options: dict[str, Any], order: float | None):
        self.system, self.name, self.options, self.order = system, name, options, order

    def stepper(self) -> Stepper:
        return new_stepper(self.name, STEP, self.options)[0]

    def run(self, step: float = STEP, **how: Any) -> Run:
        return simulate(self.system, T_END, step, self.name, **how, **self.options)

    def begin(self, stepper: Stepper) -> Any:
        """A workspace in which a stepper stands at t0."""
        ws = self.system.workspace()
        self.restart(stepper, ws)
        return ws

    def restart(self, stepper: Stepper, ws: Any) -> None:
        ws.load(self.system.Z0)
        ws.differential[:] = self.system.differential(ws.Z)
        stepper.restart(ws, 0.0)


def _is_a_stepper(patient: _Patient) -> str:
    stepper = patient.stepper()
    for attribute, kind in (("name", str), ("order", (int, float))):
        if not isinstance(getattr(stepper, attribute, None), kind):
            raise _Wrong(f"the class says no {attribute}")
    if stepper.name != patient.name:
        raise _Wrong(f"its name is {stepper.name!r}")
    return f"order {stepper.order}, weight {stepper.end_weight:g} of the end of a step in integrals"


def _arrives(patient: _Patient) -> str:
    run = patient.run()
    if run.t[-1] != T_END:
        raise _Wrong(f"the run ends at {run.t[-1]:.6g} s, not at {T_END} s")
    found, expected = [event.item for event in run.events], ["falls", "changes", "lags", "lags"]
    if found != expected:
        raise _Wrong(f"events {', '.join(found) or 'none'} in place of {', '.join(expected)}")
    tolerance = _SOLVED if patient.stepper().exact_ends else 1e-3
    k = np.array([run.tape.settings[s][patient.system.layout.address("fading.k") - patient.system.n]
                  for s in run.tape.point_settings()])
    worst = float(np.abs(run["fading", "y"] - k * run["fading", "x"]).max())
    if not worst <= tolerance:
        raise _Wrong(f"algebraic equations are off by {worst:.1e} at the points of the run")
    return f"{len(run.t)} points, {len(run.events)} events; algebraic equations off by {worst:.0e} at most"


def _error(patient: _Patient, step: float) -> float:
    run, (times, x) = patient.run(step), solution()
    return float(np.linalg.norm([run["fading", "x"][-1] - x, *(e.t - t for e, t in zip(run.events, times))]))


def _converges(patient: _Patient) -> str:
    stepper = patient.stepper()
    if not stepper.one_step:
        return "not examined: its steps are its own"
    wanted = stepper.order if patient.order is None else patient.order
    coarse, fine = (_error(patient, STEP / part) for part in (1, _HALVED))
    if fine < 1e-12:
        return f"exact: an error of {fine:.0e}"
    found = math.log(coarse / fine, _HALVED)
    if not found >= wanted - _SHORT:
        raise _Wrong(f"{found:.2f} in place of {wanted:g}, through events: errors {coarse:.1e} and {fine:.1e} at "
                     f"steps of {STEP:g} s and a {_HALVED}th of that")
    return f"{found:.2f} through events; an error of {fine:.0e} at {STEP / _HALVED:g} s"


def _within_a_step(patient: _Patient) -> str:
    stepper = patient.stepper()
    ws, part = patient.begin(stepper), 0.3 * STEP
    stepper.advance(0.0, STEP)
    stepper.state_at(part)
    found = ws.X.copy()
    if ws.Z[-1] != part:
        raise _Wrong("state_at(t) leaves another time than t in ws.Z[-1]")
    other = patient.stepper()
    ws = patient.begin(other)
    reached = other.advance(0.0, part).t
    if reached < part:
        return "not examined: its steps are its own"
    worst = float(np.abs(ws.X - found).max())
    if worst > (_SOLVED if stepper.exact_ends else 1e-3):
        raise _Wrong(f"state_at(t) is not where advance to t leads: off by {worst:.1e}")
    return f"ends of steps can be moved; off by {worst:.0e}"


def _restarts(patient: _Patient) -> str:
    stepper, fresh = patient.stepper(), patient.stepper()
    if not stepper.one_step:
        return "not examined: it says that it depends on what was before"
    ws, t = patient.begin(stepper), 0.0
    for _ in range(5):
        t = stepper.advance(t, t + STEP).t
    patient.restart(stepper, ws)
    other = patient.begin(fresh)
    for number in range(2):
        for each in (stepper, fresh):
            each.advance(number * STEP, (number + 1) * STEP)
        if not np.array_equal(ws.X, other.X):
            raise _Wrong(f"step {number + 1} after a restart depends on what was before it, by "
                         f"{np.abs(ws.X - other.X).max():.1e}: a stepper with one_step = True forgets everything")
    step = T_END / (6 * SEGMENT)
    whole, light = patient.run(step), patient.run(step, checkpoint=8 * patient.system.n * 5 * SEGMENT)
    if not np.array_equal(whole.X, light.X):
        raise _Wrong("a run that is recomputed from checkpoints is another")
    return "nothing is left of what was before; recomputed from checkpoints a run is the same to the last bit"


def _transposed(patient: _Patient) -> str:
    if not patient.stepper().differentiable:
        return "not examined: it has no operator"
    run, rng, worst = patient.run(), np.random.default_rng(0), 0.0
    n, carried = patient.system.n, np.arange(patient.system.n, patient.system.n + patient.system.layout.n_p)
    replay = Replay(patient.system, run.tape, carried)
    for record in run.tape.records:
        if not isinstance(record, Step):
            continue
        operator = replay.step(record)
        dX, dP, aX = rng.normal(size=(2, n)), rng.normal(size=(2, len(carried))), rng.normal(size=(3, n))
        dT = [rng.normal(size=2) * (clock != GRID) for clock in (record.start, record.end)]
        aP = np.zeros((3, len(carried)))
        out = operator.forward(dX, dP, *dT)
        bX, *bT = operator.transpose(aX.copy(), aP)
        back = bX @ dX.T + aP @ dP.T + sum(np.outer(b, d) for b, d in zip(bT, dT))
        size = np.linalg.norm(aX, axis=1)[:, None] * np.linalg.norm(out, axis=1) + np.abs(back)
        worst = max(worst, float((np.abs(aX @ out.T - back) / size).max()))
    if not worst <= _TRANSPOSED:
        raise _Wrong(f"<a, J v> and <J' a, v> differ by {worst:.1e} of their size")
    return f"of the tangent to {worst:.0e}"


def _derived(patient: _Patient) -> str:
    if not patient.stepper().differentiable:
        return "not examined: it has no operator"
    run = patient.run()
    wanted = [Terminal(lambda v: v["fading", "x"]), Integral(lambda v: v["fading", "x"] * v["fading", "y"])]
    found, expected = adjoint(run, wanted, WRT).values, differences(run, wanted, WRT).values
    error = np.abs(found - expected) / np.abs(expected).max(axis=1, keepdims=True)
    row, column = np.unravel_index(int(error.argmax()), error.shape)
    if not error[row, column] <= _DERIVED:
        raise _Wrong(f"of {('the end', 'an integral')[row]} in {WRT[column]}: {found[row, column]:.8g}, "
                     f"by differences {expected[row, column]:.8g}")
    return f"the adjoint is that of differences to {error.max():.0e}, through events, delays and resets"


_CHECKS: dict[str, Callable[[_Patient], str]] = {
    "stepper": _is_a_stepper, "run": _arrives, "order": _converges, "state within a step": _within_a_step,
    "restart": _restarts, "transpose": _transposed, "derivatives": _derived}
