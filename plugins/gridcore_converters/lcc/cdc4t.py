"""PSS/E's record CDC4T of a two-terminal line for direct current."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gridcore.contract import guard

from .quasi_static import RISEN, QuasiStaticLine

ORDER = ("ALFDY deg", "GAMDY deg", "TVDC", "TIDC", "VBLOCK", "VUNBL", "TBLOCK", "VBYPAS", "VUNBY", "TBYPAS", "RSVOLT",
         "RSCUR A", "VRAMP", "CRAMP", "C0 A", "V1", "C1 A", "V2", "C2 A", "V3", "C3 A", "TCMODE")
BLOCKED = {"blocked": 1, "waited": 0, "bypassed": 0, "forced": 0, "cold": 0, "rises": 0, "lifts": 0}
"""What happens to a line that is blocked."""


def begins(level: str, of: str, rate: str) -> Callable[..., Any]:
    """Where an order begins to rise: at its end, if it does not have to."""
    return lambda s: np.where(getattr(s, rate) > 0, getattr(s, level) / getattr(s, of), RISEN)


RELEASED = {"blocked": 0, "cold": 1, "rises": 1, "lifts": 1, "risen": begins("RSCUR", "I0", "CRAMP"),
            "lifted": begins("RSVOLT", "VSCHD", "VRAMP")}
"""What happens to one that is released."""
BYPASSED = {"bypassed": 1, "forced": 0}
"""What happens to one whose inverter is bypassed."""
OPENED = {"bypassed": 0, "lifts": 1, "lifted": RELEASED["lifted"]}
"""What happens where a bypass is opened."""
FREE = {"blocked": 0, "bypassed": 0, "cold": 0, "lifts": 0}
"""While a line does what its orders say."""


class InterruptedLine(QuasiStaticLine):
    """What is the same after each interruption, and while the current is held in place of the power."""

    @guard("up", when={"blocked": 1, "waited": 0}, then={"waited": 1}, delay="TBLOCK")
    def blocked_long_enough(s: Any) -> Any:
        """The line was blocked for its least time."""
        return 1.0

    @guard("up", when={"bypassed": 1}, then={"bypassed": 2}, delay="TBYPAS")
    def bypassed_long_enough(s: Any) -> Any:
        """The bypass was closed for its least time."""
        return 1.0

    @guard("up", when={"rises": 1}, then={"rises": 0})
    def current_is_back(s: Any) -> Any:
        """The order of the current has risen to that of t0."""
        return s.risen - 1.0

    @guard("up", when={"lifts": 1}, then={"lifts": 0})
    def voltage_is_back(s: Any) -> Any:
        """The order of the voltage has risen to the scheduled one."""
        return s.lifted - 1.0

    @guard("up", when={"cold": 1, "rises": 0, "lifts": 0}, then={"cold": 0})
    def is_as_before(s: Any) -> Any:
        """Both orders have risen, and the power is held again."""
        return 1.0

    @guard("down", when={**FREE, "forced": 0}, then={"forced": 1})
    def holds_the_current(s: Any, bus: Any) -> Any:
        """The DC voltage falls below VCMOD, and the current is held in place of the power."""
        other = np.logical_or(bus.Vm < s.VBLOCK, s.Vfree < s.VBYPAS)  # it is blocked or bypassed at this instant
        return np.where(np.logical_or(s.Pset == 0, other), 1.0, s.Vd2 - s.VCMOD)

    @guard("up", when={"forced": 1}, then={"forced": 2}, delay="TCMODE")
    def forced_long_enough(s: Any) -> Any:
        """The current was held for the least time."""
        return 1.0

    @guard("up", when={**FREE, "forced": 2}, then={"forced": 0})
    def holds_the_power(s: Any) -> Any:
        """The DC voltage is above VCMOD, and the power is held again."""
        return s.Vd2 - s.VCMOD


class CDC4T(InterruptedLine):
    """Two-terminal line with line-commutated converters, CDC4T of PSS/E; a :class:`CDCInverter` is its other end.

    Siemens PTI, PSS/E model library, CDC4T; what its values are, after PowerWorld, Transient Models, "CDC1T, CDC4T,
    CDC6, and CDC6T"; PSS/E Program Operation Manual, two-terminal DC line data (Pset to XCI); STEPS (Li Changgang,
    2021), ``CDC4T.cpp`` and ``hvdc_model.cpp``; Kundur, Power System Stability and Control (1994), chapter 10. In
    kilovolts, kiloamperes and ohms::

        order       Pset / V, where V is the DC voltage at the end that holds the power, measured; between C0 and a
                    curve of the inverter's DC voltage, measured, through (V1, C1), (V2, C2), (V3, C3)
        rectifier   I = order, or Vd1 = Vdo1 cos ALFDY - R1 I
        inverter    Vd2 = VSCHD - RCOMP I, or Vdo2 cos GAMDY - R2 I, the smaller; or I = (1 - DELTI) order
        line        Vd1 = Vd2 + RDC I,   and I is where they meet
        converter   Vdo = NB 3 sqrt(2) / pi E,   R = 3 / pi NB XC
                    cos a = (Vd + R I) / Vdo,   cos d = (Vd - R I) / Vdo
                    P = Vd I,   Q = 3 NB E^2 / (4 pi XC) (2 (d - a) + sin 2a - sin 2d)

    *Blocked*, I = 0, from where the rectifier's AC voltage is below VBLOCK, for TBLOCK and then until it is above
    VUNBL. *Bypassed*, Vd2 = 0 with the current of t0, from where Vd2 is below VBYPAS, for TBYPAS and then until the
    inverter's AC voltage is above VUNBY. After either the order of the voltage rises from RSVOLT with VRAMP, after the
    first that of the current from RSCUR with CRAMP, too, and it is the current that is held until both are back;
    meanwhile it is not bypassed. Where Vd2 is below VCMOD, the current of t0 is *held* in place of the power, for
    TCMODE and then until Vd2 is above VCMOD.

    Where sources differ: VBYPAS is in kV as in STEPS, not in per unit as PowerWorld has it. VCMOD changes the order, as
    PSS/E's manual says; in STEPS only the mode. Where the rectifier is at ALFDY, I is on the characteristics, as Kundur
    draws them; STEPS goes to the reduced order at once, and on to a bypass. Commutation has no resistance (RC). The
    ratios of the transformers are what gives ER and EI at t0.
    """

    dyr = ORDER

    @guard("down", when={"blocked": 0}, then=BLOCKED)
    def blocks(s: Any, bus: Any) -> Any:
        """The AC voltage of the rectifier falls below VBLOCK, and the line is blocked."""
        return bus.Vm - s.VBLOCK

    @guard("up", when={"blocked": 1, "waited": 1}, then=RELEASED)
    def releases(s: Any, bus: Any) -> Any:
        """The AC voltage of the rectifier is above VUNBL, and the line is released."""
        return bus.Vm - s.VUNBL

    @guard("down", when=FREE, then=BYPASSED)
    def bypasses(s: Any, bus: Any) -> Any:
        """The DC voltage falls below VBYPAS, and the inverter is bypassed."""
        return np.where(bus.Vm < s.VBLOCK, 1.0, s.Vfree - s.VBYPAS)

    @guard("up", when={"bypassed": 2}, then=OPENED)
    def opens(s: Any) -> Any:
        """The AC voltage of the inverter is above VUNBY, and the bypass is opened."""
        return s.Vac2 - s.VUNBY
