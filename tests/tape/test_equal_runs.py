"""Runs are the sequence of their values, and steps of a grid take the memory of their lengths."""

from __future__ import annotations

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gridcore.tape import Records
from gridcore.tape.records import Runs

VALUES = st.one_of(st.lists(st.integers(-2, 2)), st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1))))


@given(VALUES, st.integers(-20, 20), st.slices(15))
def test_they_are_the_sequence_of_their_values(values, at, part):
    runs = Runs(values)
    assert list(runs) == values
    assert len(runs) == len(values)
    assert list(reversed(runs)) == values[::-1]
    assert list(runs[part]) == values[part]
    if -len(values) <= at < len(values):
        assert runs[at] == values[at]
    np.testing.assert_array_equal(np.array(runs), np.array(values))


def test_a_step_of_the_grid_takes_the_memory_of_its_length():
    count = 100_000
    records, clocks = Records(), Runs()
    tracemalloc.start()
    try:
        for k in range(count):
            records.step(k, 0.01, 0, 0)
            clocks.append(0)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 12 * count
