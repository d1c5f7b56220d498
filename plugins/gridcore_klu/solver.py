"""LU factors by KLU: T. A. Davis and E. Palamadai Natarajan, "Algorithm 907: KLU", ACM TOMS 37(3), 2010.

``nbklu`` wraps it. Its classes neither share an analysis nor tell of pivots and fill, so the functions below them are
called.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt
from nbklu import _ext as _klu

from gridcore.linear import EPS, EQUILIBRATED, Analysis, Compiled, Factors, LinearSolver, SingularMatrix, equilibrate

from . import by_rows
from .by_rows import ByRows
from .many_rhs import MANY, Triangular, loops

# The diagonal is preferred down to this part of a column's largest entry. KLU's own 1e-3 costs a digit that
# the products of tangents and adjoints need; from here on, accuracy grows little, and fill in large networks does.
_PIVOT = 0.1
# In some large networks (ACTIVSg70k) it fills nine times as much as 1e-2 does: a tolerance whose factors have more than
# so many entries for one of the matrix is compared with a tenth of it.
_FILL, _BETTER = 4.0, 0.7
# It is never lower than KLU's own: less costs more digits than fill is worth. Factors that only precondition have it.
LOWEST_PIVOT = 1e-3

# Of the largest pivot: a smaller one is what rounding left of zero. Entries are scaled to one before.
SINGULAR = EPS
# Of the growth with fresh pivots: those that are used again and grow more are searched anew. Three digits of the
# solution are worth more than the search.
PIVOT_GROWTH = 1e-3

# Looking at the growth takes a third of a refactorisation. For matrices that differ little it is put off while the
# extreme pivots keep their ratio to this factor, but not for more than so many times; where factors only precondition,
# the iteration tells, and asks for factors of a matrix that is not alike.
_SAME_PIVOTS, _UNSEEN = 2.0, 16


_living: weakref.WeakSet[Any] = weakref.WeakSet()


@atexit.register
def _end() -> None:
    """Nbklu's objects must not outlive its module: whoever still has factors, or an analysis, loses them."""
    for each in list(_living):
        vars(each).clear()


class KLU(LinearSolver):
    """The solver ``klu``."""

    def analyse(self, n: int, indptr: npt.ArrayLike, indices: npt.ArrayLike) -> Analysis:
        return Symbolic(n, indptr, indices)


class Symbolic(Analysis):
    """KLU's symbolic analysis, and the pivot tolerance that was found good, which all tight factors use.

    Attributes
    ----------
    tolerance : float
        The diagonal is preferred down to this part of a column's largest entry.
    settled : bool
        Whether it is final; until then it is changed under the lock.
    """

    def __init__(self, n: int, indptr: npt.ArrayLike, indices: npt.ArrayLike):
        self.symbolic: Any = None
        super().__init__(n, indptr, indices)
        self.tolerance, self.settled, self.lock = _PIVOT, False, threading.Lock()
        self._common = _klu.Common()
        self._common.defaults()
        symbolic = _klu.analyze(self.n, self.indptr, self.indices, self._common)
        if self._common.status == _klu.KLU_OK and symbolic.nblocks > 1 and self._has_diagonal():
            symbolic.free(self._common)
            self._common.btf = 0
            symbolic = _klu.analyze(self.n, self.indptr, self.indices, self._common)
        if self._common.status == _klu.KLU_OUT_OF_MEMORY:
            raise MemoryError(f"KLU has no memory to analyse a matrix of {self.n} unknowns")
        if self._common.status < 0:
            raise ValueError(f"KLU cannot analyse this pattern (status {self._common.status})")
        self.symbolic = symbolic
        _living.add(self)

    def _has_diagonal(self) -> bool:
        """Whether the pattern has all of it: one block has hardly more fill than several then, and is fast by rows."""
        return int(np.sum(self.indices == np.repeat(np.arange(self.n), np.diff(self.indptr)))) == self.n

    def __reduce__(self) -> tuple[Any, ...]:
        return *super().__reduce__(), {"tolerance": self.tolerance, "settled": self.settled}

    def __del__(self) -> None:
        symbolic, self.symbolic = getattr(self, "symbolic", None), None
        if symbolic is not None:
            symbolic.free(self._common)

    def factors(self, dtype: type = float, loose: bool = False) -> Factors:
        return KLUFactors(self, dtype, loose)


class KLUFactors(Factors):
    """LU by KLU.

    Attributes
    ----------
    rows : ByRows, optional
        What makes them by rows, with pivots that KLU finds and several share; None where KLU makes them.
    """

    analysis: Symbolic

    def __init__(self, analysis: Symbolic, dtype: type = float, loose: bool = False, rows: ByRows | None = None):
        super().__init__(analysis, dtype, loose)
        self._common = _klu.Common()
        self._common.defaults()
        self._symbolic = analysis.symbolic
        z = "z_" if self.dtype.kind == "c" else ""
        if rows is None and loose and not z and analysis.symbolic.nblocks == 1 and by_rows.loops():
            rows = ByRows()
        self.rows = rows
        library: Any = rows or _klu
        self._factor, self._refactor, self._rgrowth, self._rcond, self._solve, self._tsolve = (
            getattr(library, z + name) for name in ("factor", "refactor", "rgrowth", "rcond", "solve", "tsolve"))
        self._flops = library.flops
        if z:  # which asks whether to conjugate
            tsolve = self._tsolve
            self._tsolve = lambda *of: tsolve(*of[:-1], 0, of[-1])
        self._growth = self._seen = 1.0
        self._least = SINGULAR
        self._unseen = 0
        # of rows and columns, and of the entries; None but for matrices whose unknowns differ wildly in unit
        self._scales: tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]] | None = None
        self._triangular: Triangular | None = None
        self._taken = -1
        _living.add(self)

    def __del__(self) -> None:
        self._free()

    def _free(self) -> None:
        """Give the factors back: nbklu's handles do not do so by themselves."""
        numeric, self.numeric = getattr(self, "numeric", None), None
        if numeric is not None:
            numeric.free(self._common)

    def forget(self) -> None:
        self._free()
        if self.rows is not None:
            self.rows.known = None

    def keep(self, values: npt.NDArray[Any]) -> None:
        if self.rows is not None:
            with contextlib.suppress(SingularMatrix):
                self.factor(values)
            self.rows.keep()
            self._free()

    def another(self) -> Factors:
        return KLUFactors(self.analysis, self.dtype.type, self.loose, self.rows)

    def factor(self, values: npt.NDArray[Any]) -> None:
        self.check_values(values)
        self._scales, self._least = None, SINGULAR
        if self._succeeds(values):
            if self.rows is not None:
                self.rows.known = self._growth
            return
        # small pivots may be those of unknowns in another unit
        rows, columns = equilibrate(self.n, self.indptr, self.indices, values)
        self._scales = rows, columns, rows[self.indices] * np.repeat(columns, np.diff(self.indptr))
        self._least = EQUILIBRATED
        if self._succeeds(values * self._scales[2]):
            return
        self.forget()
        raise self.singular(values)

    def _succeeds(self, values: npt.NDArray[Any]) -> bool:
        """Factor; whether the factors are not singular."""
        analysis = self.analysis
        if self.loose:
            made = self._search_pivots(values, LOWEST_PIVOT)
        elif analysis.settled:
            made = self._search_pivots(values, analysis.tolerance)
        else:
            with analysis.lock:
                made = self._settle(values)
        self._growth = self._reciprocal_growth(values) if made and self._regular() else 0.0
        return self._growth > 0.0

    def _search_pivots(self, values: npt.NDArray[Any], tolerance: float) -> bool:
        """Factors with this tolerance; False if a pivot is zero."""
        self.forget()
        self.factorisations += 1
        common = self._common
        common.tol = tolerance
        numeric = self._factor(self.indptr, self.indices, values, self._symbolic, common)
        if common.status < 0:
            raise MemoryError(f"KLU has no memory for the factors of a matrix of {self.analysis.n} unknowns")
        if common.status != _klu.KLU_OK:
            return False  # KLU has freed what it had: the handle is empty
        self.numeric = numeric
        return True

    def _settle(self, values: npt.NDArray[Any]) -> bool:
        """Factors, with the tolerance that the pattern keeps from now on: lowered while that saves much."""
        analysis = self.analysis
        made = self._search_pivots(values, analysis.tolerance)
        while made and not analysis.settled:
            before, lower = self.numeric.lnz + self.numeric.unz, analysis.tolerance / 10
            if before <= _FILL * len(values) or analysis.tolerance <= LOWEST_PIVOT:
                analysis.settled = True
                break
            made = self._search_pivots(values, lower)
            if made and self.numeric.lnz + self.numeric.unz <= _BETTER * before:
                analysis.tolerance = lower
            elif made:
                analysis.settled = True
                made = self._search_pivots(values, analysis.tolerance)
        return made

    def refactor(self, values: npt.NDArray[Any], alike: bool = False) -> None:
        self.check_values(values)
        if self.numeric is None:
            if self.rows is None or not (known := self.rows.come_back()):
                return self.factor(values)
            self.numeric, self._growth = self.rows.again(), known
            self._scales, self._least = None, SINGULAR
        numeric, symbolic, common = self.numeric, self._symbolic, self._common
        entries = values if self._scales is None else values * self._scales[2]
        self.refactorisations += 1
        if self._refactor(self.indptr, self.indices, entries, symbolic, numeric, common) and self._regular() and (
                (alike and (self.loose or self._unchanged()))
                or self._reciprocal_growth(entries) > PIVOT_GROWTH * self._growth):
            return None
        return self.factor(values)

    def _regular(self) -> bool:
        """Whether the factors are not singular.

        A ratio of the diagonal of U below the machine epsilon is singular, as in MATLAB's warning
        of a sparse solve: rows are scaled to 1, so such a pivot is what rounding left of zero.
        """
        self._rcond(self._symbolic, self.numeric, self._common)
        return self._common.rcond > self._least

    def _unchanged(self) -> bool:
        """Whether the pivots are so much like those whose growth was last looked at that theirs need not be."""
        self._unseen += 1
        ratio = self._common.rcond / self._seen
        return self._unseen < _UNSEEN and 1 / _SAME_PIVOTS < ratio < _SAME_PIVOTS

    def _reciprocal_growth(self, values: npt.NDArray[Any]) -> float:
        """Smallest ratio, over columns, of the largest entry of A to that of U."""
        common = self._common
        self._seen, self._unseen = common.rcond, 0
        self._rgrowth(self.indptr, self.indices, values, self._symbolic, self.numeric, common)
        return common.rgrowth

    def _taken_out(self) -> Triangular | None:
        """The present factors, taken out for many right-hand sides; None where KLU's own solves have to do."""
        compiled = {} if self.rows is not None or self.dtype.kind == "c" else loops()
        if not compiled:
            return None
        numeric = self.numeric
        entries = (numeric.lnz, numeric.unz, numeric.nzoff)
        if self._triangular is None or self._triangular.entries != entries:
            self._triangular, self._taken = Triangular(compiled, self.n, self._symbolic.nblocks, entries), -1
        made = self.factorisations + self.refactorisations
        if self._taken != made:
            self._triangular.take(_klu, numeric, self._symbolic, self._common)
            self._taken = made
        return self._triangular

    def compiled(self) -> Compiled | None:
        rows = self.rows
        if rows is None:
            return self._as_rows()
        if not (known := rows.come_back()):
            return None
        if self.numeric is None or not rows.made(self.numeric):
            self.numeric, self._growth = rows.again(), known
        self._scales, self._least = None, SINGULAR
        pivots, values = self.numeric.places
        return Compiled(**rows.addresses, pivots=pivots, values=values, singular=SINGULAR, least=PIVOT_GROWTH * known)

    def _as_rows(self) -> Compiled | None:
        """Factors by rows with the pivots that KLU has found for the present ones, where they can be made so."""
        if self._symbolic.nblocks > 1 or self.numeric is None or self._scales or self._growth == 0 or not (
                self.dtype.kind == "f" and by_rows.loops()):
            return None
        rows = ByRows()
        rows.take(self.numeric, self._symbolic, self._common, self.indptr, self.indices)
        rows.known = self._growth
        self._by_rows = KLUFactors(self.analysis, rows=rows)  # which live as long as these
        return self._by_rows.compiled()

    def solve(self, b: npt.NDArray[Any]) -> npt.NDArray[Any]:
        nrhs, scales = self.right_hand_sides(b), self._scales
        self.solves += nrhs
        if scales is not None:
            b *= scales[0]
        if nrhs >= MANY and (many := self._taken_out()):
            many.solve(b)
        else:
            self._solve(self._symbolic, self.numeric, self.n, nrhs, b, self._common)
        if scales is not None:
            b *= scales[1]
        return b

    def tsolve(self, b: npt.NDArray[Any]) -> npt.NDArray[Any]:
        nrhs, scales = self.right_hand_sides(b), self._scales
        self.solves += nrhs
        if scales is not None:
            b *= scales[1]
        if nrhs >= MANY and (many := self._taken_out()):
            many.tsolve(b)
        else:
            self._tsolve(self._symbolic, self.numeric, self.n, nrhs, b, self._common)
        if scales is not None:
            b *= scales[0]
        return b

    def operations(self) -> tuple[int, int]:
        self._flops(self._symbolic, self.numeric, self._common)
        numeric = self.numeric  # lnz and unz count the diagonal, in both factors
        return int(self._common.flops), 2 * (numeric.lnz + numeric.unz + numeric.nzoff) - 3 * self.n
