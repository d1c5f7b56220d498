"""Objectives: numbers made of a run, and their partial derivatives on it.

An objective is a plain numpy function of named quantities, ``lambda v: v["GEN2", "omega"]``, traced once
and differentiated like a device; and a way to take it: at the end, integrated, or at given times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..contract.scope import Path, Scope
from ..equations.layout import BASE
from ..equations.trace import numpy_on_symbols
from ..errors import CaseError
from ..integrate.base import made_by
from ..kept import KeptFor
from ..tape.records import Step
from .same_function import fingerprint

if TYPE_CHECKING:
    from ..equilibrium.equilibrium import Equilibrium
    from ..results.run import Run

Function = Callable[[Any], Any]
_joined: KeptFor[tuple[ca.Function, np.ndarray, np.ndarray, np.ndarray]] = KeptFor("objectives")
_mapped: KeptFor[tuple[ca.Function, ca.Function]] = KeptFor("objectives_at_points")


class Objective:
    """Base of objectives; they add up: ``Integral(f) + 2.0 * Terminal(g)``."""

    name: str = ""
    unit: str = ""

    def terms(self) -> list[tuple[float, Objective]]:
        """The sum that it is: factors and simple objectives."""
        return [(1.0, self)]

    def __add__(self, other: Objective) -> Sum:
        return Sum(self.terms() + other.terms(), self.name or other.name)

    def __mul__(self, factor: float) -> Sum:
        return Sum([(factor * f, o) for f, o in self.terms()], self.name)

    __rmul__ = __mul__


@dataclass
class Sum(Objective):
    """A weighted sum of objectives."""

    parts: list[tuple[float, Objective]]
    name: str = ""
    unit: str = ""

    def terms(self) -> list[tuple[float, Objective]]:
        return self.parts


@dataclass
class Terminal(Objective):
    """``function`` at the end of the run."""

    function: Function
    name: str = ""
    unit: str = ""


@dataclass
class Integral(Objective):
    """The time integral of ``function``, by the rule of the method on the steps of the run."""

    function: Function
    name: str = ""
    unit: str = ""


@dataclass
class Sampled(Objective):
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
    data: Any = 0.0
    weights: Any = 1.0
    name: str = ""
    unit: str = ""


@dataclass
class At(Objective):
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
    weights: Any = 1.0
    name: str = ""
    unit: str = ""


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
    terms = [(i, factor, term) for i, o in enumerate(objectives) for factor, term in o.terms()]
    traced = trace(run, [term for _, _, term in terms])
    values = np.zeros(len(objectives))
    points = np.zeros((len(run.t), len(traced.row)))
    clocks: dict[int, np.ndarray] = {}
    steps = _Steps.of(run)

    def add_to_clock(i: int, factor: float, number: int, amount: float) -> None:
        clocks.setdefault(number, np.zeros(len(objectives)))[i] += factor * amount

    for place, (i, factor, term) in enumerate(terms):
        mine, r = np.flatnonzero(traced.row == place), traced.values[:, place]
        weight = np.zeros(len(run.t))
        if isinstance(term, Terminal):
            values[i] += factor * r[-1]
            weight[-1] = factor
        elif isinstance(term, Integral):
            values[i] += factor * steps.quadrature(r, partial(add_to_clock, i, factor), moving)
            weight = factor * steps.weight
        elif isinstance(term, Sampled | At):
            values[i] += factor * _samples(run, term, r, weight, partial(add_to_clock, i, factor) if moving else None)
            weight *= factor
        else:
            raise CaseError(f"{term!r} is not an objective")
        points[:, mine] += weight[:, None] * traced.gradients[:, mine]
    owner = np.array([i for i, _, _ in terms])
    return Weights(values, owner[traced.row], traced.at, points, list(clocks.items()))


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


@dataclass
class _Steps:
    """The steps of a run as arrays, and the weights of its quadrature at the points."""

    k: np.ndarray
    h: np.ndarray
    clocked: list[Step]
    ends: list[float]
    weight: np.ndarray

    @classmethod
    def of(cls, run: Run) -> _Steps:
        steps = [record for record in run.tape.records if isinstance(record, Step)]
        k, h = np.array([s.k for s in steps], dtype=int), np.array([s.h for s in steps])
        ends = [made_by(method).end_weight for method in run.tape.methods]
        end = np.array(ends)[[s.method for s in steps]]
        weight = np.zeros(len(run.t))
        np.add.at(weight, k, h * (1 - end))
        np.add.at(weight, k + 1, h * end)
        return cls(k, h, [s for s in steps if s.start or s.end], ends, weight)

    def quadrature(self, r: np.ndarray, clock: Callable[[int, float], None], moving: bool) -> float:
        """The integral of `r`; `clock` is told its derivatives in the times of the steps' ends."""
        for step in self.clocked:
            end = self.ends[step.method]
            mean = (1 - end) * r[step.k] + end * r[step.k + 1]
            if step.end:
                clock(step.end, mean if moving else r[step.k + 1])
            if step.start:
                clock(step.start, -mean if moving else -r[step.k])
        return float(self.weight @ r)


@dataclass
class Sampling:
    """Where given times fall on a run, for linear interpolation between its points.

    At an instant at which something switched it is the value before.

    Attributes
    ----------
    k : (samples,) int array
        The point before each time; it lies between this one and the next.
    part : (samples,) array
        How far on the way to the next, 0 to 1.
    h : (samples,) array
        The time between the two (s).
    start, end : (samples,) int arrays
        Their clocks.
    """

    k: np.ndarray
    part: np.ndarray
    h: np.ndarray
    start: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, run: Run, times: Sequence[float] | np.ndarray) -> Sampling:
        """Times on a run.

        Raises
        ------
        CaseError
            If one is no number, or outside the run.
        """
        times = np.asarray(times, dtype=float)
        outside = times[~((times >= run.t[0]) & (times <= run.t[-1]))]
        if len(outside):
            raise CaseError(f"sample time {outside[0]:g} s is outside the run ({run.t[0]:g} to {run.t[-1]:g} s)")
        steps = [record for record in run.tape.records if isinstance(record, Step) and record.h > 0]
        ends = run.t[[s.k + 1 for s in steps]]
        chosen = np.minimum(np.searchsorted(ends, times), len(steps) - 1)
        k, start, end = (np.array([getattr(s, name) for s in steps], dtype=int)[chosen]
                         for name in ("k", "start", "end"))
        h = np.array([s.h for s in steps])[chosen]
        return cls(k, (times - run.t[k]) / h, h, start, end)

    def values(self, r: np.ndarray) -> np.ndarray:
        """Values at the times, from those at all points of the run: (points, ...) to (samples, ...)."""
        part = self.part.reshape(-1, *[1] * (r.ndim - 1))
        return (1 - part) * r[self.k] + part * r[self.k + 1]


def _samples(run: Run, term: Sampled | At, r: np.ndarray, weight: np.ndarray,
             clock: Callable[[int, float], None] | None) -> float:
    """A sum over samples; its derivatives at the points go to `weight`, those in the times of points to `clock`."""
    at = Sampling.of(run, term.times)
    values, factors = at.values(r), np.broadcast_to(np.asarray(term.weights, dtype=float), at.k.shape)
    if isinstance(term, At):
        total, slope = float(factors @ values), factors
    else:
        data = np.broadcast_to(np.asarray(term.data, dtype=float), at.k.shape)
        if not np.isfinite(data).all():
            raise CaseError(f"the data of a sampled objective have {int((~np.isfinite(data)).sum())} values that are "
                            "not finite")
        error = values - data
        total, slope = float(factors @ error**2), 2 * factors * error
    np.add.at(weight, at.k, slope * (1 - at.part))
    np.add.at(weight, at.k + 1, slope * at.part)
    along = slope * (r[at.k + 1] - r[at.k]) / at.h
    if clock is not None:
        for i in np.flatnonzero(at.start | at.end):
            if at.start[i]:
                clock(int(at.start[i]), along[i] * (at.part[i] - 1))
            if at.end[i]:
                clock(int(at.end[i]), -along[i] * at.part[i])
    return total
