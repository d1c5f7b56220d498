"""A finished run: its tape, seen by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .trajectory import Arm, Cancel, Switch, Tape

if TYPE_CHECKING:
    from .dae import System


@dataclass(frozen=True)
class Event:
    """Something that happened: when (s), to which device, which of its guards or timers, in words.

    `kind` is ``"switch"``, ``"delay started"`` or ``"cancelled"``.
    """

    t: float
    device: str
    item: str
    kind: str
    what: str

    def __str__(self) -> str:
        more = "" if self.kind == "switch" else f" ({self.kind})"
        return f"{self.t:.7f} s  {self.device}: {self.what}{more}"


class Run:
    """Results of a simulation.

    Attributes
    ----------
    system : System
    tape : Tape
        Every operation, for replay.
    settings : dict
        Method, step, span and options.
    counters : dict
        Steps, Newton iterations, factorisations, solves, events.
    timings : dict
        Seconds spent, by stage.
    """

    def __init__(self, system: System, tape: Tape, settings: dict[str, Any], counters: dict[str, int],
                 timings: dict[str, float]):
        self.system, self.tape, self.settings = system, tape, settings
        self.counters, self.timings = counters, timings

    @property
    def t(self) -> np.ndarray:
        """(points,) times (s). An instant at which something switched stands twice: before and after."""
        return self.tape.t

    @property
    def X(self) -> np.ndarray:
        """(points, n) all variables, in the order of ``system.variables``."""
        return self.tape.X

    def __getitem__(self, key: tuple[str, str]) -> np.ndarray:
        """``run["GEN2", "omega"]``: a variable, quantity, parameter, input or mode, (points,).

        Raises
        ------
        CaseError, DeviceError
            If there is no such device or name; the nearest are offered.
        """
        device, name = key
        function, gather = self.system.quantity(device, name)
        inputs = self._values(gather)
        return np.asarray(function.map(len(self.t))(inputs.T)).ravel()

    def _values(self, gather: np.ndarray) -> np.ndarray:
        """(points, len(gather)) entries of Z along the run."""
        n, size = self.system.n, self.system.layout.size
        settings = np.array(self.tape.settings)[self.point_settings]
        out = np.empty((len(self.t), len(gather)))
        for column, at in enumerate(gather):
            out[:, column] = self.X[:, at] if at < n else self.t if at == size - 1 else settings[:, at - n]
        return out

    @property
    def point_settings(self) -> np.ndarray:
        """(points,) number of the settings (parameters and modes) that hold at each point."""
        numbers = np.zeros(len(self.t), dtype=int)
        for record in self.tape.records:
            if isinstance(record, Switch):
                numbers[record.k + 1:] = record.settings
        return numbers

    @property
    def events(self) -> list[Event]:
        """What happened, in order."""
        guards, timers = self.system.switching.guards, self.system.switching.timers
        out = []
        for record in self.tape.records:
            if isinstance(record, Switch):
                for kind, number in record.triggers:
                    trigger = (timers if kind == "timer" else guards)[number]
                    out.append(Event(float(self.t[record.k]), trigger.device, trigger.item, "switch", trigger.what))
            elif isinstance(record, Arm | Cancel):
                trigger = guards[record.guard]
                kind = "delay started" if isinstance(record, Arm) else "cancelled"
                out.append(Event(float(self.t[record.k]), trigger.device, trigger.item, kind, trigger.what))
        return out

    def __repr__(self) -> str:
        return (f"<Run of '{self.system.case.name}': {self.settings['method']}, {self.t[0]:g} to {self.t[-1]:g} s, "
                f"{self.counters.get('steps', 0)} steps, {len(self.events)} events>")
