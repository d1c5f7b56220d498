"""Objectives: numbers made of a run, and their partial derivatives on it.

An objective is a plain numpy function of named quantities, ``lambda v: v["GEN2", "omega"]``, traced once
and differentiated like a device; and a way to take it: at the end, integrated, or at given times.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..contract import Path, Scope
from ..equations import BASE, numpy_on_symbols
from ..errors import CaseError
from ..kept import KeptFor
from .quadrature import Sampling, Steps, Taken
from .same_function import fingerprint

if TYPE_CHECKING:
    from ..equilibrium import Equilibrium
    from ..results import Run

Function = Callable[[Any], Any]
_joined: KeptFor[tuple[ca.Function, np.ndarray, np.ndarray, np.ndarray]] = KeptFor("objectives")
_mapped: KeptFor[tuple[ca.Function, ca.Function]] = KeptFor("objectives_at_points")


class Objective(ABC):
    """A number made of a run. A kind of one's own says its value and its partial derivatives on the run.

    They add up, also of different kinds: ``Integral(f) + 2.0 * Terminal(g)``.
    """

    name: str = ""
    unit: str = ""

    @abstractmethod
    def value(self, run: Run) -> float:
        """The number."""

    @abstractmethod
    def weights(self, run: Run) -> Partials:
        """Its derivatives in entries of Z at the points of the run, each point at its own time."""

    @abstractmethod
    def clocks(self, run: Run, moving: bool = True) -> Mapping[int, float]:
        """Its derivatives in the times of points, by clock (``run.tape.clocks``); empty where it has none.

        Parameters
        ----------
        moving : bool
            Whether points move with their clocks, and the states that `weights` is about with them, as under the
            jump rule ``discrete``. Otherwise states are those at fixed times, as under ``continuous``, and only
            what the times change by themselves counts: the bounds of an integral.
        """

    def terms(self) -> list[tuple[float, Objective]]:
        """The sum that it is: factors and simple objectives."""
        return [(1.0, self)]

    @staticmethod
    def together(run: Run, terms: Sequence[Term], tally: Tally) -> None:
        """Add several terms that share this function to a tally; a kind whose objectives share work has its own."""
        for term in terms:
            partials = term.objective.weights(run)
            tally.values[term.owner] += term.factor * term.objective.value(run)
            tally.at_points(np.full(len(partials.at), term.owner), partials.at, term.factor * partials.points)
            for clock, amount in term.objective.clocks(run, tally.moving).items():
                tally.at_clock(term, clock, amount)

    def __add__(self, other: Objective) -> Sum:
        return Sum(self.terms() + other.terms(), self.name or other.name)

    def __mul__(self, factor: float) -> Sum:
        return Sum([(factor * f, o) for f, o in self.terms()], self.name)

    __rmul__ = __mul__


@dataclass
class Partials:
    """Derivatives of an objective in what it reads of a run.

    Attributes
    ----------
    at : (entries,) int array
        Positions in Z: ``run.system.layout.address("GEN2.omega")``.
    points : (points, entries) array
        The derivative in each, at each point of the run.
    """

    at: np.ndarray
    points: np.ndarray


@dataclass
class Term:
    """One simple objective of those that are evaluated: the number of the one it belongs to, and its factor there."""

    owner: int
    factor: float
    objective: Any


class Tally:
    """Values and derivatives of objectives as they add up.

    Attributes
    ----------
    values : (objectives,) array
    moving : bool
        See :meth:`Objective.clocks`.
    """

    def __init__(self, count: int, moving: bool):
        self.values, self.moving = np.zeros(count), moving
        self._clocks: dict[int, np.ndarray] = {}
        self._blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def at_points(self, row: np.ndarray, at: np.ndarray, points: np.ndarray) -> None:
        """Add derivatives at points: objective (entries,), position in Z (entries,), and values (points, entries)."""
        self._blocks.append((row, at, points))

    def at_clock(self, term: Term, clock: int, amount: float) -> None:
        """Add a term's derivative in the time of a clock."""
        self._clocks.setdefault(clock, np.zeros(len(self.values)))[term.owner] += term.factor * amount

    def weights(self, run: Run) -> Weights:
        """All of it."""
        none = np.zeros(0, dtype=int)
        rows, ats, points = zip((none, none, np.zeros((len(run.t), 0))), *self._blocks)
        return Weights(self.values, np.concatenate(rows), np.concatenate(ats), np.concatenate(points, axis=1),
                       list(self._clocks.items()))


class _Evaluated(Objective):
    """Base of objectives that :func:`evaluate` takes in parts or together with others: alone, it is asked for one."""

    def value(self, run: Run) -> float:
        return float(evaluate(run, [self]).values[0])

    def weights(self, run: Run) -> Partials:
        found = evaluate(run, [self])
        return Partials(found.at, found.points)

    def clocks(self, run: Run, moving: bool = True) -> Mapping[int, float]:
        return {clock: float(amount[0]) for clock, amount in evaluate(run, [self], moving).clocks}


@dataclass
class Sum(_Evaluated):
    """A weighted sum of objectives."""

    parts: list[tuple[float, Objective]]
    name: str = ""
    unit: str = ""

    def terms(self) -> list[tuple[float, Objective]]:
        return self.parts


class Pointwise(_Evaluated):
    """Base of objectives of a function of named quantities, which is traced and differentiated at every point.

    A kind of one's own says by :meth:`take` how values at points become a number.
    """

    function: Function

    @abstractmethod
    def take(self, points: Points, r: np.ndarray) -> Taken:
        """The number that becomes of the values `r`, (points,), of the function."""

    @staticmethod
    def together(run: Run, terms: Sequence[Term], tally: Tally) -> None:
        """All functions are traced as one."""
        traced = trace(run, [term.objective for term in terms])
        sums, points = np.zeros((len(run.t), len(traced.row))), Points(run, tally.moving)
        for place, term in enumerate(terms):
            mine = np.flatnonzero(traced.row == place)
            taken = term.objective.take(points, traced.values[:, place])
            tally.values[term.owner] += term.factor * taken.value
            weight = term.factor * taken.weight
            sums[:, mine] += weight[:, None] * traced.gradients[:, mine]
            for clock, amount in taken.clocks:
                tally.at_clock(term, clock, amount)
        owner = np.array([term.owner for term in terms])
        tally.at_points(owner[traced.row], traced.at, sums)


@dataclass
class Terminal(Pointwise):
    """``function`` at the end of the run."""

    function: Function
    name: str = ""
    unit: str = ""

    def take(self, points: Points, r: np.ndarray) -> Taken:
        weight = np.zeros(len(r))
        weight[-1] = 1.0
        return Taken(r[-1], weight)


@dataclass
class Integral(Pointwise):
    """The time integral of ``function``, by the rule of the method on the steps of the run."""

    function: Function
    name: str = ""
    unit: str = ""

    def take(self, points: Points, r: np.ndarray) -> Taken:
        return points.steps.quadrature(r, points.moving)


@dataclass(init=False)
class Sampled(Pointwise):
    """``sum_i weights_i (function(t_i) - data_i)^2``, by linear interpolation between points of the run.

    Parameters
    ----------
    times : (samples,) array (s)
    function : callable
    data, weights : (samples,) arrays or numbers, optional
        Zero and one by default.
    """

    times: Sequence[float] | np.ndarray
    function: Function
    data: Any
    factors: Any
    name: str
    unit: str

    def __init__(self, times: Sequence[float] | np.ndarray, function: Function, data: Any = 0.0, weights: Any = 1.0,
                 name: str = "", unit: str = ""):
        self.times, self.function, self.data, self.factors = times, function, data, weights
        self.name, self.unit = name, unit

    def take(self, points: Points, r: np.ndarray) -> Taken:
        at = Sampling.of(points.run, self.times)
        factors = np.broadcast_to(np.asarray(self.factors, dtype=float), at.k.shape)
        data = np.broadcast_to(np.asarray(self.data, dtype=float), at.k.shape)
        if not np.isfinite(data).all():
            raise CaseError(f"the data of a sampled objective have {int((~np.isfinite(data)).sum())} values that are "
                            "not finite")
        error = at.values(r) - data
        return at.take(r, float(factors @ error**2), 2 * factors * error, points.moving)


@dataclass(init=False)
class At(Pointwise):
    """``sum_i weights_i function(t_i)``, by linear interpolation between points of the run.

    Parameters
    ----------
    times : (samples,) array (s)
    function : callable
    weights : (samples,) array or number, optional
        One by default.
    """

    times: Sequence[float] | np.ndarray
    function: Function
    factors: Any
    name: str
    unit: str

    def __init__(self, times: Sequence[float] | np.ndarray, function: Function, weights: Any = 1.0, name: str = "",
                 unit: str = ""):
        self.times, self.function, self.factors, self.name, self.unit = times, function, weights, name, unit

    def take(self, points: Points, r: np.ndarray) -> Taken:
        at = Sampling.of(points.run, self.times)
        factors = np.broadcast_to(np.asarray(self.factors, dtype=float), at.k.shape)
        return at.take(r, float(factors @ at.values(r)), factors, points.moving)


@dataclass
class Points:
    """The points of a run, for :meth:`Pointwise.take`; `moving` as in :meth:`Objective.clocks`."""

    run: Run
    moving: bool

    @cached_property
    def steps(self) -> Steps:
        """The steps between them."""
        return Steps.of(self.run)


class _Named:
    """What an objective's function gets: ``v["GEN2", "omega"]``, as symbols that stand for entries of Z."""

    def __init__(self, system: Equilibrium):
        self.system = system
        self.symbols: dict[int, ca.SX] = {}

    def __getitem__(self, key: tuple[str, str]) -> ca.SX:
        if not (isinstance(key, tuple) and len(key) == 2):
            raise CaseError(f"{key!r}: quantities are named by a pair, v['GEN2', 'omega']")
        device, name = key
        layout = self.system.layout
        if device == BASE and name in layout.globals:
            return self._symbol(layout.globals[name])
        number, member = self.system.system.locate(device)
        group = layout.groups[number]

        def lookup(path: Path, symbol: str) -> ca.SX:
            return self._symbol(int(layout.gather(group, path, symbol)[member]))

        return Scope(group.shape, lookup).value((), name)

    def _symbol(self, at: int) -> ca.SX:
        """What stands for an entry of Z."""
        if at not in self.symbols:
            self.symbols[at] = ca.SX.sym(f"z{at}")
        return self.symbols[at]


@dataclass
class Weights:
    """Values and gradients of a set of objectives on a run, ready for a sweep.

    Attributes
    ----------
    values : (objectives,) array
    row, at : (entries,) arrays
        Objective and position in Z of each entry of the gradients.
    points : (points, entries) array
        What each objective's derivative in Z at each point adds up to, all weights included.
    clocks : list of (clock, (objectives,) array)
        Derivatives in the times of points.
    """

    values: np.ndarray
    row: np.ndarray
    at: np.ndarray
    points: np.ndarray
    clocks: list[tuple[int, np.ndarray]] = field(default_factory=list)

    def parameters(self, system: Equilibrium) -> list[int]:
        """Positions in Z of the parameters that the objectives read."""
        end = system.n + system.layout.n_p
        return sorted({int(at) for at in self.at if system.n <= at < end})


def evaluate(run: Run, objectives: Sequence[Objective], moving: bool = True) -> Weights:
    """Values of objectives on a run, and their partial derivatives at every point of it.

    Parameters
    ----------
    moving : bool
        Whether a point moves with its clock, so that derivatives in its state follow it along the
        trajectory; otherwise they are those at a fixed time, and only the bounds of integrals move.
    """
    tally = Tally(len(objectives), moving)
    by_kind: dict[Callable[..., None], list[Term]] = {}
    for i, objective in enumerate(objectives):
        for factor, simple in objective.terms():
            by_kind.setdefault(simple.together, []).append(Term(i, factor, simple))
    for together, terms in by_kind.items():
        together(run, terms, tally)
    return tally.weights(run)


@dataclass
class Traced:
    """Functions at every point: values (points, functions), and gradient entries (points, entries) with
    the function (`row`) and the position in Z (`at`) of each.
    """

    values: np.ndarray
    gradients: np.ndarray
    row: np.ndarray
    at: np.ndarray


def trace(run: Run, terms: Sequence[Any]) -> Traced:
    """All functions as one, with its sparse Jacobian, at every point of the run."""
    function, at, row, column = functions(run.system, terms)
    count = len(run.t)
    _, everywhere = _mapped.get(run.system.system, (id(function), count), lambda: (function, function.map(count)))
    values, gradients = everywhere(run.read(at).T)
    return Traced(np.asarray(values).T, np.asarray(gradients).T.reshape(len(run.t), len(row)), row, at[column])


def functions(system: Equilibrium, terms: Sequence[Any]) -> tuple[ca.Function, np.ndarray, np.ndarray, np.ndarray]:
    """One function of entries of Z for the functions of all terms: (function, at, rows, columns).

    It gives their values and the entries of their gradient; `at` is where in Z its arguments stand.
    """
    wanted = [term.function for term in terms]
    prints = tuple(fingerprint(function) for function in wanted)
    if None in prints:
        return _traced(system, wanted)
    return _joined.get(system.system, prints, lambda: _traced(system, wanted))


def _traced(system: Equilibrium, functions: Sequence[Function]
            ) -> tuple[ca.Function, np.ndarray, np.ndarray, np.ndarray]:
    """One function of entries of Z for all, with its gradient's entries: (function, at, rows, columns)."""
    named = _Named(system)
    with numpy_on_symbols():
        outputs = ca.vertcat(*(ca.SX(function(named)) for function in functions))
    z = ca.vertcat(*named.symbols.values())
    jacobian = ca.jacobian(outputs, z)
    row, column = (np.array(part, dtype=int) for part in jacobian.sparsity().get_triplet())
    joined = ca.Function("objectives", [z], [ca.densify(outputs), ca.densify(jacobian.nz[:])])
    return joined, np.array(list(named.symbols), dtype=int), row, column
