"""A run seen by name: quantities, tables and files.

Imports from ``tape`` and what is left of it.
"""

from .export import whole_file, write_dataset
from .run import Event, Run, Stretch
from .signals import base_of, needed, recorded, select, signals
from .store import load_run

__all__ = [
    "Event", "Run", "Stretch", "base_of", "load_run", "needed", "recorded", "select", "signals", "whole_file",
    "write_dataset",
]
