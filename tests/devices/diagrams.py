"""Excitation systems and stabilizers written plainly from their block diagrams, to compare with.

A diagram is integrated by scipy between instants at which its inputs step and those at which states reach their
limits. It has no modes: a limited state stops where its rate points outwards, a clamp is `clip`, a gate is `min`. It
knows nothing of gridcore; its time constants must be above zero.
"""

from __future__ import annotations

import cmath
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

State = dict[str, float]
INPUTS = dict(V=1.0, Vs=0.0, Ifd=1.8, Id=0.5, Iq=0.6, delta=0.5, omega=1.0, Pm=0.0, dVref=0.0)


@dataclass
class Diagram:
    """One diagram: `rest(Efd, u)` gives its states and Vref, `rates(x, u)` what its states do and `out` the output.

    `limits` maps a state to a function of u: its lower and upper limit.
    """

    d: SimpleNamespace
    rest: Callable[[float, Any], tuple[State, float]]
    rates: Callable[[Any, Any], State]
    out: Callable[[Any, Any], float]
    limits: dict[str, Callable[[Any], tuple[float, float]]] = field(default_factory=dict)

    def run(self, Efd: float, inputs: Sequence[tuple[float, dict[str, float]]], times: np.ndarray) -> np.ndarray:
        """Output at `times`; `inputs` are (instant, changes from there on), Efd is the output at rest."""
        now = dict(INPUTS)
        state, Vref = self.rest(Efd, SimpleNamespace(**now))
        names, out = list(state), np.full(len(times), np.nan)
        x = np.array([state[name] for name in names])
        ends = [*(t for t, _ in inputs), times[-1] + 1.0]
        for begin, end, change in zip([0.0, *ends[:-1]], ends, [{}, *(c for _, c in inputs)], strict=True):
            now |= change
            u = SimpleNamespace(**now, Vref=Vref + now["dVref"])
            x = self.caught(names, x, u)
            mask = (times >= begin) & (times < end)
            stop = min(end, times[-1])
            if stop <= begin:
                continue
            while True:
                reached = self.reached(names, x, u)
                solution = solve_ivp(lambda t, x, u=u: self.held(names, x, u), (begin, stop), x, "DOP853",
                                     events=[event for event, *_ in reached] or None, dense_output=True, rtol=1e-10,
                                     atol=1e-12, max_step=5e-3)
                here, begin, x = mask & (times >= begin) & (times <= solution.t[-1]), solution.t[-1], solution.y[:, -1]
                if here.any():
                    out[here] = [self.out(self.view(names, at, u), u) for at in solution.sol(times[here]).T]
                if solution.status != 1:
                    break
                for (_, k, limit), at in zip(reached, solution.t_events, strict=True):
                    x[k] = limit if len(at) else x[k]
        return out

    def reached(self, names: list[str], x: np.ndarray, u: Any) -> list[tuple[Any, int, float]]:
        """Events at which states within their limits reach them, with the states and these limits."""
        found = []
        for name, limit in self.limits.items():
            k = names.index(name)
            for side, value in zip((-1, 1), limit(u), strict=True):
                if side * (value - x[k]) > 1e-9:
                    event = functools.partial(lambda t, x, k, value: x[k] - value, k=k, value=value)
                    event.terminal, event.direction = True, side
                    found.append((event, k, value))
        return found

    def view(self, names: list[str], x: np.ndarray, u: Any) -> Any:
        return SimpleNamespace(**dict(zip(names, x.tolist(), strict=True)))  # numbers of Python are quicker

    def caught(self, names: list[str], x: np.ndarray, u: Any) -> np.ndarray:
        """A limit that has jumped past a state takes it along, unless the state is on its way back."""
        x, rates = x.copy(), self.rates(self.view(names, x, u), u)
        for name, limit in self.limits.items():
            k, (low, high) = names.index(name), limit(u)
            if (x[k] > high and rates[name] >= 0) or (x[k] < low and rates[name] <= 0):
                x[k] = clip(x[k], low, high)
        return x

    def held(self, names: list[str], x: np.ndarray, u: Any) -> np.ndarray:
        """The rates, zero for states at a limit that would leave it outwards."""
        rates = self.rates(self.view(names, x, u), u)
        for name, limit in self.limits.items():
            (low, high), value = limit(u), x[names.index(name)]
            if (value >= high and rates[name] > 0) or (value <= low and rates[name] < 0):
                rates[name] = 0.0
        return np.array([rates[name] for name in names])


def clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def saturation(d: Any, E: float) -> float:
    """SE(E) E: the parabola through both points, fitted by solving for it."""
    A, B = parabola(d.E1, d.SE1, d.E2, d.SE2)
    return B * max(E - A, 0.0) ** 2


@functools.cache
def parabola(E1: float, SE1: float, E2: float, SE2: float) -> tuple[float, float]:
    if SE1 == SE2 == 0:
        return 0.0, 0.0
    A = brentq(lambda A: SE2 * E2 * (E1 - A) ** 2 - SE1 * E1 * (E2 - A) ** 2, -50.0, E1)
    return A, SE2 * E2 / (E2 - A) ** 2


def rectifier(IN: float) -> float:
    """FEX(IN). IEEE Std 421.5, annex D, with the exact constants."""
    if IN <= 0:
        return 1.0
    if IN <= math.sqrt(3) / 4:
        return 1 - IN / math.sqrt(3)
    if IN < 0.75:
        return math.sqrt(0.75 - IN * IN)
    return math.sqrt(3) * (1 - IN) if IN <= 1 else 0.0


def lead_lag(u: float, x: float, T1: float, T2: float) -> float:
    """Output of (1 + s T1)/(1 + s T2) with the state x of 1/(1 + s T2)."""
    return x + T1 / T2 * (u - x)


def ieeet1(d: Any) -> Diagram:
    """IEEE Committee Report 1968, type 1."""
    d = SimpleNamespace(**vars(d), TB=1.0, TC=1.0, TF1=d.TF)
    return dc(d)


def dc(d: Any, fed: bool = False, lowest: float = -math.inf) -> Diagram:
    """IEEE Std 421.5-2005, figures 5-1 and 5-2; `fed`: the regulator is fed from the terminals.

    `lowest` is what holds the field voltage: nothing in IEEEX1 and EXDC2, zero in PSS/E's ESDC1A and ESDC2A.
    """
    def error(x: Any, u: Any) -> float:
        return u.Vref + u.Vs - x.sensed - d.KF / d.TF1 * (x.Efd - x.washed)

    def rest(Efd: float, u: Any) -> tuple[State, float]:
        VR = d.KE * Efd + saturation(d, Efd)
        return dict(sensed=u.V, lag=VR / d.KA, VR=VR, Efd=Efd, washed=Efd), u.V + VR / d.KA

    def rates(x: Any, u: Any) -> State:
        e = error(x, u)
        return dict(sensed=(u.V - x.sensed) / d.TR, lag=(e - x.lag) / d.TB,
                    VR=(d.KA * lead_lag(e, x.lag, d.TC, d.TB) - x.VR) / d.TA,
                    Efd=(x.VR - d.KE * x.Efd - saturation(d, x.Efd)) / d.TE, washed=(x.Efd - x.washed) / d.TF1)

    def limit(u: Any) -> tuple[float, float]:
        scale = u.V if fed else 1.0
        return d.VRMIN * scale, d.VRMAX * scale

    return Diagram(d, rest, rates, lambda x, u: x.Efd, {"VR": limit, "Efd": lambda u: (lowest, math.inf)})


def dc_fed(d: Any) -> Diagram:
    return dc(d, fed=True)


def esdc1a(d: Any) -> Diagram:
    return dc(d, lowest=0.0)


def esdc2a(d: Any) -> Diagram:
    return dc(d, fed=True, lowest=0.0)


def alternator(d: Any, VR: Callable[[Any, Any], float], own: Callable[..., State],
               rest: Callable[[float, Any], tuple[State, float]],
               limits: dict[str, Callable[[Any], tuple[float, float]]]) -> Diagram:
    """IEEE Std 421.5-2005, figure 6-1 and its like: an exciter VE behind the regulator that gives `VR`."""
    def whole(Efd: float, u: Any) -> tuple[State, float]:
        load = d.KC * u.Ifd
        VE = brentq(lambda VE: rectifier(load / VE) * VE - Efd, max(load, 1e-6), 20.0) if Efd > 0 else 0.0
        state, Vref = rest(d.KE * VE + saturation(d, VE) + d.KD * u.Ifd, u)
        return {"VE": VE, "sensed": u.V} | state, Vref

    def rates(x: Any, u: Any) -> State:
        return {"VE": (VR(x, u) - VFE(d, x, u)) / d.TE, "sensed": (u.V - x.sensed) / d.TR} | own(x, u)

    def out(x: Any, u: Any) -> float:
        return rectifier(d.KC * u.Ifd / x.VE) * x.VE if x.VE > 1e-12 else 0.0

    return Diagram(d, whole, rates, out, {"VE": lambda u: (0.0, np.inf)} | limits)


def VFE(d: Any, x: Any, u: Any) -> float:
    return d.KE * x.VE + saturation(d, x.VE) + d.KD * u.Ifd


def regulator(d: Any, state: str) -> tuple[Callable[..., State], Callable[..., float]]:
    """Lead-lag, gain and lag `state`, with rate feedback from VFE."""
    def error(x: Any, u: Any) -> float:
        return u.Vref + u.Vs - x.sensed - d.KF / d.TF * (VFE(d, x, u) - x.washed)

    def rates(x: Any, u: Any) -> State:
        e = error(x, u)
        return {"lag": (e - x.lag) / d.TB, "washed": (VFE(d, x, u) - x.washed) / d.TF,
                state: (d.KA * lead_lag(e, x.lag, d.TC, d.TB) - getattr(x, state)) / d.TA}

    return rates, error


def exac1(d: Any) -> Diagram:
    """IEEE Working Group 1981, type AC1."""
    def rest(field: float, u: Any) -> tuple[State, float]:
        return dict(lag=field / d.KA, washed=field, VR=field), u.V + field / d.KA

    return alternator(d, lambda x, u: x.VR, regulator(d, "VR")[0], rest, {"VR": lambda u: (d.VRMIN, d.VRMAX)})


def esac1a(d: Any) -> Diagram:
    """IEEE Std 421.5-2005, figure 6-1."""
    def rest(field: float, u: Any) -> tuple[State, float]:
        return dict(lag=field / d.KA, washed=field, VA=field), u.V + field / d.KA

    return alternator(d, lambda x, u: clip(x.VA, d.VRMIN, d.VRMAX), regulator(d, "VA")[0], rest,
                      {"VA": lambda u: (d.VAMIN, d.VAMAX)})


def exac2(d: Any) -> Diagram:
    """IEEE Working Group 1981, type AC2."""
    def rest(field: float, u: Any) -> tuple[State, float]:
        VA = field / d.KB + d.KH * field
        return dict(lag=VA / d.KA, washed=field, VA=VA), u.V + VA / d.KA

    def VR(x: Any, u: Any) -> float:
        field = VFE(d, x, u)
        return clip(d.KB * min(x.VA - d.KH * field, d.KL * (d.VLR - field)), d.VRMIN, d.VRMAX)

    return alternator(d, VR, regulator(d, "VA")[0], rest, {"VA": lambda u: (d.VAMIN, d.VAMAX)})


def esac6a(d: Any) -> Diagram:
    """IEEE Std 421.5-2005, figure 6-6, as Dynawo (Ac6a) and InterPSS have it, too."""
    def signals(x: Any, u: Any) -> tuple[float, float, float]:
        first = lead_lag(d.KA * (u.Vref + u.Vs - x.sensed), x.first, d.TK, d.TA)
        VA = clip(lead_lag(first, x.second, d.TC, d.TB), d.VAMIN, d.VAMAX)
        beyond = clip(d.KH * (VFE(d, x, u) - d.VFELIM), 0.0, d.VHMAX)
        VH = lead_lag(beyond, x.over, d.TJ, d.TH)
        return first, beyond, clip(VA - VH, u.V * d.VRMIN, u.V * d.VRMAX)

    def rest(field: float, u: Any) -> tuple[State, float]:
        over = clip(d.KH * (field - d.VFELIM), 0.0, d.VHMAX)
        return dict(first=field + over, second=field + over, over=over), u.V + (field + over) / d.KA

    def own(x: Any, u: Any) -> State:
        return dict(first=(d.KA * (u.Vref + u.Vs - x.sensed) - x.first) / d.TA,
                    second=(signals(x, u)[0] - x.second) / d.TB, over=(signals(x, u)[1] - x.over) / d.TH)

    return alternator(d, lambda x, u: signals(x, u)[2], own, rest,
                      {"second": lambda u: (d.VAMIN, d.VAMAX)})


def esst1a(d: Any) -> Diagram:
    """IEEE Std 421.5-2005, figure 7-1."""
    def before_limits(x: Any, u: Any) -> float:
        return x.VA + (u.Vs if d.VOS == 2 else 0.0) - max(0.0, d.KLR * (u.Ifd - d.ILR))

    def rest(Efd: float, u: Any) -> tuple[State, float]:
        VA = Efd + max(0.0, d.KLR * (u.Ifd - d.ILR))
        return dict(sensed=u.V, lag=VA / d.KA, lag1=VA / d.KA, VA=VA, washed=Efd), u.V + VA / d.KA

    def rates(x: Any, u: Any) -> State:
        E = before_limits(x, u)
        e = clip(u.Vref + (u.Vs if d.VOS == 1 else 0.0) - x.sensed - d.KF / d.TF * (E - x.washed), d.VIMIN, d.VIMAX)
        first = lead_lag(e, x.lag, d.TC, d.TB)
        second = lead_lag(first, x.lag1, d.TC1, d.TB1)
        return dict(sensed=(u.V - x.sensed) / d.TR, lag=(e - x.lag) / d.TB, lag1=(first - x.lag1) / d.TB1,
                    VA=(d.KA * second - x.VA) / d.TA, washed=(E - x.washed) / d.TF)

    def out(x: Any, u: Any) -> float:
        return clip(before_limits(x, u), u.V * d.VRMIN, u.V * d.VRMAX - d.KC * u.Ifd)

    return Diagram(d, rest, rates, out, {"VA": lambda u: (d.VAMIN, d.VAMAX)})


def phasors(u: Any) -> tuple[complex, complex]:
    """Terminal voltage and current, both in the rotor's frame."""
    return u.V * cmath.exp(1j * (math.pi / 2 - u.delta)), u.Id + 1j * u.Iq


def exst1(d: Any) -> Diagram:
    """IEEE Working Group 1981, type ST1, with PSS/E's limits, which both fall with the field current."""
    def rest(Efd: float, u: Any) -> tuple[State, float]:
        return dict(sensed=u.V, lag=Efd / d.KA, VA=Efd, washed=Efd), u.V + Efd / d.KA

    def rates(x: Any, u: Any) -> State:
        e = clip(u.Vref + u.Vs - x.sensed - d.KF / d.TF * (x.VA - x.washed), d.VIMIN, d.VIMAX)
        return dict(sensed=(u.V - x.sensed) / d.TR, lag=(e - x.lag) / d.TB,
                    VA=(d.KA * lead_lag(e, x.lag, d.TC, d.TB) - x.VA) / d.TA, washed=(x.VA - x.washed) / d.TF)

    return Diagram(d, rest, rates, lambda x, u: clip(x.VA, u.V * d.VRMIN - d.KC * u.Ifd, u.V * d.VRMAX - d.KC * u.Ifd))


def ieeet2(d: Any) -> Diagram:
    """IEEE Committee Report 1968, type 2."""
    def rest(Efd: float, u: Any) -> tuple[State, float]:
        VR = d.KE * Efd + saturation(d, Efd)
        return dict(sensed=u.V, VR=VR, Efd=Efd, slow=VR, washed=VR), u.V + VR / d.KA

    def rates(x: Any, u: Any) -> State:
        e = u.Vref + u.Vs - x.sensed - d.KF / d.TF1 * (x.slow - x.washed)
        return dict(sensed=(u.V - x.sensed) / d.TR, VR=(d.KA * e - x.VR) / d.TA, slow=(x.VR - x.slow) / d.TF2,
                    Efd=(x.VR - d.KE * x.Efd - saturation(d, x.Efd)) / d.TE, washed=(x.slow - x.washed) / d.TF1)

    return Diagram(d, rest, rates, lambda x, u: x.Efd, {"VR": lambda u: (d.VRMIN, d.VRMAX)})


def esst3a(d: Any) -> Diagram:
    """IEEE Std 421.5-2005, figure 7-3."""
    def VB(u: Any) -> float:
        V, current = phasors(u)
        KP = d.KP * cmath.exp(1j * math.radians(d.THETAP))
        VE = abs(KP * V + 1j * (d.KI + KP * d.XL) * current)
        return min(rectifier(d.KC * u.Ifd / VE) * VE, d.VBMAX)

    def rest(Efd: float, u: Any) -> tuple[State, float]:
        VM = Efd / VB(u)
        VR = VM / d.KM + min(d.KG * Efd, d.VGMAX)
        return dict(sensed=u.V, lag=VR / d.KA, VR=VR, VM=VM), u.V + VR / d.KA

    def rates(x: Any, u: Any) -> State:
        e = clip(u.Vref + u.Vs - x.sensed, d.VIMIN, d.VIMAX)
        VG = min(d.KG * x.VM * VB(u), d.VGMAX)
        return dict(sensed=(u.V - x.sensed) / d.TR, lag=(e - x.lag) / d.TB,
                    VR=(d.KA * lead_lag(e, x.lag, d.TC, d.TB) - x.VR) / d.TA, VM=(d.KM * (x.VR - VG) - x.VM) / d.TM)

    return Diagram(d, rest, rates, lambda x, u: x.VM * VB(u),
                   {"VR": lambda u: (d.VRMIN, d.VRMAX), "VM": lambda u: (d.VMMIN, d.VMMAX)})


def esst4b(d: Any) -> Diagram:
    """IEEE Std 421.5-2005, figure 7-4."""
    def VB(u: Any) -> float:
        V, current = phasors(u)
        KP = d.KP * cmath.exp(1j * math.radians(d.THETAP))
        VE = abs(KP * V + 1j * (d.KI + KP * d.XL) * current)
        return min(rectifier(d.KC * u.Ifd / VE) * VE, d.VBMAX)

    def out(x: Any, u: Any) -> float:
        # Efd = VB clip(KPM (VA - KG Efd) + VM): monotonic in Efd
        supply = VB(u)

        def rest_of(Efd: float) -> float:
            return supply * clip(d.KPM * (x.VA - d.KG * Efd) + x.VM, d.VMMIN, d.VMMAX) - Efd

        return brentq(rest_of, -100.0, 100.0, xtol=1e-13, rtol=1e-14)

    def rest(Efd: float, u: Any) -> tuple[State, float]:
        VM, VA = Efd / VB(u), d.KG * Efd
        return dict(sensed=u.V, VR=VA, VA=VA, VM=VM), u.V

    def rates(x: Any, u: Any) -> State:
        e = u.Vref + u.Vs - x.sensed
        VR = clip(d.KPR * e + x.VR, d.VRMIN, d.VRMAX)
        return dict(sensed=(u.V - x.sensed) / d.TR, VR=d.KIR * e, VA=(VR - x.VA) / d.TA,
                    VM=d.KIM * (x.VA - d.KG * out(x, u)))

    return Diagram(d, rest, rates, out, {"VR": lambda u: (d.VRMIN, d.VRMAX), "VM": lambda u: (d.VMMIN, d.VMMAX)})


def expic1(d: Any) -> Diagram:
    """PSS/E model library, EXPIC1."""
    def VB(u: Any) -> float:
        V, current = phasors(u)
        VE = abs(d.KP * V + 1j * d.KI * current)
        return rectifier(d.KC * u.Ifd / VE) * VE

    def rest(Efd: float, u: Any) -> tuple[State, float]:
        VR = (d.KE * Efd + saturation(d, Efd)) / VB(u)
        return dict(sensed=u.V, VA=VR, lag=VR, VR=VR, slow=VR, washed=VR, Efd=Efd), u.V

    def rates(x: Any, u: Any) -> State:
        e = u.Vref + u.Vs - x.sensed - d.KF / d.TF1 * (x.slow - x.washed)
        VA = clip(d.KA * d.TA1 * e + x.VA, d.VR2, d.VR1)
        VR = clip(lead_lag(x.lag, x.VR, d.TA3, d.TA4), d.VRMIN, d.VRMAX)
        E0 = clip(VR * VB(u), d.EFDMIN, d.EFDMAX)
        return dict(sensed=(u.V - x.sensed) / d.TR, VA=d.KA * e, lag=(VA - x.lag) / d.TA2, VR=(x.lag - x.VR) / d.TA4,
                    slow=(VR - x.slow) / d.TF2, washed=(x.slow - x.washed) / d.TF1,
                    Efd=(E0 - d.KE * x.Efd - saturation(d, x.Efd)) / d.TE)

    return Diagram(d, rest, rates, lambda x, u: x.Efd,
                   {"VA": lambda u: (d.VR2, d.VR1), "VR": lambda u: (d.VRMIN, d.VRMAX)})


def sexs(d: Any, bus_fed: bool = False, RCRFD: float = 0.0) -> Diagram:
    """PSS/E model library, SEXS and SCRX."""
    def rest(Efd: float, u: Any) -> tuple[State, float]:
        E = Efd / (u.V if bus_fed else 1.0)
        return dict(lag=E / d.K, E=E), u.V + E / d.K

    def rates(x: Any, u: Any) -> State:
        e = u.Vref + u.Vs - u.V
        return dict(lag=(e - x.lag) / d.TB, E=(d.K * lead_lag(e, x.lag, d.TATB * d.TB, d.TB) - x.E) / d.TE)

    def out(x: Any, u: Any) -> float:
        if RCRFD > 0 and u.Ifd < 0:
            return -RCRFD * u.Ifd
        return x.E * (u.V if bus_fed else 1.0)

    return Diagram(d, rest, rates, out, {"E": lambda u: (d.EMIN, d.EMAX)})


def scrx(d: Any) -> Diagram:
    return sexs(d, d.CSWITCH == 0, d.RCRFD)
