"""Every result file says what made it; a case is known again however it is written."""

from __future__ import annotations

import json
import sqlite3
from importlib import metadata

import pytest
import xarray as xr
from command_line import invoke

import gridcore as gc
from gridcore_provenance.record import NAMES, provenance


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build("wscc9"), t_end=0.2, method="theta")


def fingerprint(of) -> str:
    return provenance(of)["case_fingerprint"]


def test_a_record_says_version_options_libraries_and_machine(run):
    made = run.provenance
    assert tuple(made) == NAMES
    assert made["gridcore"] == gc.__version__
    assert json.loads(made["options"]) == {**run.settings, "methods": {"theta": {"theta": 0.5}}}
    for library in ("numpy", "scipy", "casadi"):
        assert f"{library} {metadata.version(library)}" in made["libraries"]
    assert "CPUs" in made["machine"]


def test_a_loaded_run_says_what_made_it_then(run, tmp_path):
    run.save(tmp_path / "r.nc")
    then = run.provenance
    loaded = gc.load_run(tmp_path / "r.nc")
    assert loaded.provenance == then
    loaded.save(tmp_path / "again.nc")
    assert gc.load_run(tmp_path / "again.nc").provenance == then
    longer = gc.simulate(loaded, t_end=0.3)
    assert json.loads(longer.provenance["options"])["t_end"] == 0.3
    assert longer.provenance["case_fingerprint"] == then["case_fingerprint"]


def test_a_fingerprint_is_of_what_the_case_says(run, tmp_path):
    case = gc.load_case("wscc9")
    case.title, case.about = "another title", {}
    case.set("fault.clear", "183 ms")
    gc.save_case(case, tmp_path / "c.toml")
    same = fingerprint(gc.load_case("wscc9"))
    assert [fingerprint(of) for of in (case, gc.load_case(tmp_path / "c.toml"), gc.build(case), run)] == [same] * 4
    case.set("GEN2.H", 6.5)
    assert fingerprint(case) != same
    assert fingerprint(run.system.with_values({"GEN2.H": 6.5})) == fingerprint(case)


OBJECTIVE = '[[objective]]\nname = "end"\nkind = "terminal"\nof = "GEN2.omega"\n'


@pytest.mark.parametrize(("verb", "file", "arguments"), [
    ("run", "wscc9.nc", ()), ("eig", "wscc9_eig.nc", ()), ("locus", "wscc9_locus.nc", ("--vary", "EXC1.KA=19,20")),
    ("grad", "wscc9_gradient.nc", ("--objective", "o.toml", "--wrt", "GEN2.H")),
    ("tsa", "wscc9_tsa.nc", ("--of", "GEN2.omega", "--wrt", "GEN2.H")),
    ("sweep", "wscc9_sweep.nc", ("--vary", "GEN2.H=6,7", "--processes", "1"))])
def test_every_result_file_has_it(verb, file, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "o.toml").write_text(OBJECTIVE)
    times = () if verb in ("eig", "locus") else ("--t-end", "0.05")
    found = invoke(verb, "wscc9", *arguments, *times, "--out", tmp_path)
    assert found.exit_code == 0, found.output
    with xr.open_dataset(tmp_path / file, engine="h5netcdf") as written:
        made = {name: written.attrs[name] for name in NAMES}
    assert made["gridcore"] == gc.__version__
    assert len(made["case_fingerprint"]) == 32
    if verb != "sweep":  # whose case has the scenarios' events
        assert made["case_fingerprint"] == fingerprint(gc.load_case("wscc9"))
    else:
        about = dict(sqlite3.connect(tmp_path / "wscc9_sweep.db").execute("SELECT name, value FROM about"))
        assert {*NAMES} <= {*about}
