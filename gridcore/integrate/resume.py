"""A run that goes on from the end of another: its first part is that run, to the last bit.

It begins at the last checkpoint of that run, before which nothing matters but the state. What lies between there and
the last point of the grid is made again as it was; from that point on, grid and method may be others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CaseError
from ..results import Run
from ..tape import AUTO, Checkpoint, Recomputed, Records, Settings, States, Tape, finest, grid, parts_of, span, states
from .base import new_stepper
from .control import TOLERANCES, stepper_on, tolerances
from .driver import Driver


class Resumed(Driver):
    """The driver of such a run, with the `settings` of the whole; where `step` or `method` is None it is as before.

    A run that failed goes on from the last point of its grid. One of a method that is not one-step goes on from its end
    with a restart, which is right to its tolerances.
    """

    def __init__(self, run: Run, t_end: Any, step: Any, method: str | None, options: Mapping[str, Any],
                 checkpoint: str | Path | float = AUTO, memory: float | str | None = None):
        last, made_by, was, t0 = run.tape.last, run.tape.methods[-1], run.settings["step"], run.settings["t0"]
        if last is None:
            raise CaseError("this run was not simulated: it cannot be continued")
        mesh = run.tape.mesh()
        behind, end = run.t[mesh], float([t0, *run.t[mesh[-1:]]][-1])
        same = step is None or step == was
        step, begin, t_end = span(was if same else step, t0 if same else end, t_end, run.system.case.frequency)
        if t_end <= max([end, *run.t[-1:]]):
            raise CaseError(f"t_end = {t_end:g} must be after the end of the run, {run.t[-1]:.9g} s")
        ahead = grid(step, begin, t_end)
        if not same and step != AUTO:
            step = [*(part for part in parts_of(was, t0, end) if part[0] < end), *parts_of(step, end, t_end)]
        name = method or made_by.name
        own = name == made_by.name
        chosen = {key: run.settings[key] for key in TOLERANCES if own and step == AUTO and key in run.settings}
        stepper, described = stepper_on(step, name, {**made_by.options, **chosen, **options} if own else options)
        self.other = None if same and described == made_by and step != AUTO else (stepper, described)
        tape = _until(last, run, checkpoint, memory)
        super().__init__(run.system, new_stepper(made_by.name, finest(was), made_by.options)[0], made_by, was, t0,
                         t_end, tape.states)
        near = ahead[np.abs(ahead - end) <= self.slack]
        if same and len(near) and len(behind):  # where the end was cut off by round-off, it is the grid's again
            behind[-1] = near[0]
        self.tape, self.grid = tape, behind
        if not self.stepper.one_step:  # its steps from here on do not read those before
            tape.methods.append(made_by)
        self.ahead = np.concatenate([behind, ahead[ahead > end + self.slack]])
        self.go_to(last, run.tape.settings)
        self.reached = int(np.count_nonzero(mesh < last.points))
        self.counters.clear()
        self.before, self.began = last.counters, self.began - run.timings.get("simulate", 0.0)
        self.settings = {**(run.settings if own else {}), "method": name, "step": step, "t0": t0, "t_end": t_end,
                         **tolerances(stepper), **options}

    def run(self, progress: Callable[[float], None] | None = None) -> None:
        """To the last point of the other run's grid, as it was; and on."""
        super().run()
        if self.other:
            self.stepper, method = self.other
            self.steppers.append(self.stepper)
            alike = method == self.tape.methods[-1]  # so far: in its options the stepper leaves what it chooses
            self.tape.methods[len(self.tape.methods) - alike:] = [method]
            self.new_segment()
        self.grid = self.ahead
        self.go_on(progress)


def _until(last: Checkpoint, run: Run, checkpoint: str | Path | float, memory: float | str | None) -> Tape:
    """What there was of the tape of a run at a checkpoint, by itself."""
    tape = run.tape
    kept = states(checkpoint, run.system.n, tape.states.recorded, memory)
    if isinstance(kept, Recomputed):
        raise CaseError(f"checkpoint = {checkpoint!r}: a run that is continued cannot be computed again from its "
                        "start; use 'disk'")
    _copy(tape.states, kept, last.points)
    return Tape(kept, tape.clocks[: last.clocks], tape.point_clock[: last.points],
                Settings(itertools.islice(tape.settings, last.settings)), Records(tape.records[: last.records]),
                list(tape.methods), tape.times[: last.points])


def _copy(there: States, here: States, points: int) -> None:
    """The first points of a run's states."""
    X = np.empty(there.n)
    at = slice(None) if there.recorded is None else there.recorded
    here.reserve(points)

    def see(first: int, rows: np.ndarray) -> None:
        for X[at] in rows[: max(points - first, 0)]:
            here.append(X)

    there.visit(see)
