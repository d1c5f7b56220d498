"""WTARA1: aerodynamics of a wind turbine."""

from __future__ import annotations

from gridcore.contract import Algebraic, Device, Input, Param


class WTARA1(Device):
    """Aerodynamics WTGAR_A, as PSS/E's WTARA1: ``Pm = Pm0 - Ka theta (theta - Theta0)``, theta the pitch in degrees.

    WECC Wind Plant Dynamic Modeling Guidelines (2014), WTGAR_A; Price and Sanchez-Gasca, PSCE 2006.
    """

    attaches = "train"
    naming = "WTAR_{train}"
    dyr = ("Ka", "Theta0")
    Ka = Param("pu", 0.007, ge=0, doc="power per square degree of pitch")
    Theta0 = Param("", 0.0, doc="pitch at t0, degrees")
    dpitch = Input("", 0.0, doc="pitch above that of t0, degrees")
    dPm = Algebraic("pu", equals=lambda s: -s.Ka * (s.Theta0 + s.dpitch) * s.dpitch, drives="train.dPm",
                    doc="mechanical power above that of t0")
