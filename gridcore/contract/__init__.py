"""What an author declares: devices, nodes and ports, blocks, limits; and what their functions see.

Imports from ``registry`` and what is left of it.
"""

from .device import REQUIRED, Algebraic, Composite, Declaration, Declarations, Device, Field, Guard, Input, Mode, Param
from .device import PerUnit, Quantity, Reference, Setpoint, State, Timer, guard, quantity, timer
from .injectors import Load, Source
from .limits import Bound, Reached, bound_of, labels, sides
from .node import Bus, Node, Port, plural
from .record import Record
from .scope import GLOBALS, Path, Scope, Shape, kind_of

__all__ = ["GLOBALS", "REQUIRED", "Algebraic", "Bound", "Bus", "Composite", "Declaration", "Declarations", "Device",
           "Field", "Guard", "Input", "Load", "Mode", "Node", "Param", "Path", "PerUnit", "Port", "Quantity",
           "Reached", "Record", "Reference", "Scope", "Setpoint", "Shape", "Source", "State", "Timer", "bound_of",
           "guard", "kind_of", "labels", "plural", "quantity", "sides", "timer"]
