"""Runs on disk, without loss: a NetCDF-4 file, written through h5netcdf.

The root of the file is for everybody: what :meth:`gridcore.results.run.Run.to_xarray` has, under the same names,
readable by any NetCDF program. The group ``tape`` holds what replaying the run needs and the root has
not: records, clocks, settings, the initial buffer Z0, and the case as text of gridcore's own format. The
variables X themselves stand in the root only; ``tape`` says which columns of X each root variable is. Of a
run that kept a part of X, ``tape`` holds that part as ``X``, and its columns as ``recorded``.

Large variables are in chunks, and are written and read a part of the run at a time: a run may be larger than memory.
"""

from __future__ import annotations

import json
import operator
import tempfile
import typing
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.case import Case, load_case, save_case
from gridcore.equilibrium import build
from gridcore.errors import GridcoreError
from gridcore.results import Run, Stretch, heading, signals, whole_file
from gridcore.tape import AUTO, Clock, Method, Record, Settings, Tape, states

if TYPE_CHECKING:
    from gridcore.equilibrium import Equilibrium

FORMAT = "gridcore run"
VERSION = 2
_CASE = "case.toml"  # the format in which a file has its case
_CHUNK, _BLOCK = 1 << 20, 1 << 24  # bytes of a chunk of a file, and of what is read together
_plain = operator.methodcaller("tolist")  # numbers and arrays of numpy as Python's, for JSON
_RECORDS: dict[str, type] = {cls.__name__: cls for cls in typing.get_args(Record)}


def save(run: Run, path: Path) -> None:
    """Write a run; the file is there whole, or not at all."""
    import h5netcdf

    with whole_file(path) as temporary, h5netcdf.File(temporary, "w") as file:
        file.attrs.update({"gridcore_format": FORMAT, "gridcore_format_version": VERSION, **heading(run)})
        columns = _write_results(run, file)
        _write_tape(run, file.create_group("tape"), columns)


def load(path: Path) -> Run:
    """A run that :func:`save` wrote, with its system assembled again.

    Raises
    ------
    GridcoreError
        If the file is not there, is not a run of gridcore, or was made with other device definitions.
    """
    import h5netcdf

    if not path.is_file():
        raise GridcoreError(f"{path}: there is no such file")
    try:
        file = h5netcdf.File(path, "r", decode_vlen_strings=True)
    except (OSError, ValueError, h5netcdf.CompatibilityError):
        raise GridcoreError(f"{path}: is not a run of gridcore (no NetCDF-4 file)") from None
    with file:
        if file.attrs.get("gridcore_format") != FORMAT:
            raise GridcoreError(f"{path}: is not a run of gridcore: Run.save and 'gridcore run' write such files")
        if int(file.attrs["gridcore_format_version"]) > VERSION:
            raise GridcoreError(f"{path}: was written by a newer gridcore; this one does not know the format")
        group = file["tape"]
        system = _read_system(group, path)
        return Run(system, _read_tape(file, group, system),
                   *(json.loads(group.attrs[name]) for name in ("run", "counters", "timings")))


# ---------------------------------------------------------------- results


def _write_results(run: Run, file: Any) -> dict[str, np.ndarray]:
    """The root of the file; returns the columns of X that each variable holds (where it holds any)."""
    layout = run.system.layout
    _write(file, "time", ("time",), run.t, units="s", long_name="time")
    _write(file, "switchings", ("time",), run.point_settings, long_name="switchings before this point")
    columns: dict[str, np.ndarray] = {}
    shown = signals(run.system, run=run)
    for signal in shown:
        if signal.dimension not in file.dimensions:
            _write(file, signal.dimension, (signal.dimension,), list(signal.devices))
        _write(file, signal.name, ("time", signal.dimension), units=signal.unit,
               long_name=signal.doc or signal.quantity, coordinates="switchings")
        if signal.quantity in layout.instances[layout.find(signal.devices[0])].device.declares.variables():
            columns[signal.name] = np.array([layout.address(f"{d}.{signal.quantity}") for d in signal.devices])

    def write(part: Stretch) -> None:
        for signal in shown:
            file.variables[signal.name][part.first: part.first + len(part.t)] = part.of(signal.devices, signal.quantity)

    run.stretches(write)
    if run.events:
        _write(file, "event_time", ("event",), np.array([e.t for e in run.events]), units="s",
               long_name="time of event")
        _write(file, "event_words", ("event",), [e.words for e in run.events])
    return columns


def _write(group: Any, name: str, dimensions: tuple[str, ...], values: Any = None, **attributes: str) -> Any:
    """A variable; without values of numbers, to be written part by part, and in chunks where it is large."""
    import h5py

    how: dict[str, Any] = {"dtype": np.dtype(float)}
    if values is None:
        points, width = (len(group.dimensions[d]) for d in dimensions)
        rows = max(_CHUNK // (8 * max(width, 1)), 1)
        how["chunks"] = (rows, width) if rows < points and width else None
    else:
        values = np.array(values, dtype=object) if isinstance(values, list) else values
        for dimension, size in zip(dimensions, values.shape, strict=True):
            if dimension not in group.dimensions:
                group.dimensions[dimension] = size
        how = {"dtype": h5py.string_dtype() if values.dtype == object else values.dtype, "data": values}
    variable = group.create_variable(name, dimensions, **how)
    variable.attrs.update({key: value for key, value in attributes.items() if value})
    return variable


# ---------------------------------------------------------------- the tape


def _write_tape(run: Run, group: Any, columns: dict[str, np.ndarray]) -> None:
    system, tape, point = run.system, run.tape, run.system.operating_point
    data = {
        "order": [instance.id for instance in system.layout.instances],
        "operating_point": point and {"enforce_q_limits": point.enforce_q_limits, "timings": point.timings},
        "declarations": _declarations(system),
        "methods": [[m.name, dict(m.options)] for m in tape.methods],
        "held": system.held, "run": run.settings, "counters": run.counters, "timings": run.timings}
    group.attrs.update({"case": _text(system.case), "case_name": system.case.name,
                        "deenergise": int(system.islands.deenergise),
                        **{key: json.dumps(value, default=_plain) for key, value in data.items()}})
    _write(group, "Z0", ("entry",), system.Z0)
    _write_settings(group, tape.settings)
    _write(group, "point_clock", ("point",), np.array(tape.point_clock, dtype=np.int64))
    _write_table(group, "Clock", Clock, tape.clocks)
    if tape.records:
        _write(group, "record_kind", ("record",), [type(record).__name__ for record in tape.records])
    for kind, cls in _RECORDS.items():
        _write_table(group, kind, cls, [record for record in tape.records if isinstance(record, cls)])
    if tape.states.recorded is None:
        for name, positions in columns.items():
            _write(group, f"columns_{name}", (f"of_{name}",), positions.astype(np.int64))
        return
    _write(group, "recorded", ("recorded",), tape.states.recorded.astype(np.int64))
    recorded = _write(group, "X", ("point", "recorded"))

    def write(first: int, X: np.ndarray) -> None:
        recorded[first: first + len(X)] = X

    tape.states.visit(write)


def _write_settings(group: Any, settings: Settings) -> None:
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


def _read_settings(group: Any) -> Iterator[np.ndarray]:
    values, at, new, numbers = (group.variables[f"settings{part}"][...] for part in ("", "_at", "_value", "_number"))
    for number in range(int(group.attrs["settings"])):
        mine = slice(*np.searchsorted(numbers, [number, number + 1]))
        values = values.copy()
        values[at[mine]] = new[mine]
        yield values


def _write_table(group: Any, name: str, cls: type, rows: Sequence[Any]) -> None:
    """One variable for each field; what is neither a number nor text is written as JSON."""
    for field, kind in typing.get_type_hints(cls).items() if rows else ():
        values: Any = [getattr(row, field) for row in rows]
        if kind in (int, float):
            values = np.array(values, dtype=kind)
        elif kind is not str:
            values = [json.dumps(value, default=_plain) for value in values]
        _write(group, f"{name}_{field}", (name,), values)


def _read_table(group: Any, name: str, cls: type) -> list[Any]:
    columns = []
    for field, kind in typing.get_type_hints(cls).items():
        if f"{name}_{field}" not in group.variables:
            return []
        values = group.variables[f"{name}_{field}"][...].tolist()
        columns.append(values if kind in (int, float, str) else [_frozen(json.loads(value)) for value in values])
    return [cls(*row) for row in zip(*columns, strict=True)]


def _read_X(file: Any, group: Any, n: int, points: slice) -> np.ndarray:
    """(points, n) variables at some points; what was not recorded is undefined."""
    X = np.empty((points.stop - points.start, n))
    if "recorded" in group.variables:
        X[:, group.variables["recorded"][...]] = group.variables["X"][points]
    for name in group.variables:
        if name.startswith("columns_"):
            X[:, group.variables[name][...]] = file.variables[name.removeprefix("columns_")][points]
    return X


def _read_tape(file: Any, group: Any, system: Equilibrium) -> Tape:
    t, clocks = file.variables["time"][...], group.variables["point_clock"][...].tolist()
    recorded = group.variables["recorded"][...] if "recorded" in group.variables else None
    methods = [Method(name, options) for name, options in json.loads(group.attrs["methods"])]
    tape = Tape(states(AUTO, system.n, recorded), methods=methods)
    tape.states.reserve(len(t))
    block = max(1, _BLOCK // (8 * max(system.n, 1)))
    for first in range(0, len(t), block):
        points = slice(first, min(first + block, len(t)))
        for time, row, clock in zip(t[points], _read_X(file, group, system.n, points), clocks[points], strict=True):
            tape.point(time, row, clock)
    tape.states.trim()
    tape.clocks = _read_table(group, "Clock", Clock)
    tape.settings = Settings(_read_settings(group))
    if "record_kind" in group.variables:
        rows = {kind: iter(_read_table(group, kind, cls)) for kind, cls in _RECORDS.items()}
        tape.records = [next(rows[kind]) for kind in group.variables["record_kind"][...].tolist()]
    return tape


# ---------------------------------------------------------------- the case and its system


def _text(case: Case) -> str:
    with tempfile.TemporaryDirectory() as folder:
        save_case(case, file := Path(folder, _CASE))
        return file.read_text(encoding="utf-8")


def _read_case(group: Any, path: Path) -> Case:
    with tempfile.TemporaryDirectory() as folder:
        (file := Path(folder, _CASE)).write_text(group.attrs["case"], encoding="utf-8")
        case = load_case(file, alone=True)
    case.name = group.attrs["case_name"]
    by_id = dict(zip(case.ids(), case.records, strict=True))
    case.records = [by_id[id] for id in json.loads(group.attrs["order"])]  # the text groups them by model
    for record in case.records:
        record.file = str(path)
    return case


def _read_system(group: Any, path: Path) -> Equilibrium:
    point = json.loads(group.attrs["operating_point"])
    at_rest = build(_read_case(group, path), deenergise=bool(group.attrs["deenergise"]), initialise=point is not None,
                    enforce_q_limits=bool(point and point["enforce_q_limits"]))
    then, now = json.loads(group.attrs["declarations"]), _declarations(at_rest)
    changed = [model for model in now if then.get(model) != now[model]]
    if changed:
        raise GridcoreError(f"{path}: was made with other definitions of {', '.join(changed)}: their "
                            "variables, parameters or modes have changed since")
    if at_rest.operating_point is not None:
        at_rest.operating_point.timings = point["timings"]
    held = np.array(json.loads(group.attrs.get("held", "[]")), dtype=int)
    return at_rest.replaced(group.variables["Z0"][...], held)


def _declarations(system: Equilibrium) -> dict[str, list[list[str]]]:
    """What stands in Z for each device class: the meaning of every number in the file."""
    classes = {instance.device.__name__: instance.device.declares for instance in system.layout.instances}
    return {name: [[*d.variables()], [*d.params, *d.setpoints, *d.inputs], [*d.modes]] for name, d in classes.items()}


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
