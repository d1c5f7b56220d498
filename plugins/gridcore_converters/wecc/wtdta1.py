"""WTDTA1: drive train of a wind turbine."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Input, Param, PerUnit, Setpoint, State, quantity


class WTDTA1(Device):
    """Drive train WTGT_A of one mass or two, as PSS/E's WTDTA1.

    WECC Wind Plant Dynamic Modeling Guidelines (2014), WTGT_A; EPRI 3002027129 (2023)::

        2 Ht dwt/dt = Pm / wt - shaft,    2 Hg dwg/dt = shaft - P / wg - DAMP (wg - w0)
        shaft = twist + Dshaft (wt - wg),  dtwist/dt = (2 pi Freq1)^2 2 Ht Hg / H (wt - wg)
        Ht = Htfrac H, Hg = H - Ht; one mass where Htfrac or Freq1 is zero

    At t0 both speeds are w0, 1 or what a torque control says, and Pm is the power. The states dt and dg are deviations
    from w0.
    """

    attaches = "control"
    naming = "WTDT_{control}"
    dyr = ("H", "DAMP", "Htfrac", "Freq1", "Dshaft")
    H = Param("s", gt=0, doc="inertia constant of all")
    DAMP = Param("pu", 0.0, ge=0, doc="damping")
    Htfrac = Param("", 0.0, ge=0, lt=1, doc="part of the inertia that is the turbine's")
    Freq1 = Param("Hz", 0.0, ge=0, doc="frequency of the torsional mode")
    Dshaft = Param("pu", 0.0, ge=0, doc="damping of the shaft")
    rest = Param("pu", 0.0, doc="deviation of the generator's speed at t0")
    w0 = Input(PerUnit("Hz"), 1.0, doc="speed at t0")
    wref = Input(PerUnit("Hz"), 1.0, doc="reference of the speed")
    dPm = Input("pu", 0.0, doc="mechanical power above that of t0")
    Padd = Input("pu", 0.0, doc="what a torque control adds to the reference of the power")
    Pm0 = Setpoint("pu", init=0.5, equals=lambda s, converter: converter.P, doc="mechanical power at t0")
    dt = State("pu", T="Tt", doc="speed of the turbine above w0",
               rate=lambda s: (s.Pm0 + s.dPm) / s.wt - s.shaft)
    dg = State("pu", start_at="rest", doc="speed of the generator above w0", rate=lambda s, converter: (
        s.shaft - converter.P / s.wg - s.DAMP * s.dg) / (2.0 * s.Hg))
    twist = State("pu", T="two", init=0.5, doc="torque of the shaft's spring",
                  rate=lambda s: np.where(s.two != 0, s.spring, 1.0) * (s.dt - s.dg))
    speed = Algebraic(PerUnit("Hz"), init=1.0, equals=lambda s: s.wg, drives="control.speed",
                      doc="speed of the generator")
    order = Algebraic("pu", equals=lambda s: s.Padd, drives="control.Padd", doc="what is added to that reference")

    @quantity("", "1 for two masses, 0 for one")
    def two(s: Any) -> Any:
        return np.where(s.Htfrac * s.Freq1 > 0, 1.0, 0.0)

    @quantity("s", "twice the inertia constant of the turbine")
    def Tt(s: Any) -> Any:
        return s.two * 2.0 * s.Htfrac * s.H

    @quantity("s", "inertia constant of the generator")
    def Hg(s: Any) -> Any:
        return s.H - 0.5 * s.Tt

    @quantity("1/s", "stiffness of the shaft")
    def spring(s: Any) -> Any:
        return (2.0 * np.pi * s.Freq1) ** 2 * s.Tt * s.Hg / s.H

    @quantity(PerUnit("Hz"), "speed of the turbine")
    def wt(s: Any) -> Any:
        return s.w0 + s.dt

    @quantity(PerUnit("Hz"), "speed of the generator")
    def wg(s: Any) -> Any:
        return s.w0 + s.dg

    @quantity("pu", "torque of the shaft")
    def shaft(s: Any) -> Any:
        return s.twist + s.Dshaft * (s.dt - s.dg)

    def start(s: Any, converter: Any) -> Any:
        return {"Pm0": converter.P, "twist": converter.P / s.w0}
