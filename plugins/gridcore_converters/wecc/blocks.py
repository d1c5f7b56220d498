"""Blocks that the controls of converters have beside those of all diagrams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gridcore.contract import Guard
from gridcore_blocks import PI, Block, Deadband, Limits, Signal

NEVER = 1e3  # pu: half of a band that nothing leaves, or a limit that nothing reaches


class HeldPI(PI):
    """A PI whose integrator stands while it is held, also at its limit.

    Parameters
    ----------
    u, KP, KI, limits, init
        As those of :class:`~gridcore_blocks.PI`.
    hold : str or callable
        The integrator is held while this is not zero.
    start_at : str, optional
        Value of the integrator at t0 (a parameter), where no error of the input settles it.
    """

    def __init__(self, u: Signal, *, KP: Signal, KI: Signal, hold: Signal, limits: Limits, init: float = 0.0,
                 start_at: str | None = None, unit: str = "pu", doc: str = ""):
        super().__init__(u, KP=KP, KI=KI, limits=limits, init=init, unit=unit, doc=doc)
        self.hold, self.start_at = hold, start_at

    def expand(self) -> None:
        u, KP, bounds = self.input(self.u), self.reader(self.KP, "kp", "proportional gain"), self.bounds(self.limits)
        hold = self.reader(self.hold, "held", f"whether it is held: {self.words}")
        x, free, there = self.integral(u)

        def rate(s: Any) -> Any:
            return np.where(np.logical_and(hold(s) != 0, getattr(s, there) != 0), 0.0, free(s))

        self.limited(x, rate, bounds, KP, lambda s: KP(s) * u(s), at_limit=0, T=there, init=self.init,
                     start_at=self.start_at, doc=f"{self.words}: its integrator")


class Band(Block):
    """What of a signal is beyond a band from `low` to `high`; all of it where the band has no width.

    Parameters
    ----------
    u : str or callable
        Input.
    low, high : str, float or callable
        Ends of the band.
    """

    def __init__(self, u: Signal, *, low: Signal, high: Signal, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.low, self.high = u, low, high

    def expand(self) -> None:
        u, low, high = self.input(self.u), self.reader(self.low, "low", "low end"), self.reader(
            self.high, "high", "high end")

        def half(s: Any) -> Any:
            return 0.5 * (high(s) - low(s))

        beyond = self.value(self.block("beyond", Deadband(
            lambda s: u(s) - 0.5 * (low(s) + high(s)), width=lambda s: np.where(half(s) > 0, half(s), NEVER),
            doc=f"{self.words}: beyond the band")))
        self.output(lambda s: np.where(half(s) > 0, beyond(s), u(s)))


class Window(Block):
    """1 while a signal is outside a window, 0 within; the mode ``<block>_side`` is -1 below it, 1 above.

    Parameters
    ----------
    u : str or callable
        Input.
    low, high : str, float or callable
        Ends of the window.
    out, back : mapping, optional
        What else changes when the signal leaves the window, and when it is back: see
        :func:`~gridcore.contract.device.guard`.
    least, rest : str, optional
        A parameter: how long the signal counts as outside at least (s). And one that is zero: the clock of it at t0.
    """

    def __init__(self, u: Signal, *, low: Signal, high: Signal, out: Mapping[str, Any] | None = None,
                 back: Mapping[str, Any] | None = None, least: str = "", rest: str = "", unit: str = "pu",
                 doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.low, self.high, self.out, self.back = u, low, high, dict(out or {}), dict(back or {})
        self.least, self.rest = least, rest

    def expand(self) -> None:
        u, low, high = self.input(self.u), self.reader(self.low, "low", "low end"), self.reader(
            self.high, "high", "high end")
        side, clock, least = f"{self.name}_side", f"{self.name}_clock", self.least
        self.mode(side, f"-1 below, 0 within, 1 above: {self.words}")
        out = dict(self.out)
        if least:
            self.state(clock, lambda s: np.where(getattr(s, side) != 0, 1.0, 0.0), start_at=self.rest,
                       doc=f"{self.words}: seconds that it has been outside")
            out[clock] = 0.0
        for way, end, sign in (("below", low, -1), ("above", high, 1)):
            past = back = _less(u, end)
            if least:
                back = _late(past, sign, lambda s: getattr(s, clock) - getattr(s, least))
            self._parts[f"{self.name}_{way}"] = Guard(past, sign, {side: 0}, {side: sign, **out},
                                                      doc=f"{self.words}: {way} the window", settles=True)
            self._parts[f"{self.name}_from_{way}"] = Guard(back, -sign, {side: sign}, {side: 0, **self.back},
                                                           doc=f"{self.words}: back from {way} the window")
        self.output(lambda s: np.where(getattr(s, side) == 0, 0.0, 1.0))


class Table(Block):
    """A curve through points, flat before the first and after the last.

    A point that is not right of the one before it is none.

    It starts on the last piece, where the voltage of a converter is; the mode ``<block>_piece`` counts them.

    Parameters
    ----------
    u : str or callable
        Input.
    points : sequence of pairs of str or float
        Input and output at each point.
    beyond : mapping, optional
        What else changes when the input rises above the last point.
    """

    def __init__(self, u: Signal, *, points: Sequence[tuple[str | float, str | float]],
                 beyond: Mapping[str, Any] | None = None, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.points, self.beyond = u, points, dict(beyond or {})

    def expand(self) -> None:
        u, piece = self.input(self.u), f"{self.name}_piece"
        points = [(self.value(x), self.value(y)) for x, y in self.points]
        self.mode(piece, f"points below the input: {self.words}", len(points))
        for k, (x, _) in enumerate(points):
            before = points[k - 1][0] if k else None
            more = self.beyond if k + 1 == len(points) else {}
            self._parts[f"{self.name}_above_{k + 1}"] = Guard(
                _past(u, x, before), 1, {piece: k}, {piece: k + 1, **more},
                doc=f"{self.name}: above point {k + 1}", settles=True)
            self.change(f"below_{k + 1}", _past(u, x, before), -1, piece, k + 1, k, f"{self.name}: below point {k + 1}")

        def output(s: Any) -> Any:
            at, value = getattr(s, piece), points[0][1](s)
            for k, ((x1, y1), (x2, y2)) in enumerate(pairwise(points), 1):
                there = np.where(x2(s) > x1(s), x2(s) - x1(s), 1.0)
                inside = y1(s) + np.where(x2(s) > x1(s), (y2(s) - y1(s)) * (u(s) - x1(s)) / there, 0.0)
                value = np.where(at == k, inside, np.where(at > k, y2(s), value))
            return value

        self.output(output)


class After(Block):
    """1 for a time after it was started, by a guard with :meth:`starts` among its changes; 0 otherwise.

    Parameters
    ----------
    time : str, float or callable
        How long (s); none where it is not positive.
    rest : str
        A parameter that is zero: the clock at t0.
    """

    def __init__(self, *, time: Signal, rest: str, doc: str = ""):
        super().__init__("", doc)
        self.time, self.rest = time, rest

    @staticmethod
    def starts(name: str, time: Callable[[Any], Any]) -> dict[str, Any]:
        """What starts the block of that name, which lasts so long."""
        return {f"{name}_on": lambda s: np.where(time(s) > 0, 1.0, 0.0), f"{name}_clock": 0.0}

    def expand(self) -> None:
        time, on, clock = self.reader(self.time, "time", f"how long: {self.words}"), f"{self.name}_on", (
            f"{self.name}_clock")
        self.mode(on, f"1 while it lasts: {self.words}")
        self.state(clock, lambda s: np.where(getattr(s, on) == 1, 1.0, 0.0), start_at=self.rest,
                   doc=f"{self.words}: seconds that have passed")
        self.change("ends", lambda s: getattr(s, clock) - time(s), 1, on, 1, 0, f"{self.words}: it ends",
                    settles=False)
        self.output(lambda s: np.where(getattr(s, on) == 1, 1.0, 0.0))


def _past(u: Callable[[Any], Any], x: Callable[[Any], Any], before: Callable[[Any], Any] | None
          ) -> Callable[[Any], Any]:
    if before is None:
        return _less(u, x)
    return lambda s: np.where(x(s) > before(s), u(s) - x(s), -1.0)


def _less(u: Callable[[Any], Any], x: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda s: u(s) - x(s)


def _late(past: Callable[[Any], Any], sign: int, left: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What ends an excess of that sign, and not before `left` is positive."""
    return lambda s: sign * np.maximum(sign * past(s), -left(s))
