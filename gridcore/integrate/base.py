"""What an integrator is: one step at a time. Grid, events and their location are the driver's, for all of them.

Whoever writes an integrator derives from :class:`Stepper`, and from :class:`StepOperator` where its runs are to be
differentiated. ``docs/plugins.md`` has a complete one.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..equations import Batches, Workspace
from ..errors import CaseError, PluginError
from ..linear import Coefficients, Factors
from ..registry import registries as plugins
from ..suggest import suggest
from ..tape import Method, Step, Steps, Tape
from .interpolants import Between, hermite, lines

if TYPE_CHECKING:
    from .linearised import Linearised, Point
    from .locate import Crossing


@dataclass(slots=True)
class Advance:
    """What an advance has done.

    Attributes
    ----------
    t : float
        The time reached (s): the target, or less where the method ends its steps itself.
    rough : bool
        Whether the state is only near that of the target, since a guard of ``ws.guards`` fires on the way for certain:
        the driver ends the step there, or asks for :meth:`Stepper.state_at` the target.
    """

    t: float
    rough: bool = False


@dataclass(slots=True)
class Stretched:
    """Steps made at once: where the first one begins, and their ends, (steps + 1,) and (steps + 1, n). What stands in
    the workspace is the last of them; or the end of one more `ahead`, in which something may happen, as of an advance.
    """

    times: np.ndarray
    X: np.ndarray
    ahead: bool = False


class Stepper(ABC):
    """A one-step method, or what can be driven like one.

    The constructor takes the smallest step of the grid (s), and by keyword the options of the method: whatever stands
    in its signature is an option of :func:`gridcore.simulate` and of the command line.

    Attributes
    ----------
    name : str
        What ``gc.simulate(..., method=name)`` asks for.
    order : int
        Of convergence; where that changes, of the last step.
    exact_ends : bool
        Whether the end of a step solves the equations of the system to round-off; where it is an interpolant it solves
        them to a tolerance, and :meth:`state_at` is asked for it again before an event is believed.
    one_step : bool
        Whether nothing that happened before a restart matters after it, to the last bit, and a restart costs little:
        such runs can be recomputed from checkpoints.
    end_weight : float
        Quadrature weight of the end of a step in integrals along the run, if :meth:`between` says no other.
    makes_grid : bool
        Whether the ends of its steps are the grid of the run, which has no other points than its end.
    growth, share : float
        Where steps are chosen by their error: how many times as long as the last one may be; and how much of what is
        tolerated may be its error, with an rtol of 1e-3: there are many.
    chosen : mapping
        Defaults of options where steps are chosen by their error, in place of those of the signature.
    options : dict
        Those it has, as the tape tells them: here it leaves what else it chose, without which no step is repeated.
    """

    name: str
    order: int
    exact_ends: bool = True
    one_step: bool = True
    end_weight: float = 0.5
    makes_grid: bool = False
    growth: float = 5.0
    share: float = 0.3
    chosen: Mapping[str, Any] = {}
    options: dict[str, Any]

    @abstractmethod
    def restart(self, ws: Workspace, t: float) -> None:
        """Begin at time `t` from what stands in a workspace: at t0, and where state, parameters or modes have changed.

        ``ws.differential`` says which rows are differential from here on, ``ws.guards`` which guards would fire at a Z:
        a method that finds roots itself may end an advance just beyond the first of them.
        """

    def switch(self, ws: Workspace, t: float, jumped: bool) -> bool | None:
        """Modes or parameters have changed at time `t`; what earlier steps have left may serve on, of the state as long
        as it has not `jumped`. Returns whether steps may be as long as before. A restart, if a method says no other.
        """
        return self.restart(ws, t)

    def begins(self, bend: np.ndarray) -> int:
        """The order of a first step that is chosen by its error; slopes of differential variables change by `bend`."""
        return 1

    @abstractmethod
    def advance(self, t: float, target: float) -> Advance:
        """Go from `t`, whose state stands in the workspace, to `target` or less far.

        Leaves the state in ``ws.X``, the time in ``ws.Z[-1]``, and ``ws.mass`` and ``ws.c`` such that
        ``diag(mass) - diag(c) F_X`` is the Jacobian of its equations.

        Raises
        ------
        ConvergenceError
            If there is no solution: the driver may try again, from the same start to a nearer target.
        """

    @abstractmethod
    def state_at(self, t: float) -> None:
        """The state at `t`, between the start of the last advance and its end, as :meth:`advance` would leave it with
        `t` for a target. A guess stands in ``ws.X``. The next advance begins at the time asked for last.
        """

    def stretch(self, t: float, ends: np.ndarray, most: int, guards: Batches, sides: np.ndarray,
                choice: dict[str, float] | None = None) -> Stretched | None:
        """Several steps at once in which nothing happens: to the `ends` in order, at `most` so many; or by a `choice`,
        the numbers of :mod:`.control`, in which it leaves `h` and `before`, the step to the first of the ends `ahead`;
        of a first step `h` is 0. `sides` (k,) are the signs that `guards` have, 0 of those that cannot fire.

        There are fewer, or none, where :meth:`advance` has to go on; and None if there are none before a restart.
        """
        return None

    def interpolate(self, record: Step, points: Linearised, t: np.ndarray) -> np.ndarray:
        """(times, n) the differential variables at times `t` within the step of a record; the others are a first guess.

        By default on the cubic through both ends with the slopes there.
        """
        return hermite(record, points, t)

    def between(self, tape: Tape, k: np.ndarray) -> Between:
        """What integrals and samples take values to be within steps that begin at points `k` of a run."""
        return lines(tape.t, k, self.end_weight)

    def end_at_zero(self, t: float, guard: Crossing, low: float, high: float, side: float) -> float | None:
        """The step from the start of the last advance to where a guard crosses zero, as :meth:`advance` would leave it;
        None where the method does not look for that itself, or does not find it: the driver does then, by
        :meth:`state_at`.

        Parameters
        ----------
        t : float
            A guess of the time; one of the state stands in ``ws.X``.
        guard : Crossing
            Called, it gives its value at what stands in the workspace, columns and entries of its gradient, and its
            slope in time; ``guard.guard`` is its number. The guesses are on the straight line between ``guard.ends``.
        low, high : float
            Between which times it crosses.
        side : float
            The sign that it has after it.
        """
        return None

    def local_error(self) -> np.ndarray | None:
        """An estimate of the error that the last advance made, (n,), of algebraic variables, too.

        With it a method has ``step="auto"``: an advance whose error is too large is made again, from the same start to
        a nearer target. None while nothing is known, after a restart: such an advance is not tested.
        """
        return None

    def operator(self, record: Step, points: Linearised) -> StepOperator | None:
        """The step of a record, linearised; None where the method's runs cannot be differentiated."""
        return None

    def transpose(self, steps: Steps, sweep: Any) -> int | None:
        """Take a sweep of adjoints over the last of these steps at once, as each one's `operator` would, between points
        of the grid: over how many. None, where the method does not do so in this sweep.
        """
        return None

    def forward(self, steps: Steps, sweep: Any) -> np.ndarray | None:
        """The tangents of a sweep at the ends of the first of these steps, (steps, K, n); so, too."""
        return None

    @property
    def differentiable(self) -> bool:
        """Whether its runs can be differentiated."""
        return type(self).operator is not Stepper.operator

    @property
    def iterations(self) -> int:
        """The ``newton_iterations`` of its `counters`."""
        return self.counters["newton_iterations"]

    @property
    def counters(self) -> Counter[str]:
        """Work done so far: ``newton_iterations``, ``factorisations``, ``solves``, and what else is worth counting."""
        return Counter()


class Operator:
    """A linearised operation with factors of its own.

    Parameters
    ----------
    points : Linearised
    """

    _taken: tuple[Factors, ...] = ()

    def __init__(self, points: Linearised):
        self.points = points

    def factors(self, point: Point, of: Coefficients) -> Factors:
        """Factors of ``diag(m) - diag(c) J`` at a point, to be used by this operation as long as it lives.

        Raises
        ------
        ConvergenceError
            If the matrix is singular.
        """
        found = self.points.factors(point, of)
        self._taken += (found,)
        return found

    def __del__(self) -> None:
        for factors in self._taken:
            self.points.give_back(factors)


class StepOperator(Operator, ABC):
    """A step, linearised: its tangent and its transpose.

    Rows: ``dX`` (K, n) of the state, ``dP`` (K, n_c) of the carried parameters, ``dT`` (K,) of the times of the two
    ends. Of a method that is not `one_step` it may read where the last eight steps began since a start: it has numbers
    of these points in `past`, and (dX, dT) of each in `before`, put there for `forward`; `transpose` leaves adjoints.

    Parameters
    ----------
    record : Step
    points : Linearised
    """

    past: tuple[int, ...] = ()

    def __init__(self, record: Step, points: Linearised):
        self.points, self.record = points, record
        self.before: list[tuple[np.ndarray, np.ndarray]] = []

    @abstractmethod
    def forward(self, dX: np.ndarray, dP: np.ndarray, dT0: np.ndarray, dT1: np.ndarray) -> np.ndarray:
        """The tangent at the end of the step, (K, n)."""

    @abstractmethod
    def transpose(self, adjoint: np.ndarray, aP: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Adjoints of dX, dT0 and dT1 from that of the end; that of dP is added to `aP`."""

    def slope(self) -> np.ndarray:
        """How the end of the step moves with its time, (n,)."""
        n, one = self.points.n, np.ones(1)
        return self.forward(np.zeros((1, n)), np.zeros((1, self.points.width)), 0 * one, one)[0]


def new_stepper(name: str, step: float, options: Mapping[str, Any], chosen: bool = False) -> tuple[Stepper, Method]:
    """A stepper of a registered method, and what a tape says of it: with all its options, also those left to defaults,
    which may be others where steps are `chosen`.

    Raises
    ------
    PluginError
        If there is no such method, or what is registered is no :class:`Stepper`.
    CaseError
        If it has not such an option (the nearest ones are offered), or an option may not have that value.
    """
    make = plugins.integrators[name].make
    signature, options = _options(make), {**(getattr(make, "chosen", {}) if chosen else {}), **options}
    for option in options:
        if option not in signature.parameters:
            raise CaseError(f"method '{name}' has no option '{option}'{suggest(option, signature.parameters)}"
                            + "; step = 'auto' takes it" * (option in ("rtol", "atol", "max_step")))
    try:
        stepper = make(step, **options)
    except (TypeError, ValueError) as error:
        if not options:
            raise
        given = ", ".join(f"{option} = {value!r}" for option, value in options.items())
        raise CaseError(f"method '{name}' with {given}: {error}") from error
    if not isinstance(stepper, Stepper):
        raise PluginError(f"integrator '{name}' is no gridcore.integrate.Stepper but a {type(stepper).__name__}")
    bound = signature.bind(**options)
    bound.apply_defaults()
    stepper.options = bound.arguments
    return stepper, Method(name, stepper.options)


@functools.lru_cache(maxsize=64)
def _options(make: Callable[..., Any]) -> inspect.Signature:
    """What a method takes besides the step."""
    return inspect.signature(functools.partial(make, np.nan))


def made_by(method: Method) -> Stepper:
    """A stepper as the one that a method of a tape stands for."""
    return new_stepper(method.name, np.nan, method.options)[0]
