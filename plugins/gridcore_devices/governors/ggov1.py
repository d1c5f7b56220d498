"""GGOV1: gas turbine, combined cycle or diesel, and governor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Param, PerUnit, Setpoint, State, quantity
from gridcore_blocks import Deadband, Lag, LeadLag, Limit, LowGate, RateLimitedLag, Washout

_NEVER = 1e3  # pu: what a control asks for, or the width of a band, that is not to be reached


class GGOV1(Device):
    """General governor GGOV1: a PID governor, a load limiter and an acceleration limiter on one fuel valve.

    IEEE PES-TR1 (2013), section 3.2.4; PSS/E model library, GGOV1. The lowest of three requests moves the valve::

        governor      fsrn = Kpgov e + s Kdgov/(1 + s Tdgov) e + xi,    Kpgov/Kigov dxi/dt = fsr - derivative - xi
        load limiter  fsrt = Kpload (Ldref/Kturb + Wfnl - tex) + xt,    Kpload/Kiload dxt/dt = fsr - xt
        acceleration  fsra = xa + Ka DELT (aset - s/(1 + s Ta) omega),  DELT dxa/dt = fsr - xa
        selected      fsr  = min(fsrn, fsrt, fsra) between VMIN and VMAX
        error         e = Pref + xm - deadband(omega - 1) - R feedback, between minerr and maxerr
        valve         1/(1 + s Tact), its rate between Rclose and Ropen
        turbine       Pm = (1 + s Tc)/(1 + s Tb) e^(-s Teng) Kturb (wf - Wfnl) - Dm (omega - 1),
                      wf the valve, times the speed where Flag = 1
        temperature   tex = 1/(1 + s Tfload) (1 + s Tsa)/(1 + s Tsb) wf
        supervisor    s xm = Kimw (Pmwset - measured power), between -1.1 R and 1.1 R

    The control that is selected is a PI control proper, ``Kpgov e + Kigov e / s``; the others follow it, so that none
    winds up. `Rselect` says which feedback gives the droop: 1 the electrical power through ``1/(1 + s Tpelec)``, 0
    none, -1 the stroke of the valve, -2 the stroke that is requested (through the lag DELT). ``Dm > 0`` lowers the
    power with the speed, ``Dm < 0`` makes the exhaust temperature rise as ``omega^Dm``. Per unit is of the turbine's
    rating `Trate`, or where that is zero of the machine's base.

    What differs from the industry's programs:

    * The acceleration limiter is a step of their time grid, ``fsra = fsr(t - DELT) + Ka DELT (aset - a)``. Here the
      delay is a lag of the same time constant, and the result does not depend on the step; in control, fsr rises by
      ``Ka (aset - a)`` either way. ``Ka = 0`` takes the limiter away.
    * The dead band is of the speed, not of the whole error, whose reference an equilibrium could not determine.
    * The delay Teng is its Padé approximation of first order.
    * Rup and Rdown are not used, nor are they in PowerWorld's GGOV1; all known data have them at 99 and -99.
    """

    attaches = "machine"
    naming = "GOV_{machine}"
    dyr = ("Rselect", "Flag", "R", "Tpelec", "maxerr", "minerr", "Kpgov", "Kigov", "Kdgov", "Tdgov", "VMAX", "VMIN",
           "Tact", "Kturb", "Wfnl", "Tb", "Tc", "Teng", "Tfload", "Kpload", "Kiload", "Ldref", "Dm", "Ropen", "Rclose",
           "Kimw", "aset", "Ka", "Ta", "Trate", "db", "Tsa", "Tsb", None, None)
    Rselect = Param("", 1.0, doc="feedback for the droop: 1 electrical power, 0 none, -1 true, -2 requested stroke")
    Flag = Param("", 0.0, doc="fuel flow: 0 independent of the speed, 1 proportional to it")
    R = Param("pu", ge=0, doc="permanent droop")
    Tpelec = Param("s", ge=0, doc="time constant of the measurement of power")
    maxerr = Param("pu", 0.05, gt=0, doc="upper limit of the error")
    minerr = Param("pu", -0.05, lt=0, doc="lower limit of the error")
    Kpgov = Param("pu", gt=0, doc="proportional gain of the governor")
    Kigov = Param("1/s", gt=0, doc="integral gain of the governor")
    Kdgov = Param("s", 0.0, ge=0, doc="derivative gain of the governor")
    Tdgov = Param("s", 1.0, ge=0, doc="time constant of the derivative")
    VMAX = Param("pu", 1.0, doc="upper limit of the stroke")
    VMIN = Param("pu", 0.0, doc="lower limit of the stroke")
    Tact = Param("s", gt=0, doc="time constant of the actuator")
    Kturb = Param("pu", gt=0, doc="turbine gain")
    Wfnl = Param("pu", 0.2, ge=0, doc="fuel flow at no load")
    Tb = Param("s", 0.0, ge=0, doc="lag time constant of the turbine")
    Tc = Param("s", 0.0, ge=0, doc="lead time constant of the turbine")
    Teng = Param("s", 0.0, ge=0, doc="transport delay of a diesel engine")
    Tfload = Param("s", 3.0, ge=0, doc="time constant of the temperature measurement")
    Kpload = Param("pu", 2.0, gt=0, doc="proportional gain of the load limiter")
    Kiload = Param("1/s", 0.67, gt=0, doc="integral gain of the load limiter")
    Ldref = Param("pu", 1.0, doc="reference of the load limiter")
    Dm = Param("pu", 0.0, doc="dependence on the speed")
    Ropen = Param("1/s", 0.1, gt=0, doc="fastest opening of the valve")
    Rclose = Param("1/s", -0.1, lt=0, doc="fastest closing of the valve")
    Kimw = Param("1/s", 0.0, ge=0, doc="gain of the supervisory control of power")
    aset = Param("1/s", 0.01, doc="acceleration at which the limiter acts")
    Ka = Param("pu", 10.0, ge=0, doc="gain of the acceleration limiter")
    Ta = Param("s", 0.1, gt=0, doc="time constant of the acceleration's measurement")
    Trate = Param("MVA", 0.0, ge=0, doc="turbine rating in MW, base of per unit; 0: that of the machine")
    db = Param(PerUnit("Hz"), 0.0, ge=0, doc="dead band of the speed, half of its width")
    Tsa = Param("s", 4.0, ge=0, doc="lead time constant of the exhaust temperature")
    Tsb = Param("s", 5.0, gt=0, doc="lag time constant of the exhaust temperature")
    DELT = Param("s", 1 / 240, gt=0, doc="step that the acceleration limiter looks back by")
    xm0 = Param("pu", 0.0, doc="output of the supervisory control at t0")
    Pref = Setpoint("pu", init=0.04, doc="load reference, of the error")
    Pmwset = Setpoint("pu", init=0.8, equals=lambda s: s.power, doc="set-point of the supervisory control")

    @quantity("", "machine's base over the turbine's")
    def base(s: Any, machine: Any) -> Any:
        return np.where(s.Trate > 0, machine.Sn / np.where(s.Trate > 0, s.Trate, 1.0), 1.0)

    @quantity("pu", "slip")
    def slip(s: Any, machine: Any) -> Any:
        return machine.omega - 1.0

    @quantity("pu", "electrical power, on the turbine's rating")
    def power(s: Any, machine: Any) -> Any:
        return s.base * machine.P

    Pe = Lag("power", T="Tpelec", init=0.8, doc="measured electrical power")
    xm = State("pu", start_at="xm0", limits=("xm_min", "xm_max"), rate=lambda s: s.Kimw * (s.Pmwset - s.Pe),
               doc="supervisory control of power")

    @quantity("pu", "lower limit of the supervisory control")
    def xm_min(s: Any) -> Any:
        return -1.1 * s.R

    @quantity("pu", "upper limit of the supervisory control")
    def xm_max(s: Any) -> Any:
        return 1.1 * s.R

    @quantity("pu", "what the droop feeds back")
    def feedback(s: Any) -> Any:
        return np.where(s.Rselect == 1, s.Pe,
                        np.where(s.Rselect == -1, s.valve, np.where(s.Rselect == -2, s.xa, 0.0)))

    banded = Deadband("slip", width=lambda s: np.where(s.db > 0, s.db, _NEVER), doc="slip beyond the dead band")
    e = Limit(lambda s: s.Pref + s.xm - np.where(s.db > 0, s.banded, s.slip) - s.R * s.feedback,
              limits=("minerr", "maxerr"), doc="error")
    derivative = Washout("e", K="Kdgov", T="Tdgov", doc="derivative part of the governor")
    xi = State("pu", init=0.8, rate=lambda s: s.Kigov / s.Kpgov * (s.fsr - s.derivative - s.xi),
               doc="integral part of the governor")
    xt = State("pu", init=0.8, rate=lambda s: s.Kiload / s.Kpload * (s.fsr - s.xt),
               doc="integral part of the load limiter")
    xa = Lag("fsr", T="DELT", init=0.8, doc="stroke that was requested")
    a = Washout("slip", T="Ta", unit="1/s", doc="acceleration")
    fsrn = LowGate(lambda s: s.Kpgov * s.e + s.derivative + s.xi,
                   lambda s: s.Kpload * (s.Ldref / s.Kturb + s.Wfnl - s.tex) + s.xt,
                   doc="lower request of governor and load limiter")
    low = LowGate("fsrn", lambda s: s.xa + np.where(s.Ka > 0, s.Ka * s.DELT * (s.aset - s.a), _NEVER),
                  doc="lowest request")
    fsr = Limit("low", limits=("VMIN", "VMAX"), doc="requested stroke")
    valve = RateLimitedLag("fsr", T="Tact", rates=("Rclose", "Ropen"), init=0.8, doc="stroke of the valve")

    @quantity("pu", "fuel flow")
    def wf(s: Any) -> Any:
        return s.valve * np.where(s.Flag == 1, 1.0 + s.slip, 1.0)

    heat = LeadLag(lambda s: s.wf * np.where(s.Dm < 0, (1.0 + s.slip) ** np.where(s.Dm < 0, s.Dm, 0.0), 1.0),
                   T1="Tsa", T2="Tsb", doc="exhaust temperature")
    tex = Lag("heat", T="Tfload", init=0.8, doc="measured exhaust temperature")
    halfway = State("pu", init=0.8, T="half", rate=lambda s: s.Kturb * (s.wf - s.Wfnl) - s.halfway,
                    doc="transport delay of the engine")

    @quantity("s", "half of the transport delay")
    def half(s: Any) -> Any:
        return 0.5 * s.Teng

    turbine = LeadLag(lambda s: np.where(s.Teng > 0, 2.0 * s.halfway, s.halfway) - np.where(
        s.Teng > 0, s.Kturb * (s.wf - s.Wfnl), 0.0), T1="Tc", T2="Tb", doc="power of the turbine")
    Pm = Algebraic("pu", init=0.8, drives="machine.Pm", doc="mechanical power, on the machine's base",
                   equals=lambda s: (s.turbine - np.where(s.Dm > 0, s.Dm, 0.0) * s.slip) / s.base)

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        if values["Rselect"] not in (1, 0, -1, -2):
            return f"Rselect = {values['Rselect']:g}: it is one of 1, 0, -1, -2"
        if values["Flag"] not in (0, 1):
            return f"Flag = {values['Flag']:g}: it is 0 or 1"
        for name, limit in (("Tc", "Tb"), ("Kdgov", "Tdgov")):
            if values[limit] == 0 != values[name]:
                return f"{name} needs a {limit}: nothing is differentiated without a lag"
        return None if values["VMIN"] < values["VMAX"] else "VMIN must be below VMAX"

    def start(s: Any, machine: Any) -> Any:
        power = s.base * s.Pm
        stroke = power / s.Kturb + s.Wfnl
        strokes = dict.fromkeys(("xi", "xt", "xa", "valve", "heat_x", "tex"), stroke)
        selected = np.where(s.Rselect == 1, s.power, np.where(s.Rselect == 0, 0.0, stroke))
        return {**strokes, "Pe": s.power, "Pmwset": s.power, "halfway": power, "turbine_x": power, "derivative_x": 0.0,
                "a_x": 0.0, "xm": s.xm0, "Pref": s.R * selected - s.xm0}
