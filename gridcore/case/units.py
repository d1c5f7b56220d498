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

_POWER: dict[str, float] = {"kW": 1e-3, "kVA": 1e-3, "kVAr": 1e-3, "MW": 1.0, "MVA": 1.0, "MVAr": 1.0,
                            "GW": 1e3, "GVA": 1e3, "GVAr": 1e3}

#: Declared unit -> unit accepted in its place -> factor, or factor as a function of the base.
TABLE: dict[str, dict[str, Scale]] = {
    "": {"%": 0.01}, "rad": {"deg": math.pi / 180},
    "s": {"us": 1e-6, "ms": 1e-3, "min": 60.0, "h": 3600.0, "cycles": lambda base: 1 / base.frequency},
    "rad/s": {"deg/s": math.pi / 180, "Hz": 2 * math.pi},
    "Hz": {"mHz": 1e-3, "kHz": 1e3, "rad/s": 1 / (2 * math.pi), "pu": lambda base: base.frequency},
    "MVA": {**{unit: mva for unit, mva in _POWER.items() if unit != "MVA"}, "pu": lambda base: base.mva},
    "kV": {"V": 1e-3, "MV": 1e3, "pu": Base.volts},
    "1/s": {"1/ms": 1e3, "1/min": 1 / 60}, "B": {"kB": 1e3, "MB": 1e6, "GB": 1e9, "MiB": 2.0**20, "GiB": 2.0**30},
    "pu": {
        "%": 0.01,
        **{unit: lambda base, mva=mva: mva / base.mva for unit, mva in _POWER.items()},  # type: ignore[misc]
        "V": lambda base: 1e-3 / base.volts(), "kV": lambda base: 1 / base.volts(),
        "A": lambda base: 1e-3 * math.sqrt(3) * base.volts() / base.mva,
        "kA": lambda base: math.sqrt(3) * base.volts() / base.mva,
        "ohm": lambda base: base.mva / base.volts() ** 2, "S": lambda base: base.volts() ** 2 / base.mva,
        "uS": lambda base: 1e-6 * base.volts() ** 2 / base.mva,
        "Hz": lambda base: 1 / base.frequency,
    },
}

_QUANTITY = re.compile(r"\s*([+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf))\s*(\S.*?)?\s*")


def convert(text: str, unit: str, base: Base = Base()) -> float:
    """The number that ``"value unit"`` means in the declared unit.

    Parameters
    ----------
    text : str
        ``"163 MW"``, ``"9.28 deg"``, ``"100 ms"``. A number alone is in the declared unit.
    unit : str
        The declared unit. One that the table does not know accepts itself alone.
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
    scales = TABLE.get(unit, {})
    if given not in scales:
        accepted = ", ".join([unit, *scales] if unit else scales) or "no unit"
        raise CaseError(f"unit {given!r} is not understood here; accepted: {accepted}")
    scale = scales[given]
    return value * (scale(base) if callable(scale) else scale)
