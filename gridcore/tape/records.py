"""The tape of a run: points, and the typed records of every operation that led from one to the next.

Points are numbered; records stand in the order in which they happened, and refer to points, clocks
and settings by number, never by comparing times. A *clock* says what the time of a point depends on:
the grid, the time of a timer, a located crossing, or a trigger plus a delay.
"""

from __future__ import annotations

import operator
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .checkpoints import Checkpoint, States

GRID = 0


@dataclass(frozen=True, slots=True)
class Clock:
    """What a point's time depends on.

    Attributes
    ----------
    kind : {"grid", "timer", "guard", "delay"}
    of : int
        Timer or delay: position in Z of the parameter that is the time, or the delay.
        Guard: the number of the guard.
    after : int
        Delay: the clock of the trigger.
    """

    kind: str
    of: int = -1
    after: int = -1


@dataclass(slots=True)
class Step:
    """One step from point `k` to point ``k + 1``; it is made anew by each who asks the tape for it.

    `start` and `end` are the clocks of its two ends; `guard` is the guard that was located at its
    end, or -1; `method` is the number of the method that made it.
    """

    k: int
    h: float
    start: int
    end: int
    guard: int = -1
    method: int = 0


@dataclass(frozen=True, slots=True)
class Arm:
    """At point `k`, `guard` crossed and its action was put off to the time of `clock`."""

    k: int
    guard: int
    clock: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """At point `k`, the pending action of `guard` was cancelled by guard row `by`."""

    k: int
    guard: int
    by: int


@dataclass(frozen=True, slots=True)
class Switch:
    """At point `k`, the changes of these triggers were made, in this order.

    `triggers` are ``("timer", number)`` or ``("guard", number)``; `settings` is the number of the
    parameters and modes that hold from here on.
    """

    k: int
    triggers: tuple[tuple[str, int], ...]
    settings: int


@dataclass(frozen=True, slots=True)
class Resolve:
    """Algebraic variables solved again, from point `k` (after a switch) to point ``k + 1``."""

    k: int


Record = Step | Arm | Cancel | Switch | Resolve


class Records(Sequence[Record]):
    """The records of a tape in the order in which they happened; steps, of which there are many, as rows of numbers.

    Attributes
    ----------
    others : list of Record
        Those that are no steps, in order.
    """

    def __init__(self, records: Iterable[Record] = ()):
        self._h, self._ends = array("d"), array("q")  # of each step: its length; its other fields
        self._row = array("q")  # of each record: the step's, or minus one less the place among the others
        self.others: list[Record] = []
        for record in records:
            self.append(record)

    def append(self, record: Record) -> None:
        """Add what happened next."""
        if isinstance(record, Step):
            self.step(record.k, record.h, record.start, record.end, record.guard, record.method)
        else:
            self._row.append(-1 - len(self.others))
            self.others.append(record)

    def step(self, k: int, h: float, start: int, end: int, guard: int = -1, method: int = 0) -> None:
        """Add a step; its fields are those of :class:`Step`."""
        self._row.append(len(self._h))
        self._h.append(h)
        self._ends.extend((k, start, end, guard, method))

    def __len__(self) -> int:
        return len(self._row)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self._of_row(row) for row in self._row[number]]
        return self._of_row(self._row[number])

    def __iter__(self) -> Iterator[Record]:
        return map(self._of_row, self._row)

    def __reversed__(self) -> Iterator[Record]:
        return map(self._of_row, reversed(self._row))

    def _of_row(self, row: int) -> Record:
        if row < 0:
            return self.others[-1 - row]
        k, start, end, guard, method = self._ends[5 * row: 5 * row + 5]
        return Step(k, self._h[row], start, end, guard, method)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(operator.eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def kinds(self) -> list[type]:
        """The class of each record."""
        return [Step if row >= 0 else type(self.others[-1 - row]) for row in self._row]

    def steps(self) -> Steps:
        """All steps, as arrays."""
        return Steps(np.array(self._h), *np.array(self._ends, dtype=np.int64).reshape(-1, 5).T)


class Steps(NamedTuple):
    """Steps as arrays, (steps,) each: the fields of :class:`Step`."""

    h: np.ndarray
    k: np.ndarray
    start: np.ndarray
    end: np.ndarray
    guard: np.ndarray
    method: np.ndarray


class Settings:
    """Parameters and modes at t0 and after each switch: the first whole, of the others what differs from these.

    A switch changes a few numbers of many, so a run with many switches stays light.
    """

    def __init__(self, whole: Iterable[np.ndarray] = ()):
        self._first = np.zeros(0)
        self._changes: list[tuple[np.ndarray, np.ndarray]] = []
        for values in whole:
            self.append(values)

    def append(self, values: np.ndarray) -> None:
        """Add the settings that hold from here on, (n_p + n_m,)."""
        if not self._changes:
            self._first = values.copy()
        at = np.flatnonzero(values.view(np.int64) != self._first.view(np.int64))  # every bit: -0.0 and nan, too
        self._changes.append((at, values[at]))

    def __len__(self) -> int:
        return len(self._changes)

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: int) -> np.ndarray:
        at, new = self._changes[number]
        values = self._first.copy()
        values[at] = new
        return values


@dataclass(frozen=True)
class Method:
    """The integrator that made a step: its registered name, and the options it was given."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Tape:
    """Points and records of one run.

    Attributes
    ----------
    states : InMemory or Recomputed
        Where the variables at each point are: see :mod:`gridcore.tape.checkpoints`.
    clocks : list of Clock
        Number 0 is the grid.
    point_clock : array of int
        The clock of each point.
    settings : Settings
        Parameters and modes (the part of Z behind X, without the time): at t0, and after each switch.
    records : Records
    methods : list of Method
        Steps refer to them by number.
    times : array of float
        The time of each point (s), which :attr:`t` has as an array.
    last : Checkpoint
        From where the run can be continued: of a one-step method, where its last segment starts.
    """

    states: States
    clocks: list[Clock] = field(default_factory=lambda: [Clock("grid")])
    point_clock: array[int] = field(default_factory=lambda: array("q"))
    settings: Settings = field(default_factory=Settings)
    records: Records = field(default_factory=Records)
    methods: list[Method] = field(default_factory=list)
    times: array[float] = field(default_factory=lambda: array("d"))
    last: Checkpoint | None = None

    def __post_init__(self) -> None:
        self._t = np.zeros(0)

    @property
    def points(self) -> int:
        """Number of points."""
        return len(self.times)

    @property
    def t(self) -> np.ndarray:
        """(points,) times (s)."""
        if len(self._t) < len(self.times):
            self._t = np.array(self.times)
        return self._t

    @property
    def X(self) -> np.ndarray:
        """(points, n) variables: all of them, wherever they are kept."""
        return self.states.columns(slice(None))

    def mesh(self) -> np.ndarray:
        """Numbers of the points at which steps of the grid end, and those of a variable-step method."""
        steps = self.records.steps()
        return steps.k[steps.end == GRID] + 1

    def point(self, t: float, X: np.ndarray, clock: int) -> None:
        """Store a point: the state first, for which there may be no room."""
        self.states.append(X)
        self.times.append(t)
        self.point_clock.append(clock)

    def clock(self, kind: str, of: int, after: int = -1) -> int:
        """A new clock; returns its number."""
        self.clocks.append(Clock(kind, of, after))
        return len(self.clocks) - 1

    def point_settings(self) -> np.ndarray:
        """(points,) number of the settings that hold at each point: at an instant of switching, before and after."""
        numbers = np.zeros(self.points, dtype=int)
        for record in self.records.others:
            if isinstance(record, Switch):
                numbers[record.k + 1:] = record.settings
        return numbers
