"""Kundur's two-area system."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from industry import CASES
from numpy.testing import assert_allclose
from scipy.optimize import linear_sum_assignment

import gridcore as gc
from gridcore.registry import registries as plugins

MACHINES = ("GEN1", "GEN2", "GEN3", "GEN4")
DATA = Path(__file__).parents[2].parent / "shared" / "data" / "kundur"


def swing(case, t_end=15.0):
    """Time, and the speed of area 1 against area 2."""
    run = gc.simulate(gc.build(case), t_end=t_end, step=0.01)
    delta = np.array([run[g, "delta"] for g in MACHINES])
    assert np.ptp(delta, axis=0).max() < np.pi
    omega = np.array([run[g, "omega"] for g in MACHINES])
    within = np.abs(np.array([omega[0] - omega[1], omega[2] - omega[3]]))[:, run.t > 3.0].max()
    between = omega[:2].mean(axis=0) - omega[2:].mean(axis=0)
    assert within < 0.5 * np.abs(between[run.t > 3.0]).max()  # the areas keep together
    return run.t, between


def frequency_and_damping(t, between):
    """Of the swing from 2 s on: by the instants at which it rises through zero, and by its maxima."""
    late = t > 2.0
    t, between = t[late], between[late]
    ups = np.flatnonzero((between[:-1] < 0) & (between[1:] >= 0))
    instants = t[ups] - between[ups] * (t[ups + 1] - t[ups]) / (between[ups + 1] - between[ups])
    peaks = np.array([between[a:b].max() for a, b in pairwise(ups)])
    decay = np.log(peaks[:-1] / peaks[1:]).mean()
    return 1 / np.diff(instants).mean(), decay / np.hypot(decay, 2 * np.pi)


def test_load_flow_is_the_published_one():
    """Kundur (1994), example 12.6; reactive power to the digits printed; angles are counted from bus 3 here."""
    run = gc.simulate(gc.build("kundur"), t_end=0.01, step=0.01)
    angles = [np.degrees(run[f"BUS{k}", "Va"][0]) - 6.8 for k in (1, 2, 3, 4)]
    assert_allclose(angles, [20.2, 10.5, -6.8, -17.0], atol=0.1)
    assert_allclose([900 * run[g, "Q"][0] for g in MACHINES], [185, 235, 176, 202], atol=0.6)


def test_areas_swing_against_each_other_damped_at_half_a_hertz():
    """Kundur (1994), example 12.6: 0.5 to 0.6 Hz, 0.60 Hz and a damping ratio of 0.13 with its stabilizers."""
    case = gc.load_case("kundur")
    case.remove("trip")
    frequency, damping = frequency_and_damping(*swing(case))
    assert 0.5 < frequency < 0.65
    assert 0.05 < damping < 0.2


def test_the_swing_is_slower_without_one_circuit_of_the_tie_and_still_damped():
    intact = gc.load_case("kundur")
    intact.remove("trip")
    with_both, _ = frequency_and_damping(*swing(intact))
    frequency, damping = frequency_and_damping(*swing(gc.load_case("kundur")))
    assert 0.4 < frequency < with_both - 0.05
    assert 0.05 < damping < 0.2


def test_stabilizers_are_what_damps_the_swing():
    case = gc.load_case("kundur")
    case.remove("trip")
    for k in (1, 2, 3, 4):
        case.remove(f"PSS_EXC_GEN{k}")
    _, damping = frequency_and_damping(*swing(case))
    assert 0.0 < damping < 0.03  # the book's other exciters: 0.005 to 0.032


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data in {DATA}")
def test_eigenvalues_are_those_of_another_program():
    """``eigs_tgov_andes.csv`` of PowerSimulationsDynamics.jl: loads of constant power, no stabilizers."""
    if "small_signal" not in list(plugins.analyses):
        pytest.skip("the plugin gridcore_smallsignal is not installed")
    files = [DATA / Path(file).name for file in CASES["kundur"].files]
    found = np.asarray(gc.analyses.small_signal(gc.build(gc.load_case(*files))).eigenvalues)
    lines = (DATA / "eigs_tgov_andes.csv").read_text().split()
    expected = np.array([complex(line.replace("im", "j")) for line in lines])
    assert len(found) == len(expected) == 40
    distance = np.abs(found[:, None] - expected[None, :])
    worst = distance[linear_sum_assignment(distance)].max()
    print(f"40 eigenvalues, largest difference {worst:.2e} 1/s")
    assert worst < 1e-4
