"""Where a step begins, and where the last ones lead: the compiled loops of ``runtime.c``, or numpy without them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from ...equations.assembly import Assembly
from ...equations.kernel import address

_SLOPES = 3
_NONE = (0.0,) * _SLOPES


class Predictor:
    """The start of the present step, and divided differences of those before.

    Attributes
    ----------
    X0, f0 : (n,) arrays
        Variables and right-hand side at the start of the step.
    """

    def __init__(self, assembly: Assembly):
        self.assembly = assembly
        self.X0, self.f0 = np.zeros(assembly.n), np.zeros(assembly.n)
        self._slopes = np.zeros((_SLOPES, assembly.n))
        self._rows = list(range(_SLOPES))  # of the slopes, the latest first
        self._lengths: list[float] = []
        self._native = assembly.runtime
        if self._native is not None:
            pointer, number = ctypes.c_void_p, ctypes.c_double
            for name, arguments in (("gc_begin", [*[pointer] * 6, *[number] * 3, ctypes.c_int]),
                                    ("gc_equations", [*[pointer] * 3, *[number] * 2]),
                                    ("gc_phi", [*[pointer] * 2, number, pointer]),
                                    ("gc_move", [*[pointer] * 3, number]), ("gc_end", [*[pointer] * 3, number])):
                function = getattr(self._native, name)
                function.restype, function.argtypes = number if name == "gc_move" else None, arguments
            self._start = (address(self.X0), address(self.f0))
            self._places = [address(slope) for slope in self._slopes]

    def forget(self) -> None:
        """What was before says nothing of what follows."""
        self._lengths.clear()

    def begin(self, h: float, explicit: bool) -> None:
        """Begin a step: its start is here, and X moves to where the last four points lead in `h`.

        `explicit`: whether the step needs the right-hand side at its start.
        """
        known, assembly = weights(h, self._lengths), self.assembly
        if self._native is not None:
            self._native.gc_begin(assembly.plan, *self._start, *(self._places[row] for row in self._rows), *known,
                                  *_NONE[len(known):], explicit)
            return
        self.X0[:] = assembly.X
        if explicit:
            self.f0[:] = assembly.rhs()
        for weight, row in zip(known, self._rows, strict=False):
            assembly.X += weight * self._slopes[row]

    def equations(self, h: float, theta: float) -> None:
        """Set the equations of a step of length `h`, where the assembly's mass says which are differential."""
        assembly = self.assembly
        if self._native is not None:
            self._native.gc_equations(assembly.plan, *self._start, h * theta, h * (1 - theta))
        else:
            assembly.c[:] = np.where(assembly.mass, h * theta, -1.0)
            assembly.base[:] = assembly.mass * (self.X0 + h * (1 - theta) * self.f0)

    def phi(self, theta: float, out: np.ndarray) -> None:
        """How the residual that has just been evaluated falls with the length of the step, into `out`, (n,)."""
        assembly = self.assembly
        if self._native is not None:
            self._native.gc_phi(assembly.plan, self._start[1], theta, address(out))
        else:
            out[:] = np.where(assembly.mass, (1 - theta) * self.f0 + theta * assembly.F[:-1], 0.0)

    def move(self, u: np.ndarray, v: np.ndarray, dh: float) -> float:
        """``X += u + dh v``; returns the largest ``|u_i + dh v_i| / (1 + |X_i|)``."""
        assembly = self.assembly
        if self._native is not None:
            return float(self._native.gc_move(assembly.plan, address(u), address(v), dh))
        d = u + dh * v
        assembly.X += d
        return float(np.max(np.abs(d) / (1.0 + np.abs(assembly.X)), initial=0.0))

    def end(self, h: float) -> None:
        """Remember a step of length `h` that has been made."""
        self._rows = [self._rows[-1], *self._rows[:-1]]
        self._lengths = [h, *self._lengths[: _SLOPES - 1]]
        if self._native is not None:
            self._native.gc_end(self.assembly.plan, self._start[0], self._places[self._rows[0]], h)
        else:
            self._slopes[self._rows[0]] = (self.assembly.X - self.X0) / h


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
