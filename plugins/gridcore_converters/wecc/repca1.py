"""REPCA1: control of a plant of one converter, its voltage or reactive power, and its active power."""

from __future__ import annotations

from typing import Any, ClassVar

from gridcore.contract import Algebraic, Setpoint, quantity

from .plant import BranchMeasurement, PlantControl


class REPCA1(PlantControl):
    """Plant control REPC_A, as PSS/E's REPCA1 and REPCTA1, of one converter and at its terminals.

    :class:`~gridcore_converters.wecc.plant.PlantControl` whose commands are Qext and Pref of the electrical control.
    """

    attaches: ClassVar[Any] = "control"
    naming = "REPC_{control}"
    dyr_also = ("REPCTA1",)  # of wind turbines of type 3
    dyr: ClassVar[tuple[str | None, ...]] = (
        None, None, None, None, "VCFlag", "RefFlag", "Fflag", "Tfltr", "Kp", "Ki", "Tft", "Tfv", "Vfrz", "Rc", "Xc",
        "Kc", "emax", "emin", "dbd1", "dbd2", "Qmax", "Qmin", "Kpg", "Kig", "Tp", "fdbd1", "fdbd2", "femax", "femin",
        "Pmax", "Pmin", "Tg", "Ddn", "Dup")
    Qstart = Setpoint("pu", doc="reactive command at t0")
    Pstart = Setpoint("pu", init=0.5, doc="active command at t0")
    Qext = Algebraic("pu", equals=lambda s: s.Qcmd, drives="control.Qext", doc="reactive command")
    Pref = Algebraic("pu", init=0.5, equals=lambda s: s.Pcmd, drives="control.Pref", doc="active command")

    def start(s: Any, bus: Any) -> Any:
        return {**PlantControl.start(s, bus), "Qstart": s.Qext, "Qcmd_x": s.Qext, "Pstart": s.Pref, "Pcmd": s.Pref}


class RemoteREPCA1(REPCA1):
    """REPCA1 of another bus than its converter's: voltage and frequency are measured there, power at the converter.

    With VCFlag = 1 the current is that of the converter's power at the voltage of that bus.
    """

    attaches: ClassVar[Any] = ("control", "bus")
    dyr_record = "REPCA1"
    dyr = ("bus@bus", *REPCA1.dyr[1:])


class MonitoringREPCA1(BranchMeasurement, RemoteREPCA1):
    """REPCA1 of any bus and of the power in a branch, in per unit of the converter's rating.

    The power is what flows into the branch at `end`; so is the current that VCFlag = 1 compensates for.
    """

    attaches = ("control", "bus", "branch")
    dyr = ("bus@bus", "branch@from", "branch@to", "branch@circuit", *REPCA1.dyr[4:])

    @quantity("MVA", "what the power is in per unit of")
    def rating(s: Any, converter: Any) -> Any:
        return converter.Sn
