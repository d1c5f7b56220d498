"""Stages of many steps on a tape, solved again: the binding of ``stages.c``."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from gridcore.equations import Workspace
from gridcore.equations.native import Library
from gridcore.linear import SingularMatrix, tolerances

from .coefficients import ALPHA, GAMMA, A

SOURCE = Path(__file__).with_name("stages.c")


class _Stages(ctypes.Structure):
    """As ``stages.c`` has it."""

    _fields_ = [("n", ctypes.c_long),
                *((name, ctypes.c_void_p) for name in ("rhs residual matrix newton plan Z t R c base F A mass refactor "
                                                       "solve pivots values").split()),
                *((name, ctypes.c_double) for name in "singular enough floor fast gamma alpha a".split())]


class Stages:
    """Those of steps in a workspace, in which they leave anything; where there are no loops in C, none are found."""

    def __init__(self, ws: Workspace):
        self.ws, self._factors = ws, ws.pivots.another()
        runtime: Any = ws.runtime
        self._loops: dict[str, Any] = runtime.functions(SOURCE, "stages", go="plppp l")
        if self._loops:
            functions = (ctypes.cast(function, ctypes.c_void_p) for function in (
                runtime.rhs, runtime.residual, runtime.matrix, runtime.newton))
            self._s = _Stages(ws.n, *functions, ws.plan, *map(Library.place, (
                ws.Z, ws.Z[-1:], ws.R, ws.c, ws.base, ws.F, ws.A, ws.mass)), gamma=GAMMA, alpha=ALPHA, a=A)

    def __call__(self, t: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States and times of the stages of steps between these, as :class:`gridcore_stretch.Sums` has them."""
        h, out = np.diff(t), np.empty((len(t) - 1, X.shape[1]))
        count = 0
        if self._loops and self._have_pivots(float(h[-1 if self.ws.Z[-1] == t[-1] else 0])):
            arrays = np.ascontiguousarray(t), np.ascontiguousarray(X), out
            count = self._loops["go"](ctypes.addressof(self._s), len(h), *map(Library.place, arrays))
        return out[:count], t[:-1] + GAMMA * h

    def _have_pivots(self, h: float) -> bool:
        """Whether there are some: those found before, or for a step of this length where the workspace stands, which in
        a sweep does not depend on how many steps are made at once.
        """
        ws, s = self.ws, self._s
        ws.mass[:], ws.c[:] = ws.differential, np.where(ws.differential, ALPHA * h, -1.0)
        if self._factors.compiled() is None:
            try:
                self._factors.factor(ws.matrix())
            except SingularMatrix:
                return False
        if (compiled := self._factors.compiled()) is None:
            return False
        for name, value in {**tolerances(), **compiled._asdict()}.items():
            if hasattr(s, name):
                setattr(s, name, value)
        return True
