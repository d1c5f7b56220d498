"""gridcore against ANDES 2.0: same files, models, loads, disturbance and steps; run by ``tox -e andes``.

Largest differences are printed (``pytest -rP``); docs/andes.md has them in tables.
"""

import numpy as np
import pytest

from .compare import (
    AWAY,
    LATE,
    REFERENCE,
    STEP,
    T_END,
    differences,
    finite,
    matched,
    ours,
    residual,
    spectrum,
    theirs,
)
from .program import python
from .studies import STUDIES

pytestmark = [pytest.mark.andes, pytest.mark.slow,
              pytest.mark.skipif(python() is None, reason="GRIDCORE_ANDES does not name a Python with ANDES"),
              pytest.mark.skipif(not all(study.there for study in STUDIES.values()), reason="no files to read")]

WITHIN = {"speed": 1e-5, "angle": 1e-3, "voltage": 1e-4}


def within(found, part=1.0):
    return all(found[what] < part * limit for what, limit in WITHIN.items())


@pytest.mark.parametrize("name", STUDIES)
def test_power_flows_agree(name):
    mine, found = ours(name, step=STEP, t_end=STEP), theirs(name)
    assert np.abs(mine.v[0] - found.v0).max() < 1e-10
    assert np.abs(mine.a[0] - found.a0).max() < 1e-10


@pytest.mark.parametrize("name", ["wscc9", "kundur", "kundur, IEEEST", "ieee39", "ieee39, IEEEST", "npcc140"])
def test_trajectories_agree_away_from_the_switchings(name):
    """What is left is ANDES's way across a switching: next test."""
    assert within(differences(name, ours(name), theirs(name).runs[0]))


@pytest.mark.parametrize("name", ["wscc9", "kundur", "kundur, IEEEST"])  # nothing reaches a limit in these
def test_they_agree_at_every_instant_if_switchings_are_half_of_andes_s_step_late(name):
    """Its step of 1e-4 s across a switching has the mean of both rates of change: that of a switching in its middle."""
    assert within(differences(name, ours(name, late=LATE), theirs(name).runs[0], margin=5e-4), 0.1)


@pytest.mark.parametrize("name", ["kundur", "ieee39"])
def test_a_tenth_of_the_step_against_ida_is_a_hundred_times_better(name):
    pytest.importorskip("scikits_odes_sundials")
    fine, reference = ours(name, step=STEP / 10), ours(name, step=STEP, **REFERENCE)
    t = np.arange(1, round(T_END * 48)) / 48
    assert within(differences(name, fine, reference.at(t), AWAY), 0.01)


@pytest.mark.parametrize("name", ["wscc9", "kundur", "kundur, EXDC2", "ieee39", "npcc140"])
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
