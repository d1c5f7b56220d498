"""Steps as long as a tolerance of their local error allows, for any stepper that estimates it.

The first step is that of E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 1993, section
II.4, of order one or two. Then a PI controller: K. Gustafsson, ACM TOMS 17(4), 1991; gains, 0.3 and 0.4, of G.
Söderlind, Numerical Algorithms 31, 2002. Errors of a run are proportional to the tolerance, as a step may have its
power (p + 1)/p: G. Söderlind, L. Wang, J. Comput. Appl. Math. 185, 2006 (tolerance calibration).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import numerics
from ..equations import Batches, Workspace
from ..errors import CaseError, ConvergenceError
from ..linear import Newton
from ..tape import AUTO, Method, Spacing, Step, finest
from .base import Advance, StepOperator, Stepper, Stretched, new_stepper
from .linearised import Linearised
from .locate import Crossing

TOLERANCES = ("rtol", "atol", "max_step")
_I, _P = 0.3, 0.4  # gains, of the logarithm of the error
_SAFETY, _SHRINK = 0.9, 0.2  # of the length that the error says; by one change at most
_START, _TREND = 0.5, 0.05  # error of the first step, of what is tolerated; of the one before, at least


class Controlled(Stepper):
    """A stepper around one that has a `local_error`: of each variable ``atol scale + rtol |x|`` is tolerated, a part of
    it in a step, of `max_step` (s) at most. It begins anew at a restart. What is not a positive number is a CaseError.
    """

    makes_grid = True

    def __init__(self, stepper: Stepper, rtol: float = numerics.RTOL, atol: float = numerics.ATOL,
                 max_step: float = math.inf):
        for name, value in (("rtol", rtol), ("atol", atol), ("max_step", max_step)):
            if not (isinstance(value, int | float) and 0 < value and (value < np.inf or name == "max_step")):
                raise CaseError(f"{name} = {value!r} must be a number greater than 0")
        self.stepper, self.rtol, self.atol, self.max_step = stepper, rtol, atol, max_step
        self.name, self.order, self.one_step = stepper.name, stepper.order, stepper.one_step
        self.exact_ends, self.end_weight, self.rejections = stepper.exact_ends, stepper.end_weight, 0
        self.ws: Any = None
        self._share = min(stepper.share * (rtol / numerics.RTOL) ** (1 / self.order), 1.0)

    def restart(self, ws: Workspace, t: float) -> None:
        """Begin anew, with a step that is small enough."""
        if ws is not self.ws:
            self.ws, self.newton = ws, Newton(ws)
        self.newton.renew()
        self.stepper.restart(ws, t)
        self.h, self._before, self._longest = 0.0, math.nan, self.max_step

    def switch(self, ws: Workspace, t: float, jumped: bool) -> None:
        """Begin anew, but for pivots, if the method does."""
        self.newton.jumped()
        self.h = self.h if self.stepper.switch(ws, t, jumped) else 0.0
        self._before, self._longest = math.nan, self.max_step

    def advance(self, t: float, target: float) -> Advance:
        """One step that is accurate enough, to `target` or less far."""
        ws = self.ws
        X, rejected = ws.X.copy(), False
        self.h = self.h or min(self._first(t, target), self._longest)
        while True:
            parts = math.ceil((target - t) / self.h)
            end = target if parts == 1 else t + (self.h if parts > 2 else (target - t) / 2)
            try:
                reached = self.stepper.advance(t, end)
                error, worst = self._measured(self.stepper.local_error())
            except ConvergenceError:
                if end - t <= numerics.SHORTEST:
                    raise
                error, worst = math.inf, -1
                self._longest = (end - t) / 2  # no such length is tried again before the next start
            if error <= 1:
                break
            rejected, self.rejections = True, self.rejections + 1
            if end - t <= numerics.SHORTEST:
                raise ConvergenceError("the error of a step is above its tolerance, however short the step",
                                       place=ws.place(worst), t=t, advice="; larger rtol or atol may do")
            self.h = (end - t) * max(_SHRINK, _SAFETY * error ** (-1 / (self.stepper.order + 1)))
            ws.X[:], ws.Z[-1] = X, t
        self.propose(reached.t - t, error, rejected)
        return reached

    def stretch(self, t: float, ends: np.ndarray, most: int, guards: Batches, sides: np.ndarray,
                choice: dict[str, float] | None = None) -> Stretched | None:
        choice = {"rtol": self.rtol, "atol": self.atol, "share": self._share, "least": numerics.EPS,
                  "shortest": numerics.SHORTEST, "safety": _SAFETY, "of_error": _I, "of_before": _P, "shrink": _SHRINK,
                  "growth": self.stepper.growth, "longest": self._longest, "before": self._before, "h": self.h,
                  "of_start": _START, "trend": _TREND}
        made = self.stepper.stretch(t, ends, most, guards, sides, choice)
        self.h, self._before = choice["h"], choice["before"]
        return made

    def propose(self, h: float, error: float, rejected: bool) -> None:
        """The length of the next step, after one of length `h`."""
        error, k, before = max(error, numerics.EPS), self.stepper.order + 1, self._before
        pi = error ** (-(_I + _P) / k) * before ** (_P / k) if before == before else error ** (-1 / k)
        factor = min(max(_SAFETY * pi, _SHRINK), 1.0 if rejected else self.stepper.growth)
        cut_off = h < self.h * (1 - numerics.SAME_LENGTH)  # by a target: what was proposed is still as good
        self.h, self._before = min(max(h * factor, self.h if cut_off else 0.0), self._longest), max(error, _TREND)

    def _measured(self, error: np.ndarray | None) -> tuple[float, int]:
        """The largest part of what is tolerated, and of which variable; none where nothing is known."""
        if error is None:
            return 1.0, -1
        parts = np.abs(error) / self._share / (self.atol * self.ws.scale + self.rtol * np.abs(self.ws.X))
        worst = int(parts.argmax())
        return (math.inf if math.isnan(parts[worst]) else float(parts[worst])), worst

    def _first(self, t: float, target: float) -> float:
        """The length of a first step, by the size of a second derivative: of the slope along the tangent."""
        ws, X, differential = self.ws, self.ws.X.copy(), self.ws.differential
        rates = self.newton.derivative(differential)
        slope = np.where(differential, rates, 0.0)
        speed = float(np.max(np.abs(rates) / (ws.scale + np.abs(X))))
        h = min(target - t, 0.01 / speed if speed else np.inf)
        ws.X += h * rates
        ws.Z[-1] = t + h
        bend = np.where(differential, ws.rhs() - slope, 0.0) / h
        ws.X[:], ws.Z[-1] = X, t
        tolerated = self._share * (self.atol * ws.scale + self.rtol * np.abs(X))
        bent, steep = np.abs([bend, slope]) / tolerated
        steep += np.finfo(float).tiny ** 0.5  # also of what rests, a number
        most = np.maximum(bent, steep) / (2 * _START)
        each = most * np.sqrt(most)  # of a length the inverse cube, so that roots of one variable are enough
        if self.stepper.begins(bend) > 1:  # the bend of a variable changes in the time in which its slope does
            each = np.minimum(each, bent / (6 * _START * steep) * bent)
        return max(float(np.fmax.reduce(each, initial=(100 * h) ** -3)) ** (-1 / 3), numerics.SHORTEST)

    def state_at(self, t: float) -> None:
        self.stepper.state_at(t)

    def end_at_zero(self, t: float, guard: Crossing, low: float, high: float, side: float) -> float | None:
        return self.stepper.end_at_zero(t, guard, low, high, side)

    def operator(self, record: Step, points: Linearised) -> StepOperator | None:
        return self.stepper.operator(record, points)

    @property
    def iterations(self) -> int:
        return self.stepper.iterations

    @property
    def counters(self) -> Counter[str]:
        """Work done, and attempts that were not accurate enough."""
        own = self.newton.counters() if self.ws is not None else Counter()
        return self.stepper.counters + own + Counter(rejections=self.rejections)


def tolerances(stepper: Stepper) -> dict[str, float]:
    """Those to which a stepper chooses its steps, but for a `max_step` that is none; nothing where it does not."""
    names = TOLERANCES if isinstance(stepper, Controlled) else ()
    return {name: value for name in names if (value := getattr(stepper, name)) < math.inf}


def stepper_on(step: Spacing, method: str, options: Mapping[str, Any]) -> tuple[Stepper, Method]:
    """A stepper for a grid, and what a tape says of it; for ``"auto"`` one with tolerances, which are options then.

    Raises
    ------
    PluginError, CaseError
        As :func:`new_stepper`; if the method estimates no error; if a tolerance is none.
    """
    if step != AUTO:
        return new_stepper(method, finest(step), options)
    stepper, made = new_stepper(method, finest(step), {k: v for k, v in options.items() if k not in TOLERANCES}, True)
    if type(stepper).local_error is Stepper.local_error:
        raise CaseError(f"step = 'auto': method '{method}' does not estimate the error of its steps; give a step in "
                        "seconds, or another method")
    return Controlled(stepper, **{name: options[name] for name in TOLERANCES if name in options}), made
