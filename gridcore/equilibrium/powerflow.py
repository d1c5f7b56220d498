"""Newton power flow in polar coordinates: bus voltages from scheduled powers and voltage set-points.

Unknowns are the angle and the magnitude of every bus voltage, interleaved; the equations of bus i are

======  ==================================  ==================================
bus     row 2i                              row 2i + 1
======  ==================================  ==================================
slack   angle - angle of the start = 0      magnitude - set-point = 0
PV      P injected - P scheduled = 0        magnitude - set-point = 0
PQ      P injected - P scheduled = 0        Q injected - Q scheduled = 0
======  ==================================  ==================================

so that one sparsity pattern, and one symbolic analysis, serves whatever kind a bus becomes.

W. F. Tinney, C. E. Hart, "Power flow solution by Newton's method", IEEE Trans. PAS-86 (11), 1967. The
complex form of the derivatives is that of R. D. Zimmerman, MATPOWER Technical Note 2, 2010.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import numerics
from ..errors import NetworkError, PowerFlowError
from ..linear import Factors, LinearSolver, SingularMatrix
from ..network import components

PQ, PV, SLACK = 0, 1, 2

ITERATIONS = 50
NEAR = 0.1  # pu: a start with a larger mismatch is approached with the generators sharing it
APPROACH = 12  # iterations
ROUNDS = 30  # of checking the reactive limits
RETURNS = 3  # how often a bus may leave a limit before it stays there
_ADVICE = "; there may be a solution with less power there, or from other Vm0 and Va0"

Real = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]
Integer = npt.NDArray[np.integer[Any]]
Sparse = tuple[Integer, Integer, Complex]  # rows, columns and values; those of one place are added


class Equations:
    """The power-flow equations of a network that draws ``I = Y V`` (pu), evaluated into fixed places.

    `indptr` and `indices` are the pattern of the Jacobian (2n, 2n) by columns; `fixed`, (2n,) bool, are the rows that
    hold an angle or a magnitude in place of a power.
    """

    def __init__(self, n: int, Y: Sparse):
        self.n, (rows, columns, values) = n, Y
        here = np.arange(n)
        # The entries of Y by columns, every diagonal one among them.
        entries = np.r_[columns.astype(np.int64) * n + rows, here * (n + 1)]
        unique, place = np.unique(entries, return_inverse=True)
        self.col, self.row = np.divmod(unique, n)
        self.Y = np.zeros(unique.size, complex)
        np.add.at(self.Y, place[:len(values)], values)
        self.diagonal = np.flatnonzero(self.row == self.col)
        self.by_row = np.argsort(self.row, kind="stable")
        self.row_start = np.searchsorted(self.row[self.by_row], here)
        # Column 2k of the Jacobian (angle of k), then 2k + 1 (magnitude), hold for each entry (i, k) of Y
        # the rows 2i and 2i + 1 together: real and imaginary part of one complex number.
        start = np.searchsorted(self.col, np.arange(n + 1))
        count = np.diff(start)
        self.at_angle = np.arange(unique.size) + start[self.col]
        self.at_magnitude = self.at_angle + count[self.col]
        rows = np.empty(2 * unique.size, np.int64)
        rows[self.at_angle] = rows[self.at_magnitude] = 2 * self.row
        self.indices = (rows[:, None] + np.arange(2)).ravel()
        self.indptr = np.r_[0, np.cumsum(np.repeat(2 * count, 2))]
        self.fix(np.full(n, PQ))

    def fix(self, kinds: Integer) -> None:
        """Choose the equations of every bus by its kind."""
        self.fixed = np.empty(2 * self.n, bool)
        self.fixed[0::2] = kinds == SLACK
        self.fixed[1::2] = kinds != PQ
        self._replaced = np.flatnonzero(self.fixed[self.indices])
        column = np.searchsorted(self.indptr, self._replaced, "right") - 1
        self._identity = self._replaced[self.indices[self._replaced] == column]

    def flows(self, V: Complex) -> Complex:
        """``V_i conj(Y_ik V_k)`` of every entry of Y (pu): what bus i sends into it."""
        return V[self.row] * np.conj(self.Y * V[self.col])

    def power(self, flows: Complex) -> Complex:
        """Power injected at every bus (pu): its flows together."""
        return np.asarray(np.add.reduceat(flows[self.by_row], self.row_start))

    def jacobian(self, V: Complex, flows: Complex, power: Complex) -> Real:
        """Derivative of the equations in the unknowns: entries in the pattern."""
        magnitude = np.maximum(np.abs(V), np.finfo(float).tiny)  # a bus without voltage is singular
        by_angle = -1j * flows
        by_angle[self.diagonal] += 1j * power
        by_magnitude = flows / magnitude[self.col]
        by_magnitude[self.diagonal] += power / magnitude
        pairs = np.empty(2 * flows.size, complex)
        pairs[self.at_angle] = by_angle
        pairs[self.at_magnitude] = by_magnitude
        values = pairs.view(float)
        values[self._replaced] = 0.0
        values[self._identity] = 1.0
        return values


@dataclass(frozen=True)
class PowerFlow:
    """A solved power flow, and its derivative.

    Attributes
    ----------
    V, S : (n,) complex arrays
        Bus voltages, and the power injected into the network at each bus (pu).
    iterations : int
        Newton iterations, of all rounds of reactive limits together.
    mismatch : float
        The largest of all equations (pu).
    kinds : (n,) int array
        Kind of each bus in the end.
    limited : (n,) int array
        1 where a PV bus became PQ at its upper reactive limit, -1 at its lower one, else 0.
    equations : Equations
    factors : Factors
        Of the Jacobian at the solution.
    """

    V: Complex
    S: Complex
    iterations: int
    mismatch: float
    kinds: Integer
    limited: Integer
    equations: Equations
    factors: Factors
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)  # the factors have one user at a time

    def tangent(self, dS: Complex, dV: Real) -> Complex:
        """Derivatives of the voltages, one parameter a row, (m, n), from those of scheduled powers and set-points.

        Where the network depends on a parameter, `dS` is less the derivatives of the power injected into it at fixed
        voltages. Powers that a bus does not keep are ignored, and voltages that it does not.
        """
        right = np.array(dS, complex, order="C").view(float)
        right[..., self.equations.fixed] = 0.0
        right[..., 1::2] += np.where(self.kinds != PQ, dV, 0.0)
        with self.lock:
            self.factors.solve(right)
        return self.V * (1j * right[..., 0::2] + right[..., 1::2] / np.abs(self.V))

    def adjoint(self, w: Complex) -> tuple[Complex, Real]:
        """The transpose of :meth:`tangent`: ``Re<w, tangent(dS, dV)> = Re<dS_, dS> + <dV_, dV>`` for (m, n) rows.

        Derivatives in complex numbers are real part by real part, imaginary by imaginary.
        """
        turned = np.conj(w) * self.V
        right = np.empty((*turned.shape[:-1], 2 * self.V.size))
        right[..., 0::2] = -turned.imag
        right[..., 1::2] = turned.real / np.abs(self.V)
        with self.lock:
            self.factors.tsolve(right)
        by_setpoint = np.where(self.kinds != PQ, right[..., 1::2], 0.0)
        right[..., self.equations.fixed] = 0.0
        return right.view(complex), by_setpoint


def solve_power_flow(Y: Sparse, S: Complex, kinds: Integer, V: Complex, *, setpoints: Real, names: Sequence[str],
                     solver: LinearSolver, limits: tuple[Real, Real] | None = None) -> PowerFlow:
    """Solve the power flow of a network that draws ``I = Y V``, shunts included, in pu.

    `S` is scheduled to be injected at each bus, generation less load; what a bus does not keep (P and Q of a slack, Q
    of a PV bus) has no part in the solution. `V` is the start, of which a slack bus keeps the angle; slack and PV buses
    keep the magnitudes `setpoints`. `names` are for errors. With `limits`, the least and the most reactive power that
    each bus injects, a PV bus beyond its limit becomes PQ there, and PV again where it would then leave the limit
    inwards. A PowerFlowError names the bus with the largest mismatch; an island without slack is a NetworkError.
    """
    equations = Equations(kinds.size, Y)
    _each_island_has_a_slack(equations, kinds, names)
    flat = (V.imag == 0) & (kinds != SLACK)  # no angle is given: that of the slack is nearer than zero
    V = np.where(flat, V * np.exp(1j * np.angle(V[kinds == SLACK][:1])), V)
    newton = _Newton(equations, S, V, setpoints, names, solver)
    newton.approach(kinds)
    newton.solve(kinds)
    limited = np.zeros(kinds.size, int)
    if limits is not None:
        limited = _within_limits(newton, kinds, *limits)
        kinds = np.where(limited != 0, PQ, kinds)
    newton.factorise()
    return PowerFlow(newton.V, newton.power, newton.iterations, float(np.abs(newton.residual).max()),
                     kinds, limited, equations, newton.factors)


def _each_island_has_a_slack(equations: Equations, kinds: Integer, names: Sequence[str]) -> None:
    joined = equations.Y != 0
    _, island = components(equations.n, equations.row[joined], equations.col[joined])
    without = np.flatnonzero(~np.isin(island, island[kinds == SLACK]))
    if without.size:
        buses = [names[int(i)] for i in without if island[i] == island[without[0]]]
        more = f" and {len(buses) - 10} more" if len(buses) > 10 else ""
        raise NetworkError(f"no slack bus in the island of {', '.join(buses[:10])}{more}: "
                           "one source there must have control = \"slack\"")


class _Newton:
    """Newton's method with a line search; starts each time where it stopped the last time. In units of pu and rad."""

    def __init__(self, equations: Equations, S: Complex, V: Complex, setpoints: Real, names: Sequence[str],
                 solver: LinearSolver):
        self.equations, self.S, self.setpoints, self.names = equations, np.array(S, complex), setpoints, names
        self.factors = solver.analyse(2 * equations.n, equations.indptr, equations.indices).factors()
        self.unknowns = np.column_stack((np.angle(V), np.abs(V))).ravel()
        self.reference = self.unknowns[0::2].copy()
        self.iterations = 0

    def begin(self, kinds: Integer) -> None:
        """Start with these kinds of buses, from where the method stands."""
        self.equations.fix(kinds)
        self.unknowns[1::2] = np.where(kinds != PQ, self.setpoints, self.unknowns[1::2])
        self.norm = np.inf
        self.evaluate(self.unknowns)

    def evaluate(self, unknowns: Real) -> bool:
        """Move to these unknowns; the answer is whether the mismatch (2-norm) fell."""
        equations = self.equations
        angle, magnitude = unknowns[0::2], unknowns[1::2]
        V = magnitude * np.exp(1j * angle)
        flows = equations.flows(V)
        power = equations.power(flows)
        residual = (power - self.S).view(float)
        held = np.column_stack((angle - self.reference, magnitude - self.setpoints)).ravel()
        residual[equations.fixed] = held[equations.fixed]
        norm = float(np.linalg.norm(residual)) if magnitude.min() > 0 else np.inf
        fell, self.norm = norm < self.norm, norm
        self.unknowns, self.V, self.flows, self.power, self.residual = unknowns, V, flows, power, residual
        return fell

    def approach(self, kinds: Integer) -> None:
        """Come near the solution from a poor start, with the generators sharing what is out of balance.

        Far from the solution the losses are wrong by far more than the branches of one slack bus may hold: it would
        turn away from the network, and end beyond 90 degrees at a solution that no system runs at. So the slack keeps
        its scheduled power at first, and the PV buses give `taken` more between them, in proportion to their own: one
        more unknown and one more equation, bordering the Jacobian. If that fails the start is left as it was.
        """
        self.begin(kinds)
        slack = np.flatnonzero(kinds == SLACK)
        share = np.where(kinds == PV, np.maximum(self.S.real, 0.0), 0.0)
        if slack.size != 1 or not share.any() or np.abs(self.residual).max() <= NEAR:
            return
        share /= share.sum()
        scheduled, start, taken = self.S, self.unknowns, 0.0
        at_slack = np.flatnonzero(self.equations.row == slack)
        away = self.equations.col[at_slack]
        bordered = np.column_stack((share, np.zeros_like(share))).ravel()

        def excess() -> float:
            return float((self.power - scheduled)[slack[0]].real)

        def slope(step: Real) -> float:
            turned = 1j * step[0::2] + step[1::2] / np.abs(self.V)
            return float(np.sum(self.flows[at_slack] * (turned[slack] + np.conj(turned[away]))).real)

        for _ in range(APPROACH):
            norm = np.hypot(self.norm, excess())
            try:
                self.factorise()
            except PowerFlowError:
                self.unknowns = start
                break
            step, turn = self.factors.solve(np.stack((self.residual, bordered)))
            self.iterations += 1
            give = (excess() - slope(step)) / slope(turn)
            before, part = self.unknowns, 1.0
            while part > numerics.SHORTEST_STEP:
                self.S = scheduled - (taken + part * give) * share
                self.evaluate(before - part * (step + give * turn))
                if np.hypot(self.norm, excess()) < norm:
                    break
                part /= 2
            else:
                self.unknowns = start
                break
            taken += part * give
            if np.abs(self.residual).max() <= NEAR:
                break
        self.S = scheduled

    def solve(self, kinds: Integer) -> None:
        """Solve with these kinds of buses."""
        self.begin(kinds)
        for _ in range(ITERATIONS):
            before, mismatch = self.unknowns, np.abs(self.residual).max()
            if mismatch <= numerics.POWER_FLOW:
                return
            self.factorise()
            step = self.factors.solve(self.residual.copy())
            self.iterations += 1
            self.search(before, step, numerics.SHORTEST_STEP if mismatch > numerics.POWER_FLOW_FLOOR else 1.0)
            now = np.abs(self.residual).max()
            # Newton's method would do far better than by a tenth
            if mismatch <= numerics.POWER_FLOW_FLOOR and not now < 0.1 * mismatch:
                if not now < mismatch:
                    self.evaluate(before)
                return
        raise self.failure(f"does not converge in {ITERATIONS} iterations")

    def search(self, before: Real, step: Real, shortest: float) -> None:
        """Halve the step until the mismatch falls."""
        norm, part = self.norm, 1.0
        while not self.evaluate(before - part * step) and part > shortest:
            self.norm, part = norm, part / 2
        if not self.norm < norm and shortest < 1.0:
            self.evaluate(before)
            raise self.failure("diverges: no step along Newton's direction reduces the mismatch")

    def factorise(self) -> None:
        """Factor the Jacobian where the method stands."""
        try:
            self.factors.refactor(self.equations.jacobian(self.V, self.flows, self.power))
        except SingularMatrix as error:
            raise PowerFlowError(f"the equations of the power flow are {error.why}", advice=_ADVICE,
                                 place=self.names[error.column // 2]) from None

    def failure(self, how: str) -> PowerFlowError:
        bus, part = divmod(int(np.argmax(np.abs(self.residual))), 2)
        worst = abs(self.residual[2 * bus + part])
        most = np.abs(self.equations.Y[self.equations.row == bus]).sum() / 2  # V^2 sum |y| of its branches
        return PowerFlowError(
            f"the power flow {how}; the largest mismatch is {worst:.3g} pu of {'PQ'[part]}", place=self.names[bus],
            advice=f", whose branches carry about {most:.3g} pu at most{_ADVICE}")


def _within_limits(newton: _Newton, kinds: Integer, low: Real, high: Real) -> Integer:
    """Solve again with PV buses at their reactive limits until none is beyond, or wants to leave, its own."""
    limited = np.zeros(kinds.size, int)
    returns = np.zeros(kinds.size, int)
    for _ in range(ROUNDS):
        Q, excess = newton.power.imag, np.abs(newton.V) - newton.setpoints
        held = (kinds == PV) & (limited == 0)
        over = held & (Q > high + numerics.POWER_FLOW_FLOOR)
        under = held & (Q < low - numerics.POWER_FLOW_FLOOR)
        # At its upper limit a bus sags below its set-point: where it stands above, the limit is not needed.
        leaving = (limited * excess > numerics.POWER_FLOW_FLOOR) & (returns < RETURNS)
        if not (over | under | leaving).any():
            return limited
        returns += leaving
        limited[leaving] = 0
        limited[over], limited[under] = 1, -1
        newton.S.imag[over], newton.S.imag[under] = high[over], low[under]
        newton.solve(np.where(limited != 0, PQ, kinds))
    bus = int(np.flatnonzero(over | under | leaving)[0])
    raise PowerFlowError(f"the reactive limits are still switching after {ROUNDS} rounds", place=newton.names[bus])
