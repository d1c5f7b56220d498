"""The checks of linear solvers: the bundled ones pass; one that is wrong in one way fails the check of that."""

from __future__ import annotations

import numpy as np
import pytest

from gridcore.errors import PluginError
from gridcore.linear import SingularMatrix
from gridcore.testing import linear_solver_checks
from gridcore_klu.solver import KLU
from gridcore_superlu.solver import Pattern, SuperLU, SuperLUFactors


@linear_solver_checks(KLU)
def test_klu_conforms(check):
    check()


@linear_solver_checks(SuperLU)
def test_superlu_conforms(check):
    check()


class LooseAreWrong(SuperLUFactors):
    def solve(self, b):
        super().solve(b)
        b *= 1 + 1e-9 * self.loose
        return b


class RefactorForgets(SuperLUFactors):
    """Values that are said to differ little are taken for those of before."""

    def refactor(self, values, alike=False):
        if not alike or self.numeric is None:
            self.factor(values)


class TakesUnitsForSingular(SuperLUFactors):
    def factor(self, values):
        size = np.abs(values[values != 0])
        if size.max() > 1e15 * size.min() and np.isfinite(size).all():
            self.numeric = None
            raise self.singular(values)
        super().factor(values)


class NamesTheFirstColumn(SuperLUFactors):
    def factor(self, values):
        try:
            super().factor(values)
        except SingularMatrix as error:
            raise (SingularMatrix(0) if np.isfinite(values).all() else error) from None


class TakesNanForZero(SuperLUFactors):
    def factor(self, values):
        super().factor(np.nan_to_num(values, posinf=0.0))


class OneForAll(SuperLUFactors):
    """What was made last is everybody's."""

    def __setattr__(self, name, value):
        vars(self.analysis if name == "numeric" else self)[name] = value

    def __getattr__(self, name):
        if name == "numeric":
            return vars(self.analysis)[name]
        raise AttributeError(name)


class LosesItsType(SuperLUFactors):
    def __reduce__(self):
        return type(self), (self.analysis, complex)


class TakesAnything(SuperLUFactors):
    def right_hand_sides(self, b):
        if self.numeric is None:
            raise RuntimeError("there are no factors")
        return b.size // self.n


class CountsNothing(SuperLUFactors):
    def right_hand_sides(self, b):
        super().right_hand_sides(b)
        return 0


def solver_of(factors):
    """A solver with these factors."""
    class Analysed(Pattern):
        def factors(self, dtype=float, loose=False):
            return factors(self, dtype, loose)

        def __reduce__(self):
            return analysed, (factors, self.n, self.indptr, self.indices)

    class Solver(SuperLU):
        def analyse(self, n, indptr, indices):
            return Analysed(n, indptr, indices)

    return Solver


def analysed(factors, *pattern):
    """What comes out of a pickle."""
    return solver_of(factors)().analyse(*pattern)


@pytest.mark.parametrize(("factors", "failing"), [
    (SuperLUFactors, None), (LooseAreWrong, "solve"), (RefactorForgets, "refactor"), (TakesUnitsForSingular, "units"),
    (NamesTheFirstColumn, "singular"), (TakesNanForZero, "not finite"), (OneForAll, "owners"),
    (LosesItsType, "pickle"), (TakesAnything, "refusals"), (CountsNothing, "counters")])
def test_what_is_wrong_fails_the_check_of_that_name(factors, failing):
    problems = linear_solver_checks.report(solver_of(factors)).problems
    assert [words.partition(":")[0] for words in problems] == ([failing] if failing else []), problems


@pytest.mark.parametrize("Solver", [KLU, SuperLU])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_refused_where_no_pivot_depends_on_it(Solver, bad):
    """Above the diagonal blocks of a matrix, from which KLU's pivots come; also of values said to be alike."""
    lu = Solver().analyse(2, [0, 1, 3], [0, 0, 1]).factors()
    lu.factor(np.ones(3))
    for values in (np.array([1.0, bad, 1.0]), np.array([bad, 1.0, 1.0])):
        with pytest.raises(SingularMatrix, match="not finite"):
            lu.refactor(values, alike=True)
        with pytest.raises(RuntimeError, match="no factors"):
            lu.solve(np.ones(2))


@pytest.mark.parametrize("given", [object, dict])
def test_what_makes_no_linear_solver_is_refused_in_words(given):
    with pytest.raises(PluginError, match=r"makes .*, which is no gridcore\.linear\.LinearSolver$"):
        linear_solver_checks.report(given)
