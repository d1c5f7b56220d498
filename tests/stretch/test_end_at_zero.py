"""Steps that end where a guard is zero, in the loop in C, are those that Newton's iteration in Python ends there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from devices_for_tests import registered, system

import gridcore as gc
from gridcore.contract import Device, Mode, Param, State, guard
from gridcore.equations.native import Native, runtime
from gridcore.linear import Newton
from gridcore_stretch import Stretch

pytestmark = pytest.mark.skipif(not isinstance(runtime(), Native), reason="no C compiler")

RUNS = pytest.mark.parametrize(("case", "options"), [
    ("ieee39", {}), ("kundur", {"step": 0.005}), ("npcc140", {"theta": 0.6}),
    ("ieee39", {"step": "auto", "rtol": 1e-3}), ("ieee39", {"method": "bdf"}),
    ("npcc140", {"method": "bdf", "step": "auto", "rtol": 1e-3})])


class Falls(Device):
    """``x' = -rate x``, and a guard at a level."""

    rate, x0, level = Param("1/s", 2.0), Param("", 1.0), Param("", 0.3)
    x = State("", start_at="x0")
    hit = Mode(0)

    def rates(s: Any) -> Any:
        return -s.rate * s.x

    @guard("down", when={"hit": 0}, then={"hit": 1})
    def falls(s: Any) -> Any:
        return s.x - s.level


def watched(monkeypatch: pytest.MonkeyPatch, cls: Any, name: str) -> list[Any]:
    """What calls of a method return from now on."""
    found: list[Any] = []
    method = getattr(cls, name)
    monkeypatch.setattr(cls, name, lambda *of: found.append(method(*of)) or found[-1])
    return found


@RUNS
def test_they_end_there_by_newtons_iteration_too(case: str, options: dict[str, Any],
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    system = gc.build(case)
    in_python, in_c = watched(monkeypatch, Newton, "solve_with_time"), watched(monkeypatch, Stretch, "end_at_zero")
    run = gc.simulate(system, 2.0, **options)
    located = len([t for t in in_c if t is not None])
    assert 3 < located > 0.6 * len(in_c)  # of the first step nothing is known there; where round-off decides, in Python
    assert len(in_python) == len(in_c) - located
    monkeypatch.setattr(Stretch, "end_at_zero", lambda *of: None)
    other = gc.simulate(system, mesh=run) if options.get("step") == "auto" else gc.simulate(system, 2.0, **options)
    assert [str(event) for event in run.events] == [str(event) for event in other.events]
    np.testing.assert_allclose(run.t, other.t, rtol=0, atol=1e-11)
    assert (np.abs(run.X - other.X) / (system.workspace().scale + np.abs(other.X))).max() < 1e-10


@pytest.mark.parametrize("theta", [0.5, 0.7, 1.0])
@pytest.mark.parametrize("level", [0.7, 0.31, 0.05])
def test_the_instant_is_where_the_formula_of_the_step_reaches_the_level(
        theta: float, level: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """``x1 = x0 (1 - (1 - theta) rate h) / (1 + theta rate h)``, solved for h."""
    found = watched(monkeypatch, Stretch, "end_at_zero")
    with registered(Falls):
        run = gc.simulate(system(Falls(id="F", level=level)), 2.0, 0.1, theta=theta)
    x0 = run["F", "x"][run.t < run.events[0].t][-1]
    begun = run.t[run.t < run.events[0].t][-1]
    h = (x0 - level) / (2.0 * (theta * level + (1 - theta) * x0))
    assert found == [pytest.approx(begun + h, rel=1e-13, abs=0)]
    assert run.events[0].t == found[0]


def test_one_that_goes_to_the_other_side_or_to_no_number_is_not_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guess stands there again, as what is asked next needs it."""
    end_at_zero, asked = Stretch.end_at_zero, []

    def told(stretch: Stretch, t: float, guard: Any, low: float, high: float, side: float) -> float | None:
        X, before = guard.X, guard.X.copy()
        assert end_at_zero(stretch, t, guard, low, high, -side) is None
        np.testing.assert_array_equal(X, before)
        X[3] = np.nan
        assert end_at_zero(stretch, t, guard, low, high, side) is None
        assert np.isnan(X[3])
        X[3] = before[3]
        np.testing.assert_array_equal(X, before)
        asked.append(end_at_zero(stretch, t, guard, low, high, side))
        return asked[-1]

    system = gc.build("ieee39")
    usual = gc.simulate(system, 1.5)
    monkeypatch.setattr(Stretch, "end_at_zero", told)
    run = gc.simulate(system, 1.5)
    assert len(asked) > 3
    np.testing.assert_allclose(run.t, usual.t, rtol=0, atol=1e-12)


def test_what_a_run_finds_does_not_depend_on_what_another_one_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in its first step."""
    found = watched(monkeypatch, Stretch, "end_at_zero")
    with registered(Falls):
        falls = system(Falls(id="F", level=0.95))
        runs = [gc.simulate(falls, 2.0, 0.1) for _ in range(2)]
    assert found == [pytest.approx(0.05 / 1.95, rel=1e-12), found[0]]
    np.testing.assert_array_equal(runs[0].X, runs[1].X)
