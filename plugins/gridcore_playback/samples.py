"""Recordings to signals: the samples of a file, or of arrays, as devices of a case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gridcore.case import Case
from gridcore.contract import Record
from gridcore.errors import CaseError
from gridcore.suggest import suggest
from gridcore_readers import sources

#: Samples of a profile that someone wrote: a step ends at each of its corners. A recording has more, evenly sampled.
CORNERS = 100
MOST = 100_000  # samples of a signal: each is a device, and all are looked at in each step
PLAIN = ("voltage", "frequency")  # what stands behind the time in a file of numbers alone
TURNS = {"rad": 2 * np.pi, "deg": 360.0}  # angles are measured to the next turn, and go on
MEASURED = (".csv", ".nc", ".cfg", ".cff")

Columns = dict[str, tuple[np.ndarray, np.ndarray]]


def add_time_series(case: Case, id: str, time: Any, values: Any) -> None:
    """Add a signal and its samples to a case; samples at one time are a jump, from the first to the last.

    Parameters
    ----------
    case : Case
    id : str
        Of the signal, by which devices that play it back name it.
    time : (samples,) array (s)
        Of the simulation, in order.
    values : (samples,) array

    Raises
    ------
    CaseError
        If times are not in order, or a number is not finite.

    Examples
    --------
    >>> gc.analyses.add_time_series(case, "wind", [0.0, 1.0, 1.0, 4.0], [8.0, 9.0, 11.0, 11.0])
    """
    case.add("TimeSeries", id=id)
    case.records += _samples(Record("TimeSeries", {"id": id}), id, time, values, id)


def read_time_series(case: Case) -> None:
    """Read the recordings that rows of a case name in their field ``file``, unless their samples are there already.

    Readers of cases do this. A file is beside that of the case or below its folder; for a row that was added in
    Python it may be anywhere.

    Parameters
    ----------
    case : Case
        Rows of samples are added to it.

    Raises
    ------
    CaseError
        With the row of the case, and the file with its line.
    """
    named = [(id, record) for id, record in zip(case.ids(), case.records)  # what is no text is told by the validation
             if all(isinstance(record.fields.get(field, "-"), str) for field in ("file", "column"))]
    sampled = {str(record.fields.get("signal")) for record in case if record.model in ("Sample", "Corner")}
    read: dict[Path, Columns] = {}
    clocks: dict[tuple[Path, bytes], str] = {}
    for id, record in named:
        wanted = {"TimeSeries": _of_series, "PLBVFU1": _of_source}.get(record.model)
        signals = wanted(case, id, record) if wanted and record.fields.get("file") else []
        for signal, column in signals:
            if signal in sampled:
                continue
            path = _path(record)
            if path not in read:
                read[path] = _columns(path)
            name = column or next(iter(read[path]))
            if name not in read[path]:
                raise record.error(f"{path} has no channel '{name}'{suggest(name, read[path])}", "column")
            time, values = read[path][name]
            case.records += _samples(record, signal, time, values, clocks.setdefault((path, time.tobytes()), signal))


def _of_series(case: Case, id: str, record: Record) -> list[tuple[str, str]]:
    """The signal that a row is, and its channel."""
    return [(id, record.fields.get("column", ""))]


def _of_source(case: Case, id: str, record: Record) -> list[tuple[str, str]]:
    """The two signals of a playback source, which are added to the case."""
    found = []
    for port, column in zip(("V", "f"), PLAIN):
        if port not in record.fields:
            record.fields[port] = f"{id}_{column}"
            case.records.append(Record("TimeSeries", {"id": record.fields[port]}, record.file, record.row))
            found.append((record.fields[port], column))
    return found


def _path(record: Record) -> Path:
    """The file that a row names; ``.plb`` may be left out."""
    name = record.fields["file"]
    try:
        path = sources.beside(Path(record.file), name) if record.file else Path(name)
    except CaseError:
        raise record.error(f"'{name}' is not in the folder of the case, nor below it", "file") from None
    found = next((file for file in (path, path.with_name(f"{path.name}.plb")) if file.is_file()), None)
    if found is None:
        raise record.error(f"there is no file {path}", "file")
    return found


def _columns(path: Path) -> Columns:
    """The channels of a recording; of a table of numbers alone these are voltage and frequency."""
    if path.suffix.lower() not in MEASURED:
        return _plain(path)
    from gridcore_estimation import Measurements

    data = Measurements.read(path)
    out = {}
    for name in data.channels:
        mine = data.only(name)
        order = np.argsort(mine.time, kind="stable")
        turn = TURNS.get(mine.units.get(name, "rad" if name.endswith(".Va") else ""))
        values = mine.value[order]
        out[name] = mine.time[order], np.unwrap(values, period=turn) if turn else values
    return out


def _plain(path: Path) -> Columns:
    """Time, voltage and frequency in lines, separated by blanks or commas."""
    rows = []
    for number, line in enumerate(sources.text(path).splitlines(), 1):
        words = [word for word in re.split(r"[\s,]+", line) if word]
        if not words:
            continue
        try:
            rows.append([float(word) for word in words])
            if len(words) != len(PLAIN) + 1:
                raise ValueError
        except ValueError:
            raise CaseError(f"'{line.strip()}' is not time, voltage and frequency", file=str(path),
                            row=f"line {number}") from None
    if not rows:
        raise CaseError("there are no samples", file=str(path))
    time, *columns = np.array(rows).T
    return {name: (time, column) for name, column in zip(PLAIN, columns)}


def _samples(record: Record, signal: str, time: Any, values: Any, clock: str) -> Iterator[Record]:
    """The devices that a signal's samples are; their times are those of the samples of the signal `clock`."""
    t, v = (np.atleast_1d(np.asarray(given, dtype=float)) for given in (time, values))
    if t.shape != v.shape or t.ndim != 1 or not len(t):
        raise record.error(f"signal '{signal}' has {t.size} times and {v.size} values")
    if not (np.isfinite(t).all() and np.isfinite(v).all()):
        raise record.error(f"signal '{signal}' has a sample that is not a finite number")
    back = np.flatnonzero(np.diff(t) < 0)
    if len(back):
        raise record.error(f"the times of signal '{signal}' must be in order: see {t[back[0]]:g} s")
    first = max(int(np.searchsorted(t, 0.0, side="right")) - 1, 0)  # what was before t0 does not matter
    times, start = np.unique(t[first:], return_index=True)
    left = v[first:][start]
    jump = v[first:][np.append(start[1:], len(t) - first) - 1] - left
    if len(times) > MOST:
        raise record.error(f"signal '{signal}' has {len(times):,} samples, of at most {MOST:,}: thin the recording")
    ends = np.concatenate([[-np.inf], times, [np.inf]])
    for k, at in enumerate(times.tolist()):
        fields: dict[str, Any] = {"id": f"{signal}_{k}", "signal": signal, "t": at, "v": float(left[k])}
        fields |= {name: float(end) for name, end in (("before", ends[k]), ("after", ends[k + 2])) if np.isfinite(end)}
        corner = at > 0 and (len(times) <= CORNERS or jump[k] != 0)
        if corner:
            fields |= {"jump": float(jump[k])} if jump[k] else {}
            fields |= {"t": f"{clock}_{k}.t"} if clock != signal else {}
        yield Record("Corner" if corner else "Sample", fields, record.file, f"{record.row}, sample {k + 1}")
