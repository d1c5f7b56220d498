"""Cases as data: records, validation, units, files, gridcore's own format, and what can happen in a study.

Imports from ``contract`` and what is left of it. Nothing in a case is ever executed.
"""

from .disturbances import BranchTrip, BusFault, ParameterStep, Ramp, Trip
from .files import load_case, save_case
from .native import grouped, headings, named, set_heading, unwritable
from .records import Case
from .units import Base, convert
from .validation import Instance, ValidCase, validate, validate_again

__all__ = [
    "Base", "BranchTrip", "BusFault", "Case", "Instance", "ParameterStep", "Ramp", "Trip", "ValidCase",
    "convert", "grouped", "headings", "load_case", "named", "save_case", "set_heading", "unwritable", "validate",
    "validate_again",
]
