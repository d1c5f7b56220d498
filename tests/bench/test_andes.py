"""gridcore against ANDES in short form: ratios of CPU times of one run, with room for a busy machine."""

import pytest
from crosscheck.program import python
from crosscheck.studies import STUDIES

from . import andes

pytestmark = [pytest.mark.bench, pytest.mark.andes,
              pytest.mark.skipif(python() is None, reason="GRIDCORE_ANDES does not name a Python with ANDES")]


@pytest.mark.parametrize("name", andes.CASES)
def test_the_simulation_takes_a_tenth(name):
    if not STUDIES[name].there:
        pytest.skip("no files to read")
    found = andes.call(STUDIES[name], rounds=1, t_end=5.0)
    print(f"{name}: {found.ours}; {found.theirs}")
    assert found.ours.cpu < andes.TARGET_CALL * found.theirs.cpu
    assert found.differences["speed"] < 1e-4


def test_the_whole_process_takes_half():
    """The target is a third."""
    if not STUDIES["kundur"].there:
        pytest.skip("no files to read")
    found = andes.process(STUDIES["kundur"], rounds=1)
    print(f"kundur: {found.ours}; {found.theirs}")
    assert found.ours.cpu < 0.5 * found.theirs.cpu
