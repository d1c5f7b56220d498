"""Cases in JSON (``.json``): of ANDES, or of PowerSystems.jl, as what is in the file says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from gridcore.case import Case
from gridcore.errors import CaseError

from . import andes, power_systems, sources


def read(path: Path, *, drop: Sequence[str] = (), loads: str = "") -> Case:
    """Read a case.

    Parameters
    ----------
    path : Path
    drop : sequence of str
        Tables of ANDES, or types of PowerSystems.jl, to leave out that there is no device for.
    loads : str
        Characteristic of the loads: see :func:`gridcore_readers.characteristics.shares`. If not given, constant
        impedance for a case of ANDES, which is what that makes of them in a run, and else what the file says.

    Raises
    ------
    CaseError
        If the file is malformed, or has devices that there is no class for.
    """
    try:
        data = json.loads(sources.text(path))
    except (ValueError, RecursionError) as error:
        raise CaseError(f"is not valid JSON: {str(error) or 'too deep'}", file=str(path)) from None
    if isinstance(data, dict) and isinstance(data.get("data"), dict):
        return power_systems.case_of(path, data, drop, loads)
    return andes.case_of(path, andes.tables(path, data), drop, loads)
