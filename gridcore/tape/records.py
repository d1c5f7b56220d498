"""The tape of a run: points, and the typed records of every operation that led from one to the next.

Points are numbered; records stand in the order in which they happened, and refer to points, clocks and settings by
number, never by comparing times. A *clock* says what the time of a point depends on: the grid, the time of a timer, a
located crossing, or a trigger plus a delay.
"""

from __future__ import annotations

import operator
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .checkpoints import Checkpoint, States
from .grid import GRID

BLOCK = 8192  # steps


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

    `start` and `end` are the clocks of its two ends; `guard` is the one located at its end, or -1; `method` made it.
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

    `triggers` are ``("timer", number)`` or ``("guard", number)``; `settings` of this number hold from here on.
    """

    k: int
    triggers: tuple[tuple[str, int], ...]
    settings: int


@dataclass(frozen=True, slots=True)
class Resolve:
    """Algebraic variables solved again, from point `k` (after a switch) to point ``k + 1``."""

    k: int


Record = Step | Arm | Cancel | Switch | Resolve


class Runs(Sequence[Any]):
    """Numbers, or tuples of them, of which each run of equal ones is kept once."""

    def __init__(self, values: Iterable[Any] = ()):
        self._ends, self._values = array("q"), list[Any]()
        for value in values:
            self.append(value)

    def append(self, value: Any, count: int = 1) -> None:
        """Add one more, or so many equal ones."""
        if count and (not self._values or self._values[-1] != value):
            self._ends.append(len(self))
            self._values.append(value)
        self._ends[-1] += count

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, at: Any) -> Any:
        at = range(len(self))[at]
        return Runs(map(self.__getitem__, at)) if isinstance(at, range) else self._values[bisect_right(self._ends, at)]

    def run(self, at: int) -> tuple[int, int, Any]:
        """Of the run in which number `at` is: the first number, that behind the last, and the value."""
        run = bisect_right(self._ends, at)
        return self._ends[run - 1] if run else 0, self._ends[run], self._values[run]

    def part(self, first: int, end: int, dtype: Any = None) -> np.ndarray:
        """Those from number `first` to before `end`."""
        some = slice(bisect_right(self._ends, first), bisect_left(self._ends, end) + 1)
        counts = np.diff(np.clip(self._ends[some], first, end), prepend=first)
        return np.repeat(np.array(self._values[some], dtype), counts, axis=0)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.part(0, len(self), dtype)


class Records(Sequence[Record]):
    """The records of a tape in the order of what happened; of steps one after the other on a grid lengths take memory.

    Attributes
    ----------
    others : list of Record
        Those that are no steps, in order.
    """

    def __init__(self, records: Iterable[Record] = ()):
        self._h, self._fields = array("d"), Runs()  # of steps: lengths; other fields, k less their number
        self._at, self.others = array("q"), list[Record]()  # the others, and their numbers
        for record in records:
            self.append(record)

    def append(self, record: Record) -> None:
        """Add what happened next."""
        if isinstance(record, Step):
            self.step(record.k, record.h, record.start, record.end, record.guard, record.method)
        else:
            self._at.append(len(self))
            self.others.append(record)

    def step(self, k: int, h: float, start: int, end: int, guard: int = -1, method: int = 0) -> None:
        """Add a step; its fields are those of :class:`Step`."""
        self._fields.append((k - len(self._h), start, end, guard, method))
        self._h.append(h)

    def path(self, k: int, h: np.ndarray, start: int, method: int) -> None:
        """Add steps of these lengths on the grid, of which the first begins at point `k`, and by the clock `start`."""
        self.step(k, float(h[0]), start, GRID, method=method)
        self._fields.append((k + 1 - len(self._h), GRID, GRID, -1, method), len(h) - 1)
        self._h.frombytes(h[1:].tobytes())

    def __len__(self) -> int:
        return len(self._h) + len(self.others)

    def __getitem__(self, number: Any) -> Any:
        number = range(len(self))[number]
        if isinstance(number, range):
            return [self[k] for k in number]
        row = number - (before := bisect_left(self._at, number))
        if before < len(self._at) and self._at[before] == number:
            return self.others[before]
        k, *fields = self._fields[row]
        return Step(k + row, self._h[row], *fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(operator.eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def kinds(self) -> list[type]:
        """The class of each record."""
        others = dict(zip(self._at, map(type, self.others), strict=True))
        return [others.get(number, Step) for number in range(len(self))]

    def steps(self, first: int = 0, end: int | None = None) -> Steps:
        """Steps by their number among steps, as arrays; by default all."""
        some = range(len(self._h))[first:end]
        k, *fields = self._fields.part(some.start, some.stop, np.int64).reshape(-1, 5).T
        return Steps(np.array(self._h[first:end]), k + np.arange(some.start, some.stop), *fields)

    def quiet(self, number: int) -> tuple[int, int, int]:
        """Of record `number` and steps in a row with it, of one method and between points of the grid: numbers, among
        steps, of the first, of its own, and behind the last. All the same where it is no such step.
        """
        before = bisect_left(self._at, number)
        step, high = number - before, self._at[before] if before < len(self._at) else len(self)
        first, end, fields = self._fields.run(step) if number < high else (step, step, ())
        if fields[1:4] != (GRID, GRID, -1):
            return step, step, step
        return max(first, self._at[before - 1] + 1 - before if before else 0), step, min(end, high - before)

    def blocks(self) -> Iterator[Steps]:
        """All steps, some thousands at a time: as arrays they take more room than here."""
        return (self.steps(first, first + BLOCK) for first in range(0, max(len(self._h), 1), BLOCK))

    def moved(self) -> Steps:
        """Steps of which an end is not of the grid, as arrays."""
        chosen = ((steps, (steps.start != GRID) | (steps.end != GRID)) for steps in self.blocks())
        return Steps(*map(np.concatenate, zip(*([part[at] for part in steps] for steps, at in chosen), strict=True)))


class Steps(NamedTuple):
    """Steps as arrays, (steps,) each: the fields of :class:`Step`."""

    h: np.ndarray
    k: np.ndarray
    start: np.ndarray
    end: np.ndarray
    guard: np.ndarray
    method: np.ndarray


class Settings(Sequence[Any]):
    """Parameters and modes at t0 and after each switch: the first whole, of the others what differs from these.

    A switch changes a few numbers of many, so a run with many switches stays light.
    """

    def __init__(self, whole: Iterable[np.ndarray] = ()):
        self._first, self._changes = np.zeros(0), list[tuple[np.ndarray, np.ndarray]]()
        for values in whole:
            self.append(values)

    def append(self, values: np.ndarray, changed: np.ndarray | None = None) -> None:
        """Add the settings that hold from here on, (n_p + n_m,), others than the last ones at most where `changed`."""
        if not self._changes:
            self._first = values.copy()
        at = np.arange(len(values)) if changed is None else np.fromiter(
            {*self._changes[-1][0].tolist(), *changed.tolist()}, int)
        at = at[values[at].view(np.int64) != self._first[at].view(np.int64)]  # every bit: -0.0 and nan, too
        self._changes.append((at, values[at]))

    def __len__(self) -> int:
        return len(self._changes)

    def __getitem__(self, number: Any) -> Any:
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
    point_clock : Runs
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
    point_clock: Runs = field(default_factory=Runs)
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
            self._t.setflags(write=False)  # the run is computed again, and integrated, with them
        return self._t

    @property
    def X(self) -> np.ndarray:
        """(points, n) variables: all of them, wherever they are kept."""
        found = self.states.columns(slice(None))
        found.setflags(write=False)
        return found

    def mesh(self) -> np.ndarray:
        """Numbers of the points at which steps of the grid end, and those of a variable-step method."""
        steps = self.records.steps()
        return steps.k[steps.end == GRID] + 1

    def point(self, t: float, X: np.ndarray, clock: int) -> None:
        """Store a point: the state first, for which there may be no room."""
        self.states.append(X)
        self.times.append(t)
        self.point_clock.append(clock)

    def path(self, clock: int, times: np.ndarray, X: np.ndarray) -> None:
        """Store points of the grid, but for the first, at which the run is by this clock; and steps between them."""
        self.states.append(X[1:])
        self.records.path(self.points - 1, times[1:] - times[:-1], clock, len(self.methods) - 1)
        self.times.frombytes(times[1:].tobytes())
        self.point_clock.append(GRID, len(times) - 1)

    def clock(self, kind: str, of: int, after: int = -1) -> int:
        """A new clock; returns its number."""
        self.clocks.append(Clock(kind, of, after))
        return len(self.clocks) - 1

    def point_settings(self) -> np.ndarray:
        """(points,) number of the settings that hold at each point: at an instant of switching, before and after."""
        switches = [record for record in self.records.others if isinstance(record, Switch)]
        counts = np.diff([0, *(switch.k + 1 for switch in switches), self.points])
        return np.repeat([0, *(switch.settings for switch in switches)], counts)
