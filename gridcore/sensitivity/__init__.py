"""Derivatives of what was simulated: the adjoint, objectives, jump rules, finite differences.

It may import all stages up to integration. It offers objectives, and what a new kind of them is made of:
:class:`Objective` is the contract, :class:`Pointwise` the base of those of a function of named quantities.
"""

from .adjoint import ReverseSweep, adjoint
from .finite_differences import differences
from .jump_rules import Continuous, Discrete
from .objective import (
    At,
    Integral,
    Objective,
    Partials,
    Pointwise,
    Sampled,
    Sum,
    Terminal,
    Traced,
    Weights,
    evaluate,
    joint_function,
    trace,
)
from .objective_files import load_objectives
from .operators import Replay, ResolveOperator, carried_parameters
from .quadrature import Points, Sampling, Taken
from .request import Wanted, replayable, table, unit_of, warn_of_coincidence

__all__ = [
    "At", "Continuous", "Discrete", "Integral", "Objective", "Partials", "Points", "Pointwise", "Replay",
    "ResolveOperator", "ReverseSweep", "Sampled", "Sampling", "Sum", "Taken", "Terminal", "Traced", "Wanted", "Weights",
    "adjoint", "carried_parameters", "differences", "evaluate", "joint_function", "load_objectives", "replayable",
    "table", "trace", "unit_of", "warn_of_coincidence",
]
