"""Integrals and samples along steps of BDF: on polynomials through the points of the run."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import Polynomial

import gridcore as gc
from gridcore.sensitivity import At, Integral
from gridcore_bdf.between import polynomials


def points(seed: int, count: int = 14) -> np.ndarray:
    """Times at distances that differ by a hundred."""
    return np.cumsum(10.0 ** np.random.default_rng(seed).uniform(-2, 0, count))


@pytest.mark.parametrize("degree", range(1, 6))
@pytest.mark.parametrize("seed", range(4))
def test_a_polynomial_of_their_degree_is_exact(seed: int, degree: int) -> None:
    t, p = points(seed), Polynomial(np.random.default_rng(seed).normal(size=degree + 1))
    k = np.arange(len(t) - 1)
    found, part = polynomials(t, [], k, degree), np.random.default_rng(1).random(len(k))
    r, size = p(t)[found.at], np.abs(p.coef) @ np.max(t) ** np.arange(degree + 1)
    inside = t[k] + part * np.diff(t)
    np.testing.assert_allclose((found.weights(part) * r).sum(axis=1), p(inside), rtol=0, atol=1e-12 * size)
    whole = p.integ()
    np.testing.assert_allclose((found.integrals * r).sum(axis=1), whole(t[k + 1]) - whole(t[k]), rtol=0,
                               atol=1e-12 * size)
    used = np.array([[len({*row[:n], row[n]}) == n + 1 for n in range(degree + 1)] for row in found.at.tolist()])
    slopes = np.einsum("ijl,il->ij", found.slopes(), r)
    np.testing.assert_allclose(slopes[used], p.deriv()(t[found.at])[used], rtol=1e-8, atol=1e-8 * size)


@pytest.mark.parametrize("seed", range(4))
def test_integrals_move_with_the_times_of_points_as_differences_say(seed: int) -> None:
    t, r, e = points(seed, 10), np.random.default_rng(9).normal(size=10), 1e-6
    k = np.arange(9)
    found, moved = polynomials(t, [], k, 4), np.zeros((9, 10))
    for row, at, shift in zip(moved, found.at, np.einsum("ijl,il->ij", found.shifts, r[found.at]), strict=True):
        np.add.at(row, at, shift)
    for j in range(10):
        there, back = (polynomials(t + way * e * (np.arange(10) == j), [], k, 4) for way in (1, -1))
        assert (there.at == back.at).all()
        differences = ((there.integrals - back.integrals) * r[found.at]).sum(axis=1) / (2 * e)
        np.testing.assert_allclose(moved[:, j], differences, rtol=1e-6, atol=1e-6)


def test_nothing_is_taken_from_behind_an_instant_at_which_something_switches() -> None:
    t = np.array([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0])
    steps = np.array([0, 1, 2, 4, 5])
    before = np.arange(7) <= 3
    for k, at in zip(steps, polynomials(t, [3], steps, 5).at, strict=True):
        assert (before[at] == before[k]).all()


def test_round_off_between_the_events_of_an_instant_changes_no_polynomial_beside_it() -> None:
    """The later one is at the time of the first, or after a step that is as short as numbers allow."""
    steps = np.array([0, 1, 2, 6, 7])
    both = [polynomials(np.array([0.0, 1.0, 2.0, 3.0, 3.0, at, at, 4.0, 5.0]), [3, 5], steps, 5)
            for at in (3.0, np.nextafter(3.0, 4.0))]
    assert (both[0].at == both[1].at).all()
    np.testing.assert_allclose(both[0].integrals, both[1].integrals, rtol=0, atol=1e-14)


def test_a_step_of_no_length_has_no_integral_and_its_ends_move_it_as_bounds() -> None:
    found = polynomials(np.array([0.0, 1.0, 1.0, 2.0]), [], np.array([1]), 5)
    assert not found.integrals.any()
    assert found.shifts[0, :2, :2].tolist() == [[-1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-12, 0.0])
def test_a_point_very_near_to_another_does_not_enlarge_round_off(gap: float) -> None:
    t = np.array([0.0, 1.0, 2.0, 3.0, 3.0 + gap, 4.0, 5.0])
    found = polynomials(t, [], np.array([0, 1, 2, 4, 5]), 5)
    assert np.abs(found.integrals).max() < 2


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
@pytest.mark.parametrize("case", ["wscc9", "ieee39"])
def test_integrals_and_samples_are_as_exact_as_the_tolerance(case: str, rtol: float) -> None:
    """Which is of speeds, and theirs of a hundredth of these, squared: swings that are hardly damped keep all of it."""
    system = gc.build(case)
    machine = next(id for id, name in system.variables if name == "omega")
    times = np.linspace(0.03, 3.0, 40)

    def deviation(v):
        return 1e3 * (v[machine, "omega"] - 1)

    objectives = [Integral(lambda v: deviation(v) ** 2), At(times, lambda v: deviation(v) ** 2)]
    exact, found = ([objective.value(gc.simulate(system, 3.0, "auto", method="bdf", rtol=tolerance))
                     for objective in objectives] for tolerance in (1e-10, rtol))
    np.testing.assert_allclose(found, exact, rtol=4 * rtol)
