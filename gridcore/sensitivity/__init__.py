"""Derivatives of what was simulated: the adjoint, objectives, jump rules.

Imports from ``integrate`` and what is left of it. It offers objectives, and what a new kind of them is made of:
:class:`Objective` is the contract, :class:`Pointwise` the base of those of a function of named quantities.
"""

from .adjoint import ReverseSweep, adjoint
from .coincidence import CoincidenceWarning, warn_of_coincidence
from .jump_rules import Discrete
from .objective import At, Evaluation, Integral, Objective, Partials, Pointwise, Sampled, Sum, Terminal, evaluate
from .operators import Replay, ResolveOperator, carried_parameters, crossing
from .quadrature import Points, Sampling, Taken
from .request import Request, objectives_of, products, replayable, table, unit_of
from .traced import Traced, joint_function, trace

__all__ = ["At", "CoincidenceWarning", "Discrete", "Evaluation", "Integral", "Objective", "Partials", "Points",
           "Pointwise", "Replay", "Request", "ResolveOperator", "ReverseSweep", "Sampled", "Sampling", "Sum", "Taken",
           "Terminal", "Traced", "adjoint", "carried_parameters", "crossing", "evaluate", "joint_function",
           "objectives_of", "products", "replayable", "table", "trace", "unit_of", "warn_of_coincidence"]
