"""STAB2A: power-sensitive stabilizer."""

from __future__ import annotations

from gridcore.contract import Algebraic, Device, Param
from gridcore_blocks import Lag, Limit, Washout

from .signals import terminal_power


class STAB2A(Device):
    """Power-sensitive stabilizer (ASEA). PSS/E model library, STAB2A, as OpenIPSL has it; IEC 61970-302, PssSTAB2A::

        washed = P (-K2 s T2 / (1 + s T2))^3
        mixed  = washed (K4 + K3 / (1 + s T3))
        Vs     = mixed (K5 / (1 + s T5))^2 between -HLIM and HLIM

    P is the power at the terminals of the machine, on its own base.
    """

    attaches = "exciter"
    naming = "PSS_{exciter}"
    dyr = ("K2", "T2", "K3", "T3", "K4", "K5", "T5", "HLIM")
    K2 = Param("pu", doc="gain of each washout")
    T2 = Param("s", gt=0, doc="time constant of each washout")
    K3 = Param("pu", doc="gain of the lag")
    T3 = Param("s", ge=0, doc="time constant of the lag")
    K4 = Param("pu", doc="gain beside the lag")
    K5 = Param("pu", doc="gain of each lag at the output")
    T5 = Param("s", ge=0, doc="time constant of each lag at the output")
    HLIM = Param("pu", gt=0, doc="limit of the signal")
    w1 = Washout(lambda s, bus, machine: -terminal_power(bus, machine), K=lambda s: s.K2 * s.T2, T="T2",
                 doc="behind the first washout")
    w2 = Washout("w1", K=lambda s: -s.K2 * s.T2, T="T2", doc="behind the second washout")
    w3 = Washout("w2", K=lambda s: -s.K2 * s.T2, T="T2", doc="behind the third washout")
    lagged = Lag("w3", K="K3", T="T3", doc="behind the lag")
    first = Lag(lambda s: s.lagged + s.K4 * s.w3, K="K5", T="T5", doc="behind the first lag at the output")
    second = Lag("first", K="K5", T="T5", doc="behind both lags at the output")
    limited = Limit("second", limits=(lambda s: -s.HLIM, "HLIM"), settles=True, doc="signal between its limits")
    Vs = Algebraic("pu", equals=lambda s: s.limited, drives="exciter.Vs", doc="stabilizing signal")
