"""Blocks of control diagrams for devices: a library like any other, made of ``gridcore.contract.Block``."""

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
    "PI", "PID", "Curve", "Deadband", "HighGate", "Integrator", "Lag", "LeadLag", "Limit", "LowGate", "RateLimitedLag",
    "SecondOrderLag", "Washout",
]
