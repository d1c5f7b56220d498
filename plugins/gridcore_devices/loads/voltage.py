"""How load power depends on voltage, and the current that a power means."""

from __future__ import annotations

from typing import Any

import numpy as np


def power_law(Vm: Any, V0: Any, exponent: Any, Vlow: Any) -> Any:
    """``(Vm / V0)^exponent`` above the voltage `Vlow`; below, the constant impedance that meets it there.

    A load that draws power at vanishing voltage has no solution, so below `Vlow` the factor is
    ``(Vlow / V0)^exponent (Vm / Vlow)^2``: Kundur (1994), section 7.1.1.
    """
    held = np.maximum(Vm, Vlow)
    return (held / V0) ** exponent * (Vm / held) ** 2


def drawn_current(P: Any, Q: Any, bus: Any) -> tuple[Any, Any]:
    """Current *injected* by a load that draws ``P + j Q``: ``-conj((P + j Q) / V)``."""
    return -(P * bus.Vr + Q * bus.Vi) / bus.V2, -(P * bus.Vi - Q * bus.Vr) / bus.V2
