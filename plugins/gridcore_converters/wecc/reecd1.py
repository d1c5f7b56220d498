"""REECD1: electrical control of any converter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gridcore.contract import Algebraic, Param, PerUnit, quantity
from gridcore_blocks import Lag

from .blocks import After, Table, Window
from .electrical import ElectricalControl, voltage
from .plant import compensated
from .reeca1 import REECA1, HoldingControl, hold
from .tables import point, points, record


class REECD1(HoldingControl):
    """Electrical control REEC_D, as PSS/E's REECD1.

    EPRI 3002027129 (2023), REEC_D. :class:`~gridcore_converters.wecc.electrical.ElectricalControl` with tables of
    limits of ten points, the speed of a generator as in :class:`~gridcore_converters.wecc.reeca1.REECA1`, and::

        Iqinj      that of the voltage error, always
        Iqcmd      Thld seconds after a dip what it was at its end, with a negative Thld -Thld seconds Iqfrz
        Ipcmd      with its limit what it was at the end of a dip, for Thld2 seconds
        dip        Vf below Vdip or above Vup, not the voltage itself
        blocked    both are zero while Vf is below Vblkl or above Vblkh, and Tblk seconds after that
        Ipmin      -Ke Ipmax
        inner      the control of the voltage has ``V + Kc Q``, or with VcmpFlag = 1 ``|V - (Rc + j Xc) I|``, behind Tr1

    The record is that of InterPSS.
    """

    count: ClassVar[int] = 10
    dyr = (*(name for name in REECA1.dyr[1:6]), "VcmpFlag", *REECA1.dyr[6:35], *record(10), "Rc", "Xc", "Tr1", "Kc",
           "Ke", "Vblkl", "Vblkh", "Tblk")
    VcmpFlag = Param("", 0.0, ge=0, le=1, doc="voltage that is controlled: 0 with droop, 1 behind an impedance")
    Vq5, Iq5 = point("q", 5)
    Vq6, Iq6 = point("q", 6)
    Vq7, Iq7 = point("q", 7)
    Vq8, Iq8 = point("q", 8)
    Vq9, Iq9 = point("q", 9)
    Vq10, Iq10 = point("q", 10)
    Vp5, Ip5 = point("p", 5)
    Vp6, Ip6 = point("p", 6)
    Vp7, Ip7 = point("p", 7)
    Vp8, Ip8 = point("p", 8)
    Vp9, Ip9 = point("p", 9)
    Vp10, Ip10 = point("p", 10)
    VDL1 = Table("Vf", points=points("q", 10), doc="limit of the reactive current by the voltage")
    VDL2 = Table("Vf", points=points("p", 10), doc="limit of the active current by the voltage")
    Rc = Param(PerUnit("ohm"), 0.0, ge=0, doc="compensated resistance")
    Xc = Param(PerUnit("ohm"), 0.0, ge=0, doc="compensated reactance")
    Tr1 = Param("s", 0.02, ge=0, doc="time constant of the compensated voltage")
    Kc = Param("pu", 0.0, doc="reactive droop")
    Ke = Param("", 0.0, ge=0, le=1, doc="part of its limit that the active current may have when it takes power")
    Vblkl = Param(PerUnit("kV"), -99.0, doc="voltage below which the converter is blocked")
    Vblkh = Param(PerUnit("kV"), 99.0, doc="voltage above which the converter is blocked")
    Tblk = Param("s", 0.0, ge=0, doc="how long it goes on being blocked")
    Iqheld = Param(PerUnit("kA"), 0.0, doc="reactive current that is held")
    Ipkept = Param(PerUnit("kA"), 0.0, doc="active current that is held")
    dip = Window("Vf", low="Vdip", high="Vup", out={"after_on": 0, "limited_on": 0}, back={
        **After.starts("after", hold), **After.starts("limited", lambda s: s.Thld2), "Iqheld": lambda s: s.Iqwanted,
        "Ipheld": lambda s: s.Iptop, "Ipkept": lambda s: s.Ipwanted}, doc="voltage that holds the control")
    outside = Window("Vf", low="Vblkl", high="Vblkh", out={"still_on": 0}, back=After.starts("still", lambda s: s.Tblk),
                     doc="voltage that blocks the converter")
    still = After(time="Tblk", rest="rest", doc="blocking goes on")
    Vcomp = Lag(lambda s, bus, converter: compensated(s, s.VcmpFlag, bus.Vm, converter.P, converter.Q), T="Tr1",
                init=1.0, doc="compensated voltage")
    Ipcmd = Algebraic("pu", init=0.5, equals=lambda s: np.where(s.blocked != 0, 0.0, s.current),
                      drives="converter.Ipcmd", doc="active current command")
    Iqcmd = Algebraic("pu", equals=lambda s: np.where(s.blocked != 0, 0.0, s.total), drives="converter.Iqcmd",
                      doc="reactive current command")

    @quantity("pu", "voltage that is controlled")
    def Vinner(s: Any) -> Any:
        return s.Vcomp

    @quantity("pu", "reactive current of the voltage error that is added")
    def Iqinj(s: Any) -> Any:
        return s.support

    @quantity("pu", "reactive current that is asked for")
    def Iqwanted(s: Any) -> Any:
        held = np.where(s.Thld > 0, s.Iqheld, s.Iqfrz)
        return np.where(s.after != 0, held, np.where(s.QFlag == 1, s.inner, s.quotient) + s.Iqinj)

    @quantity("", "1 where the limits of the control of the voltage are not those of the whole reactive current")
    def adds(s: Any) -> Any:
        return np.where(np.logical_or(np.logical_or(s.QFlag == 0, s.Iqinj != 0), s.after != 0), 1.0, 0.0)

    @quantity("pu", "active current that is asked for")
    def Ipwanted(s: Any) -> Any:
        return np.where(s.limited != 0, s.Ipkept, s.Pord / voltage(s))

    @quantity("", "1 while the converter is blocked")
    def blocked(s: Any) -> Any:
        return np.where(np.logical_or(s.outside != 0, s.still != 0), 1.0, 0.0)

    @quantity("pu", "lower limit of the active current")
    def Ipmin(s: Any) -> Any:
        return -s.Ke * s.Ipmax

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        """Refuse limits out of order."""
        return super().check(values) if values["Vblkl"] < values["Vblkh"] else "Vblkl must be below Vblkh"

    def start(s: Any, bus: Any, converter: Any) -> Any:
        return ElectricalControl.start(s, bus, converter) | {"Vcomp": bus.Vm}
