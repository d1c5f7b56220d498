"""Anderson mixing is GMRES with old factors: a row that has changed costs an iteration."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridcore.equations.native import FALLBACK, runtime
from gridcore.linear.mixing import Mixing

RUNTIMES = pytest.mark.parametrize("loops", [runtime(), FALLBACK], ids=["compiled", "numpy"])


def corrections(loops: Any, A0: np.ndarray, A: np.ndarray, b: np.ndarray, count: int) -> list[np.ndarray]:
    """Iterates with the inverse of another matrix, mixed."""
    mixing = Mixing(SimpleNamespace(runtime=loops, n=len(b)))
    mixing.begin(np.ones(len(b)))
    x, found = np.zeros(len(b)), []
    for _ in range(count):
        step = np.linalg.solve(A0, b - A @ x)
        mixing.mix(step)
        x = x + step
        found.append(x)
    return found


@RUNTIMES
@given(seed=st.integers(0, 10_000), changed=st.integers(0, 3))
def test_rows_that_have_changed_cost_an_iteration_each(loops: Any, seed: int, changed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 20
    A0 = np.eye(n) + 0.2 * rng.standard_normal((n, n)) / np.sqrt(n)
    A, b = A0.copy(), rng.standard_normal(n)
    rows = rng.choice(n, changed, replace=False)
    A[rows] = 0.0
    A[rows, rows] = rng.uniform(0.3, 3.0, changed)
    *_, x = corrections(loops, A0, A, b, changed + 2)
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=0, atol=1e-8 * (1 + np.abs(x).max()))


def test_compiled_and_in_numpy_it_is_the_same() -> None:
    rng = np.random.default_rng(1)
    A0 = np.eye(30) + 0.3 * rng.standard_normal((30, 30)) / np.sqrt(30)
    A, b = A0 + 0.2 * rng.standard_normal((30, 30)) / np.sqrt(30), rng.standard_normal(30)
    for one, other in zip(*(corrections(loops, A0, A, b, 9) for loops in (runtime(), FALLBACK)), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)


@RUNTIMES
def test_a_correction_that_does_not_change_is_made_as_it_is(loops: Any) -> None:
    mixing = Mixing(SimpleNamespace(runtime=loops, n=3))
    mixing.begin(np.ones(3))
    for _ in range(4):
        step = np.array([1.0, 0.0, -2.0])
        mixing.mix(step)
        np.testing.assert_array_equal(step, [1.0, 0.0, -2.0])


@RUNTIMES
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("others", [0, 3, 7])
def test_what_is_not_finite_shows_at_every_place(loops: Any, bad: float, others: int) -> None:
    """However many corrections were mixed before it; nothing is raised, for the norm of the step tells."""
    rng, mixing = np.random.default_rng(others), Mixing(SimpleNamespace(runtime=loops, n=9))
    for place in range(9):
        mixing.begin(np.ones(9))
        for _ in range(others):
            mixing.mix(rng.standard_normal(9))
        step = rng.standard_normal(9)
        step[place] = bad
        mixing.mix(step)
        assert not np.isfinite(step[place])
