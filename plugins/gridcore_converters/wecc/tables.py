"""Limits of currents that depend on the voltage: the tables VDL1 and VDL2 of REEC_A, REEC_C and REEC_D."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from gridcore.contract import Param, PerUnit, quantity
from gridcore_blocks import LowGate

from .blocks import NEVER, Table
from .electrical import ElectricalControl


def point(kind: str, k: int) -> tuple[Param, Param]:
    """A point of a table: voltage and current."""
    words = {"q": "reactive", "p": "active"}[kind]
    return (Param(PerUnit("kV"), 0.0, doc=f"voltage of point {k} of the limit of the {words} current"),
            Param(PerUnit("kA"), 0.0, ge=0, doc=f"limit of the {words} current at point {k}"))


def points(kind: str, count: int) -> tuple[tuple[str, str], ...]:
    """Names of the points of a table."""
    return tuple((f"V{kind}{k}", f"I{kind}{k}") for k in range(1, count + 1))


def record(count: int) -> tuple[str, ...]:
    """The tables in the order of a record."""
    return tuple(name for kind in "qp" for pair in points(kind, count) for name in pair)


class LimitsByVoltage(ElectricalControl):
    """Base of the controls whose largest currents are what a table of Vf says, or less if the other leaves less.

    A table stops before the first point whose voltage does not rise; one of zeros is none.
    """

    count: ClassVar[int] = 4
    Vq1, Iq1 = point("q", 1)
    Vq2, Iq2 = point("q", 2)
    Vq3, Iq3 = point("q", 3)
    Vq4, Iq4 = point("q", 4)
    Vp1, Ip1 = point("p", 1)
    Vp2, Ip2 = point("p", 2)
    Vp3, Ip3 = point("p", 3)
    Vp4, Ip4 = point("p", 4)
    VDL1 = Table("Vf", points=points("q", 4), doc="limit of the reactive current by the voltage")
    VDL2 = Table("Vf", points=points("p", 4), doc="limit of the active current by the voltage")
    Iqtop = LowGate(lambda s: np.where(is_given(s, "q"), s.VDL1, NEVER), "Iqleft", doc="limit of the reactive current")
    Iptop = LowGate(lambda s: np.where(is_given(s, "p"), s.VDL2, NEVER), "Ipleft", doc="limit of the active current")

    @quantity("pu", "upper limit of the reactive current")
    def Iqmax(s: Any) -> Any:
        return s.Iqtop

    @quantity("pu", "upper limit of the active current")
    def Ipmax(s: Any) -> Any:
        return s.Iptop

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        """Refuse limits out of order, and tables whose voltages rise again after they did not."""
        for kind in "qp":
            voltages = [values[voltage] for voltage, _ in points(kind, cls.count)]
            rises = [low < high for low, high in pairwise(voltages)]
            given = any(values[current] for _, current in points(kind, cls.count))
            if rises != sorted(rises, reverse=True) or (given and not rises[0]):
                return f"V{kind}1, V{kind}2, ... must rise, up to the last of those that are given"
        return super().check(values)


def is_given(s: Any, kind: str) -> Any:
    """Whether there is a table, for ``"q"`` or ``"p"``."""
    return getattr(s, f"V{kind}2") > getattr(s, f"V{kind}1")
