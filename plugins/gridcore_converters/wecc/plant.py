"""What the controls of plants have in common: from measurements to a reactive and an active command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Param, PerUnit, Setpoint, quantity
from gridcore_blocks import HighGate, Lag, LeadLag, Limit
from gridcore_devices.protection.frequency import FrequencyRelay

from .blocks import NEVER, Band, HeldPI, Window


class PlantControl(FrequencyRelay):
    """Base of REPC_A and REPC_B; what is measured, P and Q, and what commands start from are those of a subclass.

    WECC Solar Plant Dynamic Modeling Guidelines (2014), REPC_A; EPRI 3002027129 (2023)::

        measured   RefFlag = 1: V + Kc Q, or with VCFlag = 1 |V - (Rc + j Xc) I|;  RefFlag = 0: Q; behind Tfltr
        error      band(reference - measured), dbd1 to dbd2, between emin and emax
        Qcmd       (Qstart + (Kp + Ki / s) error) (1 + s Tft) / (1 + s Tfv), the PI between Qmin and Qmax, held while
                   V < Vfrz
        Pcmd       1 / (1 + s Tg) (Pstart + (Kpg + Kig / s) perror), the PI between Pmin and Pmax; Pstart with Fflag = 0
        perror     Plant - P / (1 + s Tp) + Dup up + Ddn down, between femin and femax; up and down are what of -slip is
                   above fdbd2 and below fdbd1

    At t0 the references are what is measured, and the integrators are counted from the commands at t0, Qstart and
    Pstart, which a dead band would leave open. The slip is measured as relays measure it.
    """

    VCFlag = Param("", 0.0, ge=0, le=1, doc="voltage that is controlled: 0 with reactive droop, 1 behind an impedance")
    RefFlag = Param("", 0.0, ge=0, le=1, doc="0 control of the reactive power, 1 of the voltage")
    Fflag = Param("", 0.0, ge=0, le=1, doc="1: control of the active power and the frequency")
    Tfltr = Param("s", 0.02, ge=0, doc="time constant of what is measured")
    Kp = Param("pu", 1.0, ge=0, doc="proportional gain of the reactive control")
    Ki = Param("1/s", 5.0, ge=0, doc="integral gain of the reactive control")
    Tft = Param("s", 0.0, ge=0, doc="lead time constant of the command")
    Tfv = Param("s", 0.05, ge=0, doc="lag time constant of the command")
    Vfrz = Param(PerUnit("kV"), 0.0, doc="voltage below which the reactive control is held")
    Rc = Param(PerUnit("ohm"), 0.0, ge=0, doc="compensated resistance")
    Xc = Param(PerUnit("ohm"), 0.0, ge=0, doc="compensated reactance")
    Kc = Param("pu", 0.0, doc="reactive droop")
    emax = Param("pu", 0.1, gt=0, doc="upper limit of the error")
    emin = Param("pu", -0.1, lt=0, doc="lower limit of the error")
    dbd1 = Param("pu", 0.0, le=0, doc="low end of the dead band")
    dbd2 = Param("pu", 0.0, ge=0, doc="high end of the dead band")
    Qmax = Param("pu", 0.43, doc="upper limit of the reactive command")
    Qmin = Param("pu", -0.43, doc="lower limit of the reactive command")
    Kpg = Param("pu", 1.0, ge=0, doc="proportional gain of the active control")
    Kig = Param("1/s", 0.05, ge=0, doc="integral gain of the active control")
    Tp = Param("s", 0.25, ge=0, doc="time constant of the measurement of power")
    fdbd1 = Param(PerUnit("Hz"), -0.01, le=0, doc="low end of the frequency's dead band")
    fdbd2 = Param(PerUnit("Hz"), 0.01, ge=0, doc="high end of the frequency's dead band")
    femax = Param("pu", 99.0, gt=0, doc="upper limit of the error of the active power")
    femin = Param("pu", -99.0, lt=0, doc="lower limit of the error of the active power")
    Pmax = Param("pu", 1.0, doc="upper limit of the active command")
    Pmin = Param("pu", 0.0, doc="lower limit of the active command")
    Tg = Param("s", 0.1, ge=0, doc="time constant of the active command")
    Ddn = Param("pu", 0.0, ge=0, doc="power taken away per frequency above the band")
    Dup = Param("pu", 0.0, ge=0, doc="power added per frequency below the band")
    rest = Param("pu", 0.0, doc="integrators at t0, from the commands at t0")
    reference = Setpoint("pu", init=1.0, equals=lambda s: s.measured, doc="reference of the voltage or reactive power")
    Plant = Setpoint("pu", init=0.5, equals=lambda s: s.Pm, doc="reference of the active power")

    @quantity("pu", "active power of the plant")
    def P(s: Any, converter: Any) -> Any:
        return converter.P

    @quantity("pu", "reactive power of the plant")
    def Q(s: Any, converter: Any) -> Any:
        return converter.Q

    @quantity("pu", "voltage that is controlled")
    def V(s: Any, bus: Any) -> Any:
        return bus.Vm

    @quantity("pu", "voltage, with what compensates it")
    def Vcomp(s: Any) -> Any:
        return compensated(s, s.VCFlag, s.V, s.P, s.Q)

    measured = Lag(lambda s: np.where(s.RefFlag == 1, s.Vcomp, s.Q), T="Tfltr", init=1.0,
                   doc="voltage or reactive power, measured")
    low = Window("V", low="Vfrz", high=99.0, doc="voltage that holds the reactive control")
    band = Band(lambda s: s.reference - s.measured, low="dbd1", high="dbd2", doc="error beyond the dead band")
    error = Limit("band", limits=("emin", "emax"), doc="error of the reactive control")
    reactive = HeldPI("error", KP="Kp", KI="Ki", hold="low", start_at="rest", limits=(
        lambda s: s.Qmin - s.Qstart, lambda s: s.Qmax - s.Qstart), doc="reactive control")
    Qcmd = LeadLag(lambda s: s.Qstart + s.reactive, T1="Tft", T2="Tfv", doc="reactive command")
    Pm = Lag("P", T="Tp", init=0.5, doc="active power, measured")
    fband = Band(lambda s: -s.slip, low="fdbd1", high="fdbd2", doc="frequency error beyond the dead band")

    low_frequency = HighGate(lambda s: np.where(s.fdbd2 > s.fdbd1, 1.0, -s.slip), 0.0,
                             doc="what the frequency is too low by, where there is no band")

    @quantity("pu", "power that the frequency asks for")
    def droop(s: Any) -> Any:
        banded = np.where(s.fband_beyond_side == 1, s.Dup, s.Ddn) * s.fband
        return np.where(s.fdbd2 > s.fdbd1, banded, s.Dup * s.low_frequency - s.Ddn * (s.slip + s.low_frequency))

    perror = Limit(lambda s: np.where(s.Fflag == 1, s.Plant - s.Pm + s.droop, 0.0), limits=("femin", "femax"),
                   doc="error of the active control")
    active = HeldPI("perror", KP="Kpg", KI=lambda s: np.where(s.Fflag == 1, s.Kig, 0.0), hold=0.0, start_at="rest",
                    limits=(lambda s: np.where(s.Fflag == 1, s.Pmin - s.Pstart, -NEVER),
                            lambda s: np.where(s.Fflag == 1, s.Pmax - s.Pstart, NEVER)), doc="active control")
    Pcmd = Lag(lambda s: s.Pstart + s.active, T="Tg", init=0.5, doc="active command")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        """Refuse limits out of order."""
        for low, high in (("Qmin", "Qmax"), ("Pmin", "Pmax")):
            if not values[low] < values[high]:
                return f"{low} must be below {high}"
        return None

    def start(s: Any, bus: Any) -> Any:
        measured = np.where(s.RefFlag == 1, s.Vcomp, s.Q)
        return {"theta": bus.Va, "measured": measured, "reference": measured, "Pm": s.P, "Plant": s.P}


def compensated(s: Any, behind: Any, V: Any, P: Any, Q: Any) -> Any:
    """``|V - (Rc + j Xc) I|`` where `behind` is 1, ``V + Kc Q`` otherwise."""
    re, im = V - (s.Rc * P + s.Xc * Q) / V, (s.Rc * Q - s.Xc * P) / V
    return np.where(behind == 1, np.sqrt(re * re + im * im), V + s.Kc * Q)


class BranchMeasurement(PlantControl):
    """A plant control that measures power, and the current that it compensates for, where they flow into a branch.

    A subclass has the port ``branch``, and `rating` (MVA), what its per unit is of.
    """

    end = Param("", 1.0, ge=1, le=2, doc="end of the branch at which its power is measured")

    @quantity("pu", "active power of the plant")
    def P(s: Any, branch: Any) -> Any:
        return np.where(s.end == 1, branch.P1, branch.P2) * s.base_mva / s.rating

    @quantity("pu", "reactive power of the plant")
    def Q(s: Any, branch: Any) -> Any:
        return np.where(s.end == 1, branch.Q1, branch.Q2) * s.base_mva / s.rating

    @quantity("pu", "voltage, with what compensates it")
    def Vcomp(s: Any, bus: Any, bus1: Any, bus2: Any) -> Any:
        Vr, Vi = np.where(s.end == 1, bus1.Vr, bus2.Vr), np.where(s.end == 1, bus1.Vi, bus2.Vi)
        V2 = Vr * Vr + Vi * Vi
        Ir, Ii = (s.P * Vr + s.Q * Vi) / V2, (s.P * Vi - s.Q * Vr) / V2
        re, im = bus.Vr - s.Rc * Ir + s.Xc * Ii, bus.Vi - s.Rc * Ii - s.Xc * Ir
        return np.where(s.VCFlag == 1, np.sqrt(re * re + im * im), s.V + s.Kc * s.Q)

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        """Refuse an end that is none."""
        return super().check(values) if values["end"] in (1, 2) else "end must be 1 or 2"
