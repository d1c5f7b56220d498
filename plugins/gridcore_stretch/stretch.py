"""The loop of ``stretch.c``, for a workspace and a method."""

from __future__ import annotations

import ctypes
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from gridcore.equations import Batches, Workspace
from gridcore.equations.native import Library
from gridcore.integrate import Crossing, Stretched
from gridcore.linear import tolerances

SOURCE = Path(__file__).with_name("stretch.c")
_LITTLE = 1e-6  # of the interval in which a guard crosses zero: over so much its speed is seen, to half its digits


def _fields(kind: Any, names: str) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names.split()]


class _Struct(ctypes.Structure):
    """As ``stretch.c`` has it."""

    _fields_ = [*_fields(ctypes.c_long, "n most"),
                *_fields(ctypes.c_void_p, "rhs matrix newton add plan Z t R c F A mass scale begin error ended method "
                         "bend"), *_fields(ctypes.c_long, "stages filtered starts"),
                *_fields(ctypes.c_void_p, "refactor solve pivots values"),
                *_fields(ctypes.c_double, "singular worth"), *_fields(ctypes.c_long, "batches guards"),
                *_fields(ctypes.c_void_p, "table gamma sides"),
                *_fields(ctypes.c_double, "remains enough floor fast telling same astray rtol atol share least "
                         "shortest safety of_error of_before of_start trend shrink growth longest h before"),
                *_fields(ctypes.c_void_p, "in_time"), *_fields(ctypes.c_double, "coefficient first rate moved"),
                *_fields(ctypes.c_long, "fresh ahead iterations solves factorisations rejections"),
                *_fields(ctypes.c_void_p, "along wrong followed times states")]


class Stretch:
    """Steps in which nothing happens, of one method in one workspace.

    Parameters
    ----------
    ws : Workspace
    begin, error, ended : ctypes functions or None
        In C, of the method: ``double begin(void *method, double t, double end, long follows, long stage)`` sets the
        equations of a stage of the step, at a first guess, and leaves their residual; it returns the coefficient that
        their matrix depends on, or 0 where the step is none of these. ``long error(void *method, double *out)``
        estimates its error, and returns its order, less than zero if it is to be solved with that matrix: so algebraic
        variables follow the others, where `out` has no more of them. ``double ended(void *method, double t)`` sets time
        and equations of the step that began last with another end, as `begin` does, and returns their coefficient. The
        last two may be None.
    method : int
        The address that they take.
    stages : int
        Of a step.
    filtered : bool
        Whether the error of all variables is what that solve gives.
    starts : int
        The order of its first step.
    bend : (n,) array, optional
        Where it wants to have how slopes change where that begins.
    """

    def __init__(self, ws: Workspace, begin: Any, error: Any, method: int, stages: int = 1, filtered: bool = False,
                 ended: Any = None, starts: int = 1, bend: np.ndarray | None = None):
        self._ws, self._factors = ws, ws.pivots.another()
        runtime: Any = ws.runtime
        compiled = runtime.functions(SOURCE, "stretch", size=" l", go="pdpll l",
                                     end_at_zero="pldddddd d") if begin else {}
        self.possible, self.estimates = bool(compiled), error is not None
        if not self.possible:
            return
        self._go, self._end_at_zero = compiled["go"], compiled["end_at_zero"] if ended else None
        if (size := compiled["size"]()) != ctypes.sizeof(_Struct):
            raise RuntimeError(f"stretch.c and stretch.py differ: the struct has {size} bytes in C and "
                               f"{ctypes.sizeof(_Struct)} in Python")
        n, place = ws.n, Library.place
        self._arrays = [*np.zeros((3, n)), np.zeros(0), np.zeros((0, n))]
        functions = (ctypes.cast(f, ctypes.c_void_p) for f in (
            runtime.rhs, runtime.matrix, runtime.newton, runtime.add))
        self._s = s = _Struct(n, 0, *functions, ws.plan, *map(place, (
            ws.Z, ws.Z[-1:], ws.R, ws.c, ws.F, ws.A, ws.mass, ws.scale)), *(
            ctypes.cast(each, ctypes.c_void_p) if each else None for each in (begin, error, ended)), method,
            None if bend is None else place(bend), stages, filtered, starts)
        self._at = ctypes.addressof(s)

    def renew(self) -> None:
        """Forget all that earlier steps have left."""
        self._factors.forget()
        if self.possible:
            self._s.guards = 0
        self.jumped()

    def jumped(self) -> None:
        """Variables, or what equations are made of, jumped: of factors only the pivots may serve on."""
        if self.possible:
            self._s.fresh, self._s.first, self._s.rate = 0, 0.0, 0.0

    def go(self, t: float, ends: np.ndarray, most: int, guards: Batches, sides: np.ndarray,
           choice: dict[str, float] | None = None) -> Stretched | None:
        """As :meth:`gridcore.integrate.Stepper.stretch`."""
        if not self.possible or (choice is not None and not self.estimates):
            return None
        if not self._bind():
            return Stretched(np.array([t]), self._ws.X[None])
        s, place = self._s, Library.place
        factorisation, solve = self._factors.operations()
        s.worth = factorisation / solve
        if most >= len(self._arrays[-1]):
            self._arrays[-2:] = np.zeros(most + 1), np.zeros((most + 1, s.n))
            s.along, s.wrong, s.followed, s.times, s.states = map(place, self._arrays)
        s.most = most
        self._gamma = np.empty(len(sides))
        s.batches, s.guards, s.table = len(guards.batches), len(sides), guards.table
        s.gamma, s.sides = place(self._gamma), place(sides)
        for name, value in {**tolerances(), **(choice or {})}.items():
            setattr(s, name, value)
        in_time = self._ws.time_slope() if choice is not None and not choice["h"] else None
        s.in_time = None if in_time is None else place(in_time)
        made = self._go(self._at, t, place(ends), len(ends), choice is not None)
        if s.ahead:
            self._ws.moved = s.moved
        if choice is not None:
            choice["h"], choice["before"] = s.h, s.before
        times, X = self._arrays[-2:]
        return Stretched(times[:made + 1], X[:made + 1], bool(s.ahead))

    def end_at_zero(self, t: float, guard: Crossing, low: float, high: float, side: float) -> float | None:
        """As :meth:`gridcore.integrate.Stepper.end_at_zero`; where it is None the guess stands in X again.

        Of the step that began last, after steps that were made here.
        """
        if not (self.possible and self._end_at_zero and self._s.guards and self._bind()):
            return None
        ws = self._ws
        X, unsure = ws.X.copy(), 0.0
        if ws.noise.any():  # what round-off leaves uncertain of its variables
            _, columns, gradient, _ = guard()
            unsure = float(np.abs(gradient) @ ws.noise[columns])
        found = self._end_at_zero(self._at, guard.guard, t, low, high, side, _LITTLE * (high - low), unsure)
        if found == found:
            ws.moved = self._s.moved
            return float(found)
        ws.X[:] = X
        return None

    def _bind(self) -> bool:
        """Take functions and values of factors; those with other pivots serve no more. False while there are none."""
        s, compiled = self._s, self._factors.compiled()
        if compiled is None:
            return False
        s.fresh &= compiled.values == s.values
        for name in ("refactor", "solve", "pivots", "values", "singular"):
            setattr(s, name, getattr(compiled, name))
        return True

    @property
    def iterations(self) -> int:
        """Of Newton's method, so far."""
        return int(self._s.iterations) if self.possible else 0

    @property
    def counters(self) -> Counter[str]:
        """Work done."""
        if not self.possible:
            return Counter()
        return Counter(newton_iterations=self._s.iterations, solves=self._s.solves,
                       factorisations=self._s.factorisations, rejections=self._s.rejections)
