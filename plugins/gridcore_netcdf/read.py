"""A run from its file: nothing is taken that is not what the writer writes.

The digest says that the file is as it was written; here it is seen to that what it says is possible: every variable
there, of its type and length, and every number in its range.
"""

from __future__ import annotations

import json
import tempfile
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.case import Case, existing, load_case
from gridcore.equilibrium import build
from gridcore.errors import GridcoreError
from gridcore.results import Run
from gridcore.tape import AUTO, Clock, Records, Settings, Tape, states
from gridcore_provenance.record import NAMES

from .checkpoint import read_checkpoint
from .checks import Part, Ranges, check_clocks, check_triggers, methods, ranges
from .form import BLOCK, CASE, FORMAT, RECORDS, ROWS, VERSION, declarations
from .seal import is_sealed

if TYPE_CHECKING:
    from gridcore.equilibrium import Equilibrium


def load(path: Path) -> Run:
    """A run that :func:`gridcore_netcdf.write.save` wrote, with its system assembled again.

    Raises
    ------
    GridcoreError
        If the file is not there, is not a run of gridcore, is damaged, or was made with other device definitions.
    """
    import h5netcdf

    if not is_sealed(existing(path)):
        raise GridcoreError(f"{path}: {_what_else(path)}")
    try:
        with h5netcdf.File(path, "r", decode_vlen_strings=True) as file:
            version = file.attrs["gridcore_format_version"]
            if version != VERSION:
                what = "a newer gridcore; this one does not know the format" if version > VERSION \
                    else "an older gridcore: simulate it anew"
                raise GridcoreError(f"{path}: was written by {what}")
            return _read_run(file, path)
    except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError) as error:
        said = " ".join(str(error).split())
        raise GridcoreError(f"{path}: is not as gridcore writes it: {type(error).__name__}: {said}") from error


def _what_else(path: Path) -> str:
    """What a file is that has not the digest of a run."""
    import h5py

    try:
        with h5py.File(path) as file:
            form, version = (file.attrs.get(f"gridcore_format{of}") for of in ("", "_version"))
            if form != FORMAT:
                return "is not a run of gridcore: Run.save and 'gridcore run' write such files"
            if version < VERSION:
                return "was written by an older gridcore, without checksums: simulate it anew"
    except Exception:  # HDF5 has many for what it does not know
        return "is not a run of gridcore (no NetCDF-4 file), or not all of one"
    return "is damaged, or was changed by another program: its digest is missing"


def _read_run(file: Any, path: Path) -> Run:
    tape = Part(file.groups.get("tape"), "tape", path)
    system = _read_system(tape, path)
    run = Run(system, _read_tape(Part(file, "", path), tape, system),
              *(tape.json(name, dict) for name in ("run", "counters", "timings")))
    run.provenance = {name: str(file.attrs[name]) for name in NAMES if name in file.attrs}
    return run


# ---------------------------------------------------------------- the tape


def _read_tape(root: Part, part: Part, system: Equilibrium) -> Tape:
    t = root.numbers("time", float, (None,))
    if not (np.isfinite(t).all() and (np.diff(t) >= 0).all()):
        raise root.error("time", "must be finite, and not decrease")
    made_by = methods(part)
    records = part.integer("records")
    kinds = part.texts("record_kind", records) if records else []
    count = {kind: kinds.count(kind) for kind in RECORDS}
    if sum(count.values()) < len(kinds):
        raise part.error("record_kind", f"must be one of {', '.join(RECORDS)}")
    settings = Settings(_read_settings(part, system, records))
    clocks = part.variable("Clock_kind", str, (None,)).shape[0]
    within = ranges(system, len(t), clocks, len(made_by), len(settings))
    recorded, columns = _read_columns(root, part, system, len(t))
    tape = Tape(states(AUTO, system.n, recorded), methods=made_by, settings=settings)
    tape.clocks = list(_read_table(part, "Clock", Clock, clocks, within))
    check_clocks(part, tape.clocks, system)
    rows = {kind: _read_table(part, kind, cls, count[kind], within) for kind, cls in RECORDS.items()}
    tape.records = Records(next(rows[kind]) for kind in kinds)
    check_triggers(part, tape.records, system)
    point_clock = part.within("point_clock", len(t), within)
    tape.states.reserve(len(t))
    block = max(1, BLOCK // (8 * system.n))
    X = np.empty((min(block, len(t)), system.n))
    for first in range(0, len(t), block):
        points = slice(first, min(first + block, len(t)))
        for at, values in columns:
            X[: points.stop - first, at[at >= 0]] = values[points][:, at >= 0]
        for time, row, clock in zip(t[points], X, point_clock[points].tolist(), strict=False):
            tape.point(time, row, clock)
    tape.states.trim()
    tape.last = read_checkpoint(part, system, tape)
    return tape


def _read_columns(root: Part, part: Part, system: Equilibrium, points: int) -> tuple[Any, list[tuple[Any, Any]]]:
    """What was recorded, if not all; and where X stands: some positions in it, and the variable that has them."""
    if "recorded" in part:
        recorded = part.positions("recorded", system.n)
        return recorded, [(recorded, part.variable("X", float, (points, len(recorded))))]
    variables = [root.variable(str(name), float, (points, None)) for name in part.json("columns_of", list)]
    there = part.numbers("columns", int, (sum(variable.shape[1] for variable in variables),))
    wrong = np.flatnonzero(np.bincount(there[(there >= 0) & (there < system.n)], minlength=system.n) != 1)
    if len(wrong) or ((there < -1) | (there >= system.n)).any():
        said = ", ".join(".".join(system.variables[k]) for k in wrong[:3])
        raise part.error("columns", f"must have each variable once; of {said} that is not so")
    parts = np.split(there, np.cumsum([variable.shape[1] for variable in variables])[:-1])
    return None, list(zip(parts, variables, strict=True))


def _read_settings(part: Part, system: Equilibrium, records: int) -> Iterator[np.ndarray]:
    size = len(system.Z0) - 1 - system.n
    values, count = part.numbers("settings", float, (size,)), part.integer("settings")
    at = part.numbers("settings_at", int, (None,))
    new, numbers = part.numbers("settings_value", float, at.shape), part.numbers("settings_number", int, at.shape)
    if not 1 <= count <= records + 1:  # at t0, and after each switch, which is a record
        raise part.error("settings", f"is {count}, and must be from 1 to {records + 1}")
    if len(at) and (at.min() < 0 or at.max() >= size):
        raise part.error("settings_at", f"must be from 0 to {size - 1}")
    if len(numbers) and (numbers[0] < 1 or numbers[-1] >= count or (np.diff(numbers) < 0).any()):
        raise part.error("settings_number", f"must be from 1 to {count - 1}, and not decrease")
    for number in range(count):
        mine = slice(*np.searchsorted(numbers, [number, number + 1]))
        values = values.copy()
        values[at[mine]] = new[mine]
        yield values


def _read_table(part: Part, name: str, cls: type, rows: int, within: Ranges) -> Iterator[Any]:
    """What has been checked, one after another: as objects all together take several times the room."""
    columns: list[Any] = []
    for field, kind in typing.get_type_hints(cls).items() if rows else ():
        variable = f"{name}_{field}"
        if kind in (int, float):
            columns.append(part.within(variable, rows, within, kind))
        else:
            texts = part.texts(variable, rows)
            columns.append(texts if kind is str else [_frozen(json.loads(text)) for text in texts])
    return (cls(*row) for first in range(0, rows, ROWS)
            for row in zip(*(_values(column[first: first + ROWS]) for column in columns), strict=True))


def _values(column: np.ndarray | list[Any]) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else column


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


# ---------------------------------------------------------------- the case and its system


def _read_case(part: Part, path: Path) -> Case:
    text = part.text("case")
    try:
        with tempfile.TemporaryDirectory() as folder:
            (file := Path(folder, CASE)).write_text(text, encoding="utf-8")
            case = load_case(file, alone=True)
    except OSError as error:
        raise GridcoreError(f"{tempfile.gettempdir()}: cannot be written: {error.strerror or error}") from None
    case.name = part.text("case_name")
    by_id, order = dict(zip(case.ids(), case.records, strict=True)), part.json("order", list)
    if sorted(order) != sorted(by_id):
        raise part.error("order", "must name the records of the case")
    case.records = [by_id[id] for id in order]  # the text groups them by model
    for record in case.records:
        record.file = str(path)
    return case


def _read_system(part: Part, path: Path) -> Equilibrium:
    point = part.json("operating_point", dict, type(None))
    at_rest = build(_read_case(part, path), deenergise=bool(part.integer("deenergise")), initialise=point is not None,
                    enforce_q_limits=bool(point and point["enforce_q_limits"]))
    then, now = part.json("declarations", dict), declarations(at_rest)
    changed = [model for model in now if then.get(model) != now[model]]
    if changed:
        raise GridcoreError(f"{path}: was made with other definitions of {', '.join(changed)}: their "
                            "variables, parameters or modes have changed since")
    if at_rest.operating_point is not None:
        at_rest.operating_point.timings = point["timings"]
    held = np.array(part.json("held", list), dtype=int)
    if len(held) and not (0 <= held.min() and held.max() < at_rest.n):
        raise part.error("held", f"must be from 0 to {at_rest.n - 1}")
    return at_rest.replaced(part.numbers("Z0", float, at_rest.Z0.shape), held)
