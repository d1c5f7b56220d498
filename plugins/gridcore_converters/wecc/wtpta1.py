"""WTPTA1: pitch control of a wind turbine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import Device, Param, quantity
from gridcore_blocks import RateLimitedLag

from .blocks import HeldPI


class WTPTA1(Device):
    """Pitch control WTGPT_A, as PSS/E's WTPTA1.

    WECC Wind Plant Dynamic Modeling Guidelines (2014), WTGPT_A; EPRI 3002027129 (2023)::

        control       (Kpw + Kiw / s) (wt - wref + Kcc (Pord - Pref))
        compensation  (Kpc + Kic / s) (Pord - Pref)
        theta         1 / (1 + s Tp) of their sum, its rate between RTetaMin and RTetaMax

    each of the three between TetaMin and TetaMax (non-windup). All are counted from the pitch at t0, Theta0 of the
    aerodynamics, which the control has, the compensation nothing of it.
    """

    attaches = "aero"
    naming = "WTPT_{aero}"
    dyr = ("Kiw", "Kpw", "Kic", "Kpc", "Kcc", "Tp", "TetaMax", "TetaMin", "RTetaMax", "RTetaMin")
    Kiw = Param("", 25.0, ge=0, doc="integral gain of the control, degrees per second")
    Kpw = Param("", 150.0, ge=0, doc="proportional gain of the control, degrees")
    Kic = Param("", 30.0, ge=0, doc="integral gain of the compensation, degrees per second")
    Kpc = Param("", 3.0, ge=0, doc="proportional gain of the compensation, degrees")
    Kcc = Param("", 0.0, ge=0, doc="speed per power")
    Tp = Param("s", 0.3, gt=0, doc="time constant of the blades")
    TetaMax = Param("", 27.0, doc="upper limit of the pitch, degrees")
    TetaMin = Param("", 0.0, doc="lower limit of the pitch, degrees")
    RTetaMax = Param("", 10.0, gt=0, doc="fastest rise of the pitch, degrees per second")
    RTetaMin = Param("", -10.0, lt=0, doc="fastest fall of the pitch, degrees per second")
    rest = Param("", 0.0, doc="integrators at t0, degrees above the pitch at t0")

    @quantity("pu", "power order above its reference")
    def excess(s: Any, control: Any) -> Any:
        return control.Pord - control.Pref

    @quantity("", "lower limit of what is counted from the pitch at t0, degrees")
    def lowest(s: Any, aero: Any) -> Any:
        return s.TetaMin - aero.Theta0

    @quantity("", "upper limit of what is counted from the pitch at t0, degrees")
    def highest(s: Any, aero: Any) -> Any:
        return s.TetaMax - aero.Theta0

    control = HeldPI(lambda s, train: train.wt - train.wref + s.Kcc * s.excess, KP="Kpw", KI="Kiw", hold=0.0,
                     start_at="rest", limits=("lowest", "highest"), unit="", doc="control of the pitch")
    compensation = HeldPI("excess", KP="Kpc", KI="Kic", hold=0.0, start_at="rest", limits=("TetaMin", "TetaMax"),
                          unit="", doc="compensation of the pitch")
    dpitch = RateLimitedLag(lambda s: s.control + s.compensation, T="Tp", rates=("RTetaMin", "RTetaMax"),
                            limits=("lowest", "highest"), unit="", drives="aero.dpitch",
                            doc="pitch above that of t0, degrees")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        """Refuse limits out of order."""
        return None if values["TetaMin"] < values["TetaMax"] else "TetaMin must be below TetaMax"
