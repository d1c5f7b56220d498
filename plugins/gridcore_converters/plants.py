"""Wind and solar plants for generators of which a power-flow file says no more than their power."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gridcore.case import Case, as_case
from gridcore.contract import Record
from gridcore.errors import CaseError

VALUES: Mapping[str, Mapping[str, float]] = {
    "REGCA1": {"Lvplsw": 1.0, "Brkpt": 0.8, "Lvpnt1": 0.7},
    "REECB1": {"Vdip": 0.85, "Vup": 1.2, "dbd1": -0.05, "dbd2": 0.05, "Kqv": 2.0, "Imax": 1.2},
    "REPCA1": {"Kp": 0.0, "Ki": 0.5, "Vfrz": 0.7, "Qmax": 0.6, "Qmin": -0.6}}
"""What differs from the defaults of the models: the plant holds its reactive power and supports the voltage in dips."""


def with_converters(case: Case | str | Path, generators: Iterable[str] | None = None,
                    values: Mapping[str, Mapping[str, float]] = VALUES) -> Case:
    """A case whose generators without a machine model are plants of REGCA1, REECB1 and REPCA1.

    WECC Solar Plant Dynamic Modeling Guidelines (2014); the values are of the order of the typical ones there, no
    plant's own. Each keeps its bus, power, voltage and rating.

    Parameters
    ----------
    case : Case, str or Path
        It is not changed; or the name or path of one.
    generators : iterable of str, optional
        Identifiers; all StaticGenerators that are not the slack by default.
    values : mapping of str to mapping, optional
        Parameters of each of the three models.

    Returns
    -------
    Case

    Raises
    ------
    CaseError
        If one of them is no StaticGenerator.

    Examples
    --------
    >>> case = gc.analyses.with_converters("x.raw")
    >>> gc.save_case(case, "x.dyr")
    """
    case = as_case(case).copy()
    chosen = generators if generators is not None else [
        id for id, record in zip(case.ids(), case) if record.model == "StaticGenerator"
        and record.fields.get("control") != "slack"]
    for id in list(chosen):
        if id not in case or case[id].model != "StaticGenerator":
            raise CaseError(f"{id!r} must be a StaticGenerator of the case")
        _replace(case, id, values)
    return case


def _replace(case: Case, id: str, values: Mapping[str, Mapping[str, float]]) -> None:
    """One of them."""
    old: dict[str, Any] = case[id].fields
    kept = "bus", "status", "control", "P0", "Q0", "V0", "Qmin", "Qmax", "Sn"
    fields: dict[str, Any] = {name: old[name] for name in kept if name in old}
    n = case.ids().index(id)
    place = case.records[n]
    case.records[n] = Record("REGCA1", {"id": id, **fields, **values["REGCA1"]}, place.file, place.row)
    case.add("REECB1", converter=id, **values["REECB1"])
    case.add("REPCA1", control=f"REEC_{id}", **values["REPCA1"])
