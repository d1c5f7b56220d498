"""REGFMB1: a grid-forming converter as a virtual synchronous machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Mode, Param, PerUnit, Quantity, Setpoint, State, guard, quantity
from gridcore_blocks import PI, Integrator, Lag

from ..frames import to_frame
from ..priority import LeftSquared, left_of
from .behind_impedance import BehindImpedance, internal_voltage


class REGFMB1(BehindImpedance):
    """Virtual synchronous machine, WECC's REGFM_B1.

    Du, Achilles, Ramasubramanian & others, "Virtual synchronous machine grid-forming inverter model specification
    (REGFM_B1)", NREL/TP-5D00-90260 (2024)::

        2 H dω/dt  = Pref - Δω / (mp (1 + s Tp)) - Pf - D1 ω - D2 s / (s + wD) ω,   DwMIN <= ω <= DwMAX
        dδIT/dt    = ωb (ω - ωPLL), between what keeps the active current below IdMAX
        E          = kpv + kiv / s of Vcmd - Vf, between what keeps the reactive current below IqMAX
        I          = (E e^{j (δIT + δPLL)} - V) / (Rs + j Xdp)

    ω and ωPLL are deviations from nominal; Δω is one of them, or nothing without FFlag. Id and Iq are the currents in
    the frame of the PLL, Iq above zero where reactive power is delivered. ISS limits them in the long run: that with
    priority to Kf ISS, the other to what is left. The upper bound of δIT falls from arcsin(Xdp ISS) while Id is above
    IdMAX, the lower rises, with storage (ESFlag), while it is below -Ke IdMAX. Below VFRZ the PLL stands.

    The record is that of the model in UNIFI's library for PSS/E, REGFMB1U.
    """

    dyr_also = ("REGFM_B1", "REGFMB1U")
    dyr = ("wFlag", "VdrpFlag", "QVFlag", "PQFlag", "FFlag", "ESFlag", "mq", "kpv", "kiv", "mp", "DwMAX", "DwMIN",
           "kpPLL", "kiPLL", "wPLLMAX", "wPLLMIN", "Tp", "H", "D1", "D2", "wD", "ISS", "Kf", "KI", "IMAX", "TPf", "TQf",
           "TVf", "TIf", "Ke", "VFRZ")
    wFlag = Param("", 0.0, ge=0, le=1, doc="frequency of the droop: 0 the machine's, 1 the PLL's")
    VdrpFlag = Param("", 0.0, ge=0, le=1, doc="droop of the voltage: 0 by reactive power, 1 by reactive current")
    QVFlag = Param("", 1.0, ge=0, le=1, doc="what a plant controller changes: 0 Qref, 1 Vref")
    PQFlag = Param("", 1.0, ge=0, le=1, doc="priority: 0 reactive, 1 active current")
    FFlag = Param("", 1.0, ge=0, le=1, doc="1: with droop of the frequency")
    ESFlag = Param("", 1.0, ge=0, le=1, doc="1: storage, active current may be below zero")
    mq = Param("pu", 0.05, ge=0, doc="droop of the voltage")
    kpv = Param("pu", 0.0, ge=0, doc="gain of the voltage's control")
    kiv = Param("1/s", 5.0, gt=0, doc="integral gain of the voltage's control")
    mp = Param("pu", 0.02, gt=0, doc="droop of the frequency")
    DwMAX = Param(PerUnit("Hz"), 0.05, gt=0, doc="largest speed deviation")
    DwMIN = Param(PerUnit("Hz"), -0.05, lt=0, doc="least speed deviation")
    kpPLL = Param("pu", 0.265, ge=0, doc="gain of the PLL")
    kiPLL = Param("1/s", 2.65, gt=0, doc="integral gain of the PLL")
    wPLLMAX = Param(PerUnit("Hz"), 0.2, gt=0, doc="largest frequency deviation of the PLL")
    wPLLMIN = Param(PerUnit("Hz"), -0.2, lt=0, doc="least frequency deviation of the PLL")
    Tp = Param("s", 0.0, ge=0, doc="time constant of the droop")
    H = Param("s", 0.5, gt=0, doc="inertia constant")
    D1 = Param("pu", 0.0, ge=0, doc="damping")
    D2 = Param("pu", 100.0, ge=0, doc="transient damping")
    wD = Param("1/s", 50.0, gt=0, doc="corner frequency of the transient damping")
    ISS = Param(PerUnit("kA"), 1.0, gt=0, doc="limit of the current in the long run, ImaxSS")
    Kf = Param("", 0.9, gt=0, le=1, doc="part of ISS for the current with priority")
    KI = Param("1/s", 2.0, gt=0, doc="integral gain of the active current's limit")
    TPf = Param("s", 0.02, ge=0, doc="time constant of the active power's measurement")
    TQf = Param("s", 0.02, ge=0, doc="time constant of the reactive power's measurement")
    TVf = Param("s", 0.02, ge=0, doc="time constant of the voltage's measurement")
    TIf = Param("s", 0.02, ge=0, doc="time constant of the currents' measurement")
    Ke = Param("", 1.0, ge=0, le=1, doc="part of IdMAX for a current below zero")
    VFRZ = Param(PerUnit("kV"), 0.05, ge=0, doc="voltage below which the PLL stands")
    Pref = Setpoint("pu", doc="reference of the active power")
    Vref = Setpoint("pu", init=1.0, doc="reference of the voltage")
    Qref = Setpoint("pu", equals=lambda s, bus: np.where(s.QVFlag > 0.5, 0.0, s.Q),
                    doc="reference of the reactive power")
    frozen = Mode(0, doc="1 while the PLL stands")
    Pf = Lag(lambda s, bus: s.P, T="TPf", doc="active power measured")
    Qf = Lag(lambda s, bus: s.Q, T="TQf", doc="reactive power measured")
    Vf = Lag(lambda s, bus: bus.Vm, T="TVf", init=1.0, doc="voltage measured")
    Id = Lag("Id_now", T="TIf", doc="active current measured")
    Iq = Lag("Iq_now", T="TIf", doc="reactive current measured")
    wPLL = PI(lambda s, bus: np.where(s.frozen == 1, 0.0, to_frame(bus.Vr, bus.Vi, s.dPLL)[1]), KP="kpPLL", KI="kiPLL",
              limits=("wPLLMIN", "wPLLMAX"), doc="frequency deviation of the PLL")
    dPLL = State("rad", rate=lambda s: np.where(s.frozen == 1, 0.0, s.omega_b * s.wPLL), doc="angle of the PLL")
    slow = Lag(lambda s: np.where(s.wFlag > 0.5, s.wPLL, s.slip), T="Tp", doc="deviation that the droop acts on")
    steady = Lag("slip", T="TD", doc="speed deviation that is not damped")
    slip = Integrator(lambda s: (s.Pref - s.FFlag * s.slow / s.mp - s.Pf - s.D1 * s.slip - s.D2 * (s.slip - s.steady))
                      / (2.0 * s.H), limits=("DwMIN", "DwMAX"), doc="speed deviation of the machine")
    left = LeftSquared("ISS", current=lambda s: np.where(s.PQFlag > 0.5, s.Id, s.Iq))
    rest = Quantity("pu", left_of, "what the current with priority leaves")
    dMAX = Integrator(lambda s: s.KI * (s.IdMAX - s.Id), limits=(0.0, "widest"), at_limit=1, unit="rad",
                      doc="upper bound of the angle")
    dMIN = Integrator(lambda s: np.where(s.ESFlag > 0.5, -s.KI * (s.Ke * s.IdMAX + s.Id), -1.0),
                      limits=("least", 0.0), at_limit=-1, unit="rad", doc="lower bound of the angle")
    dIT = Integrator(lambda s: s.omega_b * (s.slip - s.wPLL), limits=("lowest", "highest"), unit="rad",
                     doc="angle of the internal voltage against the PLL's")
    E = PI(lambda s: s.Vcmd - s.Vf, KP="kpv", KI="kiv", limits=("Emin", "Emax"), init=1.0, doc="internal voltage")

    @quantity("s", "time constant of the transient damping")
    def TD(s: Any) -> Any:
        return 1.0 / s.wD

    @quantity("rad", "angle at which the current is ISS, at nominal voltages")
    def widest(s: Any) -> Any:
        return np.arcsin(s.Xdp * s.ISS)

    @quantity("rad", "least of all lower bounds of the angle")
    def least(s: Any) -> Any:
        return np.where(s.ESFlag > 0.5, -s.widest, 0.0)

    @quantity("rad", "lower bound of the angle")
    def lowest(s: Any) -> Any:
        return s.dMIN

    @quantity("rad", "upper bound of the angle")
    def highest(s: Any) -> Any:
        return s.dMAX

    @quantity("pu", "limit of the active current")
    def IdMAX(s: Any) -> Any:
        return np.where(s.PQFlag > 0.5, s.Kf * s.ISS, s.rest)

    @quantity("pu", "limit of the reactive current")
    def IqMAX(s: Any) -> Any:
        return np.where(s.PQFlag > 0.5, s.rest, s.Kf * s.ISS)

    @quantity("pu", "upper limit of the internal voltage")
    def Emax(s: Any) -> Any:
        return np.sqrt((s.Vf + s.Xdp * s.IqMAX) ** 2 + (s.Xdp * s.Id) ** 2)

    @quantity("pu", "lower limit of the internal voltage")
    def Emin(s: Any) -> Any:
        return np.sqrt((s.Vf - s.Xdp * s.IqMAX) ** 2 + (s.Xdp * s.Id) ** 2)

    @quantity("pu", "active current in the frame of the PLL")
    def Id_now(s: Any) -> Any:
        return s.status * to_frame(s.free_r, s.free_i, s.dPLL)[0] * s.passed

    @quantity("pu", "reactive current in the frame of the PLL")
    def Iq_now(s: Any) -> Any:
        return -s.status * to_frame(s.free_r, s.free_i, s.dPLL)[1] * s.passed

    @quantity("pu", "voltage that is asked for")
    def Vcmd(s: Any) -> Any:
        return s.Vref - s.mq * np.where(s.VdrpFlag > 0.5, s.Iq, s.Qf - s.Qref)

    @quantity(PerUnit("Hz"), "speed of the machine")
    def omega(s: Any) -> Any:
        return 1.0 + s.slip

    @quantity("rad", "angle of the internal voltage")
    def angle(s: Any) -> Any:
        return s.dIT + s.dPLL

    @guard("down", when={"frozen": 0}, then={"frozen": 1})
    def freezes(s: Any, bus: Any) -> Any:
        """The voltage falls below VFRZ, and the PLL stands."""
        return bus.Vm - s.VFRZ

    @guard("up", when={"frozen": 1}, then={"frozen": 0})
    def follows(s: Any, bus: Any) -> Any:
        """The voltage rises above VFRZ, and the PLL follows it."""
        return bus.Vm - s.VFRZ

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return None if values["Xdp"] * values["ISS"] < 1 else "Xdp ISS must be below 1"

    def start(s: Any, bus: Any, power: Any) -> Any:
        E = internal_voltage(s, bus, power)
        Id, Iq = power.P / bus.Vm, power.Q / bus.Vm
        Qref = np.where(s.QVFlag > 0.5, 0.0, power.Q)
        widest = np.arcsin(s.Xdp * s.ISS)
        return {"dIT": np.angle(E) - bus.Va, "dPLL": bus.Va, "E_x": np.abs(E), "Pf": power.P, "Qf": power.Q,
                "Vf": bus.Vm, "Id": Id, "Iq": Iq, "dMAX": widest, "dMIN": np.where(s.ESFlag > 0.5, -widest, 0.0),
                "Pref": power.P, "Qref": Qref, "Vref": bus.Vm + s.mq * np.where(s.VdrpFlag > 0.5, Iq, power.Q - Qref)}
