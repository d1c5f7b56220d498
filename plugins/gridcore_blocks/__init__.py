"""Blocks of control diagrams for devices: a library like any other, of one's own, too, from :class:`Block`."""

from .block import Block, Limits, Signal
from .blocks import (
    PI,
    PID,
    Curve,
    Deadband,
    HighGate,
    Integrator,
    Lag,
    LeadLag,
    Limit,
    LowGate,
    RateLimitedLag,
    SecondOrderLag,
    Washout,
)

__all__ = [
    "PI", "PID", "Block", "Curve", "Deadband", "HighGate", "Integrator", "Lag", "LeadLag", "Limit", "Limits", "LowGate",
    "RateLimitedLag", "SecondOrderLag", "Signal", "Washout",
]
