"""A linear system that switches between two matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Device, Mode, Param, State, guard


class SwitchedLinear(Device):
    """``dx/dt = A1 x`` or ``A2 x``, switching on two lines through the origin.

    Hiskens & Pai, "Trajectory sensitivity analysis of hybrid systems", IEEE Trans. Circuits Syst. I 47
    (2000), example of section V: A1 gives way to A2 where ``x2 = p1 x1``, A2 to A1 where
    ``x2 = p2 x1``. The defaults are the numbers there.
    """

    p1 = Param("", 2.75, doc="slope of the line on which A1 ends")
    p2 = Param("", 0.36, doc="slope of the line on which A2 ends")
    x10 = Param("", 0.0, doc="x1 at t0")
    x20 = Param("", 1.0, doc="x2 at t0")
    a11 = Param("1/s", 1.0, doc="entry of A1")
    a12 = Param("1/s", -100.0, doc="entry of A1")
    a21 = Param("1/s", 10.0, doc="entry of A1")
    a22 = Param("1/s", 1.0, doc="entry of A1")
    b11 = Param("1/s", 1.0, doc="entry of A2")
    b12 = Param("1/s", 10.0, doc="entry of A2")
    b21 = Param("1/s", -100.0, doc="entry of A2")
    b22 = Param("1/s", 1.0, doc="entry of A2")
    x1 = State("", start_at="x10", doc="first state")
    x2 = State("", start_at="x20", doc="second state")
    matrix = Mode(1, doc="1 under A1, 2 under A2")

    def rates(s: Any) -> Any:
        first = s.matrix == 1
        return (np.where(first, s.a11 * s.x1 + s.a12 * s.x2, s.b11 * s.x1 + s.b12 * s.x2),
                np.where(first, s.a21 * s.x1 + s.a22 * s.x2, s.b21 * s.x1 + s.b22 * s.x2))

    @guard("both", when={"matrix": 1}, then={"matrix": 2})
    def to_second(s: Any) -> Any:
        """A1 to A2"""
        return s.x2 - s.p1 * s.x1

    @guard("both", when={"matrix": 2}, then={"matrix": 1})
    def to_first(s: Any) -> Any:
        """A2 to A1"""
        return s.x2 - s.p2 * s.x1
