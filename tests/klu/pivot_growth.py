"""By how much entries have grown in the factors of a matrix, as KLU tells it, and what that leaves of a solution."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from nbklu import _ext as klu


def residual_bound(A: sp.csc_array, lu: Any, symbolic: Any, b: np.ndarray) -> float:
    """The largest residual that round-off leaves of solutions: the part of it that grew with the entries counts too.

    N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2002, theorem 9.5.
    """
    common = klu.Common()
    common.defaults()
    (lu.rows or klu).rgrowth(lu.indptr, lu.indices, A.data, symbolic, lu.numeric, common)
    condition = float(np.linalg.cond(A.toarray(), 1))
    return 1e-14 * A.shape[0] * condition * float(np.abs(b).max()) / common.rgrowth
