"""Under-voltage load shedding."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Device, Mode, Param, PerUnit, State, guard


class UnderVoltageLoadShedding(Device):
    """One stage: disconnects a part of its load when the voltage has been too low for `delay`.

    C. W. Taylor, *Power System Voltage Stability* (1994), section 7.4. The voltage is measured through
    a lag ``Tv``. The part is disconnected once; several stages on one load are several devices.
    """

    attaches = "load"
    naming = "UVLS_{load}"
    threshold = Param(PerUnit("kV"), gt=0, doc="voltage below which the stage acts")
    delay = Param("s", 0.0, ge=0, doc="time below the threshold before it acts")
    shed = Param("pu", gt=0, le=1, doc="part of the whole load that is disconnected")
    Tv = Param("s", 0.02, gt=0, doc="time constant of the measurement")
    V = State(PerUnit("kV"), init=1.0, T="Tv", doc="voltage, measured")
    armed = Mode(1, doc="0 once it has acted")

    def rates(s: Any, bus: Any) -> Any:
        return bus.Vm - s.V

    @guard("down", when={"armed": 1, "load.status": 1}, delay="delay",
           then={"load.k": lambda s, load: np.maximum(load.k - s.shed, 0.0), "armed": 0})
    def undervoltage(s: Any) -> Any:
        """under-voltage load shedding"""
        return s.V - s.threshold

    def start(s: Any, bus: Any) -> Any:
        return {"V": bus.Vm}
