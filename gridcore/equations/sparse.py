"""Matrices of scipy, whose import takes longer than that of numpy: it waits until one is asked for, by no run."""

from typing import Any


def csc(entries: Any, shape: tuple[int, int] | None = None) -> Any:
    """What ``scipy.sparse.csc_matrix`` makes of the same."""
    from scipy.sparse import csc_matrix

    return csc_matrix(entries, shape)
