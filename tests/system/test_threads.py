"""Threads share a system: what they compute is what one of them computes, to the last bit."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np
import pytest
from short_segments import POINTS

import gridcore as gc

pytestmark = pytest.mark.usefixtures("short_segments")
THREADS, TIMES = 4, 50


def in_threads(work):
    """Results of the calls ``work(0)`` to ``work(199)``, made by four threads at once."""
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS * TIMES)))


@pytest.fixture(scope="module")
def system():
    return gc.build("wscc9_paper")


def end_of(k):
    """Runs of different lengths, steps and methods, so that threads are never in step."""
    return 0.12 + 0.01 * (k % 5), 0.01 if k % 3 else 0.005


def test_runs_of_one_system_are_those_of_one_thread(system):
    alone = {end: gc.simulate(system, *end).X for end in {end_of(k) for k in range(15)}}
    for k, X in enumerate(in_threads(lambda k: gc.simulate(system, *end_of(k)).X)):
        assert np.array_equal(X, alone[end_of(k)])


def test_adjoints_beside_runs_are_those_of_one_thread(system):
    run = gc.simulate(system, 0.15)
    H = gc.Integral(lambda v: v["GEN2", "omega"] ** 2)
    wrt = [["GEN*.H"], ["EXC*.KA"], ["GEN*.P0"], ["fault.clear"]]
    alone = [gc.adjoint(run, H, w).values for w in wrt]

    def work(k):
        if k % 4 == 0:
            gc.simulate(system, 0.12)
        return gc.adjoint(run, H, wrt[k % len(wrt)]).values

    for k, gradient in enumerate(in_threads(work)):
        assert np.array_equal(gradient, alone[k % len(wrt)])


def test_linearisations_beside_each_other_are_those_of_one_thread(system):
    others = [system.with_values({"GEN2.H": 6.0 + 0.1 * k}) for k in range(4)]
    alone = [gc.analyses.small_signal(other, method="dense").eigenvalues for other in others]
    found = in_threads(lambda k: gc.analyses.small_signal(others[k % 4], method="dense").eigenvalues)
    assert all(np.array_equal(eigenvalues, alone[k % 4]) for k, eigenvalues in enumerate(found))


def test_a_run_that_is_recomputed_may_be_read_by_all(system):
    whole = gc.simulate(system, 3.0).X
    run = gc.simulate(system, 3.0, checkpoint=8 * system.n * (POINTS + 26))
    for k, row in enumerate(in_threads(lambda k: run.tape.states.row(k % len(whole)))):
        assert np.array_equal(row, whole[k % len(whole)])


def test_a_run_whose_progress_callback_simulates_and_differentiates_is_the_one_without(system):
    alone = gc.simulate(system, 0.2)
    H, inner = gc.Integral(lambda v: v["GEN2", "omega"] ** 2), gc.simulate(system, 0.15)
    expected, gradient, seen = gc.simulate(system, 0.12, 0.005).X, gc.adjoint(inner, H, "GEN*.H").values, []

    def progress(t):
        seen.append(t)
        assert np.array_equal(gc.simulate(system, 0.12, 0.005).X, expected)
        assert np.array_equal(gc.adjoint(inner, H, "GEN*.H").values, gradient)

    assert np.array_equal(gc.simulate(system, 0.2, progress=progress).X, alone.X)
    assert len(seen) == 20


def test_a_quantity_that_threads_ask_for_first_at_once_is_traced_by_one_of_them():
    begun, asked = threading.Event(), threading.Event()

    class Slowly(gc.Device):
        attaches = "bus"

        @gc.quantity("pu")
        def twice(s, bus):
            begun.set()
            asked.wait(10.0)
            time.sleep(0.05)  # in which the other comes to where this one is
            return 2.0 * np.abs(bus.Vr)

    def second():
        begun.wait(10.0)
        asked.set()
        return run["slow.twice"]

    with gc.registered(Slowly):
        case, before = gc.load_case("smib"), ca.GlobalOptions.getNumpyMode()
        case.add(Slowly(id="slow", bus=3))
        run = gc.simulate(gc.build(case), t_end=0.02)
        with ThreadPoolExecutor(2) as pool:
            first, other = pool.submit(lambda: run["slow.twice"]), pool.submit(second)
            assert np.array_equal(first.result(), 2.0 * np.abs(run["BUS3.Vr"]))
            assert np.array_equal(other.result(), first.result())
    assert ca.GlobalOptions.getNumpyMode() == before
