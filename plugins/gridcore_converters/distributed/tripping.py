"""Which part of many small converters goes on while the voltage is too low or too high, and which comes back."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Guard, Mode, State
from gridcore_blocks import Block, Limit

WORSE = 1e-9  # pu: where the voltage turns back it is as bad as it was, but for round-off


class Held(Limit):
    """A limit that its input is beyond at t0, upwards (1) or downwards (-1)."""

    def __init__(self, u: str, *, limits: tuple[str, str], initial: int, doc: str):
        super().__init__(u, limits=limits, settles=True, doc=doc)
        self.initial = initial

    def expand(self) -> None:
        self.clamp(self.input(self.u), self.limits, settles=True, initial=self.initial)


class PartialTrip(Block):
    """The part that is connected, below nominal voltage (``"l"``) or above it (``"h"``), of DER_A. EPRI 3002015320.

    It falls from one at the voltage v1 to zero at v0, and follows the measured voltage Vf both ways. Once Vf has been
    beyond v1 for tv1, of what the worst voltage since then tripped only the part Vrfrac comes back; once it has been
    beyond v0 for tv0, nothing does.
    """

    def __init__(self, letter: str, doc: str):
        super().__init__("pu", doc)
        self.letter, self.side = letter, 1 if letter == "h" else -1

    def expand(self) -> None:
        name, side = self.name, self.side
        v0, v1 = (self.value(f"v{self.letter}{k}") for k in (0, 1))
        part, lost, worst = f"{name}_part", f"{name}_lost", f"{name}_worst"
        bounds = (f"v{self.letter}0", f"v{self.letter}1")
        held = self.block("held", Held("Vf", limits=bounds if side < 0 else bounds[::-1], initial=-side,
                                       doc=f"voltage between both thresholds: {self.doc}"))

        def beyond(threshold: int) -> Any:
            """Above zero beyond v1 (1), or v0 (2), which the events of the limit have found."""
            return lambda s: np.where(s.VtripFlag > 0.5, 1.5 + side * getattr(s, f"{held}_limit") - threshold, -1.0)

        def falls(s: Any) -> Any:
            """While 1, the worst voltage is the present one."""
            return np.where(getattr(s, part) == 0, s.Vf - getattr(s, worst),
                            np.where(getattr(s, part) == 1, s.Vf_rate, 0.0))

        self._parts |= {
            part: Mode(0, doc=f"0 all may come back, 1 the worst voltage is now, 2 it was before: {self.doc}"),
            lost: Mode(0, doc=f"1 once nothing comes back: {self.doc}"),
            worst: State("pu", init=1.0, T="Trv", rate=falls, doc=f"worst voltage since a part was lost: {self.doc}"),
            f"{name}_trips": Guard(beyond(1), 1, {part: 0}, {
                part: lambda s: np.where(side * s.Vf_rate > 0, 1.0, 2.0), worst: lambda s: s.Vf}, f"tv{self.letter}1",
                doc=f"a part is lost: {self.doc}"),
            f"{name}_turns": Guard(lambda s: s.Vf_rate, -side, {part: 1}, {part: 2, worst: lambda s: s.Vf},
                                   doc=f"the voltage turns back: {self.doc}"),
            f"{name}_deepens": Guard(lambda s: side * (s.Vf - getattr(s, worst)) - WORSE, 1, {part: 2}, {part: 1},
                                     doc=f"the voltage is worse than before: {self.doc}"),
            f"{name}_trips_all": Guard(beyond(2), 1, {lost: 0}, {lost: 1}, f"tv{self.letter}0",
                                       doc=f"all is lost: {self.doc}")}
        nearer = np.maximum if side < 0 else np.minimum

        def output(s: Any) -> Any:
            v, least = getattr(s, held), nearer(getattr(s, worst), v0(s))
            back = np.where(getattr(s, part) == 2, least + s.Vrfrac * (v - least), v)
            return np.where(np.logical_and(s.VtripFlag > 0.5, getattr(s, lost) == 0), (back - v0(s)) / (v1(s) - v0(s)),
                            1.0 - getattr(s, lost))

        self.output(output)
