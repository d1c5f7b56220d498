"""The tape of a run: points, typed records of all that led from one to the next, and where states are kept.

Imports from ``case`` and what is left of it.
"""

from .checkpoints import AUTO, Checkpoint, InMemory, Recomputed, States, segment_length, states
from .grid import GRID, STANDARD, Spacing, finest, grid, parts_of, span
from .records import BLOCK, Arm, Cancel, Clock, Method, Record, Records, Resolve, Settings, Step, Steps, Switch, Tape

__all__ = ["AUTO", "BLOCK", "GRID", "STANDARD", "Arm", "Cancel", "Checkpoint", "Clock", "InMemory", "Method",
           "Recomputed", "Record", "Records", "Resolve", "Settings", "Spacing", "States", "Step", "Steps", "Switch",
           "Tape", "finest", "grid", "parts_of", "segment_length", "span", "states"]
