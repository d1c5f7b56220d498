"""``"value unit"`` strings of a case file, converted to the unit that a device declares."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import CaseError


@dataclass(frozen=True)
class Base:
    """What per unit refers to where a value stands.

    Parameters
    ----------
    mva : float
        Power base (MVA).
    kv : float, optional
        Voltage base, line to line (kV). None where it is not known.
    frequency : float
        Nominal frequency (Hz).
    """

    mva: float = 100.0
    kv: float | None = None
    frequency: float = 60.0

    def volts(self) -> float:
        """The voltage base (kV); a CaseError where it is not known."""
        if not self.kv:
            raise CaseError("this unit needs the nominal voltage of the bus: give the bus its kv, or the value in pu")
        return self.kv


Scale = float | Callable[[Base], float]

#: Declared unit -> unit accepted in its place, and with any prefix -> factor, or factor as a function of the base.
TABLE: dict[str, dict[str, Scale]] = {
    "": {"%": 0.01}, "rad": {"deg": math.pi / 180},
    "s": {"min": 60.0, "h": 3600.0, "cycles": lambda base: 1 / base.frequency},
    "rad/s": {"deg/s": math.pi / 180, "Hz": 2 * math.pi},
    "Hz": {"rad/s": 1 / (2 * math.pi), "pu": lambda base: base.frequency},
    "MVA": {"MW": 1.0, "MVAr": 1.0, "pu": lambda base: base.mva}, "kV": {"pu": Base.volts},
    "1/s": {"1/ms": 1e3, "1/min": 1 / 60}, "B": {"MiB": 2.0**20, "GiB": 2.0**30},
    "pu": {
        "%": 0.01, **dict.fromkeys(("MW", "MVA", "MVAr"), lambda base: 1 / base.mva),
        "kV": lambda base: 1 / base.volts(), "kA": lambda base: math.sqrt(3) * base.volts() / base.mva,
        "ohm": lambda base: base.mva / base.volts() ** 2, "S": lambda base: base.volts() ** 2 / base.mva,
        "Hz": lambda base: 1 / base.frequency}}

_WHOLE = ("min", "MiB", "GiB")  # begin with the letter of a prefix, which is none
_PREFIXES = {"": 1.0, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9}
_QUANTITY = re.compile(r"\s*([+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf))\s*(\S.*?)?\s*")


def convert(text: str, unit: str, base: Base = Base()) -> float:
    """The number that ``"value unit"`` means in the declared unit.

    Parameters
    ----------
    text : str
        ``"163 MW"``, ``"9.28 deg"``, ``"100 ms"``. A number alone is in the declared unit.
    unit : str
        The declared unit. One that the table does not know accepts itself alone, a ``PerUnit`` what it says.
    base : Base
        What per unit refers to.

    Raises
    ------
    CaseError
        If the text is no number with a unit, or the unit does not convert (those that do are listed).
    """
    match = _QUANTITY.fullmatch(text)
    if match is None:
        example = f", or a number with a unit such as '1.5 {unit}'" if unit else ""
        raise CaseError(f"{text!r} is not a number{example}")
    value, given = float(match[1]), match[2] or unit
    if given == unit:
        return value
    scales: dict[str, Scale] = {unit: 1.0, **TABLE.get(unit, {})} if unit else TABLE[""]
    scales = {known: scales[known] for known in scales if known in (unit, "%", *getattr(unit, "of", scales))}
    for known, scale in scales.items():
        if ratio := _ratio(given, known):
            return value * ratio * (scale(base) if callable(scale) else scale)
    accepted = f"{', '.join(scales)}, and with the prefixes {', '.join(filter(None, _PREFIXES))}"
    raise CaseError(f"unit {given!r} is not understood here; accepted: {accepted}")


def _ratio(given: str, known: str) -> float:
    """How much a unit is of one that differs in nothing but a prefix; 0 of any other."""
    others = {"": 1.0} if known in _WHOLE else _PREFIXES
    return next((size / of for prefix, size in _PREFIXES.items() for other, of in others.items()
                 if known.startswith(other) and given == prefix + known.removeprefix(other)), 0.0)
