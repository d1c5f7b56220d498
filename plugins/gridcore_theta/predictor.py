"""Where a step begins, and where the last ones lead."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gridcore.equations import Workspace
from gridcore.equations.native import FALLBACK
from gridcore_stretch import Stretch

SOURCE = Path(__file__).with_name("step.c")
# A step shorter than this part of the next predicts nothing: its slope has lost the digits that the predictor needs.
TINY_STEP = 1e-3
# A local error above this part of scale + abs(x) is warned of: a hundred of its size leave no digit of x.
TOO_LARGE = 1e-2
# The error is estimated every so many steps, and as soon after an event as it can be.
EVERY = 16
# One above this is estimated again in the next step: it may be far from the largest.
SMALL = 1e-2 * TOO_LARGE
_PAST = 3  # steps that are remembered, as many as in step.c


class Predictor:
    """The start of the present step, and divided differences of those before.

    Attributes
    ----------
    stretches : Stretch
        Steps in which nothing happens.
    X0, f0 : (n,) arrays
        Variables and right-hand side at the start of the step.
    """

    def __init__(self, ws: Workspace):
        self.ws = ws
        self.X0, self.f0, self._first = np.zeros((3, ws.n))  # the last: slopes where they may have jumped
        self._slopes, self._lengths = np.zeros((_PAST, ws.n)), np.zeros(_PAST)  # in a ring
        # how many there are, the row of the latest, and steps since slopes may have jumped
        self._count, self._wrong = np.zeros(3, dtype="l"), np.zeros(ws.n)
        runtime: Any = ws.runtime
        compiled = runtime.functions(SOURCE, "theta", begin="pddd", equations="pdd", end="pd", go="pddll d",
                                     local_error="pddp", error="pp l", ended="pd d")
        self._begin, self._equations = compiled.get("begin", _begin), compiled.get("equations", _equations)
        self._end, self._local_error = compiled.get("end", _end), compiled.get("local_error", _local_error)
        self._at: Any = self  # what the loops take
        self._place = (runtime if compiled else FALLBACK).place
        if compiled:
            equations = (ctypes.cast(function, ctypes.c_void_p) for function in (runtime.rhs, runtime.residual))
            self._path = _Path(ws.n, *equations, ws.plan, *map(self._place, (
                ws.Z, ws.Z[-1:], ws.F, ws.mass, ws.c, ws.base, self.X0, self.f0, self._slopes, self._lengths,
                self._count, self._first, ws.scale, self._wrong)), every=EVERY, small=SMALL)
            self._at = ctypes.addressof(self._path)
        self.stretches = Stretch(ws, compiled.get("go"), compiled.get("error"), self._at, ended=compiled.get("ended"))

    def begin(self, t: float, h: float, theta: float) -> None:
        """Begin a step of length `h` to time `t`: its start is here, X moves to where the last four points lead in `h`,
        and its equations are set there, as :meth:`equations` does.
        """
        self._begin(self._at, t, h, theta)

    def equations(self, h: float, theta: float) -> None:
        """Set the equations of a step of length `h`, where the workspace's mass says which are differential; leaves
        their residual in the workspace.
        """
        self._equations(self._at, h, theta)

    def bend(self, low: float, h: float, high: float) -> None:
        """Move X, at `h` on the straight line from length `low` to `high` of the present step, off it as the last steps
        bend.
        """
        known, latest, _ = self._count.tolist()
        rows, part = [(latest + k) % _PAST for k in range(known)], (h - low) / (high - low)
        lengths = self._lengths[rows].tolist()
        for row, a, b, c in zip(rows, *(weights(each, lengths) for each in (low, h, high)), strict=True):
            self.ws.X += (b - (1 - part) * a - part * c) * self._slopes[row]

    def end(self, h: float) -> None:
        """Remember a step of length `h` that has been made."""
        self._end(self._at, h)

    def stretch(self, due: int, estimate: float, theta: float, t: float, *of: Any) -> Any:
        """Several steps from `t`, of which all but the last are remembered: what was made, where the last one began,
        how many were remembered, in how many the error is next estimated, and the largest one so far; None where there
        are none.

        Of the step before `t` the slope is known. `of`: as of a :class:`~gridcore_stretch.Stretch`.
        """
        if not self.stretches.possible:
            return None
        path = self._path
        path.theta, path.tiny, path.begun, path.remembered = theta, TINY_STEP, t, 0
        path.due, path.most, path.too_large = due, estimate, TOO_LARGE if estimate <= TOO_LARGE else np.inf
        made = self.stretches.go(t, *of)
        return None if made is None else (made, path.begun, path.remembered, path.due, path.most)

    def end_at_zero(self, begun: float, theta: float, *of: Any) -> float | None:
        """The step from `begun` to where a guard is zero; `of`: as of a :class:`~gridcore_stretch.Stretch`."""
        if self.stretches.possible:
            self._path.begun, self._path.theta = begun, theta
        return self.stretches.end_at_zero(*of)

    def forget(self) -> None:
        """What was before says nothing of what follows."""
        self._count[0] = self._count[2] = 0

    def kink(self) -> None:
        """Slopes may jump here: what was before says of many variables, but not of all, how they go on."""
        self._count[2] = 0

    @property
    def knows(self) -> bool:
        """Whether there are as many steps behind as an estimate of the error needs."""
        return bool(self._count[0] >= _PAST - 1)

    def local_error(self, h: float, theta: float) -> np.ndarray:
        """That of the present step of the theta method, of length `h`, in differential rows of (n,).

        By its slope and those of the two steps before it: :func:`error_weights`. In the first step after a kink it is
        compared with Euler's rule, too, which has more than its error; in the second the trapezoidal rule knows that
        the right-hand side at the kink is the slope of a step of no length. What comes of slopes before the kink is too
        much where they jumped: of each variable the smaller one counts.
        """
        out = np.empty(self.ws.n)
        self._local_error(self._at, h, theta, self._place(out))
        return out


class _Path(ctypes.Structure):
    """As ``step.c`` has it."""

    _fields_ = [("n", ctypes.c_long), *((name, ctypes.c_void_p) for name in (
        "rhs residual plan Z t F mass c base X0 f0 slopes lengths count first scale wrong".split())),
        *((name, ctypes.c_double) for name in ("theta", "tiny", "begun", "too_large", "small", "most")),
        *((name, ctypes.c_long) for name in ("remembered", "due", "every"))]


def _begin(path: Predictor, t: float, h: float, theta: float) -> None:
    ws, (known, latest, _) = path.ws, path._count
    path.X0[:] = ws.X
    if theta != 1 or known < _PAST - 1:  # which steps of backward Euler do without, but not the error of the first
        path.f0[:] = ws.rhs()
    rows = (latest + np.arange(known)) % _PAST
    for row, weight in zip(rows, weights(h, path._lengths[rows].tolist()), strict=True):
        ws.X += weight * path._slopes[row]
    ws.Z[-1] = t
    _equations(path, h, theta)


def _equations(path: Predictor, h: float, theta: float) -> None:
    ws = path.ws
    ws.c[:] = np.where(ws.mass, h * theta, -1.0)
    ws.base[:] = ws.mass * (path.X0 + h * (1 - theta) * path.f0)
    ws.residual()


def _end(path: Predictor, h: float) -> None:
    known, latest, since = path._count[0], (path._count[1] - 1) % _PAST, path._count[2]
    if not since:
        path._first[:] = path.f0
    path._slopes[latest], path._lengths[latest] = (path.ws.X - path.X0) / h, h
    path._count[:] = min(known + 1, _PAST), latest, since + 1


def _local_error(path: Predictor, h: float, theta: float, out: np.ndarray) -> None:
    slope, (known, latest, since) = (path.ws.X - path.X0) / h, path._count.tolist()
    lengths, found = path._lengths.tolist(), []
    if known >= _PAST - 1:
        before = (latest + 1) % _PAST
        a1, a2, a3 = error_weights(theta, (h, lengths[latest], lengths[before]))
        found.append(a1 * slope + a2 * path._slopes[latest] + a3 * path._slopes[before])
    if since == 1 and theta == 0.5:
        a1, a2, a3 = error_weights(theta, (h, lengths[latest], 0.0))
        found.append(a1 * slope + a2 * path._slopes[latest] + a3 * path._first)
    elif not found or (not since and theta != 1):  # which has no slope at the start by then
        found.append(h * (slope - path.f0))
    out[:] = found[0] if len(found) == 1 else np.where(np.abs(found[0]) < np.abs(found[1]), *found)


def weights(h: float, lengths: Sequence[float]) -> tuple[float, ...]:
    """Of the slopes of the last steps, the latest first: ``sum(weight slope)`` is how far `h` leads on the polynomial
    through their ends; `lengths` (three at most) are theirs.
    """
    if not lengths:
        return ()
    if len(lengths) == 1:
        return (h,)
    h1, h2 = lengths[0], lengths[1]
    second = h * (h + h1) / (h1 + h2)
    if len(lengths) == 2:
        return h + second, -second
    h3 = lengths[2]
    third = h * (h + h1) * (h + h1 + h2) / (h1 + h2 + h3)
    a, b = third / (h1 + h2), third / (h2 + h3)
    return h + second + a, -second - a - b, b


def error_weights(theta: float, lengths: Sequence[float]) -> tuple[float, float, float]:
    """Of the slopes of the last three steps, the latest first: ``sum(weight slope)`` is the local error of the latest.

    It is ``(1/2 - theta) h^2 x^(2) + (1/6 - theta/2) h^3 x^(3)``, divided differences taken for the derivatives. With
    theta = 1/2 that is a twelfth of the error of a predictor of the same order, which is Milne's device (Hairer,
    Norsett & Wanner 1993, section III.8).
    """
    h1, h2, h3 = lengths
    second, third = (1 - 2 * theta) * h1 * h1, (1 - 3 * theta) * h1**3 / (h1 + h2 + h3)
    first, last = (second + third) / (h1 + h2), third / (h2 + h3)
    return first, -first - last, last
