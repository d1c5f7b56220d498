"""Time integration: the driver of a run and its events, and what an integrator is.

Imports from ``results`` and what is left of it.
"""

from .base import Advance, Operator, StepOperator, Stepper, Stretched, made_by, new_stepper
from .control import TOLERANCES, stepper_on
from .driver import Driver
from .interpolants import Between, hermite, parabola
from .interrupts import Held
from .linearised import Linearised, Point
from .locate import Crossing
from .simulate import simulate

__all__ = ["TOLERANCES", "Advance", "Between", "Crossing", "Driver", "Held", "Linearised", "Operator", "Point",
           "StepOperator", "Stepper", "Stretched", "hermite", "made_by", "new_stepper", "parabola", "simulate",
           "stepper_on"]
