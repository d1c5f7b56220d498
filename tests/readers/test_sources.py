"""What a small file may ask for: each limit is said in the error, and nothing is waited for or read for ever."""

from __future__ import annotations

import os
import weakref
import zipfile
from pathlib import Path

import numpy as np
import pytest

import gridcore as gc
from gridcore.case import load_case, save_case
from gridcore.errors import CaseError, GridcoreError
from gridcore_estimation import Measurements
from gridcore_readers import sources
from gridcore_sweep.files import load_sweep
from gridcore_sweep.study import study


def written(tmp_path, text, name="x.toml"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(("text", "says"), [
    ("a = " + "[" * 100_000, "arrays and tables in each other, more than 20 deep"),
    ("a = " + "[" * 50 + "]" * 50, "arrays and tables in each other, more than 20 deep"),
    *((key + " = 1", "arrays and tables in each other, more than 20 deep") for key in (
        ".".join(["a"] * 22), ".".join(["a"] * 100_000), "x = 2\n'a' . " + "a .\t" * 20 + '"a.b"')),
    ("[" + ".".join(["a"] * 100_000) + "]", "arrays and tables in each other, more than 20 deep"),
    ("a = " + "9" * 5000, "is not valid TOML: Exceeds the limit"),
    ("a = 0x" + "f" * 5000, "an integer of more than 64 bits: TOML has none"),
])
def test_nested_and_oversized_toml_is_refused_by_all_that_read_it(tmp_path, text, says):
    path = written(tmp_path, text)
    for read in (load_case, load_sweep, lambda file: gc.analyses.load_objectives(file, None)):
        with pytest.raises(CaseError, match=says):
            read(path)


@pytest.mark.parametrize("suffix", [".toml", ".raw", ".m", ".xlsx"])
def test_a_file_larger_than_the_limit_is_not_read(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    with path.open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(CaseError, match=r"has 1,000,000,000,000 bytes, of at most 100,000,000"):
        load_case(path, alone=True)


@pytest.mark.parametrize("read", [sources.text, sources.toml, sources.table, load_sweep])
def test_a_device_or_a_pipe_is_no_file(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(CaseError, match="is no regular file"):
            read(path)


@pytest.mark.parametrize(("read", "suffix"), [
    (gc.load_case, ".raw"), (gc.load_case, ".toml"), (lambda path: gc.load_case("smib", path), ".dyr"),
    (gc.load_run, ".nc"), (Measurements.read, ".csv")])
def test_a_pipe_is_there_and_no_file(tmp_path, read, suffix):
    path = tmp_path / f"pipe{suffix}"
    with pytest.raises(GridcoreError, match="there is no such file"):
        read(path)
    os.mkfifo(path)
    with pytest.raises(GridcoreError, match=r"pipe\.\w+:? is no regular file"):
        read(path)


def test_the_data_of_an_objective_are_a_file_in_its_folder(tmp_path):
    system = gc.build("smib")
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "link.csv").symlink_to("/dev/zero")
    folder = tmp_path / "study"
    folder.mkdir()
    written(tmp_path, "time,BUS1.Vm\n0,1\n0.1,1\n", "outer.csv")
    text = '[[objective]]\nkind = "sampled"\nof = "BUS1.Vm"\ndata = "{}"\n'
    for name, says in (("pipe.csv", r"field 'data': .*pipe\.csv is no regular file"),
                       ("link.csv", r"'link\.csv' lies outside the folder of this file: --outside, or outside=True"),
                       ("/dev/zero", r"'/dev/zero' lies outside the folder of this file"),
                       ("study/../../x.csv", "lies outside the folder"),
                       ("n" * 5000 + ".csv", "cannot be the name of a file|cannot be read: File name too long")):
        path = written(tmp_path, text.format(name))
        with pytest.raises(CaseError, match=says):
            gc.analyses.load_objectives(path, system)
    path = written(folder, text.format("../outer.csv"))
    with pytest.raises(CaseError, match="lies outside"):
        gc.analyses.load_objectives(path, system)
    assert len(gc.analyses.load_objectives(path, system, outside=True)) == 1


def test_a_sweep_file_names_files_in_its_folder(tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    save_case(load_case("smib"), tmp_path / "outer.toml")
    written(tmp_path, "GEN1.H\n5\n6\n", "outer.csv")
    for text in (f'case = "{tmp_path}/outer.toml"', 'case = "../outer.toml"', 'case = "smib"\nrows = "../outer.csv"'):
        path = written(folder, text)
        with pytest.raises(CaseError, match=r"x\.toml: '.*' lies outside the folder of this file"):
            load_sweep(path)
        assert load_sweep(path, outside=True)["case"]
    with pytest.raises(CaseError, match=r"x\.toml: field 'case': there is no file '.*cases/smib'"):
        load_sweep(written(folder, 'case = "cases/smib"'))


def test_cells_beyond_what_csv_takes_are_refused(tmp_path):
    path = written(tmp_path, "time,a\n0," + "9" * 200_000 + "\n", "x.csv")
    for read in (sources.table, Measurements.read):
        with pytest.raises(CaseError, match=r"x\.csv: cannot be read: field larger than field limit"):
            read(path)


def zipped(path, sheet):
    """A workbook of one sheet with this text."""
    save_case(load_case("smib"), path)
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    parts["xl/worksheets/sheet2.xml"] = sheet
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in parts.items():
            new.writestr(name, content)
    return path


SHEET = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%s</sheetData></worksheet>'


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path):
    path = zipped(tmp_path / "x.xlsx", SHEET % (b" " * 300_000_000))
    assert path.stat().st_size < 500_000
    with pytest.raises(CaseError, match=r"x\.xlsx: has 300,\d+,\d+ bytes, of at most 200,000,000"):
        load_case(path)


def test_a_workbook_that_says_its_parts_to_be_larger_than_it_is_refused(tmp_path):
    """Memory for them is taken before they are read."""
    path = zipped(tmp_path / "x.xlsx", SHEET % b"")
    content = path.read_bytes()
    entry = content.index(b"PK\x01\x02")  # of the first part in the directory; its packed size is 20 bytes behind
    path.write_bytes(content[:entry + 20] + (1 << 30).to_bytes(4, "little") + content[entry + 24:])
    with pytest.raises(CaseError, match=r"x\.xlsx: has 1,073,[\d,]+ bytes packed, of at most [\d,]{5,6}$"):
        load_case(path)


@pytest.mark.parametrize("rows", [
    b'<row r="1000000000000"><c r="A1000000000000"><v>1</v></c></row>',
    b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (n, n) for n in range(1, 1000))])
def test_a_workbook_of_too_many_cells_is_refused(tmp_path, rows):
    path = zipped(tmp_path / "x.xlsx", SHEET % rows)
    with pytest.raises(CaseError, match=r"x\.xlsx: has [\d,]+ empty cells, of at most 1,0\d\d,\d\d\d"):
        load_case(path)


def test_a_workbook_of_too_many_cells_with_something_in_them_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "CELLS", 5)
    save_case(gc.load_case("smib"), tmp_path / "x.xlsx")
    with pytest.raises(CaseError, match=r"x\.xlsx: has \d+ cells, of at most 5"):
        load_case(tmp_path / "x.xlsx")


HEADER = "station,1,1999\n{count},{count}A,0D\n1,V,,,kV,1,0,0,-1,1,1,1,P\n60\n1\n1000,{samples}\n" \
         "01/01/2020,00:00:00.0\n01/01/2020,00:00:00.0\nASCII\n1\n"


@pytest.mark.parametrize(("count", "samples", "says"), [
    (900_000_000, 1, r"has 900,000,000 channels, of at most 100,000"),
    (1, 30_000_000_000, r"has 30,000,000,000 samples, of at most 20,000,000")])
@pytest.mark.parametrize("name", ["x.cfg", "x.cff"])
def test_a_recording_that_says_to_be_too_large_is_refused(tmp_path, name, count, samples, says):
    text = HEADER.format(count=count, samples=samples)
    (tmp_path / "x.dat").write_text("1,0,1\n")
    if name == "x.cff":
        text = f"--- file type: CFG ---\n{text}--- file type: DAT ASCII ---\n1,0,1\n"
    with pytest.raises(CaseError, match=says):
        Measurements.read(written(tmp_path, text, name))


def test_a_header_that_only_other_eyes_can_read_is_refused(tmp_path):
    text = "--- file type: CFG ---\n--- FILE TYPE: CFG ---\n" + HEADER.format(count=900_000_000, samples=1)
    with pytest.raises(CaseError, match=r"900,000,000 channels|is not a COMTRADE recording that can be read"):
        Measurements.read(written(tmp_path, text, "x.cff"))


def test_a_pipe_beside_a_recording_is_not_waited_for(tmp_path):
    path = written(tmp_path, HEADER.format(count=1, samples=1), "x.cfg")
    (tmp_path / "x.dat").write_text("1,0,1\n")
    assert len(Measurements.read(path)) == 1
    os.mkfifo(tmp_path / "x.hdr")
    with pytest.raises(CaseError, match=r"x\.hdr: is no regular file"):
        Measurements.read(path)


@pytest.mark.parametrize("name", ["BUS1.Vm", "time"])
def test_a_dataset_of_more_numbers_than_are_written_is_refused(tmp_path, name):
    import h5netcdf

    with h5netcdf.File(tmp_path / "x.nc", "w") as file:
        file.dimensions = {"time": 30_000_000_000}
        file.create_variable(name, ("time",), np.float64, chunks=(100_000,))
    with pytest.raises(CaseError, match=r"has 30,000,000,000 numbers, of at most 20,000,000"):
        Measurements.read(tmp_path / "x.nc")


def test_a_dataset_may_say_anything_of_its_variables_and_have_a_long_dimension(tmp_path):
    import h5netcdf
    import h5py

    with h5netcdf.File(tmp_path / "x.nc", "w") as file:
        file.dimensions = {"time": 3, "unused": 30_000_000_000}
        file.create_variable("time", ("time",), data=np.arange(3.0))
        file.create_variable("BUS1.Vm", ("time",), data=np.ones(3))
    with h5py.File(tmp_path / "x.nc", "a") as file:
        file["BUS1.Vm"].attrs["NAME"] = "voltage"  # as no writer of NetCDF does, but others may
    assert len(Measurements.read(tmp_path / "x.nc")) == 3


def test_a_key_of_as_many_parts_as_tables_may_be_in_each_other_is_read(tmp_path):
    data, _ = sources.toml(written(tmp_path, ".".join(["a"] * 20) + " = 'b" + ".b" * 18 + "'"))
    for _ in range(20):
        data = data["a"]
    assert data == "b" + ".b" * 18


@pytest.mark.parametrize(("asked", "says"), [
    ({"vary": {"GEN1.H": {"from": 1, "to": 2, "count": 10**12}}}, "count = 1,000,000,000,000 must be at most"),
    ({"vary": {"GEN1.H": {"from": 1, "to": 2, "count": 0}}}, "count an integer above 1"),
    ({"vary": {f"{p}": {"from": 1, "to": 2, "count": 1000} for p in ("GEN1.H", "GEN1.Xdp", "CCT1.x")}},
     "all combinations are 1,000,000,000 scenarios, of at most 1,000,000"),
    ({"random": {"samples": 10**12, "draw": {"GEN1.H": {"distribution": "norm"}}}},
     "samples = 1,000,000,000,000 must be at most 1,000,000"),
    ({"random": {"samples": 2, "draw": {"GEN1.H": {"distribution": "studentized_range", "k": 3, "df": 1e-3}}}},
     "'studentized_range' has no quantile function of its own, and cannot be drawn from"),
    ({"random": {"samples": 2, "draw": {"GEN1.H": {"distribution": ["norm"]}}}}, "has no distribution \\['norm'\\]"),
    ({"contingencies": {"faults": 3.5}}, "3.5 must be an address or a pattern"),
    ({"contingencies": {"trips": 1}}, "1 must be an address or a pattern"),
    ({"rows": [1, 2]}, "row 1: 1 must be a table: address to value"),
    ({"rows": [{"GEN1.H": [1]}]}, r"row 1: \[1\] must be a number or a text"),
    ({"vary": {"GEN1.H": [[1], 2]}}, r"vary 'GEN1.H': \[1\] must be a number or a text"),
    ({"vary": {"GEN1.H": [5]}, "measures": [3]}, "measure 3 must be a text"),
    ({"vary": {"GEN1.H": [5]}, "step": [0.1]}, r"step = \[0.1\] must be a number of seconds, or pairs"),
    ({"vary": {"GEN1.H": [5]}, "step": 1e-12}, "a grid from 0 to 5 s has 5e\\+12 points"),
    ({"vary": {"GEN1.H": [5]}, "record": [3]}, "3 must be an address or a pattern"),
])
def test_a_sweep_of_too_much_or_of_the_wrong_kind_is_refused(asked, says):
    with pytest.raises(CaseError, match=says):
        study("smib", **asked)


def test_what_is_left_of_files_that_are_read_in_a_loop_is_collected():
    """What is read is old at once; cycles that were made since the last file became old with it, and stayed."""
    class Cycle:
        def __init__(self):
            self.it = self

    gone: list[weakref.ref[Cycle]] = []
    for _ in range(40):
        gone.append(weakref.ref(Cycle()))
        with sources.uncollected():
            read = [[] for _ in range(10_000)]
        del read
    assert gone[0]() is None
    assert sum(ref() is not None for ref in gone) <= 30
