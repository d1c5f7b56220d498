"""What an author declares: devices, nodes and ports, blocks, limits; and what their functions see.

Imports from ``registry`` and what is left of it.
"""

from .blocks import Block, Limits, Signal
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
    PerUnit,
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

__all__ = ["GLOBALS", "REQUIRED", "Algebraic", "Block", "Bus", "Declarations", "Device", "Field", "Guard", "Input",
           "Limits", "Load", "Mode", "Node", "Param", "Path", "PerUnit", "Port", "Quantity", "Reached", "Record",
           "Reference", "Scope", "Setpoint", "Shape", "Signal", "Source", "State", "Timer", "bound_of", "guard",
           "kind_of", "plural", "quantity", "timer"]
