"""The loop of a run: grid, timers, pending actions, located crossings, switches; all go on the tape.

A :class:`~gridcore.integrate.base.Stepper` makes one step at a time; events are handled here, the same for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from .. import numerics
from ..equilibrium import Equilibrium
from ..errors import CaseError, ConvergenceError, EventError, PluginError
from ..linear import Newton, all_finite
from ..results import Run
from ..tape import GRID, STANDARD, Arm, Cancel, Method, Resolve, Settings, Spacing, Switch, Tape, finest, grid
from ..tape.checkpoints import Checkpoint, InMemory, Recomputed, States, segment_length
from .base import Advance, Stepper
from .continuation import Triggers, continued
from .first import first, first_by_itself
from .guards import Watch
from .instants import Instant
from .round_off import visible

_HALVINGS = 20  # attempts to find an event before the end of a step that has no solution
_CHATTER = 100  # switches within a spacing of the grid, 10 ms at most, or at one instant, that are chattering
_REPETITIONS = 10  # of one of these, or locations of one guard in a row at one time, that are chattering
_NONE = np.zeros(0, dtype=int)


class Driver:
    """One run of a system under a stepper, in a workspace of its own."""

    def __init__(self, system: Equilibrium, stepper: Stepper, method: Method, step: Spacing, t0: float, t_end: float,
                 states: States | None = None, mesh: np.ndarray | None = None):
        self.began, self.tells_each = perf_counter(), False  # of points that are made at once, or of the last of them
        if isinstance(states, Recomputed) and not stepper.one_step:
            raise CaseError(f"checkpoint: a run of '{method.name}' cannot be recomputed step by step; use 'disk'")
        self.system, self.stepper, self.steppers = system, stepper, [stepper]
        self.ws = ws = system.workspace()
        self.Z, self.newton, self.watch = ws.Z, Newton(ws), Watch(system.switching)
        ws.guards = self.watch.margins
        self.gamma, self.guarded = np.zeros(len(self.watch.direction)), len(self.watch.direction) > 0
        self.tape = Tape(states or InMemory(system.n), methods=[method])
        self.t, self.clock = t0, GRID
        # points of the grid behind; settings before the tape, when it is a part replayed
        self.reached = self._settings_before = 0
        self.counters = Counter(steps=0, switches=0, guard_evaluations=0)
        self.before: Mapping[str, int] = {}  # counters of the run that this one goes on from
        self.spacing = finest(step)
        self.slack = numerics.SAME_TIME * self.spacing
        self._switches: list[tuple[float, str]] = []
        self._most = _CHATTER + len(system.switching.timers)
        self._repeated = -1, 0, 0.0  # the guard located last, how often in a row at one time, and that
        self._ahead: tuple[float, np.ndarray] | None = None  # where a step that the method has made already ends
        self.instant, self.visible = Instant(self.newton, system.system), partial(visible, self.newton, system.system)
        system.islands.settle(self.Z)
        self.Z[-1] = t0
        self.refresh()
        ws.mass[:], ws.c[:] = ws.differential, np.where(ws.differential, 0.5 * self.spacing, -1.0)  # as in a step
        ws.pivots.keep(ws.matrix())  # segments begin with pivots that no segment before them has found
        self.timers: list[tuple[float, int, int]] = []  # those to come, in order of time: time, number, clock
        clocks: dict[int, int] = {}
        for number, trigger in enumerate(system.switching.timers):
            at = float(self.Z[trigger.time])
            if at < t0:
                raise CaseError(f"{trigger} is at {at:g} s, before the start of the run at {t0:g} s")
            if trigger.time not in clocks:
                clocks[trigger.time] = self.tape.clock("timer", trigger.time)
            self.timers.append((at, number, clocks[trigger.time]))
        self.timers.sort(key=lambda timer: timer[0])
        self.grid = grid(step, t0, t_end) if mesh is None else np.append(mesh[mesh < t_end - self.slack], t_end)
        expected = 1 + int((t_end - t0) / self.spacing) if stepper.makes_grid else len(self.grid)
        self.tape.states.reserve(expected + 2 + 3 * len(self.timers), stepper.makes_grid)
        self.timers.append((np.inf, -1, GRID))  # so that there is always a next one

    def run(self, progress: Callable[[float], None] | None = None) -> None:
        """To the end, or to an error."""
        if isinstance(self.tape.states, Recomputed):
            self.tape.states.replay = self._replay
        self.new_segment()
        self.go_on(progress)

    def result(self, settings: Mapping[str, Any]) -> Run:
        """What was run so far."""
        self.tape.states.trim()
        work = self.work()
        if self.tape.last is not None and self._goes_on_from_its_end:
            self.tape.last = replace(self.tape.last, counters=work)
        return Run(self.system, self.tape, dict(settings), work, {"simulate": perf_counter() - self.began})

    def work(self) -> dict[str, int]:
        """What was done so far: counts in all; of a number that counts nothing, an error say, the largest."""
        work = Counter(self.before) + Counter(resolve_iterations=self.newton.iterations)
        for counters in (self.counters, self.newton.counters(), *(stepper.counters for stepper in self.steppers)):
            for name, count in counters.items():
                work[name] = max(work[name], count) if isinstance(count, float) else work[name] + count
        return dict(+work)

    @property
    def _goes_on_from_its_end(self) -> bool:
        """Whether a run that continues this one begins at its end, and not where its last segment does."""
        return not self.stepper.one_step or self.stepper.makes_grid

    def go_on(self, progress: Callable[[float], None] | None = None) -> None:
        """To the end of the grid."""
        if not len(self.tape.settings):
            self._begin()
        while self.reached < len(self.grid):
            if self._asks and self._stretch(progress):
                continue
            end = float(self.grid[self.reached])
            if self.t < end - self.slack:
                if self.tape.points >= self._segment_full and self.instant.apart is None:
                    self.new_segment()
                    continue
                self._advance(end)
            if self.t >= end - self.slack:
                if self.clock != GRID:  # the events at a point of the grid are made before it
                    self._zero_step(GRID)
                self.reached += 1
            elif self.clock != GRID or not self.stepper.makes_grid:
                continue  # an event between points of the grid
            if self._goes_on_from_its_end:
                self.tape.last = self._checkpoint({})  # what was counted is added at the end
            if progress is not None:
                progress(self.t)

    def _stretch(self, progress: Callable[[float], None] | None) -> bool:
        """Steps in which nothing happens, as many at once as the method makes so; whether the next one may be such."""
        room, sides = min(self._segment_full - self.tape.points, segment_length(self.system.n)), self.watch.sides
        own = self.stepper.makes_grid
        due = min(self.timers[0][0], *(time for time, _ in self.watch.pending.values()), np.inf)
        ends = self.grid[self.reached: self.reached + (1 if own else int(room))]
        ends = np.where(ends < due - self.slack, ends, due) if own else ends[ends < due - self.slack]
        ahead = len(ends) and self.t < ends[0] - self.slack
        if room < 1 or sides is None or self.instant.apart is not None or not ahead:
            return False
        made = self.stepper.stretch(self.t, ends, int(room), self.system.switching.batches, sides)
        self._asks = made is not None
        if made is None:
            return False
        count = len(made.times) - 1
        if made.ahead:
            self._ahead = float(self.Z[-1]), self.ws.X.copy()
            self.ws.X[:], self.Z[-1] = made.X[0], self.t
        size = 1 if self.tells_each else max(count, 1)
        try:
            for k in range(0, count, size):
                self.tape.path(self.clock, made.times[k: k + size + 1], made.X[k: k + size + 1])
                self.t, self.clock, self.reached = float(made.times[k + size]), GRID, self.reached + size * (not own)
                self.ws.X[:], self.Z[-1] = made.X[k + size], self.t
                self.counters["steps"] += size
                self.counters["guard_evaluations"] += size * self.guarded
                if progress is not None:
                    progress(self.t)
        finally:
            self.gamma = self.system.switching.values(self.Z)
            if self._goes_on_from_its_end:
                self.tape.last = self._checkpoint({})  # what was counted is added at the end
        return not made.ahead and count == (room if own else len(ends))

    def new_segment(self) -> None:
        """From here on nothing of what was before matters but the state: the run can be replayed from here."""
        self._restart(self.tape.points)
        self.tape.last = self._checkpoint({} if self._goes_on_from_its_end else self.work())
        self.tape.states.start(self.tape.last)

    def _restart(self, point: int) -> None:
        """At this point, with which a segment begins; a method that needs more than the state goes on in it."""
        self._segment_full = point + segment_length(self.system.n) if self.stepper.one_step else np.inf
        self._ahead, self._asks, self.instant.apart = None, True, None
        self.stepper.restart(self.ws, self.t)
        self.newton.renew()

    def refresh(self, changed: np.ndarray | None = None) -> None:
        """Parameters or modes have changed, all or those at these positions: what follows in the workspace."""
        self.ws.refresh(changed)
        self.ws.differential[:] = self.system.differential(self.Z)

    def _checkpoint(self, work: Mapping[str, int]) -> Checkpoint:
        tape, watch = self.tape, self.watch
        return Checkpoint(
            self.ws.X.copy(), self.ws.noise.copy(), self.t, self.clock, tape.points, len(tape.records),
            len(tape.clocks), self._settings_before + len(tape.settings), self.reached, self.timers,
            watch.active.copy(), watch.side.copy(), dict(watch.pending), work)

    def go_to(self, at: Checkpoint, settings: Settings) -> None:
        """To a checkpoint of a run with these settings."""
        self.t, self.clock, self.reached, self.timers = at.t, at.clock, at.reached, at.timers
        self._switches.clear()
        self.watch.restore(at)
        self.ws.X[:], self.ws.noise[:], self.Z[-1] = at.X, at.noise, at.t
        self.Z[self.system.n:-1] = settings[max(at.settings - 1, 0)]
        self.refresh()
        if at.settings:
            self._evaluate_guards()

    def _replay(self, at: Checkpoint) -> None:
        """Run on from a checkpoint as before."""
        whole = self.tape
        self.tape = Tape(whole.states, list(whole.clocks), methods=whole.methods)
        self._settings_before = max(at.settings - 1, 0)
        self.go_to(at, whole.settings)
        if at.settings:
            self.tape.settings = Settings([self.Z[self.system.n:-1]])
        self._restart(0)
        try:
            self.go_on()
        finally:
            self.tape = whole

    def _begin(self) -> None:
        self._evaluate_guards()
        self.watch.refresh(self.Z, self.gamma)
        self.tape.settings.append(self.Z[self.system.n:-1])
        self.tape.point(self.t, self.Z[: self.system.n], GRID)
        if self.t != 0 and self.ws.time_slope() is not None:  # the operating point is one at time zero
            self._switch(())
        self.newton.hold(self.ws.differential)
        self._events(self.watch.fired_by_jump(self.gamma, self.visible))

    def _zero_step(self, clock: int) -> None:
        """A step of no length to another clock: that of the next event of this instant, or the grid."""
        self.tape.point(self.t, self.Z[: self.system.n], clock)  # before the record: there may be no room for it
        self.tape.records.step(self.tape.points - 2, 0.0, self.clock, clock)
        self.clock = clock
        self.instant.part()

    def _evaluate_guards(self) -> None:
        """The guards at the present point."""
        if self.guarded:
            self.counters["guard_evaluations"] += 1
            self.gamma = self.system.switching.values(self.Z)
            self.watch.check(self.gamma, float(self.Z[-1]))

    def _advance(self, end: float) -> None:
        """One step: to the next point of the grid, timer or pending action, or to a guard before it."""
        timer, pending, target, clock = self.timers[0][0], self.watch.pending, end, GRID
        due, its_clock = min(pending.values()) if pending else (np.inf, GRID)
        if timer <= end + self.slack:
            target, _, clock = self.timers[0]
        if due <= target + (self.slack if clock == GRID else 0.0):
            target, clock = due, its_clock
        start, before = self.clock, self.t
        located = self._step(target)
        tape, t, k = self.tape, self.t, self.tape.points - 1
        if located >= 0:
            again = self._repeated[0] == located and t - self._repeated[2] <= self.slack
            self._repeated = located, self._repeated[1] + 1 if again else 0, t
            if self._repeated[1] > _REPETITIONS:
                self._chattering(t)
            self.clock = tape.clock("guard", located)
        else:
            self.clock = clock if t == target else GRID  # an inner step of a variable-step method
        if t > before + self.slack:
            self.instant.apart = None
        elif located >= 0 and self.instant.apart is not None:
            self.instant.part(self.instant.lateness(np.array([located]))[0])
        tape.point(t, self.ws.X, self.clock)
        tape.records.step(k, t - before, start, self.clock, located, len(tape.methods) - 1)
        self.counters["steps"] += 1
        if located >= 0 or t >= timer - self.slack or t >= due - self.slack:
            self._events(np.array([located]) if located >= 0 else _NONE)
        elif self.guarded:
            self.watch.accept(self.gamma, _NONE, self.visible)

    def _step(self, target: float) -> int:
        """One step towards a target, ended at the first guard that fires within it; returns that guard, or -1."""
        begun, before, X = self.t, self.gamma, self.ws.X.copy()
        try:
            reached = self._reach(begun, target)
            if reached.rough and (located := first_by_itself(self, begun, reached.t, before, X)) >= 0:
                return located
            self.t = reached.t
            return self._first(begun, before, X)
        except (ConvergenceError, EventError) as error:  # damped corrections may also find the end on another branch
            return self._shorten(begun, target, before, X, error)

    def _first(self, begun: float, before: np.ndarray, X: np.ndarray) -> int:
        """The guard that fires first in the step that was made, which is ended there; -1 if none does."""
        self._evaluate_guards()
        fired = self.watch.fired(self.gamma)
        if not len(fired):
            return -1
        if not self.stepper.exact_ends:
            self.end_at(self.t)
            fired = self.watch.fired_by_jump(self.gamma, self.visible)
        else:  # what rests at zero but for round-off has not crossed it
            fired = fired[self.visible(fired, np.abs([self.gamma[fired], before[fired]]).max(axis=0), relative=True)]
        return first(self, begun, before, X, fired) if len(fired) else -1

    def _shorten(self, t: float, target: float, before: np.ndarray, X: np.ndarray, error: Exception) -> int:
        """A step from X that ends at a guard, where there is no solution at the target, or one of another branch."""
        low, high = t, target
        for _ in range(_HALVINGS):
            self.ws.X[:], self.Z[-1], part = X, t, 0.5 * (low + high)
            try:
                reached = self._reach(t, part)
                if reached.rough:
                    self.end_at(part)
                self.t = reached.t
                self._evaluate_guards()
                if len(self.watch.fired(self.gamma)):
                    return self._first(t, before, X)
                low = part
            except (ConvergenceError, EventError):
                high = part
        self.ws.X[:], self.t = X, t
        error.args = (f"{error}; the last time with a solution is t = {low:.9g} s",)
        raise error

    def _reach(self, t: float, target: float) -> Advance:
        """Advance to a target, or as far as the method goes."""
        if self._ahead is not None:
            (self.Z[-1], self.ws.X[:]), self._ahead = self._ahead, None
            return Advance(float(self.Z[-1]))
        reached = self.stepper.advance(t, target)
        if not t < reached.t <= target:
            raise PluginError(f"method '{self.stepper.name}' went to {reached.t:.9g} s, from {t:.9g} to {target:.9g} s")
        self._check_finite()
        return reached

    def end_at(self, t: float, solved: bool = False) -> None:
        """End the present step at `t`, in place of where it was ended last; `solved`: the method has done so."""
        if not solved:
            self.stepper.state_at(t)
        self._check_finite()
        self._evaluate_guards()

    def _check_finite(self) -> None:
        """Accept no state that is not finite, whoever made it."""
        if not all_finite(self.ws.X):
            place = self.ws.place(int(np.argmin(np.isfinite(self.ws.X))))
            raise ConvergenceError("the state is not finite", place=place, t=float(self.Z[-1]))

    def _events(self, fired: np.ndarray) -> None:
        """All that happens at this instant: the guards that fired, then what is due, one cause after the other, each
        on its own clock and followed by what it makes fire.
        """
        before, chain = set[int](), 0
        while chain < _CHATTER:
            triggers = self._fire(fired)
            before.update(int(guard) for guard in fired)
            chain += 1
            if not triggers:
                if len(fired) and len(fired := self.watch.fired_by_jump(self.gamma, self.visible)):
                    continue  # what cancels an action is across already
                due = self._due()
                if due is None:
                    return
                clock, triggers = due
                chain = 0
                if clock != self.clock:
                    self._zero_step(clock)
            acted = self._switch(triggers)
            before.update(guards := [number for kind, number in acted if kind == "guard"])
            self.watch.put_back(before, self.gamma, self.visible)
            for guard in guards:
                if self.watch.bounces(guard, self.gamma, self.visible):  # sent back at once, it may fire again
                    self.watch.turned(guard, self.instant.rates([guard])[0])
            fired = self.watch.fired_by_jump(self.gamma, self.visible)
        self._chattering(self.t)

    def _fire(self, fired: np.ndarray) -> Triggers:
        """What guards that fired do: the actions to be made now; delayed ones are armed, or cancelled."""
        self.watch.accept(self.gamma, fired, self.visible)
        triggers = []
        for guard in (int(g) for g in fired):
            cancelled = self.watch.cancelled_by(guard)
            trigger = self.system.switching.guards[guard]
            if cancelled >= 0:
                self.watch.disarm(cancelled)
                self.tape.records.append(Cancel(self.tape.points - 1, cancelled, guard))
                self.counters["cancellations"] += 1
            elif trigger.time >= 0:
                if not (delay := float(self.Z[trigger.time])) >= 0:
                    raise EventError(f"{trigger} has a delay of {delay:g} s", t=self.t)
                clock = self.tape.clock("delay", trigger.time, self.clock)
                self.watch.arm(guard, self.t + delay, clock)
                self.tape.records.append(Arm(self.tape.points - 1, guard, clock))
                self.counters["delays"] += 1
            else:
                triggers.append(("guard", guard))
        return tuple(triggers)

    def _due(self) -> tuple[int, Triggers] | None:
        """The clock and the triggers of what is due first at this instant: delayed actions, in the order in which they
        were decided before, then timers, in order of their numbers. None if nothing is.
        """
        now = self.t + self.slack
        if due := [(clock, guard) for guard, (time, clock) in self.watch.pending.items() if time <= now]:
            clock, guard = min(due)
            self.watch.disarm(guard)
            return clock, (("guard", guard),)
        if not (timers := [timer for timer in self.timers if timer[0] <= now]):
            return None
        clock = min(timers, key=lambda timer: timer[1])[2]
        self.timers = [timer for timer in self.timers if timer[2] != clock]
        return clock, tuple(("timer", number) for number in sorted(number for _, number, of in timers if of == clock))

    def _switch(self, triggers: Triggers) -> Triggers:
        """Make the changes, solve the algebraic equations again, see which guards are watched; returns what acted."""
        system, switching = self.system, self.system.switching
        k, chosen, before = self.tape.points - 1, switching.chosen(triggers), self.Z.copy()
        differential = self.ws.differential.copy()
        F = np.where(differential, 0.0, self.ws.rhs())
        changed = switching.apply(self.Z, chosen)
        system.check_rows(self.Z, changed)
        self.refresh(changed)
        jumps = not chosen or self._jumps(changed, F, differential)  # none: the run begins after time zero
        try:
            if jumps:
                changed = np.append(changed, system.at_moving_limit(self.Z)[:, 1])
                try:
                    self._resolve()
                except ConvergenceError:
                    triggers = continued(self, triggers, before, before[: system.n])
                    changed, chosen = np.arange(len(before) - 1), switching.chosen(triggers)
                    self._resolve()
        finally:
            self.tape.records.append(Switch(k, triggers, len(self.tape.settings)))
            self.tape.settings.append(self.Z[system.n:-1], changed[changed >= system.n] - system.n)
        self._check_finite()
        self.tape.point(self.t, self.Z[: system.n], self.clock)
        self.tape.records.append(Resolve(k))
        self.stepper.switch(self.ws, self.t, jumps)
        self.counters["switches"] += 1
        self.counters["events"] += len(triggers)
        self._switches += [(self.t, str(c)) for c in chosen]
        begun = self.t - min(self.spacing, STANDARD)
        if len(self._switches) > self._most and self._switches[-self._most - 1][0] > begun:
            self._chattering(begun, _REPETITIONS)
        self._evaluate_guards()
        self.watch.refresh(self.Z, self.gamma, changed)
        return triggers

    def _jumps(self, changed: np.ndarray, F: np.ndarray, differential: np.ndarray) -> bool:
        """Whether a switch that `changed` Z here moves anything by more than round-off; rows, and F, are of before."""
        ws, moved = self.ws, self.ws.rhs() - F
        at, = ((moved != 0) & ~ws.differential).nonzero()
        least = np.where(differential[at], numerics.NEWTON, numerics.ROUND_OFF) * (ws.scale[at] + np.abs(ws.X[at]))
        return bool((changed < self.system.n).any() or (np.abs(moved[at]) > least).any())

    def _resolve(self) -> None:
        """Solve the algebraic equations; a limit that jumps away lets its state go, which does not jump after it."""
        system = self.system
        self.counters["resolves"] += 1
        held = system.at_moving_limit(self.Z)
        before = self.Z[held[:, 0]]
        least = numerics.JUMP_OF_STATE * (self.ws.scale[held[:, 0]] + np.abs(before))
        self.newton.resolve(self.ws.differential, system.Z0[: system.n])
        free = held[(self.Z[held[:, 0]] - before) * self.Z[held[:, 1]] > least]
        if len(free):
            self.Z[held[:, 0]] = before
            self.Z[free[:, 1]] = 0.0
            self.refresh(free[:, 1])
            self.newton.resolve(self.ws.differential, system.Z0[: system.n])

    def _chattering(self, since: float, repeated: int = 0) -> None:
        """An error, if something happened more often than that."""
        count = Counter(name for t, name in self._switches if t >= since - self.slack)
        if max(count.values(), default=1) <= repeated:
            return
        names = ", ".join(f"{name} ({times} times)" for name, times in count.most_common(4))
        raise EventError(f"chattering: {names}", t=self.t)
