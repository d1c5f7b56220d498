"""Electrical controls whose control of the voltage is that of another bus."""

from __future__ import annotations

from typing import Any, ClassVar

from gridcore.contract import Bus, Port, quantity
from gridcore_blocks import Lag

from .electrical import ElectricalControl
from .reeca1 import REECA1
from .reecb1 import REECB1
from .reecc1 import REECC1


class RemoteVoltage(ElectricalControl):
    """With QFlag = 1 the inner control is of the voltage at the port ``regulated``, measured with Trv.

    All else, dips, limits of currents and the reactive support in a dip, is of the voltage at the terminals.
    """

    attaches: ClassVar[Any] = ("converter", Port("regulated", node=Bus))
    Vfar = Lag("Vregulated", T="Trv", init=1.0, doc="voltage of the bus that is regulated, measured")

    @quantity("pu", "voltage of the bus that is regulated")
    def Vregulated(s: Any, regulated: Any) -> Any:
        return regulated.Vm

    @quantity("pu", "voltage that is controlled")
    def Vinner(s: Any) -> Any:
        return s.Vfar


class RemoteREECA1(RemoteVoltage, REECA1):
    """REECA1 whose control of the voltage is that of another bus."""

    dyr_record = "REECA1"
    dyr = ("regulated@bus", *REECA1.dyr[1:])


class RemoteREECB1(RemoteVoltage, REECB1):
    """REECB1 whose control of the voltage is that of another bus."""

    dyr_record = "REECB1"
    dyr = ("regulated@bus", *REECB1.dyr[1:])


class RemoteREECC1(RemoteVoltage, REECC1):
    """REECC1 whose control of the voltage is that of another bus."""

    dyr_record = "REECC1"
    dyr = ("regulated@bus", *REECC1.dyr[1:])
