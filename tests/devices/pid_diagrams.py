"""Excitation systems with PI and PID regulators, written plainly from their block diagrams: see diagrams.py."""

from __future__ import annotations

import cmath
import functools
import math
from typing import Any

import numpy as np
from diagrams import Diagram, State, alternator, clip, phasors, rectifier, saturation
from scipy.optimize import brentq


def pid(KP: float, KI: float, KD: float, TD: float, e: float, x: float, slow: float) -> tuple[float, State]:
    """Output of ``KP + KI / s + s KD / (1 + s TD)`` without limits; rates of its integrator and its washout."""
    return KP * e + x + KD / TD * (e - slow), dict(integral=KI * e, slow=(e - slow) / TD)


def ac8b(d: Any) -> Diagram:
    """IEEE Std 421.5-2005, figure 6-8."""
    def own(x: Any, u: Any) -> State:
        out, rates = pid(d.KPR, d.KIR, d.KDR, d.TDR, u.Vref + u.Vs - x.sensed, x.integral, x.slow)
        return rates | dict(VR=(d.KA * clip(out, d.VPIDMIN, d.VPIDMAX) - x.VR) / d.TA)

    def rest(field: float, u: Any) -> tuple[State, float]:
        return dict(integral=field / d.KA, slow=0.0, VR=field), u.V

    @functools.cache
    def highest(Ifd: float) -> float:
        """VE = (VFEMAX - KD IFD) / (KE + SE(VE))."""
        return brentq(lambda VE: d.KE * VE + saturation(d, VE) + d.KD * Ifd - d.VFEMAX, -20.0, 20.0, xtol=1e-14)

    return alternator(d, lambda x, u: x.VR, own, rest,
                      {"VE": lambda u: (d.VEMIN, highest(u.Ifd)), "VR": lambda u: (d.VRMIN, d.VRMAX),
                       "integral": lambda u: (d.VPIDMIN, d.VPIDMAX)})


def dc4b(d: Any) -> Diagram:
    """IEEE Std 421.5-2005, figure 5-4."""
    def rest(Efd: float, u: Any) -> tuple[State, float]:
        VR = d.KE * Efd + saturation(d, Efd)
        return dict(sensed=u.V, integral=VR / d.KA / u.V, slow=0.0, VR=VR, Efd=Efd, washed=Efd), u.V

    def rates(x: Any, u: Any) -> State:
        e = u.Vref + u.Vs - x.sensed - d.KF / d.TF * (x.Efd - x.washed)
        out, own = pid(d.KP, d.KI, d.KD, d.TD, e, x.integral, x.slow)
        out = u.V * clip(out, d.VRMIN / d.KA, d.VRMAX / d.KA)
        return own | dict(sensed=(u.V - x.sensed) / d.TR, VR=(d.KA * out - x.VR) / d.TA,
                          Efd=(x.VR - d.KE * x.Efd - saturation(d, x.Efd)) / d.TE, washed=(x.Efd - x.washed) / d.TF)

    return Diagram(d, rest, rates, lambda x, u: x.Efd,
                   {"integral": lambda u: (d.VRMIN / d.KA, d.VRMAX / d.KA),
                    "VR": lambda u: (u.V * d.VRMIN, u.V * d.VRMAX), "Efd": lambda u: (d.VEMIN, np.inf)})


def st6b(d: Any) -> Diagram:
    """IEEE Std 421.5-2005, figure 7-6, with a PID."""
    def signals(x: Any, u: Any) -> tuple[float, State]:
        out, own = pid(d.KPA, d.KIA, d.KDA, d.TDA, u.Vref + u.Vs - x.sensed, x.integral, x.slow)
        VA = clip(out, d.VAMIN, d.VAMAX)
        VR = clip(d.KFF * VA + d.KM * (VA - x.VG), d.VRMIN, d.VRMAX)
        return u.V * min(VR, max(d.KLR * (d.KCI * d.ILR - u.Ifd), d.VRMIN)), own

    def rest(Efd: float, u: Any) -> tuple[State, float]:
        VA = (Efd / u.V + d.KM * d.KG * Efd) / (d.KFF + d.KM)
        return dict(sensed=u.V, integral=VA, slow=0.0, VG=d.KG * Efd), u.V

    def rates(x: Any, u: Any) -> State:
        Efd, own = signals(x, u)
        return own | dict(sensed=(u.V - x.sensed) / d.TR, VG=(d.KG * Efd - x.VG) / d.TG)

    return Diagram(d, rest, rates, lambda x, u: signals(x, u)[0], {"integral": lambda u: (d.VAMIN, d.VAMAX)})


def st8c(d: Any) -> Diagram:
    """IEEE Std 421.5-2016, type ST8C."""
    def sources(u: Any) -> tuple[float, float]:
        V, current = phasors(u)
        KP = d.KP * cmath.exp(1j * math.radians(d.THETAP))
        VE = d.KP if d.SW1 == 2 else abs(KP * V + 1j * (d.KI1 + KP * d.XL) * current)
        boost = d.KI2 * abs(current)
        return (min(rectifier(d.KC1 * u.Ifd / VE) * VE, d.VB1MAX),
                min(rectifier(d.KC2 * u.Ifd / boost) * boost, d.VB2MAX) if boost else 0.0)

    def rest(Efd: float, u: Any) -> tuple[State, float]:
        VB1, VB2 = sources(u)
        VR = (Efd - VB2) / VB1
        return dict(sensed=u.V, outer=d.KF * u.Ifd, inner=VR / d.KA, VR=VR, VF=d.KF * u.Ifd), u.V

    def rates(x: Any, u: Any) -> State:
        e = u.Vref + u.Vs - x.sensed
        error = clip(d.KPR * e + x.outer, d.VPIMIN, d.VPIMAX) - x.VF
        VA = clip(d.KPA * error + x.inner, d.VAMIN, d.VAMAX)
        return dict(sensed=(u.V - x.sensed) / d.TR, outer=d.KIR * e, inner=d.KIA * error, VR=(d.KA * VA - x.VR) / d.TA,
                    VF=(d.KF * u.Ifd - x.VF) / d.TF)

    def out(x: Any, u: Any) -> float:
        VB1, VB2 = sources(u)
        return x.VR * VB1 + VB2

    return Diagram(d, rest, rates, out, {"outer": lambda u: (d.VPIMIN, d.VPIMAX),
                                         "inner": lambda u: (d.VAMIN, d.VAMAX), "VR": lambda u: (d.VRMIN, d.VRMAX)})
