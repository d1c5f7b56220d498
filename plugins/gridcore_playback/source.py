"""Sources that hold the voltage of their bus as it was recorded, whatever the current."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Field, Param, PerUnit, Port, Setpoint, Source, State, quantity
from gridcore_devices.power import injected_power

from .time_series import TimeSeries


class Recorded(Source):
    """What they have in common: ``V = E e^{j angle}``; the current is an unknown, as an infinite bus has it.

    What is played is the deviation from t0, added to the voltage of the power flow: the system begins at rest.
    """

    E0 = Setpoint("pu", init=1.0, doc="voltage magnitude at t0")
    angle0 = Setpoint("rad", doc="voltage angle at t0")
    V_at_t0 = Setpoint("", equals=lambda s, V: V.value, doc="recorded voltage at t0")
    Ir = Algebraic(PerUnit("kA"), doc="real part of the current injected")
    Ii = Algebraic(PerUnit("kA"), doc="imaginary part of the current injected")

    def residuals(s: Any, bus: Any) -> Any:
        re, im = s.E * np.cos(s.angle) - bus.Vr, s.E * np.sin(s.angle) - bus.Vi
        return np.where(s.status == 1, re, s.Ir), np.where(s.status == 1, im, s.Ii)

    def currents(s: Any, bus: Any) -> Any:
        return s.Ir, s.Ii

    P, Q = injected_power(currents)

    def start(s: Any, bus: Any, power: Any) -> Any:
        V = bus.Vr + 1j * bus.Vi
        current = np.conj((power.P + 1j * power.Q) / V)
        return {"E0": bus.Vm, "angle0": bus.Va, "Ir": current.real, "Ii": current.imag}


class PlaybackSource(Recorded):
    """An ideal source whose voltage magnitude and angle are those of a recording, as phasors are measured.

    Event playback: Huang, Du, Kosterev & Yang, "Generator dynamic model validation and parameter calibration using
    phasor measurements at the point of connection", IEEE Trans. Power Syst. 28 (2013), section II::

        E = E0 + (V - V at t0) / Vscale,    angle = angle0 + (angle - angle at t0) / radian
    """

    attaches = ("bus", Port("V", TimeSeries), Port("theta", TimeSeries))
    Vscale = Param("", 1.0, gt=0, doc="what of the recorded voltage is 1 pu")
    radian = Param("", 1.0, gt=0, doc="what of the recorded angle is 1 rad: 57.29577951308232 of one in degrees")
    theta_at_t0 = Setpoint("", equals=lambda s, theta: theta.value, doc="recorded angle at t0")

    @quantity(PerUnit("kV"), "voltage magnitude")
    def E(s: Any, V: Any) -> Any:
        return s.E0 + (V.value - s.V_at_t0) / s.Vscale

    @quantity("rad", "voltage angle")
    def angle(s: Any, theta: Any) -> Any:
        return s.angle0 + (theta.value - s.theta_at_t0) / s.radian


class PLBVFU1(Recorded):
    """An ideal source whose voltage magnitude and frequency are those of a recording.

    Siemens PTI, "PSS/E Playback Model PLBVFU1"; Huang, Du, Kosterev & Yang, IEEE Trans. Power Syst. 28 (2013)::

        Tv dVm/dt = Vflag (V - V at t0) / Vscale - Vm,    Tf dfm/dt = fflag (f - f at t0) / fscale - fm
        dtheta/dt = 2 pi frequency fm,    E = E0 + Vm,    angle = angle0 + theta
    """

    attaches = ("bus", Port("V", TimeSeries), Port("f", TimeSeries))
    dyr = ("Vflag", "fflag", "file", "Vscale", "fscale", "Tv", "Tf")
    Vflag = Param("", 1.0, doc="1: the voltage is played back; 0: it stays as it is")
    fflag = Param("", 1.0, doc="1: the frequency is played back; 0: it stays as it is")
    file = Field("", doc="the recording, beside the file of the case: time, voltage, frequency")
    Vscale = Param("", 1.0, gt=0, doc="what of the recorded voltage is 1 pu")
    fscale = Param("", 1.0, gt=0, doc="what of the recorded frequency is nominal")
    Tv = Param("s", 0.0, ge=0, doc="time constant of the voltage's lag")
    Tf = Param("s", 0.0, ge=0, doc="time constant of the frequency's lag")
    theta0 = Param("rad", 0.0, doc="angle turned at t0")
    f_at_t0 = Setpoint("", equals=lambda s, f: f.value, doc="recorded frequency at t0")
    Vm = State(PerUnit("kV"), T="Tv", doc="deviation of the voltage")
    fm = State("pu", T="Tf", doc="deviation of the frequency")
    theta = State("rad", start_at="theta0", doc="angle turned since t0")

    @quantity(PerUnit("kV"), "voltage magnitude")
    def E(s: Any) -> Any:
        return s.E0 + s.Vm

    @quantity("rad", "voltage angle")
    def angle(s: Any) -> Any:
        return s.angle0 + s.theta

    def rates(s: Any, V: Any, f: Any) -> Any:
        return (s.Vflag * (V.value - s.V_at_t0) / s.Vscale - s.Vm, s.fflag * (f.value - s.f_at_t0) / s.fscale - s.fm,
                s.omega_b * s.fm)
