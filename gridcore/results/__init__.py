"""A run seen by name: quantities, tables and files.

Imports from ``tape`` and what is left of it.
"""

from ..case import patterns_of
from ..whole import whole_file
from .quantities import base_of, needed, recorded, select
from .run import Event, Points, Run, Stretch, check_run, load_run

__all__ = ["Event", "Points", "Run", "Stretch", "base_of", "check_run", "load_run", "needed", "patterns_of", "recorded",
           "select", "whole_file"]
