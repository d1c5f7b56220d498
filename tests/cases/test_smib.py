"""Kundur, Power System Stability and Control (1994), example 13.1."""

import numpy as np
import pytest

import gridcore as gc


def run(after):
    case = gc.load_case("smib")
    case.set("fault.clear", 0.1 + after)
    return gc.simulate(gc.build(case), t_end=3.0, step=0.005)


def test_initial_conditions_are_the_published_ones():
    result = run(0.07)
    assert np.degrees(result["GEN1", "delta"][0]) == pytest.approx(41.77, abs=0.005)
    system = result.system
    assert system.Z0[system.layout.address("GEN1.E")] == pytest.approx(1.1626, abs=5e-5)
    assert np.degrees(result["BUS1", "Va"][0]) == pytest.approx(28.34, abs=0.005)
    assert result["GEN1", "Q"][0] == pytest.approx(0.436, abs=5e-4)


def test_stable_when_cleared_after_86_ms_and_not_after_87():
    stable, unstable = run(0.086)["GEN1", "delta"], run(0.087)["GEN1", "delta"]
    assert stable.max() < np.pi
    assert unstable.max() > 2 * np.pi


def test_first_swing_obeys_the_equal_area_criterion():
    """Without damping the energy after clearing is kept: the largest angle follows from the first one."""
    result = run(0.07)
    delta, omega, t = result["GEN1", "delta"], result["GEN1", "omega"], result.t
    k = np.searchsorted(t, 0.17, side="right") - 1
    Pmax = result["GEN1", "P"][-1] / np.sin(delta[-1])

    def energy(angle, speed):
        return 3.5 * 120 * np.pi * (speed - 1) ** 2 - 0.9 * angle - Pmax * np.cos(angle)

    peak = np.argmax(delta[: np.searchsorted(t, 1.0)])
    assert energy(delta[peak], 1.0) == pytest.approx(energy(delta[k], omega[k]), abs=2e-4)
