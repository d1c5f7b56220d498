"""Kundur's two-area system."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gridcore as gc

MACHINES = ("GEN1", "GEN2", "GEN3", "GEN4")


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build(gc.load_case("kundur")), t_end=15.0, step=0.01)


def test_load_flow_is_the_published_one(run):
    """Kundur (1994), example 12.6; angles and reactive power to the digits printed."""
    angles = [np.degrees(run[f"BUS{k}", "Va"][0]) for k in (1, 2, 3, 4)]
    assert_allclose(angles, [20.2, 10.5, -6.8, -17.0], atol=0.1)
    assert_allclose([900 * run[g, "Q"][0] for g in MACHINES], [185, 235, 176, 202], atol=0.6)
    # 11BUS_KUNDUR.raw, with its angle reference at bus 3
    Vm = [1.00646, 0.97813, 0.96102, 0.94862, 0.97138, 0.98347, 1.00826]
    Va = [20.6078, 10.5233, 2.1143, -11.7551, -25.3519, -16.9369, -6.6270]
    assert_allclose([run[f"BUS{k}", "Vm"][0] for k in range(5, 12)], Vm, atol=1.1e-5)
    assert_allclose([np.degrees(run[f"BUS{k}", "Va"][0]) + 6.8 for k in range(5, 12)], Va, atol=2e-3)


def test_areas_swing_against_each_other_at_about_half_a_hertz(run):
    """Kundur (1994), example 12.6: the inter-area mode is at 0.5 to 0.6 Hz; the areas keep together."""
    delta = np.array([run[g, "delta"] for g in MACHINES])
    assert np.ptp(delta, axis=0).max() < np.pi
    omega = np.array([run[g, "omega"] for g in MACHINES])
    between = omega[:2].mean(axis=0) - omega[2:].mean(axis=0)
    late = run.t > 3.0
    ups = run.t[late][1:][(between[late][:-1] < 0) & (between[late][1:] >= 0)]
    assert 1 / np.diff(ups).mean() == pytest.approx(0.5, abs=0.12)
    within = np.abs(omega[0] - omega[1])[late].max()
    assert within < 0.5 * np.abs(between[late]).max()
