"""What a run of the oracle comes to: signals along it, and objectives, on complex numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from equations import Equations
from rules import ThetaRule, TrBdf2Rule

from gridcore.sensitivity import Integral, Objective, Sampled, Terminal


class Results:
    """Reads what :class:`oracle.Oracle` has stored."""

    e: Equations
    rule: ThetaRule | TrBdf2Rule
    t: list[np.ndarray]
    points: list[tuple[np.ndarray, dict]]
    steps: list[int]

    @property
    def X(self) -> np.ndarray:
        """(points, n) the trajectory."""
        return np.array([Z[: self.e.n, 0].real for Z, _ in self.points])

    def signal(self, function: Callable[[Any], Any]) -> np.ndarray:
        """(points, columns) complex: a function of named quantities along the run."""
        e, keep = self.e, self.e.mode
        out = []
        for (Z, e.mode), t in zip(self.points, self.t):
            class Named:
                def __getitem__(_, key: tuple[str, str]) -> np.ndarray:
                    device, name = key
                    group = next(g for g in e.groups if device in g.members)
                    member = group.members.index(device)
                    return e.values(group, name, lambda scope: [scope.value((), name)], Z, t, member)[0][0]  # noqa: B023

            out.append(np.broadcast_to(function(Named()), t.shape))
        e.mode = keep
        return np.array(out)

    def values(self, objectives: Sequence[Objective]) -> np.ndarray:
        """(objectives, columns) complex."""
        return np.array([sum(factor * self._term(term) for factor, term in o.terms()) for o in objectives])

    def _term(self, term: Any) -> np.ndarray:
        r, steps = self.signal(term.function), set(self.steps)
        if isinstance(term, Terminal):
            return r[-1]
        if isinstance(term, Integral):
            return sum(self.rule.integral(self.t, steps, k, r) for k in self.steps)
        assert isinstance(term, Sampled)
        total = np.zeros(r.shape[1], dtype=complex)
        data, weights = (np.broadcast_to(np.asarray(v, dtype=float), np.shape(term.times))
                         for v in (term.data, term.factors))
        for time, value, weight in zip(term.times, data, weights):
            k = next(k for k in self.steps if self.t[k + 1][0].real >= time and
                     (self.t[k + 1] - self.t[k])[0].real > 0)
            total += weight * (self.rule.sample(self.t, steps, k, r, time) - value) ** 2
        return total
