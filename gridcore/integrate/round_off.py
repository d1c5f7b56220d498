"""How closely the guards of a system can be known: what round-off leaves of a value that is zero.

At the solution of ``R(X) = 0``, whose terms are of the size ``|A| |X|`` with ``A = -R_X``, arithmetic leaves an error
of X within ``eps |A⁻¹| |A| |X|`` (R. D. Skeel, J. ACM 26(3), 1979), and one of a guard within

    eps (|w|ᵀ |A| |X| + |γ_X| |X| + |γ_t t|),    Aᵀ w = γ_Xᵀ.

Behind a gain of 1000, in a signal of size 1, that is a thousand times what the guard's own terms show: w knows of it,
also where the gain is in an algebraic equation far away.
"""

from __future__ import annotations

import numpy as np

from .. import numerics
from ..linear import Newton
from ..system import System


def visible(newton: Newton, system: System, guards: np.ndarray, values: np.ndarray,
            relative: bool = False, anew: bool = False) -> np.ndarray:
    """Whether values of guards at a solution, or near it, are more than round-off, (k,) bool.

    The workspace of `newton` holds equations that are solved: of a step, or of the algebraic variables; `anew`, by
    factors of theirs. `relative`: of both ends of a step, which share the error of its start, but for the last
    correction. Else that counts, too: X is known to a part of ``scale + |X|``; GUARD_LEAST of the scale is round-off.
    """
    ws, size = newton.ws, np.abs(values)
    rows = [system.guard_row(int(guard))(ws.Z) for guard in guards]
    own = [np.abs(gradient) @ (ws.scale[columns] + np.abs(ws.X[columns])) for columns, gradient, _ in rows]
    small = size <= numerics.GUARD_LARGE * np.maximum(1.0, own)
    if small.any():
        small[small] = size[small] <= round_off(newton, system, guards[small], relative, anew, size[small])
    return ~small


def round_off(newton: Newton, system: System, guards: np.ndarray, relative: bool = False, anew: bool = False,
              values: np.ndarray | float = np.inf) -> np.ndarray:
    """Size below which the values of guards are zero but for round-off, (k,): see :func:`visible`; of `values` that are
    all within what the guards' own terms leave, that.
    """
    ws = newton.ws
    size = np.abs(ws.X) if relative else ws.scale + np.abs(ws.X)
    w, own, least = np.zeros((len(guards), system.n)), np.zeros(len(guards)), np.zeros(len(guards))
    for k, guard in enumerate(guards):
        columns, gradient, gamma_t = system.guard_row(int(guard))(ws.Z)
        w[k, columns] = gradient
        own[k] = np.abs(gradient) @ size[columns] + abs(gamma_t * ws.Z[-1])
        least[k] = ws.moved * own[k] if relative else (
            numerics.GUARD_LEAST * (np.max(ws.scale[columns]) if len(columns) else 1.0))
        least[k] += np.abs(gradient) @ ws.noise[columns]
    alone = np.maximum(numerics.ROUND_OFF * own, least)
    if np.all(values <= alone):
        return alone
    if anew or newton.lu.numeric is None:  # factors of an alike matrix tell as well how large an inverse is, mostly
        newton.factor()
        newton.forget()
    # a sum, for threads of a product would wait for the next one, busily, long after it
    return np.maximum(numerics.ROUND_OFF * ((np.abs(newton.lu.tsolve(w)) * ws.terms(size)).sum(axis=1) + own), least)
