"""Recordings and parameters as a problem of least squares: residuals, and their exact derivatives.

A trial changes numbers in assembled systems, and simulates: nothing is traced or compiled again.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.case import Address, convert, patterns_of
from gridcore.equilibrium import as_system, starting_at
from gridcore.errors import CaseError, GridcoreError
from gridcore.integrate import simulate
from gridcore.results import base_of, select
from gridcore.sensitivity import Objective, Request, Sampling, Sum, adjoint, unit_of, warn_of_coincidence
from gridcore.suggest import suggest
from gridcore.tape import Spacing, span
from gridcore_verbs.units import number

from .measurements import Measurements, as_measurements
from .sampling import Samples, by_adjoint, forward, sampled, simulated

if TYPE_CHECKING:
    from gridcore.equilibrium import Equilibrium
    from gridcore.results import Run

_KEPT = 3  # trials whose runs are kept: the present one, the last, and one between


class TrialFailed(GridcoreError):
    """A trial has no simulation, and why."""


@dataclass
class Recording:
    """Measurements of one event, and the system in which it is simulated.

    Parameters
    ----------
    system : Equilibrium, or Case or str
        Or what :func:`gridcore.build` takes, which is built.
    data : Measurements, or path, xarray.Dataset or xarray.DataArray
        Or what they are in, which is read.
    step : float or sequence of (float, float)
        Grid of the simulation (s), as for :func:`gridcore.simulate`.
    name : str
        By which parameters of this recording alone are told: ``"monday:step.by"``.
    t_end : float or str, optional
        End of the simulation (s, or a text with a unit), by default that of the measurements.
    options : mapping
        Further arguments of :func:`gridcore.simulate`: ``{"method": "trbdf2"}``, of a method with derivatives.
    """

    system: Equilibrium
    data: Measurements
    step: Spacing = 0.01
    name: str = ""
    t_end: float | str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.system, self.data = as_system(self.system), as_measurements(self.data)


@dataclass(frozen=True)
class Parameter:
    """What is estimated.

    Attributes
    ----------
    name : str
        Its address; of one that belongs to one recording alone, ``"recording:address"``.
    address : str
    recordings : tuple of int
        The recordings that have it.
    unit : str
    start : float
    low, high : float
        What its device allows.
    """

    name: str
    address: str
    recordings: tuple[int, ...]
    unit: str
    start: float
    low: float
    high: float


@dataclass
class _Trial:
    """The runs at one point, and what they give for the samples."""

    runs: list[Run]
    samplings: list[Sampling]
    values: list[np.ndarray]


class Problem:
    """Recordings of events, and the parameters that all of them are to be explained by.

    Parameters
    ----------
    recordings : sequence of Recording
    wrt : str or iterable of str
        Parameters, event times, thresholds, delays, and states (their initial values), by address and
        pattern; ``"name:address"`` is one of the recording of that name alone.

    Attributes
    ----------
    parameters : list of Parameter
    samples : int
    value, weight : (samples,) arrays
        In the units of the quantities; recordings one after the other.
    runs, sweeps, failures : int
        Work done.
    """

    def __init__(self, recordings: Sequence[Recording], wrt: Address | Iterable[Address]):
        self.recordings = list(recordings)
        if not self.recordings:
            raise CaseError("there are no recordings to estimate from")
        names = [r.name for r in self.recordings if r.name]
        if len(set(names)) < len(names):
            raise CaseError(f"two recordings are called '{max(names, key=names.count)}'")
        self.attached = [_attach(r) for r in self.recordings]
        self.parameters = self._parameters(patterns_of(wrt))
        self._mine = [[j for j, p in enumerate(self.parameters) if k in p.recordings]
                      for k in range(len(self.recordings))]
        ends = np.cumsum([0, *(len(a.time) for a in self.attached)])
        self.rows = [slice(a, b) for a, b in itertools.pairwise(ends)]
        self.samples = int(ends[-1])
        self.value = np.concatenate([a.value for a in self.attached])
        self.weight = np.concatenate([a.root**2 for a in self.attached])
        self.runs = self.sweeps = self.failures = 0
        self._trials: dict[bytes, _Trial] = {}
        self._warned = False

    def _parameters(self, patterns: Sequence[str]) -> list[Parameter]:
        found: dict[str, tuple[str, list[int]]] = {}
        names = {r.name: k for k, r in enumerate(self.recordings) if r.name}
        for pattern in patterns:
            prefix, colon, rest = pattern.partition(":")
            alone = bool(colon) and prefix in names
            wrong: CaseError | None = None
            matched = False
            for k in [names[prefix]] if alone else range(len(self.recordings)):
                try:
                    wanted = Request.of(self.recordings[k].system, rest if alone else pattern, "power flow")
                except CaseError as error:
                    wrong = wrong or error
                    continue
                matched = True
                for address in wanted.names:
                    name = f"{prefix}:{address}" if alone else address
                    mine = found.setdefault(name, (address, []))[1]
                    if k not in mine:
                        mine.append(k)
            if not matched and wrong is not None:
                hint = suggest(prefix, names) if colon and names and not alone else ""
                raise CaseError(f"{wrong}" + (f" (no recording is called '{prefix}'{hint})" if hint else ""))
        if not found:
            raise CaseError("there are no parameters to estimate: wrt is empty")
        shared = {(address, k) for name, (address, ks) in found.items() if name == address for k in ks}
        for name, (address, ks) in found.items():
            if name != address and (address, ks[0]) in shared:
                raise CaseError(f"{name} and {address} are the same parameter: ask for one of them")
        return [self._parameter(name, address, ks) for name, (address, ks) in found.items()]

    def number(self, name: str, given: float | str) -> float:
        """A value in the unit of a parameter, which may be one of a single recording; text may have another unit."""
        of, _, address = name.rpartition(":")
        case = next((r for r in self.recordings if r.name == of), self.recordings[0]).system.case
        return number(case, address, given) if isinstance(given, str) else float(given)

    def _parameter(self, name: str, address: str, recordings: list[int]) -> Parameter:
        system = self.recordings[recordings[0]].system
        device, _, item = address.rpartition(".")
        instance = system.instances[system.layout.find(device)] if device in system.layout.number else None
        states = {f"{d}.{v}": at for at, (d, v) in enumerate(system.variables)}
        if address in states:
            return Parameter(name, address, tuple(recordings), unit_of(system, device, item),
                             float(system.Z0[states[address]]), -np.inf, np.inf)
        if instance is None or item not in instance.values:
            raise CaseError(f"{address} is not a parameter that the case gives: it cannot be estimated")
        bounds = instance.device.declares.params[item].bounds
        low, high = (max((bounds[k] for k in ("gt", "ge") if k in bounds), default=-np.inf),
                     min((bounds[k] for k in ("lt", "le") if k in bounds), default=np.inf))
        start = float(system.Z0[system.layout.address(address)])
        if not np.isfinite(start):
            raise CaseError(f"{address} is {start} in the case: there is nothing to start from")
        return Parameter(name, address, tuple(recordings), unit_of(system, device, item), start, low, high)

    @property
    def names(self) -> list[str]:
        """Of the parameters."""
        return [parameter.name for parameter in self.parameters]

    def system(self, k: int, x: np.ndarray) -> Equilibrium:
        """The system of recording `k` with parameters `x`."""
        base = self.recordings[k].system
        chosen = {self.parameters[j].address: float(x[j]) for j in self._mine[k]}
        states = {f"{device}.{name}" for device, name in base.variables}
        initial = {name: value for name, value in chosen.items() if name in states}
        given = {name: value for name, value in chosen.items() if name not in initial}
        system = base.with_values(given) if given else base
        return starting_at(system, initial) if initial else system

    def with_held(self, k: int, values: Mapping[str, float]) -> Recording:
        """Recording `k` with some of the parameters, by name, at these values for good."""
        x = np.array([values.get(p.name, p.start) for p in self.parameters])
        return dataclasses.replace(self.recordings[k], system=self.system(k, x))

    def trial(self, x: np.ndarray) -> _Trial:
        """The runs at `x`; those of the last few points are kept.

        Raises
        ------
        TrialFailed
        """
        key = np.asarray(x, dtype=float).tobytes()
        if key not in self._trials:
            made = _Trial([], [], [])
            for k, attached in enumerate(self.attached):
                try:
                    if not np.isfinite(x).all():
                        raise CaseError("a parameter is not finite")
                    recording = attached.recording
                    run = simulate(self.system(k, x), attached.t_end, recording.step, **recording.options)
                except GridcoreError as error:
                    self.failures += 1
                    raise TrialFailed(str(error)) from error
                self.runs += 1
                sampling = Sampling.of(run, attached.time)
                made.runs.append(run)
                made.samplings.append(sampling)
                made.values.append(simulated(run, attached, sampling))
            while len(self._trials) >= _KEPT:
                self._trials.pop(next(iter(self._trials)))
            self._trials[key] = made
        return self._trials[key]

    def model(self, x: np.ndarray) -> np.ndarray:
        """(samples,) what the simulation gives for the samples."""
        return np.concatenate(self.trial(x).values)

    def residual(self, given: float | str) -> float:
        """A size of residuals, as a number, or as text with a unit where all channels mean the same by it.

        Raises
        ------
        CaseError
            If it is not above zero, a unit does not convert, or weighted residuals are not in the unit of a channel.
        """
        try:
            found = {float(given)}
        except ValueError:
            if not np.isin(self.weight, (0.0, 1.0)).all():
                raise CaseError(f"f_scale = {given!r}: residuals are weighted, so it is a number without unit: 3 is "
                                "three standard deviations, where weights are 1 / sigma^2") from None
            found = {self._in_unit_of(a.recording.system, channel, given)
                     for a in self.attached for channel in a.channels}
        if len(found) > 1:
            raise CaseError(f"f_scale = {given!r} means {', '.join(f'{n:g}' for n in sorted(found))} for these "
                            "channels: give a number")
        if not 0 < (size := found.pop()) < np.inf:
            raise CaseError(f"f_scale = {given!r} must be above 0")
        return size

    @staticmethod
    def _in_unit_of(system: Equilibrium, channel: tuple[str, str], given: float | str) -> float:
        try:
            return convert(str(given), unit_of(system, *channel), base_of(system, *channel))
        except CaseError as error:
            raise CaseError(f"f_scale = {given!r}, for {'.'.join(channel)}: {error}") from None

    def residuals(self, x: np.ndarray) -> np.ndarray:
        """(samples,) model less measurement, times the root of the weight."""
        return np.sqrt(self.weight) * (self.model(x) - self.value)

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """(samples, parameters) derivatives of the residuals.

        By the forward sweep; of a recording with more parameters than samples, by the adjoint.
        """
        trial = self.trial(x)
        out = np.zeros((self.samples, len(self.parameters)))
        for k, attached in enumerate(self.attached):
            names = [self.parameters[j].address for j in self._mine[k]]
            if names:
                self.sweeps += 1
                if not self._warned:
                    warn_of_coincidence(trial.runs[k], Request.of(trial.runs[k].system, names, "power flow"),
                                        [sampled(attached, 0, np.arange(len(attached.time)))])
                sweep = by_adjoint if len(names) > len(attached.time) else forward
                out[self.rows[k], self._mine[k]] = sweep(trial.runs[k], attached, trial.samplings[k], names)
        self._warned = True
        return np.sqrt(self.weight)[:, None] * out

    def gradient(self, x: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """(parameters,) ``sum_i factors_i d residual_i``, by one adjoint for each recording."""
        trial, out = self.trial(x), np.zeros(len(self.parameters))
        for k, attached in enumerate(self.attached):
            names = [self.parameters[j].address for j in self._mine[k]]
            if names:
                self.sweeps += 1
                weights = attached.root * factors[self.rows[k]]
                terms: list[tuple[float, Objective]] = [
                    (1.0, sampled(attached, column, here, weights[here])) for column in range(len(attached.channels))
                    if len(here := np.flatnonzero(attached.column == column))]
                out[self._mine[k]] += adjoint(trial.runs[k], Sum(terms), names, allow_grazing=True).values[0]
        return out


def _attach(recording: Recording) -> Samples:
    data, system = recording.data, recording.system
    if system.operating_point is None:
        raise CaseError("the system was built without its operating point")
    channels, factors = [], {}
    for name in data.channels:
        try:
            found = select(system, [name])
        except CaseError as error:
            raise data.error(f"channel '{name}': {error}") from None
        if len(found) > 1:
            raise data.error(f"channel '{name}' is a pattern of {len(found)} quantities: name one")
        channels.append(found[0])
        factors[name] = _factor(data, system, found[0], name)
    last = float(data.time.max()) if recording.t_end is None else recording.t_end
    _, _, t_end = span(recording.step, 0.0, last, system.case.frequency)
    near = 1e-9 * (1 + abs(t_end))  # the last digits of a clock
    time = np.where(np.abs(data.time) <= near, 0.0, np.where(np.abs(data.time - t_end) <= near, t_end, data.time))
    outside = time[(time < 0) | (time > t_end)]
    if len(outside):
        raise data.error(f"{len(outside)} of {len(data)} samples are outside the run (0 to {t_end:g} s), the first at "
                         f"{outside[0]:.9g} s: shift, cut or choose t_end")
    place = {name: k for k, name in enumerate(data.channels)}
    column = np.array([place[name] for name in data.channel.tolist()])
    value = data.value * np.array([factors[name] for name in data.channels])[column]
    angle = np.array([unit_of(system, *channel) == "rad" for channel in channels])
    root = np.where(_again(time, column), 0.0, np.sqrt(data.weight))
    return Samples(recording, t_end, channels, time, column, value, root, angle)


def _again(time: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Which samples are not the first of their channel at their time, and tell what holds after a switch there."""
    order = np.lexsort((time, column))
    again = np.zeros(len(time), dtype=bool)
    again[order[1:]] = (np.diff(time[order]) == 0) & (np.diff(column[order]) == 0)
    return again


def _factor(data: Measurements, system: Equilibrium, channel: tuple[str, str], name: str) -> float:
    """From the unit of the data to that of the quantity."""
    unit = data.units.get(name, "")
    if not unit:
        return 1.0
    try:
        return convert(f"1 {unit}", unit_of(system, *channel), base_of(system, *channel))
    except CaseError as error:
        raise data.error(f"channel '{name}': {error}") from None
