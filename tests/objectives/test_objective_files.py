"""Objective files: what they mean, and that what is wrong in them is told with file, table and field."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gridcore as gc
from gridcore.case.files import shipped
from gridcore.errors import CaseError


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build("wscc9_paper"), t_end=0.5)


@pytest.fixture
def read(run, tmp_path):
    """The objectives of a file of this text."""
    def read(text, **files):
        (tmp_path / "o.toml").write_text(text)
        for name, content in files.items():
            (tmp_path / f"{name}.csv").write_text(content)
        return gc.analyses.load_objectives(tmp_path / "o.toml", run.system)

    return read


def one(**fields) -> str:
    fields = {"kind": "terminal", "of": "GEN2.omega", **fields}
    return "[[objective]]\n" + "\n".join(f"{k} = {v!r}" for k, v in fields.items())


V = ("GEN2", "omega")
HIGH, LOW = 60.5 / 60, 59.5 / 60
MEANING = {
    "value": (dict(), gc.Terminal(lambda v: v[V])),
    "integral": (dict(kind="integral", sigma=3), gc.Integral(lambda v: 3 * v[V])),
    "square": (dict(shape="square", reference="60.3 Hz"), gc.Terminal(lambda v: (v[V] - 60.3 / 60) ** 2)),
    "band": (dict(kind="integral", shape="band violation", low="59.5 Hz", high="60.5 Hz", sigma=1e4),
             gc.Integral(lambda v: 1e4 * np.maximum(0, np.maximum(v[V] - HIGH, LOW - v[V])) ** 2)),
    "upper limit, cubed": (dict(kind="integral", of="GEN3.omega", shape="band violation", high=1.005, power=3),
                           gc.Integral(lambda v: np.maximum(0, v["GEN3", "omega"] - 1.005) ** 3)),
    "a voltage in kV": (dict(of="BUS9.Vm", shape="square", reference="300 kV"),
                        gc.Terminal(lambda v: (v["BUS9", "Vm"] - 300 / 345) ** 2)),
    "a current in kA, by the voltage of a bus": (
        dict(of="LINE4-5.I1", shape="square", reference="0.1 kA"),
        gc.Terminal(lambda v: (v["LINE4-5", "I1"] - 0.1 * np.sqrt(3) * 345 / 100) ** 2)),
    "a parameter": (dict(of="GEN3.P0", shape="square", reference="70 MW"),
                    gc.Terminal(lambda v: (v["GEN3", "P0"] - 0.7) ** 2)),
    "lower limit": (dict(kind="integral", of="BUS9.Vm", shape="band violation", low="0.9 pu", power=1.5),
                    gc.Integral(lambda v: np.maximum(0, 0.9 - v["BUS9", "Vm"]) ** 1.5)),
}


@pytest.mark.parametrize("what", MEANING)
def test_an_objective_means_what_its_function_does(read, run, what):
    fields, function = MEANING[what]
    [objective] = read(one(**fields))
    found, expected = (gc.adjoint(run, o, ["GEN2.H", "fault.clear"]) for o in (objective, function))
    assert found.value.item() != 0 or what == "band"
    assert_allclose(found.value, expected.value, rtol=1e-14)
    assert_allclose(found, expected, rtol=1e-12)  # round-off of two sweeps, whose weights differ in the last digit


def test_sampled_data_come_from_a_column_beside_the_file(read, run):
    text = one(kind="sampled", of="BUS[58].Vm", data="d.csv", sigma=2.0)
    csv = "time,BUS5.Vm,BUS8.Vm\n0.111,0.9,0.8\n0.35,1.0,0.95\n"
    objectives = read(text, d=csv)
    assert [o.name for o in objectives] == ["sampled deviation of BUS5.Vm", "sampled deviation of BUS8.Vm"]
    expected = [gc.Sampled([0.111, 0.35], lambda v, b=b: v[b, "Vm"], data, 2.0)
                for b, data in (("BUS5", [0.9, 1.0]), ("BUS8", [0.8, 0.95]))]
    assert_allclose(gc.adjoint(run, objectives, "GEN2.H"), gc.adjoint(run, expected, "GEN2.H"), rtol=1e-14)
    [named] = read(one(kind="sampled", of="BUS5.Vm", data="d.csv", column="{device} measured", time="t"),
                   d="t,BUS5 measured\n0.2,1\n")
    assert named.data == [1.0]


def test_blanks_around_the_names_of_columns_are_no_part_of_them(read):
    [found] = read(one(kind="sampled", of="BUS5.Vm", data="d.csv"), d="time , BUS5.Vm\n0.2, 1\n")
    assert found.data == [1.0]


def test_one_objective_for_each_quantity_with_names_that_differ(read):
    assert [o.name for o in read(one(of="GEN*.omega", name="H_{device}"))] == ["H_GEN1", "H_GEN2", "H_GEN3"]
    assert [o.name for o in read(one(of="GEN[12].omega", name="speed"))] == ["speed GEN1.omega", "speed GEN2.omega"]
    assert [o.name for o in read(one())] == ["terminal value of GEN2.omega"]


def test_units_follow_from_quantity_and_shape(read):
    assert read(one(of="GEN2.delta"))[0].unit == "rad"
    assert read(one(of="GEN2.delta", kind="integral"))[0].unit == "rad s"
    assert read(one(of="GEN2.delta", kind="integral", shape="square", reference=1))[0].unit == "rad^2 s"


def test_names_are_texts_and_nothing_is_executed(read):
    [objective] = read(one(name="{device.__class__} {0} {device}"))
    assert objective.name == "{device.__class__} {0} GEN2"


@pytest.mark.parametrize(("name", "count"), [("wscc9_paper", 3), ("ieee118", 54)])
def test_the_shipped_files_are_read(name, count):
    assert len(gc.analyses.load_objectives(shipped()[name].parent / "frequency.toml", gc.build(name))) == count


WRONG = {
    "no TOML": ("kind = ", "is not valid TOML: "),
    "nothing in it": ("title = 'x'", "has no objectives: write tables [[objective]]"),
    "another heading": ("titel = 'x'", "field 'titel': unknown heading; did you mean title?"),
    "one table alone": ("objective = 3", "has no objectives: write tables [[objective]]"),
    "no kind": ("[[objective]]\nof = 'GEN2.omega'", "objective 1: field 'kind': missing"),
    "unknown kind": (one(kind="terminel"), "objective 1: field 'kind': unknown kind 'terminel'; did you mean terminal"),
    "unknown shape": (one(shape="squared"), "objective 1: field 'shape': unknown shape 'squared'; did you mean square"),
    "no quantity": ("[[objective]]\nkind = 'terminal'", "objective 1: field 'of': missing"),
    "unknown quantity": (one(of="GEN2.omga"), "objective 1: field 'of': no quantity matches 'GEN2.omga'; did you mean "
                         "GEN2.omega"),
    "a field of another shape": (one(high=1.0), "objective 1: field 'high': the shape 'value' has no such field"),
    "second table": (one() + "\n" + one(sigma="much"), "objective 2: field 'sigma': 'much' is not a number"),
    "unit": (one(shape="square", reference="1 furlong"), "objective 1: field 'reference': "),
    "no reference": (one(shape="square"), "objective 1: field 'reference': missing"),
    "no limit": (one(shape="band violation"), "objective 1: field 'high': missing: give low, high or both"),
    "an empty band": (one(shape="band violation", low=1.1, high=0.9), "objective 1: field 'low': 1.1 must be less than "
                      "high = 0.9"),
    "a small power": (one(shape="band violation", high=1, power=0.5), "objective 1: field 'power': 0.5 must be at "
                      "least 1"),
    "a truth value": ("[[objective]]\nkind='terminal'\nof='GEN2.omega'\nsigma=true", "objective 1: field 'sigma': True "
                      "is not a number"),
    "no data": (one(kind="sampled"), "objective 1: field 'data': missing"),
    "no file": (one(kind="sampled", data="none.csv"), "objective 1: field 'data': "),
    "a shape for data": (one(kind="sampled", data="d.csv", shape="value"), "objective 1: field 'shape': a sampled "
                         "objective has no such field"),
    "no column": (one(kind="sampled", data="d.csv", column="omega"), "objective 1: field 'column': "),
    "no time": (one(kind="sampled", data="d.csv", time="t"), "objective 1: field 'time': "),
    "no number": (one(kind="sampled", data="d.csv"), "objective 1: field 'data': "),
}
SAYS = {"no file": "none.csv cannot be read: No such file", "no column": "d.csv has no column 'omega'; did you mean",
        "no time": "d.csv has no column 't'", "no number": "d.csv, line 3, column 'GEN2.omega': 'x' is not a finite "
        "number", "unit": "unit 'furlong' is not understood here"}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_told_with_file_table_and_field(read, tmp_path, what):
    text, said = WRONG[what]
    with pytest.raises(CaseError) as error:
        read(text, d="time,GEN2.omega\n0,1\n0.1,x\n")
    assert str(error.value).startswith(f"{tmp_path / 'o.toml'}: {said}")
    assert SAYS.get(what, "") in str(error.value)


@pytest.mark.parametrize(("head", "field", "name"), [
    ("time,GEN2.omega,GEN2.omega", "column", "GEN2.omega"), ("time,GEN2.omega, time", "time", "time")])
def test_of_two_columns_with_one_name_none_is_taken(read, head, field, name):
    with pytest.raises(CaseError, match=rf"objective 1: field '{field}': .*d\.csv has 2 columns '{name}': give each a"):
        read(one(kind="sampled", data="d.csv"), d=f"{head}\n0,1,2\n0.1,1,2\n")


def test_a_file_that_is_not_there_is_told(run):
    with pytest.raises(CaseError, match=r"^none\.toml: there is no such file, and none of this name is shipped"):
        gc.analyses.load_objectives("none.toml", run.system)


def test_a_file_that_is_shipped_with_a_case_is_found_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    system = gc.build("wscc9_paper")
    by_name = gc.analyses.load_objectives("wscc9_paper/frequency.toml", system)
    by_path = gc.analyses.load_objectives(shipped()["wscc9_paper"].with_name("frequency.toml"), system)
    assert [o.name for o in by_name] == [o.name for o in by_path]
    with pytest.raises(CaseError, match=r"did you mean wscc9_paper/frequency\.toml"):
        gc.analyses.load_objectives("wscc9_paper/frequnecy.toml", system)
