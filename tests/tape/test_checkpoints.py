"""Wherever the states of a run are kept, they and every gradient are the same to the last bit."""

from __future__ import annotations

import errno
import functools
import gc as garbage
import itertools
import math
import os
import tempfile
import tracemalloc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from short_segments import POINTS

import gridcore as gc
from gridcore.equations import Workspace
from gridcore.equilibrium import Equilibrium
from gridcore.tape import Recomputed, Switch, checkpoints
from gridcore.tape.checkpoints import OnDisk, first_checkpoint
from gridcore_theta import Theta

pytestmark = pytest.mark.usefixtures("short_segments")
STUDIES: dict[str, dict[str, Any]] = {
    # located crossings in every segment; a fault and limits; a delay that is cancelled
    "hiskens_pai": {"t_end": 1.45, "step": 1e-3, "wrt": ["HP.p1", "HP.a12", "HP.x1"], "of": ("HP", "x1")},
    "wscc9_paper": {"t_end": 1.0, "step": 1e-3, "wrt": ["GEN*.H", "EXC*.KA"], "of": ("GEN2", "omega")},
    "wscc9_recovery_cancelled": {"t_end": 32.0, "step": 0.0125, "wrt": ["GEN2.H", "LOAD5.*"], "of": ("BUS6", "Vm")},
}
AS_SHIPPED = checkpoints.SEGMENTS
LEAST = 8 * (POINTS + 10)  # bytes for each unknown: a segment with a few events, and one checkpoint


@functools.cache
def system(name: str) -> Equilibrium:
    return gc.build(name)


def opened_in(folder: Path) -> bool:
    """Whether this process has a file without a name open in a folder."""
    there = (link.readlink() for link in Path("/proc/self/fd").glob("*") if link.is_symlink())
    return any(str(path).startswith(str(folder)) for path in there)


def simulated(name: str, checkpoint: Any) -> gc.Run:
    study = STUDIES[name]
    return gc.simulate(system(name), study["t_end"], study["step"], checkpoint=checkpoint)


def gradient(name: str, run: gc.Run) -> np.ndarray:
    q = STUDIES[name]["of"]
    objectives = [gc.Terminal(lambda v: v[q]), gc.Integral(lambda v: v[q] ** 2),
                  gc.Sampled([0.1, 0.77], lambda v: v[q], data=0.3)]
    return gc.adjoint(run, objectives, STUDIES[name]["wrt"]).values


@functools.cache
def kept(name: str) -> tuple[np.ndarray, np.ndarray, Any]:
    """States, gradients and records with all states in memory."""
    run = simulated(name, "memory")
    return run.X.copy(), gradient(name, run), run.tape.records


def same_to_the_last_bit(name: str, checkpoint: Any) -> gc.Run:
    X, expected, records = kept(name)
    run = simulated(name, checkpoint)
    assert gradient(name, run).tobytes() == expected.tobytes()
    assert run.X.tobytes() == X.tobytes()
    assert run.tape.records == records
    return run


def test_the_grids_have_what_they_should():
    for name, kind in (("wscc9_paper", "switch"), ("wscc9_recovery_cancelled", "cancelled")):
        assert kind in {event.kind for event in simulated(name, "memory").events}


def test_every_segment_of_the_switched_system_has_an_event():
    run = simulated("hiskens_pai", 10**6)
    starts = [*run.tape.states.starts, len(run.t)]
    switched = [r.k for r in run.tape.records if isinstance(r, Switch)]
    assert len(starts) > 10
    assert all(any(a <= k < b for k in switched) for a, b in itertools.pairwise(starts))


@given(n=st.integers(0, 10**6))
def test_a_segment_is_half_a_megabyte_of_states_but_no_shorter_than_128_points_and_no_longer_than_512(n):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "SEGMENTS", AS_SHIPPED)
        points = checkpoints.segment_length(n)
    assert points == 512 or 8 * (n + 1) * (points + 1) > 2**19 or points == 128
    assert points == 128 or 8 * n * points <= 2**19
    assert 128 <= points <= 512


class TestSameBits:
    @settings(max_examples=20, deadline=None)
    @given(name=st.sampled_from(list(STUDIES)), checkpoints=st.integers(0, 20))
    def test_recomputed_within_any_budget(self, name, checkpoints):
        """From one checkpoint in all to more than are needed."""
        budget = system(name).n * (LEAST + 16 * (8 + checkpoints))
        run = same_to_the_last_bit(name, budget)
        assert run.tape.states.held <= budget

    @pytest.mark.parametrize("slots", [1, 2, 3, 6])
    def test_recomputed_from_few_checkpoints(self, slots):
        """Those that a replay keeps on its way have what the run had there."""
        run = same_to_the_last_bit("hiskens_pai", system("hiskens_pai").n * (LEAST + 16 * (slots - 1)))
        assert run.tape.states.slots() == slots
        assert len(run.tape.states.starts) > 10

    def test_with_the_round_off_that_was_seen_before(self):
        """Which ends iterations: a segment that is replayed knows of that in those before it."""
        s = system("npcc140")
        whole, light = (gc.simulate(s, 3.0, checkpoint=c) for c in ("memory", np.int64(s.n * (LEAST + 16 * 8))))
        assert len(light.tape.states.starts) > 2
        assert whole.tape.last.noise.any()
        for k in (0, POINTS, len(whole.t) - 1):
            assert light.tape.states.row(k).tobytes() == whole.X[k].tobytes()

    @pytest.mark.parametrize("name", STUDIES)
    def test_kept_on_disk(self, name, tmp_path):
        run = same_to_the_last_bit(name, tmp_path)
        assert isinstance(run.tape.states, OnDisk)
        same_to_the_last_bit(name, "disk")

    def test_forward_sensitivities(self):
        S = [gc.analyses.tsa(simulated("hiskens_pai", c), ["HP.p1"]).values for c in ("memory", LEAST * 4)]
        assert S[0].tobytes() == S[1].tobytes()

    @settings(max_examples=20, deadline=None)
    @given(points=st.lists(st.integers(0, 1450), max_size=12))
    def test_points_in_any_order(self, points):
        X = kept("hiskens_pai")[0]
        run = recomputing()
        for k in points:
            assert np.array_equal(run.tape.states.row(k), X[k])

    def test_continuous_adjoint(self):
        pytest.importorskip("scikits_odes_sundials.ida")
        end = gc.Terminal(lambda v: v["HP", "x1"])
        runs = [simulated("hiskens_pai", checkpoint) for checkpoint in ("memory", LEAST * 4)]
        g = [gc.adjoint(run, end, ["HP.p1"], method="continuous") for run in runs]
        assert g[0].values.tobytes() == g[1].values.tobytes()

    def test_saved_and_loaded(self, tmp_path):
        run = simulated("wscc9_paper", system("wscc9_paper").n * LEAST * 2)
        run.save(tmp_path / "run.nc")
        assert gc.load_run(tmp_path / "run.nc").X.tobytes() == kept("wscc9_paper")[0].tobytes()

    def test_a_run_that_failed_keeps_what_it_had(self, monkeypatch):
        s, X = gc.build("hiskens_pai"), kept("hiskens_pai")[0]
        switch = Theta.switch

        def broken(stepper: Theta, ws: Workspace, t: float, jumped: bool) -> bool:
            if t > 0.5:
                raise gc.errors.ConvergenceError("sick")
            return switch(stepper, ws, t, jumped)

        monkeypatch.setattr(Theta, "switch", broken)
        with pytest.raises(gc.errors.ConvergenceError) as caught:
            gc.simulate(s, 1.0, 1e-3, checkpoint=s.n * LEAST * 2)
        assert 500 < len(caught.value.run.X) < 700
        assert np.array_equal(caught.value.run.X, X[: len(caught.value.run.X)])


@functools.cache
def recomputing() -> gc.Run:
    return simulated("hiskens_pai", system("hiskens_pai").n * (LEAST + 8 * 20))


# What is done with a run, of which nothing that is left may hold its states.
USES: dict[str, Any] = {
    "nothing": lambda run: None,
    "states": lambda run: run.X.sum(),
    "a moment": lambda run: run.at([0.05])["GEN2.omega"],
    "adjoint": lambda run: gc.adjoint(run, gc.Terminal(lambda v: v["GEN2", "omega"]), "GEN2.H"),
    "forward": lambda run: gc.analyses.forward_gradient(run, gc.Terminal(lambda v: v["GEN2", "omega"]), "GEN2.H"),
    "trajectories": lambda run: gc.analyses.tsa(run, ["GEN2.H"]),
    "continued": lambda run: gc.simulate(run, 0.3).events}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("options", [{"method": "theta"}, {"method": "trbdf2"}, {"method": "bdf"}, {"step": "auto"},
                                     {"checkpoint": "disk"}], ids=lambda options: "-".join(options.values()))
def test_states_are_gone_with_their_run(options, use):
    """At once, not when somebody looks for cycles: many runs of a large system would fill the memory before that."""
    wscc9 = system("wscc9_paper")
    garbage.disable()
    try:
        run = gc.simulate(wscc9, 0.25, **options)
        states, left = weakref.ref(run.tape.states), USES[use](run)
        del run
        assert states() is None, left
    finally:
        garbage.enable()


class TestMemory:
    def test_a_long_run_stays_within_its_budget(self):
        """Of 30 000 steps of 54 unknowns in memory, what the budget spares is not there, but for what replays it."""
        s, budget = system("wscc9_paper"), 100_000
        used = {}
        for checkpoint in ("memory", budget):
            garbage.collect()
            tracemalloc.start()
            run = gc.simulate(s, 60.0, 2e-3, checkpoint=checkpoint)
            used[checkpoint] = tracemalloc.get_traced_memory()[0]
            tracemalloc.stop()
        whole = 8 * s.n * len(run.t)
        assert run.tape.states.held <= budget
        assert used["memory"] - used[budget] > 0.9 * (whole - budget)

    def test_a_file_is_gone_with_its_run(self, tmp_path):
        run = gc.simulate(system("hiskens_pai"), 0.2, 1e-3, checkpoint=tmp_path)
        assert isinstance(run.tape.states.columns(slice(None)), np.memmap)
        assert opened_in(tmp_path) or not Path("/proc/self/fd").exists()
        del run
        garbage.collect()
        assert not list(tmp_path.iterdir())
        assert not opened_in(tmp_path)

    @pytest.mark.parametrize("checkpoint", ["tape", -1, math.nan, True, None])
    def test_anything_else_is_refused(self, checkpoint):
        with pytest.raises(gc.errors.CaseError, match="checkpoint"):
            gc.simulate(system("hiskens_pai"), 0.1, 1e-3, checkpoint=checkpoint)

    def test_a_run_of_chosen_steps_may_be_longer_than_any_grid(self):
        case = gc.load_case("wscc9")
        for name in ("fault.t", "fault.clear", "trip.t"):
            case.set(name, np.inf)
        run = gc.simulate(gc.build(case), 2e6, "auto", checkpoint=2_000_000)
        assert run.t[-1] == 2e6
        assert len(run.t) < 200
        assert np.isfinite(run.tape.X).all()

    def test_too_small_a_budget_says_how_much_is_needed(self):
        with pytest.raises(gc.errors.CaseError, match=r"too little: a segment of this run needs \d+"):
            gc.simulate(system("hiskens_pai"), 0.1, 1e-3, checkpoint=1000)

    def test_a_directory_that_is_not_there(self, tmp_path):
        with pytest.raises(gc.errors.CaseError, match="no file can be made"):
            gc.simulate(system("hiskens_pai"), 0.1, 1e-3, checkpoint=tmp_path / "nowhere")


    def test_a_file_that_cannot_grow_on_the_way_leaves_the_run_up_to_there(self, tmp_path, monkeypatch):
        """Crossings that nobody counted before ask for more room than there is."""
        grow, calls = os.posix_fallocate, []

        def full(*arguments):
            calls.append(arguments)
            if len(calls) > 2:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            grow(*arguments)

        monkeypatch.setattr(os, "posix_fallocate", full)
        with pytest.raises(gc.errors.CaseError, match=r"there is no room for .* of states") as caught:
            gc.simulate(system("hiskens_pai"), 1.45, 0.02, checkpoint=tmp_path)
        monkeypatch.undo()
        run, whole = caught.value.run, gc.simulate(system("hiskens_pai"), 1.45, 0.02)
        assert 50 < len(run.t) == len(run.X) < len(whole.t)
        assert np.array_equal(run.X, whole.X[: len(run.t)])
        run.save(tmp_path / "x.nc")
        assert np.array_equal(gc.load_run(tmp_path / "x.nc").X, run.X)

    def test_room_that_cannot_be_given_back_costs_no_run(self, tmp_path, monkeypatch):
        class Stuck:
            """A file that can only grow."""

            def __init__(self, file):
                self.file = file

            def __getattr__(self, name):
                return getattr(self.file, name)

            def truncate(self, size):
                raise OSError(errno.EIO, os.strerror(errno.EIO))

        made = tempfile.TemporaryFile
        monkeypatch.setattr(tempfile, "TemporaryFile", lambda **where: Stuck(made(**where)))
        run = gc.simulate(system("hiskens_pai"), 1.45, 0.02, checkpoint=tmp_path)
        assert np.array_equal(run.X, gc.simulate(system("hiskens_pai"), 1.45, 0.02).X)


class TestSchedule:
    """Against the least work there is, by exhaustive search."""

    @staticmethod
    @functools.cache
    def least(segments: int, slots: int) -> int:
        if segments <= 1:
            return 0
        if slots == 0:
            return segments * (segments - 1) // 2
        return min(m + TestSchedule.least(segments - m, slots - 1) + TestSchedule.least(m, slots)
                   for m in range(1, segments))

    @staticmethod
    @functools.cache
    def done(segments: int, slots: int) -> int:
        if segments <= 1 or slots == 0:
            return segments * (segments - 1) // 2
        m = first_checkpoint(segments, slots)
        return m + TestSchedule.done(segments - m, slots - 1) + TestSchedule.done(m, slots)

    @pytest.mark.parametrize("slots", [1, 2, 3, 5, 9])
    def test_the_schedule_does_the_least_work_there_is(self, slots):
        for segments in range(1, 70):
            assert self.done(segments, slots) == self.least(segments, slots)

    @pytest.mark.parametrize("spare", [2, 3, 6, 12])
    def test_a_sweep_costs_what_the_schedule_says(self, spare, monkeypatch):
        """Segments replayed on the way back: those advanced over, and each but the last (still there) itself."""
        run = gc.simulate(system("hiskens_pai"), 1.2, 5e-4, checkpoint=system("hiskens_pai").n * (LEAST + 8 * spare))
        states = run.tape.states
        assert isinstance(states, Recomputed)
        segments = len(states.starts)
        slots = states.slots()
        assert 1 < slots < segments
        replayed = []
        append = states.append
        monkeypatch.setattr(states, "append", lambda X: (replayed.append(X), append(X)))
        for k in range(len(run.t) - 1, -1, -1):
            states.row(k)
        assert len(replayed) <= (self.least(segments, slots - 1) + segments) * len(states.buffer)
