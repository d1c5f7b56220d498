"""Where the states of a tape live: in memory, in a file, or nowhere but at checkpoints; all of them, or a few.

Of a tape only the states are heavy. A run that keeps a few of them is replayed from these, segment by segment, when
others are asked for. The replay does the very same operations: where a segment begins, a stepper forgets all but the
`noise` that was seen, in every run, however it is kept: all have the same bits.

Which checkpoints to keep, with fewer slots than segments, is the binomial schedule: A. Griewank,
A. Walther, "Algorithm 799: revolve", ACM TOMS 26(1), 2000.
"""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..case import convert
from ..errors import CaseError, NotRecorded

AUTO, MEMORY, DISK = "auto", "memory", "disk"
SEGMENTS = 1 << 19, 128, 512  # bytes of states in one; points, at least and at most
See = Callable[[int, np.ndarray], None]
_SPARE, _MORE = 8, 1 << 30  # points by which events may lengthen a segment, for a start; bytes, a run
BLOCK, POINTS = 1 << 24, 1 << 11  # bytes of states, and points, that are looked at together at most


@dataclass(frozen=True)
class Checkpoint:
    """Where a run is, and all that it needs to go on from there.

    State, time and clock of the present point, `noise` of its workspace. How many `points`, `records`, `clocks` and
    `settings` the tape has, and points of the grid are `reached`. `timers` to come: time, number, clock. Of each guard
    if it is watched (`active`), and its `side`; of `pending` actions of these time and clock. The work done.
    """

    X: np.ndarray
    noise: np.ndarray
    t: float
    clock: int
    points: int
    records: int
    clocks: int
    settings: int
    reached: int
    timers: list[tuple[float, int, int]]
    active: np.ndarray
    side: np.ndarray
    pending: dict[int, tuple[float, int]]
    counters: Mapping[str, int]


def segment_length(n: int) -> int:
    """Points of a segment, of so many variables: to begin one takes as long as one step of a large system, or many."""
    size, least, most = SEGMENTS
    return min(max(size // (8 * n + 1), least), most)


class InMemory:
    """States in one array: all variables, or a few that are to be looked at and not replayed.

    Parameters
    ----------
    n : int
        Number of variables.
    recorded : (kept,) int array, optional
        Those that are kept; all by default.
    budget : float
        Bytes up to which there may be room for more than is asked for.
    """

    def __init__(self, n: int, recorded: np.ndarray | None = None, budget: float = math.inf):
        self.n, self.recorded, self.points, self._budget = n, recorded, 0, budget
        self.width = n if recorded is None else len(recorded)
        self._X = self._room(64)

    def _room(self, points: int) -> np.ndarray:
        more = min(_MORE, self._budget - 8 * points * self.width)  # what nobody writes to takes no memory
        return np.empty((points + min(points, int(more) // max(8 * self.width, 1)), self.width))

    def _resize(self, points: int) -> None:
        if points < len(self._X):
            return self._X.resize((points, self.width), refcheck=False)
        before, self._X = self._X[: self.points], self._room(points)  # a resize would fill it with zeros
        self._X[: self.points] = before

    def reserve(self, points: int, perhaps: bool = False) -> None:
        """Make room for this many points in all; if there are so many `perhaps`, for what is in a gigabyte."""
        if perhaps:
            points = min(points, int(min(_MORE, self._budget)) // (8 * max(self.width, 1)))
        if points > len(self._X):
            self._resize(points)

    def append(self, X: np.ndarray) -> None:
        """Keep the state of the next point, (n,), or of several, (count, n), as much of them as is recorded."""
        end = self.points + X.size // self.n
        if end > len(self._X):
            self.reserve(max(end, 2 * self.points))
        self._X[self.points: end] = X if self.recorded is None else X[..., self.recorded]
        self.points = end

    def trim(self) -> None:
        """Give back the room that was not needed."""
        if self.points < len(self._X):
            self._resize(max(self.points, 1))

    def row(self, k: int) -> np.ndarray:
        """(n,) the state of point `k`; not to be changed."""
        if self.recorded is not None:
            raise NotRecorded(_ONLY)
        return self._X[k]

    def columns(self, at: Any) -> np.ndarray:
        """(points, len(at)) some variables at all points; all of them as they are stored for ``slice(None)``."""
        return self._X[: self.points][:, self.place(at)]

    def place(self, at: Any) -> Any:
        """Columns of :meth:`visit`'s blocks in which these variables stand; NotRecorded, if they do not."""
        if self.recorded is None:
            return at
        place = np.full(self.n, -1)
        place[self.recorded] = np.arange(self.width)
        if (place[at] < 0).any():
            raise NotRecorded(_ONLY)
        return place[at]

    def visit(self, see: See) -> None:
        """Call ``see(first point, their states)`` for all points, block after block."""
        k = 0
        while k < self.points:
            see(*(part := self.around(k)))
            k += len(part[1])

    def around(self, k: int) -> tuple[int, np.ndarray]:
        """The block in which point `k` is: number of its first point, and their states."""
        size = min(max(1, BLOCK // (8 * max(self.width, 1))), POINTS)
        first = k - k % size
        return first, self._X[first: min(first + size, self.points)]

    def start(self, here: Checkpoint) -> None:
        """A segment starts here: nothing to do."""


_ONLY = "the run kept only what was to be recorded: run it again without 'record' for the rest, or for derivatives"


class OnDisk(InMemory):
    """States in memory up to so many bytes, and beyond in a file without a name, which is gone when the run is.

    The file is in `directory`, by default the system's of temporary files. It is a CaseError if no file can be made
    there, or there is no room for it.
    """

    def __init__(self, n: int, recorded: np.ndarray | None = None, directory: Path | None = None, budget: int = 0):
        self._directory = directory
        self._file: Any = None
        super().__init__(n, recorded, budget)

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has the states themselves."""
        return _in_memory, (self.n, self.recorded, np.array(self._X[: self.points]))

    def _room(self, points: int) -> np.ndarray:
        size = 8 * points * self.width
        if self._file is None and size <= self._budget:
            return super()._room(points)
        where = self._directory or tempfile.gettempdir()
        try:
            self._file = self._file or tempfile.TemporaryFile(dir=where)
        except OSError as error:
            raise CaseError(f"checkpoint: no file can be made in '{where}' ({error.strerror})") from None
        try:  # a map of a file for which there is no room would end the process when it is written to
            os.posix_fallocate(self._file.fileno(), 0, size)
        except OSError as error:
            raise CaseError(f"checkpoint: there is no room for {size / 1e6:.0f} MB of states in '{where}' "
                            f"({error.strerror})") from None
        return np.memmap(self._file, dtype=float, mode="r+", shape=(points, self.width))

    def _resize(self, points: int) -> None:
        if self._file is None:
            super()._resize(points)
        elif points < len(self._X):
            self._X = self._X[:points]
            with contextlib.suppress(OSError):  # room that cannot be given back is no loss
                self._file.truncate(8 * points * self.width)
        else:
            self._X = self._room(points)


class _Enough(Exception):
    """The point that was asked for has been replayed."""


class Recomputed:
    """Checkpoints, and the one segment that is being read or written; all else is replayed when asked for.

    Parameters
    ----------
    n : int
        Number of variables.
    budget : int
        Bytes for states: those of checkpoints, and of the segment.

    Attributes
    ----------
    starts : list of int
        The first point of each segment.
    buffer : (points, n) array
        Room for the states of a segment.
    replay : callable
        Runs on from a checkpoint: both are the driver's.

    Raises
    ------
    CaseError
        If the budget is too small for one checkpoint and a segment.
    """

    recorded = None
    replay: Callable[[Checkpoint], None]

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has the states themselves."""
        return _in_memory, (self.n, None, self.columns(slice(None)))

    def __init__(self, n: int, budget: int):
        self._lock = threading.RLock()
        self.n, self.points = n, 0
        self._budget = budget
        self.buffer = np.empty((segment_length(n) + _SPARE, n))
        self.starts: list[int] = []
        self._kept: dict[int, Checkpoint] = {}
        self._plan: set[int] = {0}
        self._segment, self._filled = -1, 0
        self._stop = -1
        self._visit: See | None = None
        self._check()

    @property
    def held(self) -> int:
        """Bytes of all states in memory, and of the noise of checkpoints."""
        return self.buffer.nbytes + sum(each.X.nbytes + each.noise.nbytes for each in self._kept.values())

    def _check(self) -> None:
        if self.slots() <= 0:
            need = 8 * self.n * (len(self.buffer) + 2)
            raise CaseError(f"checkpoint = {self._budget} bytes is too little: a segment of this run needs {need}")

    def slots(self) -> int:
        """Checkpoints for which there is room."""
        return (self._budget // (8 * self.n) - len(self.buffer)) // 2  # of each state and noise

    def reserve(self, points: int, perhaps: bool = False) -> None:
        """Choose the checkpoints of a run of about this many points."""
        self._plan = self._schedule(0, math.ceil(points / segment_length(self.n)), self.slots() - 1)

    @staticmethod
    def _schedule(first: int, segments: int, slots: int) -> set[int]:
        """Segments from `first` on whose starts are to be kept on the way to the last one."""
        out = {first}
        while segments > 1 and slots > 0:
            ahead = first_checkpoint(segments, slots)
            first, segments, slots = first + ahead, segments - ahead, slots - 1
            out.add(first)
        return out

    def start(self, here: Checkpoint) -> None:
        """A segment starts here: keep its checkpoint if the schedule says so."""
        if self._visit is not None:
            self._visit(self.starts[self._segment], self.buffer[: self._filled])
        self._segment, self._filled = self._segment + 1, 0
        if self._segment == len(self.starts):
            self.starts.append(self.points)
        if self._segment in self._plan and self._segment not in self._kept and len(self._kept) < self.slots():
            self._kept[self._segment] = here

    def append(self, X: np.ndarray) -> None:
        """The state of the next point, (n,), or of several, (count, n), for the first time or again."""
        for state in X.reshape(-1, self.n):
            if self._filled == len(self.buffer):
                self._lengthen()
            self.buffer[self._filled] = state
            self._filled += 1
            position = self.starts[self._segment] + self._filled
            self.points = max(self.points, position)
            if position == self._stop:
                raise _Enough

    def _lengthen(self) -> None:
        """Many events in this segment: more room for it, and fewer checkpoints."""
        self.buffer = np.concatenate([self.buffer, np.empty((_SPARE, self.n))])
        self._check()
        while len(self._kept) > self.slots():
            del self._kept[max(self._kept)]

    def trim(self) -> None:
        """Nothing is kept that is not needed."""

    def row(self, k: int) -> np.ndarray:
        """(n,) the state of point `k`; not to be changed."""
        k = range(self.points)[k]
        with self._lock:
            segment = int(np.searchsorted(self.starts, k, side="right")) - 1
            if segment != self._segment or k >= self.starts[segment] + self._filled:
                self._fetch(segment)
            return self.buffer[k - self.starts[segment]].copy()

    def around(self, k: int) -> tuple[int, np.ndarray]:
        """The segment in which point `k` is: number of its first point, and their states."""
        with self._lock:
            self.row(k)
            return self.starts[self._segment], self.buffer[: self._filled].copy()

    def columns(self, at: Any) -> np.ndarray:
        """(points, len(at)) some variables at all points: the run is replayed once for it."""
        width = np.empty((1, self.n))[:, at].shape[1]
        out = np.empty((self.points, width))

        def see(first: int, X: np.ndarray) -> None:
            out[first: first + len(X)] = X[:, at]

        self.visit(see)
        return out

    def place(self, at: np.ndarray) -> np.ndarray:
        """Columns of :meth:`visit`'s blocks in which these variables stand."""
        return at

    def visit(self, see: See) -> None:
        """Call ``see(first point, their states)`` for all points, segment after segment: the run is replayed once."""
        with self._lock:
            self._replay_from(0, self.points, see)
            see(self.starts[self._segment], self.buffer[: self._filled])

    def _fetch(self, segment: int) -> None:
        """Replay a segment, from the last checkpoint before it; on the way, keep what the ones before will need."""
        nearest = max(s for s in self._kept if s <= segment)
        ahead = segment - nearest
        while len(self._kept) + ahead > self.slots() and max(self._kept) > segment:
            del self._kept[max(self._kept)]
        self._plan = self._schedule(nearest, ahead + 1, self.slots() - len(self._kept))
        self._replay_from(nearest, [*self.starts, self.points][segment + 1])

    def _replay_from(self, segment: int, stop: int, visit: See | None = None) -> None:
        """Replay from a checkpoint to a point, with a look at each segment that is left behind."""
        self._segment, self._filled, self._stop, self._visit = segment, 0, stop, visit
        try:
            self.replay(self._kept[segment])
        except _Enough:
            pass
        finally:
            self._stop, self._visit = -1, None


States = InMemory | Recomputed


def _in_memory(n: int, recorded: np.ndarray | None, X: np.ndarray) -> InMemory:
    out = InMemory(n, recorded)
    out._X, out.points = X, len(X)
    return out


def first_checkpoint(segments: int, slots: int) -> int:
    """How far ahead to put the first of so many checkpoints, to replay so many segments backwards with least work.

    With `s` checkpoints, the one at the start included, ``b(s, r) = (s + r)! / (s! r!)``, and the smallest r for
    which ``b(s, r) >= segments``: any distance from ``b(s, r-2)`` to ``b(s, r-1)`` will do that leaves
    ``b(s-1, r-1)`` to ``b(s-1, r)``.
    """
    s, r = slots + 1, 1
    while math.comb(s + r, s) < segments:
        r += 1
    return max(math.comb(s + r - 2, s), segments - math.comb(s - 1 + r, s - 1), 1)


def memory() -> int:
    """Bytes of states that are kept in memory unless something else is said: a quarter of what the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def states(checkpoint: str | Path | float, n: int, recorded: np.ndarray | None = None,
           budget: float | str | None = None) -> States:
    """Where the states of a run are to live.

    Parameters
    ----------
    checkpoint : {"auto", "memory", "disk"}, Path or number
        In memory up to `budget`, and in a temporary file beyond; in memory; in a temporary file, of the system or in
        this directory; or so many bytes of memory, and recomputed from checkpoints.
    n : int
        Number of unknowns.
    recorded : int array, optional
        The variables that are to be kept; all by default.
    budget : float or str, optional
        Bytes, or a text with a unit; :func:`memory` by default.

    Raises
    ------
    CaseError
    """
    if checkpoint == AUTO:
        size: Any = memory() if budget is None else budget
        with contextlib.suppress(CaseError):
            size = convert(size, "B") if isinstance(size, str) else size
        if not (isinstance(size, int | float | np.integer) and 0 < size < math.inf):
            raise CaseError(f"memory = {budget!r} must be a number of bytes above 0, or a text such as '2 GB'")
        return OnDisk(n, recorded, budget=int(size))
    if checkpoint == MEMORY:
        return InMemory(n, recorded)
    if checkpoint == DISK or isinstance(checkpoint, Path):
        return OnDisk(n, recorded, checkpoint if isinstance(checkpoint, Path) else None)
    if (isinstance(checkpoint, int | float | np.integer) and not isinstance(checkpoint, bool)
            and 0 < checkpoint < math.inf):
        if recorded is not None:
            raise CaseError(f"checkpoint = {checkpoint!r} is for computing states again, and of a run with 'record' "
                            "they are not wanted: give one of the two")
        return Recomputed(n, int(checkpoint))
    raise CaseError(f"checkpoint = {checkpoint!r} must be 'auto', 'memory', 'disk', the Path of a directory, or a "
                    "number of bytes")
