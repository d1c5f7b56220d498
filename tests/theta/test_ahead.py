"""That a guard fires within a step is known before the step is solved only where a correction more cannot undo it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gridcore_theta.ahead import fires_for_certain


def answers(*margins: list[float]) -> list[bool] | None:
    """Where an iteration begins at the first margins, after each correction to the next."""
    values = iter(margins)
    ws: Any = SimpleNamespace(Z=None, guards=lambda Z: np.array(next(values)))
    fires = fires_for_certain(ws)
    return None if fires is None else [fires() for _ in margins[1:]]


@pytest.mark.parametrize("margins", [[], [0.5], [0.0, 1.0]])
def test_where_no_guard_is_across_nothing_is_asked(margins: list[float]) -> None:
    assert answers(margins) is None


def test_a_guard_fires_where_the_last_correction_moved_it_by_less_than_half_of_what_it_is_across() -> None:
    assert answers([-1.0], [-0.625], [-0.5]) == [False, True]
    assert answers([-1.5], [-1.0], [-0.5], [-0.375]) == [False, False, True]
    assert answers([-0.75], [-1.0], [-2.0], [-4.5], [-5.0]) == [True, False, False, True]


def test_it_is_enough_that_one_does_and_none_does_that_is_not_across() -> None:
    assert answers([1.0, -1.0, 2.0], [1.0, -0.875, 2.0]) == [True]
    assert answers([0.0, -1.0], [0.0, 0.125], [0.0, 0.125]) == [False, False]
