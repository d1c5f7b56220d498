"""RAW files: against the solution that they carry, another program's, and the manual's definitions."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_array
from shared_data import shared

import gridcore as gc
from gridcore.case import validate
from gridcore.equilibrium import Dispatch
from gridcore.errors import CaseError
from gridcore_readers import raw

CODES = Path(__file__).parents[1] / "data" / "transformer_codes.raw"
TEXT = CODES.read_text()


@pytest.fixture
def read(tmp_path):
    def read(text=TEXT, **options):
        (tmp_path / "x.raw").write_text(text)
        return raw.read(tmp_path / "x.raw", **options)
    return read


def flow(case, **options):
    """Solved voltages by bus id, and those in the case."""
    system = gc.build(case, initialise=False)
    dispatch = Dispatch(system.system, system.Z0.copy())
    start = system.Z0[dispatch.at["Vm0"]] * np.exp(1j * system.Z0[dispatch.at["Va0"]])
    solved = dispatch.solve(options.get("enforce_q_limits", False))
    return dict(zip(dispatch.ids, solved.V)), dict(zip(dispatch.ids, start))


def fields(case, model):
    return [record.fields for record in case if record.model == model]


# Against others -------------------------------------------------------------------------------------

def test_every_code_of_transformer_data_means_what_it_means_to_another_program(read):
    theirs = json.loads(CODES.with_suffix(".json").read_text())["Vm (pu), Va (deg)"]
    ours, _ = flow(read())
    for bus, (Vm, Va) in theirs.items():
        assert ours[f"BUS{bus}"] == pytest.approx(Vm * np.exp(1j * math.radians(Va)), abs=1e-9)


SOLVED = ("kundur/11BUS_KUNDUR.raw", "kundur/Benchmark_4ger_33_2015.RAW", "kundur/kundur-twoarea_v33.raw",
          "kundur/kundur.raw", "npcc140/npcc.raw", "wscc9/ieee9_v33.raw", "activsg2000/ACTIVSg2000.RAW")


@pytest.mark.parametrize("name", SOLVED)
def test_at_the_voltages_in_the_file_powers_balance_to_its_last_digits(name):
    """At buses without generators, by what half of the last digit of voltages (1e-5 pu; 1e-8 in ACTIVSg2000), angles
    (1e-4 degrees) and powers (1e-3 MW; 1e-2 Mvar of switched shunts) amounts to there. ACTIVSg2000 was solved to the
    usual 0.1 MVA: one bus, 2096, is off by 0.06.
    """
    tolerance = 1e-3 if "2000" in name else 0.0
    system = gc.build(gc.load_case(shared(name), alone=True), initialise=False)
    dispatch = Dispatch(system.system, system.Z0.copy())
    V = system.Z0[dispatch.at["Vm0"]] * np.exp(1j * system.Z0[dispatch.at["Va0"]])
    row, column, y = dispatch.admittance()
    Y = coo_array((y, (row, column)))
    S = V * np.conj(Y @ V) - dispatch.scheduled()
    eps = np.hypot(5e-9 if "2000" in name else 5e-6, math.radians(5e-5)) * np.abs(V)
    rounding = np.abs(V) * (abs(Y) @ eps) + np.abs(Y @ V) * eps + 2 * 5e-6 + 5e-5 + tolerance
    loads = np.setdiff1d(np.arange(len(V)), dispatch.sources.bus)
    assert (np.abs(S) <= rounding)[loads].all()


@pytest.mark.parametrize("name", SOLVED)
def test_the_power_flow_is_the_solution_in_the_file(name):
    """With generators at their limits as the file has them; angles of kundur.raw are off by 0.0024 degrees."""
    solved, stored = flow(gc.load_case(shared(name), alone=True))
    for bus, V in solved.items():
        assert abs(V) == pytest.approx(abs(stored[bus]), abs=1.1e-5)
        assert abs(np.degrees(np.angle(V / stored[bus]))) < (3e-3 if name.endswith("kundur.raw") else 1e-3)


def test_the_solution_in_ieee39_is_that_without_the_four_generators_that_the_file_adds():
    """PG and QG of the generators at 2, 10, 20 and 25 are just what its voltages leave over."""
    case = gc.load_case(shared("ieee39/ieee39.raw"), alone=True)
    for bus in (2, 10, 20, 25):
        case.set(f"GEN{bus}.status", 0)
    solved, stored = flow(case)
    for bus, V in solved.items():
        assert abs(V) == pytest.approx(abs(stored[bus]), abs=6e-6)
        assert abs(np.degrees(np.angle(V / stored[bus]))) < 1e-4


# What the columns mean -------------------------------------------------------------------------------

def test_header_and_titles(read):
    case = read()
    assert (case.name, case.base_mva, case.frequency) == ("x", 100.0, 50.0)
    assert case.title == "TRANSFORMER CODES, THREE WINDINGS; WRITTEN FOR THIS TEST"
    assert case.about["source"] == "PSS/E power-flow file x.raw, version 33"
    assert "60 Hz is taken" in read(TEXT.replace(" 50.00     /", "/", 1)).notes[0]


def test_buses_have_their_number_and_their_name(read):
    assert fields(read(), "Bus")[1] == {"id": 2, "label": "TWO", "kv": 115.0, "Vm0": 1.0, "Va0": 0.0}


@pytest.mark.parametrize(("code", "data"), [
    ("1,1,1", (0.0015, 0.045, 100, 1.04, 230, 1.02, 115)),
    ("2,1,1", (0.0015, 0.045, 100, 239.2, 0, 117.3, 0)),
    ("3,2,1", (0.003, 0.09, 200, 1.3, 184, 0.85, 138)),
    ("1,3,1", (0.003 * 200e6, math.hypot(0.003, 0.09), 200, 1.04, 0, 1.02, 0)),
])
def test_one_transformer_in_all_units_is_one_transformer(read, code, data):
    r, x, rating, tap1, nominal1, tap2, nominal2 = data
    head = TEXT[:TEXT.index("     1,     2,     0,'1 '")]
    tail = TEXT[TEXT.index("     6,     1,     0,'T2'"):]
    case = read(f"{head}1,2,0,'1 ',{code},0,0,1,'',1\n{r!r},{x!r},{rating}\n{tap1},{nominal1},2.5\n{tap2},{nominal2}\n"
                + tail)
    made = case["TRANSFORMER1-2"].fields
    assert made["tap"] == pytest.approx(1.04 / 1.02, rel=1e-12)
    assert made["phase"] == pytest.approx(math.radians(2.5), rel=1e-15)
    assert (made["r"], made["x"]) == pytest.approx((0.0015 * 1.02 ** 2, 0.045 * 1.02 ** 2), rel=1e-12)


def test_between_two_windings_of_three_stands_the_impedance_given_for_them(read):
    legs = [complex(f.get("r", 0.0), f["x"]) for f in fields(read(), "Transformer") if "STAR" in str(f["bus2"])]
    z12, z23, z31 = 0.002 + 0.09j, (0.003 + 0.06j) * 2, (0.0025 + 0.14j) * 100 / 80
    assert [legs[0] + legs[1], legs[1] + legs[2], legs[2] + legs[0]] == pytest.approx([z12, z23, z31], rel=1e-12)


@pytest.mark.parametrize(("status", "out"), [(2, [1]), (3, [2]), (4, [0])])
def test_one_winding_of_three_may_be_out(read, status, out):
    case = read(TEXT.replace("'THREE WIND  ',1,", f"'THREE WIND  ',{status},"))
    legs = [f for f in fields(case, "Transformer") if "STAR" in str(f["bus2"])]
    assert [k for k, leg in enumerate(legs) if leg.get("status") == 0] == out


def test_the_parts_of_a_load_are_powers_at_the_voltage_of_the_file(read):
    text = TEXT.replace("60.000,    20.000,     0.000,     0.000,     0.000,     0.000",
                        "60.000,    20.000,    10.000,     4.000,     5.000,    -3.000").replace(
                        "'TWO         ', 115.0000,1,   1,   1,   1,1.00000", "'TWO', 115.0,1,1,1,1,0.95000")
    case = read(text)
    load = case["LOAD2"].fields
    P, Q = (60, 10 * 0.95, 5 * 0.95 ** 2), (20, 4 * 0.95, 3 * 0.95 ** 2)
    assert (load["P0"], load["Q0"]) == pytest.approx((sum(P) / 100, sum(Q) / 100), rel=1e-14)
    assert [load[key] for key in ("pP", "pI", "pZ")] == pytest.approx([part / sum(P) for part in P], rel=1e-12)
    assert [load[key] for key in ("qP", "qI", "qZ")] == pytest.approx([part / sum(Q) for part in Q], rel=1e-12)
    assert any("at the voltages in the file: buses 2" in note for note in case.notes)
    validate(case)


def test_loads_are_constant_power_if_the_file_says_so_and_else_what_the_user_chooses(read):
    assert fields(read(), "ZIP")[0] == {"bus": 2, "P0": 0.6, "Q0": 0.2, "pZ": 0, "pP": 1, "qZ": 0, "qP": 1}
    assert fields(read(loads="Z"), "ZIP")[0] == {"bus": 2, "P0": 0.6, "Q0": 0.2}
    assert fields(read(loads="I/Z"), "ZIP")[0] == {"bus": 2, "P0": 0.6, "Q0": 0.2, "pZ": 0, "pI": 1}


def test_identifiers_make_names(read):
    case = read()
    assert {"GEN1", "GEN3", "LOAD6_A", "LINE5-6", "LINE5-6_2", "TRANSFORMER6-1_T2", "SHUNT5", "SWITCHED6",
            "STAR2-3-4"} <= set(case.ids())


def test_what_is_out_of_service_has_status_zero(read):
    assert read()["LINE5-6_2"].fields["status"] == 0


def test_the_type_of_the_bus_is_the_control_of_its_generators(read):
    assert [(f["bus"], f["control"], f["Sn"]) for f in fields(read(), "StaticGenerator")] == [
        (1, "slack", 300.0), (3, "PV", 100.0)]
    assert fields(read(), "StaticGenerator")[0].keys() & {"Qmin", "Qmax"} == set()


def test_a_generator_that_the_solution_has_at_its_limit_keeps_its_reactive_power(read):
    text = TEXT.replace("3,'1 ',    70.000,     0.000,    50.000", "3,'1 ',    70.000,    61.045,    61.045").replace(
        "'THREE       ',  20.0000,2,   1,   1,   1,1.01000", "'THREE', 20.0,2,1,1,1,0.99500")
    case = read(text)
    assert case["GEN3"].fields["control"] == "PQ"
    assert any("generators at 3" in note for note in case.notes)
    assert read(text.replace("0.99500", "1.01001"))["GEN3"].fields["control"] == "PV"


def test_at_a_bus_where_the_solution_does_not_balance_it_holds_its_voltage(read):
    text = TEXT.replace("3,'1 ',    70.000,     0.000,    50.000", "3,'1 ',    70.000,    50.000,    50.000").replace(
        "'THREE       ',  20.0000,2,   1,   1,   1,1.01000", "'THREE', 20.0,2,1,1,1,0.99500")
    case = read(text)
    assert case["GEN3"].fields["control"] == "PV"
    assert not any("control = PQ" in note for note in case.notes)


def test_isolated_buses_are_left_out_with_all_that_is_at_them(read):
    case = read(TEXT.replace("'FOUR        ',  20.0000,1", "'FOUR        ',  20.0000,4"))
    assert "BUS4" not in case
    assert "LOAD4" not in case
    assert not [f for f in fields(case, "Transformer") if "STAR" in str(f["bus2"])]
    assert "isolated buses left out, with all that is at them: 4" in case.notes


def test_blanks_quotes_comments_and_short_records_are_read_alike(read):
    line = next(line for line in TEXT.splitlines() if "'TWO " in line)
    text = TEXT.replace(line, "2 \"TWO\" 115 / the rest by default")
    text = text.replace("'A ',1,   1,   1,    15.000,", "A,,,, 1.5D1,")
    assert read("@!IC,SBASE,REV\n" + text) == read()


def test_sections_that_nothing_is_there_for_are_refused_until_the_user_leaves_them_out(read):
    generic = TEXT.replace("BEGIN GNE DATA\n", "BEGIN GNE DATA\n'G', 'MODEL', 1, 2 /\n")
    with pytest.raises(CaseError, match=r"GNE row 1 \(line \d+\): there is no device for GNE data \(1 lines\).*"
                                        r"--drop \"GNE\""):
        read(generic)
    assert "GNE data left out, as asked for: 1 lines" in read(generic, drop=["GNE"]).notes
    owners = TEXT.replace("BEGIN OWNER DATA\n", "BEGIN OWNER DATA\n1,'ME'\n2,'YOU'\n")
    assert "without effect here, left out: 2 owner records" in read(owners).notes


@pytest.mark.parametrize(("row", "sources"), [
    ("2, 0, 1, 0.0, 0.0, 1.02, 50.0", {2: {"P0": 0.0, "control": "PV", "V0": 1.02, "Qmin": -0.5, "Qmax": 0.5}}),
    ("2, 3, 1, 40.0, 10.0, 1.02, 50.0", {2: {"P0": -0.4}, 3: {"P0": 0.4, "Q0": 0.1, "control": "PQ"}}),
    ("2, 0, 0, 0.0, 0.0, 1.02, 50.0", {})])
def test_a_facts_device_is_a_source_that_holds_its_voltage_and_what_its_series_part_carries(read, row, sources):
    case = read(facts := TEXT.replace("BEGIN FACTS DEVICE DATA\n", f"BEGIN FACTS DEVICE DATA\n'STATCOM', {row} /\n"))
    made = {record.fields["bus"]: record.fields for record in case if str(record.fields.get("id")).startswith("FACTS")}
    assert made.keys() == sources.keys()
    for bus, fields in sources.items():
        assert {name: made[bus][name] for name in fields} == fields
    assert any("the FACTS device STATCOM is a source" in note for note in case.notes) is bool(sources)
    assert "FACTS data left out, as asked for: 1 lines" in read(facts, drop=["FACTS"]).notes


def with_facts(row):
    return TEXT.replace("BEGIN FACTS DEVICE DATA\n", f"BEGIN FACTS DEVICE DATA\n'STATCOM', {row} /\n")


def test_the_buses_of_a_facts_device_whose_series_part_is_bypassed_are_one(read):
    case = read(with_facts("2, 3, 2, 40.0, 10.0, 1.02, 50.0"))
    sources = [record.fields for record in case if str(record.fields.get("id")).startswith("FACTS")]
    assert [(f["id"], f["P0"]) for f in sources] == [("FACTS_STATCOM_2", 0.0)]
    [joined] = case.of("JoinedBus")
    assert {joined.fields["id"], f"BUS{joined.fields['bus']}"} == {"BUS2", "BUS3"}
    assert read(with_facts("2, 3, 2, 40.0, 10.0, 1.02, 50.0"), drop=["FACTS"]).of("JoinedBus") == []


def test_what_a_facts_device_does_in_another_mode_is_said_not_to_be_followed(read):
    case = read(with_facts("2, 3, 3, 40.0, 10.0, 1.02, 50.0"))
    assert ("the FACTS device STATCOM is a source that holds the voltage of bus 2, and constant power at bus 3; its "
            "MODE, 3, is not followed") in case.notes


def test_a_facts_device_that_regulates_another_bus_holds_its_own_and_it_is_said(read):
    case = read(with_facts("2, 0, 1, 0.0, 0.0, 1.07, 50.0,,,,,,,,,,,,3"))
    source = case["FACTS_STATCOM_2"].fields
    assert (source["control"], source["V0"]) == ("PV", case["BUS2"].fields["Vm0"])
    assert ("converters and FACTS devices that regulate another bus hold their own as it is in the file: "
            "buses 2") in case.notes
    with pytest.raises(CaseError, match=r"FACTS row 1 \(line \d+\): field 'REMOT': there is no bus 77"):
        read(with_facts("2, 0, 1, 0.0, 0.0, 1.07, 50.0,,,,,,,,,,,,77"))


# What is wrong with a file ---------------------------------------------------------------------------

def without(section: str) -> str:
    """The text up to the middle of a section."""
    start = TEXT.index(f"BEGIN {section} DATA\n")
    return TEXT[: TEXT.index("\n", start + len(section) + 20) + 1]


@pytest.mark.parametrize(("text", "says"), [
    ("", "is empty"),
    ("nonsense\n", r"line 1: is not a PSS/E power-flow file"),
    (TEXT.replace("100.00, 33", "100.00, 37", 1), r"line 1: field 'REV': is a PSS/E .* version 37; versions 29 to 36"),
    (TEXT.replace("0,   100.00", "0,   -1.0", 1), "field 'SBASE': must be above 0"),
    (TEXT.replace("230.0000,3,", "230.0000,5,", 1), r"field 'IDE': 5 must be 1 \(its voltage is not held\), 2 \(a gen"),
    (TEXT[:700], "ends within the bus data"),
    (without("TRANSFORMER"), "ends within the transformer data|the file ends within this transformer"),
    (without("LOAD"), "ends within the load data"),
    (TEXT[:TEXT.index("0 / END OF BUS")] + "0 / END OF BUS DATA\n", "ends before the load data"),
    (TEXT.replace("2,'1 ',1,   1,   1,    60.000", "2,'1 ',1,   1,   1,    6O.000"),
     r"load row 1 \(line 11\): field 'PL': '6O.000' is not a number"),
    (TEXT.replace("2,'1 ',1,   1,   1,    60.000", "99,'1 ',1,   1,   1,    60.000"),
     r"load row 1 \(line 11\): field 'I': there is no bus 99"),
    (TEXT.replace("     2,'TWO  ", "     1,'TWO  "), r"bus row 2 \(line 5\): field 'I': bus 1 stands in bus row 1"),
    (TEXT.replace("'TWO         '", "'TWO         "), r"line 5: a quote is not closed"),
    (TEXT.replace("235.000, 230", "0.0, 230"), r"transformer row 1 .*, line \d+: field 'WINDV': must be above"),
    (TEXT.replace(",2,2,1, 2.00", ",7,2,1, 2.00"), r"transformer row 1 .*field 'CW': 7 is no code"),
    (TEXT.replace("     6,'A ',1,", "     2,'1 ',1,"), r"load row 4 .*field 'ID': .* is that of load row 1"),
])
def test_a_malformed_file_is_told_with_its_place(read, text, says):
    with pytest.raises(CaseError, match=r"x\.raw: .*" + f"(?:{says})") as caught:
        read(text)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(CaseError, match="cannot be read"):
        raw.read(tmp_path / "none.raw")


def test_branches_without_impedance_and_twice_the_same_identifier_are_noted(read):
    line = "     2,     5,'1 ', 1.00000E-2, 8.00000E-2,   0.04000"
    case = read(TEXT.replace(line, line.replace("1.00000E-2, 8.00000E-2", "0,0")))
    assert case["BUS5"].fields == {"id": "BUS5", "bus": 2, "label": case["BUS5"].fields["label"]}
    assert any(note.startswith("buses without an impedance") and note.endswith("5 = 2") for note in case.notes)
    twice = read(TEXT.replace(line, line + "\n" + line))
    assert {"LINE2-5", "LINE2-5_2"} <= set(twice.ids())
    assert any("kept as another: branch row 2" in note for note in twice.notes)


@pytest.mark.parametrize(("plain", "other"), [
    ("6,'SIX         ', 115.0000", "6.0,SIX,1.15D2"), ("5,'1 ',1,     1.500", "5,'1 ', ,1.5D0"),
    ("    30.000,    10.000,", "3+1, 1.E1,"), ("5,     6,'1 ', 2.00000E-2, 9.00000E-2", "5,6.,,2D-2,.9D-1"),
    ("3,'1 ',    70.000", "3,  ,70.D0"), ("1,     2,     0,'1 ',2,2,1", "1,2,,'1',2.0,2,")])
def test_a_section_is_the_same_where_one_row_writes_its_values_otherwise(read, plain, other):
    assert plain in TEXT
    found, same = (list(read(text)) for text in (TEXT, TEXT.replace(plain, other)))
    assert same == found
