"""GENROE: round-rotor machine with exponential saturation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import quantity

from .round_rotor import RoundRotor, round_rotor_start
from .saturation import check_exponential, exponential


class GENROE(RoundRotor):
    """Round-rotor machine with exponential saturation: PSS/E's GENROE.

    PSS/E model library, GENROE; IEEE Std 1110-2002, model 2.2; Kundur (1994), section 5.4. The equations are those of
    :class:`~gridcore_devices.machines.round_rotor.RoundRotor` with ``S(psi) = S10 psi^n``.
    """

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_exponential(values) or super().check(values)

    @quantity("pu", "saturation: field current beyond the air-gap line, per flux")
    def Se(s: Any) -> Any:
        return exponential(s.S10, s.S12, s.psipp) / s.psipp

    def start(s: Any, bus: Any, power: Any) -> Any:
        return round_rotor_start(s, bus, power, exponential)
