"""Turning between the network's frame and one at an angle, or that of the voltage."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Quantity


def to_frame(re: Any, im: Any, angle: Any) -> tuple[Any, Any]:
    """``(re + j im) e^{-j angle}``: d and q in the frame whose d axis is at `angle`."""
    c, s = np.cos(angle), np.sin(angle)
    return re * c + im * s, im * c - re * s


def from_frame(d: Any, q: Any, angle: Any) -> tuple[Any, Any]:
    """``(d + j q) e^{j angle}``: real and imaginary part in the network's frame."""
    c, s = np.cos(angle), np.sin(angle)
    return d * c - q * s, d * s + q * c


def beside_voltage(bus: Any, active: Any, reactive: Any) -> tuple[Any, Any]:
    """Current with an active part in phase with the voltage, and a reactive one that delivers where it is positive."""
    return (active * bus.Vr + reactive * bus.Vi) / bus.Vm, (active * bus.Vi - reactive * bus.Vr) / bus.Vm


def component(re: str, im: str, index: int, doc: str) -> Quantity:
    """Component d (0) or q (1) of a phasor of the converter in the frame at the angle of its control."""
    return Quantity("pu", lambda s, converter: to_frame(getattr(converter, re), getattr(converter, im), s.angle)[index],
                    doc)
