"""A load of single-phase motors (air conditioners) that stall when the voltage sags."""

import numpy as np

from gridcore import Load, Mode, Param, PerUnit, Setpoint, State, guard, quantity


class StallingLoad(Load):
    """Constant current while it runs, constant impedance once it has stalled.

    After the performance model of motor D in WECC's composite load model: the motors stall when the
    measured voltage stays under `Vstall` for `Tstall`, and none of them restarts.
    """

    Vstall = Param(PerUnit("kV"), 0.6, gt=0, doc="measured voltage below which motors stall")
    Tstall = Param("s", 0.033, ge=0, doc="time that it must stay there")
    Rstall = Param("pu", 0.1, gt=0, doc="resistance when stalled, on the base of P0")
    Xstall = Param("pu", 0.1, ge=0, doc="reactance when stalled, on the base of P0")
    Tv = Param("s", 0.02, gt=0, doc="time constant of the voltage measurement")
    V = State("pu", init=1.0, T="Tv", doc="measured voltage")
    V0 = Setpoint("pu", init=1.0, equals=lambda s, bus: bus.Vm, doc="voltage at t0")
    stalled = Mode(0, doc="1 once the motors have stalled")

    def rates(s, bus):
        return (bus.Vm - s.V,)

    def currents(s, bus):
        z2 = s.Rstall**2 + s.Xstall**2
        P = np.where(s.stalled == 1, s.P0 * s.Rstall / z2 * bus.V2, s.P0 * bus.Vm / s.V0)
        Q = np.where(s.stalled == 1, s.P0 * s.Xstall / z2 * bus.V2, s.Q0 * bus.Vm / s.V0)
        return -s.k * (P * bus.Vr + Q * bus.Vi) / bus.V2, -s.k * (P * bus.Vi - Q * bus.Vr) / bus.V2

    @guard("down", when={"stalled": 0}, then={"stalled": 1}, delay="Tstall")
    def stall(s):
        """Motors stall."""
        return s.V - s.Vstall

    @quantity("pu")
    def P(s, bus):
        """Active power drawn, system base."""
        Ir, Ii = StallingLoad.currents(s, bus)
        return -(bus.Vr * Ir + bus.Vi * Ii)
