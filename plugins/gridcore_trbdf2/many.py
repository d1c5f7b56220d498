"""Many steps of TR-BDF2 at once: the binding of ``trbdf2.c``."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from gridcore.equations import Workspace
from gridcore.equations.native import Library
from gridcore.integrate import Stretched
from gridcore_stretch import Stretch

from .coefficients import ALPHA, ERROR, GAMMA, A

SOURCE = Path(__file__).with_name("trbdf2.c")


class _Step(ctypes.Structure):
    """As ``trbdf2.c`` has it."""

    _fields_ = [("n", ctypes.c_long),
                *((name, ctypes.c_void_p) for name in "rhs residual plan Z t F mass c base X0 X1 f0 ahead".split()),
                *((name, ctypes.c_double) for name in "begun reached gamma alpha a farthest".split()),
                ("error", ctypes.c_double * 3), ("more", ctypes.c_double)]


class Many:
    """Steps in which nothing happens, in a workspace.

    Parameters
    ----------
    ws : Workspace
    X0, X1, f0 : (n,) arrays
        Start, stage and slope at the start of the last step; they are kept up here.
    farthest : float
        How many times as long as the last a step may be that begins on the parabola through it.
    """

    def __init__(self, ws: Workspace, X0: np.ndarray, X1: np.ndarray, f0: np.ndarray, farthest: float):
        runtime: Any = ws.runtime
        compiled = runtime.functions(SOURCE, "trbdf2", go="pddll d", error="pp l")
        self._ahead, self._step = np.zeros(ws.n), _Step()
        if compiled:
            equations = (ctypes.cast(function, ctypes.c_void_p) for function in (runtime.rhs, runtime.residual))
            self._step = _Step(ws.n, *equations, ws.plan, *map(Library.place, (
                ws.Z, ws.Z[-1:], ws.F, ws.mass, ws.c, ws.base, X0, X1, f0, self._ahead)), 0.0, 0.0, GAMMA, ALPHA, A,
                farthest, ERROR)
        self.stretch = Stretch(ws, compiled.get("go"), compiled.get("error"), ctypes.addressof(self._step),
                               stages=2, filtered=True)

    def go(self, begun: float, reached: float, *of: Any) -> tuple[Stretched | None, float, float]:
        """Of a :class:`~gridcore_stretch.Stretch`, after a step of which it is told where it began and ended; and where
        the last one did.
        """
        self._step.begun, self._step.reached = begun, reached
        made = self.stretch.go(*of)
        return made, self._step.begun, self._step.reached
