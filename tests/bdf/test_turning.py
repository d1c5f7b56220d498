"""Errors of algebraic variables, where phasors turn since the frequency is not that of their reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from devices_for_tests import system

import gridcore as gc
from gridcore.contract import Algebraic, Device, Param, State
from gridcore.results import Run
from gridcore_bdf import past


class Amplified(Device):
    """``dx/dt = b sin(t) - x``, and as an algebraic variable a hundred times that."""

    b = Param("1/s", 1e-3)
    x = State("")
    y = Algebraic("")

    def rates(s: Any) -> Any:
        return s.b * np.sin(s.time) - s.x

    def residuals(s: Any) -> Any:
        return 100.0 * s.x - s.y


def run(name: str, t_end: float, rtol: float, method: str = "bdf") -> Run:
    return gc.simulate(gc.build(name), t_end, "auto", method=method, rtol=rtol, atol=rtol / 100)


def off(run: Run, other: Run) -> Any:
    """Largest difference at the end, of scale + |X|."""
    return np.max(np.abs(run.X[-1] - other.X[-1]) / (run.system.workspace().scale + np.abs(other.X[-1])))


@pytest.mark.parametrize(("name", "t_end", "rtol", "part"), [
    ("wscc9", 60.0, 1e-3, 0.8), ("wscc9", 60.0, 1e-5, 0.7), ("microgrid", 30.0, 2e-2, 1.1),
    ("microgrid", 30.0, 1e-5, 0.85), ("wscc9_recovery_loads", 36.0, 1e-4, 0.6),
    ("wscc9_estimation_step", 60.0, 1e-5, 0.85)])
def test_phasors_that_turn_do_not_keep_steps_short(
        name: str, t_end: float, rtol: float, part: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor are there so long ones that the iteration does not converge from where they are led to."""
    found = run(name, t_end, rtol).counters
    monkeypatch.setattr(past, "FAR", np.inf)
    before = run(name, t_end, rtol).counters
    assert found["steps"] < part * before["steps"]
    assert found["newton_iterations"] < 1.2 * before["newton_iterations"]


@pytest.mark.parametrize(("name", "t_end", "rtol"), [("microgrid", 60.0, 1e-3), ("wscc9_recovery_loads", 40.0, 1e-4)])
def test_they_are_led_so_near_that_no_more_steps_are_tried_in_vain(
        name: str, t_end: float, rtol: float, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(name, t_end, rtol).counters["rejections"]
    monkeypatch.setattr(past, "FAR", np.inf)
    assert found < 2 * run(name, t_end, rtol).counters["rejections"]


@pytest.mark.parametrize(("name", "t_end"), [("wscc9", 60.0), ("wscc9_estimation_step", 60.0), ("microgrid", 30.0)])
@pytest.mark.parametrize("rtol", [1e-2, 1e-3, 1e-4])
def test_their_errors_are_those_of_the_tolerance(name: str, t_end: float, rtol: float) -> None:
    assert off(run(name, t_end, rtol), run(name, t_end, 1e-6, "trbdf2")) < 2 * rtol


@pytest.mark.parametrize("name", ["wscc9", "microgrid"])
def test_the_loops_in_c_see_errors_as_numpy_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(name, 20.0, 1e-4)
    monkeypatch.setattr(past, "loops", lambda runtime: {})
    alone = run(name, 20.0, 1e-4)
    assert found.counters["steps"] == pytest.approx(alone.counters["steps"], rel=0.05)
    assert off(found, alone) < 1e-4


@pytest.mark.parametrize("name", ["ieee39", "npcc140"])
def test_where_they_do_not_turn_it_is_as_if_all_that_is_off_were_an_error(
        name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(name, 3.0, 1e-4)
    monkeypatch.setattr(past, "FAR", np.inf)
    assert np.array_equal(found.t, run(name, 3.0, 1e-4).t)


@pytest.mark.parametrize("compiled", [True, False])
def test_what_follows_from_the_errors_of_others_counts_as_much_as_if_it_were_seen(
        compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone an amplified variable is far off, which is the error that it has."""
    if not compiled:
        monkeypatch.setattr(past, "loops", lambda runtime: {})
    with gc.registered(Amplified):
        s, steps = system(Amplified(id="A")), []
        for far in (past.FAR, np.inf):
            monkeypatch.setattr(past, "FAR", far)
            steps.append(gc.simulate(s, 10.0, "auto", method="bdf", rtol=1e-5, atol=1e-7).counters["steps"])
    assert steps[0] == pytest.approx(steps[1], rel=0.05)
