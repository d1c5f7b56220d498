"""gridcore against PSS/E: its own trajectories of small studies, one model each.

What each study is, and how exact its figures are, says ``shared/reference/psse/README.md``. Largest differences are
printed (``pytest -rP``); docs/models.md has them in a table.
"""

import pytest

from .psse import STUDIES


@pytest.mark.parametrize("name", STUDIES)
def test_trajectories_are_those_of_psse(name):
    study = STUDIES[name]
    if study.lacks:
        pytest.skip(study.lacks)
    beyond = []
    for (device, variable, *_), found, bound in study.differences():
        print(f"{name}: {device}.{variable} {found:.1e} of at most {bound:.1e}")
        if found > bound:
            beyond.append(f"{device}.{variable}")
    assert not beyond


@pytest.mark.skipif(bool(STUDIES["DEGOV"].lacks), reason=STUDIES["DEGOV"].lacks or "")
def test_powerworlds_degov_has_a_droop_of_one_over_its_gain():
    """Its trajectory is twenty times nearer to that of DEGOV1 with such a droop, and otherwise the same values."""
    found = {name: next(STUDIES[name].differences())[1] for name in ("DEGOV", "DEGOV, with a droop")}
    assert found["DEGOV, with a droop"] < 2.5e-6 < found["DEGOV"] / 18
