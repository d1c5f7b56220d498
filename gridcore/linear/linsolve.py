"""Sparse LU behind one small interface: factor, refactor, solve, solve transposed.

:data:`LU` is :class:`KLU` (SuiteSparse, by ``nbklu``), or :class:`SuperLU` (scipy) where ``nbklu``
cannot be imported. Both keep one CSC pattern for life; only values change. KLU: T. A. Davis and
E. Palamadai Natarajan, "Algorithm 907: KLU", ACM TOMS 37(3), 2010.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..equations.native import runtime
from ..errors import GridcoreError
from .many_rhs import Triangular

try:
    from nbklu import _ext as _klu
except ImportError:
    _klu = None

_EPS = float(np.finfo(float).eps)

# The diagonal is preferred down to this part of a column's largest entry. KLU's own 1e-3 costs a digit that
# the products of tangents and adjoints need; from here on, accuracy grows little, and fill in large networks does.
_PIVOT = 0.1
# In some large networks (ACTIVSg70k) it fills nine times as much as 1e-2 does: a tolerance whose factors have more than
# so many entries for one of the matrix is compared with a tenth of it.
# It is never lower than KLU's own, which is what factors have that only precondition.
_FILL, _BETTER, _LOWEST = 4.0, 0.7, 1e-3

# A reused pivot order is given up when its elements grow this much more than those of a full
# factorisation did: three digits of the solution are worth more than the pivot search.
_GROWTH = 1e-3

# Looking at the growth takes a third of a refactorisation. For matrices that differ little it is put off while the
# extreme pivots keep their ratio to this factor, but not for more than so many times.
_SAME_PIVOTS, _UNSEEN = 2.0, 8


class SingularMatrix(GridcoreError):
    """A matrix has no LU factors to working precision.

    Attributes
    ----------
    column : int
        The unknown that the matrix leaves undetermined the most (the largest entry of its null
        vector), or the first one with a coefficient that is not finite.
    """

    def __init__(self, column: int, why: str = "singular"):
        self.column = column
        super().__init__(f"the matrix is {why}: see column {column}")


class Factors:
    """What both solvers have in common: the pattern, the checks, the counters.

    Parameters
    ----------
    n : int
        Number of rows and columns.
    indptr, indices : array of int
        The pattern, compressed by columns (CSC), without duplicates; copied, fixed for life.
    dtype : float or complex
        Type of the values and of the right-hand sides.

    Attributes
    ----------
    factorisations, refactorisations, solves : int
        Work done: with a search for pivots, without one, and right-hand sides (transposed or not).
    """

    def __init__(self, n: int, indptr: npt.ArrayLike, indices: npt.ArrayLike, dtype: type = float):
        self.n = int(n)
        self.indptr = np.array(indptr, dtype=np.int32)
        self.indices = np.array(indices, dtype=np.int32)
        self.dtype = np.dtype(dtype)
        self.factorisations = self.refactorisations = self.solves = 0
        self._numeric: Any = None
        if len(self.indptr) != self.n + 1 or self.indptr[-1] != len(self.indices):
            raise ValueError(f"indptr and indices are not a CSC pattern of {self.n} columns")

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, and what comes out of a pickle, has the pattern and no factors: those have one owner."""
        return type(self), (self.n, self.indptr, self.indices, self.dtype.type)

    def factor(self, values: npt.NDArray[Any]) -> None:
        """Factor the matrix with these values, searching for pivots.

        Parameters
        ----------
        values : ndarray
            Entries in the order of ``indices``.

        Raises
        ------
        SingularMatrix
            Naming the column. There are no factors then, and solving is an error.
        """
        raise NotImplementedError

    def forget(self) -> None:
        """Give the factors up; the next factorisation searches for its pivots."""
        self._numeric = None

    def refactor(self, values: npt.NDArray[Any], alike: bool = False) -> None:
        """Factor again with the pivots of before; with new ones where those are not good enough.

        The first call, or one after a failure, is a full factorisation. `alike`: the values differ little from
        those of the last call, as from step to step; whether the pivots are still good is looked at less often
        then. The errors are those of :meth:`factor`.
        """
        raise NotImplementedError

    def solve(self, b: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Solve ``A x = b`` in place.

        Parameters
        ----------
        b : ndarray, C-contiguous, (n,) or (nrhs, n)
            Right-hand sides, one a row; overwritten with the solutions.

        Returns
        -------
        ndarray
            `b` itself.
        """
        raise NotImplementedError

    def tsolve(self, b: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Solve the transposed system ``A.T x = b`` (never conjugated) in place. See :meth:`solve`."""
        raise NotImplementedError

    def another(self, loose: bool = False) -> Factors:
        """An empty one of the same pattern, which shares what analysing the pattern has cost.

        `loose`: for an iteration that corrects what its factors leave: they may be smaller at the cost of a digit.
        """
        return type(self)(self.n, self.indptr, self.indices, self.dtype.type)

    def operations(self) -> tuple[int, int]:
        """Floating-point operations of one factorisation that gives the present factors, and of one solve with them."""
        raise NotImplementedError

    def _check_values(self, values: npt.NDArray[Any]) -> None:
        if values.dtype != self.dtype or values.shape != self.indices.shape or not values.flags.c_contiguous:
            raise ValueError(f"values: {self.indices.size} contiguous numbers of type {self.dtype} are "
                             f"expected, got {values.shape} of {values.dtype}")

    def _right_hand_sides(self, b: npt.NDArray[Any]) -> int:
        """How many there are; what cannot be solved in place is refused, or it would be lost in a copy."""
        shape = b.shape
        if shape[-1] != self.n or len(shape) > 2 or b.dtype != self.dtype or not b.flags.c_contiguous:
            raise ValueError(f"right-hand side: a C-contiguous array ({self.n},) or (nrhs, {self.n}) of type "
                             f"{self.dtype} is expected, got {shape} of {b.dtype}")
        if self._numeric is None:
            raise RuntimeError("there are no factors: call factor first")
        return shape[0] if len(shape) == 2 else 1

    def _singular(self, values: npt.NDArray[Any]) -> SingularMatrix:
        """The error to raise for a matrix that has no factors."""
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            return SingularMatrix(int(np.searchsorted(self.indptr, bad[0], "right")) - 1, "not finite")
        return SingularMatrix(_undetermined(self.n, self.indptr, self.indices, values))


class _Analysis:
    """What all factors of one pattern share: KLU's symbolic analysis, and the pivot tolerance that was found good."""

    def __init__(self, n: int, indptr: npt.NDArray[np.int32], indices: npt.NDArray[np.int32]):
        self.symbolic, self.tolerance, self.settled = None, _PIVOT, False
        self._common = _klu.Common()
        self._common.defaults()
        self.symbolic = _klu.analyze(n, indptr, indices, self._common)
        if self._common.status < 0:
            self.symbolic = None
            raise ValueError(f"KLU cannot analyse this pattern (status {self._common.status})")

    def __del__(self) -> None:
        if self.symbolic is not None:
            self.symbolic.free(self._common)


class KLU(Factors):
    """LU by KLU. See :class:`Factors`."""

    def __init__(self, n: int, indptr: npt.ArrayLike, indices: npt.ArrayLike, dtype: type = float,
                 analysis: _Analysis | None = None):
        super().__init__(n, indptr, indices, dtype)
        self._common = _klu.Common()
        self._common.defaults()
        self._analysis = analysis if analysis is not None else _Analysis(self.n, self.indptr, self.indices)
        self._symbolic, self._loose = self._analysis.symbolic, False
        z = "z_" if self.dtype.kind == "c" else ""
        self._factor, self._refactor, self._rgrowth, self._rcond, self._solve, self._tsolve = (
            getattr(_klu, z + name) for name in ("factor", "refactor", "rgrowth", "rcond", "solve", "tsolve"))
        self._plain = (0,) if z else ()  # the complex transposed solve asks whether to conjugate
        self._growth = self._seen = 1.0
        self._unseen = 0
        self._triangular: Triangular | None = None
        self._taken = -1

    def another(self, loose: bool = False) -> KLU:
        other = KLU(self.n, self.indptr, self.indices, self.dtype.type, self._analysis)
        other._loose = loose
        return other

    def __del__(self) -> None:
        self._free()

    def forget(self) -> None:
        self._free()

    def _free(self) -> None:
        """Give the factors back: nbklu's handles do not do so by themselves."""
        numeric = getattr(self, "_numeric", None)
        self._numeric = None
        if numeric is not None:
            numeric.free(self._common)

    def factor(self, values: npt.NDArray[Any]) -> None:
        self._check_values(values)
        self._search_pivots(values)
        while not (self._loose or self._analysis.settled):
            self._lower_tolerance(values)
        self._growth = self._reciprocal_growth(values) if self._regular() else 0.0
        if not self._growth > 0.0:
            self._free()
            raise self._singular(values)

    def _search_pivots(self, values: npt.NDArray[Any]) -> None:
        """Factors, with the tolerance that the pivots have now."""
        self._free()
        self.factorisations += 1
        common = self._common
        common.tol = _LOWEST if self._loose else self._analysis.tolerance
        numeric = self._factor(self.indptr, self.indices, values, self._symbolic, common)
        if common.status != _klu.KLU_OK:
            if common.status < 0:
                raise MemoryError(f"KLU cannot factor the matrix (status {common.status})")
            raise self._singular(values)  # KLU has freed what it had: the handle is empty
        self._numeric = numeric

    def _lower_tolerance(self, values: npt.NDArray[Any]) -> None:
        """A step towards the tolerance that all factors of this pattern use: lower it while that saves much."""
        analysis, before = self._analysis, self._numeric.lnz + self._numeric.unz
        if before <= _FILL * len(values) or analysis.tolerance <= _LOWEST:
            analysis.settled = True
            return
        analysis.tolerance /= 10
        self._search_pivots(values)
        if self._numeric.lnz + self._numeric.unz > _BETTER * before:
            analysis.tolerance *= 10
            analysis.settled = True
            self._search_pivots(values)

    def refactor(self, values: npt.NDArray[Any], alike: bool = False) -> None:
        self._check_values(values)
        numeric = self._numeric
        if numeric is None:
            return self.factor(values)
        self.refactorisations += 1
        good = self._refactor(self.indptr, self.indices, values, self._symbolic, numeric, self._common)
        if not good or not self._regular() or not (
                (alike and self._unchanged()) or self._reciprocal_growth(values) > _GROWTH * self._growth):
            self.factor(values)

    def _regular(self) -> bool:
        """Whether the factors are not singular.

        A ratio of the diagonal of U below the machine epsilon is singular, as in MATLAB's warning
        of a sparse solve: rows are scaled to 1, so such a pivot is what rounding left of zero.
        """
        self._rcond(self._symbolic, self._numeric, self._common)
        return self._common.rcond > _EPS

    def _unchanged(self) -> bool:
        """Whether the pivots are so much like those whose growth was last looked at that theirs need not be."""
        self._unseen += 1
        ratio = self._common.rcond / self._seen
        return self._unseen < _UNSEEN and 1 / _SAME_PIVOTS < ratio < _SAME_PIVOTS

    def _reciprocal_growth(self, values: npt.NDArray[Any]) -> float:
        """Smallest ratio, over columns, of the largest entry of A to that of U."""
        common = self._common
        self._seen, self._unseen = common.rcond, 0
        self._rgrowth(self.indptr, self.indices, values, self._symbolic, self._numeric, common)
        return common.rgrowth

    def _many(self) -> Triangular:
        """The present factors, taken out for many right-hand sides."""
        numeric = self._numeric
        entries = (numeric.lnz, numeric.unz, numeric.nzoff)
        if self._triangular is None or self._triangular.entries != entries:
            self._triangular, self._taken = Triangular(runtime(), self.n, self._symbolic.nblocks, entries), -1
        made = self.factorisations + self.refactorisations
        if self._taken != made:
            self._triangular.take(_klu, numeric, self._symbolic, self._common)
            self._taken = made
        return self._triangular

    def solve(self, b: npt.NDArray[Any]) -> npt.NDArray[Any]:
        nrhs = self._right_hand_sides(b)
        self.solves += nrhs
        if nrhs > 1 and nrhs >= runtime().many:
            self._many().solve(b)
            return b
        self._solve(self._symbolic, self._numeric, self.n, nrhs, b, self._common)
        return b

    def tsolve(self, b: npt.NDArray[Any]) -> npt.NDArray[Any]:
        nrhs = self._right_hand_sides(b)
        self.solves += nrhs
        if nrhs > 1 and nrhs >= runtime().many:
            self._many().tsolve(b)
            return b
        self._tsolve(self._symbolic, self._numeric, self.n, nrhs, b, *self._plain, self._common)
        return b


    def operations(self) -> tuple[int, int]:
        _klu.flops(self._symbolic, self._numeric, self._common)
        numeric = self._numeric  # lnz and unz count the diagonal, in both factors
        return int(self._common.flops), 2 * (numeric.lnz + numeric.unz + numeric.nzoff) - 3 * self.n


class SuperLU(Factors):
    """LU by scipy's SuperLU, which always searches for pivots. See :class:`Factors`."""

    def factor(self, values: npt.NDArray[Any]) -> None:
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        self._check_values(values)
        self._numeric = None
        self.factorisations += 1
        if not np.isfinite(values).all():
            raise self._singular(values)
        # Rows scaled to 1, as KLU does, so that both judge pivots alike.
        largest = np.zeros(self.n)
        np.maximum.at(largest, self.indices, np.abs(values))
        self._rows = 1.0 / np.where(largest > 0.0, largest, 1.0)
        scaled = csc_array((values * self._rows[self.indices], self.indices, self.indptr), (self.n, self.n))
        try:
            numeric = splu(scaled)
        except RuntimeError:
            raise self._singular(values) from None
        pivots = np.abs(numeric.U.diagonal())
        if not pivots.min() > _EPS * pivots.max():
            raise self._singular(values)
        self._numeric = numeric

    def refactor(self, values: npt.NDArray[Any], alike: bool = False) -> None:
        self.factor(values)

    def solve(self, b: npt.NDArray[Any]) -> npt.NDArray[Any]:
        self.solves += self._right_hand_sides(b)
        b[...] = self._numeric.solve((b * self._rows).T).T
        return b

    def tsolve(self, b: npt.NDArray[Any]) -> npt.NDArray[Any]:
        self.solves += self._right_hand_sides(b)
        b[...] = self._numeric.solve(b.T, trans="T").T
        b *= self._rows
        return b


    def operations(self) -> tuple[int, int]:
        below = np.diff(self._numeric.L.tocsc().indptr) - 1
        right = np.diff(self._numeric.U.tocsr().indptr) - 1
        return int((below + 2 * below * right).sum()), int(2 * (below + right).sum()) + self.n


def _undetermined(n: int, indptr: npt.NDArray[np.int32], indices: npt.NDArray[np.int32],
                  values: npt.NDArray[Any]) -> int:
    """Index of the largest entry of a null vector, by two steps of inverse iteration.

    Only called to word an error, so neither speed nor the last digit matters.
    """
    from scipy.sparse import csc_array, diags_array, eye_array
    from scipy.sparse.linalg import splu

    matrix = csc_array((values, indices, indptr), (n, n))
    rows = abs(matrix).max(axis=1).toarray()
    scaled = diags_array(1.0 / np.where(rows > 0.0, rows, 1.0)) @ matrix
    try:
        shifted = splu((scaled + 1e-10 * eye_array(n)).tocsc())
    except RuntimeError:
        return 0
    vector = np.random.default_rng(0).uniform(1.0, 2.0, n).astype(values.dtype)
    for _ in range(2):
        vector = shifted.solve(vector)
        vector /= np.abs(vector).max()
    return int(np.abs(vector).argmax())


LU: type[Factors] = KLU if _klu is not None else SuperLU
