"""Damaged files: what loads is what was saved, to the last bit; all else is an error in words."""

from __future__ import annotations

import itertools
import json
import random

import h5netcdf
import numpy as np
import pytest

import gridcore as gc
import gridcore_netcdf.seal
from gridcore.errors import GridcoreError
from gridcore.tape import Arm, Cancel, Clock, Method, Records, Resolve, Settings, Step, Switch
from gridcore_netcdf import form, write
from gridcore_netcdf.checks import ranges
from gridcore_netcdf.output import Output
from gridcore_netcdf.seal import seal

SYSTEM = gc.build("hiskens_pai")


def small(t_end=0.4, step=0.02):
    """A run with an event, of 21 points and more."""
    return gc.simulate(SYSTEM, t_end=t_end, step=step)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "run.nc"
    small().save(path)
    return path


def content(run):
    """All numbers of a run, and all that its tape says."""
    tape = run.tape
    return (run.t.tobytes(), run.X.tobytes(), run.system.Z0.tobytes(), tape.records, tape.clocks, tape.point_clock,
            tape.methods, [s.tobytes() for s in tape.settings], run.settings, run.counters, run.timings)


def flipped(data, bit):
    out = bytearray(data)
    out[bit // 8] ^= 1 << bit % 8
    return bytes(out)


def loads_the_same_or_says_why(path, data, expected):
    """Whether it loads; with other numbers, or another exception, the test fails."""
    path.write_bytes(data)
    try:
        run = gc.load_run(path)
    except GridcoreError as error:
        return str(path) not in str(error)
    assert content(run) == expected
    return True


def test_every_bit_of_the_digest_counts(saved, tmp_path):
    data, expected = saved.read_bytes(), content(gc.load_run(saved))
    for byte in range(len(data) - 60, len(data)):
        assert not loads_the_same_or_says_why(tmp_path / "x.nc", flipped(data, 8 * byte + byte % 8), expected)


def test_a_file_that_is_cut_short_is_an_error(saved, tmp_path):
    data, expected, draw = saved.read_bytes(), content(gc.load_run(saved)), random.Random(1)
    for size in [*range(100), *(draw.randrange(len(data)) for _ in range(100)), *range(len(data) - 100, len(data))]:
        assert not loads_the_same_or_says_why(tmp_path / "x.nc", data[:size], expected)


def test_a_file_that_goes_on_after_its_end_is_an_error(saved, tmp_path):
    data, expected = saved.read_bytes(), content(gc.load_run(saved))
    for more in (b"\0", data, b"some notes of mine"):
        assert not loads_the_same_or_says_why(tmp_path / "x.nc", data + more, expected)


def test_a_file_that_another_program_changed_is_an_error(saved, tmp_path):
    path = tmp_path / "x.nc"
    path.write_bytes(saved.read_bytes())
    with h5netcdf.File(path, "r+") as file:
        file.attrs["history"] = "mine"
    with pytest.raises(GridcoreError, match=r"x\.nc: is damaged, or was changed by another program"):
        gc.load_run(path)


@pytest.mark.parametrize(("version", "said"), [
    (2, "was written by an older gridcore, without checksums: simulate it"),
    (form.VERSION, "is damaged, or was changed by another program: its digest is missing"),
    (form.VERSION + 1, "is damaged, or was changed by another program: its digest is missing")])
def test_without_a_digest_a_file_is_of_the_format_before_checksums_or_damaged(tmp_path, monkeypatch, version, said):
    monkeypatch.setattr(write, "VERSION", version)
    monkeypatch.setattr(write, "seal", lambda output: None)
    small().save(tmp_path / "x.nc")
    with pytest.raises(GridcoreError, match=rf"x\.nc: {said}"):
        gc.load_run(tmp_path / "x.nc")


def test_a_file_that_cannot_be_read_is_an_error_of_the_system(saved, monkeypatch):
    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(gridcore_netcdf.seal, "open", denied, raising=False)
    with pytest.raises(GridcoreError, match=r"run\.nc: cannot be read: Permission denied$"):
        gc.load_run(saved)


def test_any_program_sees_a_flipped_number(saved, tmp_path):
    """HDF5's own checksum, of every variable of numbers."""
    with h5netcdf.File(saved) as file:
        at = {name: v._h5ds.id.get_chunk_info(0).byte_offset for group in (file, file["tape"])
              for name, v in group.variables.items() if v.dtype != object and all(v.shape)}
    assert {"time", "Z0", "Step_k", "settings"} <= at.keys()
    for name in ("time", "Z0"):
        (tmp_path / "x.nc").write_bytes(flipped(saved.read_bytes(), 8 * at[name] + 3))
        with h5netcdf.File(tmp_path / "x.nc") as file:
            variable = (file if name == "time" else file["tape"]).variables[name]
            with pytest.raises(OSError, match=r"read data"):
                variable[...]


# What was sealed and cannot be --------------------------------------------------------------------------------------


def changed(saved, path, change):
    """A file with something else in it, and a digest that says it must be so."""
    path.write_bytes(saved.read_bytes())
    with h5netcdf.File(path, "r+") as file:
        change(file)
    with open(path, "r+b") as file:
        output = Output(file.fileno())
        output.seek(path.stat().st_size)
        output.write(b"")
        seal(output)
    return path


def variables(saved):
    with h5netcdf.File(saved) as file:
        tape = file["tape"]
        columns = json.loads(tape.attrs["columns_of"])
        names = ["/time", *(f"/{name}" for name in columns), *(f"/tape/{name}" for name in tape.variables)]
        return names, [name for name in tape.attrs if name != "case_name" and not name.startswith("_N")]


def test_a_variable_that_is_missing_or_renamed_is_named(saved, tmp_path):
    names, _ = variables(saved)
    assert len(names) > 20
    for number, name in enumerate(names):
        def change(file, name=name, away=number % 3):
            file._h5file.pop(name) if away else file._h5file.move(name, f"{name}_")

        path = changed(saved, tmp_path / "x.nc", change)
        with pytest.raises(GridcoreError, match=rf"x\.nc: .*'{name.strip('/')}' is missing"):
            gc.load_run(path)


def test_a_variable_of_another_type_or_shape_is_named(saved, tmp_path):
    names, _ = variables(saved)

    def another(file, name, make):
        values = file._h5file[name][...]
        del file._h5file[name]
        file._h5file.create_dataset(name, data=make(values))

    makes = [lambda v: v.astype("f4") if v.dtype.kind in "if" else np.zeros(v.shape), lambda v: v[:-1],
             lambda v: v[..., None], lambda v: np.float64(1.0)]
    for name, make in [*zip(names, itertools.cycle(makes)), *(("/tape/Step_k", make) for make in makes)]:
        path = changed(saved, tmp_path / "x.nc", lambda file, name=name, make=make: another(file, name, make))
        with pytest.raises(GridcoreError, match=r"x\.nc: "):
            gc.load_run(path)


@pytest.mark.parametrize(("name", "dtype", "was"), [
    ("tape/settings_value", "f4", "float64"), ("tape/Z0", "i8", "float64"), ("tape/Step_h", "f4", "float64"),
    ("tape/Step_k", "i4", "int64"), ("tape/Step_guard", "f8", "int64"), ("tape/Clock_kind", "f8", "object")])
def test_a_variable_of_another_type_is_named_with_both(saved, tmp_path, name, dtype, was):
    with h5netcdf.File(saved) as file:
        size = file[name].shape[0]

    def another(file):
        del file._h5file[name]
        file.dimensions["as_many"] = size
        file.create_variable(name, ("as_many",), dtype=dtype)

    path = changed(saved, tmp_path / "x.nc", another)
    with pytest.raises(GridcoreError, match=rf"'{name}' is {np.dtype(dtype)} \(\d+,\), and must be {was} \("):
        gc.load_run(path)


def test_a_record_of_a_kind_that_there_is_not_is_told_with_those_that_there_are(saved, tmp_path):
    path = changed(saved, tmp_path / "x.nc", lambda file: file._h5file["tape/record_kind"].__setitem__(3, "Leap"))
    kinds = r"(Step|Arm|Cancel|Resolve|Switch)"
    with pytest.raises(GridcoreError, match=rf"'tape/record_kind' must be one of {kinds}(, {kinds}){{4}}$"):
        gc.load_run(path)


@pytest.mark.parametrize("name", ["tape/settings_at", "tape/point_clock", "tape/Step_h", "tape/last_X"])
def test_a_variable_that_claims_more_than_the_file_has_is_refused_before_it_is_read(saved, tmp_path, name):
    def claim(file):
        dtype = file._h5file[name].dtype
        del file._h5file[name]
        file.dimensions["many"] = 3 * 10**10
        file.create_variable(name, ("many",), dtype=dtype, chunks=(1 << 17,))

    path = changed(saved, tmp_path / "x.nc", claim)
    assert path.stat().st_size < 10**6
    with pytest.raises(GridcoreError, match=r"claims 30,000,000,000 values|\(30000000000,\), and must be"):
        gc.load_run(path)


def test_an_attribute_that_is_missing_or_says_something_else_is_an_error(saved, tmp_path):
    _, names = variables(saved)
    assert len(names) > 10
    for name in names:
        for change in (lambda a, name=name: a.__delitem__(name), lambda a, name=name: a.__setitem__(name, "[1, 2"),
                       lambda a, name=name: a.__setitem__(name, "7"), lambda a, name=name: a.__setitem__(name, 1.5)):
            path = changed(saved, tmp_path / "x.nc", lambda file, change=change: change(file["tape"].attrs))
            with pytest.raises(GridcoreError):
                gc.load_run(path)


def with_records(*records):
    def change(run):
        run.tape.records = Records([*run.tape.records, *records])
    return change


def with_clock(clock):
    return lambda run: run.tape.clocks.append(clock)


@pytest.mark.parametrize(("change", "said"), [
    (with_records(Step(-1, 0.1, 0, 0)), r"'tape/Step_k' is -1 in row \d+, and must be at least 0 and below"),
    (with_records(Step(10**6, 0.1, 0, 0)), "'tape/Step_k' is 1000000"),
    (with_records(Step(0, float("nan"), 0, 0)), "'tape/Step_h' is nan"),
    (with_records(Step(0, -0.1, 0, 0)), "'tape/Step_h' is -0.1"),
    (with_records(Step(0, 0.1, 99, 0)), "'tape/Step_start' is 99"),
    (with_records(Step(0, 0.1, 0, -2)), "'tape/Step_end' is -2"),
    (with_records(Step(0, 0.1, 0, 0, 2)), "'tape/Step_guard' is 2"),
    (with_records(Step(0, 0.1, 0, 0, -1, 1)), "'tape/Step_method' is 1"),
    (with_records(Arm(0, -1, 0)), "'tape/Arm_guard' is -1"),
    (with_records(Arm(0, 2, 0)), "'tape/Arm_guard' is 2"),
    (with_records(Arm(0, 0, -1)), "'tape/Arm_clock' is -1"),
    (with_records(Cancel(0, -1, 0)), "'tape/Cancel_guard' is -1"),
    (with_records(Cancel(0, 0, 2)), "'tape/Cancel_by' is 2"),
    (with_records(Cancel(-1, 0, 0)), "'tape/Cancel_k' is -1"),
    (with_records(Resolve(10**6)), "'tape/Resolve_k' is 1000000"),
    (with_records(Switch(0, (("guard", 2),), 0)), "'tape/Switch_triggers' has guard 2, which the system has not"),
    (with_records(Switch(0, (("guard", 1), ("timer", 0)), 0)), "'tape/Switch_triggers' has timer 0"),
    (with_records(Switch(0, (("moon", 0),), 0)), "'tape/Switch_triggers' has moon 0"),
    (with_records(Switch(0, (("guard", 0),), 999)), "'tape/Switch_settings' is 999 in row"),
    (with_clock(Clock("guard", 2)), "'tape/Clock' number .* cannot be"),
    (with_clock(Clock("timer", 0)), "'tape/Clock' number .* cannot be"),
    (with_clock(Clock("timer", len(SYSTEM.Z0) - 1)), "'tape/Clock' number .* cannot be"),
    (with_clock(Clock("moon", 1)), "'tape/Clock' number .* cannot be"),
    (with_clock(Clock("delay", SYSTEM.n, 999)), "'tape/Clock_after' is 999"),
    (with_clock(Clock("delay", SYSTEM.n, -1)), "'tape/Clock' number .* cannot be"),
    (lambda run: run.tape.methods.append(Method("theta", {"theta": 7.0})), r"'tape/methods' cannot be: theta = 7"),
    (lambda run: run.tape.methods.append(Method("theta", {"thet": 0.5})), "no option 'thet'"),
    (lambda run: run.tape.methods.extend([Method("somebody's", {}), Method("theta", {"theta": 7.0})]), "theta = 7"),
    (lambda run: setattr(run.tape, "point_clock", [0, 0, 0, -1, *[0] * (len(run.t) - 4)]),
     "'tape/point_clock' is -1 in row 3"),
    (lambda run: run.tape.times.__setitem__(3, float("inf")), "'time' must be finite, and not decrease"),
    (lambda run: run.tape.times.__setitem__(3, 0.0), "'time' must be finite, and not decrease"),
])
def test_what_cannot_be_is_told_with_its_place(change, said, tmp_path):
    run = small()
    run.__dict__["events"], run.__dict__["point_settings"] = [], run.tape.point_settings()
    change(run)
    run.save(tmp_path / "x.nc")
    with pytest.raises(GridcoreError, match=r"x\.nc: .*" + said):
        gc.load_run(tmp_path / "x.nc")


def test_a_step_from_the_last_point_leads_to_none_and_one_from_the_point_before_leads_to_it():
    run = small()
    allowed = ranges(run.system, run.tape.points, len(run.tape.clocks), 1, 1)["Step_k"]
    assert allowed == (0, run.tape.points - 1)
    assert max(step.k for step in run.tape.records if isinstance(step, Step)) == run.tape.points - 2


@pytest.mark.parametrize(("change", "fits"), [
    ({}, True), ({"pending": {"1": [0.5, 0]}}, True), ({"pending": {"0": [0.5, 0]}}, True),
    ({"pending": {"2": [0.5, 0]}}, False),
    ({"pending": {"-1": [0.5, 0]}}, False), ({"pending": {"7": [0.5, 0]}}, False),
    ({"pending": {"1": [0.5, -1]}}, False),
    ({"timers": [[0.5, -2, 0], [9.9, -1, 0]]}, False), ({"timers": [[0.5, 0, 0], [9.9, -1, 0]]}, False),
    ({"timers": [[9.9, 0, 0]]}, False), ({"t": float("nan")}, False), ({"pending": {"1": [0.5, 99]}}, False),
    ({"timers": []}, False),
    ({"timers": [[0.5, 99, 0], [9.9, -1, 0]]}, False), ({"timers": [[0.5, -1, 99]]}, False), ({"points": 10**6}, False),
    ({"reached": -1}, False), ({"clock": 99}, False), ({"t": float("inf")}, False),
    ({"counters": {"steps": "many"}}, False)])
def test_a_checkpoint_that_cannot_be_is_told(saved, tmp_path, change, fits):
    """The system has two guards: each may be pending, and none behind them."""
    assert len(SYSTEM.switching.guards) == 2

    def damage(file):
        last = json.loads(file["tape"].attrs["last"])
        file["tape"].attrs["last"] = json.dumps(last | change)

    path = changed(saved, tmp_path / "x.nc", damage)
    if fits:
        assert gc.load_run(path).tape.last.pending == {int(guard): (0.5, 0) for guard in change.get("pending", ())}
        return
    with pytest.raises(GridcoreError, match=r"x\.nc: '.*last' is no checkpoint of this run"):
        gc.load_run(path)


@pytest.mark.parametrize("name", ["clock", "points", "records", "clocks", "settings", "reached"])
def test_a_number_of_a_checkpoint_is_one_that_its_tape_has(saved, tmp_path, name):
    tape = gc.load_run(saved).tape
    most = {"clock": len(tape.clocks) - 1, "points": tape.points, "records": len(tape.records),
            "clocks": len(tape.clocks), "settings": len(tape.settings), "reached": tape.points}[name]
    for value in (-9, -1, 0, most, most + 1, most + 9):
        def change(file, value=value):
            last = json.loads(file["tape"].attrs["last"])
            file["tape"].attrs["last"] = json.dumps(last | {name: value})

        path = changed(saved, tmp_path / "x.nc", change)
        if 0 <= value <= most:
            assert getattr(gc.load_run(path).tape.last, name) == value
        else:
            with pytest.raises(GridcoreError, match="is no checkpoint of this run"):
                gc.load_run(path)


@pytest.mark.parametrize(("name", "good", "bad"), [
    ("last_active", (0, 1), (-1, 2, 9)), ("last_side", (-1, 0, 1), (-2, 2, 9)),
    ("last_X", (0.5,), (float("nan"), float("inf"))),
    ("last_noise", (0.0, 1e-12), (-1e-12, float("nan"), float("inf")))])
def test_a_checkpoint_has_states_that_are_finite_and_guards_that_are_watched_or_not(saved, tmp_path, name, good, bad):
    for value in (*good, *bad):
        def change(file, value=value):
            file["tape"].variables[name][-1] = value

        path = changed(saved, tmp_path / "x.nc", change)
        if value in good:
            assert getattr(gc.load_run(path).tape.last, name.removeprefix("last_"))[-1] == value
        else:
            with pytest.raises(GridcoreError, match="is no checkpoint of this run"):
                gc.load_run(path)


def test_settings_may_be_those_of_the_first_parameter_and_of_the_last_mode(saved, tmp_path):
    size = len(SYSTEM.Z0) - 1 - SYSTEM.n
    for at in (0, size - 1):
        def change(file, at=at):
            file["tape"].variables["settings_at"][0] = at
            file["tape"].variables["settings_value"][0] = 7.0

        assert gc.load_run(changed(saved, tmp_path / "x.nc", change)).tape.settings[1][at] == 7.0


def test_settings_that_cannot_be_are_told(saved, tmp_path):
    run = gc.load_run(saved)
    last = {"settings_at": f"0 to {len(run.system.Z0) - 2 - run.system.n}$",
            "settings_number": f"1 to {len(run.tape.settings) - 1}, and not decrease"}
    size, count = len(run.system.Z0) - 1 - run.system.n, len(run.tape.settings)
    for name, value in (*(("settings_at", value) for value in (-1, -7, size, size + 1, 10**6)),
                        *(("settings_number", value) for value in (-1, 0, -7, count, count + 1, 99))):
        def change(file, name=name, value=value):
            file["tape"].variables[name][0 if value < 1 else -1] = value

        path = changed(saved, tmp_path / "x.nc", change)
        with pytest.raises(GridcoreError, match=f"'tape/{name}' must be from {last[name]}"):
            gc.load_run(path)


def test_a_switch_may_change_nothing_and_none_stands_before_an_earlier_one(tmp_path):
    run = small()
    run.__dict__["events"], run.__dict__["point_settings"] = [], run.tape.point_settings()
    first = run.tape.settings[0]
    second, third = first + np.eye(len(first))[0], first + np.eye(len(first))[1]
    run.tape.settings = Settings([first, first, second, third, *[third] * (len(run.tape.settings) - 4)])
    run.save(tmp_path / "saved.nc")
    loaded = gc.load_run(tmp_path / "saved.nc").tape.settings
    assert [values.tobytes() for values in loaded] == [values.tobytes() for values in run.tape.settings]

    def change(file):
        assert file["tape"].variables["settings_number"][...].tolist() == [2, 3, 3]
        file["tape"].variables["settings_number"][...] = [3, 2, 2]

    path = changed(tmp_path / "saved.nc", tmp_path / "x.nc", change)
    with pytest.raises(GridcoreError, match=r"'tape/settings_number' must be from 1 to .*, and not decrease"):
        gc.load_run(path)


def test_a_number_of_settings_that_no_record_asks_for_is_told(saved, tmp_path):
    """Each would be made: 1e12 of them take for ever."""
    most = len(gc.load_run(saved).tape.records) + 1
    for count in (0, most + 1, 10**12):
        def change(file, count=count):
            file["tape"].attrs["settings"] = count

        path = changed(saved, tmp_path / "x.nc", change)
        with pytest.raises(GridcoreError, match=f"'tape/settings' is {count}, and must be from 1 to {most}$"):
            gc.load_run(path)


def test_variables_that_are_there_twice_or_never_are_named(tmp_path):
    run = gc.simulate("wscc9", 0.05, 0.01)
    run.save(tmp_path / "saved.nc")
    omega, delta = (run.system.layout.address(name) for name in ("GEN1.omega", "GEN2.delta"))
    for other, said in ((delta, "GEN1.omega, GEN2.delta"), (-1, "GEN1.omega"), (run.system.n, "GEN1.omega"),
                        (run.system.n + 1, "GEN1.omega")):
        def change(file, other=other):
            columns = file["tape"].variables["columns"]
            at = columns[...].tolist()
            columns[at.index(omega)] = other

        path = changed(tmp_path / "saved.nc", tmp_path / "x.nc", change)
        with pytest.raises(GridcoreError, match=f"each variable once; of {said} that is not so"):
            gc.load_run(path)


@pytest.mark.parametrize(("held", "fits"), [([-1], False), ([0], True), ([SYSTEM.n - 1], True), ([SYSTEM.n], False),
                                            ([SYSTEM.n + 1], False), ([0, SYSTEM.n], False), ([], True)])
def test_states_that_are_held_are_states(held, fits, saved, tmp_path):
    path = changed(saved, tmp_path / "x.nc", lambda file: file["tape"].attrs.__setitem__("held", str(held)))
    if fits:
        assert gc.load_run(path).system.held.tolist() == held
        return
    with pytest.raises(GridcoreError, match=f"'tape/held' must be from 0 to {SYSTEM.n - 1}$"):
        gc.load_run(path)


@pytest.mark.parametrize("value", [-1, SYSTEM.n, 1])
def test_positions_of_what_was_recorded_that_cannot_be_are_told(value, tmp_path):
    gc.simulate(SYSTEM, 0.1, 0.02, record=[".".join(SYSTEM.variables[k]) for k in (0, 1)]).save(tmp_path / "saved.nc")

    def change(file):
        file["tape"].variables["recorded"][0] = value

    with h5netcdf.File(tmp_path / "saved.nc") as file:
        assert file["tape"].variables["recorded"][...].tolist() == [0, 1]
    path = changed(tmp_path / "saved.nc", tmp_path / "x.nc", change)
    with pytest.raises(GridcoreError, match=f"'tape/recorded' must be from 0 to {SYSTEM.n - 1}, each once"):
        gc.load_run(path)


def test_a_run_of_a_method_that_is_not_installed_can_be_looked_at(tmp_path):
    run = small()
    run.tape.methods.append(Method("somebody's", {"a": 1}))
    run.save(tmp_path / "x.nc")
    assert gc.load_run(tmp_path / "x.nc").X.tobytes() == run.X.tobytes()
