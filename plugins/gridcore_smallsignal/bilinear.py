"""Second derivatives of the equations, as an eigenvalue needs them: the gradient of ``w^T F_X(Z) v`` in all of Z.

For each shape of device it is one kernel, traced and compiled like the equations themselves. Its inputs are gathered
from a longer buffer, ``[Z; Re w; Im w; Re v; Im v; 0]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from gridcore.equations import Batch, c_source, vector_function
from gridcore.equations.native import load
from gridcore.kept import KeptFor

if TYPE_CHECKING:
    from gridcore.equations import Group, Trace
    from gridcore.equilibrium import Equilibrium

_prepared: KeptFor[BilinearGradient] = KeptFor("bilinear")


class BilinearGradient:
    """The gradient of ``w^T F_X v`` in the entries of Z; made once for a system, for any point, w and v.

    Parameters
    ----------
    system : Equilibrium
    """

    def __init__(self, system: Equilibrium):
        self.n, self.size = system.n, system.layout.size
        made = [self._batch(system, group, trace) for group, trace in
                zip(system.layout.groups, system.traces, strict=True) if trace.rows]
        self.batches = [batch for batch in made if batch is not None]
        _, libraries = load([c_source([batch.function]) for batch in self.batches])
        for batch, library in zip(self.batches, libraries, strict=True):
            batch.bind(library)

    @classmethod
    def of(cls, system: Equilibrium) -> BilinearGradient:
        """The same, kept with the system."""
        return _prepared.get(system.system, (), lambda: cls(system))

    def evaluate(self, Z: np.ndarray, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The gradient at Z, (size,) complex.

        Parameters
        ----------
        Z : (size,) array
        w, v : (n,) complex arrays
            What multiplies the rows of F, and the columns of F_X.
        """
        buffer = np.concatenate([Z, w.real, w.imag, v.real, v.imag, [0.0]])
        out = np.zeros(2 * self.size + 1)
        for batch in self.batches:
            batch.add(buffer, out)
        return out[: self.size] + 1j * out[self.size: -1]

    def _batch(self, system: Equilibrium, group: Group, trace: Trace) -> Batch | None:
        rows, targets = ca.vertcat(*(e for _, e in trace.rows)), system.system.rows(group)
        places = {key: system.layout.gather(group, *key) for key in [*trace.symbols]}
        moving = [key for key, place in places.items() if (place < self.n).any()]
        if not moving:
            return None
        w, v = ca.SX.sym("w", rows.numel(), 2), ca.SX.sym("v", len(moving), 2)
        x, everything = ca.vertcat(*(trace.symbols[k] for k in moving)), ca.vertcat(*(trace.symbols[k] for k in places))
        along = ca.jtimes(rows, x, v)
        real = ca.dot(w[:, 0], along[:, 0]) - ca.dot(w[:, 1], along[:, 1])
        imaginary = ca.dot(w[:, 0], along[:, 1]) + ca.dot(w[:, 1], along[:, 0])
        slopes = [ca.gradient(part, everything) for part in (real, imaginary)]
        used = sorted({int(i) for slope in slopes for i in slope.sparsity().row()})
        if not used:
            return None
        function = vector_function("bilinear", [everything, ca.vec(w), ca.vec(v)],
                                   ca.vertcat(*(ca.densify(slope)[used] for slope in slopes)))
        own = np.stack(list(places.values()), axis=1)
        columns = np.stack([places[key] for key in moving], axis=1)
        nothing = self.size + 4 * self.n
        directions = [np.where(columns < self.n, self.size + (2 + part) * self.n + columns, nothing) for part in (0, 1)]
        gather = np.hstack([own, *(self.size + part * self.n + targets for part in (0, 1)), *directions])
        return Batch(function, gather, np.hstack([own[:, used], self.size + own[:, used]]))
