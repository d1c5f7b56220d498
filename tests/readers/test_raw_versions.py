"""Versions 29 to 36 of RAW files, and RAWX: one system, whatever the layout."""

import math
import re

import numpy as np
import pytest
from scipy.sparse import coo_array
from shared_data import shared

import gridcore as gc
from gridcore.equilibrium import Dispatch
from gridcore.errors import CaseError
from gridcore_readers import dyr, raw
from gridcore_readers.raw_tables import COLUMNS, layout, sections

FIELD = "field/raw_versions/"
OPTIONS = {"tolerate": True}


def records(case):
    return [(record.model, record.fields) for record in case]


def missing(case):
    """(power flow problem, voltages in the file, power that each bus lacks with them) (pu)."""
    system = gc.build(case, initialise=False, deenergise=True)
    dispatch = Dispatch(system.system, system.Z0.copy())
    V = system.Z0[dispatch.at["Vm0"]] * np.exp(1j * system.Z0[dispatch.at["Va0"]])
    row, column, y = dispatch.admittance()
    current = coo_array((y, (row, column)), 2 * [len(V)]) @ V
    return dispatch, V, dict(zip(dispatch.ids, V * np.conj(current) - dispatch.scheduled()))


def solved(case):
    """Largest difference between the power flow and the voltages in the file."""
    dispatch, V, _ = missing(case)
    return abs(dispatch.solve(False).V - V[dispatch.alive]).max()


# Layouts ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("section", "version", "before"), [
    ("bus", 30, "I NAME BASKV IDE GL BL AREA ZONE VM VA"), ("bus", 31, "I NAME BASKV IDE AREA ZONE OWNER VM VA"),
    ("generator", 34, "I ID PG QG QT QB VS IREG MBASE"), ("generator", 35, "I ID PG QG QT QB VS IREG NREG MBASE"),
    ("branch", 33, "I J CKT R X B RATEA RATEB RATEC GI BI GJ BJ ST"), ("branch", 34, "I J CKT R X B NAME RATE1 RATE2"),
    ("switched shunt", 31, "I MODSW VSWHI VSWLO SWREM RMPCT RMIDNT BINIT"),
    ("switched shunt", 33, "I MODSW ADJM STAT VSWHI VSWLO SWREM RMPCT RMIDNT BINIT N1"),
    ("switched shunt", 36, "I ID MODSW ADJM STAT VSWHI VSWLO SWREM NREG RMPCT RMIDNT BINIT NAME S1 N1"),
    ("system switching device", 35, "I J CKT X RATE1"), ("system switching device", 36, "I J CKT X RSETNAM STAT"),
])
def test_a_version_has_its_columns_in_order(section, version, before):
    there = sorted(layout(COLUMNS[section], version).items(), key=lambda item: item[1][0])
    assert " ".join(name for name, _ in there).startswith(before)


def test_a_version_has_its_sections_in_order():
    assert sections(30)[:4] == ("bus", "load", "generator", "branch")
    assert sections(30).index("switched shunt") < sections(30).index("impedance correction")
    assert sections(31)[-1] == "switched shunt"
    assert sections(33)[-2:] == ("GNE", "induction machine")
    assert sections(36)[3:7] == ("voltage droop", "generator", "switching device rating", "branch")
    assert sections(36)[-1] == "substation"


# Without a version ---------------------------------------------------------------------------------------

OLD = """\
 0, 100.0 {remark}
TITLE

1,'ONE', 20.0, 3, 0.0, 19.0, 1, 1, 1.02, 0.0, 1
2,'TWO', 20.0, 1, 0.0, 0.0, 1, 1, 1.0, -1.0, 1
0
2,'1',1,1,1,10.0,5.0,0,0,0,0,1
0
1,'1',10.0,5.0,99,-99,1.02,0,100,0,0.2,0,0,1,1
0
1,-2,'1',0.01,0.1,0.02,0,0,0,0,0,0,0,1
0
0
0
0
0
2,1,1.05,0.95,0,100.0,'',6.0,1,6.0
0
0
0
0
0
0
0
0
"""


@pytest.mark.parametrize(("remark", "version", "says"), [
    ("/ PSS/E-29.3   WED, SEP 15 2021", 29, "29 is taken, which its remark says"),
    ("/ PSS(tm)E-30 RAW", 30, "30 is taken, which its remark says"),
    ("", 30, "30 is taken, which the names of its sections speak for"),
])
def test_a_first_record_without_a_version_says_it_elsewhere(tmp_path, remark, version, says):
    path = tmp_path / "x.raw"
    path.write_text(OLD.format(remark=remark))
    case = raw.read(path)
    assert case.about["source"].endswith(f"version {version}")
    assert any(says in note for note in case.notes)
    assert case["SHUNT1"].fields == {"bus": 1, "g": 0.0, "b": 0.19}
    assert case["SWITCHED2"].fields["b"] == 0.06
    assert (case["LINE1-2"].fields["b"], case["BUS2"].fields["Va0"]) == (0.02, math.radians(-1.0))


def test_a_swing_bus_without_a_generator_in_service_is_said(tmp_path):
    path = tmp_path / "x.raw"
    path.write_text(OLD.format(remark="").replace("0,0.2,0,0,1,1\n", "0,0.2,0,0,1,0\n"))
    assert "the swing bus 1 has no generator in service" in raw.read(path).notes
    path.write_text(OLD.format(remark="").replace("20.0, 3", "20.0, 2"))
    assert "the file has no swing bus (IDE = 3)" in raw.read(path).notes


# RAWX --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "says"), [
    ("[1, 2", "is not valid JSON"), ("[" * 100_000, "is not valid JSON"), ("[]", "has no network with a caseid"),
    ('{"network": {"caseid": {"fields": ["rev"], "data": []}}}', "has 0 rows in caseid"),
    ('{"network": {"caseid": {"fields": ["rev"], "data": [34, [1]]}}}', "field 'REV'|version 34"),
    ('{"network": {"caseid": {"fields": ["rev"], "data": [37]}}}', "version 37; versions 29 to 36"),
    ('{"network": {"caseid": {"fields": ["rev"], "data": [35]}, "bus": 3}}', "bus: is no table"),
    ('{"network": {"caseid": {"fields": ["rev"], "data": [35]}, "bus": {"fields": ["ibus"], "data": [[1], 2]}}}',
     "bus: is no table: a row is no list"),
    ('{"network": {"caseid": {"fields": ["rev"], "data": [35]}, "bus": {"fields": ["ibus"], "data": [["A"]]}}}',
     "bus row 1: field 'I': 'A' is not a number"),
])
def test_a_malformed_rawx_is_told_with_its_place(tmp_path, text, says):
    path = tmp_path / "x.rawx"
    path.write_text(text)
    if "34" in text:
        assert len(raw.read(path)) == 0
        return
    with pytest.raises(CaseError, match=rf"x\.rawx: .*(?:{says})"):
        raw.read(path)


# Files of others ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("files", [
    ("IEEE_14_bus_rev35.raw", "IEEE_14_bus_rev35.rawx", "IEEE_14_bus_nodeBreaker_rev35.raw"),
    ("ieee9_v31.raw", "ieee9_v35.raw", "ieee9_v36.raw", "ieee9.rawx"),
])
def test_one_system_in_several_versions_is_one_case(files):
    first, *others = (records(raw.read(shared(FIELD + file))) for file in files)
    for other in others:
        assert [(model, fields) for model, fields in other if model != "Bus"] == [
            (model, fields) for model, fields in first if model != "Bus"]
        assert [{**fields, "label": ""} for model, fields in other if model == "Bus"] == [
            {**fields, "label": ""} for model, fields in first if model == "Bus"]


@pytest.mark.parametrize(("file", "most"), [
    ("IEEE_14_bus_rev35.raw", 6e-6), ("IEEE_14_bus_rev35.rawx", 6e-6), ("IEEE_14_bus_nodeBreaker_rev35.raw", 6e-6),
    ("../wecc240/240busWECC_2018_PSS33.raw", 1.2e-5),
])
def test_the_power_flow_of_files_with_a_solution_is_that(file, most):
    assert solved(raw.read(shared(FIELD + file))) < most


@pytest.mark.filterwarnings("ignore::gridcore.errors.DataWarning")
@pytest.mark.parametrize("file", ["ieee9_3WXfr.raw", "ieee9_svc_v33.raw", "Kundur_2area_LCC_HVDC.raw",
                                  "case14_zero_impedance_branch.raw", "sample_v36.rawx", "two-terminal-hvdc_test.raw",
                                  "vsc-hvdc_test.raw", "synthetic_data_v30.raw", "../steps/9_bus.raw",
                                  "case16_all_components.raw", "../steps/sample_vsc_hvdc.raw"])
def test_files_without_a_solution_of_their_data_open_and_have_one(file):
    assert solved(raw.read(shared(FIELD + file), **OPTIONS)) < math.inf


# Files whose solution is not that of their data: what is wrong, and that it is that -------------------------------

@pytest.mark.parametrize("file", ["ieee9_v31.raw", "ieee9_v35.raw", "ieee9_v36.raw", "ieee9.rawx"])
def test_the_solution_of_the_nine_buses_is_of_another_reactance_and_cut_off_after_three_digits(file):
    """It is that of the book, whose transformer 1-4 has 0.0576 pu; two digits have changed places in the file."""
    case = raw.read(shared(FIELD + file))
    assert case["TRANSFORMER1-4"].fields["x"] == 0.0567
    assert abs(missing(case)[2]["BUS4"]) == pytest.approx(0.02522, abs=1e-5)
    assert 1.1e-3 < solved(case) < 1.2e-3
    case["TRANSFORMER1-4"].fields["x"] = 0.0576
    dispatch, V, _ = missing(case)
    there = dispatch.solve(False).V
    assert np.floor(1e3 * abs(there) + 1e-6) == pytest.approx(1e3 * abs(V), abs=1e-6)
    assert np.round(np.rad2deg(np.angle(there)), 2) == pytest.approx(np.rad2deg(np.angle(V)), abs=1e-6)


def test_the_solution_of_the_24_buses_has_a_charging_at_both_ends_of_a_transformer_that_the_file_has_at_one():
    case = raw.read(shared(FIELD + "IEEE_24_bus_rev35.raw"))
    S = missing(case)[2]
    assert [round(100 * S[bus].imag, 3) for bus in ("BUS5", "BUS10")] == [-1.095, 0.974]  # Mvar
    assert 4e-4 < solved(case) < 5e-4
    case.remove("MAG5-10")
    case["TRANSFORMER5-10"].fields["b"] = 0.0254
    S = missing(case)[2]
    assert max(abs(100 * S[bus].imag) for bus in ("BUS5", "BUS10")) < 0.015
    assert solved(case) < 2e-5


def test_the_solution_of_the_25_buses_is_that_without_what_was_added_to_them(tmp_path):
    """Converters, switches, a transformer and corrections from another system, some between buses far apart."""
    path = shared(FIELD + "case25_v35_savnwb.raw")
    case = raw.read(path, **OPTIONS)
    assert abs(missing(case)[2]["BUS222"]) > 100  # which is 220, at 16.0 degrees less, by a switch that was added
    with pytest.raises(gc.GridcoreError, match="the power flow diverges"):
        gc.build(case)
    text = path.read_text()
    for section in ("SYSTEM SWITCHING DEVICE", "TWO-TERMINAL DC", "VSC DC LINE", "FACTS DEVICE", "SWITCHED SHUNT"):
        text = re.sub(rf"(BEGIN {section} DATA\n).*?(0 / END OF {section})", r"\1\2", text, flags=re.DOTALL)
    text = re.sub(r"   110,   211,   222,.*\n(.*\n){4}", "", text)
    text = re.sub(r"(BEGIN IMPEDANCE CORRECTION DATA\n).*?(0 / END OF IMPEDANCE)",
                  "".join([r"\g<1>", *(f"{n},0,1,0,2,1,0,0,0,0\n" for n in range(1, 7)), r"\2"]), text, flags=re.DOTALL)
    before = tmp_path / "x.raw"
    before.write_text(text)
    assert solved(raw.read(before)) < 2e-5


def test_the_system_of_version_31_has_lost_the_transformers_of_its_swing_bus():
    case = raw.read(shared(FIELD + "sample_v31.raw"), **OPTIONS)
    assert not [record for record in case if 3011 in (record.fields.get("bus1"), record.fields.get("bus2"))]
    assert missing(case)[2]["BUS3011"] == pytest.approx(-11.42016 - 1.32445j, abs=1e-9)
    with pytest.raises(gc.GridcoreError, match="island"):
        gc.build(case)


def test_of_the_system_of_version_29_one_bus_is_there_of_thirteen_that_its_rows_name():
    case = raw.read(shared(FIELD + "synthetic_data_v29.raw"), **OPTIONS)
    assert [record.fields["id"] for record in case.of("Bus")] == [222222]
    assert sum("there is no bus" in note for note in case.notes) == 12
    with pytest.raises(gc.GridcoreError, match="222222"):
        gc.build(case)


def test_branches_converters_and_machines_of_the_sample_of_version_36_carry_what_its_solution_says():
    """Powers balance to its digits: among them are converters, also those of a multi-terminal line, buses joined,
    corrected impedances and three windings, one of them with its factors for pairs. What induction machines take is
    what their buses lack, but for the active power of those with a set-point of that, two of four.
    """
    dispatch, _, S = missing(raw.read(shared(FIELD + "sample_v36.rawx")))
    held = set(dispatch.sources.bus[dispatch.sources.control != "PQ"])
    assert {"BUS151", "BUS153", "BUS402", "BUS212", "BUS213", "BUS9154"} <= S.keys()
    assert not {"BUS201", "BUS3006"} & S.keys()  # which are they
    for k, id in enumerate(dispatch.ids):
        assert abs(S[id].real) < 1e-3
        assert abs(S[id].imag) < 2e-3 or k in held or id == "BUS3021"  # a converter with commutation capacitors


def test_the_system_of_240_buses_rests_with_all_of_its_records():
    folder = shared("field/wecc240/240busWECC_2018_PSS.dyr").parent
    case = gc.load_case(folder / "240busWECC_2018_PSS33.raw", folder / "240busWECC_2018_PSS.dyr")
    models = [record.model for record in case]
    assert {name: models.count(name) for name in ("REGCA1", "REECB1", "REPCA1", "GAST")} == {
        "REGCA1": 37, "REECB1": 37, "REPCA1": 37, "GAST": 47}
    run = gc.simulate(gc.build(case), t_end=20.0, step=0.05)
    assert not run.events
    assert abs(np.asarray(run.X) - np.asarray(run.X)[0]).max() < 1e-9


def test_a_dynamic_file_with_models_of_another_program_and_others_that_are_not_there_opens_and_rests():
    """The nine buses: of a machine at bus 3 the power-flow file has nothing, buses 10 and 11 are on their own."""
    there = dyr.available()
    named = ("WT3G0", "AERD0", "WT3T0", "WT3E0", "WT3P0", "IEELAL")
    case = gc.load_case(shared("field/steps/9_bus.raw"), drop=[model for model in named if model not in there])
    assert case["GEN2"].model == "GENROU"
    assert sum("is not the number of a bus" in note for note in case.notes) == 3
    with pytest.warns(gc.errors.DataWarning, match="Xqp.*hardly meant"):
        run = gc.simulate(gc.build(case, deenergise=True), t_end=5.0, step=0.01)
    assert abs(np.asarray(run.X) - np.asarray(run.X)[0]).max() < 1e-9
