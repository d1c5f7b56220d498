"""Where a step begins, and where the last ones lead."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gridcore.equations import Workspace
from gridcore.equations.native import Library, Native, load
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
        self.X0, self.f0, self._first = np.zeros((3, ws.n))
        self._slopes, self._lengths = np.zeros((_PAST, ws.n)), np.zeros(_PAST)  # in a ring
        self._count = np.zeros(2, dtype="l")  # how many there are, and the row of the latest
        self._since = 0  # steps since slopes may have jumped
        runtime: Any = ws.runtime
        compiled = _compiled() if isinstance(runtime, Native) else None
        self._begin, self._equations, self._end, go = compiled or (_begin, _equations, _end, None)
        self._at: Any = self  # what the loops take
        if compiled:
            functions = (ctypes.cast(function, ctypes.c_void_p) for function in (runtime.rhs, runtime.residual))
            self._path = _Path(ws.n, *functions, ws.plan, *map(Library.place, (
                ws.Z, ws.Z[-1:], ws.F, ws.mass, ws.c, ws.base, self.X0, self.f0, self._slopes, self._lengths,
                self._count)), Library.place(ws.scale), every=EVERY, small=SMALL)
            self._at = ctypes.addressof(self._path)
        self.stretches = Stretch(ws, go, None, self._at)

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
        known, latest = self._count.tolist()
        rows, part = [(latest + k) % _PAST for k in range(known)], (h - low) / (high - low)
        lengths = self._lengths[rows].tolist()
        for row, a, b, c in zip(rows, *(weights(each, lengths) for each in (low, h, high)), strict=True):
            self.ws.X += (b - (1 - part) * a - part * c) * self._slopes[row]

    def end(self, h: float) -> None:
        """Remember a step of length `h` that has been made."""
        if not self._since:
            self._first[:] = self.f0
        self._since += 1
        self._end(self._at, h)

    def stretch(self, due: int, estimate: float, theta: float, t: float, *of: Any) -> Any:
        """Several steps from `t`, of which all but the last are remembered: what was made, where the last one began,
        how many were remembered, in how many the error is next estimated, and the largest one so far; None where there
        are none.

        Of the step before `t`, and of as many before it as an estimate needs, slopes are known. `of`: as of a
        :class:`~gridcore_stretch.Stretch`.
        """
        if not self.stretches.possible:
            return None
        path = self._path
        path.theta, path.tiny, path.begun, path.remembered = theta, TINY_STEP, t, 0
        path.due, path.most, path.too_large = due, estimate, TOO_LARGE if estimate <= TOO_LARGE else np.inf
        made = self.stretches.go(t, *of)
        self._since += path.remembered
        return None if made is None else (made, path.begun, path.remembered, path.due, path.most)

    def forget(self) -> None:
        """What was before says nothing of what follows."""
        self._count[0] = self._since = 0

    def kink(self) -> None:
        """Slopes may jump here: what was before says of many variables, but not of all, how they go on."""
        self._since = 0

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
        slope, (known, latest), lengths = (self.ws.X - self.X0) / h, self._count.tolist(), self._lengths.tolist()
        found = []
        if known >= _PAST - 1:
            before = (latest + 1) % _PAST
            a1, a2, a3 = error_weights(theta, (h, lengths[latest], lengths[before]))
            found.append(a1 * slope + a2 * self._slopes[latest] + a3 * self._slopes[before])
        if self._since == 1 and theta == 0.5:
            a1, a2, a3 = error_weights(theta, (h, lengths[latest], 0.0))
            found.append(a1 * slope + a2 * self._slopes[latest] + a3 * self._first)
        elif not found or (not self._since and theta != 1):  # which has no slope at the start by then
            found.append(h * (slope - self.f0))
        return found[0] if len(found) == 1 else np.where(np.abs(found[0]) < np.abs(found[1]), *found)


class _Path(ctypes.Structure):
    """As ``step.c`` has it."""

    _fields_ = [("n", ctypes.c_long), *((name, ctypes.c_void_p) for name in (
        "rhs residual plan Z t F mass c base X0 f0 slopes lengths count".split())),
        ("scale", ctypes.c_void_p),
        *((name, ctypes.c_double) for name in ("theta", "tiny", "begun", "too_large", "small", "most")),
        *((name, ctypes.c_long) for name in ("remembered", "due", "every"))]


@functools.cache
def _compiled() -> tuple[Any, ...] | None:
    """The loops of ``step.c``: begin, equations, end and go; None where there is no compiler."""
    _, (library,) = load([SOURCE.read_text()])
    if not isinstance(library, Library):
        return None
    number = ctypes.c_double
    return tuple(library.function(f"theta_{name}", result, [ctypes.c_void_p, *arguments])
                 for name, result, arguments in (("begin", None, [number] * 3), ("equations", None, [number] * 2),
                                                 ("end", None, [number]),
                                                 ("go", number, [number, number, ctypes.c_long])))


def _begin(path: Predictor, t: float, h: float, theta: float) -> None:
    ws, (known, latest) = path.ws, path._count
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
    known, latest = path._count[0], (path._count[1] - 1) % _PAST
    path._slopes[latest], path._lengths[latest] = (path.ws.X - path.X0) / h, h
    path._count[:] = min(known + 1, _PAST), latest


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
