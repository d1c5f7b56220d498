"""Connected components of a graph of numbers; scipy has them behind an import that takes as long as a short run."""

from __future__ import annotations

import numpy as np


def components(n: int, a: np.ndarray, b: np.ndarray) -> tuple[int, np.ndarray]:
    """How many nodes 0 to n - 1 with links from `a` to `b` make, and that of each node, in order of their first ones.

    Roots hook onto lower ones, then paths are halved: Y. Shiloach, U. Vishkin, J. Algorithms 3(1), 1982.
    """
    root, before = np.arange(n), None
    while before is None or not np.array_equal(root, before):
        before, ends = root.copy(), (root[a], root[b])
        for end in ends:
            np.minimum.at(root, end, np.minimum(*ends))
        while not np.array_equal(root, halved := root[root]):
            root = halved
    roots, component = np.unique(root, return_inverse=True)
    return len(roots), component
