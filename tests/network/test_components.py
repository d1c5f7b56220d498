"""Connected components are those of scipy, with the same numbers."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from gridcore.network import components


@given(st.integers(0, 40), st.floats(0.0, 1.5), st.integers(0, 10**6))
def test_of_a_random_graph(n, links, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, max(n, 1), (2, int(links * n)))
    expected = connected_components(sp.coo_matrix((np.ones(len(a)), (a, b)), shape=(n, n)), directed=False)
    count, found = components(n, a, b)
    assert count == expected[0]
    np.testing.assert_array_equal(found, expected[1])


def test_of_a_long_path_whose_nodes_are_in_no_order():
    order = np.random.default_rng(0).permutation(5000)
    assert components(5000, order[:-1], order[1:])[0] == 1
    assert components(5000, order[:-2], order[1:-1])[0] == 2
