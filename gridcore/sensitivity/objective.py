"""Objectives: numbers made of a run, and their partial derivatives on it.

An objective is a plain numpy function of named quantities, ``lambda v: v["GEN2", "omega"]``, traced once
and differentiated like a device; and a way to take it: at the end, integrated, or at given times.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import CaseError
from ..results import Run, Stretch
from .quadrature import Points, Sampling, Taken
from .traced import Function, Joint, Traced, joint_function, trace

if TYPE_CHECKING:
    from ..case import Base
    from ..equilibrium import Equilibrium

_TOGETHER = 1 << 21  # values of functions at all points that are kept together


class Objective(ABC):
    """A number made of a run. A kind of one's own says its value and its partial derivatives on the run.

    They add up, also of different kinds: ``Integral(f) - 2.0 * Terminal(g)``, ``sum([f, g])``.

    Attributes
    ----------
    name, unit : str
    base : Base, optional
        What per unit refers to, where that is known.
    times : array
        Times at which it reads the run (s), if there are such: an event there moves only to one side of them.
    """

    name: str = ""
    unit: str = ""
    base: Base | None = None
    times: ArrayLike = ()

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

    def integrand(self) -> Function | None:
        """The function of named quantities that it is the time integral of, if it is one.

        An adjoint of the continuous system integrates that by a rule of its own.
        """
        return None

    def __add__(self, other: Objective) -> Sum:
        return Sum(self.terms() + other.terms(), self.name or other.name) if isinstance(other, Objective) \
            else NotImplemented

    def __radd__(self, zero: float) -> Objective:  # where sum() begins
        return self if zero == 0 else NotImplemented

    def __mul__(self, factor: float) -> Sum:
        return Sum([(float(factor) * f, o) for f, o in self.terms()], self.name) if isinstance(factor, Real) \
            else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Sum:
        return Sum([(f / float(divisor), o) for f, o in self.terms()], self.name)

    def __neg__(self) -> Sum:
        return -1.0 * self

    def __sub__(self, other: Objective) -> Sum:
        return self + -other


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


class _Evaluated(Objective):
    """Base of the objectives whose parts :func:`evaluate` finds: what is asked of one alone is asked there."""

    def value(self, run: Run) -> float:
        return float(evaluate(run, [self]).values[0])

    def weights(self, run: Run) -> Partials:
        found = evaluate(run, [self])
        return Partials(found.at, np.array([found.points[k] for k in range(len(run.t))]))

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

    A kind of one's own says by :meth:`take` how values at points become a number. The functions of all objectives that
    are evaluated together are traced as one.
    """

    function: Function

    @abstractmethod
    def take(self, points: Points, r: np.ndarray) -> Taken:
        """The number that becomes of the values `r`, (points,), of the function."""


@dataclass
class Terminal(Pointwise):
    """``function`` at the end of the run; `name`, and `unit` of its values, as of :class:`Integral`."""

    function: Function
    name: str = ""
    unit: str = ""

    def take(self, points: Points, r: np.ndarray) -> Taken:
        weight = np.zeros(len(r))
        weight[-1] = 1.0
        return Taken(r[-1], weight)


@dataclass
class Integral(Pointwise):
    """The time integral of ``function``, by the rule of the method on the steps of the run.

    Parameters
    ----------
    function : callable
        ``function(v)``, of quantities ``v["GEN2.omega"]`` in their units.
    name, unit : str
        What results call it, and the unit of its values: a second times that of ``function``.
    """

    function: Function
    name: str = ""
    unit: str = ""

    def integrand(self) -> Function:
        return self.function

    def take(self, points: Points, r: np.ndarray) -> Taken:
        return points.integral(r)


class At(Pointwise):
    """``sum_i weights_i function(t_i)``, between points of the run as the method says: on straight lines, mostly.

    Parameters
    ----------
    times : (samples,) array (s)
    function : callable
    weights : (samples,) array or number, optional
        One by default; `name` and `unit` as of :class:`Integral`.
    """

    def __init__(self, times: ArrayLike, function: Function, weights: ArrayLike = 1.0, name: str = "", unit: str = ""):
        self.function, self.factors, self.name, self.unit = function, weights, name, unit
        try:
            self.times, = np.atleast_2d(np.asarray(times, dtype=float))
        except (TypeError, ValueError):
            raise CaseError(f"times = {times!r} of a sampled objective must be numbers (s): [0.1, 0.2]") from None

    def take(self, points: Points, r: np.ndarray) -> Taken:
        at, factors = self._samples(points)
        return at.take(r, float(factors @ at.values(r)), factors, points.moving)

    def _samples(self, points: Points) -> tuple[Sampling, np.ndarray]:
        """Where the times fall on a run, and the weight of each."""
        at = Sampling.of(points.run, self.times)
        return at, _for_each(at, "weights", self.factors)


class Sampled(At):
    """``sum_i weights_i (function(t_i) - data_i)^2``, between points of the run as :class:`At` is.

    Parameters
    ----------
    times : (samples,) array (s)
    function : callable
    data, weights : (samples,) arrays or numbers, optional
        Zero and one by default; `name` and `unit` as of :class:`Integral`.
    """

    def __init__(self, times: ArrayLike, function: Function, data: ArrayLike = 0.0, weights: ArrayLike = 1.0,
                 name: str = "", unit: str = ""):
        super().__init__(times, function, weights, name, unit)
        self.data = data

    def take(self, points: Points, r: np.ndarray) -> Taken:
        at, factors = self._samples(points)
        data = _for_each(at, "data", self.data)
        if not np.isfinite(data).all():
            raise CaseError(f"the data of a sampled objective have {int((~np.isfinite(data)).sum())} values that are "
                            "not finite")
        error = at.values(r) - data
        return at.take(r, float(factors @ error**2), 2 * factors * error, points.moving)


def _for_each(samples: Sampling, what: str, values: ArrayLike) -> np.ndarray:
    """A number for each sample."""
    try:
        return np.broadcast_to(np.asarray(values, dtype=float), samples.at.shape[:1])
    except (TypeError, ValueError):
        raise CaseError(f"{what} of a sampled objective must be a number, or one for each of its "
                        f"{len(samples.at)} times") from None


@dataclass
class Evaluation:
    """Values and partial derivatives of a set of objectives on a run, ready for a sweep.

    Attributes
    ----------
    values : (objectives,) array
    row, at : (entries,) arrays
        Objective and position in Z of each entry.
    points : Derivatives
        ``points[k]`` are those at a point, (entries,): the sources of the adjoint, weights of quadratures included.
    nonzero : (points,) bool array
        Whether any is not zero there.
    clocks : list of (clock, (objectives,) array)
        Derivatives in the times of points.
    """

    values: np.ndarray
    row: np.ndarray
    at: np.ndarray
    points: Derivatives
    nonzero: np.ndarray
    clocks: list[tuple[int, np.ndarray]]

    def parameters(self, system: Equilibrium) -> list[int]:
        """Positions in Z of the parameters that the objectives read."""
        end = system.n + system.layout.n_p
        return sorted({int(at) for at in self.at if system.n <= at < end})


class Derivatives:
    """Derivatives of objectives at the points of a run, made for a part of it when one of its points is asked for."""

    def __init__(self, run: Run, make: Callable[[Stretch], np.ndarray]):
        self._run, self._make, self._first, self._rows = run, make, 0, np.zeros((0, 0))

    def __getitem__(self, k: int) -> np.ndarray:
        first, rows = self.around(k)
        return rows[k - first]

    def around(self, k: int) -> tuple[int, np.ndarray]:
        """The part in which point `k` is: number of its first point, and the derivatives there, (points, entries)."""
        if not self._first <= k < self._first + len(self._rows):
            self.see(self._run.around(k))
        return self._first, self._rows

    def see(self, part: Stretch) -> None:
        """Make those of a part."""
        self._first, self._rows = part.first, self._make(part)


def evaluate(run: Run, objectives: Sequence[Objective], moving: bool = True) -> Evaluation:
    """Values of objectives on a run, and their partial derivatives at every point of it.

    Parameters
    ----------
    moving : bool
        Whether a point moves with its clock, so that derivatives in its state follow it along the
        trajectory; otherwise they are those at a fixed time, and only the bounds of integrals move.

    Raises
    ------
    CaseError
        If a value or a derivative is not finite: with the objective, the quantity and the time.
    """
    count, values, clocks = len(run.t), np.zeros(len(objectives)), dict[int, np.ndarray]()
    rows, ats = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
    traced: list[tuple[_Together, np.ndarray]] = []
    given: list[tuple[float, Partials]] = []
    terms = [(owner, *term) for owner, objective in enumerate(objectives) for term in objective.terms()]
    pointwise = [(owner, factor, o) for owner, factor, o in terms if isinstance(o, Pointwise)]

    def add(owner: int, factor: float, value: float, moved: Iterable[tuple[int, float]]) -> None:
        values[owner] += factor * value
        for clock, amount in moved:
            clocks.setdefault(clock, np.zeros(len(objectives)))[owner] += factor * amount

    points, together = Points(run, moving), max(1, _TOGETHER // count)
    for some in (pointwise[first: first + together] for first in range(0, len(pointwise), together)):
        functions = _Together(joint_function(run.system, [o.function for _, _, o in some]))
        r = np.empty((count, len(some)))  # values, and in their place the weights of these
        run.stretches(lambda part, of=functions, r=r: r.__setitem__(part.points, of.trace(part).values))  # type: ignore
        with np.errstate(invalid="ignore"):  # what is not finite is refused
            for place, (owner, factor, o) in enumerate(some):
                taken = o.take(points, r[:, place])
                weight = factor * taken.weight
                counted = np.where(weight != 0.0, r[:, place], 0.0)[:, None]
                _need_finite(run, objectives, np.array([owner]), counted, "its value", run.t)
                r[:, place] = weight
                add(owner, factor, taken.value, taken.clocks)
        traced.append((functions, r))
        _, arguments, which, column = functions.joint
        rows.append(np.array([owner for owner, *_ in some])[which])
        ats.append(arguments[column])
    for owner, factor, simple in terms:
        if not isinstance(simple, Pointwise):
            partials = simple.weights(run)
            add(owner, factor, simple.value(run), simple.clocks(run, moving).items())
            given.append((factor, partials))
            rows.append(np.full(len(partials.at), owner))
            ats.append(partials.at)
    row, at, nonzero = np.concatenate(rows), np.concatenate(ats), np.zeros(count, dtype=bool)

    def derivatives(part: Stretch) -> np.ndarray:
        found = np.concatenate([np.zeros((len(part.t), 0)), *(_weighted(part, *functions) for functions in traced),
                                *(factor * partials.points[part.points] for factor, partials in given)], axis=1)
        _need_finite(run, objectives, row, found, "its derivative in {}", part.t, at)
        nonzero[part.points] = np.any(found, axis=1)
        return found

    points_of = Derivatives(run, derivatives)
    run.stretches(points_of.see)
    _need_finite(run, objectives, np.arange(len(values)), values[None], "its value")
    return Evaluation(values, row, at, points_of, nonzero, list(clocks.items()))


class _Together:
    """Functions that are evaluated together; what they are at the part of a run seen last is kept."""

    def __init__(self, joint: Joint):
        self.joint = joint
        self._seen: tuple[slice, Traced] | None = None

    def trace(self, part: Stretch) -> Traced:
        """The functions and their gradients at a part."""
        if self._seen is None or self._seen[0] != part.points:
            self._seen = part.points, trace(part, self.joint)
        return self._seen[1]


def _weighted(part: Stretch, functions: _Together, weights: np.ndarray) -> np.ndarray:
    """Weighted gradients of functions at a part of a run, (points, entries); what weighs nothing may be anything."""
    traced = functions.trace(part)
    used = weights[part.points, traced.row]
    return np.multiply(used, traced.gradients, out=np.zeros_like(used), where=used != 0.0)


def _need_finite(run: Run, objectives: Sequence[Objective], owners: np.ndarray, numbers: np.ndarray, what: str,
                 t: np.ndarray | None = None, at: np.ndarray | None = None) -> None:
    """Refuse (points, entries) numbers of objectives, by entry, that are not finite."""
    if np.isfinite(numbers).all():
        return
    k, entry = (int(place[0]) for place in np.nonzero(~np.isfinite(numbers)))
    owner = int(owners[entry])
    name = objectives[owner].name or f"objective {owner + 1}"
    quantity = run.system.layout.label(int(at[entry])) if at is not None else ""
    when = f" at {t[k]:.9g} s" if t is not None else ""
    raise CaseError(f"{name}: {what.format(quantity)} is {numbers[k, entry]}{when}")
