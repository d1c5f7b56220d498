"""What measurements can tell of parameters, before anything is fitted: the scaled sensitivities.

R. Brun, P. Reichert, H. R. Künsch, Practical identifiability analysis of large environmental simulation models,
Water Resources Research 37(4), 2001: the measure ``delta_msqr`` and the collinearity index. Subset selection by QR
with column pivoting: G. H. Golub, C. F. Van Loan, Matrix Computations, section 5.5.7.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import qr

from gridcore.errors import GridcoreError
from gridcore_notebook import html
from gridcore_verbs.tables import Table

# Of normalised columns: a combination that moves the samples by less than this part of what its members do.
SINGULAR = 1e-5
# Above this, changes of one parameter can nearly be made up for by the others (Brun et al. take 10 to 15).
COLLINEAR = 15.0
_SHOWN = 0.05  # of a direction: what does less to the samples is left out in words
_NO_EFFECT = 1e-14  # of the longest column, or of the samples: a shorter one is round-off


class Unidentifiable(GridcoreError):
    """The measurements do not determine the parameters: names those, and the direction."""


class Identifiability:
    """What a set of samples tells of a set of parameters at one point.

    Parameters
    ----------
    names : sequence of str
    S : (samples, parameters) array
        Derivatives of the weighted residuals, times the scale of each parameter.
    scale : (parameters,) array
        The change of each parameter that counts as one.
    size : float
        The norm of the weighted samples, of which round-off is a part.

    Attributes
    ----------
    singular_values : (parameters,) array
        Of S, the largest first.
    directions : (parameters, parameters) array
        Rows: the right singular vectors, in scaled parameters.
    importance : (parameters,) array
        Root mean square of each column: by how much a change of one scale moves a sample.
    collinearity : float
        Of all of them together: one over the smallest singular value of the normalised columns. By this
        factor a change of one parameter is made up for by the others.
    order : (parameters,) int array
        The parameters in the order in which QR with pivoting takes them: each tells most of what those before it
        do not.
    """

    _repr_html_ = html

    def __init__(self, names: Sequence[str], S: np.ndarray, scale: np.ndarray, size: float = 0.0):
        self.names, self.S, self.scale = list(names), S, scale
        self._lengths = np.linalg.norm(S, axis=0)
        self._dead = self._lengths <= _NO_EFFECT * max(size, self._lengths.max(initial=0.0))
        _, s, self.directions = np.linalg.svd(S, full_matrices=len(S) < len(names))
        self.singular_values = np.concatenate([s, np.zeros(len(names) - len(s))])
        self.importance = np.sqrt((S**2).mean(axis=0))
        self.collinearity = self.collinearity_of(names)
        self.order: np.ndarray = qr(S, mode="economic", pivoting=True)[2]

    def _normalised(self, columns: Sequence[int]) -> np.ndarray:
        part = self.S[:, columns]
        lengths = np.linalg.norm(part, axis=0)
        return part / np.where(lengths > 0, lengths, 1.0)

    def collinearity_of(self, names: Sequence[str]) -> float:
        """The collinearity index of some of the parameters; infinite where the samples cannot tell them apart."""
        columns = [self.names.index(name) for name in names]
        if len(columns) > len(self.S):
            return np.inf
        smallest = np.linalg.svd(self._normalised(columns), compute_uv=False).min()
        return float(1 / smallest) if smallest > 0 else np.inf

    def subset(self, limit: float = COLLINEAR) -> list[str]:
        """Parameters that can be estimated together: taken in the order of `order` while the collinearity of those
        taken stays below `limit`; in the order of `names`.
        """
        taken: list[str] = []
        for j in self.order.tolist():
            if not self._dead[j] and self.collinearity_of([*taken, self.names[j]]) <= limit:
                taken.append(self.names[j])
        return [name for name in self.names if name in taken]

    def unidentifiable(self) -> list[str]:
        """In words, what the samples do not determine: one line for each direction; empty where all is well."""
        told = [f"{self.names[j]} moves no sample" for j in np.flatnonzero(self._dead).tolist()]
        alive = np.flatnonzero(~self._dead)
        if not len(alive):
            return told
        part = self._normalised(alive.tolist())
        _, s, V = np.linalg.svd(part, full_matrices=len(part) < len(alive))
        s = np.concatenate([s, np.zeros(len(alive) - len(s))])
        for row in np.flatnonzero(s < SINGULAR):
            direction = V[row] / self._lengths[alive]  # back from normalised columns to scales
            direction /= np.abs(direction).max() * np.sign(direction[np.argmax(np.abs(V[row]))])
            kept = [k for k in np.argsort(-np.abs(V[row]), kind="stable") if abs(V[row, k]) >= _SHOWN]
            change = ", ".join(f"{self.names[alive[k]]} by {direction[k] * self.scale[alive[k]]:+.4g}" for k in kept)
            told.append(f"changing {change} together moves no sample")
        return told

    def require(self) -> None:
        """Refuse a set of parameters that the samples do not determine.

        Raises
        ------
        Unidentifiable
        """
        told = self.unidentifiable()
        if told:
            rest = self.subset(1 / SINGULAR)
            advice = f"; what can be told apart: {', '.join(rest)}" if rest else ""
            raise Unidentifiable(f"the measurements do not determine the parameters: {'; '.join(told)}{advice}")

    def __repr__(self) -> str:
        return (f"<Identifiability of {len(self.names)} parameters by {len(self.S)} samples: collinearity "
                f"{self.collinearity:.4g}>")

    def table(self) -> Table:
        """One row a parameter, in the order in which QR takes them."""
        return Table({
            "parameter": [self.names[j] for j in self.order],
            "change": [f"{self.scale[j]:.4g}" for j in self.order],
            "moves a sample by": [f"{self.importance[j]:.3e}" for j in self.order],
            "collinearity so far": [f"{self.collinearity_of([self.names[i] for i in self.order[: k + 1]]):.4g}"
                                    for k in range(len(self.order))]})
