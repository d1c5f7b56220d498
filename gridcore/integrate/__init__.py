"""Time integration: the driver of a run and its events, what an integrator is, and the theta method.

Imports from everything to its left, ``results`` the last of them.
"""

from .base import Advance, Operator, StepOperator, Stepper, made_by, new_stepper
from .driver import Driver
from .linearised import Linearised, Point
from .retrace import retrace
from .simulate import simulate
from .theta.operator import ThetaOperator
from .theta.predictor import weights
from .theta.step import Theta

__all__ = [
    "Advance", "Driver", "Linearised", "Operator", "Point", "StepOperator", "Stepper", "Theta", "ThetaOperator",
    "made_by", "new_stepper", "retrace", "simulate", "weights",
]
