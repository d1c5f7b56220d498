"""gridcore against ANDES 2.0: same files, models, loads, disturbance and steps; run by ``tox -e andes``.

Largest differences are printed (``pytest -rP``); docs/andes.md has them in tables.
"""

import itertools

import numpy as np
import pytest

from .compare import (
    AWAY,
    LATE,
    LIMITED,
    REFERENCE,
    SMALLER,
    STEP,
    T_END,
    beyond_limit,
    differences,
    finite,
    limited,
    matched,
    ours,
    residual,
    spectrum,
    starts,
    theirs,
)
from .program import python
from .studies import STUDIES, grid

pytestmark = [pytest.mark.andes, pytest.mark.slow,
              pytest.mark.skipif(python() is None, reason="GRIDCORE_ANDES does not name a Python with ANDES"),
              pytest.mark.skipif(not all(study.there for study in STUDIES.values()), reason="no files to read")]

SWITCHED_ONLY = ["wscc9", "kundur", "kundur, IEEEST", *(name for name in STUDIES if name.endswith("no limits"))]
WITHIN = {"speed": 1e-5, "angle": 1e-3, "voltage": 1e-4}


def within(found, part=1.0):
    return all(found[what] < part * limit for what, limit in WITHIN.items())


@pytest.mark.parametrize("name", STUDIES)
def test_power_flows_agree(name):
    mine, found = ours(name, step=STEP, t_end=STEP), theirs(name)
    assert np.abs(mine.v[0] - found.v0).max() < 1e-10
    assert np.abs(mine.a[0] - found.a0).max() < 1e-10


@pytest.mark.parametrize("name", ["kundur", "ieee39", "npcc140"])
def test_shipped_cases_begin_where_andes_s_power_flow_of_the_raw_file_ends(name):
    """The files print five digits of their solution, ANDES solves them anew; what it adds to branches is left."""
    found = starts(name, shipped=True)
    assert max(found["voltage"], found["angle"]) < 1e-6


@pytest.mark.parametrize("name", ["kundur", "ieee39", "npcc140"])
def test_machines_and_exciters_begin_at_andes_s_initial_states(name):
    found = starts(name, shipped=False)
    assert {"delta", "Eqp", "Edp", "psikd", "psikq", "Efd", "Pm", "Vref"} <= set(found)
    assert max(found.values()) < 1e-12


@pytest.mark.parametrize("name", [name for name in STUDIES if name != LIMITED])
def test_trajectories_agree_away_from_the_switchings(name):
    """What is left is ANDES's way across a switching: next test."""
    assert within(differences(name, ours(name), theirs(name).runs[0]))


@pytest.mark.parametrize("name", SWITCHED_ONLY)  # nothing reaches a limit in these
def test_they_agree_at_every_instant_if_switchings_are_half_of_andes_s_step_late(name):
    """Its step of 1e-4 s across a switching has the mean of both rates of change: that of a switching in its middle."""
    assert within(differences(name, ours(name, late=LATE), theirs(name).runs[0], margin=5e-4), 0.1)


def test_at_limits_andes_s_error_is_of_first_order_in_its_step_and_it_approaches_gridcore():
    """Its own points say why: while VR is at VRMAX, Efd is integrated by a VR beyond it, in proportion to the step."""
    pytest.importorskip("scikits_odes_sundials")
    found = limited(LIMITED, SMALLER[:3])
    apart, beyond = [], []
    for k, run in enumerate(found.runs):
        exact = ours(LIMITED, step=grid(run.t), **REFERENCE)
        apart.append(differences(LIMITED, exact, run))
        assert within(differences(LIMITED, exact, ours(LIMITED, step=grid(run.t))), 0.1)
        at_limit, elsewhere, _ = beyond_limit(LIMITED, found, k)
        print(f"1/{1 / SMALLER[k]:.0f} s: VR beyond VRMAX by {at_limit:.2g}, elsewhere off by {elsewhere:.1e}")
        beyond.append(at_limit)
        assert elsewhere < 1e-6 < 1e-3 * at_limit
    for fine, coarse in itertools.pairwise(reversed(beyond)):
        assert 0.4 < fine / coarse < 0.6
    for fine, coarse in itertools.pairwise(reversed(apart)):
        assert all(0.4 < fine[what] / coarse[what] < 0.65 for what in WITHIN)


@pytest.mark.parametrize("name", ["kundur", "ieee39"])
def test_a_tenth_of_the_step_against_ida_is_a_hundred_times_better(name):
    pytest.importorskip("scikits_odes_sundials")
    fine, reference = ours(name, step=STEP / 10), ours(name, step=STEP, **REFERENCE)
    t = np.arange(1, round(T_END * 48)) / 48
    assert within(differences(name, fine, reference.at(t), AWAY), 0.01)


@pytest.mark.parametrize("name", [name for name in STUDIES if "IEEEST" not in name])
def test_eigenvalues_agree(name):
    found, mine = theirs(name).eigenvalues, spectrum(name)
    apart = max(matched(mine, found), matched(found, mine))
    print(f"{name}: {len(mine)} eigenvalues, at most {apart:.1e} apart")
    assert len(mine) == len(found)
    assert apart < 1e-4


@pytest.mark.parametrize("name", ["kundur, IEEEST", "ieee39, IEEEST"])
def test_with_stabilizers_eigenvalues_are_those_of_andes_s_full_jacobian(name):
    """ANDES eliminates rows that are singular there, so its own eigenvalues are not those of its equations."""
    pencil, mine = theirs(name).pencil, spectrum(name)
    apart, left = matched(mine, finite(pencil)), residual(pencil, mine)
    print(f"{name}: {len(mine)} eigenvalues, at most {apart:.1e} from the pencil's; smallest singular value of J - s M "
          f"over its norm at most {left:.1e}; from ANDES's own {matched(mine, theirs(name).eigenvalues):.1e}")
    assert apart < 1e-4
    assert left < 1e-12
