"""A run seen by name: quantities, summary, tables and files.

Imports from ``tape`` and what is left of it.
"""

from .export import whole_file, write_dataset
from .rotors import Rotors, infinite_buses, rotor_devices, rotors
from .run import Event, Run, Stretch
from .signals import base_of, needed, patterns_of, recorded, select, signals
from .store import load_run
from .summary import describe_run, describe_system, layout

__all__ = [
    "Event", "Rotors", "Run", "Stretch", "base_of", "describe_run", "describe_system", "infinite_buses", "layout",
    "load_run", "needed", "patterns_of", "recorded", "rotor_devices", "rotors", "select", "signals", "whole_file",
    "write_dataset",
]
