"""Measurements from tables, files and datasets: the same samples whatever they come in; what is wrong is named."""

from __future__ import annotations

import faulthandler
import gc as garbage
import os
import struct
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import gridcore as gc
from gridcore.errors import CaseError
from gridcore_estimation import Measurements, Recording, netcdf
from gridcore_estimation.problem import Problem

T = np.array([0.0, 0.1, 0.25])
COLUMNS = {"BUS6.Vm": np.array([1.0, 0.99, 1 / 3]), "GEN1.omega": np.array([1.0, 1.001, 0.999])}


def same(one, other):
    assert one.channel.tolist() == other.channel.tolist()
    for name in ("time", "value", "weight"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert dict(one.units) == dict(other.units)


def written(tmp_path, text, name="m.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_written_table_reads_back_to_the_last_bit(tmp_path):
    data = Measurements.of(T, COLUMNS, {"BUS6.Vm": 1e4, "GEN1.omega": [1, 2, 1 / 3]}, units={"BUS6.Vm": "kV"})
    data.to_csv(tmp_path / "m.csv")
    same(Measurements.read(tmp_path / "m.csv"), data)


def test_a_column_for_each_channel_is_the_same_as_a_row_for_each_sample(tmp_path):
    wide = "time,BUS6.Vm [kV],GEN1.omega\n0,230,1\n0.1,,1.001\n0.25,229.5,\n"
    long = "time,channel,value,unit\n0,BUS6.Vm,230,kV\n0.25,BUS6.Vm,229.5,kV\n0,GEN1.omega,1,\n0.1,GEN1.omega,1.001,\n"
    same(Measurements.read(written(tmp_path, wide)), Measurements.read(written(tmp_path, long, "l.csv")))


def test_a_dataset_has_a_channel_for_each_variable_over_time():
    import xarray as xr

    ds = xr.Dataset({name: ("time", values) for name, values in COLUMNS.items()}, {"time": T})
    same(Measurements.from_xarray(ds), Measurements.of(T, COLUMNS))
    array = xr.DataArray(np.column_stack(list(COLUMNS.values())), {"time": T, "channel": list(COLUMNS)},
                         ("time", "channel"))
    same(Measurements.from_xarray(array), Measurements.of(T, COLUMNS))


def test_a_run_of_gridcore_is_measurements_of_itself(tmp_path):
    run = gc.simulate(gc.build("smib"), 0.05)
    ds = run.to_xarray(["Vm", "omega"])
    data = Measurements.from_xarray(ds)
    assert {"BUS1.Vm", "BUS3.Vm", "GEN1.omega"} <= set(data.channels)
    assert np.array_equal(data.only("GEN1.omega").value, run["GEN1", "omega"])
    ds.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    same(Measurements.read(tmp_path / "run.nc"), data)


def test_the_file_of_a_run_is_measurements_of_all_that_is_in_it(tmp_path):
    run = gc.simulate("wscc9", 0.12)
    run.save(tmp_path / "run.nc")
    data = Measurements.read(tmp_path / "run.nc")
    assert {"BUS7.Vm", "EXC2.Vm", "GEN3.omega"} <= set(data.channels)  # of two kinds of devices with a Vm
    same(data, Measurements.from_xarray(run.to_xarray()))
    first = np.unique(run.t, return_index=True)[1]
    for name in data.channels:
        assert np.array_equal(data.only(name).value, run[name][first]), name
    assert gc.analyses.identifiability("wscc9", tmp_path / "run.nc", "GEN2.H").importance[0] > 0


def test_of_a_run_with_events_what_was_before_them_is_measured(tmp_path):
    run = gc.simulate(gc.build("smib"), 0.5)  # voltages jump as the fault comes and goes
    data = Measurements.from_xarray(run[["BUS1.Vm"]])
    assert len(data) == len(np.unique(run.t)) < len(run.t)
    assert np.array_equal(data.value, [run.at(t, side="left")["BUS1.Vm"] for t in data.time])
    problem = Problem([Recording(run.system, data)], ["GEN1.H"])
    assert np.abs(problem.residuals(np.array([problem.parameters[0].start]))).max() < 1e-12
    run[["BUS1.Vm"]].to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    same(Measurements.read(tmp_path / "run.nc"), data)


def test_every_so_many_samples_are_at_least_one():
    for count in (0, -1, 1.5):
        with pytest.raises(CaseError, match=r"count = .* must be a whole number, at least 1"):
            Measurements.of(T, COLUMNS).every(count)


@pytest.mark.parametrize("key", ["GEN*.omega", ["GEN1.omega", "BUS*.Vm"]])
def test_labelled_quantities_of_a_run_are_measurements_of_it(tmp_path, key):
    run = gc.simulate(gc.build("smib"), 0.05)
    array = run[key]
    names = array["quantity"].values.tolist()
    want = Measurements.of(run.t, {name: run[name] for name in names}, units=dict.fromkeys(names, "pu"))
    same(Measurements.from_xarray(array), want)
    array.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    same(Measurements.read(tmp_path / "run.nc"), want)
    assert gc.analyses.identifiability(run, array, "GEN1.H").importance[0] > 0


MS = np.array([0, 100, 250])


@pytest.mark.parametrize("time", [
    MS.astype("timedelta64[ms]"), (MS * 1_000_000).astype("timedelta64[ns]"),
    np.datetime64("2024-02-29T23:59:59.9", "ns") + MS.astype("timedelta64[ms]"),
    ("time", MS, {"units": "ms"}), ("time", MS * 1e-3, {"units": "seconds"}), ("time", MS / 60e3, {"units": "min"}),
    ("time", MS * 1e-3)], ids=["ms", "ns", "instants", "in ms", "in s", "in min", "plain"])
def test_times_of_a_dataset_are_in_seconds_whatever_they_are_given_in(tmp_path, time):
    """Spans, instants from the first of them on, and numbers in the unit that their attributes say; in a file, too."""
    data = xr.Dataset({name: ("time", values) for name, values in COLUMNS.items()}, {"time": time})
    data.to_netcdf(tmp_path / "m.nc", engine="h5netcdf")
    for found in (Measurements.from_xarray(data), Measurements.read(tmp_path / "m.nc")):
        np.testing.assert_allclose(found.time, [*T, *T], rtol=1e-15, atol=0)


@pytest.mark.parametrize(("time", "said"), [
    (("time", MS, {"units": "fortnights"}), "unit 'fortnights' is not understood here; accepted: s, min, h"),
    (("time", MS, {"units": "cycles"}), "times in cycles need a frequency: give them in s"),
    (np.array(["0 s", "1 s", "2 s"]), "<U3 is no type of times: numbers, timedelta64 or datetime64 are")])
def test_times_of_a_dataset_that_mean_nothing_are_refused(time, said):
    with pytest.raises(CaseError) as error:
        Measurements.from_xarray(xr.Dataset({"BUS6.Vm": ("time", np.ones(3))}, {"time": time}))
    assert str(error.value).startswith(f"dataset: field 'time': {said}")


def test_an_instant_that_is_missing_is_told_with_its_row():
    time = np.datetime64("2024-02-29", "ns") + np.array([0, 100, "NaT"], dtype="timedelta64[ms]")
    with pytest.raises(CaseError, match=r"row 3, channel BUS6\.Vm: the time is nan"):
        Measurements.from_xarray(xr.Dataset({"BUS6.Vm": ("time", np.ones(3))}, {"time": time}))


CFG, DAT = ((Path(__file__).parents[1] / "data" / f"recording.{suffix}").read_text() for suffix in ("cfg", "dat"))


def recorded(tmp_path, side="P", dat=DAT):
    written(tmp_path, dat, "r.dat")
    return written(tmp_path, CFG.replace("0.1,S", f"0.1,{side}"), "r.cfg")


def test_a_comtrade_recording_gives_its_channels_in_primary_values(tmp_path):
    """The line a x + b of IEEE C37.111, and the ratio where secondary values were recorded."""
    data = Measurements.read(recorded(tmp_path))
    assert data.channels == ["V6 rms", "f", "P line"]
    np.testing.assert_allclose(data.only("V6 rms").time, [0, 0.1, 0.2], rtol=0, atol=1e-15)
    np.testing.assert_allclose(data.only("V6 rms").value, [229, 227, 228], rtol=1e-14)
    np.testing.assert_allclose(data.only("f").value, [60, 59.99, 60.01], rtol=1e-14)
    np.testing.assert_allclose(data.only("P line").value, [50, -10, 20], rtol=1e-14)
    assert dict(data.units) == {"V6 rms": "kV", "f": "Hz", "P line": "MW"}
    secondary = Measurements.read(recorded(tmp_path, side="S"))
    np.testing.assert_allclose(secondary.only("V6 rms").value, 2300 * data.only("V6 rms").value, rtol=1e-14)


def test_a_binary_recording_is_the_same_as_one_in_text(tmp_path):
    """Sample number and time stamp in four bytes each, values in two: IEEE C37.111-1999, 8.6."""
    text = Measurements.read(recorded(tmp_path))
    rows = [[int(cell) for cell in line.split(",")] for line in DAT.splitlines()]
    written(tmp_path, CFG.replace("0.1,S", "0.1,P").replace("ASCII", "BINARY"), "b.cfg")
    (tmp_path / "b.dat").write_bytes(b"".join(struct.pack("<IIhhh", *row) for row in rows))
    same(Measurements.read(tmp_path / "b.cfg"), text)


@pytest.mark.parametrize("kept", [1, 2])
def test_a_recording_whose_data_are_cut_short_is_refused(tmp_path, kept):
    """The samples that are missing would be zeros at 0 s."""
    lines = DAT.splitlines()[:kept]
    binary = b"".join(struct.pack("<IIhhh", *map(int, line.split(","))) for line in lines)
    for coding, dat in (("ASCII", "\n".join(lines).encode()), ("BINARY", binary)):
        written(tmp_path, CFG.replace("0.1,S", "0.1,P").replace("ASCII", coding), "c.cfg")
        (tmp_path / "c.dat").write_bytes(dat)
        with pytest.raises(CaseError, match=r"c\.cfg: the times of its 3 samples do not increase: .* cut short"):
            Measurements.read(tmp_path / "c.cfg")


def test_channels_of_a_file_are_told_what_they_measure(tmp_path):
    data = Measurements.read(recorded(tmp_path), {"V6 rms": "BUS6.Vm", "P line": "LINE4-6.P1"})
    assert data.channels == ["BUS6.Vm", "LINE4-6.P1"]
    assert dict(data.units) == {"BUS6.Vm": "kV", "LINE4-6.P1": "MW"}
    with pytest.raises(CaseError, match=r"there is no channel 'V6'; did you mean V6 rms"):
        Measurements.read(recorded(tmp_path), {"V6": "BUS6.Vm"})


@pytest.mark.parametrize("bad", ["", "x", "nan", "inf"])
def test_what_is_in_channels_that_are_left_out_does_not_matter(tmp_path, bad):
    """A missing sample, a text, a time without a sample: what is kept is checked, and nothing else."""
    want = Measurements.of([0.0, 0.1], {"GEN1.omega": [1.0, 1.001]})
    wide = written(tmp_path, f"time,F1,note\n0,1,{bad}\n0.1,1.001,{bad}\n{bad or 'x'},,1\n")
    same(Measurements.read(wide, {"F1": "GEN1.omega"}), want)
    long = written(tmp_path, f"time,channel,value,weight\n0,F1,1,1\n{bad},F2,{bad},{bad}\n0.1,F1,1.001,1\n", "l.csv")
    same(Measurements.read(long, {"F1": "GEN1.omega"}), want)
    for path in (wide, long):
        with pytest.raises(CaseError, match="is not a finite number"):
            Measurements.read(path)


def test_a_channel_of_a_dataset_that_is_left_out_may_have_no_numbers(tmp_path):
    xr.Dataset({"F1": ("time", [1.0, 1.001, 0.999]), "F2": ("time", [1.0, np.nan, 1.0])}, {"time": T}).to_netcdf(
        tmp_path / "m.nc", engine="h5netcdf")
    same(Measurements.read(tmp_path / "m.nc", {"F1": "GEN1.omega"}),
         Measurements.of(T, {"GEN1.omega": COLUMNS["GEN1.omega"]}))
    with pytest.raises(CaseError, match=r"channel F2 at 0\.1 s: the value is nan"):
        Measurements.read(tmp_path / "m.nc")


def test_a_value_that_a_comtrade_recording_marks_as_missing_is_no_sample(tmp_path):
    """99999 in text, the least integer in binary: IEEE C37.111-1999, 8.4 and 8.6."""
    dat = DAT.replace("22700", "99999")
    data = Measurements.read(recorded(tmp_path, dat=dat))
    np.testing.assert_allclose(data.only("V6 rms").time, [0, 0.2], rtol=0, atol=1e-15)
    np.testing.assert_allclose(data.only("V6 rms").value, [229, 228], rtol=1e-14)
    assert len(data.only("f")) == len(data.only("P line")) == 3
    rows = [[int(cell) for cell in line.split(",")] for line in DAT.replace("22700", "-32768").splitlines()]
    written(tmp_path, CFG.replace("0.1,S", "0.1,P").replace("ASCII", "BINARY"), "b.cfg")
    (tmp_path / "b.dat").write_bytes(b"".join(struct.pack("<IIhhh", *row) for row in rows))
    same(Measurements.read(tmp_path / "b.cfg"), data)
    with pytest.raises(CaseError, match=r"r\.cfg: channel 'V6 rms' has no samples"):
        Measurements.read(recorded(tmp_path, dat=dat.replace("22900", "99999").replace("22800", "99999")),
                          {"V6 rms": "BUS6.Vm", "f": "GEN1.omega"})


@pytest.mark.parametrize(("rows", "said"), [
    ("0.3,BUS6.Vm,230,kV\n0.5,BUS6.Vm,1.0,pu\n",
     "line 3: field 'unit': BUS6.Vm is in pu here and in kV in line 2: a channel has one unit"),
    ("0.3,BUS6.Vm,1,\n0.4,GEN1.omega,1,\n0.5,BUS6.Vm,230,kV\n",
     "line 4: field 'unit': BUS6.Vm is in kV here and without a unit in line 2"),
    ("0.3,BUS6.Vm,230,kV\n0.5,BUS6.Vm,1,\n",
     "line 3: field 'unit': BUS6.Vm is without a unit here and in kV in line 2")])
def test_samples_of_a_channel_in_more_than_one_unit_are_refused_with_their_lines(tmp_path, rows, said):
    path = written(tmp_path, f"time,channel,value,unit\n{rows}")
    with pytest.raises(CaseError) as error:
        Measurements.read(path)
    assert str(error.value).startswith(f"{path}: {said}")
    other = written(tmp_path, f"time,channel,value,unit\n{rows}0,F1,1,pu\n", "l.csv")
    assert dict(Measurements.read(other, {"F1": "GEN1.omega"}).units) == {"GEN1.omega": "pu"}


def test_two_channels_of_one_name_are_refused_unless_they_are_left_out(tmp_path):
    """Whatever they come in, and whether or not their units are the same."""
    wide = written(tmp_path, "time,V [kV],V,F1\n0,230,1,1\n")
    written(tmp_path, DAT, "r.dat")
    recording = written(tmp_path, CFG.replace("V6 rms", "V").replace(",f,", ",V,").replace("P line", "F1"), "r.cfg")
    xr.DataArray(np.ones((3, 3)), {"time": T, "channel": ["V", "V", "F1"]}, ("time", "channel"), "m").to_netcdf(
        tmp_path / "m.nc", engine="h5netcdf")
    for path, said in ((wide, "column 2, 'V [kV]', and column 3, 'V', are one channel, 'V': give each a name"),
                       (recording, "analog channel 1 and analog channel 2 are one channel, 'V'"),
                       (tmp_path / "m.nc", "variable 'm' at channel 1 and variable 'm' at channel 2 are one channel")):
        for channels in (None, {"V": "BUS6.Vm"}):
            with pytest.raises(CaseError) as error:
                Measurements.read(path, channels)
            assert str(error.value).startswith(f"{path}: {said}")
        assert Measurements.read(path, {"F1": "GEN1.omega"}).channels == ["GEN1.omega"]


def test_channels_that_measure_one_quantity_are_all_samples_of_it_in_one_unit(tmp_path):
    mixed = written(tmp_path, "time,A [kV],B [pu],C [kV],D\n0,230,1,231,1\n")
    data = Measurements.read(mixed, {"A": "BUS2.Vm", "C": "BUS2.Vm"})
    assert data.value.tolist() == [230, 231]
    assert dict(data.units) == {"BUS2.Vm": "kV"}
    for other, said in (("B", "in pu"), ("D", "without a unit")):
        with pytest.raises(CaseError, match=rf"m\.csv: 'A' in kV and '{other}' {said} are both to be BUS2\.Vm: it has"):
            Measurements.read(mixed, {"A": "BUS2.Vm", other: "BUS2.Vm"})


def test_rows_are_chosen_by_time_channel_and_count():
    data = Measurements.of(T, COLUMNS)
    assert data.between(0.1, 0.3).time.tolist() == [0.1, 0.25, 0.1, 0.25]
    assert data.every(2).time.tolist() == [0.0, 0.25, 0.0, 0.25]
    jump = Measurements.of([0.0, 0.1, 0.2, 0.2, 0.3], {"BUS6.Vm": [1, 2, 3, 4, 5]})
    assert jump.every(2).value.tolist() == [1, 3, 4]  # on both sides of it
    assert data.only("GEN1.omega").channels == ["GEN1.omega"]
    assert data.shifted(30).time[0] == 30.0
    assert data.weighted({"BUS6.Vm": 4.0}).weight.tolist() == [4, 4, 4, 1, 1, 1]
    assert data.scaled({"BUS6.Vm": 2.0}).value[:2].tolist() == [2.0, 1.98]
    for wrong in (lambda: data.between(5, 6), lambda: data.only("BUS5.Vm"), lambda: data.weighted({"BUS5.Vm": 1})):
        with pytest.raises(CaseError, match=r"no samples between 5 and 6 s|did you mean BUS6.Vm"):
            wrong()


@pytest.mark.parametrize(("text", "said"), [
    ("t,BUS6.Vm\n0,1\n", "there is no column 'time'"),
    ("time,BUS6.Vm\n0,1\n0.1,nan\n", "line 3: field 'BUS6.Vm': 'nan' is not a finite number"),
    ("time,BUS6.Vm\n0,1\nx,1\n", "line 3: field 'time': 'x' is not a finite number"),
    ("time,BUS6.Vm\n0,1\n0.1\n", "line 3: 1 cells for 2 columns"),
    ("time,channel,value,wieght\n0,BUS6.Vm,1,1\n", "unknown column 'wieght'; did you mean weight"),
    ("time,channel,value,value\n0,BUS6.Vm,1,2\n", "there are 2 columns 'value'"),
    ("time,BUS6.Vm\n", "there are no samples"),
    ("time,channel,value,weight\n0,BUS6.Vm,1,-1\n", "weights must be zero or more")])
def test_what_is_wrong_in_a_csv_file_is_named_with_line_and_column(tmp_path, text, said):
    path = written(tmp_path, text)
    with pytest.raises(CaseError) as error:
        Measurements.read(path)
    assert said in str(error.value)
    assert str(path) in str(error.value)


def test_names_with_line_ends_are_told_on_one_line(tmp_path):
    with pytest.raises(CaseError, match="there is no column 'time'; there are: BUS 6, t"):
        Measurements.read(written(tmp_path, '"BUS\n6",t\n0,1\n'))


def test_a_file_that_is_no_recording_is_refused_by_name(tmp_path):
    for name, said in (("m.xls", "measurements are read from .csv, .nc, .cfg, .cff"), ("none.csv", "no such file")):
        with pytest.raises(CaseError, match=said):
            Measurements.read(tmp_path / name)
    for name in ("m.nc", "m.cfg", "m.cff"):
        with pytest.raises(CaseError, match="that can be read"):
            Measurements.read(written(tmp_path, "nonsense", name))


def test_a_damaged_netcdf_file_is_refused_and_prints_nothing(tmp_path, capfd):
    """Checksums of HDF5's own headers: h5py has a KeyError for them, h5netcdf a traceback."""
    good = tmp_path / "good.nc"
    xr.Dataset({"BUS6.Vm": ("time", np.ones(3))}, {"time": [0.0, 0.1, 0.2]}).to_netcdf(good, engine="h5netcdf")
    data = good.read_bytes()
    refused = 0
    for at in range(0, len(data), len(data) // 20):
        (tmp_path / "x.nc").write_bytes(data[:at] + bytes([data[at] ^ 255]) + data[at + 1:])
        try:
            Measurements.read(tmp_path / "x.nc")
        except CaseError as error:
            assert "\n" not in str(error)  # noqa: PT017
            refused += 1
    assert refused > 2
    garbage.collect()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("read", ["crash", pytest.param("hang", marks=pytest.mark.slow)])
def test_a_netcdf_file_over_which_hdf5_crashes_or_hangs_is_refused(tmp_path, monkeypatch, read):
    """It does both, in C: the one file in some hundred that is damaged so is another with each of its versions."""
    def crash(path):
        faulthandler.disable()
        os.abort()

    def hang(path):
        while True:
            pass

    monkeypatch.setattr(netcdf, "dataset_or_error", {"crash": crash, "hang": hang}[read])
    monkeypatch.setattr("threading.active_count", lambda: 1)
    with pytest.raises(CaseError, match=r"m\.nc: is not a NetCDF .*: HDF5 crashes, or finds no end in it"):
        Measurements.read(written(tmp_path, "x", "m.nc"))


def test_nan_in_data_is_refused_with_channel_and_time():
    values = {**COLUMNS, "GEN1.omega": np.array([1.0, np.nan, np.inf])}
    with pytest.raises(CaseError, match=r"channel GEN1.omega at 0.1 s: the value is nan, .* \(and 1 more\)"):
        Measurements.of(T, values)
    with pytest.raises(CaseError, match=r"row 2, channel BUS6.Vm: the time is nan"):
        Measurements.of([0, np.nan, 1], COLUMNS)
    with pytest.raises(CaseError, match=r"channel BUS6.Vm has 2 values for 3 times"):
        Measurements.of(T, {"BUS6.Vm": [1, 2]})
    with pytest.raises(CaseError, match=r"weights are given for 'BUS6.vm', which is no channel; did you mean BUS6.Vm"):
        Measurements.of(T, COLUMNS, {"BUS6.vm": 1})
