"""A finished run: its tape, seen by name."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..case import Address, is_pattern, patterns_of, split
from ..errors import CaseError, GridcoreError
from ..registry import registries as plugins
from ..tape import Arm, Cancel, States, Switch, Tape
from .quantities import recorded, values

if TYPE_CHECKING:
    from ..equilibrium import Equilibrium


@dataclass(frozen=True)
class Event:
    """Something that happened: when (s), to which device, which of its guards or timers, in words.

    `kind` is ``"switch"``, ``"delay started"`` or ``"cancelled"``; `place` is where it happened: for a
    study's event the bus, device or parameter that it acts on, otherwise the device.
    """

    t: float
    device: str
    item: str
    kind: str
    what: str
    place: str

    @property
    def words(self) -> str:
        """``"BUS7: fault"``, without the time."""
        return f"{self.place}: {self.what}" + ("" if self.kind == "switch" else f" ({self.kind})")

    def __str__(self) -> str:
        return f"{self.t:.7f} s  {self.words}"


class Points(ABC):
    """Points in time at which everything is known by name: those of a run, some of them, or instants between them.

    Attributes
    ----------
    system : Equilibrium
    tape : Tape
    settings : dict
        Of the run: method, step, span and options.
    """

    system: Equilibrium
    tape: Tape
    settings: dict[str, Any]

    @property
    @abstractmethod
    def t(self) -> np.ndarray:
        """(points,) times (s)."""

    @property
    @abstractmethod
    def point_settings(self) -> np.ndarray:
        """(points,) number of the settings (parameters and modes) that hold at each point."""

    @property
    def states(self) -> States:
        """Where the variables are kept."""
        return self.tape.states

    def _columns(self, at: np.ndarray) -> np.ndarray:
        """(points, len(at)) variables."""
        return self.states.columns(at)

    def __getitem__(self, key: Address | list[Address]) -> Any:
        """``run["GEN2.omega"]`` or ``run["GEN2", "omega"]``: a variable, quantity, parameter, input or mode, (points,).

        A pattern, ``run["GEN*.omega"]``, or a list of addresses and patterns gives an ``xarray.DataArray`` with labels.

        Raises
        ------
        CaseError, DeviceError
            If there is no such device or name; the nearest are offered.
        """
        if isinstance(key, list) or is_pattern(*patterns_of([key])):
            return plugins.analyses["labelled"].function(self, key if isinstance(key, list) else [key])
        address, = patterns_of([key])
        device, name = split(address, "quantity", "GEN2.omega")
        return self.of([device], name)[:, 0]

    def of(self, devices: str | Iterable[str], name: str) -> np.ndarray:
        """(points, devices) the same quantity of several devices, or of one; as ``run[device, name]`` for each."""
        return values(self, [devices] if isinstance(devices, str) else list(devices), name)

    def read(self, positions: np.ndarray) -> np.ndarray:
        """(points, len(positions)) entries of the system's buffer Z."""
        positions = np.asarray(positions)
        n, last = self.system.n, self.system.layout.t
        out = np.empty((len(self.t), len(positions)))
        variable, time = positions < n, positions == last
        if variable.any():
            out[:, variable] = self._columns(positions[variable])
        out[:, time] = self.t[:, None]
        rest = ~(variable | time)
        if rest.any():
            numbers, inverse = np.unique(self.point_settings, return_inverse=True)
            settings = np.array([self.tape.settings[k][positions[rest] - n] for k in numbers])
            out[:, rest] = settings[inverse]
        return out

    @functools.cached_property
    def events(self) -> list[Event]:
        """What happened, in order."""
        switching = self.system.switching
        happened: list[tuple[int, Any, str, str]] = []
        for record in self.tape.records.others:
            if isinstance(record, Switch):
                for (kind, _), trigger in zip(record.triggers, switching.chosen(record.triggers), strict=True):
                    place = self._target(trigger.device) if kind == "timer" else trigger.device
                    happened.append((record.k, trigger, "switch", place))
            elif isinstance(record, Arm | Cancel):
                trigger = switching.guards[record.guard]
                kind = "delay started" if isinstance(record, Arm) else "cancelled"
                happened.append((record.k, trigger, kind, trigger.device))
        return [Event(float(self.tape.t[k]), trigger.device, trigger.item, kind, trigger.what, place)
                for k, trigger, kind, place in happened]

    def _target(self, device: str) -> str:
        """What an event of a study acts on: its port, or the parameter that it refers to."""
        instance = self.system.layout.instances[self.system.layout.find(device)]
        references = [instance.words[name] for name in instance.device.declares.references]
        return next(iter([*references, *instance.ports.values()]), device)

    to_xarray = plugins.AsMethod("dataset")
    to_pandas = plugins.AsMethod("data_frame")
    peaks = plugins.AsMethod("peaks")
    _ipython_key_completions_ = plugins.AsMethod("addresses")


class Run(Points):
    """Results of a simulation.

    Attributes
    ----------
    system : Equilibrium
    tape : Tape
        Every operation, for replay.
    settings : dict
        Method, step, span and options.
    counters : dict
        Steps, events, Newton iterations by what they are for, factorisations, solves.
    timings : dict
        Seconds spent, by stage.
    """

    def __init__(self, system: Equilibrium, tape: Tape, settings: dict[str, Any], counters: dict[str, int],
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

    def keeps(self, devices: Iterable[str], name: str) -> bool:
        """Whether this quantity of all these devices was recorded."""
        devices = list(devices)
        return recorded(self, devices, name) == devices

    def stretches(self, see: Callable[[Stretch], None]) -> None:
        """Call a function for all parts of the run, in order: none of them is large."""
        self.tape.states.visit(lambda first, X: see(Stretch(self, first, X)))

    def around(self, k: int) -> Stretch:
        """The part of the run in which point `k` is."""
        return Stretch(self, *self.tape.states.around(k))

    @functools.cached_property
    def point_settings(self) -> np.ndarray:
        """(points,) number of the settings (parameters and modes) that hold at each point."""
        return self.tape.point_settings()

    at = plugins.AsMethod("interpolated")
    resample = plugins.AsMethod("resampled")
    summary = plugins.AsMethod("summary")

    def save(self, path: str | Path, **options: Any) -> None:
        """Write the run, in the format that the file's suffix stands for.

        Parameters
        ----------
        path : str or Path
            ``.nc`` is a NetCDF file, from which :func:`load_run` gives this run back bit for bit; ``.csv`` is a table.
        **options
            Of the format: ``columns=["GEN*.omega"]`` of ``.csv``.

        Raises
        ------
        GridcoreError
            If there is no such format, or the file cannot be written.
        """
        path = Path(path)
        exporter = plugins.exporters.of_file(path)
        if exporter is None:
            known = ", ".join(sorted(plugins.exporters))
            raise GridcoreError(f"{path}: runs are not written in this format; there are: {known}")
        exporter.write(self, path, **options)

    @functools.cached_property
    def provenance(self) -> dict[str, str]:
        """What made it: version, date, command, case fingerprint, options, libraries, machine. Of a run that was
        loaded, what its file says; else as it is when it is first asked for, which the first :meth:`save` does.
        """
        return plugins.analyses.provenance(self)

    citations = plugins.AsMethod("citations")
    _repr_html_ = plugins.AsMethod("html")

    def __repr__(self) -> str:
        return (f"<Run of '{self.system.case.name}': {self.settings['method']}, {self.t[0]:g} to "
                f"{self.t[-1]:g} s, {self.counters.get('steps', 0)} steps, {len(self.events)} events>")


class Stretch(Points):
    """Some points of a run, one after the other.

    Attributes
    ----------
    first : int
        Number of its first point.
    points : slice
        Its points.
    """

    def __init__(self, run: Run, first: int, X: np.ndarray):
        self.run, self.system, self.tape, self.settings = run, run.system, run.tape, run.settings
        self._X, self.first, self.points = X, first, slice(first, first + len(X))

    @property
    def t(self) -> np.ndarray:
        """(points,) times (s)."""
        return self.run.t[self.points]

    @property
    def point_settings(self) -> np.ndarray:
        """(points,) number of the settings that hold at each point."""
        return self.run.point_settings[self.points]

    def _columns(self, at: np.ndarray) -> np.ndarray:
        return self._X[:, self.states.place(at)]


def check_run(given: Any, kind: type = Run) -> None:
    """Refuse what is no run, or no points of one, by a CaseError."""
    if not isinstance(given, kind):
        raise CaseError(f"{given!r} is no run: gc.simulate makes one of a system")


def load_run(path: str | Path) -> Run:
    """A run that :meth:`Run.save` wrote, with its system assembled again: to be looked at or replayed.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    GridcoreError
        If the file is not there or is no run, or runs in its format can only be written.
    """
    path = Path(path)
    found = plugins.exporters.of_file(path)
    if found is None or found.read is None:
        what = "runs in this format can be written only" if found else "is not a run of gridcore"
        known = ", ".join(suffix for suffix in sorted(plugins.exporters) if plugins.exporters[suffix].read)
        raise GridcoreError(f"{path}: {what}; formats that can be read: {known}")
    return found.read(path)
