"""Controls of a power flow: generators that regulate other buses, and switched shunts, moved to where they act.

Set-points and susceptances of the case are changed, so that its power flow is the controlled one without any option.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from gridcore.case import Case
from gridcore.equilibrium import Dispatch, build
from gridcore.errors import GridcoreError

from .psse import listed

HELD = 1e-6  # pu: a voltage that is held
ROUNDS = 40  # of secant steps, and of switching
LARGEST = 0.05  # pu: change of a set-point in one step
PROBE = 1e-3  # pu: change of a susceptance that shows what it does


@dataclass
class Remote:
    """Generators, by their ids, that hold the voltage V of one other bus together."""

    bus: int
    V: float
    ids: list[str]


@dataclass
class Switched:
    """A shunt that keeps the voltage of a bus in a band: with these susceptances (pu), or any between them."""

    bus: int
    low: float
    high: float
    id: str
    levels: list[float]
    continuous: bool


@dataclass
class _Moving:
    """What holds a voltage V of a bus, at positions in Z, within its ends; and what the voltage gains by it, about."""

    bus: int
    V: float
    at: list[int]
    low: float = -math.inf
    high: float = math.inf
    gain: float = 1.0


def levels(blocks: list[tuple[int, float]]) -> list[float]:
    """What blocks of so many equal steps come to, switched one after the other: capacitors, and reactors."""
    found = {0.0}
    for sign in (1.0, -1.0):
        total = 0.0
        for count, step in blocks:
            if step * sign > 0:
                found |= {total + n * step for n in range(1, min(count, 1000) + 1)}
                total += count * step
    return sorted(found)


def control(case: Case, remote: list[Remote], switched: list[Switched]) -> None:
    """Move set-points and susceptances of a case; where no power flow is found it stays as it is, with a note."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = _Controls(case, remote, switched)
            held = found.solve()
    except GridcoreError as error:
        case.note(f"the controls of the power flow find none, and stay as they are in the file: {error}")
        return
    found.keep(case)
    if remote:
        case.note("generators hold the voltages of other buses by set-points of their own: buses "
                  f"{listed(each.bus for each in remote)}")
    if switched:
        case.note(f"switched shunts are where their bands have them: {listed(each.id for each in switched)}")
    if not held:
        case.note("the controls of the power flow do not hold all voltages")


class _Controls:
    """The power flow of a case, and what moves in it."""

    def __init__(self, case: Case, remote: list[Remote], switched: list[Switched]):
        system = build(case, initialise=False, deenergise=True)
        self.flow, self.layout = Dispatch(system.system, system.Z0.copy()), system.layout
        self.number = {id: n for n, id in enumerate(self.flow.ids)}
        self.remote, self.switched = remote, switched
        self.turned: dict[str, int] = {}
        self.gains: dict[int, float] = {}
        self.V = self._voltages()

    def _voltages(self) -> np.ndarray:
        self.flow.solve(False)
        return np.asarray(self.flow.Z[self.flow.at["Vm0"]])

    def _at(self, name: str) -> int:
        return int(self.layout.address(name))

    def _of(self, bus: int) -> float:
        return float(self.V[self.number[f"BUS{bus}"]])

    def solve(self) -> bool:
        """Set-points by a secant method of all together, and between its solutions one switching after another."""
        for _ in range(ROUNDS):
            held = self._hold()
            if not held or not self._switch():
                return held
        return False

    def _hold(self) -> bool:
        """Whether remote buses and continuous shunts hold their voltages in the end, or are at the last of their steps
        (Broyden's method).
        """
        moving = [_Moving(each.bus, each.V, [self._at(f"{id}.V0") for id in each.ids]) for each in self.remote]
        for shunt in self.switched:
            if shunt.continuous:
                at, wanted = self._at(f"{shunt.id}.b"), min(max(self._of(shunt.bus), shunt.low), shunt.high)
                moving.append(_Moving(shunt.bus, wanted, [at], shunt.levels[0], shunt.levels[-1],
                                      self._gain(shunt.bus, at)))
        J = np.diag([each.gain for each in moving])
        missing = np.array([self._missing(each) for each in moving])
        for _ in range(ROUNDS):
            if abs(missing).max(initial=0.0) < HELD:
                return True
            wanted = np.linalg.lstsq(J, missing, rcond=None)[0]
            moved = np.array([self._move(each, step) for each, step in zip(moving, wanted)])
            if not moved.any():
                return False
            self.V = self._voltages()
            before, missing = missing, np.array([self._missing(each) for each in moving])
            J += np.outer(before - missing - J @ moved, moved) / (moved @ moved)
        return False

    def _gain(self, bus: int, at: int) -> float:
        """How much a susceptance raises the voltage of a bus."""
        if at not in self.gains:
            before = self._of(bus)
            self.flow.Z[at] += PROBE
            after = self._voltages()[self.number[f"BUS{bus}"]]
            self.flow.Z[at] -= PROBE
            self.gains[at] = max(float(after - before) / PROBE, PROBE)
        return self.gains[at]

    def _missing(self, each: _Moving) -> float:
        """What a voltage lacks; nothing where no step is left to give it."""
        missing, here = each.V - self._of(each.bus), float(self.flow.Z[each.at[0]])
        return 0.0 if (missing > 0 and here >= each.high) or (missing < 0 and here <= each.low) else missing

    def _move(self, each: _Moving, step: float) -> float:
        """Change what moves, not by too much, and a shunt not beyond its steps; by how much it was."""
        step = min(max(step, -LARGEST / each.gain), LARGEST / each.gain)
        before = float(self.flow.Z[each.at[0]])
        step = min(max(before + step, each.low), each.high) - before
        self.flow.Z[each.at] += step
        return step

    def _switch(self) -> bool:
        """Move each shunt with steps whose voltage is out of its band by one, never back; whether any moved."""
        moved = False
        for shunt in self.switched:
            V, at = self._of(shunt.bus), self._at(f"{shunt.id}.b")
            way = 1 if V < shunt.low - HELD else -1 if V > shunt.high + HELD else 0
            if shunt.continuous or not way or self.turned.get(shunt.id, way) != way:
                continue
            here = float(self.flow.Z[at])
            further = [b for b in shunt.levels if (b - here) * way > HELD]
            if further:
                self.flow.Z[at] = min(further, key=lambda b: abs(b - here))
                self.turned[shunt.id], moved = way, True
        if moved:
            self.V = self._voltages()
        return moved

    def keep(self, case: Case) -> None:
        """Write what moved, and the voltages, to the case."""
        fields = dict(zip(case.ids(), (record.fields for record in case)))
        for each in self.remote:
            for id in each.ids:
                fields[id]["V0"] = float(self.flow.Z[self._at(f"{id}.V0")])
        for shunt in self.switched:
            fields[shunt.id]["b"] = float(self.flow.Z[self._at(f"{shunt.id}.b")])
        for n in self.flow.alive:
            fields[self.flow.ids[n]] |= {key: float(self.flow.Z[self.flow.at[key][n]]) for key in ("Vm0", "Va0")}
