"""IEEEG1: steam turbine and governor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gridcore.contract import Algebraic, Device, Param, Setpoint
from gridcore_blocks import Lag, LeadLag, RateLimitedLag


class IEEEG1(Device):
    """General steam turbine and governor IEEEG1.

    IEEE Committee, "Dynamic models for steam and hydro turbines in power system studies", IEEE Trans. Power App. Syst.
    92 (1973); IEEE PES-TR1 (2013), section 3.1.2; PSS/E model library, IEEEG1::

        governor  K (1 + s T2)/(1 + s T1) of the speed deviation, subtracted from Pref
        valve     1/T3 of what remains of that beyond its own position, between Uc and Uo; its integral between
                  PMIN and PMAX (non-windup)
        turbine   four lags in a row, T4 to T7, which give the parts K1, K3, K5 and K7 of the power

    A time constant of zero leaves its lag out. Power is in per unit of the machine's base. This is a unit of one
    machine: of two, on a high-pressure and a low-pressure shaft (JBUS), it is :class:`CrossIEEEG1`.
    """

    attaches: ClassVar[Any] = "machine"
    naming = "GOV_{machine}"
    dyr: tuple[str | None, ...] = (
        "JBUS", None, "K", "T1", "T2", "T3", "Uo", "Uc", "PMAX", "PMIN", "T4", "K1", None, "T5", "K3", None, "T6", "K5",
        None, "T7", "K7", None)
    JBUS = Param("", 0.0, doc="bus of the low-pressure machine: 0, there is none")
    K = Param("pu", gt=0, doc="gain, 1 over the droop")
    T1 = Param("s", 0.0, ge=0, doc="lag time constant of the governor")
    T2 = Param("s", 0.0, ge=0, doc="lead time constant of the governor")
    T3 = Param("s", gt=0, doc="time constant of the valve's servomotor")
    Uo = Param("1/s", gt=0, doc="fastest opening of the valve")
    Uc = Param("1/s", lt=0, doc="fastest closing of the valve")
    PMAX = Param("pu", doc="upper limit of the valve")
    PMIN = Param("pu", doc="lower limit of the valve")
    T4 = Param("s", 0.0, ge=0, doc="time constant of the steam chest")
    T5 = Param("s", 0.0, ge=0, doc="time constant of the first reheater")
    T6 = Param("s", 0.0, ge=0, doc="time constant of the second reheater")
    T7 = Param("s", 0.0, ge=0, doc="time constant of the crossover")
    K1 = Param("", 1.0, ge=0, doc="part of the power behind T4")
    K3 = Param("", 0.0, ge=0, doc="part of the power behind T5")
    K5 = Param("", 0.0, ge=0, doc="part of the power behind T6")
    K7 = Param("", 0.0, ge=0, doc="part of the power behind T7")
    Pref = Setpoint("pu", init=0.5, doc="load reference")
    droop = LeadLag(lambda s, machine: machine.omega - 1.0, T1="T2", T2="T1", K="K", doc="answer to the speed")
    valve = RateLimitedLag(lambda s: s.Pref - s.droop, T="T3", rates=("Uc", "Uo"), limits=("PMIN", "PMAX"), init=0.5,
                           doc="valve position")
    x4 = Lag("valve", T="T4", init=0.5, doc="steam behind T4")
    x5 = Lag("x4", T="T5", init=0.5, doc="steam behind T5")
    x6 = Lag("x5", T="T6", init=0.5, doc="steam behind T6")
    x7 = Lag("x6", T="T7", init=0.5, doc="steam behind T7")
    Pm = Algebraic("pu", init=0.5, drives="machine.Pm", doc="turbine power",
                   equals=lambda s: s.K1 * s.x4 + s.K3 * s.x5 + s.K5 * s.x6 + s.K7 * s.x7)

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        if values["JBUS"] != 0:
            return f"JBUS = {values['JBUS']:g}: with a machine on the low-pressure shaft this is a Cross{cls.__name__}"
        if not values["PMIN"] < values["PMAX"]:
            return "PMIN must be below PMAX"
        if values["T1"] == 0 != values["T2"]:
            return "T2 needs a T1: the speed is not differentiated"
        return None if sum(values[k] for k in ("K1", "K3", "K5", "K7")) > 0 else "K1 + K3 + K5 + K7 must be above 0"

    def start(s: Any) -> Any:
        valve = s.Pm / (s.K1 + s.K3 + s.K5 + s.K7)
        return {"droop_x": 0.0, **dict.fromkeys(("valve", "x4", "x5", "x6", "x7", "Pref"), valve)}


class CrossCompound(Device):
    """What a turbine of two shafts is beside that of one: the parts of the power that the low-pressure machine has.

    They are K2, K4, K6 and K8 of the steam behind T4 to T7, in per unit of that machine's base and times the factor
    `share`, which makes their sum its power at t0; it is one where data and power flow agree. The speed that is
    governed is that of the high-pressure machine. Where one machine goes out of service the governor does, and the
    other keeps its power.
    """

    attaches: ClassVar[Any] = ("machine", "second")
    K2 = Param("", 1.0, ge=0, doc="part of the low-pressure power behind T4")
    K4 = Param("", 0.0, ge=0, doc="part of the low-pressure power behind T5")
    K6 = Param("", 0.0, ge=0, doc="part of the low-pressure power behind T6")
    K8 = Param("", 0.0, ge=0, doc="part of the low-pressure power behind T7")
    share = Setpoint("", init=1.0, doc="factor of the parts of the low-pressure power")
    PmL = Algebraic("pu", init=0.5, drives="second.Pm", doc="power of the low-pressure turbine",
                    equals=lambda s: s.share * (s.K2 * s.x4 + s.K4 * s.x5 + s.K6 * s.x6 + s.K8 * s.x7))

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        if not sum(values[k] for k in ("K2", "K4", "K6", "K8")) > 0:
            return "K2 + K4 + K6 + K8 must be above 0 where there is a low-pressure machine"
        return super().check(values)


class CrossIEEEG1(CrossCompound, IEEEG1):
    """Steam turbine and governor of a cross-compound unit: PSS/E's IEEEG1 with a second machine (JBUS, M).

    :class:`IEEEG1` for the high-pressure machine, :class:`CrossCompound` for the low-pressure one.
    """

    dyr_record = "IEEEG1"
    dyr = ("second@bus", "second@id", *IEEEG1.dyr[2:12], "K2", "T5", "K3", "K4", "T6", "K5", "K6", "T7", "K7", "K8")
