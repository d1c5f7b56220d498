"""Sparse linear systems: LU factors behind one contract, matrices of a fixed pattern, Newton's iteration.

Imports from ``equations`` and what is left of it. It offers the contract that a linear solver of one's own implements,
and the look-up of solvers by name.
"""

from ..numerics import EPS, EQUILIBRATED
from .base import Analysis, Compiled, Factors, LinearSolver, SingularMatrix, all_finite, equilibrate, products
from .fixed_pattern import Coefficients, Pattern
from .newton import GuardValue, Newton, tolerances
from .solvers import linear_solver

__all__ = ["EPS", "EQUILIBRATED", "Analysis", "Coefficients", "Compiled", "Factors", "GuardValue", "LinearSolver",
           "Newton", "Pattern", "SingularMatrix", "all_finite", "equilibrate", "linear_solver", "products",
           "tolerances"]
