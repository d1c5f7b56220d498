"""What a run keeps: only what is to be recorded, in memory up to a budget."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import gridcore as gc
from gridcore.commands.main import gridcore
from gridcore.errors import NotRecorded
from gridcore.results import select
from gridcore.tape.checkpoints import OnDisk

SYSTEM = gc.build("wscc9")
PATTERNS = ["GEN*.omega", "GEN2.*", "BUS7.Vm", "BUS*.Va", "EXC1.Efd", "EXC*.VR", "LINE5-7.I1", "GEN1.P"]
SPAN = {"t_end": 0.4, "step": 0.01}


@pytest.fixture(scope="module")
def whole():
    return gc.simulate(SYSTEM, **SPAN)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=4, unique=True))
def test_what_is_recorded_is_that_of_the_whole_run_to_the_last_bit(whole, patterns):
    run = gc.simulate(SYSTEM, **SPAN, record=patterns)
    for pattern in patterns:
        for device, name in select(SYSTEM, [pattern]):
            assert np.array_equal(run[device, name], whole[device, name])
    assert [str(e) for e in run.events] == [str(e) for e in whole.events]
    assert run.t.tobytes() == whole.t.tobytes()


def test_no_more_is_kept_than_what_the_quantities_follow_from():
    run = gc.simulate(SYSTEM, **SPAN, record=["GEN2.omega", "BUS7.Vm"])
    names = [SYSTEM.variables[k] for k in run.tape.states.recorded]
    assert names == [("BUS7", "Vr"), ("BUS7", "Vi"), ("GEN2", "omega")]
    assert (run.tape.states.points, run.tape.states.width) == (len(run.t), 3)


def test_parameters_and_modes_are_always_there(whole):
    run = gc.simulate(SYSTEM, **SPAN, record="GEN2.omega")
    for key in (("fault", "on"), ("LINE5-7", "status"), ("GEN2", "H")):
        assert np.array_equal(run[key], whole[key])


@pytest.mark.parametrize("look", [
    lambda run: run["GEN1", "delta"], lambda run: run.of(["GEN2", "GEN3"], "omega"), lambda run: run.X,
    lambda run: run.to_xarray(["Efd"]), lambda run: run.save("no.csv", columns=["GEN1.delta"]),
    lambda run: gc.adjoint(run, gc.Terminal(lambda v: v["GEN2", "omega"]), "GEN2.H"),
    lambda run: gc.analyses.tsa(run, ["GEN2.H"], [("GEN2", "omega")])])
def test_what_was_not_recorded_is_refused(look, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = gc.simulate(SYSTEM, **SPAN, record="GEN2.omega")
    with pytest.raises(NotRecorded, match="record"):
        look(run)
    assert not list(tmp_path.iterdir())


def test_an_unknown_name_is_refused_before_the_run():
    with pytest.raises(gc.errors.CaseError, match=r"no quantity matches 'GEN2\.omga'; did you mean GEN2\.omega"):
        gc.simulate(SYSTEM, **SPAN, record="GEN2.omga")
    with pytest.raises(gc.errors.CaseError, match="give one of the two"):
        gc.simulate(SYSTEM, **SPAN, record="GEN2.omega", checkpoint=10_000_000)


def test_a_run_of_ida_records_as_well():
    whole, run = (gc.simulate(SYSTEM, **SPAN, method="ida", record=record) for record in (None, "GEN*.omega"))
    assert np.array_equal(run["GEN2", "omega"], whole["GEN2", "omega"])


@pytest.mark.parametrize("patterns", [["GEN*.omega", "BUS7.Vm"], ["GEN2.*", "EXC1.Efd"]])
def test_a_recorded_run_is_saved_and_comes_back(whole, tmp_path, patterns):
    run = gc.simulate(SYSTEM, **SPAN, record=patterns)
    run.save(tmp_path / "r.nc")
    back = gc.load_run(tmp_path / "r.nc")
    assert back.tape.states.recorded is not None
    assert back.to_xarray().identical(run.to_xarray())
    for pattern in patterns:
        for device, name in select(SYSTEM, [pattern]):
            assert np.array_equal(back[device, name], whole[device, name])
    with pytest.raises(NotRecorded):
        back["GEN1", "delta"]


def test_files_have_what_was_recorded_and_no_more(tmp_path):
    run = gc.simulate(SYSTEM, **SPAN, record=["GEN*.omega", "BUS7.Vm", "GEN2.delta"])
    data = run.to_xarray()
    assert [data[name].size // len(run.t) for name in ("omega", "Vm", "delta")] == [3, 1, 1]
    assert "Efd" not in data
    run.save(tmp_path / "r.csv")
    head = (tmp_path / "r.csv").read_text().splitlines()[0].split(",")
    assert {"GEN1.omega", "GEN2.omega", "GEN3.omega", "BUS7.Vm", "GEN2.delta"} <= set(head)
    assert "GEN1.delta" not in head


def test_the_command_line_records_and_sums_up_what_it_can(tmp_path):
    shown = CliRunner().invoke(gridcore, ["run", "wscc9", "--record", "GEN*.omega", "--record", "BUS7.Vm", "--t-end",
                                          "0.3", "--out", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    assert "BUS7 at" in shown.stdout
    assert "speed" not in shown.stdout
    assert not gc.load_run(tmp_path / "wscc9.nc").keeps(["GEN1"], "delta")
    shown = CliRunner().invoke(gridcore, ["run", "wscc9", "--record", "GEN*.delta", "--record", "GEN*.omega", "--t-end",
                                          "0.3", "--memory", "0.001", "--out", str(tmp_path)])
    assert "in synchronism" in shown.stdout
    assert "voltage" not in shown.stdout


@pytest.mark.parametrize(("patterns", "shown"), [
    (["GEN*.omega"], ["rotor speed"]), (["GEN*.omega", "GEN*.delta"], ["rotor speed (pu)", "rotor angle"]),
    (["BUS[12].Vm"], ["bus voltage (pu)"]), (["GEN2.Efd"], ["field voltage (pu)"])])
def test_a_figure_has_what_was_recorded(patterns, shown, tmp_path):
    figure = gc.analyses.plot(gc.simulate(SYSTEM, **SPAN, record=patterns), tmp_path / "r.png")
    assert (tmp_path / "r.png").exists()
    headings = [axes.get_ylabel() for axes in figure.axes]
    assert len(headings) == len(shown)
    assert all(heading.startswith(start) for heading, start in zip(headings, shown, strict=True))


# Beyond the budget --------------------------------------------------------------------------------------------------


def test_states_beyond_the_budget_go_to_a_file_and_are_the_same_to_the_last_bit():
    study = {"t_end": 1.0, "step": 0.005}
    whole = gc.simulate(SYSTEM, **study, checkpoint="memory")
    speed = gc.Integral(lambda v: (v["GEN2", "omega"] - 1) ** 2)
    expected = gc.adjoint(whole, speed, "GEN*.H").values
    size = 8 * SYSTEM.n * len(whole.t)
    for budget, on_disk in ((size // 3, True), (size - 1, True), (2 * size, False), (None, False)):
        run = gc.simulate(SYSTEM, **study, memory=budget)
        assert isinstance(run.tape.states, OnDisk)
        assert isinstance(run.tape.states.columns(slice(None)), np.memmap) is on_disk
        assert run.X.tobytes() == whole.X.tobytes()
        assert gc.adjoint(run, speed, "GEN*.H").values.tobytes() == expected.tobytes()


def test_a_run_that_grows_beyond_its_budget_on_the_way_moves():
    """Crossings that nobody counted before: points beyond those of the grid."""
    system, few = gc.build("hiskens_pai"), {"t_end": 1.45, "step": 0.02}
    whole = gc.simulate(system, **few, checkpoint="memory")
    reserved = 8 * system.n * (round(1.45 / 0.02) + 4)
    run = gc.simulate(system, **few, memory=reserved)
    assert len(whole.t) * 8 * system.n > reserved
    assert isinstance(run.tape.states.columns(slice(None)), np.memmap)
    assert run.X.tobytes() == whole.X.tobytes()


def test_where_the_disk_is_full_it_is_told(monkeypatch):
    def full(handle, begin, size):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(gc.errors.CaseError, match=r"there is no room for .* MB of states in .*No space left on device"):
        gc.simulate(SYSTEM, **SPAN, memory=1000)


@pytest.mark.parametrize("memory", [0, -1.0, float("nan")])
def test_a_budget_that_is_none_is_refused(memory):
    with pytest.raises(gc.errors.CaseError, match=r"memory = .* must be a number of bytes above 0"):
        gc.simulate(SYSTEM, **SPAN, memory=memory)
