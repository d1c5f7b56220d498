"""Pictures and tables of text say what made them, too: in fields of their own, or in a file beside them."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET

import pytest
import xarray as xr
from command_line import invoke
from PIL import Image

import gridcore as gc
from gridcore_provenance.record import NAMES
from gridcore_sweep.figures import heat_map

OBJECTIVE = '[[objective]]\nname = "end"\nkind = "terminal"\nof = "GEN2.omega"\n'
DUBLIN_CORE = {"dc": "http://purl.org/dc/elements/1.1/", "cc": "http://creativecommons.org/ns#"}


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build("wscc9"), t_end=0.05)


def described(path):
    """The description of a table, its columns by heading, and what made it."""
    told = json.loads(path.with_name(path.name + "-metadata.json").read_text())
    assert told["@context"] == "http://www.w3.org/ns/csvw"
    assert told["url"] == path.name
    headings = [column["titles"] for column in told["tableSchema"]["columns"]]
    with path.open(newline="") as file:
        assert next(csv.reader(file)) == headings
    software, _, version = told["dc:creator"].partition(" ")
    assert software == "gridcore"
    made = {name.removeprefix("gridcore:"): value for name, value in told.items() if name.startswith("gridcore:")}
    return ({c["titles"]: c.get("schema:unitText", "") for c in told["tableSchema"]["columns"]},
            {"gridcore": version, "date": told["dc:created"], **made})


def description(path):
    """What a PNG says of what made it."""
    with Image.open(path) as picture:
        return json.loads(picture.text["Description"])


def test_a_png_says_what_made_it(run, tmp_path):
    gc.analyses.plot(run, tmp_path / "r.png")
    with Image.open(tmp_path / "r.png") as picture:
        assert picture.text["Software"] == f"gridcore {gc.__version__}"
        assert json.loads(picture.text["Description"]) == run.provenance


def test_an_svg_says_what_made_it(run, tmp_path):
    gc.analyses.plot(run, tmp_path / "r.svg")
    tree = ET.parse(tmp_path / "r.svg")
    assert json.loads(tree.find(".//dc:description", DUBLIN_CORE).text) == run.provenance
    assert tree.find(".//dc:creator/cc:Agent/dc:title", DUBLIN_CORE).text == f"gridcore {gc.__version__}"


def test_a_pdf_says_what_made_it(run, tmp_path):
    gc.analyses.plot(run, tmp_path / "r.pdf")
    written = (tmp_path / "r.pdf").read_bytes()
    assert f"/Creator (gridcore {gc.__version__})".encode() in written
    subject = re.search(rb"/Subject \((.*?)[^\\]\)", written, re.DOTALL)[1]
    assert run.provenance["case_fingerprint"].encode() in subject


def test_a_picture_of_several_runs_says_it_of_each(run, tmp_path):
    late = gc.simulate(run.system.with_values({"fault.clear": "150 ms"}), t_end=0.05)
    gc.analyses.plot({"early": run, "late": late}, tmp_path / "both.png")
    with Image.open(tmp_path / "both.png") as picture:
        assert json.loads(picture.text["Description"]) == {"early": run.provenance, "late": late.provenance}


def test_a_picture_of_a_gradient_says_what_was_differentiated(run, tmp_path):
    gradient = gc.adjoint(run, gc.Terminal(lambda v: v["GEN2", "omega"]), ["GEN2.H"])
    figure = gc.analyses.plot_gradient(gradient, tmp_path / "g.png", of=run)
    assert description(tmp_path / "g.png") == run.provenance
    assert run.system.case.title in [text.get_text() for text in figure.texts]


@pytest.mark.parametrize(("made", "draw", "values"), [
    ("root_locus", "plot_locus", {"GEN2.H": [6.0, 6.5]}),
    ("damping_map", "plot_damping_map", {"GEN2.H": [6.0, 6.5], "EXC1.KA": [20.0, 22.0]})])
def test_pictures_of_modes_over_parameters_say_case_and_values(run, made, draw, values, tmp_path):
    locus = getattr(gc.analyses, made)(run.system, *(values.popitem() if len(values) == 1 else [values]))
    getattr(gc.analyses, draw)(locus, tmp_path / "l.png")
    told = description(tmp_path / "l.png")
    assert told["case_fingerprint"] == run.provenance["case_fingerprint"]
    asked = json.loads(told["options"])
    assert asked["vary"] == dict(zip(locus.parameters, (v.tolist() for v in locus.values), strict=True))
    assert asked["method"] == "dense"


def test_a_picture_of_a_sweep_says_case_and_settings(run, tmp_path):
    table = gc.analyses.sweep(run.system, vary={"GEN2.H": [6.0, 6.5]}, t_end=0.05, processes=1)
    heat_map(table, tmp_path / "s.png")
    assert description(tmp_path / "s.png") == table.made
    assert json.loads(json.loads(table.made["options"])["t_end"]) == 0.05


def test_a_format_without_fields_has_none(run, tmp_path):
    gc.analyses.plot(run, tmp_path / "r.jpg")
    assert (tmp_path / "r.jpg").stat().st_size > 10_000


def test_a_table_of_a_run_has_units_and_what_made_it_beside(run, tmp_path):
    run.save(tmp_path / "r.csv", columns=["GEN2.omega", "GEN2.delta", "BUS7.Vm", "fault.on"])
    units, made = described(tmp_path / "r.csv")
    assert units == {"time": "s", "GEN2.omega": "pu", "GEN2.delta": "rad", "BUS7.Vm": "pu", "fault.on": ""}
    assert made == run.provenance


@pytest.mark.parametrize(("verb", "stem", "arguments"), [
    ("pf", "wscc9_pf", ()), ("eig", "wscc9_eig", ("--wrt", "EXC1.KA", "--plot")),
    ("eig", "wscc9_eig_sensitivities", ("--wrt", "EXC1.KA")),
    ("grad", "wscc9_gradient", ("--objective", "o.toml", "--wrt", "GEN2.H", "--plot")),
    ("tsa", "wscc9_tsa", ("--of", "GEN2.omega", "--wrt", "GEN2.H", "--plot")),
    ("sweep", "wscc9_sweep", ("--vary", "GEN2.H=6,7", "--processes", "1", "--plot"))])
def test_every_table_and_picture_of_a_verb_has_it(verb, stem, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "o.toml").write_text(OBJECTIVE)
    times = () if verb in ("eig", "pf") else ("--t-end", "0.05")
    found = invoke(verb, "wscc9", *arguments, *times, "--out", tmp_path)
    assert found.exit_code == 0, found.output
    units, made = described(tmp_path / f"{stem}.csv")
    assert set(made) == set(NAMES)
    same = set(NAMES) - {"date"}
    if (tmp_path / f"{stem}.nc").exists():
        with xr.open_dataset(tmp_path / f"{stem}.nc", engine="h5netcdf") as written:
            assert {name: made[name] for name in same} == {name: written.attrs[name] for name in same}
    if "--plot" in arguments:
        told = description(tmp_path / f"{stem}.png")
        assert {name: made[name] for name in same} == {name: told[name] for name in same}
    if verb == "tsa":
        assert units == {"time": "s", "GEN2.omega/GEN2.H": "pu / s"}
