"""PSS2A, PSS2B and PSS2C: stabilizers with two inputs, the integral of accelerating power."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Mode, Param, PerUnit, guard, quantity
from gridcore_blocks import Block, Lag, LeadLag, Limit, Signal

from .signals import Listener, heard, measures, terminal_power

STAGES = 8  # most lags that a ramp tracking filter has, M N


class PassingWashout(Block):
    """``s T / (1 + s T)``; the input itself where ``T = 0``."""

    def __init__(self, u: Signal, *, T: str, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.T = u, T

    def expand(self) -> None:
        u, x, T = self.input(self.u), f"{self.name}_x", self.value(self.T)
        self.state(x, lambda s: u(s) - getattr(s, x), T=self.T, doc=f"{self.words}: slow part of the input")
        self.output(lambda s: u(s) - np.where(T(s) > 0, getattr(s, x), 0.0))


class RampTracking(Block):
    """``((1 + s T8) / (1 + s T9)^M)^N``, with ``M N`` lags in a row of which the first N have the lead.

    The row is as long as it may be; a stage beyond ``M N`` passes its input.
    """

    def __init__(self, u: Signal, *, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u = u

    def expand(self) -> None:
        behind = self.input(self.u)
        for k in range(STAGES):
            behind = self.stage(k, behind)
        self.output(behind)

    def stage(self, k: int, u: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The lag of one stage and a function that reads its output."""
        x = f"{self.name}_x{k + 1}"
        # no T9 in it: a time constant that a parameter makes zero has no derivative in that parameter
        there = self.quantity(f"{x}_there", lambda s: np.where(k + 0.5 < s.M * s.N, 1.0, 0.0), "whether it lags")

        def rate(s: Any) -> Any:
            return (u(s) - getattr(s, x)) / np.where(getattr(s, there) > 0, s.T9, 1.0)

        self.state(x, rate, T=there, doc=f"{self.words}: lag {k + 1}")
        return lambda s: getattr(s, x) + np.where(k + 0.5 < s.N, s.T8, 0.0) * getattr(s, there) * rate(s)


class PSS2A(Listener):
    """Stabilizer with two inputs. IEEE Std 421.5-1992, type PSS2A; IEEE Std 421.5-2016, section 8.3; PSS/E's PSS2A::

        first  = u1 s TW1/(1 + s TW1) s TW2/(1 + s TW2) / (1 + s T6)
        second = u2 s TW3/(1 + s TW3) s TW4/(1 + s TW4) KS2 / (1 + s T7)
        ramp   = (first + KS3 second) ((1 + s T8) / (1 + s T9)^M)^N
        lead   = KS1 (ramp - second) (1 + s T1)/(1 + s T2) (1 + s T3)/(1 + s T4)
        Vs     = lead between VSTMIN and VSTMAX

    The inputs by their codes ICS1 and ICS2 are those of :class:`~gridcore_devices.stabilizers.signals.Listener`. A
    washout whose time constant is zero passes its input, a lead-lag whose denominator is zero is left out. Remote buses
    are not supported.
    """

    dyr: tuple[str | None, ...] = (
        "ICS1", "RB1", "ICS2", "RB2", "M", "N", "TW1", "TW2", "T6", "TW3", "TW4", "T7", "KS2", "KS3", "T8", "T9",
        "KS1", "T1", "T2", "T3", "T4", "VSTMAX", "VSTMIN")
    ICS1 = Param("", 1.0, ge=1, le=6, doc="code of the first input")
    RB1 = Param("", 0.0, ge=0, le=0, doc="number of a remote bus of the first input; 0: that of the machine")
    ICS2 = Param("", 3.0, ge=0, le=6, doc="code of the second input; 0: none")
    RB2 = Param("", 0.0, ge=0, le=0, doc="number of a remote bus of the second input; 0: that of the machine")
    M = Param("", 5.0, ge=0, le=STAGES, doc="lags of the ramp tracking filter for each lead")
    N = Param("", 1.0, ge=0, le=STAGES, doc="leads of the ramp tracking filter")
    TW1 = Param("s", 2.0, ge=0, doc="first washout of the first input; 0: none")
    TW2 = Param("s", 2.0, ge=0, doc="second washout of the first input; 0: none")
    T6 = Param("s", 0.0, ge=0, doc="time constant of the first input")
    TW3 = Param("s", 2.0, ge=0, doc="first washout of the second input; 0: none")
    TW4 = Param("s", 0.0, ge=0, doc="second washout of the second input; 0: none")
    T7 = Param("s", 2.0, ge=0, doc="time constant of the second input")
    KS2 = Param("pu", 0.2, doc="gain of the second input")
    KS3 = Param("pu", 1.0, doc="gain of the second input before the ramp tracking filter")
    T8 = Param("s", 0.5, ge=0, doc="lead time constant of the ramp tracking filter")
    T9 = Param("s", 0.1, ge=0, doc="lag time constant of the ramp tracking filter")
    KS1 = Param("pu", doc="gain")
    T1 = Param("s", 0.0, ge=0, doc="first lead time constant")
    T2 = Param("s", 0.0, ge=0, doc="first lag time constant; 0: no lead-lag")
    T3 = Param("s", 0.0, ge=0, doc="second lead time constant")
    T4 = Param("s", 0.0, ge=0, doc="second lag time constant; 0: no lead-lag")
    VSTMAX = Param("pu", 0.1, doc="upper limit of the signal")
    VSTMIN = Param("pu", -0.1, doc="lower limit of the signal")

    @quantity("s", "time constant of the measured bus voltage")
    def Tv(s: Any) -> Any:
        return measures(s, s.ICS1, s.ICS2)

    @quantity("pu", "first input")
    def u1(s: Any, bus: Any, machine: Any) -> Any:
        return heard(s, s.ICS1, bus, machine)

    @quantity("pu", "second input")
    def u2(s: Any, bus: Any, machine: Any) -> Any:
        return heard(s, s.ICS2, bus, machine)

    w1 = PassingWashout("u1", T="TW1", doc="first input behind its first washout")
    w2 = PassingWashout("w1", T="TW2", doc="first input behind both washouts")
    first = Lag("w2", T="T6", doc="first input, filtered")
    w3 = PassingWashout("u2", T="TW3", doc="second input behind its first washout")
    w4 = PassingWashout("w3", T="TW4", doc="second input behind both washouts")
    second = Lag("w4", K="KS2", T="T7", doc="second input, filtered")
    ramp = RampTracking(lambda s: s.first + s.KS3 * s.second, doc="ramp tracking filter")
    lead = LeadLag(lambda s: s.KS1 * (s.ramp - s.second), T1="T1", T2="T2", doc="behind the first lead-lag")
    lead1 = LeadLag("lead", T1="T3", T2="T4", doc="behind the second lead-lag")
    limited = Limit("lead1", limits=("VSTMIN", "VSTMAX"), settles=True, doc="signal between its limits")
    Vs = Algebraic("pu", equals=lambda s: s.limited, drives="exciter.Vs", doc="stabilizing signal")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        for name in ("ICS1", "ICS2", "M", "N"):
            if values[name] != round(values[name]):
                return f"{name} must be a whole number"
        if values["M"] * values["N"] > STAGES:
            return f"M N must not be above {STAGES}: the ramp tracking filter has no more lags"
        if values["T9"] == 0 < values["M"] * values["N"]:
            return "T9 must be above zero where M N is: M = 0 takes the ramp tracking filter away"
        return None if values["VSTMIN"] < values["VSTMAX"] else "VSTMIN must be below VSTMAX"


class PSS2B(PSS2A):
    """Stabilizer with two limited inputs and a third lead-lag. IEEE Std 421.5-2005, type PSS2B; PSS/E's PSS2B.

    :class:`PSS2A` with u1 between VS1MIN and VS1MAX, u2 between VS2MIN and VS2MAX, and
    ``(1 + s T10)/(1 + s T11)`` before the limits of the signal.
    """

    dyr = (*PSS2A.dyr[:21], "T10", "T11", "VS1MAX", "VS1MIN", "VS2MAX", "VS2MIN", "VSTMAX", "VSTMIN")
    T10 = Param("s", 0.0, ge=0, doc="third lead time constant")
    T11 = Param("s", 0.0, ge=0, doc="third lag time constant; 0: no lead-lag")
    VS1MAX = Param("pu", 99.0, doc="upper limit of the first input")
    VS1MIN = Param("pu", -99.0, doc="lower limit of the first input")
    VS2MAX = Param("pu", 99.0, doc="upper limit of the second input")
    VS2MIN = Param("pu", -99.0, doc="lower limit of the second input")
    u1 = Limit(lambda s, bus, machine: heard(s, s.ICS1, bus, machine), limits=("VS1MIN", "VS1MAX"), settles=True,
               doc="first input")
    u2 = Limit(lambda s, bus, machine: heard(s, s.ICS2, bus, machine), limits=("VS2MIN", "VS2MAX"), settles=True,
               doc="second input")
    lead2 = LeadLag("lead1", T1="T10", T2="T11", doc="behind the third lead-lag")
    limited = Limit("lead2", limits=("VSTMIN", "VSTMAX"), settles=True, doc="signal between its limits")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        for name in ("VS1", "VS2"):
            if not values[f"{name}MIN"] < values[f"{name}MAX"]:
                return f"{name}MIN must be below {name}MAX"
        return super().check(values)


class PSS2C(PSS2B):
    """Stabilizer with a fourth lead-lag that is silent at low power. IEEE Std 421.5-2016, type PSS2C; PSS/E's PSS2C.

    :class:`PSS2B` with ``(1 + s T12)/(1 + s T13)`` before the limits of the signal. The signal is zero from where the
    power at the machine's terminals falls below PPSSOFF to where it rises above PPSSON; where it is between them at t0
    it is not. Code 7 of the first input, the frequency behind the reactance XCOMP through the time constant TCOMP, is
    refused, and these two are not used. The order of the record is that of InterPSS.
    """

    dyr = (*PSS2B.dyr, "T12", "T13", "PPSSON", "PPSSOFF", None, None)
    T12 = Param("s", 0.0, ge=0, doc="fourth lead time constant")
    T13 = Param("s", 0.0, ge=0, doc="fourth lag time constant; 0: no lead-lag")
    PPSSON = Param(PerUnit("MW", "MVA"), 0.0, doc="power above which there is a signal")
    PPSSOFF = Param(PerUnit("MW", "MVA"), 0.0, doc="power below which there is none")
    lead3 = LeadLag("lead2", T1="T12", T2="T13", doc="behind the fourth lead-lag")
    limited = Limit("lead3", limits=("VSTMIN", "VSTMAX"), settles=True, doc="signal between its limits")
    on = Mode(1, doc="1 there is a signal, 0 there is none")
    Vs = Algebraic("pu", equals=lambda s: np.where(s.on == 1, s.limited, 0.0), drives="exciter.Vs",
                   doc="stabilizing signal")

    @guard("down", when={"on": 1}, then={"on": 0}, cancel=False, settles=True)
    def silent(s: Any, bus: Any, machine: Any) -> Any:
        """The power falls below PPSSOFF."""
        return terminal_power(bus, machine) - s.PPSSOFF

    @guard("up", when={"on": 0}, then={"on": 1}, cancel=False)
    def heard_again(s: Any, bus: Any, machine: Any) -> Any:
        """The power rises above PPSSON."""
        return terminal_power(bus, machine) - s.PPSSON

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        if values["PPSSOFF"] > values["PPSSON"]:
            return "PPSSOFF must not be above PPSSON"
        return super().check(values)
