"""Which guards are being watched, on which side of zero each is, and which actions are pending."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

import numpy as np

from ..errors import EventError
from ..system import CROSSING_BACK, Switching
from ..tape import Checkpoint

# Whether values of guards, (k,) numbers and (k,) values, are more than round-off: (k,) bool.
Visible = Callable[[np.ndarray, np.ndarray], np.ndarray]
_NEITHER = 2  # the direction of a guard that does not fire


class Watch:
    """The state of all guards along a run.

    A guard fires when its value changes to the side that its direction points to. After it fired it is on that side,
    and must come back before it can fire again. A guard that begins to be watched while it is already across fires at
    once; one of both directions that is at zero takes the side to which it leaves.
    """

    def __init__(self, switching: Switching):
        self.switching = switching
        self.direction = switching.directions.copy()
        self.active = np.zeros(len(self.direction), dtype=bool)
        self.side = np.zeros(len(self.direction), dtype=np.int8)
        self.pending: dict[int, tuple[float, int]] = {}  # guards whose actions are delayed: time and clock of these
        self._note()

    def restore(self, at: Checkpoint) -> None:
        """The state that a checkpoint has."""
        self.active, self.side, self.pending = at.active.copy(), at.side.copy(), dict(at.pending)
        self._restore_directions()

    def _note(self) -> None:
        """Sides, directions or watched guards have changed: what was found of them holds no more."""
        for found in "sides", "_towards":
            vars(self).pop(found, None)

    @functools.cached_property
    def sides(self) -> np.ndarray | None:
        """(k,) on which side of zero each watched guard is, 0 of the others; None while one is on neither."""
        sides = self.side * self.active
        return sides.astype(float) if np.count_nonzero(sides) == np.count_nonzero(self.active) else None

    @functools.cached_property
    def _towards(self) -> tuple[np.ndarray, np.ndarray]:
        """(k,) signs of :meth:`margins`, and which guards cannot fire."""
        towards = np.where(self.direction == 0, -self.side, self.direction)
        can = self.active & (np.abs(towards) == 1) & (towards != self.side)
        return np.where(can, -towards, 1.0), ~can

    def _moved(self, gamma: np.ndarray) -> np.ndarray:
        """Watched guards that are not on the side where they were, or on neither: without any nothing fires."""
        moved, = (self.active if self.sides is None else gamma * self.sides < 0.0).nonzero()
        return moved

    def margins(self, Z: np.ndarray) -> np.ndarray:
        """The guards at Z with signs by which those that fire there are negative, (k,); 1 of those that cannot fire.

        These are not watched, or across already; a guard of both directions that is at zero is on neither side yet.
        """
        towards, idle = self._towards
        return np.where(idle, 1.0, self.switching.values(Z) * towards)

    def check(self, gamma: np.ndarray, t: float) -> None:
        """Refuse values that are no number, of guards that can fire: they may have been crossed before."""
        for guard in np.flatnonzero(np.isnan(gamma) & ~self._towards[1])[:1] if np.isnan(gamma @ gamma) else ():
            raise EventError(f"the guard of {self.switching.guards[guard]} is not a number", t=t)

    def refresh(self, Z: np.ndarray, gamma: np.ndarray, changed: np.ndarray | None = None) -> None:
        """Modes may have changed, all or those at these positions of Z: see which guards are watched now."""
        active = self.switching.active(Z, self.active, changed)
        for guard in list(self.pending):
            if not active[guard]:
                del self.pending[guard]
            elif (cancel := self.switching.guards[guard].cancel) >= 0:
                active[cancel] = True
        begin, = (active & ~self.active).nonzero()  # none of which is pending
        direction = self.switching.directions[begin]
        self.side[begin] = np.where(direction == 0, np.sign(gamma[begin]), -direction)
        self.active = active
        self._restore_directions()

    def fired(self, gamma: np.ndarray) -> np.ndarray:
        """Guards whose value is now across, in order of their numbers."""
        if not len(moved := self._moved(gamma)):
            return moved
        sign, side, direction = np.sign(gamma[moved]), self.side[moved], self.direction[moved]
        return moved[(sign == np.where(direction == 0, -side, direction)) & (sign != side)]

    def fired_by_jump(self, gamma: np.ndarray, visible: Visible) -> np.ndarray:
        """Guards that are across by more than round-off: right after a switch and at t0, the others will be located."""
        fired = self.fired(gamma)
        return fired[visible(fired, gamma[fired])] if len(fired) else fired

    def accept(self, gamma: np.ndarray, fired: np.ndarray, visible: Visible) -> None:
        """Remember the sides at an accepted point: those that fired are across, and back if it is visible."""
        if not len(moved := self._moved(gamma)) and not len(fired):
            return
        sign, direction = np.sign(gamma[moved]), self.direction[moved]
        across = np.where(self.direction[fired] == 0, -self.side[fired], self.direction[fired])
        self._come_back(moved[np.where(direction == 0, self.side[moved] == 0, sign == -direction)], gamma, visible)
        self.side[fired] = across
        self._note()

    def put_back(self, fired: Iterable[int], gamma: np.ndarray, visible: Visible) -> None:
        """Of guards that fired at this instant, those that a switch has put back on the near side may fire again."""
        self._come_back(np.array([guard for guard in fired if self.active[guard] and guard not in self.pending
                                  and self.direction[guard] * gamma[guard] < 0], dtype=int), gamma, visible)

    def _come_back(self, near: np.ndarray, gamma: np.ndarray, visible: Visible) -> None:
        if len(near):
            near = near[visible(near, gamma[near])]
            self.side[near] = np.sign(gamma[near])
            self._note()

    def bounces(self, guard: int, gamma: np.ndarray, visible: Visible) -> bool:
        """Whether a guard that has just fired is still watched, at zero: its rate says which way it goes from here."""
        return bool(self.active[guard] and self.direction[guard] != 0 and guard not in self.pending
                    and not visible(np.array([guard]), gamma[[guard]])[0])

    def turned(self, guard: int, rate: float) -> None:
        """A guard at zero moves at `rate`: away from where it points, it is on the near side again."""
        if rate * self.direction[guard] < 0:
            self.side[guard] = -self.direction[guard]
            self._note()

    def arm(self, guard: int, time: float, clock: int) -> None:
        """Put the action of a guard off; from here on its cancellation is watched."""
        self.pending[guard] = time, clock
        if (cancel := self.switching.guards[guard].cancel) >= 0:
            self.active[cancel], self.side[cancel] = True, -1
        self._restore_directions()

    def disarm(self, guard: int) -> None:
        """The pending action of a guard was made or cancelled."""
        self.pending.pop(guard, None)
        if (cancel := self.switching.guards[guard].cancel) >= 0:
            self.active[cancel] = False
        self._restore_directions()

    def cancelled_by(self, guard: int) -> int:
        """The guard whose pending action a firing guard row cancels, or -1."""
        if guard in self.pending and self.switching.guards[guard].cancel == CROSSING_BACK:
            return guard
        return next((g for g in self.pending if self.switching.guards[g].cancel == guard), -1)

    def _restore_directions(self) -> None:
        self.direction = self.switching.directions.copy()
        for guard in self.pending:
            cancel = self.switching.guards[guard].cancel
            # a pending guard fires only by crossing back; one that cannot be cancelled, not at all
            self.direction[guard] = -self.side[guard] if cancel == CROSSING_BACK else _NEITHER
        self._note()
