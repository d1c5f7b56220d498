"""Newton power flow in polar coordinates: bus voltages from scheduled powers and voltage set-points.

Unknowns are the angle and the magnitude of every bus voltage, interleaved; the equations of bus i are

====================  ===================================  ==============================
bus                   row 2i                               row 2i + 1
====================  ===================================  ==============================
slack                 angle - angle of the start = 0       magnitude - set-point = 0
PV                    P injected - P scheduled = 0         magnitude - set-point = 0
PQ                    P injected - P scheduled = 0         Q injected - Q scheduled = 0
====================  ===================================  ==============================

so that one sparsity pattern, and one symbolic analysis, serves whatever the bus kinds become.

W. F. Tinney, C. E. Hart, "Power flow solution by Newton's method", IEEE Trans. PAS-86, 1967; the
complex form of the derivatives: R. D. Zimmerman, "AC Power Flows, Generalized OPF Costs and their
Derivatives using Complex Matrix Notation", MATPOWER Technical Note 2, 2010, eqs. 47 and 51.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .errors import NetworkError, PowerFlowError
from .linsolve import LU, SingularMatrix

PQ, PV, SLACK = 0, 1, 2

TOLERANCE = 1e-12  # pu; reached wherever round-off allows it
FLOOR = 1e-9  # pu; a mismatch below it that no longer falls is round-off
ITERATIONS = 40
ROUNDS = 30  # of reactive limits
RETURNS = 3  # how often a bus may come back from a limit before it stays there

Real = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]
Index = npt.NDArray[np.int64]


class Equations:
    """The power-flow equations of one network: mismatch and Jacobian, evaluated into fixed places.

    Parameters
    ----------
    Y : sparse (n, n) complex
        Bus admittance matrix (pu): current drawn by the network ``I = Y V``.
    """

    def __init__(self, Y: Any):
        Y = sparse.csc_array(Y, dtype=complex)
        n = self.n = Y.shape[0]
        Y = sparse.coo_array(Y)  # with every diagonal entry, be it zero
        here = np.arange(n)
        pattern = sparse.csc_array((np.ones(Y.nnz + n), (np.r_[Y.row, here], np.r_[Y.col, here])), (n, n))
        pattern.sum_duplicates()
        count = np.diff(pattern.indptr)
        self.row = pattern.indices.astype(np.int64)
        self.col = np.repeat(here, count)
        position = sparse.csc_array((np.arange(1, self.row.size + 1), pattern.indices, pattern.indptr), (n, n))
        self.Y = np.zeros(self.row.size, complex)
        np.add.at(self.Y, np.asarray(position[Y.row, Y.col]).ravel() - 1, Y.data)
        self.diagonal = np.flatnonzero(self.row == self.col)
        self.by_row = np.argsort(self.row, kind="stable")
        self.row_start = np.searchsorted(self.row[self.by_row], here)
        # Column 2k of the Jacobian (angle) and column 2k+1 (magnitude) hold, for each entry of column k of
        # Y, the rows 2i and 2i+1: real and imaginary part of one complex number.
        in_column = np.arange(self.row.size) - np.repeat(pattern.indptr[:-1], count)
        self.at_angle = 2 * np.repeat(pattern.indptr[:-1], count).astype(np.int64) + in_column
        self.at_magnitude = self.at_angle + np.repeat(count, count)
        rows = np.empty(2 * self.row.size, np.int64)
        rows[self.at_angle] = rows[self.at_magnitude] = self.row
        self.indices = (2 * rows[:, None] + np.arange(2)).ravel()
        self.indptr = np.zeros(2 * n + 1, np.int64)
        self.indptr[1:] = np.cumsum(np.repeat(2 * count, 2))
        self.values = np.empty(4 * self.row.size)
        self._complex = self.values.view(complex)

    def flows(self, V: Complex) -> Complex:
        """``V_i conj(Y_ik V_k)`` of every entry of Y (pu): the power that leaves i towards k."""
        flows: Complex = V[self.row] * np.conj(self.Y * V[self.col])
        return flows

    def power(self, flows: Complex) -> Complex:
        """Power injected at every bus (pu)."""
        power: Complex = np.add.reduceat(flows[self.by_row], self.row_start)
        return power

    def fix(self, kinds: npt.NDArray[np.int8]) -> None:
        """Choose the equations of every bus by its kind."""
        fixed = np.zeros(2 * self.n, bool)
        fixed[0::2] = kinds == SLACK
        fixed[1::2] = kinds >= PV
        self.fixed = fixed
        self._replaced = np.flatnonzero(fixed[self.indices])
        column = np.searchsorted(self.indptr, self._replaced, "right") - 1
        self._identity = self._replaced[self.indices[self._replaced] == column]

    def jacobian(self, V: Complex, flows: Complex, power: Complex) -> Real:
        """Derivative of the equations in the unknowns, in the order of `indices`; overwritten each time."""
        magnitude = np.abs(V)
        by_angle = -1j * flows
        by_angle[self.diagonal] += 1j * power
        by_magnitude = flows / magnitude[self.col]
        by_magnitude[self.diagonal] += power / magnitude
        self._complex[self.at_angle] = by_angle
        self._complex[self.at_magnitude] = by_magnitude
        self.values[self._replaced] = 0.0
        self.values[self._identity] = 1.0
        return self.values


@dataclass(frozen=True)
class PowerFlow:
    """A solved power flow.

    Attributes
    ----------
    V : (n,) complex array
        Bus voltages (pu, rad).
    S : (n,) complex array
        Power injected into the network at each bus (pu).
    iterations : int
        Newton iterations, of all rounds of reactive limits together.
    mismatch : float
        Largest of all equations (pu).
    kinds : (n,) int array
        Kind of each bus in the end.
    limited : (n,) int array
        1 where a PV bus was switched to PQ at its upper reactive limit, -1 at its lower, else 0.
    equations : Equations
        The equations, with ``indptr``, ``indices``, ``values`` of the Jacobian at the solution.
    factors : Factors
        Its LU factors.
    """

    V: Complex
    S: Complex
    iterations: int
    mismatch: float
    kinds: npt.NDArray[np.int8]
    limited: npt.NDArray[np.int8]
    equations: Equations
    factors: Any

    @property
    def switched(self) -> Index:
        """Buses that a reactive limit switched from PV to PQ."""
        return np.flatnonzero(self.limited)

    def tangent(self, dS: Complex, dV: Real | None = None) -> Complex:
        """Derivative of the voltages.

        Parameters
        ----------
        dS : (n,) or (m, n) complex array
            Derivatives of the scheduled power; where the network itself depends on a parameter, less
            those of the power it draws at fixed voltages. What a bus does not keep is ignored.
        dV : same shape, real, optional
            Derivatives of the voltage set-points.

        Returns
        -------
        complex array of the same shape
        """
        dS = np.asarray(dS, complex)
        right = np.ascontiguousarray(dS).view(float).copy()
        right[..., self.equations.fixed] = 0.0
        if dV is not None:
            held = np.flatnonzero(self.kinds >= PV)
            right[..., 2 * held + 1] = np.asarray(dV)[..., held]
        self.factors.solve(right)
        return self.V * (1j * right[..., 0::2] + right[..., 1::2] / np.abs(self.V))
