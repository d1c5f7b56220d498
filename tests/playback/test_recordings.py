"""Recordings that cases name: what is read of them, and where they may lie."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gridcore as gc
from gridcore.errors import CaseError
from gridcore_estimation import Measurements

DATA = Path(__file__).parents[1] / "data"
RAW = DATA / "transformer_codes.raw"
T = np.arange(5) * 0.25
VOLTAGE, ANGLE = 1.0 - 0.1 * T, 170.0 + 20.0 * T

CASE = """
name = "bus"
Bus = [{id = 1}]
ZIP = [{bus = 1, P0 = 0.5, Q0 = 0.1}]
TimeSeries = [
  {id = "V", file = "FILE", column = "BUS1.Vm"},
  {id = "theta", file = "FILE", column = "BUS1.Va"},
]
PlaybackSource = [{bus = 1, control = "slack", V = "V", theta = "theta", radian = 57.29577951308232}]
"""


def written(folder, file="measured.csv", text=CASE):
    """A case that names a recording of these columns, angles in degrees as they are measured, beyond 180 or not."""
    Measurements.of(T, {"BUS1.Vm": VOLTAGE, "BUS1.Va": (ANGLE + 180) % 360 - 180}, units={"BUS1.Va": "deg"}).to_csv(
        folder / "measured.csv")
    (folder / "case.toml").write_text(text.replace("FILE", file))
    return folder / "case.toml"


def test_signals_of_a_case_have_the_samples_of_the_columns_that_they_name(tmp_path):
    case = gc.load_case(written(tmp_path))
    run = gc.simulate(case, 1.0, 0.1)
    assert_allclose(run["V", "value"][-1], 0.9, rtol=1e-14)
    assert_allclose(run["theta", "value"], 170 + 20 * run.t, rtol=1e-12)  # not one turn back on the way
    assert_allclose(run["BUS1", "Vm"], 1.0 - 0.1 * run.t, rtol=1e-12)
    assert [event.item for event in run.events if event.t == 0.25] == ["passes", "passes"]
    assert sum(event.t == 0.25 for event in run.events) == 2
    assert len([t for t in run.t if t == 0.25]) == 2  # signals of one file share their times: one switch


def test_what_was_read_is_saved_with_the_case_and_not_read_again(tmp_path):
    case = gc.load_case(written(tmp_path))
    folder = tmp_path / "elsewhere"
    gc.save_case(case, folder / "case.toml")
    again = gc.load_case(folder / "case.toml")
    assert {id: again[id].fields for id in again.ids()} == {id: case[id].fields for id in case.ids()}
    gc.save_case(case, folder / "case.xlsx")
    assert len(gc.load_case(folder / "case.xlsx")) == len(case)


@pytest.mark.parametrize(("file", "said"), [
    ("../measured.csv", "is not in the folder of the case, nor below it"),
    ("/etc/hostname", "is not in the folder of the case, nor below it"), ("absent.csv", "there is no file")])
def test_a_case_names_files_in_its_folder_only(tmp_path, file, said):
    (tmp_path / "case").mkdir()
    path = written(tmp_path / "case", file)
    written(tmp_path)
    with pytest.raises(CaseError, match=f"case.toml.*TimeSeries row 1.*{said}"):
        gc.load_case(path)


def test_a_channel_that_is_not_there_is_told_with_the_nearest(tmp_path):
    with pytest.raises(CaseError, match=r"has no channel 'BUS1.Vmm'.*BUS1.Vm"):
        gc.load_case(written(tmp_path, text=CASE.replace("BUS1.Vm", "BUS1.Vmm")))


def test_a_case_made_in_python_reads_its_recordings_when_asked_to(tmp_path, monkeypatch):
    written(tmp_path)
    monkeypatch.chdir(tmp_path)
    case = gc.Case("bus")
    case.add("Bus", id=1)
    case.add("TimeSeries", id="V", file="measured.csv", column="BUS1.Vm")
    gc.analyses.read_time_series(case)
    assert [record.fields["v"] for record in case if record.model in ("Sample", "Corner")] == VOLTAGE.tolist()
    gc.analyses.read_time_series(case)
    assert len(case) == 2 + len(VOLTAGE)


def test_a_channel_of_a_comtrade_recording_is_a_signal(tmp_path):
    for suffix in ("cfg", "dat"):
        (tmp_path / f"r.{suffix}").write_text((DATA / f"recording.{suffix}").read_text())
    rows = 'TimeSeries = [{id = "f", file = "r.cfg", column = "f"}]\nInfiniteBus = [{bus = 1, control = "slack"}]'
    (tmp_path / "case.toml").write_text(CASE.partition("TimeSeries")[0] + rows)
    run = gc.simulate(gc.load_case(tmp_path / "case.toml"), 0.3, 0.05)
    assert_allclose(run["f", "value"][[0, -1]], [60.0, 60.01], rtol=1e-14)
    assert_allclose(run.at(0.15)["f.value"], 60.0, rtol=1e-14)


RECORD = "1 'USRMDL' 1 'PLBVFU1' 1 1 3 4 3 6 1 1 'FILE' 230.0 50.0 0.02 0.05 /\n"
PLAYED = """0.000, 236.9, 50.0
0.500  236.9  50.0
0.501  225.0  50.1

9999   225.0  50.1
"""


def read(folder, file="measured.plb", text=PLAYED, record=RECORD):
    (folder / "x.raw").write_text(RAW.read_text())
    (folder / "x.dyr").write_text(record.replace("FILE", file))
    (folder / "measured.plb").write_text(text)
    return gc.load_case(folder / "x.raw")


@pytest.mark.parametrize("file", ["measured", "measured.plb"])
@pytest.mark.parametrize("record", [RECORD, "1 'PLBVFU1' 1 1 1 'FILE' 230.0 50.0 0.02 0.05 /\n"])
def test_a_record_of_plbvfu1_finds_its_file_and_plays_it(tmp_path, file, record):
    case = read(tmp_path, file, record=record)
    assert case["GEN1"].model == "PLBVFU1"
    assert case["GEN1"].fields["Vscale"] == 230.0
    run = gc.simulate(gc.build(case), 1.0, 0.02)
    assert_allclose(run["GEN1", "Vm"][-1], (225.0 - 236.9) / 230.0, rtol=1e-8)
    assert_allclose(run["GEN1", "fm"][-1], 0.1 / 50.0, rtol=1e-3)
    assert len(run.events) == 2 * 2


def test_it_is_written_with_the_name_of_its_file(tmp_path):
    case = read(tmp_path)
    gc.save_case(case, tmp_path / "y.dyr")
    assert "1 'PLBVFU1' '1' 1.0 1.0 'measured.plb' 230.0 50.0 0.02 0.05 /" in (tmp_path / "y.dyr").read_text()


@pytest.mark.parametrize(("text", "said"), [
    ("0 1\n", "line 1.*'0 1' is not time, voltage and frequency"), ("\n0 1 x\n", "line 2.*is not time"),
    ("\n", "there are no samples"), ("1 1 1\n0 1 1\n", "must be in order: see 1 s"),
    ("0 nan 1\n", "not a finite number")])
def test_a_file_that_is_no_recording_is_refused_with_its_line(tmp_path, text, said):
    with pytest.raises(CaseError, match=said):
        read(tmp_path, text=text)


def test_a_record_without_a_file_there_is_an_error_that_names_it(tmp_path):
    with pytest.raises(CaseError, match=r"PLBVFU1 at bus 1 '1' .*there is no file .*absent"):
        read(tmp_path, "absent")
