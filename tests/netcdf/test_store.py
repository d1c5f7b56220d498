"""Runs on disk: what comes back is what was written, bit for bit; what is not a run is refused."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import signal
import tempfile
import typing

import h5netcdf
import h5py
import numpy as np
import pytest
from devices_for_tests import Explosion, system

import gridcore as gc
from gridcore.contract import Device, Param, State, quantity
from gridcore.errors import ConvergenceError, GridcoreError, NetworkError
from gridcore.tape import Arm, Cancel, Checkpoint, Clock, Record, Records, Resolve, Settings, Step, Switch, Tape
from gridcore_netcdf import form, write
from gridcore_netcdf.netcdf4 import Group


def stored(run, folder):
    run.save(folder / "run.nc")
    return gc.load_run(folder / "run.nc")


def assert_same(a, b):
    """Two runs with nothing different between them."""
    assert a.t.tobytes() == b.t.tobytes()
    assert a.X.tobytes() == b.X.tobytes()
    assert a.system.Z0.tobytes() == b.system.Z0.tobytes()
    assert a.tape.records == b.tape.records
    assert a.tape.clocks == b.tape.clocks
    assert list(a.tape.point_clock) == list(b.tape.point_clock)
    assert a.tape.methods == b.tape.methods
    assert [s.tobytes() for s in a.tape.settings] == [s.tobytes() for s in b.tape.settings]
    assert (a.settings, a.counters, a.timings) == (b.settings, b.counters, b.timings)
    assert a.events == b.events
    assert a.system.variables == b.system.variables
    for field in dataclasses.fields(Checkpoint):
        there, here = (getattr(run.tape.last, field.name) for run in (a, b))
        assert np.array_equal(there, here) if isinstance(there, np.ndarray) else there == here


@pytest.mark.parametrize(("name", "t_end", "step"), [
    ("hiskens_pai", 0.2, 0.001), ("wscc9", 0.3, 0.01), ("smib", 0.3, 0.01), ("swing", 0.3, 0.01),
    ("wscc9_recovery_loads", 0.1, 0.01)])
def test_a_loaded_run_is_the_run_that_was_saved(name, t_end, step, tmp_path):
    run = gc.simulate(gc.build(name), t_end=t_end, step=step)
    assert_same(run, stored(run, tmp_path))


def test_a_process_killed_over_the_content_of_a_file_leaves_nothing_behind(tmp_path, monkeypatch):
    run = gc.simulate(gc.build("wscc9"), t_end=0.1)
    run.save(tmp_path / "run.nc")
    assert write.content(run) == (tmp_path / "run.nc").read_bytes()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(write, "seal", lambda output: os.kill(os.getpid(), signal.SIGKILL))
    writer = multiprocessing.get_context("fork").Process(target=write.content, args=(run,))
    writer.start()
    writer.join(60)
    assert writer.exitcode == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


def test_a_loaded_run_answers_by_name(tmp_path):
    run = gc.simulate(gc.build("wscc9"), t_end=0.3)
    loaded = stored(run, tmp_path)
    for key in (("GEN2", "omega"), ("BUS7", "Vm"), ("LINE4-5", "P1"), ("fault", "on"), ("GEN2", "H")):
        assert np.array_equal(loaded[key], run[key])
    assert loaded.to_xarray().identical(run.to_xarray())


def test_the_records_of_a_loaded_case_say_where_they_are_from(tmp_path):
    loaded = stored(gc.simulate(gc.build("wscc9"), t_end=0.1), tmp_path)
    assert {record.file for record in loaded.system.case.records} == {str(tmp_path / "run.nc")}


def test_a_loaded_run_can_go_on_as_the_system_it_was(tmp_path):
    run = gc.simulate(gc.build("wscc9"), t_end=0.3)
    again = gc.simulate(stored(run, tmp_path).system, t_end=0.3)
    assert np.array_equal(again.X, run.X)
    assert again.tape.records == run.tape.records


def test_a_loaded_system_is_at_its_operating_point(tmp_path):
    system = gc.build("wscc9")
    loaded = stored(gc.simulate(system, t_end=0.02), tmp_path).system
    assert loaded.operating_point.timings == system.operating_point.timings
    assert np.array_equal(loaded.operating_point.power_flow.V, system.operating_point.power_flow.V)
    assert np.max(np.abs(loaded.rhs(loaded.Z0))) < 1e-10


def test_the_case_comes_back_with_its_rows_in_order_and_its_words(tmp_path):
    case = gc.load_case("wscc9")
    case.records = case.records[::-1]  # models are no longer in one piece each
    case.records.insert(3, case.records.pop())
    case.set("fault.clear", "183 ms")
    run = gc.simulate(gc.build(case), t_end=0.2)
    loaded = stored(run, tmp_path)
    assert loaded.system.case.ids() == case.ids()
    assert [r.fields for r in loaded.system.case] == [
        {**({"id": id} if "id" in back.fields else {}), **row.fields}
        for row, back, id in zip(case, loaded.system.case, case.ids())]
    assert_same(run, loaded)


def test_what_happens_to_a_case_after_building_does_not_reach_the_file(tmp_path):
    case = gc.load_case("smib")
    run = gc.simulate(gc.build(case), t_end=0.02)
    case.set("GEN1.H", 99.0)
    assert_same(run, stored(run, tmp_path))


def every_record():
    """A tape with at least two records of each type, out of any natural order."""
    records = [Step(0, 0.1, 0, 1, -1), Arm(1, 2, 3), Switch(1, (("timer", 0), ("guard", 4)), 1), Resolve(1),
               Cancel(2, 2, 5), Step(2, 1e-300, 1, 0, 7), Switch(3, (), 2), Resolve(3), Arm(4, 0, 1), Cancel(4, 0, 0)]
    assert {type(r) for r in records} == set(typing.get_args(Record))
    return records


def test_records_of_every_type_come_back(tmp_path):
    run = gc.simulate(gc.build("wscc9"), t_end=0.01, step=0.001)
    run.tape.records = Records(every_record())
    run.tape.settings = Settings([run.tape.settings[0]] * 3)
    run.tape.clocks = [Clock("grid"), Clock("guard", 11), Clock("delay", run.system.n, 1),
                       Clock("timer", run.system.layout.t - 1)]
    file = tmp_path / "run.nc"
    store_events(run)
    run.save(file)
    assert gc.load_run(file).tape.records == every_record()


def store_events(run):
    """The invented records name no real guard: events are not what this is about."""
    run.__dict__["events"] = []


def test_numbers_that_are_not_ordinary_come_back(tmp_path):
    run = gc.simulate(gc.build("hiskens_pai"), t_end=0.01, step=0.001)
    run.tape.states.columns(slice(None))[-1] = np.nan, -np.inf
    run.settings["t_end"] = np.float64(0.1) + np.float64(0.2)
    run.counters["steps"] = np.int64(7)
    loaded = stored(run, tmp_path)
    assert loaded.X.tobytes() == run.X.tobytes()
    assert loaded.settings["t_end"] == 0.30000000000000004
    assert loaded.counters["steps"] == 7


def test_a_failed_run_is_kept_up_to_its_failure(tmp_path):
    case = gc.load_case("smib")
    for line in ("CCT1", "CCT2"):
        case.add_event(gc.BranchTrip(branch=line, t=0.25))
    case.remove("INF3" if "INF3" in case else next(i for i, r in zip(case.ids(), case) if r.model == "InfiniteBus"))
    case.add(gc.Record("Classical", {"id": "G3", "bus": 3, "control": "PV", "H": 4.0, "Xdp": 0.3}))
    case.add_event(gc.Trip(device="G3", t=0.3))
    case.set("GEN1.control", "slack")
    with pytest.raises(NetworkError) as failed:
        gc.simulate(gc.build(case), t_end=1.0)
    run = failed.value.run
    assert run.t[-1] == pytest.approx(0.3, abs=1e-12)
    assert_same(run, stored(run, tmp_path))


@pytest.mark.usefixtures("small_devices")
def test_a_run_that_failed_in_its_first_step_is_kept_with_its_start(tmp_path):
    """It has one point, and nothing has happened yet."""
    with pytest.raises(ConvergenceError) as failed:
        gc.simulate(system(Explosion(id="X", x0=10.0)), t_end=2.0, step=1.0)
    run = failed.value.run
    assert (len(run.t), len(run.tape.records)) == (1, 0)
    assert_same(run, stored(run, tmp_path))


def test_any_netcdf_program_can_read_the_results(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    run = gc.simulate(gc.build("wscc9"), t_end=0.2)
    run.save(tmp_path / "run.nc")
    with netcdf.Dataset(tmp_path / "run.nc") as file:
        assert file["omega"].units == "pu"
        assert [*file["TwoAxis"][:]] == ["GEN1", "GEN2", "GEN3"]
        assert np.array_equal(file["omega"][:, 1], run["GEN2", "omega"])
        assert np.array_equal(file["time"][:], run.t)


def test_what_is_of_variables_guards_and_points_has_their_dimension(tmp_path):
    run = gc.simulate(gc.build("hiskens_pai"), t_end=0.4, step=0.02)
    run.save(tmp_path / "run.nc")
    with h5netcdf.File(tmp_path / "run.nc") as file:
        tape = file["tape"]
        found = {name: (*variable.dimensions, *variable.shape) for name, variable in tape.variables.items()}
    assert found["last_X"] == found["last_noise"] == ("variable", run.system.n)
    assert found["last_active"] == found["last_side"] == ("guard", len(run.system.switching.guards))
    assert found["point_clock"] == ("point", len(run.t))
    assert found["record_kind"] == ("record", len(run.tape.records))


def test_a_dimension_of_no_length_is_unlimited_and_no_other_is(tmp_path):
    gc.simulate(gc.build("hiskens_pai"), t_end=0.01, step=0.001).save(tmp_path / "run.nc")
    with h5py.File(tmp_path / "run.nc") as file:
        lengths = [pair for group in (file, file["tape"]) for item in group.values() if isinstance(item, h5py.Dataset)
                   for pair in zip(item.shape, item.maxshape, strict=True)]
    assert {size for size, _ in lengths} > {0, 11}
    assert all(most == (size or None) for size, most in lengths)
    with h5py.File(tmp_path / "both.nc", "w", track_order=True) as file:
        made = Group(file).variable("x", ("none", "three"), (0, 3), dtype=float)
        assert (made.maxshape, file["none"].maxshape, file["three"].maxshape) == ((None, 3), (None,), (3,))


def test_xarray_opens_the_file_as_the_dataset(tmp_path):
    import xarray as xr

    run = gc.simulate(gc.build("wscc9"), t_end=0.2)
    run.save(tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as opened:
        assert opened.drop_attrs(deep=False).identical(run.to_xarray().drop_attrs(deep=False))


def test_variables_of_the_file_have_the_words_and_units_of_the_dataset(tmp_path):
    import xarray as xr

    for t_end, struck in ((0.02, False), (0.2, True)):
        run = gc.simulate(gc.build("wscc9"), t_end=t_end)
        run.save(tmp_path / "run.nc")
        with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as opened:
            assert {name: v.attrs for name, v in opened.variables.items()} == {
                name: v.attrs for name, v in run.to_xarray().variables.items() if v.size}
            assert ("event_time" in opened) == bool(run.events) == struck


def test_groups_and_variables_know_in_which_order_they_were_made(tmp_path):
    """As the NetCDF-4 file format specification asks for: libraries refuse to write to others."""
    gc.simulate(gc.build("hiskens_pai"), t_end=0.01, step=0.001).save(tmp_path / "run.nc")
    tracked = h5py.h5p.CRT_ORDER_TRACKED
    with h5py.File(tmp_path / "run.nc") as file:
        for group in (file["/"], file["tape"]):
            assert group.id.get_create_plist().get_link_creation_order() & tracked
            for item in (group, *group.values()):
                assert item.id.get_create_plist().get_attr_creation_order() & tracked


def test_what_a_file_has_is_that_of_the_number_of_its_format(tmp_path):
    """Whoever changes what it has changes the number, and both here; the files of users have the old one."""
    gc.simulate(gc.build("wscc9"), t_end=0.3).save(tmp_path / "run.nc")
    with h5netcdf.File(tmp_path / "run.nc") as file:
        assert file.attrs["gridcore_format_version"] == form.VERSION == 6
        assert {*file["tape"].attrs} - {"_NCProperties"} == {
            "case", "case_name", "columns_of", "counters", "declarations", "deenergise", "held", "last", "methods",
            "operating_point", "order", "records", "run", "settings", "timings"}
        assert {*file["tape"].variables} == {
            "Clock_after", "Clock_kind", "Clock_of", "Resolve_k", "Step_end", "Step_guard", "Step_h", "Step_k",
            "Step_method", "Step_start", "Switch_k", "Switch_settings", "Switch_triggers", "Z0", "columns", "last_X",
            "last_active", "last_noise", "last_side", "point_clock", "record_kind", "settings", "settings_at",
            "settings_number", "settings_value"}


@pytest.mark.parametrize("first", ["state", "derived"])
def test_a_quantity_may_be_a_state_of_one_device_and_derived_by_another_of_its_kind(first, tmp_path):
    """As the speed of machines and of grid-forming inverters."""
    class Kind(Device):
        source = True
        x0 = Param("", 1.0)

    class Has(Kind):
        x = State("", start_at="x0", rate=lambda s: -s.x)

    class Derives(Kind):
        y = State("", start_at="x0", rate=lambda s: -3.0 * s.y)

        @quantity("", "twice y")
        def x(s):
            return 2.0 * s.y

    with gc.registered(Has, Derives):
        devices = [Has(id="H"), Derives(id="D")]
        run = gc.simulate(system(*(devices if first == "state" else devices[::-1])), t_end=0.2, step=0.05)
        loaded = stored(run, tmp_path)
    assert_same(run, loaded)
    assert np.array_equal(loaded["D", "x"], 2.0 * run["D", "y"])


@pytest.mark.parametrize("enforced", [False, True])
def test_a_loaded_system_has_its_limits_of_reactive_power_enforced_as_it_had(enforced, tmp_path):
    system = gc.build("wscc9", enforce_q_limits=enforced)
    assert stored(gc.simulate(system, t_end=0.02), tmp_path).system.operating_point.enforce_q_limits == enforced


# What is not a run ----------------------------------------------------------------------------------

def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(GridcoreError, match=r"none\.nc: there is no such file"):
        gc.load_run(tmp_path / "none.nc")


@pytest.mark.parametrize("content", [b"", b"time,omega\n0,1\n", b"\x89HDF\r\n\x1a\n" + bytes(64)])
def test_a_file_that_is_no_netcdf(content, tmp_path):
    (tmp_path / "x.nc").write_bytes(content)
    with pytest.raises(GridcoreError, match=r"x\.nc: is not a run of gridcore \(no NetCDF-4 file\)"):
        gc.load_run(tmp_path / "x.nc")


def test_a_netcdf_file_of_somebody_else(tmp_path):
    import xarray as xr

    xr.Dataset({"a": ("n", [1.0])}).to_netcdf(tmp_path / "x.nc", engine="h5netcdf")
    with pytest.raises(GridcoreError, match=r"x\.nc: is not a run of gridcore: Run\.save"):
        gc.load_run(tmp_path / "x.nc")


@pytest.mark.parametrize(("by", "said"), [
    (1, "a newer gridcore; this one does not know the format"), (-1, "an older gridcore: simulate it anew")])
def test_a_run_of_a_newer_or_an_older_format(tmp_path, monkeypatch, by, said):
    run = gc.simulate(gc.build("hiskens_pai"), t_end=0.01, step=0.001)
    monkeypatch.setattr(write, "VERSION", form.VERSION + by)
    run.save(tmp_path / "x.nc")
    monkeypatch.undo()
    with pytest.raises(GridcoreError, match=f"was written by {said}"):
        gc.load_run(tmp_path / "x.nc")


def test_a_run_whose_device_has_other_variables_now(tmp_path, monkeypatch):
    run = gc.simulate(gc.build("hiskens_pai"), t_end=0.01, step=0.001)
    now = form.declarations(run.system)
    monkeypatch.setattr(write, "declarations", lambda system: {
        name: [[*variables, "x3"], *rest] for name, (variables, *rest) in now.items()})
    run.save(tmp_path / "x.nc")
    monkeypatch.undo()
    with pytest.raises(GridcoreError, match=r"x\.nc: was made with other definitions of SwitchedLinear"):
        gc.load_run(tmp_path / "x.nc")


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    run = gc.simulate(gc.build("hiskens_pai"), t_end=0.01, step=0.001)
    run.save(tmp_path / "run.nc")
    before = (tmp_path / "run.nc").read_bytes()
    monkeypatch.setattr(write, "write_tape", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run.save(tmp_path / "run.nc")
    assert (tmp_path / "run.nc").read_bytes() == before
    assert [*tmp_path.iterdir()] == [tmp_path / "run.nc"]


# Completeness ---------------------------------------------------------------------------------------

def test_nothing_that_a_tape_or_a_run_holds_is_left_out():
    """Whoever adds to a tape or a run must add it to the file, and here."""
    assert {f.name for f in dataclasses.fields(Tape)} == {
        "states", "times", "methods", "clocks", "point_clock", "settings", "records", "last"}
    run = gc.simulate(gc.build("hiskens_pai"), t_end=0.01, step=0.001)
    assert set(vars(run)) == {"system", "tape", "settings", "counters", "timings"}


def test_the_adjoint_of_a_loaded_run_is_that_of_the_run(tmp_path):
    run = gc.simulate(gc.build("wscc9"), t_end=0.3)
    wanted = {"objectives": [gc.Terminal(lambda v: v["GEN2", "omega"])], "wrt": ["GEN*.H", "GEN2.P0", "fault.clear"]}
    gradient = gc.adjoint(stored(run, tmp_path), **wanted)
    assert np.array_equal(gradient.values, gc.adjoint(run, **wanted).values)
    assert np.all(gradient.values != 0)
