"""The tape of a run: points, typed records of all that led from one to the next, and where states are kept.

Imports from ``errors`` alone.
"""

from .records import GRID, Arm, Cancel, Clock, Method, Resolve, Step, Switch, Tape

__all__ = ["GRID", "Arm", "Cancel", "Clock", "Method", "Resolve", "Step", "Switch", "Tape"]
