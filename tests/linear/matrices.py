"""Random matrices, and factors of them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def random_matrix(n, seed, dtype=float, density=0.05):
    rng = np.random.default_rng(seed)
    A = sp.random_array((n, n), density=density, rng=rng) + sp.diags_array(rng.uniform(1, 2, n))
    A = sp.csc_array(A).astype(dtype)
    A.sort_indices()
    if dtype is complex:
        A.data += 1j * rng.standard_normal(A.nnz)
    return A


def factored(Solver, A):
    lu = Solver().analyse(A.shape[0], A.indptr, A.indices).factors(A.dtype.type)
    lu.factor(A.data)
    return lu
