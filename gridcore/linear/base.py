"""The contract of a linear solver: a solver analyses a pattern once, and makes factors for it, as many as are wanted.

Patterns are compressed by columns (CSC) and fixed for life; only values change. An :class:`Analysis` may be shared by
threads, :class:`Factors` have one owner. A solver of one's own derives all three classes, and is registered by the hook
``register_linear_solvers``; ``gc.build(case, linear_solver=name)`` builds a system that uses it.
"""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import numerics
from ..errors import GridcoreError

Integers = npt.NDArray[np.int32]

# From this part of the largest on, entries of a null vector count as large: scales are rounded to powers of two.
_TIE = 0.25


class SingularMatrix(GridcoreError):
    """A matrix has no LU factors to working precision.

    Attributes
    ----------
    column : int
        The unknown that the matrix leaves undetermined the most (the largest entry of its null vector, in units that
        make columns alike), or the first one with a coefficient that is not finite.
    why : str
        "singular" or "not finite".
    """

    def __init__(self, column: int, why: str = "singular"):
        self.column, self.why = column, why
        super().__init__(f"the matrix is {why}: see column {column}")


class LinearSolver(abc.ABC):
    """A way to solve sparse linear systems; it has no state."""

    @abc.abstractmethod
    def analyse(self, n: int, indptr: npt.ArrayLike, indices: npt.ArrayLike) -> Analysis:
        """What can be done for all matrices of a pattern together.

        Parameters
        ----------
        n : int
            Number of rows and columns.
        indptr, indices : array of int
            The pattern, compressed by columns (CSC), without duplicates; copied.

        Raises
        ------
        ValueError
            If that is no such pattern.
        """


class Analysis(abc.ABC):
    """A pattern (`n`, `indptr`, `indices`) that a solver has analysed; threads may share it."""

    def __init__(self, n: int, indptr: npt.ArrayLike, indices: npt.ArrayLike):
        self.n = int(n)
        self.indptr, self.indices = np.array(indptr, dtype=np.int32), np.array(indices, dtype=np.int32)
        if len(self.indptr) != self.n + 1 or self.indptr[-1] != len(self.indices):
            raise ValueError(f"indptr and indices are not a CSC pattern of {self.n} columns")

    def __reduce__(self) -> tuple[Any, ...]:
        """What comes out of a pickle is analysed again."""
        return type(self), (self.n, self.indptr, self.indices)

    @abc.abstractmethod
    def factors(self, dtype: type = float, loose: bool = False) -> Factors:
        """Empty factors for values and right-hand sides of this type, float or complex.

        Those of an iteration that corrects what they leave are `loose`: they may be smaller at the cost of a digit.
        """


class Compiled(NamedTuple):
    """Addresses of ``double refactor(pivots, const double *A, values)``, the ratio of the extreme pivots or 0; of
    ``growth``, so too, the reciprocal one; of ``void solve(pivots, values, long count, double *rhs)``, of ``tsolve``;
    of both. The ratio up to which they are singular, and the least growth with which pivots are good enough.
    """

    refactor: int
    solve: int
    tsolve: int
    growth: int
    pivots: int
    values: int
    singular: float
    least: float


class Factors(abc.ABC):
    """LU factors of one matrix of an analysed pattern (`n`, `indptr`, `indices`); they have one owner.

    Attributes
    ----------
    numeric : object
        What the solver has made of the present values; None while there are no factors.
    factorisations, refactorisations, solves : int
        Work done: with a search for pivots, without one, and right-hand sides (transposed or not).
    made_for : tuple of int and float
        Settings and length of the step whose matrix it was last: a note of their owner.
    """

    def __init__(self, analysis: Analysis, dtype: type = float, loose: bool = False):
        self.analysis, self.dtype, self.loose = analysis, np.dtype(dtype), loose
        self.n, self.indptr, self.indices = analysis.n, analysis.indptr, analysis.indices
        self.factorisations = self.refactorisations = self.solves = 0
        self.numeric: Any = None
        self.made_for = -1, 0.0
        self._trusted: Any = None
        self._checked: Any = None  # the values and the right-hand side looked at last: mostly the same buffers
        self._fits: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, and what comes out of a pickle, has the analysis and no factors: those have one owner."""
        return type(self), (self.analysis, self.dtype.type, self.loose)

    @abc.abstractmethod
    def factor(self, values: npt.NDArray[Any]) -> None:
        """Factor the matrix with these values, in the order of ``indices``, searching for pivots.

        Raises
        ------
        SingularMatrix
            Naming the column. There are no factors then, and solving is an error. A matrix is not singular because its
            rows or columns differ in unit: see :func:`equilibrate`.
        """

    def refactor(self, values: npt.NDArray[Any], alike: bool = False) -> None:
        """Factor again with the pivots of before; with new ones where those are not good enough.

        The first call, or one after a failure, is a full factorisation. `alike`: the values differ little from
        those of the last call, as from step to step; whether the pivots are still good is looked at less often
        then. The errors are those of :meth:`factor`.
        """
        self.factor(values)

    def compiled(self) -> Compiled | None:
        """Where a loop in C finds them, with the present pivots; None where it does not, or there are none yet."""
        return None

    @abc.abstractmethod
    def solve(self, b: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Solve ``A x = b`` in place, and return `b`.

        Parameters
        ----------
        b : ndarray, C-contiguous, (n,) or (nrhs, n)
            Right-hand sides, one a row; overwritten with the solutions.

        Raises
        ------
        ValueError
            If `b` cannot be solved in place.
        RuntimeError
            If there are no factors.
        """

    @abc.abstractmethod
    def tsolve(self, b: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Solve the transposed system ``A.T x = b`` (never conjugated) in place. See :meth:`solve`."""

    @abc.abstractmethod
    def operations(self) -> tuple[int, int]:
        """Floating-point operations of one factorisation that gives the present factors, and of one solve with them."""

    def forget(self) -> None:
        """Give the factors up; the next factorisation searches for its pivots, or tries those of :meth:`keep`."""
        self.numeric = None

    def keep(self, values: npt.NDArray[Any]) -> None:  # noqa: B027, a solver may find pivots each time
        """Find pivots for these values, with which these and others as they are begin again after :meth:`forget`."""

    def another(self) -> Factors:
        """Empty factors as these are; for a matrix like theirs they may have the pivots that these have found."""
        return self.analysis.factors(self.dtype.type, self.loose)

    def trust(self, values: npt.NDArray[Any]) -> None:
        """Take these values unseen from now on: who fills the array gives it only while they are finite."""
        self.check_values(values)
        self._trusted = values

    def check_values(self, values: npt.NDArray[Any]) -> None:
        """Refuse what are no values of the pattern, a ValueError, or not finite; there are no factors then."""
        if values is self._trusted:
            return
        if values is not self._checked:
            if values.dtype != self.dtype or values.shape != self.indices.shape or not values.flags.c_contiguous:
                raise ValueError(f"values: {self.indices.size} contiguous numbers of type {self.dtype} are "
                                 f"expected, got {values.shape} of {values.dtype}")
            self._checked = values
        if not all_finite(values):
            self.forget()
            raise self.singular(values)

    def right_hand_sides(self, b: npt.NDArray[Any]) -> int:
        """How many there are; what cannot be solved in place is refused, or it would be lost in a copy."""
        if b is self._fits and self.numeric is not None:
            return 1
        shape = b.shape
        if shape[-1] != self.n or len(shape) > 2 or b.dtype != self.dtype or not b.flags.c_contiguous:
            raise ValueError(f"right-hand side: a C-contiguous array ({self.n},) or (nrhs, {self.n}) of type "
                             f"{self.dtype} is expected, got {shape} of {b.dtype}")
        if self.numeric is None:
            raise RuntimeError("there are no factors: call factor first")
        if len(shape) == 2:
            return shape[0]
        self._fits = b
        return 1

    def singular(self, values: npt.NDArray[Any]) -> SingularMatrix:
        """The error to raise for values that have no factors."""
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            return SingularMatrix(int(np.searchsorted(self.indptr, bad[0], "right")) - 1, "not finite")
        return SingularMatrix(_undetermined(self.n, self.indptr, self.indices, values))


def all_finite(values: npt.NDArray[Any]) -> bool:
    """Whether all of these numbers are finite, (n,) real or complex."""
    return 0 not in np.isfinite(values).tobytes()  # the quickest way, of few and of many


def products(rows: npt.NDArray[Any], vector: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """``rows @ vector``, by this thread: those of a BLAS would wait for the next product, busily, long after it."""
    return np.einsum("ki,i->k", rows, vector)


def equilibrate(n: int, indptr: Integers, indices: Integers,
                values: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Scales of rows and columns, (n,) each, with which the entries of a matrix are as near to one as they can be.

    They minimise the sum of ``log(|a_ij| r_i c_j)²`` over the entries that are not zero, so what comes out is the same
    in whatever units equations and unknowns are; then the largest entry of each column is scaled to one. Pivots of a
    matrix that is scaled so are small against each other because it is nearly singular, not because of units. Scales
    are powers of two: they round nothing. A. R. Curtis and J. K. Reid, "On the automatic scaling of matrices for
    Gaussian elimination", J. Inst. Maths Applics 10, 1972.

    Parameters
    ----------
    n, indptr, indices
        The pattern.
    values : ndarray
        Entries, finite.
    """
    from scipy.sparse import coo_array, diags_array
    from scipy.sparse.linalg import splu

    there = np.flatnonzero(values)
    row, column = indices[there], np.repeat(np.arange(n), np.diff(indptr))[there]
    size = np.log2(np.abs(values[there]))
    right = -np.concatenate([np.bincount(row, size, n), np.bincount(column, size, n)])
    count = np.concatenate([np.bincount(row, minlength=n), np.bincount(column, minlength=n)])
    joined = coo_array((np.ones(len(there)), (row, n + column)), (2 * n, 2 * n))
    r, c = splu((diags_array(count + numerics.GAUGE) + joined + joined.T).tocsc()).solve(right).reshape(2, n)
    largest = np.full(n, -np.inf)
    np.maximum.at(largest, column, size + r[row] + c[column])
    c -= np.where(np.isfinite(largest), largest, 0.0)
    return 2.0 ** np.round(r), 2.0 ** np.round(c)


def _undetermined(n: int, indptr: Integers, indices: Integers, values: npt.NDArray[Any]) -> int:
    """Index of the first of the largest entries of a null vector, by inverse iteration; only to word an error."""
    from scipy.sparse import csc_array, diags_array, eye_array
    from scipy.sparse.linalg import splu

    rows, columns = equilibrate(n, indptr, indices, values)
    scaled = diags_array(rows) @ csc_array((values, indices, indptr), (n, n)) @ diags_array(columns)
    try:
        shifted = splu((scaled + numerics.NULL_SHIFT * eye_array(n)).tocsc())
    except RuntimeError:
        return 0
    vector = np.random.default_rng(0).uniform(1.0, 2.0, n).astype(values.dtype)
    for _ in range(2):
        vector = shifted.solve(vector)
        vector /= np.abs(vector).max()
    return int(np.argmax(np.abs(vector) > _TIE))
