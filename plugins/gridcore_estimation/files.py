"""Measurements from files: CSV, NetCDF and xarray, COMTRADE."""

from __future__ import annotations

import csv
import dataclasses
import glob
import io
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gridcore.case import Base, convert, existing
from gridcore.errors import CaseError
from gridcore.suggest import suggest
from gridcore_readers import sources
from gridcore_tables.signals import QUANTITY

from .measurements import Measurements
from .netcdf import read_netcdf

if TYPE_CHECKING:
    import xarray as xr

COMTRADE = (".cfg", ".cff", ".dat", ".hdr", ".inf")
LONG = ("time", "channel", "value")
_UNIT = re.compile(r"(?P<name>.*\S)\s*\[(?P<unit>[^\]]*)\]")
_HEADING = re.compile(r"--- FILE TYPE: (?P<part>[A-Z]+)(\s+(?P<coding>[A-Z0-9]+)(\s*:\s*[0-9]+)?)? ---$")
Names = Mapping[str, str] | None
Rows = list[tuple[int, list[str]]]  # number of the line, and its cells
# What recorders and NetCDF's conventions write for a unit, and the table of units does not know.
_SPELT = {"p.u.": "pu", "PU": "pu", "Deg": "deg", "degrees": "deg", "HZ": "Hz", "KV": "kV", "KA": "kA", "MVAR": "MVAr",
          "MVar": "MVAr", "Mvar": "MVAr", "none": "", "NONE": "", "sec": "s", "second": "s", "seconds": "s",
          "milliseconds": "ms", "microseconds": "us", "minutes": "min", "hours": "h"}
ADDRESSES = ("channel", "quantity")  # dimensions whose labels are whole addresses, and not devices


def read(path: Path, channels: Names) -> Measurements:
    """See :meth:`Measurements.read`."""
    readers = {".csv": _read_csv, ".nc": _read_netcdf, ".cfg": _read_comtrade, ".cff": _read_comtrade}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise CaseError(f"measurements are read from {', '.join(readers)}; this is '{path.suffix}'", file=str(path))
    found = reader(existing(path), channels)
    return found if channels is None else _renamed(found, channels)


def _kept(found: Iterable[tuple[str, str]], channels: Names, source: str) -> set[str]:
    """Those of a file's channels, (name, place), that are read: the named ones, or all. Of others nothing is asked."""
    places: dict[str, list[str]] = {}
    for name, place in found:
        places.setdefault(name, []).append(place)
    for name in channels or ():
        if name not in places:
            raise CaseError(f"there is no channel '{name}'{suggest(name, places)}", file=source)
    kept = set(places if channels is None else channels)
    for name, of in places.items():
        if name in kept and len(of) > 1:
            raise CaseError(f"{' and '.join(of)} are one channel, '{name}': give each a name of its own", file=source)
    return kept


def _renamed(found: Measurements, channels: Mapping[str, str]) -> Measurements:
    for name in channels:
        if name not in found.channels:
            raise found.error(f"channel '{name}' has no samples")
    for address in channels.values():
        units = {name: found.units.get(name, "") for name, of in channels.items() if of == address}
        if len(set(units.values())) > 1:
            told = " and ".join(f"'{name}' {_in(unit)}" for name, unit in units.items())
            raise found.error(f"{told} are both to be {address}: it has one unit")
    return dataclasses.replace(found, channel=np.array([channels[name] for name in found.channel.tolist()]),
                               units={channels[name]: unit for name, unit in found.units.items()})


def _in(unit: str) -> str:
    return f"in {unit}" if unit else "without a unit"


# ---------------------------------------------------------------- CSV


def _read_csv(path: Path, channels: Names) -> Measurements:
    """A long table with columns time, channel, value and perhaps weight and unit; or a wide one, a column a channel."""
    (_, head), *rows = sources.table(path) or [(0, [])]
    heading = [name.strip() for name in head]
    if "time" not in heading:
        raise CaseError(f"there is no column 'time'{suggest('time', heading)}", file=str(path))
    for line, row in rows:
        if len(row) != len(heading):
            raise CaseError(f"{len(row)} cells for {len(heading)} columns", file=str(path), row=f"line {line}")
    if set(LONG) <= set(heading):
        return _long(path, heading, rows, channels)
    return _wide(path, heading, rows, channels)


def _number(path: Path, line: int, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise CaseError(f"{text.strip()!r} is not a finite number", file=str(path), row=f"line {line}", field=column)
    return value


def _long(path: Path, heading: list[str], rows: Rows, channels: Names) -> Measurements:
    at = {name: heading.index(name) for name in heading}
    for name in heading:
        if name not in (*LONG, "weight", "unit"):
            raise CaseError(f"unknown column '{name}'{suggest(name, (*LONG, 'weight', 'unit'))}", file=str(path))
        if heading.count(name) > 1:
            raise CaseError(f"there are {heading.count(name)} columns '{name}'", file=str(path))
    names = [row[at["channel"]].strip() for _, row in rows]
    kept = _kept([(name, "") for name in dict.fromkeys(names)], channels, str(path))
    names, rows = [name for name in names if name in kept], [one for one, name in zip(rows, names) if name in kept]

    def column(name: str) -> list[float]:
        return [_number(path, line, name, row[at[name]]) for line, row in rows]

    units: dict[str, tuple[str, int]] = {}
    for name, (line, row) in zip(names, rows):
        unit = row[at["unit"]].strip() if "unit" in at else ""
        first, there = units.setdefault(name, (unit, line))
        if unit != first:
            raise CaseError(f"{name} is {_in(unit)} here and {_in(first)} in line {there}: a channel has one unit, in "
                            "each of its rows", file=str(path), row=f"line {line}", field="unit")
    return Measurements(np.array(column("time")), np.array(names, dtype=str), np.array(column("value")),
                        np.array(column("weight")) if "weight" in at else np.ones(len(rows)),
                        {name: unit for name, (unit, _) in units.items() if unit}, str(path))


def _wide(path: Path, heading: list[str], rows: Rows, channels: Names) -> Measurements:
    """An empty cell is no sample."""
    clock = heading.index("time")
    columns = [(place, *_name_and_unit(text)) for place, text in enumerate(heading) if place != clock]
    places = [(name, f"column {place + 1}, '{heading[place]}',") for place, name, _ in columns]
    kept = _kept(places, channels, str(path))
    time, channel, value = [], [], []
    units: dict[str, str] = {}
    for place, name, unit in columns:
        if name not in kept:
            continue
        if unit:
            units[name] = unit
        for line, row in rows:
            if row[place].strip():
                time.append(_number(path, line, "time", row[clock]))
                channel.append(name)
                value.append(_number(path, line, heading[place], row[place]))
    return Measurements(np.array(time), np.array(channel, dtype=str), np.array(value), np.ones(len(time)), units,
                        str(path))


def _name_and_unit(text: str) -> tuple[str, str]:
    match = _UNIT.fullmatch(text)
    return (text, "") if match is None else (match["name"], match["unit"].strip())


def write_csv(data: Measurements, path: Path) -> None:
    """See :meth:`Measurements.to_csv`."""
    from gridcore.results import whole_file

    with whole_file(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*LONG, "weight", *(["unit"] if data.units else [])])
        for row in zip(data.time.tolist(), data.channel.tolist(), data.value.tolist(), data.weight.tolist(),
                       strict=True):
            writer.writerow([*row, *([data.units.get(row[1], "")] if data.units else [])])


# ---------------------------------------------------------------- xarray


def from_xarray(data: xr.Dataset | xr.DataArray, weights: Any = None) -> Measurements:
    """See :meth:`Measurements.from_xarray`."""
    return _from_xarray(data, None, weights)


def _from_xarray(data: xr.Dataset | xr.DataArray, channels: Names, weights: Any = None) -> Measurements:
    import xarray as xr

    source = data.encoding.get("source", "") or "dataset"
    if "time" not in data.dims:
        raise CaseError(f"there is no dimension 'time', only {', '.join(map(str, data.dims))}", file=source)
    if "time" not in data.coords:
        raise CaseError("the dimension 'time' has no times", file=source)
    if "switchings" in data.coords:  # a run: of several points of one time, a sample is what was before the switch
        data = data.drop_duplicates("time", keep="first")
    variables = {str(data.name or ""): data} if isinstance(data, xr.DataArray) else dict(data.data_vars)
    columns = [column for name, variable in variables.items() for column in _columns(str(name), variable)]
    kept = _kept([(column.address, column.place) for column in columns], channels, source)
    columns = [column for column in columns if column.address in kept]
    values = {column.address: column.values for column in columns}
    return Measurements.of(_seconds(data["time"], source), values, weights,
                           units={column.address: column.unit for column in columns if column.unit}, source=source)


def _seconds(time: xr.DataArray, source: str) -> np.ndarray:
    """Times of a dataset (s); instants count from the first one, as those of a COMTRADE recording do."""
    values: np.ndarray = time.values
    if values.dtype.kind == "M":
        values = values - values[:1]
    if values.dtype.kind == "m":
        return np.asarray(values / np.timedelta64(1, "s"))
    if values.dtype.kind not in "fiu":
        raise CaseError(f"{values.dtype} is no type of times: numbers, timedelta64 or datetime64 are", file=source,
                        field="time")
    unit = str(time.attrs.get("units", ""))
    try:
        factor = convert(f"1 {_SPELT.get(unit, unit)}", "s", Base(frequency=np.nan))  # which no dataset says
    except CaseError as error:
        raise CaseError(str(error), file=source, field="time") from None
    if np.isnan(factor):
        raise CaseError(f"times in {unit} need a frequency: give them in s", file=source, field="time")
    return values * factor


class _Column(NamedTuple):
    """A channel of a dataset, and where it is."""

    address: str
    values: np.ndarray
    unit: str
    place: str


def _columns(name: str, variable: xr.DataArray) -> list[_Column]:
    if "time" not in variable.dims or variable.dtype.kind not in "fiu":
        return []
    unit = str(variable.attrs.get("units", ""))
    others = [str(dimension) for dimension in variable.dims if dimension != "time"]
    if not others:
        return [_Column(name, variable.values, unit, f"variable '{name}'")]
    if len(others) > 1 or others[0] not in variable.coords:
        return []
    labels = [str(label) for label in variable[others[0]].values]
    given = variable.coords.get(f"{others[0]}_unit")
    units = [unit] * len(labels) if given is None else [str(of) for of in given.values]
    values, quantity = variable.transpose("time", others[0]).values, variable.attrs.get(QUANTITY, name)
    return [_Column(label if others[0] in ADDRESSES else f"{label}.{quantity}", values[:, k], units[k],
                    f"variable '{name}' at {others[0]} {k + 1}") for k, label in enumerate(labels)]


def _read_netcdf(path: Path, channels: Names) -> Measurements:
    return _from_xarray(read_netcdf(path), channels)


# ---------------------------------------------------------------- COMTRADE


def _read_comtrade(path: Path, channels: Names) -> Measurements:
    """Analog channels of a recording, in primary values where the file has the ratios; times from its first sample.

    IEEE C37.111 / IEC 60255-24, whose mark for a value that is missing (99999 in text) is nan here, and no sample. The
    values are taken as they stand: a recording of instantaneous values has to be made into one of magnitudes first.
    """
    import comtrade

    for file in path.parent.glob(f"{glob.escape(path.stem)}.*"):
        if file.suffix.lower() in COMTRADE:
            sources.check(file)
    try:
        count, samples = _comtrade_sizes(path)
        sources.within(count, sources.CHANNELS, "channels", str(path))
        sources.within(max(count, 1) * samples, sources.VALUES, "samples", str(path))
        record = comtrade.Comtrade(use_double_precision=True)
        record.load(str(path))
    except CaseError:
        raise
    except Exception as error:  # whatever the parser stumbles over is the file's
        raise CaseError(f"is not a COMTRADE recording that can be read: {type(error).__name__}: {error}",
                        file=str(path)) from None
    time = np.asarray(record.time, dtype=float)
    if (np.diff(time) < 0).any() or (len(time) > 1 and time[-1] <= time[0]):  # samples that are missing are at zero
        raise CaseError(f"the times of its {len(time)} samples do not increase: the header says how many there are, "
                        "and perhaps the data are cut short", file=str(path))
    names = [name.strip() for name in record.analog_channel_ids]
    if not names:
        raise CaseError("the recording has no analog channels", file=str(path))
    kept = _kept([(name, f"analog channel {number}") for number, name in enumerate(names, 1)], channels, str(path))
    columns: dict[str, np.ndarray] = {}
    units: dict[str, str] = {}
    for name, values, channel in zip(names, record.analog, record.cfg.analog_channels, strict=True):
        if name not in kept:
            continue
        columns[name] = np.asarray(values, dtype=float) * _ratio(channel)
        unit = _SPELT.get(channel.uu.strip(), channel.uu.strip())
        if unit:
            units[name] = unit
    value = np.concatenate([np.zeros(0), *columns.values()])
    there = ~np.isnan(value)
    value = value[there]
    return Measurements(np.tile(time, len(columns))[there], np.repeat(list(columns), len(time))[there], value,
                        np.ones(len(value)), units, str(path))


def _comtrade_sizes(path: Path) -> tuple[int, int]:
    """How many channels and samples a header says there are: so much is allocated, whatever the file has."""
    content = path.read_bytes().decode("utf-8", "ignore")
    lines = content.split("\n") if path.suffix.lower() == ".cff" else io.StringIO(content, newline=None).readlines()
    if path.suffix.lower() == ".cff":
        lines = _section(lines, "CFG")
    channels = sum(max(int(count.strip()[:-1]), 0) for count in lines[1].split(",")[1:3])
    if channels > len(lines):
        return channels, 0
    rates = max(int(lines[channels + 3]), 1)
    return channels, int(lines[channels + 3 + rates].split(",")[1])


def _section(lines: list[str], wanted: str) -> list[str]:
    """The lines of a part of a CFF file, to where binary data begin."""
    found, part = [], ""
    for line in lines:
        heading = _HEADING.match(line.strip().upper())
        if heading is None and part == wanted:
            found.append(line)
        elif heading is not None:
            part = heading["part"]
            if part == "DAT" and heading["coding"] not in (None, "ASCII"):
                break
    return found


def _ratio(channel: Any) -> float:
    """Factor from what is recorded to primary values."""
    secondary = str(channel.pors).strip().upper() == "S"
    return float(channel.primary) / float(channel.secondary) if secondary and float(channel.secondary) else 1.0
