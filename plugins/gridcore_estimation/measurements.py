"""Measurements: a table of times, channels, values and weights, whatever file it comes from."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.errors import CaseError
from gridcore.suggest import suggest

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False)
class Measurements:
    """What was measured, one row a sample, in any order.

    Attributes
    ----------
    time : (rows,) array (s)
        Of the simulation.
    channel : (rows,) array of str
        What was measured: the address of a quantity, ``BUS6.Vm``, ``LINE7-8.P1``, ``GEN2.omega``.
    value : (rows,) array
        In the unit of the channel in `units`, otherwise in that of the quantity.
    weight : (rows,) array
        Of the squared residual: ``1 / sigma^2`` where the standard deviation is known.
    units : dict
        Unit of a channel, where it is not that of the quantity: ``{"BUS6.Vm": "kV"}``.
    source : str
        The file, for messages.

    Raises
    ------
    CaseError
        If a column has another length, or a number in it is not finite (the row is named), or a weight is
        below zero, or all are zero.
    """

    time: np.ndarray
    channel: np.ndarray
    value: np.ndarray
    weight: np.ndarray
    units: Mapping[str, str] = field(default_factory=dict)
    source: str = ""

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "channel", np.asarray(self.channel, dtype=str))
        for name in ("time", "value", "weight"):
            column = np.atleast_1d(np.asarray(getattr(self, name), dtype=float))
            if len(column) != len(self.channel):
                raise self.error(f"column '{name}' has {len(column)} rows, 'channel' has {len(self.channel)}")
            set_(self, name, column)
        if not len(self):
            raise self.error("there are no samples")
        for name in ("time", "value", "weight"):
            column = getattr(self, name)
            wrong = np.flatnonzero(~np.isfinite(column))
            if len(wrong):
                k = int(wrong[0])
                others = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
                at = f"row {k + 1}, channel {self.channel[k]}"
                if name != "time":
                    at += f" at {self.time[k]:.9g} s"
                raise self.error(f"{at}: the {name} is {column[k]}, which is not a finite number{others}")
        if (self.weight < 0).any() or not self.weight.any():
            raise self.error("weights must be zero or more, and not all zero")

    def error(self, message: str) -> CaseError:
        """An error that names the file."""
        return CaseError(message, file=self.source or "measurements")

    def __len__(self) -> int:
        return len(self.channel)

    @functools.cached_property
    def channels(self) -> list[str]:
        """The channels, in the order in which they first appear."""
        return list(dict.fromkeys(self.channel.tolist()))

    @classmethod
    def of(cls, time: Any, columns: Mapping[str, Any], weights: Any = None, *, units: Mapping[str, str] | None = None,
           source: str = "") -> Measurements:
        """Channels that were sampled together.

        Parameters
        ----------
        time : (samples,) array (s)
        columns : mapping of str to (samples,) array
            By channel.
        weights : number, or mapping of str to number or (samples,) array, optional
            One by default.
        """
        time = np.atleast_1d(np.asarray(time, dtype=float))
        given = weights if isinstance(weights, Mapping) else {name: weights for name in columns}
        for name in given:
            if name not in columns:
                raise CaseError(f"weights are given for '{name}', which is no channel{suggest(name, columns)}",
                                file=source or "measurements")
        parts: dict[str, list[np.ndarray]] = {"time": [], "channel": [], "value": [], "weight": []}
        for name, column in columns.items():
            values = np.atleast_1d(np.asarray(column, dtype=float))
            if values.shape != time.shape:
                raise CaseError(f"channel {name} has {values.size} values for {time.size} times",
                                file=source or "measurements")
            weight = given.get(name)
            parts["time"].append(time)
            parts["channel"].append(np.full(time.shape, name))
            parts["value"].append(values)
            parts["weight"].append(np.broadcast_to(1.0 if weight is None else np.asarray(weight, float), time.shape))
        joined = {name: np.concatenate(part) if part else np.zeros(0) for name, part in parts.items()}
        return cls(**joined, units=dict(units or {}), source=source)

    @classmethod
    def read(cls, path: str | Path, channels: Mapping[str, str] | None = None) -> Measurements:
        """Read a file: ``.csv``, ``.nc`` (NetCDF), or COMTRADE (``.cfg`` with its ``.dat``, or ``.cff``).

        Parameters
        ----------
        path : str or Path
        channels : mapping of str to str, optional
            What is measured by the file's own channel: ``{"V6 mag": "BUS6.Vm"}``. Channels that are not named
            in it are left out, whatever is in them. Without it, the file's channels are addresses of quantities.

        Raises
        ------
        CaseError
            With file, line and column of what is wrong.
        """
        from .files import read

        return read(Path(path), channels)

    @classmethod
    def from_xarray(cls, data: xr.Dataset | xr.DataArray, weights: Any = None) -> Measurements:
        """From a dataset with a dimension ``time``.

        A variable over time alone is a channel by its name (``ds["BUS6.Vm"]``); one over time and another
        dimension whose labels are devices, as :meth:`gridcore.Run.to_xarray` makes them, is one for each
        device. A data array over time and ``channel``, or ``quantity`` as ``run["GEN*.omega"]`` is, has a channel
        for each label. ``units`` in the attributes of a variable is its unit, or ``quantity_unit`` that of each
        label. NaN of a channel that others are sampled without is refused: drop it first. Of a run, which has several
        points where something switches, the first is taken, as a sample is the value before.

        Times are in s, or in the ``units`` of their attributes; ``datetime64`` counts from the first sample.
        """
        from .files import from_xarray

        return from_xarray(data, weights)

    def between(self, start: float, end: float) -> Measurements:
        """The samples of a window of time, both ends included."""
        return self._rows((self.time >= start) & (self.time <= end), f"no samples between {start:g} and {end:g} s")

    def only(self, channels: Iterable[str]) -> Measurements:
        """The samples of some channels.

        Raises
        ------
        CaseError
            If there is no such channel; the nearest are offered.
        """
        wanted = [channels] if isinstance(channels, str) else list(channels)
        for name in wanted:
            if name not in self.channels:
                raise self.error(f"there is no channel '{name}'{suggest(name, self.channels)}")
        return self._rows(np.isin(self.channel, wanted), "no samples")

    def every(self, count: int) -> Measurements:
        """Every `count`-th time of each channel, with all samples that it has then."""
        if not (isinstance(count, Integral) and count >= 1):
            raise CaseError(f"count = {count!r} must be a whole number, at least 1")
        keep = np.zeros(len(self), dtype=bool)
        for name in self.channels:
            mine = np.flatnonzero(self.channel == name)
            keep[mine] = np.isin(self.time[mine], np.unique(self.time[mine])[::count])
        return self._rows(keep, "no samples")

    def shifted(self, by: float) -> Measurements:
        """The same at other times: a recording's clock to that of the simulation."""
        return dataclasses.replace(self, time=self.time + by)

    def weighted(self, weights: Mapping[str, float]) -> Measurements:
        """The same with one weight for each of some channels."""
        self.only(weights)
        new = self.weight.copy()
        for name, weight in weights.items():
            new[self.channel == name] = weight
        return dataclasses.replace(self, weight=new)

    def scaled(self, factors: Mapping[str, float]) -> Measurements:
        """The same with the values of some channels multiplied: by the root of 3 from phase to line voltages."""
        self.only(factors)
        value = self.value.copy()
        for name, factor in factors.items():
            value[self.channel == name] *= factor
        return dataclasses.replace(self, value=value)

    def _rows(self, keep: np.ndarray, none: str) -> Measurements:
        if not keep.any():
            raise self.error(none)
        return dataclasses.replace(self, **{name: getattr(self, name)[keep]
                                            for name in ("time", "channel", "value", "weight")})

    def to_csv(self, path: str | Path) -> None:
        """Write the table: time, channel, value, weight, and unit where there is one; every digit kept."""
        from .files import write_csv

        write_csv(self, Path(path))

    def __repr__(self) -> str:
        return (f"<Measurements: {len(self)} samples of {', '.join(self.channels)}; "
                f"{self.time.min():g} to {self.time.max():g} s>")


def as_measurements(data: Any) -> Measurements:
    """Measurements as they are; of a file, or of an object of xarray, what is in it."""
    if isinstance(data, Measurements):
        return data
    if isinstance(data, str | Path):
        return Measurements.read(data)
    if hasattr(data, "dims"):
        return Measurements.from_xarray(data)
    raise CaseError(f"data of type {type(data).__name__} are no Measurements, file or xarray object")
