"""Linear systems: factors and solvers behind one interface, matrices of a fixed pattern, Newton's iteration."""

from .newton import Newton

__all__ = ["Newton"]
