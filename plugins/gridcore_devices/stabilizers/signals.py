"""What a stabilizer listens to, by the codes of the PSS/E model library, and its window of terminal voltage."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Device, Mode, Param, PerUnit, State, guard, quantity
from gridcore_blocks import Block, Signal

from ..machines.park import to_rotor

FREQUENCY, VOLTAGE_RATE = 2, 6  # inputs that are derivatives of the bus voltage


class WashoutOrLag(Block):
    """``K s T1 / (1 + s T2)``; ``K / (1 + s T2)`` where ``T1 = 0``: PSS/E's washout, whose numerator is one then."""

    def __init__(self, u: Signal, *, T1: str, T2: str, K: str | float = 1.0, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.T1, self.T2, self.K = u, T1, T2, K

    def expand(self) -> None:
        u, K, T1, T2 = self.input(self.u), self.value(self.K), self.value(self.T1), self.value(self.T2)
        x = f"{self.name}_x"

        def rate(s: Any) -> Any:
            return u(s) - getattr(s, x)

        self.state(x, rate, T=self.T2, doc=f"{self.words}: slow part of the input")
        self.output(lambda s: K(s) * np.where(T1(s) > 0, T1(s) / np.where(T2(s) > 0, T2(s), 1.0) * rate(s),
                                              getattr(s, x)))


class Listener(Device):
    """Base of the stabilizers whose inputs have a code, in per unit.

    1 deviation of the rotor speed, 2 deviation of the frequency of the machine's bus, 3 electrical power at the
    terminals on the machine's base, 4 its accelerating power, 5 voltage of the bus, 6 its derivative. Codes 2 and 6
    need the derivative of the bus voltage: they see it behind a time constant Tw, which PSS/E has not, as its
    derivatives are differences of time steps. A subclass with such codes says by the quantity ``Tv`` whether it is
    needed.
    """

    attaches = "exciter"
    naming = "PSS_{exciter}"
    Tw = Param("s", 0.02, gt=0, doc="time constant of the measured derivative of the bus voltage (codes 2 and 6)")

    @quantity("s", "time constant of the measured bus voltage")
    def Tv(s: Any) -> Any:
        return measures(s)

    xr = State("pu", init=1.0, rate=lambda s, bus: bus.Vr - s.xr, T="Tv", doc="filtered bus voltage, real part")
    xi = State("pu", rate=lambda s, bus: bus.Vi - s.xi, T="Tv", doc="filtered bus voltage, imaginary part")

    def start(s: Any, bus: Any) -> Any:
        return {"xr": bus.Vr, "xi": bus.Vi}


class Cutting(Device):
    """A stabilizer whose signal is cut while the terminal voltage is above VCU or below VCL.

    Zero of VCU or VCL is no limit.
    """

    VCU = Param(PerUnit("kV"), 0.0, ge=0, doc="terminal voltage above which the signal is cut; 0: none")
    VCL = Param(PerUnit("kV"), 0.0, ge=0, doc="terminal voltage below which the signal is cut; 0: none")

    @quantity("pu", "terminal voltage above VCU")
    def over(s: Any, bus: Any) -> Any:
        return bus.Vm - s.VCU

    @quantity("pu", "terminal voltage above VCL")
    def under(s: Any, bus: Any) -> Any:
        return bus.Vm - s.VCL

    cut = Mode(0, doc="1 above VCU, -1 below VCL: no signal")

    @guard("up", when={"cut": 0}, then={"cut": 1}, cancel=False, settles=True)
    def above(s: Any) -> Any:
        """The terminal voltage rises above VCU."""
        return np.where(s.VCU != 0, s.over, -1.0)

    @guard("down", when={"cut": 1}, then={"cut": 0}, cancel=False, settles=True)
    def back_below(s: Any) -> Any:
        """The terminal voltage falls below VCU."""
        return s.over

    @guard("down", when={"cut": 0}, then={"cut": -1}, cancel=False, settles=True)
    def below(s: Any) -> Any:
        """The terminal voltage falls below VCL."""
        return np.where(s.VCL != 0, s.under, 1.0)

    @guard("up", when={"cut": -1}, then={"cut": 0}, cancel=False, settles=True)
    def back_above(s: Any) -> Any:
        """The terminal voltage rises above VCL."""
        return s.under


def measures(s: Any, *codes: Any) -> Any:
    """The time constant of the measured bus voltage where a code asks for its derivative, and zero."""
    wanted: Any = False
    for code in codes:
        for derivative in (FREQUENCY, VOLTAGE_RATE):
            wanted = np.logical_or(wanted, is_code(code, derivative))
    return np.where(wanted, s.Tw, 0.0)


def terminal_power(bus: Any, machine: Any) -> Any:
    """Electrical power at the terminals, on the machine's base."""
    Vd, Vq = to_rotor(bus.Vr, bus.Vi, machine.delta)
    return Vd * machine.Id + Vq * machine.Iq


def heard(s: Any, code: Any, bus: Any, machine: Any) -> Any:
    """The signal of a code; zero for any other number."""
    power = terminal_power(bus, machine)
    turned = (bus.Vi * s.xr - bus.Vr * s.xi) / (s.xr * s.xr + s.xi * s.xi)
    grown = bus.Vm - np.sqrt(s.xr * s.xr + s.xi * s.xi)
    signals = (machine.omega - 1.0, turned / (s.Tw * s.omega_b), power, machine.Pm - power, bus.Vm, grown / s.Tw)
    out: Any = 0.0
    for number, signal in enumerate(signals, 1):
        out = np.where(is_code(code, number), signal, out)
    return out


def is_code(value: Any, code: int) -> Any:
    """Whether a number is this code."""
    return np.abs(value - code) < 0.5
