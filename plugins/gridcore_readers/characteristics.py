"""How the power of loads depends on voltage, where the user says so in place of the file."""

from __future__ import annotations

from gridcore.errors import CaseError


def shares(loads: str) -> dict[str, float]:
    """Fields of a ZIP load for the option ``loads`` of the readers.

    Parameters
    ----------
    loads : str
        ``"Z"``, ``"I"`` or ``"P"``: constant impedance, current, power; ``"I/Z"`` says it for P and for Q apart, and
        is what is usual before a transient study.

    Raises
    ------
    CaseError
        For any other word.
    """
    active, slash, reactive = loads.upper().partition("/")
    if not slash:
        reactive = active
    if not (active in tuple("ZIP") and reactive in tuple("ZIP")):
        raise CaseError(f"loads = {loads!r}: it is Z, I or P (constant impedance, current, power), or two of them for "
                        "active and reactive power, I/Z")
    return {f"{side}{part}": float(part == kind) for side, kind in (("p", active), ("q", reactive)) for part in "ZIP"}
