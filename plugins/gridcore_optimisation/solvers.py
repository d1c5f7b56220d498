"""The solvers: each takes a problem from its start to where it ends. scipy's, and IPOPT through cyipopt."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import Bounds, LbfgsInvHessProduct, minimize

from gridcore.errors import CaseError, MissingDependency

from .result import conditions_of

if TYPE_CHECKING:
    from .problem import Problem

Options = Mapping[str, Any]

# trust-constr ends with this status where all is well but constraints that are violated by more than `gtol`. That is
# zero here, so round-off of a constraint is enough ...
_VIOLATED = 4
# ... and a violation, scaled, up to this is none.
_FEASIBLE = 1e-9
# Steps that are small because trials fail so near, scaled, say nothing of an optimum ...
_NEAR = 1e-4
# ... but the gradient does, of which no more than this is left at one, scaled.
_LEFT = 1e-6


@dataclass
class Ended:
    """How a solver ended.

    Attributes
    ----------
    z : (n,) array
        Scaled parameters.
    success : bool
    message : str
    iterates : list of (n,) array
        What it accepted, the start first.
    """

    z: np.ndarray
    success: bool
    message: str
    iterates: list[np.ndarray] = field(default_factory=list)


Solver = Callable[["Problem", Options], Ended]


def l_bfgs_b(problem: Problem, options: Options) -> Ended:
    """Limited-memory BFGS with bounds.

    Its line search compares values, and close to an optimum these differ by less than their round-off while the
    gradient still has ten digits. Where it ends for that reason it is started once more, with what there is left to
    gain in the quadratic model, ``g' H^-1 g / 2``, in place of the value; H^-1 is its own approximation.
    """
    if problem.names:
        raise CaseError("L-BFGS-B has no constraints but bounds: use SLSQP, trust-constr or ipopt")
    chosen = {"maxiter": 200, "ftol": 0.0, "gtol": 1e-8, "maxcor": 20, **options}
    iterates = [problem.z0]

    def run(value: Callable[[np.ndarray], float], z: np.ndarray, iterations: int) -> Any:
        return minimize(value, z, jac=problem.gradient, method="L-BFGS-B", callback=_note(iterates),
                        bounds=_bounds(problem), options={**chosen, "maxiter": iterations})

    result = run(problem.value, problem.z0, chosen["maxiter"])
    slope, inverse = problem.projected(result.x), _inverse_hessian(problem, iterates)
    if slope > chosen["gtol"] and result.nit < chosen["maxiter"] and inverse is not None:
        free = (result.x > problem.z_low) & (result.x < problem.z_high)

        def to_gain(z: np.ndarray) -> float:
            g = problem.gradient(z) * free
            return 0.5 * float(g @ (inverse @ g))

        again = run(to_gain, result.x, chosen["maxiter"] - result.nit)
        if problem.projected(again.x) < slope:
            result = again
    success = problem.projected(result.x) <= chosen["gtol"]
    message = ("the gradient is within its tolerance" if success else str(result.message) if result.status != 2 else
               "the line search finds nothing better: differences are round-off by now, or there is a kink")
    return Ended(result.x, success, message, iterates)


def slsqp(problem: Problem, options: Options) -> Ended:
    """Sequential quadratic programming (Kraft)."""
    iterates = [problem.z0]
    equal = problem.low == problem.high
    parts = [("eq", equal, 1.0, problem.low), ("ineq", np.isfinite(problem.low) & ~equal, 1.0, problem.low),
             ("ineq", np.isfinite(problem.high) & ~equal, -1.0, problem.high)]
    constraints = [
        {"type": kind, "fun": lambda z, r=rows, side=side, limit=limit: side * (problem.constraints(z) - limit)[r],
         "jac": lambda z, r=rows, side=side: side * problem.jacobian(z)[r]}
        for kind, rows, side, limit in parts if rows.any()]
    result = minimize(problem.value, problem.z0, jac=problem.gradient, method="SLSQP", bounds=_bounds(problem),
                      constraints=constraints, callback=_note(iterates),
                      options={"maxiter": 200, "ftol": 1e-10, **options})
    if _fails_beside(problem, result.x):
        return Ended(result.x, False, "trials fail right beside: steps are small for that, not at an optimum", iterates)
    return Ended(result.x, bool(result.success), str(result.message), iterates)


def trust_constr(problem: Problem, options: Options) -> Ended:
    """Trust-region interior point (Byrd, Hribar, Nocedal; Conn, Gould, Toint).

    It ends by its trust region, because its test of the gradient passes before its barrier has gone. A trial that
    failed is infinitely bad: values are compared with the barrier added, which may gain more than a stand-in is worse.
    """
    from scipy.optimize import BFGS, NonlinearConstraint

    iterates = [problem.z0]
    constraints = [NonlinearConstraint(problem.constraints, problem.low, problem.high, jac=problem.jacobian,
                                       hess=BFGS())] if problem.names else []
    note = _note(iterates)

    def value(z: np.ndarray) -> float:
        return np.inf if problem.at(z).failed else problem.value(z)

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "delta_grad == 0.0")  # what is linear is no mistake
        result = minimize(value, problem.z0, jac=problem.gradient, hess=BFGS(), method="trust-constr",
                          bounds=_bounds(problem), constraints=constraints, callback=lambda xk, _state: note(xk),
                          options={"maxiter": 500, "gtol": 0.0, "xtol": 1e-9, "barrier_tol": 1e-10, **options})
    converged = result.status in (1, 2) or (result.status == _VIOLATED and result.constr_violation <= _FEASIBLE)
    message = "the trust region is as small as asked" if converged else str(result.message)
    if _fails_beside(problem, result.x):
        converged, message = False, "trials fail right beside: the trust region is small for that, not at an optimum"
    return Ended(result.x, converged, message, iterates)


def ipopt(problem: Problem, options: Options) -> Ended:
    """Interior point with a filter line search (Waechter, Biegler), through cyipopt."""
    try:
        import cyipopt
    except ImportError:
        raise MissingDependency("ipopt needs the package cyipopt: 'conda install -c conda-forge cyipopt', or where the "
                                "library IPOPT is installed 'pip install cyipopt'") from None

    class Functions:
        """What IPOPT asks for; it takes a shorter step where a trial failed."""

        def __init__(self) -> None:
            self.iterates = [problem.z0]
            self.last = problem.z0

        def objective(self, z: np.ndarray) -> float:
            self._there(z)
            return problem.value(z)

        def gradient(self, z: np.ndarray) -> np.ndarray:
            self._there(z)
            self.last = z.copy()
            return problem.gradient(z)

        def constraints(self, z: np.ndarray) -> np.ndarray:
            self._there(z)
            return problem.constraints(z)

        def jacobian(self, z: np.ndarray) -> np.ndarray:
            self._there(z)
            return problem.jacobian(z).ravel()

        def intermediate(self, _mode: int, count: int, *_: float) -> bool:
            if count:
                self.iterates.append(self.last)
            return True

        @staticmethod
        def _there(z: np.ndarray) -> None:
            if problem.at(z).failed:
                raise cyipopt.CyIpoptEvaluationError

    functions = Functions()
    infinite = 2e19  # IPOPT's: no bound
    nlp = cyipopt.Problem(
        n=len(problem.z0), m=len(problem.names), problem_obj=functions,
        **{name: np.nan_to_num(getattr(problem, of), posinf=infinite, neginf=-infinite)
           for name, of in (("lb", "z_low"), ("ub", "z_high"), ("cl", "low"), ("cu", "high"))})
    for name, value in {"hessian_approximation": "limited-memory", "nlp_scaling_method": "none", "print_level": 0,
                        "sb": "yes", "bound_relax_factor": 0.0, "max_iter": 200, "tol": 1e-8, **options}.items():
        nlp.add_option(name, value)
    z, info = nlp.solve(problem.z0)
    return Ended(np.asarray(z), info["status"] in (0, 1), info["status_msg"].decode(), functions.iterates)


SOLVERS: dict[str, Solver] = {"L-BFGS-B": l_bfgs_b, "SLSQP": slsqp, "trust-constr": trust_constr, "ipopt": ipopt}


def _inverse_hessian(problem: Problem, iterates: Sequence[np.ndarray]) -> Any:
    """The limited-memory approximation from accepted points, as an operator; None where they say nothing of it."""
    points = [z for z in iterates if not problem.at(z).failed]
    pairs = [(b - a, problem.gradient(b) - problem.gradient(a)) for a, b in itertools.pairwise(points)]
    kept = [(s, y) for s, y in pairs if s @ y > 1e-10 * np.linalg.norm(s) * np.linalg.norm(y)]
    return LbfgsInvHessProduct(*(np.array(part) for part in zip(*kept, strict=True))) if kept else None


def _fails_beside(problem: Problem, z: np.ndarray) -> bool:
    """Whether trials fail so near that a solver can go no farther, where there is no optimum."""
    end, scale = problem.at(z), problem.parameters.scale
    near = any(trial.failed and np.abs((trial.x - end.x) / scale).max() <= _NEAR for trial in problem.trials)
    return near and (bool(end.failed) or conditions_of(problem, end)[1] > _LEFT)


def _bounds(problem: Problem) -> Bounds:
    return Bounds(problem.z_low, problem.z_high)


def _note(iterates: list[np.ndarray]) -> Callable[[np.ndarray], None]:
    return lambda xk: iterates.append(np.array(xk))
