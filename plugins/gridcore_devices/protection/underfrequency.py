"""Under-frequency load shedding."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Mode, Param, guard

from .frequency import FrequencyRelay


class UnderFrequencyLoadShedding(FrequencyRelay):
    """One stage: disconnects a part of its load when the frequency has been too low for `delay`.

    The frequency is that of :class:`~gridcore_devices.protection.frequency.FrequencyRelay`. The part is disconnected
    once. Several stages on one load are several devices.
    """

    attaches = "load"
    naming = "UFLS_{load}"
    threshold = Param("Hz", gt=0, doc="frequency below which the stage acts")
    delay = Param("s", 0.0, ge=0, doc="time below the threshold before it acts")
    shed = Param("pu", gt=0, le=1, doc="part of the whole load that is disconnected")
    armed = Mode(1, doc="0 once it has acted")

    @guard("down", when={"armed": 1, "load.status": 1}, delay="delay",
           then={"load.k": lambda s, load: np.maximum(load.k - s.shed, 0.0), "armed": 0})
    def underfrequency(s: Any) -> Any:
        """under-frequency load shedding"""
        return s.frequency - s.threshold
