"""REPCB1: control of a plant of several units, and what passes its commands on to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gridcore.contract import Algebraic, Device, Param, PerUnit, Port, Setpoint, quantity
from gridcore_blocks import Lag

from .plant import BranchMeasurement
from .repca1 import REPCA1


class REPCB1(BranchMeasurement):
    """Plant control REPC_B, as PSS/E's PLNTBU1: of all units that have a REAX4BU1, REAX3BU1 or PlantVars of it.

    EPRI 3002027129 (2023), REPC_B; PowerWorld, Plant Controller Model REPC_B.
    :class:`~gridcore_converters.wecc.plant.PlantControl` of a branch, whose commands are what is added to those at t0;
    so the limits Qmin to Pmax are of what is added, in per unit of the plant's rating.
    """

    attaches = ("bus", "branch")
    naming = "REPC{bus}"
    dyr_record = "PLNTBU1"
    dyr = ("bus@bus", "branch@from", "branch@to", "branch@circuit", *REPCA1.dyr[4:], "MVAb")
    Qmax = Param(PerUnit("MVAr", "MVA"), 0.43, gt=0, doc="upper limit of what is added to the reactive power")
    Qmin = Param(PerUnit("MVAr", "MVA"), -0.43, lt=0, doc="lower limit of what is added to the reactive power")
    Pmax = Param(PerUnit("MW", "MVA"), 1.0, gt=0, doc="upper limit of what is added to the active power")
    Pmin = Param(PerUnit("MW", "MVA"), -1.0, lt=0, doc="lower limit of what is added to the active power")
    MVAb = Param("MVA", 0.0, ge=0, doc="rating of the plant; 0: the base of the system")

    @quantity("MVA", "what the power is in per unit of")
    def rating(s: Any) -> Any:
        return np.where(s.MVAb > 0, s.MVAb, s.base_mva)

    @quantity("pu", "reactive command at t0")
    def Qstart(s: Any) -> Any:
        return 0.0 * s.Qmax

    @quantity("pu", "active command at t0")
    def Pstart(s: Any) -> Any:
        return 0.0 * s.Pmax


class REAX4BU1(Device):
    """Share of one converter in the commands of a :class:`REPCB1`, as PSS/E's REAX4BU1.

    Diagram of REPC_B, EPRI 3002027129 (2023), as InterPSS has it from PSS/E's record; Sb is the rating of the plant, Sn
    that of the converter::

        Qext = Qstart + Kw Qcmd Sb / Sn / (1 + s T),   the last between Qmin and Qmax (non-windup)
        Pref = Pstart + Kz Pcmd Sb / Sn / (1 + s T),   the last between Pmin and Pmax
    """

    attaches: ClassVar[Any] = ("control", Port("plant", REPCB1))
    naming = "REAX_{control}"
    dyr = ("plant@bus", "T", "Kw", "Kz", "Qmax", "Qmin", "Pmax", "Pmin")
    T = Param("s", 0.0, ge=0, doc="time constant of the communication")
    Kw = Param("", 1.0, doc="part of what the plant adds to its reactive power")
    Kz = Param("", 1.0, doc="part of what the plant adds to its active power")
    Qmax = Param("pu", 999.0, gt=0, doc="upper limit of what is added to the reactive command")
    Qmin = Param("pu", -999.0, lt=0, doc="lower limit of what is added to the reactive command")
    Pmax = Param("pu", 999.0, gt=0, doc="upper limit of what is added to the active command")
    Pmin = Param("pu", -999.0, lt=0, doc="lower limit of what is added to the active command")
    Qstart = Setpoint("pu", doc="reactive command at t0")
    Pstart = Setpoint("pu", init=0.5, doc="active command at t0")
    Qmore = Lag(lambda s, plant, converter: s.Kw * plant.Qcmd * plant.rating / converter.Sn, T="T",
                limits=("Qmin", "Qmax"), doc="what is added to the reactive command")
    Pmore = Lag(lambda s, plant, converter: s.Kz * plant.Pcmd * plant.rating / converter.Sn, T="T",
                limits=("Pmin", "Pmax"), doc="what is added to the active command")
    Qext = Algebraic("pu", equals=lambda s: s.Qstart + s.Qmore, drives="control.Qext", doc="reactive command")
    Pref = Algebraic("pu", init=0.5, equals=lambda s: s.Pstart + s.Pmore, drives="control.Pref", doc="active command")

    def start(s: Any) -> Any:
        return {"Qstart": s.Qext, "Pstart": s.Pref}


class REAX3BU1(REAX4BU1):
    """:class:`REAX4BU1` of a wind turbine with a torque control, as PSS/E's REAX3BU1."""


class PlantVars(Device):
    """Share of controlled Vars in the reactive command of a :class:`REPCB1`: of a compensator or a condenser.

    Diagram of REPC_B, EPRI 3002027129 (2023); the reference of its voltage is raised::

        Vs = Kw Qcmd / (1 + s T),   between Vmin and Vmax (non-windup)
    """

    attaches: ClassVar[Any] = ("regulator", Port("plant", REPCB1))
    naming = "VARS_{regulator}"
    T = Param("s", 0.0, ge=0, doc="time constant of the communication")
    Kw = Param("pu", 0.1, doc="voltage over the reactive command of the plant")
    Vmax = Param("pu", 0.1, gt=0, doc="upper limit of what is added to the reference")
    Vmin = Param("pu", -0.1, lt=0, doc="lower limit of what is added to the reference")
    Vs = Lag(lambda s, plant: s.Kw * plant.Qcmd, T="T", limits=("Vmin", "Vmax"), drives="regulator.Vs",
             doc="what is added to the reference")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        """Refuse a share of nothing."""
        return None if values["Kw"] else "Kw must not be 0"
