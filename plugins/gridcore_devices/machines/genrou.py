"""GENROU: round-rotor machine with quadratic saturation."""

from __future__ import annotations

from typing import Any

from gridcore.contract import quantity

from .round_rotor import RoundRotor, round_rotor_start
from .saturation import quadratic


class GENROU(RoundRotor):
    """Round-rotor machine with quadratic saturation: PSS/E's GENROU.

    PSS/E model library, GENROU; IEEE Std 1110-2002, model 2.2; Kundur (1994), section 5.4. The equations are those of
    :class:`~gridcore_devices.machines.round_rotor.RoundRotor` with ``S(psi) psi = B (psi - A)^2``.
    """

    @quantity("pu", "saturation: field current beyond the air-gap line, per flux")
    def Se(s: Any) -> Any:
        return quadratic(s.S10, s.S12, s.psipp) / s.psipp

    def start(s: Any, bus: Any, power: Any) -> Any:
        return round_rotor_start(s, bus, power, quadratic)
