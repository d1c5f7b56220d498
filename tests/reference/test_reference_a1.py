"""Reference A1, Hiskens & Pai (2000), Zhang et al. (2017): sensitivities of a system that switches."""

from __future__ import annotations

import numpy as np
import pytest
from scripts import script

import gridcore as gc

a1 = script("reference_a1")
PUBLISHED = np.array([-0.0155057682999269, 0.0120480543158379])  # of ../shared/reference, by the complex step
STATE = np.array([-0.0196299279712484, -0.0130620897988687])


def test_six_events_the_first_at_the_published_time():
    run = a1.simulate()
    assert len(run.events) == 6
    assert round(run.events[0].t, 7) == 0.0957333
    np.testing.assert_allclose(run.X[-1], STATE, rtol=0, atol=1e-13)


def test_derivatives_at_the_end_by_adjoint_and_forward():
    np.testing.assert_allclose(a1.at_the_end(1e-3, "discrete"), PUBLISHED, rtol=0, atol=1e-13)
    forward = gc.analyses.tsa(a1.simulate(), "HP.p1", a1.STATES).values[-1, :, 0]
    np.testing.assert_allclose(forward, PUBLISHED, rtol=0, atol=1e-13)


def test_sensitivities_jump_at_each_switching_and_nowhere_else():
    """At a fixed time: nothing before the first, and what happens at an instant is far more than from step to step."""
    run = a1.simulate()
    S = gc.analyses.tsa(run, "HP.p1", a1.STATES, fixed_time=True).values[:, :, 0]
    moved = np.abs(np.diff(S, axis=0)).max(axis=1)
    at_once = np.diff(run.t) == 0
    assert at_once.sum() == 6
    assert not S[run.t < run.events[0].t].any()
    assert all(moved[k] > 3 * max(moved[k - 1], moved[k + 1]) for k in np.flatnonzero(at_once))


def test_the_published_formula_gives_the_published_figure():
    assert round(a1.at_the_end(1e-3, "continuous")[0], 5) == -0.01551


def test_the_error_of_the_formula_is_of_second_order():
    """Never above a multiple of h^2, and near it in every octave of steps: there events fall anywhere in a step."""
    steps, errors = a1.cloud()
    multiple = errors / steps**2  # 1/s^2; the squared frequencies of the two systems are 1000
    octave = np.floor(np.log2(steps.max() / steps) + 1e-9)
    assert multiple.max() < 1000
    assert all(multiple[octave == k].max() > 100 for k in range(5))
    assert a1.formula_error(1e-3) == pytest.approx(4.5e-4, rel=0.05)


@pytest.mark.parametrize("step", a1.STEPS)
def test_the_discrete_rule_has_no_error(step):
    """But for that of the differences: seven digits."""
    np.testing.assert_allclose(a1.at_the_end(step, "discrete"), a1.differences(step), rtol=0, atol=1e-7 * 0.0155)
