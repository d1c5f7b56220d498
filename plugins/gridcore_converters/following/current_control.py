"""Loops of a converter that follows the grid: of power around that of current, in the frame of a PLL."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Param, PerUnit, Quantity, Setpoint, quantity
from gridcore_blocks import PI, Lag

from ..forming.current_loop import CurrentLoop, at_rest
from ..forming.pll import PhaseLockedLoop
from ..priority import LeftSquared, left_of


class CurrentControl(CurrentLoop, PhaseLockedLoop):
    """Control of active and reactive power by the currents of the bridge, in the frame of its PLL.

    Yazdani & Iravani, Voltage-Sourced Converters in Power Systems (2010), chapter 8, with limits of currents::

        id* = (kpp + kip / s) (Pref - pm),     -Imax <= id* <= Imax
        iq* = -(kpq + kiq / s) (Qref - qm),    iq*^2 <= Imax^2 - id*^2

    around the loop of :class:`~gridcore_converters.forming.current_loop.CurrentLoop`, in the frame that
    :class:`~gridcore_converters.forming.pll.PhaseLockedLoop` holds on the voltage of the capacitor::

        vcv  = kpc (i* - icv) + kic γ + j lf ω icv + kffv vo - vAD,   dγ/dt = i* - icv
        ω    = 1 + kp arctan(vq / vd) + ki ε,   dε/dt = arctan(vq / vd),   dθ/dt = ωb (ω - 1)

    pm and qm are the powers at the capacitor, measured with a lag.
    """

    kpp = Param("pu", 0.0, ge=0, doc="gain of the control of active power")
    kip = Param("1/s", gt=0, doc="integral gain of the control of active power")
    kpq = Param("pu", 0.0, ge=0, doc="gain of the control of reactive power")
    kiq = Param("1/s", gt=0, doc="integral gain of the control of reactive power")
    Tm = Param("s", 0.01, ge=0, doc="time constant of the measurement of power")
    Imax = Param(PerUnit("kA"), 1.1, gt=0, doc="largest current; the active one has priority")
    Pref = Setpoint("pu", doc="reference of the active power")
    Qref = Setpoint("pu", doc="reference of the reactive power")
    pm = Lag(lambda s, converter: converter.P, T="Tm", doc="active power, measured")
    qm = Lag(lambda s, converter: converter.Q, T="Tm", doc="reactive power, measured")
    active = PI(lambda s: s.Pref - s.pm, KP="kpp", KI="kip", limits=(lambda s: -s.Imax, "Imax"), doc="active current")
    left = LeftSquared("Imax", current=lambda s: s.active)
    rest = Quantity("pu", left_of, "what the active current leaves")
    reactive = PI(lambda s: s.Qref - s.qm, KP="kpq", KI="kiq", limits=(lambda s: -s.rest, "rest"),
                  doc="reactive current, positive to inject")

    @quantity("pu", "frequency measured")
    def omega(s: Any) -> Any:
        return s.speed

    @quantity("pu", "lack of current, d axis")
    def eid(s: Any) -> Any:
        return s.active - s.icvd

    @quantity("pu", "lack of current, q axis")
    def eiq(s: Any) -> Any:
        return -s.reactive - s.icvq

    def start(s: Any, converter: Any) -> Any:
        locked = PhaseLockedLoop.start(s, converter)
        icv = (converter.icvr + 1j * converter.icvi) * np.exp(-1j * locked["theta"])
        return {**locked, **at_rest(s, converter, locked["theta"]), "Pref": converter.P, "Qref": converter.Q,
                "pm": converter.P, "qm": converter.Q, "active_x": icv.real, "reactive_x": -icv.imag}
