"""What exciters with a PI or PID regulator share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def resting(output: Any, KP: Any, KI: Any) -> tuple[Any, Any]:
    """Integrator and input of a regulator that rests with this output; without an integral gain it needs an input."""
    return np.where(KI > 0, output, 0.0), np.where(KI > 0, 0.0, output / np.where(KP > 0, KP, 1.0))


def check_gains(values: Mapping[str, float], *pairs: tuple[str, str]) -> str | None:
    """What is wrong with pairs of proportional and integral gains, in words."""
    return next((f"{KP} and {KI} are both zero: nothing is regulated" for KP, KI in pairs
                 if not (values[KP] > 0 or values[KI] > 0)), None)
