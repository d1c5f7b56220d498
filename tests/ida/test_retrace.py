"""A variable-step run made again by theta on its own mesh: same events, close by, and exactly differentiable."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from devices_for_tests import LinearDAE, system

import gridcore as gc
from gridcore.tape import GRID
from gridcore_ida.retrace import RetraceWarning


@pytest.fixture(scope="module", autouse=True)
def _ida():
    pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")


def mesh(run: gc.Run) -> np.ndarray:
    return run.t[np.array(run.tape.point_clock) == GRID]


@pytest.mark.parametrize(("name", "t_end", "step"), [
    ("hiskens_pai", 0.2, 1e-3), ("wscc9_paper", 1.0, 0.01), ("wscc9_recovery_cancelled", 32.0, 0.05)])
def test_the_mesh_and_the_events_are_those_of_the_run(name, t_end, step):
    run = gc.simulate(gc.build(name), t_end, step, method="ida")
    again = gc.retrace(run)
    assert [e.words for e in again.events] == [e.words for e in run.events]
    assert len(run.events) > 3
    assert set(np.unique(mesh(again))) <= set(np.unique(mesh(run)))
    assert len(again.t) >= len(run.t) - len(run.events)  # a point between the two times of an event may be dropped
    np.testing.assert_allclose([e.t for e in again.events], [e.t for e in run.events], rtol=0,
                               atol=again.settings["replay_mismatch_events"] * (1 + 1e-9))


def test_the_mismatch_is_that_of_the_trapezoidal_rule():
    """Of second order in the steps, first for backward Euler: a bound of the steps halved divides it by 4, by 2."""
    s = gc.build("hiskens_pai")
    for theta, ratio in ((0.5, 4.0), (1.0, 2.0)):
        runs = [gc.simulate(s, 0.15, 1e-3, method="ida", max_step=h) for h in (2e-4, 1e-4, 5e-5)]
        found = [gc.retrace(run, theta=theta).settings["replay_mismatch"] for run in runs]
        assert found[0] / found[1] == pytest.approx(ratio, rel=0.2)
        assert found[1] / found[2] == pytest.approx(ratio, rel=0.1)


@pytest.mark.usefixtures("small_devices")
def test_the_largest_difference_is_named():
    run = gc.simulate(system(LinearDAE(id="D")), 5.0, 0.5, method="ida", rtol=1e-10, atol=1e-12)
    again = gc.retrace(run)
    kept = np.isin(run.t, again.t)  # IDA's first steps are shorter than the round-off of the grid
    assert kept.sum() >= len(kept) - 6
    difference = np.abs(run.X[kept] - again.X)
    assert again.settings["replay_mismatch"] == difference.max()
    device, variable = run.system.variables[int(difference.max(axis=0).argmax())]
    assert again.settings["replay_mismatch_of"] == f"{device}.{variable}"


def test_a_method_that_goes_another_way_on_the_mesh_is_told():
    run = gc.simulate(gc.build("wscc9"), 0.5, method="ida", rtol=1e-6)
    with pytest.warns(RetraceWarning, match=r"^replayed by 'bdf', \S+ is off by \S+ of what it moves by: "):
        gc.retrace(run, "bdf")
    with warnings.catch_warnings(action="error"):
        for method in ("theta", "trbdf2"):
            gc.retrace(run, method)
        gc.retrace(run, "bdf", order=2)


def test_its_adjoint_is_the_derivative_of_its_numbers():
    """Against central differences of the retraced objective, the mesh held."""
    s = gc.build("swing")
    run = gc.simulate(s, 1.0, 0.01, method="ida")
    end = gc.Terminal(lambda v: v["SWING", "delta"])
    slope = gc.adjoint(gc.retrace(run), end, "SWING.H").item()
    at, values = s.layout.address("SWING.H"), []
    for change in (1e-4, -1e-4):
        Z0, other = s.Z0.copy(), copy.copy(run)
        Z0[at] += change
        other.system = s.replaced(Z0, s.held)
        values.append(gc.retrace(other)["SWING", "delta"][-1])
    assert (values[0] - values[1]) / 2e-4 == pytest.approx(slope, rel=1e-8)


def test_other_events_on_a_coarse_mesh_are_refused():
    run = gc.simulate(gc.build("hiskens_pai"), 1.0, 0.5, method="ida", rtol=1e-3, atol=1e-3)
    with pytest.raises(gc.errors.GridcoreError, match=r"too coarse|replaying a run"):
        gc.retrace(run, theta=1.0)
