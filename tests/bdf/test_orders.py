"""The order of BDF's steps: as a choice, as an option, and as the tape has it."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from devices_for_tests import Driven, system
from hypothesis import given, settings
from hypothesis import strategies as st

import gridcore as gc
from gridcore.equilibrium import Equilibrium
from gridcore.errors import CaseError
from gridcore.linear import newton
from gridcore.results import Run
from gridcore.sensitivity import Replay
from gridcore.tape import Step
from gridcore_bdf import past
from gridcore_bdf.formula import formula
from gridcore_bdf.orders import Orders
from gridcore_bdf.past import Past


@given(angle=st.floats(0.1, 1.5), damping=st.floats(0.0, 0.3), slow=st.floats(0.0, 10.0), seed=st.integers(0, 9),
       order=st.integers(3, 5))
@settings(max_examples=60)
def test_the_loops_in_c_decide_as_numpy_does(angle: float, damping: float, slow: float, seed: int, order: int) -> None:
    """Over an oscillation that dies out, by steps that grow and shrink, beside something slow."""
    s = system(Driven(id="D"), Driven(id="E"))
    random, pasts = np.random.default_rng(seed), []
    for loops in (past.loops, lambda runtime: {}):
        ws = s.workspace()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(past, "loops", loops)
            pasts.append(Past(ws, Orders(order), 2))
        pasts[-1].orders.choose(0.0, 300)
    steps = angle * np.cumprod(1 + 0.1 * random.uniform(-1, 1, 300) * (np.arange(300) % 60 > 40))
    for t in np.cumsum(steps):
        for each in pasts:
            each.ws.X[:] = math.exp(-damping * t) * math.cos(t), slow * math.sin(t / 100)
            each.begin(t)
        one, other = (each.orders.now for each in pasts)
        assert [getattr(one, name) for name in FIELDS] == [getattr(other, name) for name in FIELDS]
        assert list(one.fast) == pytest.approx(list(other.fast), rel=1e-6)
    assert pasts[0].orders.news() == pasts[1].orders.news()


FIELDS = "order chooses changes steps looks began length".split()
CHOSEN: dict[str, Any] = {"step": "auto", "method": "bdf", "rtol": 1e-3, "atol": 1e-5}


@pytest.fixture(scope="module")
def minutes() -> Equilibrium:
    """Recovery loads behind a line that is tripped: a swing for ten seconds, and then little for minutes."""
    from scripts import script

    return script("trbdf2").minutes()


@pytest.fixture(scope="module")
def run(minutes: Equilibrium) -> Run:
    return gc.simulate(minutes, 300.0, **CHOSEN)


def changes(run: Run) -> list[list[float]]:
    """What the tape says of the order, behind the first pair."""
    order = run.tape.methods[-1].options["order"]
    return [] if isinstance(order, int) else order[1:]


@pytest.mark.parametrize("order", [3, 4, 5])
def test_a_swing_that_has_died_out_does_not_keep_steps_short(minutes: Equilibrium, order: int) -> None:
    """Order 2, which is stable for it however long the step, takes over; of orders that stay a tenth are as long."""
    run = gc.simulate(minutes, 300.0, **CHOSEN, order=order)
    (t, lower), *_ = changes(run)
    assert (5.0 < t < 20.0, lower) == (True, 2)
    assert np.diff(run.t)[run.t[:-1] < t].max(where=run.t[1:][run.t[:-1] < t] > 5.0, initial=0.0) < 0.5
    assert np.diff(run.t).max() > 10.0
    assert run.counters["steps"] < {3: 500, 4: 400, 5: 300}[order]


def test_its_errors_are_those_of_the_tolerance(minutes: Equilibrium) -> None:
    fine = {**CHOSEN, "rtol": 1e-6, "atol": 1e-8}
    for t in (2.0, 10.0, 60.0, 300.0):
        found, true = (gc.simulate(minutes, t, **how).X[-1] for how in (CHOSEN, fine))
        assert np.abs((found - true) / (minutes.workspace().scale + np.abs(true))).max() < CHOSEN["rtol"] / 2


def test_a_filter_that_rings_too_fast_for_order_five_does_not_either() -> None:
    """Its eigenvalue is at 71 degrees, -1924 + 5736j 1/s: order 4 is stable for it, and is taken where it has rung."""
    system = gc.build("kundur_converter")
    five, four = (gc.simulate(system, 1.9, "auto", method="bdf", order=order) for order in (5, 4))
    assert {order for _, order in changes(five)} >= {2, 4}
    assert five.counters["steps"] < 1.3 * four.counters["steps"]


@pytest.mark.parametrize("rtol", [1e-3, 1e-5])
@pytest.mark.parametrize("name", ["wscc9", "ieee39", "npcc140"])
def test_swings_that_steps_follow_keep_the_highest_order(name: str, rtol: float) -> None:
    run = gc.simulate(gc.build(name), 5.0, "auto", method="bdf", rtol=rtol, atol=rtol / 100)
    assert run.tape.methods[0].options == {"order": 5, "start": 2}


def test_orders_are_repeated_with_the_mesh_and_are_those_of_the_derivative(run: Run) -> None:
    again = gc.simulate(run.system, mesh=run)
    assert again.tape.methods == run.tape.methods
    assert len(changes(run)) == 2
    np.testing.assert_allclose(again.X, run.X, rtol=0, atol=1e-10)
    end = gc.Sampled([11.0, 60.0], lambda v: v["GEN2", "omega"] + v["BUS5", "Vm"], 1.0)
    exact = gc.adjoint(run, end, ["GEN2.H", "LOAD5.Tp"]).values
    differences = gc.differences(run, end, ["GEN2.H", "LOAD5.Tp"], relative_step=1e-3)
    np.testing.assert_allclose(differences.values, exact, rtol=1e-6, atol=2e-12)  # round-off of one, by thousandths
    np.testing.assert_allclose(gc.analyses.forward_gradient(run, end, ["GEN2.H", "LOAD5.Tp"]).values, exact, rtol=1e-10)


def test_they_go_to_a_file_and_come_back(run: Run, tmp_path: Path) -> None:
    run.save(tmp_path / "run.nc")
    loaded = gc.load_run(tmp_path / "run.nc")
    assert loaded.tape.methods == run.tape.methods
    end = gc.Terminal(lambda v: v["GEN2", "omega"])
    assert np.array_equal(gc.adjoint(loaded, end, "GEN2.H").values, gc.adjoint(run, end, "GEN2.H").values)


@pytest.mark.parametrize(("t", "count"), [(2.0, 0), (9.0, 1)])
def test_a_run_goes_on_with_orders_of_its_own_and_the_first_one_keeps_its(
        minutes: Equilibrium, t: float, count: int) -> None:
    first = gc.simulate(minutes, t, **CHOSEN)
    before = copy.deepcopy(first.tape.methods)
    whole = gc.simulate(first, 300.0)
    assert first.tape.methods == before
    assert len(changes(first)) == count
    assert changes(whole)[:count] == changes(first)
    assert changes(whole)[0][0] < 20.0
    made_again = gc.simulate(first, t_end=300.0, step="auto")
    assert made_again.tape.methods == whole.tape.methods
    end = gc.Terminal(lambda v: v["GEN2", "omega"])
    exact = gc.adjoint(whole, end, "LOAD5.Tp").values
    np.testing.assert_allclose(gc.analyses.forward_gradient(whole, end, "LOAD5.Tp").values, exact, rtol=1e-10)


def test_each_step_solves_the_formula_of_its_order_also_where_the_run_was_continued(minutes: Equilibrium) -> None:
    """As the operator has it, whose order is that of the tape."""
    first = gc.simulate(minutes, 2.0, **CHOSEN)
    run, begun = gc.simulate(first, 60.0), len(first.t) + 6  # from where on there are points for every order
    assert changes(run)
    replay = Replay(run.system, run.tape, np.array([run.system.layout.address("GEN2.H")]))
    differential, scale = run.system.base_differential, run.system.scale
    steps = [record for record in run.tape.records if isinstance(record, Step) and record.k > begun]
    orders = set()
    for record in steps:
        made_of = [record.k, *replay.step(record).past]
        d = (run.t[record.k + 1] - run.t[made_of]).tolist()
        orders.add(order := len(d) - 1)
        b, beta, _ = formula(d, order)
        off = run.X[record.k + 1] - np.dot(beta, run.X[made_of]) - b * replay.point(record.k + 1).F
        assert np.abs(off / (scale + np.abs(run.X[record.k + 1])))[differential].max() < 1e-10
    assert orders >= {2, 5}


def test_where_steps_are_chosen_anew_orders_are_too(minutes: Equilibrium, run: Run) -> None:
    """Whatever pairs are given: those of another run, say."""
    told = run.tape.methods[0].options["order"]
    again = gc.simulate(minutes, 300.0, **CHOSEN, order=told)
    assert np.array_equal(again.X, run.X)
    assert again.tape.methods == run.tape.methods
    short = gc.simulate(minutes, 5.0, **CHOSEN, order=told)
    assert short.tape.methods[0].options["order"] == 5


def test_large_systems_whose_steps_are_made_one_by_one_choose_too(
        minutes: Equilibrium, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton, "MIXED", -np.inf)
    alone = gc.simulate(minutes, 300.0, **CHOSEN)
    assert [order for _, order in changes(alone)] == [order for _, order in changes(run)]
    assert alone.counters["steps"] == pytest.approx(run.counters["steps"], rel=0.2)


@pytest.mark.parametrize("order", [0, 6, 2.5, "5", None, [], [(0.0, 6)], [(0.0, 3), (1.0, 4)], [(0.0, 5), (0.0, 2)],
                                   [(0.0, 5), 2], [(0.0, 5), (1.0, 2.5)], [(0.0, 5), (np.nan, 2)], np.nan, np.inf])
def test_what_is_no_order_is_refused(order: Any) -> None:
    with pytest.raises(CaseError, match="must be a whole number from 1 to 5, or pairs"):
        Orders(order)
