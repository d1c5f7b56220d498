"""Parameters that make an objective least, within limits: what gradients are for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from gridcore.case import Address, Case
from gridcore.commands import Progress
from gridcore.equilibrium import Equilibrium, as_system
from gridcore.errors import CaseError
from gridcore.suggest import suggest
from gridcore.tape import Spacing

from .measures import Constraint, Measure, Simulation, objectives_of
from .parameters import Pair, Parameters
from .problem import Problem, Trial
from .result import Optimum, optimum
from .solvers import SOLVERS, Ended


def optimise(system: Equilibrium | Case | str, objective: Any, wrt: Address | Iterable[Address], *,
             t_end: float | str | None = None, step: Spacing = 0.01,
             constraints: Constraint | Sequence[Constraint] = (), bounds: Mapping[Any, Pair] | Pair | None = None,
             scale: Mapping[Any, float] | float | None = None,
             method: str | Callable[[Problem, Mapping[str, Any]], Ended] | None = None,
             options: Mapping[str, Any] | None = None, simulate: Mapping[str, Any] | None = None,
             adjoint: Mapping[str, Any] | None = None, tell: Callable[[Trial], None] | None = None) -> Optimum:
    """Minimise an objective over parameters of a system, with exact gradients.

    A trial is one power flow, initialisation, simulation and adjoint, shared by the objective and all constraints; the
    equations are not traced again. One that fails, because power flow, initialisation or simulation do, is a step too
    far: the solver takes a shorter one.

    Parameters
    ----------
    system : Equilibrium, Case or str
        From whose parameters it starts.
    objective : Objective, sequence of Objective, or Measure
        What becomes least; of several objectives the sum.
    wrt : str or iterable of str
        Parameters that the case gives, by address and pattern: dispatch (through the power flow), devices, event times.
    t_end, step
        Of the simulation (s), as in :func:`gridcore.simulate`; not needed where everything is a Measure.
    constraints : Constraint or sequence of Constraint
    bounds : (low, high), or mapping of patterns to (low, high), optional
        In the parameters' units, or texts with one: ``("100 ms", 0.3)``; None for no bound. The ranges that devices
        declare hold in any case.
    scale : float, or mapping of patterns to float, optional
        Size of a usual change of a parameter, with which a solver begins: a tenth of the start; where that is
        zero a tenth of the width of the bounds, or 1.
    method : str or callable, optional
        ``"L-BFGS-B"`` (default without constraints), ``"SLSQP"`` (default with), ``"trust-constr"``, ``"ipopt"``; or a
        function of problem and options.
    options : mapping, optional
        The solver's own. Tolerances are relative: objective and constraints are divided by the largest entries of their
        gradients at the start.
    simulate, adjoint : mapping, optional
        Further arguments of :func:`gridcore.simulate` and :func:`gridcore.adjoint`.
    tell : callable, optional
        Is given each :class:`Trial`.

    Returns
    -------
    Optimum

    Raises
    ------
    CaseError
        For names that match nothing, limits that contradict each other, an unknown method.
    GridcoreError
        If the start itself cannot be simulated.
    MissingDependency
        For ``"ipopt"`` without cyipopt.
    """
    system = as_system(system)
    constraints = list(constraints) if isinstance(constraints, Iterable) else [constraints]
    for constraint in constraints:
        if not isinstance(constraint, Constraint):
            raise CaseError(f"{constraint!r} is not a Constraint: write Constraint(objective, high=limit)")
    if not isinstance(options or {}, Mapping):
        raise CaseError(f"options = {options!r} must be a table: {{'maxiter': 50}}")
    solver, name = _solver(method or ("SLSQP" if constraints else "L-BFGS-B"))
    parameters = Parameters.of(system, wrt, bounds, scale)
    unit = "" if isinstance(objective, Measure) else objectives_of(objective)[0].unit
    with Progress("optimising"):
        made = partial(_simulation, t_end, step, simulate or {}, adjoint or {})
        problem = Problem(system, parameters, objective, constraints, made, tell)
        return optimum(problem, solver(problem, options or {}), name, unit)


def _simulation(t_end: float | str | None, step: Spacing, simulate: Mapping[str, Any], adjoint: Mapping[str, Any],
                objectives: Sequence[Any]) -> Simulation:
    if t_end is None:
        raise CaseError("t_end is missing: how long is the simulation whose objectives are meant?")
    return Simulation(objectives, t_end, step, simulate, adjoint)


def _solver(method: Any) -> tuple[Any, str]:
    if callable(method):
        return method, getattr(method, "__name__", type(method).__name__)
    if method not in SOLVERS:
        raise CaseError(f"no method '{method}'{suggest(method, SOLVERS)}")
    return SOLVERS[method], method
