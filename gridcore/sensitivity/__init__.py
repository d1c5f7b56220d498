"""Derivatives of what was simulated: the adjoint, objectives, jump rules, finite differences.

It may import all stages up to integration. It offers objectives, and what a new kind of them is made of:
:class:`Objective` is the contract, :class:`Pointwise` the base of those of a function of named quantities.
"""

from .objective import At, Integral, Objective, Partials, Points, Pointwise, Sampled, Sum, Tally, Term, Terminal
from .quadrature import Sampling, Steps, Taken

__all__ = [
    "At", "Integral", "Objective", "Partials", "Points", "Pointwise", "Sampled", "Sampling", "Steps", "Sum", "Taken",
    "Tally", "Term", "Terminal",
]
