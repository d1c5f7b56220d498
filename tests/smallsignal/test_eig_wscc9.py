"""The eigenvalues of the 9-bus system in the book, to the digits that it prints."""

from __future__ import annotations

import numpy as np
import pytest
from book import PRINTED, book_case

import gridcore as gc


@pytest.fixture(scope="module")
def modes():
    return gc.analyses.small_signal(gc.build(book_case()))


@pytest.mark.parametrize("printed", PRINTED)
def test_eigenvalues_are_those_of_the_book_to_the_printed_digits(modes, printed):
    found = modes.eigenvalues[modes.nearest(printed)]
    assert round(found.real, 4) == np.real(printed)
    assert round(found.imag, 4) == np.imag(printed)


def test_and_there_are_two_exact_zeros_and_nothing_else(modes):
    assert len(modes) == 21 == sum(1 if np.imag(v) == 0 else 2 for v in PRINTED) + 2
    assert sorted(filter(None, modes.labels)) == ["common speed", "rotation"]
    assert [modes.eigenvalues[modes.labels.index(label)] for label in ("rotation", "common speed")] == [0, 0]


def test_printed_eigenvalues_are_distinct_ones_of_ours(modes):
    assert len({modes.nearest(printed) for printed in PRINTED}) == len(PRINTED)


def test_a_case_and_its_name_stand_for_its_system():
    system, case = gc.build("wscc9"), gc.load_case("wscc9")
    for study in (case, "wscc9"):
        assert np.array_equal(gc.analyses.small_signal(study).eigenvalues, gc.analyses.small_signal(system).eigenvalues)
        assert np.array_equal(gc.analyses.linearise(study).x, gc.analyses.linearise(system).x)
