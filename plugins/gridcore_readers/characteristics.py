"""How the power of loads depends on voltage, where the user says so in place of the file."""

from __future__ import annotations

from collections.abc import Sequence

from gridcore.errors import CaseError


def shares(loads: str) -> dict[str, float]:
    """Fields of a ZIP load for the option ``loads`` of the readers; empty where nothing is said.

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
    if not loads:
        return {}
    active, slash, reactive = loads.upper().partition("/")
    if not slash:
        reactive = active
    if not (active in tuple("ZIP") and reactive in tuple("ZIP")):
        raise CaseError(f"loads = {loads!r}: it is Z, I or P (constant impedance, current, power), or two of them for "
                        "active and reactive power, I/Z")
    return {f"{side}{part}": float(part == kind) for side, kind in (("p", active), ("q", reactive)) for part in "ZIP"}


def exponents(loads: str) -> dict[str, float]:
    """The same as exponents of a power law, for generators that are a negative load."""
    parts = shares(loads)
    exponent = {part: {"Z": 2.0, "I": 1.0, "P": 0.0}[part[1]] for part, share in parts.items() if share}
    return {name: value for side, name in (("p", "alpha"), ("q", "beta"))
            for part, value in exponent.items() if part[0] == side and value}


def shares_of(powers: Sequence[float]) -> tuple[float, ...]:
    """The part that each has in their sum; they add up to one. Of nothing it is the last."""
    total = sum(powers)
    if not total:
        return (0.0, 0.0, 1.0)
    if total in powers and [*powers].count(0.0) == len(powers) - 1:
        return tuple(float(power != 0) for power in powers)
    parts = [power / total for power in powers]
    first = max(range(3), key=lambda k: abs(parts[k]))
    parts[first] = 1.0 - sum(part for k, part in enumerate(parts) if k != first)
    return tuple(parts)
