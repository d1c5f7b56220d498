"""COMPLOAD: static load and induction motor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gridcore.contract import Load, Mode, Param, PerUnit, Setpoint, State, guard, quantity

from ..power import complex_power, drawn_power
from .voltage import drawn_current, power_law

_NONE = 900.0  # pu: above it there is no second cage; records have 999


class COMPLOAD(Load):
    """Composite load of the ACTIVSg200 data: constant power, current and impedance, and an induction motor.

    The record is that of ExaGO (Abhyankar et al., "Exascale Grid Optimization Toolkit", PNNL, 2021), where the model
    comes from: shares in percent of the load, then the data of PSS/E's motor CIM5. The motor has the share of the
    active power that the others leave, one cage, and third order (Kundur 1994, section 7.2.4), in the network's frame
    with synchronous speed::

        V - E = (RA + j X') I,   X' = XA + X1 XM/(X1 + XM),   T0' = (X1 + XM)/(omega_b R1)
        T0' dE/dt = -E + j (X0 - X') I - j omega_b slip T0' E,   X0 = XA + XM
        2 H dslip/dt = Tm (1 - slip)^D - Re(E conj I)

    in per unit of PMULT times the load's P0. A capacitor beside the motor makes up for the difference between its
    reactive power and its share. The motor is disconnected when the voltage has been below VI for TI, and the breaker
    has opened, TB later. A rating MBASE of its own, two cages and saturation are refused. Defaults are ACTIVSg200's.
    """

    dyr: tuple[str | None, ...] = (
        "PL", "QL", "IP", "IQ", "YP", "YQ", None, "RA", "XA", "XM", "R1", "X1", "R2", "X2", "E1", "SE1", "E2", "SE2",
        "MBASE", "PMULT", "H", "VI", "TI cycles", "TB cycles", "D", None, None)
    plausible: ClassVar = {"R2": (0.0, 999.0), "X2": (0.0, 999.0)}
    PL = Param("", 0.0, ge=0, doc="active part at constant power, percent")
    QL = Param("", 0.0, doc="reactive part at constant power, percent")
    IP = Param("", 0.0, ge=0, doc="active part at constant current, percent")
    IQ = Param("", 0.0, doc="reactive part at constant current, percent")
    YP = Param("", 0.0, ge=0, doc="active part at constant impedance, percent")
    YQ = Param("", 0.0, doc="reactive part at constant impedance, percent")
    RA = Param(PerUnit("ohm"), 0.078, ge=0, doc="stator resistance")
    XA = Param(PerUnit("ohm"), 0.065, gt=0, doc="stator leakage reactance")
    XM = Param(PerUnit("ohm"), 2.67, gt=0, doc="magnetising reactance")
    R1 = Param(PerUnit("ohm"), 0.044, gt=0, doc="resistance of the cage")
    X1 = Param(PerUnit("ohm"), 0.049, gt=0, doc="leakage reactance of the cage")
    R2 = Param(PerUnit("ohm"), 999.0, doc="resistance of a second cage: 999 or 0, none")
    X2 = Param(PerUnit("ohm"), 999.0, doc="leakage reactance of a second cage: 999 or 0, none")
    E1 = Param("pu", 0.0, doc="first voltage of the saturation curve")
    SE1 = Param("pu", 0.0, doc="saturation at E1: 0")
    E2 = Param("pu", 0.0, doc="second voltage of the saturation curve")
    SE2 = Param("pu", 0.0, doc="saturation at E2: 0")
    MBASE = Param("MVA", 0.0, doc="base of the motor: 0, which is PMULT times the load")
    PMULT = Param("", 1.0, gt=0, doc="base of the motor over the load's active power")
    H = Param("s", 1.069, gt=0, doc="inertia constant")
    VI = Param(PerUnit("kV"), 0.0, ge=0, doc="voltage below which the motor is disconnected")
    TI = Param("s", 0.0, ge=0, doc="time below it, before the relay acts")
    TB = Param("s", 0.0, ge=0, doc="time that the breaker takes")
    D = Param("", 1.0, ge=0, doc="exponent of the torque over the speed")
    Vlow = Param(PerUnit("kV"), 0.7, ge=0, doc="voltage below which constant power and current are constant impedance")
    V0 = Setpoint("pu", init=1.0, equals=lambda s, bus: bus.Vm, doc="voltage at t0")
    Tm = Setpoint("pu", init=0.3, doc="torque of the motor's load at synchronous speed",
                  equals=lambda s, bus: np.where(s.share > 0, s.Tm + s.share * s.P0 - s.base * s.drawn_P, 0.0))
    B = Setpoint("pu", doc="susceptance of the motor's capacitor, system base",
                 equals=lambda s, bus: np.where(s.share > 0, s.base * s.drawn_Q - s.rest_Q * s.Q0, 0.0) / bus.V2)
    slip = State("pu", init=0.01, doc="slip of the motor")
    Er = State("pu", init=0.9, doc="voltage behind the motor's transient reactance, real part")
    Ei = State("pu", doc="voltage behind the motor's transient reactance, imaginary part")
    motor = Mode(1, doc="1 while the motor is connected")
    relay = Mode(0, doc="1 once its relay has acted")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        share = 100 - values["PL"] - values["IP"] - values["YP"]
        if share < 0:
            return "PL + IP + YP must not be above 100 percent"
        if any(0 < values[name] < _NONE for name in ("R2", "X2")):
            return "R2 and X2: a motor with two cages is not modelled (999 or 0 stands for none)"
        if values["SE1"] or values["SE2"]:
            return "SE1 and SE2 must be 0: saturation of the motor is not modelled"
        if values["MBASE"]:
            return f"MBASE = {values['MBASE']:g}: it must be 0, the base of the motor is PMULT times the load"
        return "P0 must be above 0: it is the base of the motor" if share > 0 and not values["P0"] > 0 else None

    @quantity("", "motor's share of the active power")
    def share(s: Any) -> Any:
        return 1.0 - (s.PL + s.IP + s.YP) / 100.0

    @quantity("", "share of the reactive power of the motor with its capacitor")
    def rest_Q(s: Any) -> Any:
        return 1.0 - (s.QL + s.IQ + s.YQ) / 100.0

    @quantity("", "base of the motor over that of the system")
    def base(s: Any) -> Any:
        return s.PMULT * s.P0

    @quantity("pu", "transient reactance of the motor")
    def Xp(s: Any) -> Any:
        return s.XA + s.X1 * s.XM / (s.X1 + s.XM)

    @quantity("pu", "current of the motor, real part, on its base")
    def Ir(s: Any, bus: Any) -> Any:
        return (s.RA * (bus.Vr - s.Er) + s.Xp * (bus.Vi - s.Ei)) / (s.RA * s.RA + s.Xp * s.Xp)

    @quantity("pu", "current of the motor, imaginary part, on its base")
    def Ii(s: Any, bus: Any) -> Any:
        return (s.RA * (bus.Vi - s.Ei) - s.Xp * (bus.Vr - s.Er)) / (s.RA * s.RA + s.Xp * s.Xp)

    @quantity("pu", "active power of the motor, on its base")
    def drawn_P(s: Any, bus: Any) -> Any:
        return complex_power(bus, (s.Ir, s.Ii))[0]

    @quantity("pu", "reactive power of the motor, on its base")
    def drawn_Q(s: Any, bus: Any) -> Any:
        return complex_power(bus, (s.Ir, s.Ii))[1]

    @quantity("pu", "electrical torque of the motor, on its base")
    def Te(s: Any) -> Any:
        return s.Er * s.Ir + s.Ei * s.Ii

    def rates(s: Any) -> Any:
        T0p = (s.X1 + s.XM) / (s.omega_b * s.R1)
        behind = s.XA + s.XM - s.Xp
        forward = s.slip < 1  # a motor that is driven backwards has no load
        load = np.where(forward, s.Tm * np.where(forward, 1.0 - s.slip, 1.0) ** s.D, 0.0)
        turns = (load - s.Te) / (2.0 * s.H)
        real = s.omega_b * s.slip * s.Ei - (s.Er + behind * s.Ii) / T0p
        imag = -s.omega_b * s.slip * s.Er - (s.Ei - behind * s.Ir) / T0p
        return tuple(np.where(s.share > 0, s.motor * rate, -x)
                     for rate, x in ((turns, s.slip), (real, s.Er), (imag, s.Ei)))

    def currents(s: Any, bus: Any) -> Any:
        p, i, z = (power_law(bus.Vm, s.V0, exponent, s.Vlow) / 100.0 for exponent in (0, 1, 2))
        re, im = drawn_current(s.P0 * (s.PL * p + s.IP * i + s.YP * z), s.Q0 * (s.QL * p + s.IQ * i + s.YQ * z), bus)
        on = np.where(s.share > 0, s.motor, 0.0)
        return (s.k * (re - on * (s.base * s.Ir - s.B * bus.Vi)), s.k * (im - on * (s.base * s.Ii + s.B * bus.Vr)))

    P, Q = drawn_power(currents)

    @guard("down", when={"relay": 0, "status": 1}, then={"relay": 1}, delay="TI")
    def undervoltage(s: Any, bus: Any) -> Any:
        """under-voltage relay of the motor"""
        return np.where(s.share > 0, bus.Vm - s.VI, 1.0)  # without a motor there is no relay

    @guard("up", when={"motor": 1, "status": 1}, then={"motor": 0}, delay="TB", cancel=False)
    def trips(s: Any) -> Any:
        """Motor disconnected"""
        return s.relay - 0.5

    def start(s: Any, bus: Any) -> Any:
        """The slip at which the motor's circuit draws its share: a quadratic equation in R1/slip."""
        power = s.share * s.P0 / (s.base * bus.V2)
        X = s.X1 + s.XM
        a = s.RA + 1j * (s.XA + s.XM)
        b = 1j * s.RA * X - (s.XA * X + s.XM * s.X1)
        # |a r + b|^2 power = Re((r + j X) conj(a r + b))
        second = power * np.abs(a) ** 2 - s.RA
        first = 2.0 * power * (a * np.conj(b)).real - b.real - X * a.imag
        zeroth = power * np.abs(b) ** 2 - X * b.imag
        # of the two solutions the one with the smaller slip is stable
        r = (-first + np.sqrt(first * first - 4.0 * second * zeroth)) / (2.0 * second)
        V = bus.Vr + 1j * bus.Vi
        current = V * (r + 1j * X) / (a * r + b)
        E = V - (s.RA + 1j * s.Xp) * current
        slip = s.R1 / r
        Tm = (E * np.conj(current)).real / (1.0 - slip) ** s.D
        B = (s.base * (V * np.conj(current)).imag - s.rest_Q * s.Q0) / bus.V2
        none = s.share == 0
        return {"V0": bus.Vm, **{name: np.where(none, 0.0, value) for name, value in (
            ("slip", slip), ("Er", E.real), ("Ei", E.imag), ("Tm", Tm), ("B", B))}}
