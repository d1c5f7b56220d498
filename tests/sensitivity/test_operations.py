"""What the oracle writes down of a function is what the function does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from operations import Operations

NUMBERS = st.lists(st.complex_numbers(max_magnitude=1e3, allow_subnormal=False), min_size=3, max_size=3)


def equations(lookup: Any) -> list[Any]:
    """As devices write them."""
    x, y, mode = lookup("x"), lookup("y"), lookup("mode")
    size = np.sqrt(x * x + 1.0)
    return [np.where(mode == 1, size / (2.0 + y * y), -y), size - 3, np.where(x.real > 0, x**2, 1.0), 0.0,
            np.logical_and(mode == 1, y.real > -1.0)]


@given(NUMBERS, NUMBERS, st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=3, max_size=3))
def test_operations_give_what_the_function_gives_on_any_arrays(x: list[complex], y: list[complex],
                                                              mode: list[float]) -> None:
    written = Operations(equations)
    for columns in (1, 2):
        values = {"x": np.array([x] * columns).T, "y": np.array([y] * columns).T, "mode": np.array(mode)[:, None]}
        with np.errstate(all="ignore"):
            for found, true in zip(written(values.get), equations(values.get), strict=True):
                np.testing.assert_array_equal(found, true)


@pytest.mark.parametrize("decide", [lambda x: x if x > 0 else -x, lambda x: np.add(x, 1.0, where=False),
                                    lambda x: np.add.reduce(x)])
def test_what_is_no_operation_on_whole_arrays_is_refused(decide: Any) -> None:
    with pytest.raises(TypeError):
        Operations(lambda lookup: [decide(lookup("x"))])
