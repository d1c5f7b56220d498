"""What any linear solver must show: numpy's solutions, in any units; and errors for matrices that have none."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from gridcore.errors import PluginError
from gridcore.linear import Factors, LinearSolver, SingularMatrix
from gridcore.testing import Suite, Wrong, require

SOLVED = 1e-11  # relative to the largest entry of a solution
N, MANY = 30, 40  # unknowns, right-hand sides
UNITS = (1e-18, 1e18)
THREADS, REPEATED = 4, 25
ONE = np.ones(N)


class Trial:
    """A solver, and a pattern that it has analysed: random, without symmetry, with a diagonal."""

    def __init__(self, solver: LinearSolver):
        rng = np.random.default_rng(0)
        self.columns, self.rows = np.nonzero((rng.random((N, N)) < 0.1) | np.eye(N, dtype=bool))
        self.pattern = solver.analyse(N, np.searchsorted(self.columns, np.arange(N + 1)), self.rows)

    def matrix(self, dtype: type = float, seed: int = 1) -> np.ndarray:
        """A random matrix with the pattern, far from singular; entries beside the diagonal are well below it."""
        rng = np.random.default_rng(seed)
        A: np.ndarray = np.zeros((N, N), dtype)
        A[self.rows, self.columns] = rng.uniform(-1, 1, len(self.rows))
        A += np.diag(rng.uniform(5, 6, N))
        return A * (1 + 0.5j) if dtype is complex else A

    def factored(self, A: np.ndarray, loose: bool = False) -> Factors:
        """Factors of a matrix."""
        lu = self.pattern.factors(A.dtype.type, loose)
        lu.factor(self.values(A))
        return lu

    def values(self, A: np.ndarray) -> np.ndarray:
        """The entries of a matrix, as a solver takes them."""
        return A[self.rows, self.columns]


def need_solutions(lu: Factors, A: np.ndarray, r: np.ndarray = ONE, c: np.ndarray = ONE) -> None:
    """Require that factors of ``diag(r) A diag(c)`` solve, plain and transposed, as numpy does."""
    for shape in ((N,), (1, N), (MANY, N)):
        b = np.random.default_rng(2).normal(size=shape).astype(A.dtype)
        for name, matrix, left, right in (("solve", A, r, c), ("tsolve", A.T, c, r)):
            x, found = np.linalg.solve(matrix, b.T).T, left * b
            require(getattr(lu, name)(found) is found, f"{name}(b) does not return b, solved in place")
            worst = np.abs(right * found - x).max() / np.abs(x).max()
            require(worst <= SOLVED, f"{name}() of {shape} numbers of type {A.dtype} is off by {worst:.1e} of the "
                                     "largest entry of the solution")


def need_refusal(lu: Factors, values: np.ndarray, column: int) -> None:
    """Require that values are refused, naming a column, and leave no factors to solve with."""
    for name in ("refactor", "factor"):  # the first while there still are factors
        try:
            getattr(lu, name)(values)
        except SingularMatrix as error:
            require(error.column == column, f"{name}() names column {error.column} in place of {column}")
        else:
            raise Wrong(f"{name}() gives factors")
        try:
            lu.solve(np.ones(N, lu.dtype))
        except RuntimeError:
            continue
        raise Wrong(f"after a failed {name}() there is something to solve with: it must be a RuntimeError")


@contextmanager
def trial(make: Callable[[], LinearSolver]) -> Iterator[Trial]:
    """What is checked is ``make``, most often the class itself; it need not be registered."""
    made = make()
    if not isinstance(made, LinearSolver):
        raise PluginError(f"{make!r} makes {made!r}, which is no gridcore.linear.LinearSolver")
    yield Trial(made)


linear_solver_checks = Suite(trial)


@linear_solver_checks.add("solve")
def solved(trial: Trial) -> str:
    """Real and complex; factors that are to be loose are still factors."""
    for dtype in (float, complex):
        for loose in (False, True):
            need_solutions(trial.factored(trial.matrix(dtype), loose), trial.matrix(dtype))
    return f"real and complex, plain and transposed, for one right-hand side and {MANY}"


@linear_solver_checks.add("refactor")
def refactored(trial: Trial) -> str:
    """With changed values, values that differ little, and ones for which the pivots of before are none."""
    for dtype in (float, complex):
        lu = trial.pattern.factors(dtype)
        for seed in (1, 2):
            A = trial.matrix(dtype, seed)
            lu.refactor(trial.values(A))
            need_solutions(lu, A)
        for _ in range(2):
            A *= np.linspace(1.0, 1.001, N)
            lu.refactor(trial.values(A), alike=True)
            need_solutions(lu, A)
        for pivot in (1e-13, 0.0):
            A[0, 0] = pivot
            lu.refactor(trial.values(A))
            need_solutions(lu, A)
    return "with other values, with ones that differ little, and where a pivot has vanished"


@linear_solver_checks.add("units")
def in_any_units(trial: Trial) -> str:
    """A matrix is not singular because rows and columns differ in unit."""
    A = trial.matrix()
    for unit in UNITS:
        scaled = np.where(np.arange(N) % 7 == 3, unit, 1.0)
        for r, c in ((scaled, ONE), (ONE, scaled), (np.logspace(0, 17, N), ONE)):
            need_solutions(trial.factored(r[:, None] * A * c), A, r, c)
    return f"rows and columns by {UNITS[0]:g} and {UNITS[1]:g}"


@linear_solver_checks.add("singular")
def refused(trial: Trial) -> str:
    """In any units; and a regular matrix is solved afterwards."""
    for dtype in (float, complex):
        lu = trial.factored(trial.matrix(dtype))
        for unit in (1.0, *UNITS):
            A = trial.matrix(dtype)
            A[:, 4] = A[4, :] = 0.0
            need_refusal(lu, trial.values(unit * A), 4)
        lu.refactor(trial.values(trial.matrix(dtype)))
        need_solutions(lu, trial.matrix(dtype))
    return "an error that names the column, and nothing to solve with; the next matrix is solved"


@linear_solver_checks.add("not finite")
def refused_too(trial: Trial) -> str:
    """Wherever it stands, also where no pivot depends on it."""
    lu, finite = trial.factored(trial.matrix()), trial.values(trial.matrix())
    for bad in (np.nan, np.inf):
        for place, column in enumerate(trial.columns):
            values = finite.copy()
            values[place] = bad
            need_refusal(lu, values, int(column))
            lu.factor(finite)
    return "an error that names the column"


@linear_solver_checks.add("owners")
def owned(trial: Trial) -> str:
    """Factors of one analysis are each other's strangers, one after the other and in threads."""
    matrices = [trial.matrix(seed=seed) for seed in range(THREADS)]
    alive = [trial.factored(A) for A in matrices]
    for lu, A in zip(alive, matrices, strict=True):
        need_solutions(lu, A)
    alive[0].forget()
    need_solutions(alive[1], matrices[1])

    def work(A: np.ndarray) -> None:
        for _ in range(REPEATED):
            need_solutions(trial.factored(A), A)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, matrices))
    return f"{THREADS} of one analysis, also in as many threads"


@linear_solver_checks.add("pickle")
def pickled(trial: Trial) -> str:
    """What comes out of a pickle has the pattern, and factors of its own."""
    A = trial.matrix()
    lu = trial.factored(A)
    for other in (pickle.loads(pickle.dumps(trial.pattern)).factors(), pickle.loads(pickle.dumps(lu))):
        require(other.numeric is None, "factors come out of a pickle: they have one owner")
        other.refactor(trial.values(A))
        need_solutions(other, A)
    return "the pattern comes back, without factors"


@linear_solver_checks.add("refusals")
def in_place(trial: Trial) -> str:
    """What cannot be solved in place, or is no matrix of the pattern, is a ValueError."""
    A = trial.matrix()
    lu = trial.factored(A)
    for b in (np.ones(N + 1), np.ones(N, np.float32), np.ones(N, complex), np.ones((N, MANY)).T, np.ones(2 * N)[::2]):
        for solve in (lu.solve, lu.tsolve):
            need_value_error(solve, b, f"{solve.__name__}() takes b of shape {b.shape}, {b.dtype}, strides {b.strides}")
    need_value_error(lu.refactor, np.ones(len(trial.rows) + 1), "refactor() takes values of another pattern")
    return "b that is no contiguous array of its type, and values of another pattern"


def need_value_error(call: Callable[[np.ndarray], object], given: np.ndarray, otherwise: str) -> None:
    """Require a ValueError."""
    try:
        call(given)
    except ValueError:
        return
    raise Wrong(otherwise)


@linear_solver_checks.add("counters")
def counted(trial: Trial) -> str:
    """The work done is counted."""
    lu = trial.factored(trial.matrix())
    lu.solve(np.ones(N))
    lu.tsolve(np.ones((3, N)))
    require(lu.factorisations >= 1 and lu.solves == 4,
            f"{lu.factorisations} factorisations and {lu.solves} solves are counted, after 1 and 4")
    require(min(lu.operations()) > 0, f"operations() gives {lu.operations()}")
    return "factorisations, solves, operations"
