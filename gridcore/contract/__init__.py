"""What an author declares: devices, nodes and ports, blocks, limits; and what their functions see.

Imports from ``registry`` and what is left of it.
"""

from .blocks import (
    PI,
    Block,
    Deadband,
    Lag,
    LeadLag,
    Limit,
    LowGate,
    RateLimitedLag,
    SecondOrderLag,
    Signal,
    Washout,
)
from .device import (
    REQUIRED,
    Algebraic,
    Declarations,
    Device,
    Field,
    Guard,
    Input,
    Mode,
    Param,
    Quantity,
    Reference,
    Setpoint,
    State,
    Timer,
    guard,
    quantity,
    timer,
)
from .injectors import Load, Source
from .limits import Reached, bound_of
from .node import Bus, Node, Port, plural
from .record import Record
from .scope import GLOBALS, Path, Scope, Shape, kind_of

__all__ = [
    "GLOBALS", "PI", "REQUIRED", "Algebraic", "Block", "Bus", "Deadband", "Declarations", "Device",
    "Field", "Guard", "Input", "Lag", "LeadLag", "Limit", "Load", "LowGate", "Mode", "Node", "Param", "Path",
    "Port", "Quantity", "RateLimitedLag", "Reached", "Record", "Reference", "Scope", "SecondOrderLag", "Setpoint",
    "Shape", "Signal", "Source", "State", "Timer", "Washout", "bound_of", "guard", "kind_of", "plural", "quantity",
    "timer",
]
