"""A signal in time: a node without any network, whose samples are devices that attach to it.

The value of the node is the sum of its samples, each with the weight that linear interpolation gives it, a hat from the
sample before to the one after. So all samples of a system are one compiled kernel, each is a parameter that results can
be differentiated by, and a case holds a recording as it holds anything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Field, Mode, Node, Param, Port, timer

FAR = 1e30  # s: where the neighbour of the first and of the last sample is, whose weight is one on that side


class TimeSeries(Node):
    """A signal in time, linear between its samples; it keeps the first value before them, and the last after them."""

    naming = "SIGNAL{id}"
    kind = "signal"
    file = Field("", doc="the recording that its samples are from, beside the file of the case")
    column = Field("", doc="the channel of the recording")
    value = Algebraic("", doc="value now, in the unit of the recording")


class Sample(Device):
    """One sample of a signal. No step ends at it: its corner costs what is of second order in the step."""

    attaches = Port("signal", TimeSeries)
    naming = "{signal}_sample"
    source = True
    t = Param("s", doc="time of the sample")
    v = Param("", doc="value of the sample, in the unit of the recording")
    before = Param("s", -FAR, doc="time of the sample before")
    after = Param("s", FAR, doc="time of the sample after")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return between(values)

    def flows(s: Any, signal: Any) -> Any:
        return np.where(s.time < s.t, rising(s), falling(s)) * (s.v - signal.value)


class Corner(Device):
    """One sample of a signal at which a step ends, and the signal may jump."""

    attaches = Port("signal", TimeSeries)
    naming = "{signal}_sample"
    source = True
    t = Param("s", gt=0, doc="time of the sample")
    v = Param("", doc="value of the sample, in the unit of the recording")
    jump = Param("", 0.0, doc="by how much the signal jumps there")
    before = Param("s", -FAR, doc="time of the sample before")
    after = Param("s", FAR, doc="time of the sample after")
    passed = Mode(0, doc="1 from the time of the sample on")
    passes = timer("t", then={"passed": 1}, doc="sample")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return between(values)

    def flows(s: Any, signal: Any) -> Any:
        return np.where(s.passed == 1, falling(s) * (s.v + s.jump - signal.value), rising(s) * (s.v - signal.value))


def between(values: Mapping[str, float]) -> str | None:
    """What is wrong with the times of a sample and its neighbours."""
    before, t, after = (values[name] for name in ("before", "t", "after"))
    return None if before < t < after else f"before = {before:g} and after = {after:g} must be on either side of t"


def rising(s: Any) -> Any:
    """The weight of a sample before its time."""
    return np.where(s.time > s.before, (s.time - s.before) / (s.t - s.before), 0.0)


def falling(s: Any) -> Any:
    """The weight of a sample after its time."""
    return np.where(s.time < s.after, (s.after - s.time) / (s.after - s.t), 0.0)
