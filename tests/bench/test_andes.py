"""gridcore against ANDES in short form: the same trajectories, and times that are measured but fail no test."""

import pytest
from crosscheck.program import python
from crosscheck.studies import STUDIES

from . import andes

pytestmark = [pytest.mark.andes,
              pytest.mark.skipif(python() is None, reason="GRIDCORE_ANDES does not name a Python with ANDES")]


@pytest.mark.parametrize("name", andes.CASES)
def test_both_programs_are_timed_on_the_same_trajectory(name):
    if not STUDIES[name].there:
        pytest.skip("no files to read")
    found = andes.call(STUDIES[name], rounds=1, t_end=5.0)
    print(f"{name}: {found.ours}; {found.theirs}")
    assert found.differences["speed"] < 1e-4


def test_both_processes_are_timed():
    if not STUDIES["kundur"].there:
        pytest.skip("no files to read")
    found = andes.process(STUDIES["kundur"], rounds=1)
    print(f"kundur: {found.ours}; {found.theirs}")
    assert found.ours.cpu > 0
    assert found.theirs.cpu > 0
