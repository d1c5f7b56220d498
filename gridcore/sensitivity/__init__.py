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
    Points,
    Pointwise,
    Sampled,
    Sum,
    Tally,
    Term,
    Terminal,
    Traced,
    Weights,
    evaluate,
    functions,
    trace,
)
from .operators import Replay, ResolveOperator, carried_parameters
from .quadrature import Sampling, Steps, Taken
from .request import Wanted, products, replayable, table, unit_of, warn_of_coincidence

__all__ = [
    "At", "Continuous", "Discrete", "Integral", "Objective", "Partials", "Points", "Pointwise", "Replay",
    "ResolveOperator", "ReverseSweep", "Sampled", "Sampling", "Steps", "Sum", "Taken", "Tally", "Term", "Terminal",
    "Traced", "Wanted", "Weights", "adjoint", "carried_parameters", "differences", "evaluate", "functions",
    "products", "replayable", "table", "trace", "unit_of", "warn_of_coincidence",
]
