"""A run as a file, without loss: NetCDF-4.

The root of the file is for everybody: what :meth:`gridcore.results.run.Run.to_xarray` has, under the same names,
readable by any NetCDF program. The group ``tape`` holds what replaying the run needs and the root has
not: records, clocks, settings, the initial buffer Z0, and the case as text of gridcore's own format. The
variables X themselves stand in the root only; ``tape`` says which columns of X each root variable is. Of a
run that kept a part of X, ``tape`` holds that part as ``X``, and its columns as ``recorded``.

Large variables are in chunks, and are written and read a part of the run at a time: a run may be larger than memory.
All numbers have HDF5's checksums, which any program checks; and behind all stands a digest of the file (:mod:`.seal`).
"""

from __future__ import annotations

import json
import math
import operator
import tempfile
import typing
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from gridcore.case import Case
from gridcore.results import Run, Stretch, whole_file
from gridcore.tape import Clock, Settings, Step
from gridcore_readers import native
from gridcore_tables.labelled import heading
from gridcore_tables.signals import signals

from .checkpoint import write_checkpoint
from .form import CASE, FORMAT, RECORDS, VERSION, declarations
from .netcdf4 import Group
from .output import Output, undisturbed
from .seal import seal

CHUNK = 1 << 20  # bytes of a chunk of a file
_plain = operator.methodcaller("tolist")  # numbers and arrays of numpy as Python's, for JSON


def save(run: Run, path: Path) -> None:
    """Write a run; the file is there whole and for good, or not at all."""
    with whole_file(path) as temporary, open(temporary, "x+b") as file:
        _fill(file, run)


def content(run: Run) -> bytes:
    """The file of a run; a process that is killed over it leaves nothing on disk."""
    with tempfile.TemporaryFile() as file:
        _fill(file, run)
        return file.read()


def _fill(file: IO[bytes], run: Run) -> None:
    output = Output(file.fileno())
    undisturbed(lambda: _write_run(run, output))
    seal(output)
    output.check()


def _write_run(run: Run, output: Output) -> None:
    import h5py

    with h5py.File(output, "w", track_order=True) as file:
        root = Group(file)
        root.attrs.update({"gridcore_format": FORMAT, "gridcore_format_version": VERSION, **heading(run),
                           **run.provenance})
        columns = _write_results(run, root, output.check)
        write_tape(run, root.group("tape"), columns, output.check)


# ---------------------------------------------------------------- results


def _write_results(run: Run, root: Group, check: Callable[[], None]) -> dict[str, np.ndarray]:
    """The root of the file; returns the columns of X that each variable holds (where it holds any; -1: of none)."""
    layout = run.system.layout
    _write(root, "time", ("time",), run.t, units="s", long_name="time")
    _write(root, "switchings", ("time",), run.point_settings, long_name="switchings before this point")
    columns: dict[str, np.ndarray] = {}
    shown, variables = signals(run.system, run=run), []
    for signal in shown:
        if signal.dimension not in root.dimensions:
            _write(root, signal.dimension, (signal.dimension,), list(signal.devices))
        variables.append(_write(root, signal.name, ("time", signal.dimension), **signal.attributes,
                                coordinates="switchings"))
        own = [signal.quantity in layout.instances[layout.find(d)].device.declares.variables() for d in signal.devices]
        if any(own):
            columns[signal.name] = np.array([layout.address(f"{device}.{signal.quantity}") if mine else -1
                                             for device, mine in zip(signal.devices, own, strict=True)])

    def write(part: Stretch) -> None:
        for signal, variable in zip(shown, variables, strict=True):
            variable[part.first: part.first + len(part.t)] = part.of(signal.devices, signal.quantity)
        check()

    run.stretches(write)
    if run.events:
        _write(root, "event_time", ("event",), np.array([e.t for e in run.events]), units="s",
               long_name="time of event")
        _write(root, "event_words", ("event",), [e.words for e in run.events])
    return columns


def _write(group: Group, name: str, dimensions: tuple[str, ...], values: Any = None, **attributes: str) -> Any:
    """A variable; without values of numbers, to be written part by part, and in chunks where it is large."""
    import h5py

    values = np.array(values, dtype=object) if isinstance(values, list) else values
    shape = tuple(len(group.dimensions[d]) for d in dimensions) if values is None else values.shape
    dtype = np.dtype(float) if values is None else values.dtype
    how: dict[str, Any] = {"dtype": h5py.string_dtype() if dtype.hasobject else dtype, "data": values}
    if not dtype.hasobject and all(shape):
        rows = max(CHUNK // (8 * math.prod(shape[1:])), 1)
        how.update(chunks=(min(rows, shape[0]), *shape[1:]), fletcher32=True)
    variable = group.variable(name, dimensions, shape, **how)
    variable.attrs.update({key: value for key, value in attributes.items() if value})
    return variable


# ---------------------------------------------------------------- the tape


def write_tape(run: Run, group: Group, columns: dict[str, np.ndarray], check: Callable[[], None]) -> None:
    system, tape, point = run.system, run.tape, run.system.operating_point
    data = {
        "order": [instance.id for instance in system.layout.instances],
        "operating_point": point and {"enforce_q_limits": point.enforce_q_limits, "timings": point.timings},
        "declarations": declarations(system),
        "methods": [[m.name, dict(m.options)] for m in tape.methods],
        "held": system.held, "run": run.settings, "counters": run.counters, "timings": run.timings}
    group.attrs.update({"case": _text(system.case), "case_name": system.case.name,
                        "deenergise": int(system.islands.deenergise),
                        **{key: json.dumps(value, default=_plain) for key, value in data.items()}})
    _write(group, "Z0", ("entry",), system.Z0)
    _write_settings(group, tape.settings)
    _write(group, "point_clock", ("point",), np.array(tape.point_clock, dtype=np.int64))
    _write_table(group, "Clock", Clock, tape.clocks)
    write_checkpoint(tape.last, group, _write)
    group.attrs["records"] = len(tape.records)
    if tape.records:
        _write(group, "record_kind", ("record",), [kind.__name__ for kind in tape.records.kinds()])
    for kind, cls in RECORDS.items():
        _write_table(group, kind, cls, [record for record in tape.records.others if isinstance(record, cls)])
        check()
    for field, values in tape.records.steps()._asdict().items():
        if len(values):
            _write(group, f"{Step.__name__}_{field}", (Step.__name__,), values)
    if tape.states.recorded is None:
        group.attrs["columns_of"] = json.dumps(list(columns))
        _write(group, "columns", ("column",), np.concatenate([*columns.values(), np.zeros(0)]).astype(np.int64))
        return
    _write(group, "recorded", ("recorded",), tape.states.recorded.astype(np.int64))
    recorded = _write(group, "X", ("point", "recorded"))

    def write(first: int, X: np.ndarray) -> None:
        recorded[first: first + len(X)] = X
        check()

    tape.states.visit(write)


def _write_settings(group: Group, settings: Settings) -> None:
    """Parameters and modes at t0, and what each switch changed: number of the settings, place, new value."""
    before, changes = settings[0], []
    for number, now in enumerate(settings):
        at = np.flatnonzero(now.view(np.int64) != before.view(np.int64))  # every bit: -0.0 and nan, too
        changes.append((np.full(len(at), number), at, now[at]))
        before = now
    _write(group, "settings", ("parameter_or_mode",), settings[0])
    group.attrs["settings"] = len(settings)
    for name, column in zip(("number", "at", "value"), zip(*changes, strict=True), strict=True):
        _write(group, f"settings_{name}", ("change",), np.concatenate(column))


def _write_table(group: Group, name: str, cls: type, rows: Sequence[Any]) -> None:
    """One variable for each field; what is neither a number nor text is written as JSON."""
    for field, kind in typing.get_type_hints(cls).items() if rows else ():
        values: Any = [getattr(row, field) for row in rows]
        if kind in (int, float):
            values = np.array(values, dtype=kind)
        elif kind is not str:
            values = [json.dumps(value, default=_plain) for value in values]
        _write(group, f"{name}_{field}", (name,), values)


# ---------------------------------------------------------------- the case and its system


def _text(case: Case) -> str:
    with tempfile.TemporaryDirectory() as folder:
        native.write(case, file := Path(folder, CASE))
        return file.read_text(encoding="utf-8")
