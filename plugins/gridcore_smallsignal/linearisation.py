"""A system linearised at an equilibrium: blocks of the Jacobian, the reduced Jacobian, a callable Jacobian.

With ``x`` the differential and ``y`` the algebraic variables, ``dx/dt = f(x, y)`` and ``0 = g(x, y)``::

    [f_x f_y]            A = f_x - f_y g_y^-1 g_x
    [g_x g_y]

P. Kundur, Power System Stability and Control (1994), section 12.1; P. W. Sauer and M. A. Pai, Power System Dynamics
and Stability (1998), section 8.1. Which rows are which is decided by the point: a state at its limit is algebraic
there, and so is one whose time constant is zero.
"""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from gridcore.errors import GridcoreError
from gridcore.linear import SingularMatrix
from gridcore_notebook import html

from .equilibrium import TOLERANCE, check_rest, out_of_service, point_of

if TYPE_CHECKING:
    from pathlib import Path

    from gridcore.case import Case
    from gridcore.equations import Workspace
    from gridcore.equilibrium import Equilibrium
    from gridcore.results import Run


class Jacobian:
    """F_X of a system, to be called; rows and columns in the order of ``system.variables``.

    ======================================  ==========================================================
    ``jacobian(x)``                         a new matrix, (n, n)
    ``jacobian(J, x)``                      into `J`
    ``jacobian(J, x, p, t)``                with other parameters and at another time
    ``jacobian(J, dx, x, p, gamma, t)``     ``gamma M - F_X``: of the residual ``M dx - F(t, x; p)``
    ======================================  ==========================================================

    All return `J`. `p` holds all parameters, (n_p,), as they stand in Z after the variables; None leaves them
    as they are. A sparse `J` is a CSC matrix with the pattern of ``jacobian(x)``. Modes (limits, what is in
    service) are those of the point that the system was linearised at.

    Parameters
    ----------
    system : Equilibrium
    Z : (size,) array
    sparse : bool
        Whether matrices are CSC or dense arrays.
    """

    def __init__(self, system: Equilibrium, Z: np.ndarray, sparse: bool = False):
        self.system, self.sparse = system, sparse
        self.Z = Z.copy()
        self.mass = system.differential(Z).astype(float)
        self._mine = threading.local()

    def __reduce__(self) -> tuple[Any, ...]:
        return Jacobian, (self.system, self.Z, self.sparse)

    @property
    def ws(self) -> Workspace:
        """The workspace of this thread."""
        if not hasattr(self._mine, "ws"):
            self._mine.ws = self.system.workspace()
        return self._mine.ws

    @property
    def p(self) -> np.ndarray:
        """(n_p,) parameters of the point, a copy."""
        n = self.system.n
        return self.Z[n: n + self.system.layout.n_p].copy()

    def __call__(self, *arguments: Any) -> Any:
        """See the class."""
        if len(arguments) == 1:
            return self._evaluate(None, arguments[0], None, None, None)
        if len(arguments) == 2:
            return self._evaluate(arguments[0], arguments[1], None, None, None)
        if len(arguments) == 4:
            return self._evaluate(*arguments, None)
        if len(arguments) == 6:
            J, _, x, p, gamma, t = arguments
            return self._evaluate(J, x, p, t, gamma)
        raise TypeError("jacobian takes (x), (J, x), (J, x, p, t) or (J, dx, x, p, gamma, t)")

    def _evaluate(self, J: Any, x: np.ndarray, p: np.ndarray | None, t: float | None, gamma: float | None) -> Any:
        system, ws, Z = self.system, self.ws, self.Z.copy()
        n = system.n
        Z[:n] = _vector("x", x, n)
        if p is not None:
            Z[n: n + system.layout.n_p] = _vector("p", p, system.layout.n_p)
        if t is not None:
            Z[-1] = t
        ws.load(Z)
        ws.mass[:], ws.c[:] = (0.0, -1.0) if gamma is None else (gamma * self.mass, 1.0)
        values = ws.matrix()
        if self.sparse:
            return self._fill_sparse(J, values)
        if J is None:
            J = np.zeros((n, n))
        else:
            if np.shape(J) != (n, n):
                raise GridcoreError(f"J is {np.shape(J)}, the Jacobian is {(n, n)}")
            J[...] = 0.0
        J[ws.indices, ws.columns] = values
        return J

    def _fill_sparse(self, J: Any, values: np.ndarray) -> Any:
        ws, n = self.ws, self.system.n
        if J is None:
            return sp.csc_matrix((values.copy(), ws.indices.copy(), ws.indptr.copy()), shape=(n, n))
        same = sp.issparse(J) and J.format == "csc" and J.shape == (n, n) and np.array_equal(
            J.indptr, ws.indptr) and np.array_equal(J.indices, ws.indices)
        if not same:
            raise GridcoreError("J has not the pattern of the Jacobian: make it by jacobian(x)")
        J.data[:] = values
        return J


def _vector(name: str, values: Any, size: int) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    if array.shape != (size,):
        raise GridcoreError(f"{name} is {array.shape}, expected ({size},)")
    return array


class Linearisation:
    """A system at an equilibrium, linearised; made by :func:`linearise`.

    Attributes
    ----------
    system : Equilibrium
    Z : (size,) array
        The point.
    x, y : int arrays
        Positions in X of the differential and of the algebraic variables. States of devices out of service
        are in neither.
    states, algebraics : list of (device, variable)
    jacobian : Jacobian
    """

    _repr_html_ = html

    def __init__(self, system: Equilibrium, Z: np.ndarray, sparse: bool = False):
        self.system, self.Z = system, Z
        differential, frozen = system.differential(Z), out_of_service(system, Z)
        self.x = np.flatnonzero(differential & ~frozen)
        self.y = np.flatnonzero(~differential)
        self.jacobian = Jacobian(system, Z, sparse)
        self._sparse = sparse

    def __getstate__(self) -> dict[str, Any]:
        """All but the factors, which a pickle would bring back empty: they are made again where they are asked for."""
        return {name: value for name, value in self.__dict__.items() if name != "algebraic_lu"}

    @functools.cached_property
    def states(self) -> list[tuple[str, str]]:
        """(device, variable) of each differential variable."""
        return [self.system.variables[k] for k in self.x]

    @functools.cached_property
    def algebraics(self) -> list[tuple[str, str]]:
        """(device, variable) of each algebraic variable."""
        return [self.system.variables[k] for k in self.y]

    @functools.cached_property
    def matrix(self) -> sp.csc_matrix:
        """F_X in the order ``[x; y]``, sparse."""
        order = np.concatenate([self.x, self.y])
        return sp.csc_matrix(self.system.jacobian(self.Z)[order][:, order])

    def _block(self, rows: slice, columns: slice) -> Any:
        block = self.matrix[rows, columns]
        return block if self._sparse else block.toarray()

    @property
    def f_x(self) -> Any:
        """(n_x, n_x)."""
        return self._block(slice(0, len(self.x)), slice(0, len(self.x)))

    @property
    def f_y(self) -> Any:
        """(n_x, n_y)."""
        return self._block(slice(0, len(self.x)), slice(len(self.x), None))

    @property
    def g_x(self) -> Any:
        """(n_y, n_x)."""
        return self._block(slice(len(self.x), None), slice(0, len(self.x)))

    @property
    def g_y(self) -> Any:
        """(n_y, n_y)."""
        return self._block(slice(len(self.x), None), slice(len(self.x), None))

    @functools.cached_property
    def algebraic_lu(self) -> Any:
        """Factors of g_y.

        Raises
        ------
        GridcoreError
            If it is singular: names the variable that the algebraic equations leave undetermined.
        """
        g_y = sp.csc_matrix(self.matrix[len(self.x):, len(self.x):])
        g_y.sort_indices()
        lu = self.system.system.linear_solver.analyse(len(self.y), g_y.indptr, g_y.indices).factors()
        try:
            lu.factor(g_y.data)
        except SingularMatrix as error:
            name = ".".join(self.algebraics[error.column])
            raise GridcoreError(f"the algebraic equations do not determine {name} here: g_y is singular") from None
        return lu

    @functools.cached_property
    def reduced(self) -> np.ndarray:
        """The reduced Jacobian A, (n_x, n_x)."""
        n = len(self.x)
        if not len(self.y):
            return self.matrix.toarray()
        f_x, f_y, g_x = self.matrix[:n, :n], self.matrix[:n, n:], self.matrix[n:, :n]
        eliminated = self.algebraic_lu.solve(np.ascontiguousarray(g_x.T.toarray()))
        return f_x.toarray() - f_y @ eliminated.T

    def with_algebraic(self, right: np.ndarray) -> np.ndarray:
        """Directions of the states, (m, n_x) real or complex, to those of all variables, (m, n)."""
        n = len(self.x)
        return self._completed(right, lambda v: -self.algebraic_lu.solve(
            np.ascontiguousarray((self.matrix[n:, :n] @ v.T).T)))

    def with_algebraic_left(self, left: np.ndarray) -> np.ndarray:
        """The same of left vectors: what multiplies all rows of F."""
        n = len(self.x)
        return self._completed(left, lambda w: -self.algebraic_lu.tsolve(
            np.ascontiguousarray((self.matrix[:n, n:].T @ w.T).T)))

    def _completed(self, vectors: np.ndarray, solve: Any) -> np.ndarray:
        out = np.zeros((len(vectors), self.system.n), dtype=vectors.dtype)
        out[:, self.x] = vectors
        if len(self.y):
            parts = [solve(np.ascontiguousarray(vectors.real))]
            if np.iscomplexobj(vectors):
                parts.append(1j * solve(np.ascontiguousarray(vectors.imag)))
            out[:, self.y] = sum(parts)
        return out

    def __repr__(self) -> str:
        return (f"<Linearisation of '{self.system.case.name}': {len(self.x)} differential, "
                f"{len(self.y)} algebraic variables>")


def linearise(study: Equilibrium | Case | str | Path | Run, *, point: int = -1, sparse: bool = False,
              tolerance: float = TOLERANCE) -> Linearisation:
    """Linearise a system at its operating point, or at a point of a run that has come to rest.

    Parameters
    ----------
    study : Equilibrium or Case or str or Run
        A system, or what :func:`gridcore.build` takes, is linearised at its operating point (``rest``, whatever
        initial values a run is given).
    point : int
        Of a run; the last by default. Parameters and modes (limits, trips) are those of that point.
    sparse : bool
        Whether blocks and the callable Jacobian are sparse or dense.
    tolerance : float
        The largest rate, or mismatch of an algebraic equation, that counts as zero.

    Raises
    ------
    NotAnEquilibrium
        Naming the state that moves, and its rate.
    """
    system, Z = point_of(study, point)
    check_rest(system, Z, tolerance)
    return Linearisation(system, Z, sparse)
