"""Measurements from files: CSV, NetCDF and xarray, COMTRADE."""

from __future__ import annotations

import csv
import glob
import io
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.case import existing
from gridcore.errors import CaseError
from gridcore.suggest import suggest
from gridcore_readers import sources

from .measurements import Measurements
from .netcdf import read_netcdf

if TYPE_CHECKING:
    import xarray as xr

COMTRADE = (".cfg", ".cff", ".dat", ".hdr", ".inf")
LONG = ("time", "channel", "value")
_UNIT = re.compile(r"(?P<name>.*\S)\s*\[(?P<unit>[^\]]*)\]")
_HEADING = re.compile(r"--- FILE TYPE: (?P<part>[A-Z]+)(\s+(?P<coding>[A-Z0-9]+)(\s*:\s*[0-9]+)?)? ---$")
# What recorders write for a unit, and the table of units does not know.
_SPELT = {"p.u.": "pu", "PU": "pu", "Deg": "deg", "degrees": "deg", "HZ": "Hz", "KV": "kV", "KA": "kA", "MVAR": "MVAr",
          "MVar": "MVAr", "Mvar": "MVAr", "none": "", "NONE": ""}


def read(path: Path, channels: Mapping[str, str] | None) -> Measurements:
    """See :meth:`Measurements.read`."""
    readers = {".csv": _read_csv, ".nc": _read_netcdf, ".cfg": _read_comtrade, ".cff": _read_comtrade}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise CaseError(f"measurements are read from {', '.join(readers)}; this is '{path.suffix}'", file=str(path))
    return _renamed(reader(existing(path)), channels, str(path))


def _renamed(found: Measurements, channels: Mapping[str, str] | None, source: str) -> Measurements:
    if channels is None:
        return found
    chosen = found.only(channels)
    names = np.array([channels[str(name)] for name in chosen.channel])
    return Measurements(chosen.time, names, chosen.value, chosen.weight,
                        {channels[name]: unit for name, unit in found.units.items() if name in channels}, source)


# ---------------------------------------------------------------- CSV


def _read_csv(path: Path) -> Measurements:
    """A long table with columns time, channel, value and perhaps weight and unit; or a wide one, a column a channel."""
    (_, head), *rows = sources.table(path) or [(0, [])]
    heading = [name.strip() for name in head]
    if "time" not in heading:
        raise CaseError(f"there is no column 'time'{suggest('time', heading)}", file=str(path))
    for line, row in rows:
        if len(row) != len(heading):
            raise CaseError(f"{len(row)} cells for {len(heading)} columns", file=str(path), row=f"line {line}")
    if set(LONG) <= set(heading):
        return _long(path, heading, rows)
    return _wide(path, heading, rows)


def _number(path: Path, line: int, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise CaseError(f"{text.strip()!r} is not a finite number", file=str(path), row=f"line {line}", field=column)
    return value


def _long(path: Path, heading: list[str], rows: list[tuple[int, list[str]]]) -> Measurements:
    at = {name: heading.index(name) for name in heading}
    for name in heading:
        if name not in (*LONG, "weight", "unit"):
            raise CaseError(f"unknown column '{name}'{suggest(name, (*LONG, 'weight', 'unit'))}", file=str(path))

    def column(name: str) -> list[float]:
        return [_number(path, line, name, row[at[name]]) for line, row in rows]

    units = {row[at["channel"]].strip(): row[at["unit"]].strip() for _, row in rows if row[at["unit"]].strip()} \
        if "unit" in at else {}
    return Measurements(np.array(column("time")), np.array([row[at["channel"]].strip() for _, row in rows], dtype=str),
                        np.array(column("value")),
                        np.array(column("weight")) if "weight" in at else np.ones(len(rows)), units, str(path))


def _wide(path: Path, heading: list[str], rows: list[tuple[int, list[str]]]) -> Measurements:
    """An empty cell is no sample."""
    clock = heading.index("time")
    time, channel, value = [], [], []
    units: dict[str, str] = {}
    for place, name in enumerate(heading):
        if place == clock:
            continue
        match = _UNIT.fullmatch(name)
        if match is not None:
            name = match["name"]
            units[name] = match["unit"].strip()
        for line, row in rows:
            if row[place].strip():
                time.append(_number(path, line, "time", row[clock]))
                channel.append(name)
                value.append(_number(path, line, heading[place], row[place]))
    return Measurements(np.array(time), np.array(channel, dtype=str), np.array(value), np.ones(len(time)), units,
                        str(path))


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
    import xarray as xr

    source = data.encoding.get("source", "") or "dataset"
    if "time" not in data.dims:
        raise CaseError(f"there is no dimension 'time', only {', '.join(map(str, data.dims))}", file=source)
    if "time" not in data.coords:
        raise CaseError("the dimension 'time' has no times", file=source)
    columns: dict[str, np.ndarray] = {}
    units: dict[str, str] = {}
    variables = {str(data.name or ""): data} if isinstance(data, xr.DataArray) else dict(data.data_vars)
    for name, variable in variables.items():
        for address, column in _columns(str(name), variable):
            columns[address] = column
            if variable.attrs.get("units"):
                units[address] = str(variable.attrs["units"])
    return Measurements.of(data["time"].values, columns, weights, units=units, source=source)


def _columns(name: str, variable: xr.DataArray) -> list[tuple[str, np.ndarray]]:
    if "time" not in variable.dims or variable.dtype.kind not in "fiu":
        return []
    others = [dimension for dimension in variable.dims if dimension != "time"]
    if not others:
        return [(name, variable.values)]
    if len(others) > 1 or others[0] not in variable.coords:
        return []
    labels = [str(label) for label in variable[others[0]].values]
    values = variable.transpose("time", others[0]).values
    return [(label if others[0] == "channel" else f"{label}.{name}", values[:, k]) for k, label in enumerate(labels)]


def _read_netcdf(path: Path) -> Measurements:
    return from_xarray(read_netcdf(path))


# ---------------------------------------------------------------- COMTRADE


def _read_comtrade(path: Path) -> Measurements:
    """Analog channels of a recording, in primary values where the file has the ratios; times from its first sample.

    IEEE C37.111 / IEC 60255-24. The values are taken as they stand: a recording of instantaneous values has to be
    made into one of magnitudes first.
    """
    import comtrade

    for file in path.parent.glob(f"{glob.escape(path.stem)}.*"):
        if file.suffix.lower() in COMTRADE:
            sources.check(file)
    try:
        channels, samples = _comtrade_sizes(path)
        sources.within(channels, sources.CHANNELS, "channels", str(path))
        sources.within(max(channels, 1) * samples, sources.VALUES, "samples", str(path))
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
    columns: dict[str, np.ndarray] = {}
    units: dict[str, str] = {}
    for name, values, channel in zip(record.analog_channel_ids, record.analog, record.cfg.analog_channels,
                                     strict=True):
        columns[name.strip()] = np.asarray(values, dtype=float) * _ratio(channel)
        unit = _SPELT.get(channel.uu.strip(), channel.uu.strip())
        if unit:
            units[name.strip()] = unit
    if not columns:
        raise CaseError("the recording has no analog channels", file=str(path))
    return Measurements.of(time, columns, units=units, source=str(path))


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
