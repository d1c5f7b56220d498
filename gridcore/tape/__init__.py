"""The tape of a run: points, typed records of all that led from one to the next, and where states are kept.

Imports from ``case`` and what is left of it.
"""

from .checkpoints import AUTO, SEGMENT, Checkpoint, InMemory, Recomputed, States, states
from .grid import STANDARD, Spacing, finest, grid, span
from .records import BLOCK, GRID, Arm, Cancel, Clock, Method, Record, Records, Resolve, Settings, Step, Switch, Tape

__all__ = ["AUTO", "BLOCK", "GRID", "SEGMENT", "STANDARD", "Arm", "Cancel", "Checkpoint", "Clock", "InMemory", "Method",
           "Recomputed", "Record", "Records", "Resolve", "Settings", "Spacing", "States", "Step", "Switch", "Tape",
           "finest", "grid", "span", "states"]
