"""gridcore against ANDES 2.0: same files, models, loads, disturbance and steps; run by ``tox -e andes``.

Largest differences are printed (``pytest -rP``); docs/andes.md has them in tables.
"""

import functools

import numpy as np
import pytest
import scipy.linalg

import gridcore as gc

from .program import Answer, Asked, ask, python
from .studies import STUDIES, Trajectories, grid, trajectories

pytestmark = [pytest.mark.andes, pytest.mark.slow,
              pytest.mark.skipif(python() is None, reason="GRIDCORE_ANDES does not name a Python with ANDES")]

T_END, STEP = 10.0, 1 / 480
AWAY = 0.1  # s; what is a sample away from the switchings
WITHIN = {"speed": 1e-5, "angle": 1e-3, "voltage": 1e-4}
REQUIRED = ("kundur", "ieee39")
PLAIN = ("wscc9", "kundur", "kundur, EXDC2", "ieee39", "npcc140")
WITH_STABILIZERS = ("kundur, IEEEST", "ieee39, IEEEST")


def study(name):
    if not STUDIES[name].there:
        pytest.skip(f"{STUDIES[name].files[0]} is not there")
    return STUDIES[name]


@functools.cache
def theirs(name: str) -> Answer:
    return ask(study(name), [Asked(STEP, t_end=T_END)], eigenvalues=True)


def ours(name: str, folder, late: float = 0.0, **options) -> Trajectories:
    """On ANDES's own steps; with the switchings so much later."""
    case, found = study(name).case(folder), theirs(name)
    for address in ("fault.t", "fault.clear", "trip.t"):
        case.set(address, (study(name).t if address == "fault.t" else study(name).clear) + late)
    run = gc.simulate(gc.build(case), T_END, options.pop("step", grid(found.runs[0].t)), **options)
    return trajectories(run, found.machines, found.buses)


def differences(name: str, mine: Trajectories, at: np.ndarray, other: Trajectories | None = None) -> dict[str, float]:
    other = other or theirs(name).runs[0]
    found = mine.at(at).against(other.at(at))
    print(f"{name}: " + ", ".join(f"{what} {size:.1e}" for what, size in found.items()))
    return found


@pytest.mark.parametrize("name", STUDIES)
def test_power_flows_agree(name, tmp_path):
    found = theirs(name)
    run = gc.simulate(gc.build(study(name).case(tmp_path)), STEP, STEP)
    mine = trajectories(run, found.machines, found.buses)
    assert np.abs(mine.v[0] - found.v0).max() < 1e-10
    assert np.abs(mine.a[0] - found.a0).max() < 1e-10


@pytest.mark.parametrize("name", ["wscc9", "kundur", "kundur, IEEEST", "ieee39", "ieee39, IEEEST", "npcc140"])
def test_trajectories_agree_away_from_the_switchings(name, tmp_path):
    """What is left is ANDES's way across a switching: next test."""
    t = theirs(name).runs[0].t
    found = differences(name, ours(name, tmp_path), t[study(name).away(t, AWAY)])
    assert all(found[what] < WITHIN[what] for what in WITHIN)


@pytest.mark.parametrize("name", ["wscc9", "kundur", "kundur, IEEEST"])  # nothing reaches a limit in these
def test_they_agree_at_every_instant_if_switchings_are_half_of_andes_s_step_late(name, tmp_path):
    """Its step of 1e-4 s across a switching has the mean of both rates of change: that of a switching in its middle."""
    t = theirs(name).runs[0].t
    found = differences(name, ours(name, tmp_path, late=5e-5), t[study(name).away(t, 5e-4)])
    assert all(found[what] < WITHIN[what] / 10 for what in WITHIN)


@pytest.mark.parametrize("name", REQUIRED)
def test_a_tenth_of_the_step_against_ida_is_a_hundred_times_better(name, tmp_path):
    pytest.importorskip("scikits_odes_sundials")
    fine = ours(name, tmp_path, step=STEP / 10)
    reference = ours(name, tmp_path, step=STEP, method="ida", rtol=1e-10, atol=1e-12)
    t = np.arange(1, round(T_END * 48)) / 48
    found = differences(name, fine, t[study(name).away(t, AWAY)], reference)
    assert all(found[what] < WITHIN[what] / 100 for what in WITHIN)


def matched(one: np.ndarray, other: np.ndarray) -> float:
    """Largest distance from an eigenvalue to its nearest among others."""
    return float(np.abs(one[:, None] - other).min(1).max())


def spectrum(name: str, folder) -> np.ndarray:
    return gc.analyses.small_signal(gc.build(study(name).case(folder)), method="dense").eigenvalues


@pytest.mark.parametrize("name", PLAIN)
def test_eigenvalues_agree(name, tmp_path):
    found = theirs(name).eigenvalues
    mine = spectrum(name, tmp_path)
    apart = max(matched(mine, found), matched(found, mine))
    print(f"{name}: {len(mine)} eigenvalues, at most {apart:.1e} apart")
    assert len(mine) == len(found)
    assert apart < 1e-4


@pytest.mark.parametrize("name", WITH_STABILIZERS)
def test_with_stabilizers_eigenvalues_are_those_of_andes_s_full_jacobian(name, tmp_path):
    """ANDES eliminates rows that are singular there, so its own eigenvalues are not those of its equations."""
    mine = spectrum(name, tmp_path)
    J, M = theirs(name).pencil
    residuals = [float(scipy.linalg.svdvals(J - value * M)[-1] / np.linalg.norm(J - value * M)) for value in mine]
    finite = scipy.linalg.eigvals(J, M)
    finite = finite[np.isfinite(finite) & (np.abs(finite) < 1e6)]
    print(f"{name}: {len(mine)} eigenvalues, at most {matched(mine, finite):.1e} from the pencil's; smallest singular "
          f"value of J - s M over its norm: at most {max(residuals):.1e}; from ANDES's own: "
          f"{matched(mine, theirs(name).eigenvalues):.1e}")
    assert matched(mine, finite) < 1e-4
    assert max(residuals) < 1e-9

