"""Steps that are made many at once are those that are made one by one."""

from __future__ import annotations

import ctypes
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import gridcore as gc
from gridcore.contract import Algebraic, Device, Mode, Param, State, guard
from gridcore.equations import Workspace
from gridcore.equations.native import Native, runtime
from gridcore.integrate import Stepper, Stretched
from gridcore.integrate.control import Controlled
from gridcore.linear import Newton
from gridcore.results import Run
from gridcore.tape import Resolve, Step
from gridcore_bdf.stepper import Bdf
from gridcore_stretch import Stretch
from gridcore_theta.stepper import Theta
from gridcore_trbdf2.stepper import TrBdf2

pytestmark = pytest.mark.skipif(not isinstance(runtime(), Native), reason="no C compiler")

RUNS = pytest.mark.parametrize(("case", "stepper", "options"), [
    ("wscc9", Theta, {}), ("ieee39", Theta, {}), ("wscc9", Theta, {"theta": 1.0}), ("npcc140", Theta, {"theta": 0.6}),
    ("wscc9", Theta, {"step": "auto"}), ("ieee39", Theta, {"step": "auto", "rtol": 1e-3}),
    ("wscc9", Theta, {"step": "auto", "theta": 0.7}), ("wscc9", Bdf, {}), ("wscc9", Bdf, {"step": "auto"}),
    ("ieee39", Bdf, {"step": "auto", "rtol": 1e-4}), ("wscc9", TrBdf2, {}), ("ieee39", TrBdf2, {}),
    ("wscc9", TrBdf2, {"step": "auto"}), ("npcc140", TrBdf2, {"step": "auto", "rtol": 1e-4})])


def simulated(case: str, stepper: Any, options: dict[str, Any], t_end: float = 3.0) -> tuple[Run, int]:
    """A run, and how many advances it took."""
    advances, advance = [], stepper.advance
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stepper, "advance", lambda *of: advances.append(1) or advance(*of))
        run = gc.simulate(gc.build(gc.load_case(case)), t_end, method=stepper.name, **options)
    return run, len(advances)


def one_by_one(case: str, stepper: Any, options: dict[str, Any], mesh: Run | None = None) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stepper, "stretch", Stepper.stretch)
        if mesh is not None:
            return gc.simulate(gc.build(gc.load_case(case)), 3.0, mesh=mesh)
        return simulated(case, stepper, options)[0]


@RUNS
def test_times_states_and_events_are_those_of_steps_made_one_by_one(case: str, stepper: Any,
                                                                   options: dict[str, Any]) -> None:
    run, advances = simulated(case, stepper, options)
    other = one_by_one(case, stepper, options)
    assert advances < run.counters["steps"] / 2
    if options.get("step") == "auto":  # lengths follow from round-off, and from whatever factors there are
        assert abs(len(run.t) / len(other.t) - 1) < 0.02
        other = one_by_one(case, stepper, options, mesh=run)
    for count in ("steps", "events", "switches"):
        assert run.counters[count] == other.counters[count]
    np.testing.assert_allclose(run.t, other.t, rtol=0, atol=1e-10)
    scale = run.system.workspace().scale + np.abs(other.X)
    assert (np.abs(run.X - other.X) / scale).max() < 1e-9
    assert [type(record) for record in run.tape.records] == [type(record) for record in other.tape.records]


@pytest.mark.parametrize(("case", "stepper"), [("wscc9", Theta), ("wscc9", TrBdf2), ("kundur", Bdf)])
def test_a_step_whose_error_is_too_large_is_made_again_with_those_beside_it(case: str, stepper: Any) -> None:
    options = {"step": "auto", "rtol": 1e-3}
    (run, advances), other = simulated(case, stepper, options), one_by_one(case, stepper, options)
    assert advances < run.counters["rejections"]
    assert abs(run.counters["rejections"] - other.counters["rejections"]) <= 2  # lengths follow from round-off
    assert abs(len(run.t) / len(other.t) - 1) < 0.02


class Driven(Device):
    """Follows a signal of the time, of another size each time when it passes zero."""

    x0 = Param("", 0.4)
    x, y = State("", start_at="x0"), Algebraic("", init=-1.0)
    turned = Mode(0)

    def rates(s: Any) -> Any:
        return 10 * s.y

    def residuals(s: Any) -> Any:
        return s.y + s.x + np.cos(9 * s.time) * np.where(s.turned, 0.8, 1.5)

    @guard("both", then={"turned": lambda s: 1 - s.turned})
    def passes(s: Any) -> Any:
        return s.x


def begun(run: Run) -> list[float]:
    """The lengths of first steps, after events."""
    pairs = pairwise(run.tape.records)
    return [then.h for before, then in pairs if isinstance(before, Resolve) and isinstance(then, Step)]


@pytest.mark.parametrize("stepper", [Theta, TrBdf2, Bdf])
@pytest.mark.parametrize("case", ["ieee39", "npcc140", "driven"])
def test_the_first_length_after_an_event_is_the_one_without_these_loops(
        case: str, stepper: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one segment: else there are lengths where the others begin, too."""
    monkeypatch.setattr("gridcore.tape.checkpoints.SEGMENTS", (0, 10000, 10000))
    options: dict[str, Any] = {"step": "auto", "method": stepper.name, "rtol": 1e-4}
    lengths, go = [], Stretch.go

    def only_others(self: Stretch, t: float, ends: np.ndarray, most: int, *of: Any) -> Any:
        if of[2]["h"]:
            return go(self, t, ends, most, *of)
        lengths.append(t)
        return Stretched(np.array([t]), np.zeros((1, 1)))

    with gc.registered(Driven):
        if case == "driven":
            driven = gc.Case("driven")
            driven.add("Driven", id="D")
        system = gc.build(driven if case == "driven" else gc.load_case(case))
        run = gc.simulate(system, 2.0, **options)
        monkeypatch.setattr(Stretch, "go", only_others)
        other = gc.simulate(system, 2.0, **options)
    assert len(begun(run)) >= len(lengths) - 1 >= 2
    np.testing.assert_allclose(begun(run), begun(other), rtol=1e-7)


def test_the_error_of_steps_is_estimated_in_the_same_ones() -> None:
    for case, step in (("wscc9", 0.01), ("ieee39", 0.01), ("ieee39", 0.005)):
        run, _ = simulated(case, Theta, {"step": step})
        assert run.counters["error_estimate"] == one_by_one(case, Theta, {"step": step}).counters["error_estimate"]


def test_a_step_that_is_too_large_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="too large"):
        simulated("wscc9", Theta, {"step": 0.1})


def test_it_is_told_of_each_point_and_stops_there() -> None:
    seen: list[float] = []

    def tell(t: float) -> None:
        seen.append(t)
        if t > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        gc.simulate(gc.build(gc.load_case("wscc9")), 2.0, progress=tell)
    stopped = caught.value.run
    assert stopped.t[-1] == seen[-1]
    assert set(seen) <= set(stopped.t.tolist())
    on, whole = gc.simulate(stopped, 2.0), gc.simulate(gc.build(gc.load_case("wscc9")), 2.0)
    np.testing.assert_array_equal(on.X, whole.X)


@pytest.mark.usefixtures("short_segments")
def test_a_run_recomputed_from_checkpoints_has_the_same_bits() -> None:
    system = gc.build(gc.load_case("ieee39"))
    whole = gc.simulate(system, 4.0)
    few = gc.simulate(system, 4.0, checkpoint=8 * system.n * 200)
    np.testing.assert_array_equal(few.X, whole.X)


def euler(ws: Workspace) -> Any:
    """Begins a step of 10 ms by Euler's rule, for a loop in C."""
    @ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_long, ctypes.c_long)
    def begin(_: int, t: float, end: float, *more: int) -> float:
        ws.base[:], ws.c[:], ws.Z[-1] = ws.mass * ws.X, np.where(ws.mass, end - t, -1.0), end
        ws.residual()
        return end - t

    return begin


@pytest.mark.parametrize("wrong", [0.0, np.nan])
@pytest.mark.parametrize("row", [0, 5, -1])
def test_an_error_that_is_no_number_is_not_tolerated(wrong: float, row: int) -> None:
    """Of one variable, of a step of Euler's rule."""
    system = gc.build("wscc9")
    ws = system.workspace()
    ws.refresh()
    ws.differential[:] = system.differential(ws.Z)

    @ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p, ctypes.POINTER(ctypes.c_double))
    def error(_: int, out: Any) -> int:
        found = np.ctypeslib.as_array(out, (ws.n,))
        found[:] = 0.0
        found[row] = wrong
        return 1

    stepper = Bdf(0.01)
    controlled = Controlled(stepper)
    controlled.restart(ws, 0.0)
    controlled.newton.derivative(ws.differential)  # from here on there are pivots
    controlled.h = 0.01
    begin = euler(ws)
    stepper.past.stretch = Stretch(ws, begin, error, 0)
    made = controlled.stretch(0.0, np.array([1.0]), 4, system.switching.batches, np.zeros(len(system.switching.guards)))
    assert made is not None
    assert (len(made.times) > 1) == (wrong == 0)
    assert (controlled.counters["rejections"] > 0) == (wrong != 0)
    assert ws.Z[-1] == made.times[-1]


def test_factors_with_pivots_that_were_searched_anew_in_between_are_made_again() -> None:
    system = gc.build("wscc9")
    ws = system.workspace()
    ws.refresh()
    ws.differential[:] = ws.mass[:] = system.differential(ws.Z)

    begin, newton = euler(ws), Newton(ws)
    newton.derivative(ws.differential)  # from here on there are pivots
    start, ends, factorisations = ws.X.copy(), [], []
    start[system.variables.index(("GEN2", "omega"))] += 1e-9
    for anew in (False, True):
        ws.X[:], stretch = start, Stretch(ws, begin, None, 0)
        for t in (0.0, 0.02):
            made = stretch.go(t, t + np.array([0.01, 0.02]), 4, system.switching.batches,
                              np.zeros(len(system.switching.guards)))
            assert made is not None
            assert len(made.times) == 3
            if anew:
                newton.renew()
                newton.derivative(ws.differential)
        ends.append(ws.X.copy())
        factorisations.append(stretch.counters["factorisations"])
    assert factorisations[1] > factorisations[0]
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("case", ["wscc9_recovery_loads", "kundur_lcc"])
def test_a_system_whose_parts_do_not_hang_together_is_stepped_at_once_too(
        case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices that nobody reads are blocks of their own in its matrix."""
    made, go = list[int](), Stretch.go

    def counted(self: Stretch, *of: Any) -> Stretched | None:
        found = go(self, *of)
        made.append(len(found.times) - 1 if found else 0)
        return found

    monkeypatch.setattr(Stretch, "go", counted)
    run = gc.simulate(gc.build(case), 5.0, 0.01)
    assert sum(made) > 0.9 * run.counters["steps"]
