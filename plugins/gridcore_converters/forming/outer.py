"""Outer loops of a grid-forming converter: what turns its frame, and how large its voltage is."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Input, Param, PerUnit, Setpoint, State


class OuterLoop(Device):
    """Base of the outer loops: they drive angle, speed and voltage of the inner loops that they hang on.

    Qref is the reactive power at t0, so that Vref is the voltage then.
    """

    attaches = "loops"
    naming = "OUTER_{loops}"
    Pref = Setpoint("pu", doc="reference of the active power")
    Vref = Setpoint("pu", init=1.0, doc="reference of the voltage")
    Qref = Setpoint("pu", equals=lambda s, converter: converter.Q, doc="reference of the reactive power")
    theta = State("rad", drives="loops.angle", rate=lambda s: s.omega_b * (s.omega - 1.0),
                  doc="angle of the frame against the network's")


class DroopedVoltage(OuterLoop):
    """Base of those with a droop of the voltage by the filtered reactive power: ``E = Vref + kq (Qref - qm)``."""

    kq = Param("pu", 0.0, ge=0, doc="droop of the voltage")
    wf = Param("1/s", 1000.0, gt=0, doc="cut-off frequency of the filter of power")
    qm = State("pu", rate=lambda s, converter: s.wf * (converter.Q - s.qm), doc="reactive power, filtered")
    E = Algebraic("pu", init=1.0, drives="loops.E", equals=lambda s: s.Vref + s.kq * (s.Qref - s.qm), doc="voltage")


class VirtualInertia(DroopedVoltage):
    """The swing equation of a virtual synchronous machine, with droops of frequency and voltage.

    D'Arco, Suul & Fosso, Electric Power Systems Research 122 (2015)::

        Ta dω/dt = Pref + kw (wref - ω) - p - kd (ω - wpll),   dθ/dt = ωb (ω - 1)

    Damping acts on the difference to the frequency of the grid, which a :class:`ConverterPLL` that hangs on this loop
    measures; without one it is nominal. With a converter, its loops and such a PLL it has the paper's 19 states.
    """

    Ta = Param("s", gt=0, doc="mechanical time constant")
    kd = Param("pu", ge=0, doc="damping")
    kw = Param("pu", ge=0, doc="droop of the frequency: power over frequency")
    wref = Param(PerUnit("Hz"), 1.0, gt=0, doc="reference of the frequency")
    wpll = Input(PerUnit("Hz"), 1.0, doc="frequency of the grid, measured")
    slip = State("pu", doc="deviation of the speed from nominal",
                 rate=lambda s, converter: (s.Pref - converter.P + s.kw * (s.wref - 1.0 - s.slip)
                                            - s.kd * (1.0 + s.slip - s.wpll)) / s.Ta)
    omega = Algebraic(PerUnit("Hz"), init=1.0, drives="loops.omega", equals=lambda s: 1.0 + s.slip, doc="speed")

    def start(s: Any, converter: Any) -> Any:
        return {"Pref": converter.P, "Qref": converter.Q, "qm": converter.Q, "Vref": s.E}


class PowerDroop(DroopedVoltage):
    """Droop of the frequency by the filtered active power: ``ω = wref + kp (Pref - pm)``.

    D'Arco & Suul, "Equivalence of virtual synchronous machines and frequency-droops for converter-based MicroGrids",
    IEEE Trans. Smart Grid 5 (2014).
    """

    kp = Param("pu", gt=0, doc="droop of the frequency: frequency over power")
    wref = Param(PerUnit("Hz"), 1.0, gt=0, doc="reference of the frequency")
    pm = State("pu", rate=lambda s, converter: s.wf * (converter.P - s.pm), doc="active power, filtered")
    omega = Algebraic(PerUnit("Hz"), init=1.0, drives="loops.omega", equals=lambda s: s.wref + s.kp * (s.Pref - s.pm),
                      doc="speed")

    def start(s: Any, converter: Any) -> Any:
        return {"Pref": converter.P, "pm": converter.P, "Qref": converter.Q, "qm": converter.Q, "Vref": s.E}


class VirtualOscillator(OuterLoop):
    """Dispatchable virtual oscillator.

    Groß, Colombino, Brouillon & Dörfler, "The effect of transmission-line dynamics on grid-forming dispatchable virtual
    oscillator control", IEEE Trans. Control Netw. Syst. 6 (2019), in polar coordinates, v = E e^{jθ}::

        dv/dt = j ωb v + eta (e^{j kappa} ((Pref - j Qref) / Vref^2 v - i) + alpha (1 - |v|^2 / Vref^2) v)
    """

    eta = Param("1/s", gt=0, doc="gain of synchronisation")
    alpha = Param("pu", gt=0, doc="gain of the voltage's control, over eta")
    kappa = Param("rad", np.pi / 2, doc="angle of the impedance of the grid")
    E = State("pu", init=1.0, drives="loops.E", doc="voltage",
              rate=lambda s, converter: s.eta * s.E * (
                  (np.cos(s.kappa) * _active(s, converter) + np.sin(s.kappa) * _reactive(s, converter))
                  + s.alpha * (1.0 - (s.E / s.Vref) ** 2)))
    omega = Algebraic(PerUnit("Hz"), init=1.0, drives="loops.omega", doc="speed",
                      equals=lambda s, converter: 1.0 + s.eta / s.omega_b * (
                          np.sin(s.kappa) * _active(s, converter) - np.cos(s.kappa) * _reactive(s, converter)))

    def start(s: Any, converter: Any) -> Any:
        return {"Pref": converter.P, "Qref": converter.Q, "Vref": s.E}


def _active(s: Any, converter: Any) -> Any:
    """What of the active power is missing, as a conductance."""
    return s.Pref / s.Vref ** 2 - converter.P / s.E ** 2


def _reactive(s: Any, converter: Any) -> Any:
    """What of the reactive power is missing, as a susceptance."""
    return s.Qref / s.Vref ** 2 - converter.Q / s.E ** 2
