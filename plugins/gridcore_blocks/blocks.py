"""Blocks of control diagrams; their limits bring their events with them.

::

    class Exciter(Device):
        sensed = Lag(lambda s, bus: bus.Vm, T="TR")
        error = Limit(lambda s: s.Vref + s.Vs - s.sensed, limits=("VIMIN", "VIMAX"))
        lead = LeadLag("error", T1="TC", T2="TB")
        VR = Lag("lead", K="KA", T="TA", limits=("VRMIN", "VRMAX"))

The diagrams are those of IEEE Std 421.5-2016, annex E, and of the PSS/E model library. A time constant of zero
takes the block's dynamics away for that instance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .block import Block, Limits, Signal


class Lag(Block):
    """``K / (1 + s T)``, with non-windup limits. IEEE Std 421.5-2016, annex E.

    Parameters
    ----------
    u : str, float or callable
        Input.
    T : str
        Time constant (a parameter); zero leaves the gain.
    K : str, float or callable
        Gain.
    limits : pair, optional
        Lower and upper limit, None for none.
    names : (str, str), optional
        What the limits are called in events, where not by their own names.
    init, at_limit, drives : optional
        As those of :class:`~gridcore.contract.device.State`.
    """

    def __init__(self, u: Signal, *, T: str, K: Signal = 1.0, limits: Limits | None = None,
                 names: tuple[str, str] | None = None, init: float = 0.0, at_limit: int = 0,
                 drives: str | None = None, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.K = u, K
        self.fields: dict[str, Any] = {"T": T, "limits": limits, "limit_names": names, "init": init,
                                       "at_limit": at_limit, "drives": drives}

    def expand(self) -> None:
        u, K, name = self.input(self.u), self.reader(self.K, "gain", "gain"), self.name
        self.state(name, lambda s: K(s) * u(s) - getattr(s, name), **self.fields)


class Integrator(Block):
    """``K / s``, or ``1 / (s T)``, with non-windup limits. IEEE Std 421.5-2016, annex E.

    Parameters
    ----------
    u, K, limits, init, at_limit, drives
        As those of :class:`Lag`.
    T : str, optional
        Time constant (a parameter).
    """

    def __init__(self, u: Signal, *, K: Signal = 1.0, T: str | None = None, limits: Limits | None = None,
                 init: float = 0.0, at_limit: int = 0, drives: str | None = None, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.K = u, K
        self.fields: dict[str, Any] = {"T": T, "limits": limits, "init": init, "at_limit": at_limit, "drives": drives}

    def expand(self) -> None:
        u, K = self.input(self.u), self.reader(self.K, "gain", "gain")
        self.state(self.name, lambda s: K(s) * u(s), **self.fields)


class LeadLag(Block):
    """``K (1 + s T1) / (1 + s T2)``. With ``T2 = 0`` it is the gain alone, as in PSS/E.

    Limits hold both its lag and its output, so that it leaves them without delay.

    Parameters
    ----------
    u, K, limits, at_limit
        As those of :class:`Lag`.
    T1, T2 : str
        Time constants of numerator and denominator.
    """

    def __init__(self, u: Signal, *, T1: str, T2: str, K: Signal = 1.0, limits: Limits | None = None,
                 at_limit: int = 0, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.T1, self.T2, self.K, self.limits, self.at_limit = u, T1, T2, K, limits, at_limit

    def expand(self) -> None:
        u, K = self.input(self.u), self.reader(self.K, "gain", "gain")
        x, T1, T2 = f"{self.name}_x", self.value(self.T1), self.value(self.T2)

        def rate(s: Any) -> Any:
            return K(s) * u(s) - getattr(s, x)

        def lead(s: Any) -> Any:
            return _over(T1(s), T2(s))

        self.limited(x, rate, self.limits, lead, lambda s: lead(s) * rate(s), at_limit=self.at_limit, T=self.T2,
                     doc=f"{self.words}: its lag")


class Washout(Block):
    """``s K / (1 + s T)``; nothing where ``T = 0``.

    Parameters
    ----------
    u, K, T
        As those of :class:`Lag`. A washout ``s T / (1 + s T)`` has ``K = T``.
    """

    def __init__(self, u: Signal, *, T: str, K: Signal = 1.0, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.T, self.K = u, T, K

    def expand(self) -> None:
        u, K = self.input(self.u), self.reader(self.K, "gain", "gain")
        x, T = f"{self.name}_x", self.value(self.T)

        def rate(s: Any) -> Any:
            return u(s) - getattr(s, x)

        self.state(x, rate, T=self.T, doc=f"{self.words}: slow part of the input")
        self.output(lambda s: _over(K(s), T(s)) * rate(s))


class PI(Block):
    """``KP + KI / s``, with non-windup limits on the integrator and the same limits on the sum.

    ``KI = 0`` leaves the proportional part, without an integrator.

    IEEE Std 421.5-2016, annex E, stops the integrator while the sum is beyond its limit instead. The right-hand
    side of that is discontinuous, and where the input falls slowly the sum slides along the limit, switching without
    end; here the integrator goes on to the limit, and leaves it when the input changes its sign.

    Parameters
    ----------
    u, limits
        As those of :class:`Lag`.
    KP, KI : str, float or callable
        Gains.
    at_limit : {0, 1, -1}
        Where the integrator rests: see :class:`~gridcore.contract.device.State`.
    """

    def __init__(self, u: Signal, *, KP: Signal, KI: Signal, limits: Limits | None = None, init: float = 0.0,
                 at_limit: int = 0, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.KP, self.KI, self.limits, self.init, self.at_limit = u, KP, KI, limits, init, at_limit

    def expand(self) -> None:
        u, KP, bounds = self.input(self.u), self.reader(self.KP, "kp", "proportional gain"), self.bounds(self.limits)
        x, rate, there = self.integral(u)
        self.limited(x, rate, bounds, KP, lambda s: KP(s) * u(s), at_limit=self.at_limit, T=there, init=self.init,
                     doc=f"{self.words}: its integrator")

    def integral(self, u: Callable[[Any], Any]) -> tuple[str, Callable[[Any], Any], str]:
        """Name, rate and time constant of the integrator of the input `u`."""
        KI, x = self.reader(self.KI, "ki", "integral gain"), f"{self.name}_x"
        there = self.quantity(f"{self.name}_there", lambda s: np.where(KI(s) != 0, 1.0, 0.0), "whether it integrates")
        return x, lambda s: np.where(KI(s) != 0, KI(s) * u(s), -getattr(s, x)), there


class PID(PI):
    """``KP + KI / s + s KD / (1 + s TD)``, limited as :class:`PI`; without the last term where ``TD = 0``.

    With a derivative the sum may leave its limit before the integrator does, so each has a mode of its own,
    ``<block>_limit`` and ``<block>_x_limit``.

    Parameters
    ----------
    u, KP, KI, limits
        As those of :class:`PI`.
    names
        As those of :class:`Lag`.
    KD : str, float or callable
        Gain of the derivative.
    TD : str
        Its time constant (a parameter).
    """

    def __init__(self, u: Signal, *, KP: Signal, KI: Signal, KD: Signal, TD: str, limits: Limits | None = None,
                 names: tuple[str, str] | None = None, unit: str = "pu", doc: str = ""):
        super().__init__(u, KP=KP, KI=KI, limits=limits, unit=unit, doc=doc)
        self.KD, self.TD, self.names = KD, TD, names

    def expand(self) -> None:
        name = self.named(self.u, "in", f"input: {self.words}")
        u, KP, bounds = self.value(name), self.reader(self.KP, "kp", "proportional gain"), self.bounds(self.limits)
        x, rate, there = self.integral(u)
        d = self.block("d", Washout(name, K=self.KD, T=self.TD, doc=f"{self.words}: its derivative"))
        self.state(x, rate, limits=bounds, limit_names=self.names, T=there,
                   doc=f"{self.words}: its integrator")
        self.clamp(lambda s: KP(s) * u(s) + getattr(s, x) + getattr(s, d), bounds, names=self.names)


class Limit(Block):
    """A windup limit: the input, or the bound that it is beyond.

    Parameters
    ----------
    u, limits, names
        As those of :class:`Lag`.
    settles : bool
        Whether it may stand at a bound at the operating point. A limit in the main path of a control may not: its
        set-point could not be found.
    """

    def __init__(self, u: Signal, *, limits: Limits, names: tuple[str, str] | None = None, settles: bool = False,
                 unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.limits, self.names, self.settles = u, limits, names, settles

    def expand(self) -> None:
        self.clamp(self.input(self.u), self.limits, settles=self.settles, names=self.names)


class HighGate(Block):
    """The larger of two signals.

    Parameters
    ----------
    first, second : str, float or callable
        The signals; a gate of three takes the output of another gate.
    settles : bool
        Whether the operating point may be one at which the second signal passes. Where the set-point stands before
        the first, it may not: it could not be found.
    """

    larger = True

    def __init__(self, first: Signal, second: Signal, *, settles: bool = True, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.first, self.second, self.settles = first, second, settles

    def expand(self) -> None:
        first = self.reader(self.first, "first", f"first input: {self.words}")
        second = self.reader(self.second, "second", f"second input: {self.words}")
        mode, up = f"{self.name}_side", 1 if self.larger else -1

        def wins(s: Any) -> Any:
            return second(s) - first(s)

        self.mode(mode, f"0 first, 1 second input: {self.words}")
        self.change("to_second", wins, up, mode, 0, 1, f"{self.name} takes its second input", settles=self.settles)
        self.change("to_first", wins, -up, mode, 1, 0, f"{self.name} takes its first input", settles=self.settles)
        self.output(lambda s: np.where(getattr(s, mode) == 1, second(s), first(s)))


class LowGate(HighGate):
    """The smaller of two signals: see :class:`HighGate`."""

    larger = False


class Deadband(Block):
    """Nothing while the input is within ``width`` of zero, beyond it what is beyond.

    Parameters
    ----------
    u : str, float or callable
        Input.
    width : str, float or callable
        Half of the width of the band.
    """

    def __init__(self, u: Signal, *, width: Signal, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.width = u, width

    def expand(self) -> None:
        u, width = self.input(self.u), self.reader(self.width, "width", "half width")
        mode = f"{self.name}_side"

        def above(s: Any) -> Any:
            return u(s) - width(s)

        def below(s: Any) -> Any:
            return u(s) + width(s)

        self.mode(mode, f"-1 below, 0 within, 1 above the band: {self.words}")
        self.change("above", above, 1, mode, 0, 1, f"{self.name}: the input rises above the band")
        self.change("back_below", above, -1, mode, 1, 0, f"{self.name}: the input falls into the band")
        self.change("below", below, -1, mode, 0, -1, f"{self.name}: the input falls below the band")
        self.change("back_above", below, 1, mode, -1, 0, f"{self.name}: the input rises into the band")
        self.output(lambda s: np.where(getattr(s, mode) == 0, 0.0, u(s) - getattr(s, mode) * width(s)))


class Curve(Block):
    """A curve of straight pieces through points, beyond the first and the last of them as before.

    Parameters
    ----------
    u : str, float or callable
        Input.
    points : sequence of pairs of str or float
        Input and output at each point, the inputs rising: three points or more.
    """

    def __init__(self, u: Signal, *, points: Sequence[tuple[str | float, str | float]], unit: str = "pu",
                 doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.points = u, points

    @staticmethod
    def inverse(points: Sequence[tuple[Any, Any]], y: Any) -> Any:
        """The input at which a rising curve has an output, for the first guess of a device; points are numbers."""
        x: Any = None
        for (x1, y1), (x2, y2) in pairwise(points):
            piece = x1 + _over(x2 - x1, y2 - y1) * (y - y1)
            x = piece if x is None else np.where(y > y1, piece, x)
        return x

    def expand(self) -> None:
        u, mode = self.input(self.u), f"{self.name}_piece"
        points = [(self.value(x), self.value(y)) for x, y in self.points]
        self.mode(mode, f"0 first piece, 1 second, and so on: {self.words}")
        for k, (x, _) in enumerate(points[1:-1], 1):
            beyond = _less(u, x)
            self.change(f"above_{k}", beyond, 1, mode, k - 1, k, f"{self.name}: the input rises above point {k + 1}")
            self.change(f"below_{k}", beyond, -1, mode, k, k - 1, f"{self.name}: the input falls below point {k + 1}")

        def output(s: Any) -> Any:
            value: Any = 0.0
            for k, ((x1, y1), (x2, y2)) in enumerate(pairwise(points)):
                piece = y1(s) + _over(y2(s) - y1(s), x2(s) - x1(s)) * (u(s) - x1(s))
                value = np.where(getattr(s, mode) == k, piece, value)
            return value

        self.output(output)


class RateLimitedLag(Block):
    """``1 / (1 + s T)`` whose rate is limited, with non-windup limits: a valve and its servomotor.

    Parameters
    ----------
    u, limits, init, at_limit, drives
        As those of :class:`Lag`.
    T : str
        Time constant (a parameter greater than zero).
    rates : pair
        Lower and upper limit of the rate, per second.
    """

    def __init__(self, u: Signal, *, T: str, rates: Limits, limits: Limits | None = None, init: float = 0.0,
                 at_limit: int = 0, drives: str | None = None, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.T, self.rates = u, T, rates
        self.fields: dict[str, Any] = {"limits": limits, "init": init, "at_limit": at_limit, "drives": drives}

    def expand(self) -> None:
        u, T, name = self.input(self.u), self.value(self.T), self.name
        speed = self.block("speed", Limit(lambda s: (u(s) - getattr(s, name)) / T(s), limits=self.rates,
                                          doc=f"rate of change: {self.words}"))
        self.state(name, lambda s: getattr(s, speed), **self.fields)


class SecondOrderLag(Block):
    """``1 / (1 + A1 s + A2 s^2)``; its order falls where ``A2``, or both, are zero.

    ``<block>_d1`` and ``<block>_d2`` are the derivatives of the output, for what stands in the numerator;
    they are zero where the block has not so high an order.

    Parameters
    ----------
    u : str, float or callable
        Input.
    A1, A2 : str
        Coefficients (parameters).
    """

    def __init__(self, u: Signal, *, A1: str, A2: str, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.A1, self.A2 = u, A1, A2

    def expand(self) -> None:
        u, A1, A2 = self.input(self.u), self.value(self.A1), self.value(self.A2)
        y, v = self.name, f"{self.name}_d1"

        def lags(s: Any) -> Any:
            return np.logical_or(A1(s) != 0, A2(s) != 0)

        def rest(s: Any) -> Any:
            return u(s) - getattr(s, y) - A1(s) * getattr(s, v)

        # y' = v and A2 v' = u - y - A1 v: without A2 the latter gives v, without both y = u and v = 0
        there = self.quantity(f"{y}_there", lambda s: np.where(lags(s), 1.0, 0.0), "whether it lags")
        self.state(y, lambda s: np.where(lags(s), getattr(s, v), u(s) - getattr(s, y)), T=there)
        self.state(v, lambda s: np.where(lags(s), rest(s), -getattr(s, v)), T=self.A2,
                   doc=f"derivative of the output: {self.words}")
        self.quantity(f"{y}_d2", lambda s: _over(rest(s), A2(s)), f"second derivative of the output: {self.words}")


def _less(u: Callable[[Any], Any], x: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda s: u(s) - x(s)


def _over(a: Any, b: Any) -> Any:
    """``a / b``, and 0 where ``b`` is zero."""
    return np.where(b != 0, a / np.where(b != 0, b, 1.0), 0.0)
