"""WTTQA1: torque control of a wind turbine."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Param, PerUnit, Setpoint, quantity
from gridcore_blocks import Lag

from .blocks import HeldPI, Table


class WTTQA1(Device):
    """Torque control WTGTRQ_A, as PSS/E's WTTQA1.

    WECC Wind Plant Dynamic Modeling Guidelines (2014), WTGTRQ_A; EPRI 3002027129 (2023)::

        wref    1 / (1 + s Twref) of the speed at the power P / (1 + s Tp) by the table of p1, spd1 to p4, spd4
        torque  Tstart + (Kpp + Kip / s) error, between Temin and Temax (non-windup), held while the voltage holds the
                control of the converter
        error   Tflag = 0: wg - wref;  Tflag = 1: (Pref - P / (1 + s Tp)) / wg
        Pref    of the electrical control becomes the torque times the speed of the generator

    Tstart is the torque of Pref at t0. The speed at t0 is wref. Power and torque are in per unit of TRATE, or where
    that is zero of the rating of the converter. The drive train passes on what is added to Pref.
    """

    attaches = "train"
    naming = "WTTQ_{train}"
    dyr = ("Tflag", "Kpp", "Kip", "Tp", "Twref", "Temax", "Temin", "p1", "spd1", "p2", "spd2", "p3", "spd3", "p4",
           "spd4", "TRATE")
    Tflag = Param("", 0.0, ge=0, le=1, doc="error: 0 of the speed, 1 of the power")
    Kpp = Param("pu", 3.0, ge=0, doc="proportional gain")
    Kip = Param("1/s", 0.6, ge=0, doc="integral gain")
    Tp = Param("s", 0.05, ge=0, doc="time constant of the measurement of power")
    Twref = Param("s", 60.0, ge=0, doc="time constant of the reference of the speed")
    Temax = Param("pu", 1.2, doc="upper limit of the torque")
    Temin = Param("pu", 0.0, doc="lower limit of the torque")
    p1 = Param(PerUnit("MW", "MVA"), 0.2, doc="first power of the table")
    spd1 = Param(PerUnit("Hz"), 0.58, gt=0, doc="speed at p1")
    p2 = Param(PerUnit("MW", "MVA"), 0.4, doc="second power of the table")
    spd2 = Param(PerUnit("Hz"), 0.72, gt=0, doc="speed at p2")
    p3 = Param(PerUnit("MW", "MVA"), 0.6, doc="third power of the table")
    spd3 = Param(PerUnit("Hz"), 0.86, gt=0, doc="speed at p3")
    p4 = Param(PerUnit("MW", "MVA"), 0.8, doc="fourth power of the table")
    spd4 = Param(PerUnit("Hz"), 1.0, gt=0, doc="speed at p4")
    TRATE = Param("MVA", 0.0, ge=0, doc="rating of the turbine; 0: that of the converter")
    rest = Param("pu", 0.0, doc="integrator at t0, from the torque at t0")
    Tstart = Setpoint("pu", init=0.5, equals=lambda s, control, train: control.Pref * s.base / train.wg,
                      doc="torque at t0")
    wstart = Setpoint("pu", init=1.0, equals=lambda s: s.slow, doc="speed at t0")

    @quantity("", "rating of the converter over that of the turbine")
    def base(s: Any, converter: Any) -> Any:
        return np.where(s.TRATE > 0, converter.Sn / np.where(s.TRATE > 0, s.TRATE, 1.0), 1.0)

    Pf = Lag(lambda s, converter: s.base * converter.P, T="Tp", init=0.5, doc="measured power")
    optimum = Table("Pf", points=tuple((f"p{k}", f"spd{k}") for k in range(1, 5)), doc="speed by the power")
    slow = Lag("optimum", T="Twref", init=1.0, doc="reference of the speed")
    change = HeldPI(lambda s, train, control: np.where(
        s.Tflag == 1, (s.base * control.Pref - s.Pf) / train.wg, train.wg - s.slow), KP="Kpp", KI="Kip",
        hold=lambda s, control: control.dip, start_at="rest",
        limits=(lambda s: s.Temin - s.Tstart, lambda s: s.Temax - s.Tstart), doc="torque above that of t0")
    Padd = Algebraic("pu", drives="train.Padd", doc="what is added to the reference of the power",
                     equals=lambda s, train, control: (s.Tstart + s.change) * train.wg / s.base - control.Pref)
    w0 = Algebraic(PerUnit("Hz"), init=1.0, equals=lambda s: s.wstart, drives="train.w0", doc="speed at t0")
    wref = Algebraic(PerUnit("Hz"), init=1.0, equals=lambda s: s.slow, drives="train.wref",
                     doc="reference of the speed")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        """Refuse limits and powers out of order."""
        if not values["Temin"] < values["Temax"]:
            return "Temin must be below Temax"
        if not all(values[f"p{low}"] < values[f"p{high}"] for low, high in pairwise(range(1, 5))):
            return "p1 to p4 must rise"
        return None

    def start(s: Any, converter: Any) -> Any:
        P = s.base * converter.P
        return {"Pf": P, "Tstart": P}
