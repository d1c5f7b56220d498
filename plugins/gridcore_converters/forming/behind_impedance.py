"""A converter as a voltage behind its coupling impedance, whose current is limited while a fault lasts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Param, PerUnit, Quantity, Source
from gridcore_blocks import Limit
from gridcore_devices.branches.pi import admittance, times
from gridcore_devices.power import TINY, injected_power

UNLIMITED = 1e9  # pu
# When a fault is cleared, voltages are found before the limit is seen to be left, and currents of given size alone may
# have none: a current that is far below the limit is not raised to it. Within its mode the part is one at most.
PASSED = 1.25


def _free(index: int, doc: str) -> Quantity:
    """Real (0) or imaginary (1) part of ``(E e^{j angle} - V) / (Rs + j Xdp)``."""
    def part(s: Any, bus: Any) -> Any:
        re, im = s.E * np.cos(s.angle) - bus.Vr, s.E * np.sin(s.angle) - bus.Vi
        return times(*admittance(s.Rs, s.Xdp), re, im)[index]

    return Quantity("pu", part, doc)


class BehindImpedance(Source):
    """Base of REGFMA1 and REGFMB1: a voltage `E` at `angle` behind ``Rs + j Xdp``, the ZSORCE of the power flow.

    A current beyond IMAX is cut to it, its angle kept: the fault current limit of both specifications.
    """

    Rs = Param(PerUnit("ohm"), 0.0, ge=0, doc="coupling resistance, Re of the specification")
    Xdp = Param(PerUnit("ohm"), 0.15, gt=0, doc="coupling reactance, Xe of the specification")
    IMAX = Param(PerUnit("kA"), 0.0, ge=0, doc="limit of the current in a fault; 0: none")
    free_r = _free(0, "current without limit, real part")
    free_i = _free(1, "current without limit, imaginary part")
    free = Quantity("pu", lambda s: np.sqrt(s.free_r * s.free_r + s.free_i * s.free_i + TINY), "current without limit")
    I = Limit("free", limits=(None, lambda s: np.where(s.IMAX > 0, s.IMAX, UNLIMITED)), names=("none", "IMAX"),  # noqa: E741
              doc="current")

    passed = Quantity("", lambda s: np.minimum(s.I / s.free, PASSED), "part of the current that the limit lets pass")

    def currents(s: Any, bus: Any) -> Any:
        return s.free_r * s.passed, s.free_i * s.passed

    P, Q = injected_power(currents)

    @classmethod
    def ordered(cls, values: Mapping[str, float], *names: str) -> str | None:
        """What is wrong with limits, by what their names share: ``"P"`` stands for PMIN and PMAX."""
        wrong = [name for name in names if not values[f"{name}MIN"] < values[f"{name}MAX"]]
        return f"{wrong[0]}MIN must be below {wrong[0]}MAX" if wrong else None


def internal_voltage(s: Any, bus: Any, power: Any) -> Any:
    """The phasor behind the impedance at t0."""
    V = bus.Vr + 1j * bus.Vi
    return V + (s.Rs + 1j * s.Xdp) * np.conj((power.P + 1j * power.Q) / V)
