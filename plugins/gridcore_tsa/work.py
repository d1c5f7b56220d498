"""What the solution strategies are compared by: how often they do what, and how many operations that takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gridcore.equations import Batch, Workspace
    from gridcore.linear import Factors

COUNTERS = ("steps", "newton_iterations", "jacobians", "factorisations", "solves", "right_hand_sides", "direct_solves",
            "iterative_solves", "iterations", "inner_solves")


class Work:
    """Counters of a run with sensitivities, and its floating-point operations.

    Attributes
    ----------
    counters : Counter
        ``steps``; ``jacobians`` evaluated; ``factorisations``; ``solves``: forward and backward
        substitutions, each of one right-hand side; ``right_hand_sides`` formed, of the step's equations or
        of the sensitivities of one parameter; ``direct_solves`` and ``iterative_solves`` of the sensitivities
        at a step or a switch, and of the latter the ``iterations`` and, of a staggered strategy, how many of the
        ``solves`` were theirs (``inner_solves``); ``newton_iterations``.
    operations : float
        Additions, multiplications and elementary functions, each counted as one.
    """

    def __init__(self, ws: Workspace, lu: Factors):
        self._lu = lu
        linear, constant = 2 * len(ws.equations.linear_entries), 4 * ws.n
        self.counters: Counter[str] = Counter()
        self.operations = 0.0
        self._residual = _evaluations(ws.equations.rhs) + linear + constant
        self._matrix = _evaluations(ws.equations.jac) + 2 * len(ws.indices)
        self._solve = self._solved = 0

    def residual(self, count: int = 1) -> None:
        """The equations of a step were evaluated."""
        self.counters["right_hand_sides"] += count
        self.operations += count * self._residual

    def jacobian(self) -> None:
        """F_X was evaluated."""
        self.counters["jacobians"] += 1
        self.operations += self._matrix

    def factor(self) -> None:
        """A matrix was factored."""
        self._settle()
        operations, self._solve = self._lu.operations()
        self.counters["factorisations"] += 1
        self.operations += operations

    def multiply(self, entries: int, count: int) -> None:
        """A matrix with so many entries was multiplied with vectors."""
        self.operations += 2 * entries * count

    def _settle(self) -> None:
        """Count what was solved since the last factorisation."""
        made, self._solved = self._lu.solves - self._solved, self._lu.solves
        self.counters["solves"] += made
        self.operations += made * self._solve

    def table(self) -> dict[str, float]:
        """All counters, and the operations in Mflop."""
        self._settle()
        return {**{name: self.counters[name] for name in COUNTERS}, "mflop": self.operations / 1e6}


def _evaluations(batches: Iterable[Batch]) -> int:
    """Operations of kernels: CasADi's instructions, but for those that read an input or write an output."""
    return sum(b.count * (b.function.n_instructions() - b.function.nnz_in() - b.function.nnz_out()) for b in batches)
