"""The loop of a run: grid, timers, pending actions, located crossings, switches; all go on the tape.

A *stepper* makes one step at a time; everything about events is here, and the same for all steppers.
"""

from __future__ import annotations

import time as clock_time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import CaseError, EventError, GridcoreError
from ..linear.newton import Newton
from ..registry import registries as plugins
from ..results.run import Run
from ..results.signals import needed
from ..tape.checkpoints import SEGMENT, Checkpoint, InMemory, Recomputed, states
from ..tape.grid import MERGE, Spacing, finest, grid
from ..tape.records import GRID, Arm, Cancel, Resolve, Settings, Step, Switch, Tape
from .guards import Watch
from .round_off import visible

if TYPE_CHECKING:
    from ..system.system import System

_CHATTER = 100
# A limit has jumped if it moved by more, relative to the state that is there.
_JUMP = 1e-9


@dataclass
class Outcome:
    """What one step did: the time reached, the guards that fired there, and the guard functions."""

    t: float
    fired: np.ndarray
    gamma: np.ndarray


class Stepper(Protocol):
    """One-step method. ``X``, ``p``, modes and time are in ``system.assembly.Z``, before and after.

    Attributes
    ----------
    theta : float or None
        Of a theta method, whose tape can be replayed exactly; None for others.
    counters : Counter
        Work done: ``newton_iterations``, ``factorisations``, ``solves`` ...
    """

    @property
    def theta(self) -> float | None:
        """Of a theta method; None for others."""

    @property
    def counters(self) -> Counter[str]:
        """Work done so far."""

    def restart(self) -> None:
        """The state, the parameters or the modes may have been changed from outside.

        Where `theta` is a number nothing that happened before may matter from here on, to the last bit:
        a run is recomputed from its checkpoints.
        """

    def step(self, t: float, target: float, watch: Watch) -> Outcome:
        """Go from `t` towards `target`, and stop there or at the first guard that fires before."""
        ...


@dataclass
class _Agenda:
    """Timers still to come, in order of time: (time, number, clock)."""

    items: list[tuple[float, int, int]] = field(default_factory=list)

    def next(self) -> float:
        return self.items[0][0] if self.items else np.inf

    def due(self, t: float, slack: float) -> list[tuple[float, int, int]]:
        out = [item for item in self.items if item[0] <= t + slack]
        self.items = self.items[len(out):]
        return out


@dataclass(frozen=True)
class _Instant:
    """Where the driver is, but for the state: what a checkpoint needs to go on."""

    t: float
    clock: int
    reached: int
    settings: int
    agenda: list[tuple[float, int, int]]
    watch: Watch


class Driver:
    """One run of a system under a stepper."""

    def __init__(self, system: System, stepper: Stepper, step: Spacing, t0: float, t_end: float,
                 kept: InMemory | Recomputed | None = None):
        self.system, self.stepper, self.t_end = system, stepper, t_end
        self.Z = system.assembly.Z
        self.newton = Newton(system)
        self.watch = Watch(system.switching)
        self.tape = Tape(system.n, stepper.theta, states=kept or InMemory(system.n))
        self.t, self.clock = t0, GRID
        # points of the grid behind; points before the tape, and settings, when it is a part replayed
        self.reached = self._points_before = self._settings_before = self._segment_begun = 0
        self.counters: Counter[str] = Counter()
        self.slack = MERGE * finest(step)
        self._switches: list[tuple[float, str]] = []
        self.Z[:] = system.Z0
        system.islands.settle(self.Z)
        system.assembly.refresh()
        self.Z[-1] = t0
        timers = []
        for number, trigger in enumerate(system.switching.timers):
            at = float(self.Z[trigger.time])
            if at < t0:
                raise CaseError(f"{trigger} is at {at:g} s, before the start of the run at {t0:g} s")
            if at <= t_end:
                timers.append((at, number, self.tape.clock("timer", trigger.time)))
        self.agenda = _Agenda(sorted(timers, key=lambda item: item[0]))
        self.grid = grid(step, t0, t_end)
        self.tape.reserve(len(self.grid) + 2 + 2 * len(timers))

    def run(self, progress: Callable[[float], None] | None = None) -> None:
        """To the end, or to an error."""
        if isinstance(self.tape.states, Recomputed):
            self.tape.states.replay = self._replay
        self._new_segment()
        self._go_on(progress)

    def _go_on(self, progress: Callable[[float], None] | None = None) -> None:
        if not len(self.tape.settings):
            self._begin()
        while self.reached < len(self.grid):
            begin, end, switched = self.t, float(self.grid[self.reached]), self.counters["switches"]
            while self.t < end - self.slack:
                if self.stepper.theta is not None and self.tape.points - self._segment_begun >= SEGMENT:
                    self._new_segment()
                self._advance(end)
                if self.counters["switches"] - switched > _CHATTER:
                    self._chattering(begin)
            self.reached += 1
            if progress is not None:
                progress(self.t)
        if self.clock != GRID:
            self._stand_still(GRID)

    def _new_segment(self) -> None:
        """From here on nothing of what was before matters but the state: the run can be replayed from here."""
        self._renew()
        self._segment_begun = self.tape.points
        self.tape.states.start(self._checkpoint)

    def _renew(self) -> None:
        self.stepper.restart()
        self.newton.renew()

    def _checkpoint(self) -> Checkpoint:
        settings = self._settings_before + len(self.tape.settings) - 1
        instant = _Instant(self.t, self.clock, self.reached, settings, list(self.agenda.items), self.watch.copy())
        return Checkpoint(self._points_before + self.tape.points, self.Z[: self.system.n].copy(), instant)

    def _replay(self, checkpoint: Checkpoint) -> None:
        """Run on from a checkpoint as before; whoever is using the assembly finds it as it was."""
        assembly, n = self.system.assembly, self.system.n
        in_use = [(array, array.copy()) for array in (assembly.Z, assembly.mass, assembly.c, assembly.base)]
        whole, at = self.tape, checkpoint.driver
        self.tape = Tape(n, whole.theta, states=whole.states)
        self.tape.clocks = list(whole.clocks)
        self.t, self.clock, self.reached = at.t, at.clock, at.reached
        self.agenda, self.watch = _Agenda(list(at.agenda)), at.watch.copy()
        self._points_before, self._settings_before, self._segment_begun = checkpoint.points, max(at.settings, 0), 0
        self.Z[:n], self.Z[n:-1], self.Z[-1] = checkpoint.X, whole.settings[self._settings_before], at.t
        assembly.refresh()
        if at.settings >= 0:
            self.tape.settings = Settings([self.Z[n:-1]])
        self._renew()
        try:
            self._go_on()
        finally:
            self.tape = whole
            for array, values in in_use:
                array[:] = values
            assembly.refresh()

    def _begin(self) -> None:
        gamma = self._gamma()
        self.watch.refresh(self.Z, gamma)
        self.tape.settings.append(self.Z[self.system.n:-1])
        self.tape.point(self.t, self.Z[: self.system.n], GRID)
        if self.t != 0 and self.system.time_slope() is not None:  # the operating point is one at time zero
            self._switch(())
            gamma = self._gamma()
        if self.agenda.next() <= self.t + self.slack:
            self._stand_still(self.agenda.items[0][2])
        self.newton.hold(self.system.differential(self.Z))
        self._events(self.watch.fired_by_jump(gamma, self._visible), gamma)

    def _stand_still(self, clock: int) -> None:
        """A step of no length to another clock: an event at t0 or at the end moves, t0 and the end do not."""
        self.tape.records.append(Step(self.tape.points - 1, 0.0, self.clock, clock))
        self.tape.point(self.t, self.Z[: self.system.n], clock)
        self.clock = clock

    def _visible(self, guards: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Whether values of guards after a switch are more than round-off."""
        return visible(self.newton, guards, values)

    def _gamma(self) -> np.ndarray:
        self.counters["guard_evaluations"] += 1
        return self.system.switching.values(self.Z)

    def _advance(self, end: float) -> None:
        """One step: to the next point of the grid, timer or pending action, or to a guard before it."""
        target, clock = end, GRID
        delayed = self.watch.pending
        pending = min(delayed.values(), key=lambda p: p.time) if delayed else None
        if self.agenda.next() <= target + self.slack:
            target, _, clock = self.agenda.items[0]
        if pending is not None and pending.time <= target + (self.slack if clock == GRID else 0.0):
            target, clock = pending.time, pending.clock
        start = self.clock
        outcome = self.stepper.step(self.t, target, self.watch)
        k, h = self.tape.points - 1, outcome.t - self.t
        located = -1
        if len(outcome.fired):
            located = int(outcome.fired[0])
            self.clock = self.tape.clock("guard", located)
        elif outcome.t == target:
            self.clock = clock
        else:
            self.clock = GRID  # an inner step of a variable-step method
        self.t = outcome.t
        self.tape.records.append(Step(k, h, start, self.clock, located))
        self.tape.point(self.t, self.Z[: self.system.n], self.clock)
        self.counters["steps"] += 1
        if len(outcome.fired) or self.t >= min(self.agenda.next(), pending.time if pending else np.inf) - self.slack:
            self._events(outcome.fired, outcome.gamma)
        elif len(self.watch):
            self.watch.accept(outcome.gamma, outcome.fired)

    def _events(self, fired: np.ndarray, gamma: np.ndarray) -> None:
        """All that happens at this instant: until nothing more does."""
        for _ in range(_CHATTER):
            triggers = self._collect(fired, gamma)
            if not triggers:
                return
            self._switch(triggers)
            gamma = self._gamma()
            self.watch.refresh(self.Z, gamma)
            self._turn_back(triggers, gamma)
            fired = self.watch.fired_by_jump(gamma, self._visible)
        self._chattering(self.t)

    def _turn_back(self, triggers: tuple[tuple[str, int], ...], gamma: np.ndarray) -> None:
        """Guards whose own action sends them back from zero at once (a bounce) may fire again in the next step."""
        for guard in (number for kind, number in triggers if kind == "guard"):
            if self.watch.bounces(guard, gamma, self._visible):
                columns, gradient, gamma_t = self.system.guard_row(guard)(self.Z)
                rates = self.newton.derivative(self.system.differential(self.Z))
                self.watch.turned(guard, float(gradient @ rates[columns]) + gamma_t)

    def _collect(self, fired: np.ndarray, gamma: np.ndarray) -> tuple[tuple[str, int], ...]:
        """Sort out what is due now: timers, pending actions, guards; arm and cancel delayed ones."""
        self.watch.accept(gamma, fired)
        triggers = [("timer", number) for _, number, _ in self.agenda.due(self.t, self.slack)]
        due = [p.guard for p in self.watch.pending.values() if p.time <= self.t + self.slack]
        for guard in due:
            self.watch.disarm(guard)
            triggers.append(("guard", guard))
        for guard in (int(g) for g in fired):
            cancelled = self.watch.cancelled_by(guard)
            trigger = self.system.switching.guards[guard]
            if cancelled >= 0:
                self.watch.disarm(cancelled)
                self.tape.records.append(Cancel(self.tape.points - 1, cancelled, guard))
                self.counters["cancellations"] += 1
            elif guard in due:
                continue
            elif trigger.time >= 0:
                clock = self.tape.clock("delay", trigger.time, self.clock)
                self.watch.arm(guard, self.t + float(self.Z[trigger.time]), clock)
                self.tape.records.append(Arm(self.tape.points - 1, guard, clock))
                self.counters["delays"] += 1
                if self.Z[trigger.time] <= 0:  # at once, and yet it moves with its delay
                    self._stand_still(clock)
                    self.watch.disarm(guard)
                    triggers.append(("guard", guard))
            else:
                triggers.append(("guard", guard))
        return tuple(triggers)

    def _switch(self, triggers: tuple[tuple[str, int], ...]) -> None:
        """Make the changes, and solve the algebraic equations again."""
        system, switching = self.system, self.system.switching
        k = self.tape.points - 1
        chosen = [(switching.timers if kind == "timer" else switching.guards)[number] for kind, number in triggers]
        switching.apply(self.Z, chosen)
        system.assembly.refresh()
        self.tape.records.append(Switch(k, triggers, len(self.tape.settings)))
        try:
            self._resolve()
        except GridcoreError as error:
            names = ", ".join(f"{c} ({c.what})" for c in chosen)
            error.args = (f"{error}: no solution of the network after {names}",)
            raise
        finally:
            self.tape.settings.append(self.Z[system.n:-1])
        self.tape.records.append(Resolve(k))
        self.tape.point(self.t, self.Z[: system.n], self.clock)
        self.stepper.restart()
        self.counters["switches"] += 1
        self.counters["events"] += len(triggers)
        self._switches += [(self.t, str(c)) for c in chosen]

    def _resolve(self) -> None:
        """Solve the algebraic equations; a limit that jumps away lets its state go, which does not jump after it."""
        system = self.system
        held = system.at_moving_limit(self.Z)
        before = self.Z[held[:, 0]]
        self.newton.resolve(system.differential(self.Z))
        free = held[(self.Z[held[:, 0]] - before) * self.Z[held[:, 1]] > _JUMP * (1 + np.abs(before))]
        if len(free):
            self.Z[held[:, 0]] = before
            self.Z[free[:, 1]] = 0.0
            system.assembly.refresh()
            self.newton.resolve(system.differential(self.Z))

    def _chattering(self, since: float) -> None:
        count = Counter(name for t, name in self._switches if t >= since - self.slack)
        names = ", ".join(f"{name} ({times} times)" for name, times in count.most_common(4))
        raise EventError(f"chattering: {names}", t=self.t)


def simulate(system: System, t_end: float, step: Spacing = 0.01, method: str = "theta", *, t0: float = 0.0,
             checkpoint: str | Path | float = "auto", memory: float | None = None,
             record: str | Iterable[str] | None = None, progress: Callable[[float], None] | None = None,
             **options: Any) -> Run:
    """Simulate a system from its operating point.

    Parameters
    ----------
    system : System
    t_end : float
        End of the run (s).
    step : float or sequence of (float, float)
        Grid of the run (s): the step of a fixed-step method, the spacing of results of another. Pairs
        ``(from time, step)`` change it on the way: ``[(0, 0.001), (0.4, 0.01)]``.
    method : str
        ``"theta"``, ``"ida"``, or what a plugin registered.
    t0 : float
        Start of the run (s).
    checkpoint : {"auto", "memory", "disk"}, Path or number
        Where the states are kept: in memory as long as they fit in `memory`, and in a temporary file
        beyond; in memory; in a temporary file, in this directory if one is given, gone with the run; or,
        of a theta method, in no more than this many bytes of memory: what is not kept is computed again,
        the same to the last bit, when it is read.
    memory : float, optional
        Bytes of states that ``"auto"`` keeps in memory; by default a quarter of what the machine has.
    record : str or iterable of str, optional
        Keep these quantities only, by address or shell-style pattern: ``["GEN*.omega", "BUS7.Vm"]``. A
        run that keeps a part of its states cannot be differentiated.
    progress : callable, optional
        Called with the time reached, at every point of the grid.
    **options
        Of the method: ``theta`` (0.5 to 1) for ``"theta"``; ``rtol``, ``atol`` for ``"ida"``.

    Returns
    -------
    Run

    Raises
    ------
    ConvergenceError, EventError
        With the place and the time; what was computed before is in the error's ``run``.
    """
    if not (np.isfinite(t_end) and t_end > t0):
        raise CaseError(f"t_end = {t_end!r} must be a number after t0 = {t0:g}")
    grid(step, t0, t_end)  # refused before anything is made
    began = clock_time.perf_counter()
    stepper = plugins.integrators[method].make(system, finest(step), **options)
    kept = states(checkpoint, system.n, None if record is None else needed(system, record), memory)
    if isinstance(kept, Recomputed) and stepper.theta is None:
        raise CaseError(f"checkpoint = {checkpoint!r}: a run of method '{method}' cannot be recomputed step by step; "
                        "use 'disk'")
    driver = Driver(system, stepper, step, t0, t_end, kept)
    settings = {"method": method, "step": step, "t0": t0, "t_end": t_end, **options}

    def finish() -> Run:
        driver.tape.trim()
        counters = driver.counters + driver.newton.counters() + stepper.counters
        return Run(system, driver.tape, settings, dict(counters),
                   {"simulate": clock_time.perf_counter() - began})

    try:
        driver.run(progress)
    except GridcoreError as error:
        error.run = finish()  # type: ignore[attr-defined]
        raise
    return finish()
