"""Cases in the format of ANDES: what is in them is what a RAW and a DYR file of the same system say."""

import json

import numpy as np
import openpyxl
import pytest

import gridcore as gc
from gridcore.errors import CaseError

TABLES = {
    "Bus": [{"idx": 1, "u": 1, "name": "ONE", "Vn": 20.0, "v0": 1.02, "a0": 0.0},
            {"idx": 2, "u": 1, "name": "TWO", "Vn": 230.0, "v0": 1.0, "a0": 0.0},
            {"idx": 3.0, "u": 1, "name": None, "Vn": 20.0, "v0": 1.01, "a0": 0.0}],
    "Line": [{"idx": "T", "u": 1, "bus1": 1, "bus2": 2, "Sn": 200.0, "fn": 50.0, "Vn1": 20.0, "Vn2": 230.0, "r": 0.0,
              "x": 0.2, "b": 0.0, "trans": 1.0, "tap": 1.05, "phi": 0.0},
             {"idx": "L1", "u": 1, "bus1": 2, "bus2": 3, "Sn": 100.0, "r": 0.01, "x": 0.1, "b": 0.04, "trans": 0.0,
              "tap": 1.0, "phi": 0.0},
             {"idx": "L2", "u": 1, "bus1": 2, "bus2": 3, "Sn": 100.0, "r": 0.01, "x": 0.2, "b": 0.04, "trans": 0.0,
              "tap": 1.0, "phi": 0.0, "Vn1": 115.0}],
    "PQ": [{"idx": "P", "u": 1, "bus": 2, "p0": 0.8, "q0": 0.2, "Vn": 230.0}],
    "Shunt": [{"idx": "S", "u": 1, "bus": 2, "Sn": 200.0, "Vn": 230.0, "g": 0.0, "b": 0.1}],
    "PV": [{"idx": "G", "u": 1, "bus": 1, "Sn": 200.0, "p0": 0.5, "q0": 0.1, "v0": 1.02, "qmax": 1.0, "qmin": -1.0,
            "busr": None}],
    "Slack": [{"idx": 7, "u": 1, "bus": 3, "Sn": 100.0, "p0": 0.3, "q0": 0.1, "v0": 1.01, "qmax": 1.0, "qmin": -1.0,
               "a0": 0.0}],
    "GENROU": [{"idx": "M", "u": 1, "bus": 1, "gen": "G", "Sn": 200.0, "Vn": 20.0, "fn": 50.0, "D": 0.0, "M": 13.0,
                "ra": 0.0, "xl": 0.06, "xd1": 0.3, "S10": 0.03, "S12": 0.1, "gammap": 1.0, "gammaq": 1.0, "xd": 1.8,
                "xq": 1.7, "xd2": 0.25, "xq1": 0.55, "xq2": 0.25, "Td10": 8.0, "Td20": 0.03, "Tq10": 0.4,
                "Tq20": 0.05}],
    "GENCLS": [{"idx": 2, "u": 1, "bus": 3, "gen": 7, "Sn": 100.0, "D": 0.0, "M": 12.0, "ra": 0.0, "xd1": 0.2}],
    "IEEEST": [{"idx": "S1", "u": 1, "avr": "E", "MODE": 1.0, "busr": None, "busf": "F", "A1": 0.0, "A2": 0.0,
                "A3": 0.0, "A4": 0.0, "A5": 0.0, "A6": 0.0, "T1": 0.1, "T2": 0.05, "T3": 0.1, "T4": 0.05, "T5": 5.0,
                "T6": 5.0, "KS": 5.0, "LSMAX": 0.1, "LSMIN": -0.1, "VCU": 0.0, "VCL": 0.0}],
    "SEXS": [{"idx": "E", "u": 1, "syn": "M", "TATB": 0.1, "TB": 10.0, "K": 100.0, "TE": 0.05, "EMIN": 0.0,
              "EMAX": 5.0}],
    "TGOV1": [{"idx": 1, "u": 1, "syn": "M", "Tn": float("nan"), "wref0": 1.0, "R": 0.05, "VMAX": 1.0, "VMIN": 0.0,
               "T1": 0.5, "T2": 2.1, "T3": 7.0, "Dt": 0.0}],
    "BusFreq": [{"idx": "F", "u": 1, "bus": 1}],
    "Toggle": [{"idx": 1, "u": 1, "model": "Line", "dev": "L2", "t": 0.2},
               {"idx": 2, "u": 1, "model": "Line", "dev": "L2", "t": 0.1}],
}
RAW = """\
0, 100.0, 33, 0, 1, 50.0 /
SAME

1,'ONE', 20.0, 2, 1, 1, 1, 1.02, 0.0
2,'TWO', 230.0, 1, 1, 1, 1, 1.0, 0.0
3,'', 20.0, 3, 1, 1, 1, 1.01, 0.0
0 /
2,'1',1,1,1,0,0,0,0,80.0,-20.0
0 /
2,'1',1,0.0,20.0
0 /
1,'1',50.0,10.0,100,-100,1.02,0,200,0,0.25,0,0,1,1
3,'1',30.0,10.0,100,-100,1.01,0,100,0,0.2,0,0,1,1
0 /
2,3,'1',0.01,0.1,0.04
2,3,'2',0.0025,0.05,0.16
0 /
1,2,0,'1',1,1,1,0,0,2,'',1
0,0.1,100
1.05
1.0
0 /
0 /
0 /
0 /
0 /
0 /
0 /
0 /
0 /
0 /
0 /
0 /
0 /
Q
"""
DYR = """\
1 'GENROU' 1 8.0 0.03 0.4 0.05 6.5 0 1.8 1.7 0.3 0.55 0.25 0.06 0.03 0.1 /
3 'GENCLS' 1 6.0 0.0 /
1 'SEXS' 1 0.1 10 100 0.05 0 5 /
1 'TGOV1' 1 0.05 0.5 1.0 0.0 2.1 7 0 /
1 'IEEEST' 1 1 0 0 0 0 0 0 0 0.1 0.05 0.1 0.05 5 5 5 0.1 -0.1 0 0 /
"""


@pytest.fixture
def write(tmp_path):
    def make(tables, suffix=".json"):
        path = tmp_path / f"x{suffix}"
        if suffix == ".json":
            path.write_text(json.dumps(tables))
            return path
        book = openpyxl.Workbook()
        book.remove(book.active)
        for name, rows in tables.items():
            sheet = book.create_sheet(name)
            columns = list(dict.fromkeys(key for row in rows for key in row))
            sheet.append(columns)
            for row in rows:
                sheet.append([None if row.get(key) != row.get(key) else row.get(key) for key in columns])
        book.save(path)
        return path
    return make


@pytest.mark.parametrize("suffix", [".json", ".xlsx"])
def test_a_case_of_andes_moves_as_the_same_system_in_files_of_psse(write, tmp_path, suffix):
    (tmp_path / "y.raw").write_text(RAW)
    (tmp_path / "y.dyr").write_text(DYR)
    theirs = gc.load_case(tmp_path / "y.raw")
    theirs.add_event(gc.BranchTrip(branch="LINE2-3_2", t=0.1, reclose=0.2))
    case = gc.load_case(write(TABLES, suffix))
    assert case.frequency == 50
    runs = [gc.simulate(gc.build(each), t_end=1.0) for each in (case, theirs)]
    for signal in (("GEN1", "delta"), ("GEN3", "omega"), ("EXC_GEN1", "Efd"), ("BUS2", "Vm")):
        assert np.asarray(runs[0][signal]) == pytest.approx(np.asarray(runs[1][signal]), abs=1e-10)
    assert abs(np.diff(runs[0]["GEN1", "omega"])).max() > 1e-5
    assert "without effect here, left out: 1 BusFreq" in case.notes


def test_a_source_may_be_several_machines_each_with_its_part(write):
    machine = TABLES["GENROU"][0]
    parts = [machine | {"gammap": 0.4, "gammaq": 0.3}, machine | {"idx": "N", "gammap": 0.6, "gammaq": 0.7}]
    case = gc.load_case(write(TABLES | {"GENROU": parts, "Toggle": []}))
    assert [case[id].fields["P0"] for id in ("GEN1", "GEN1_2")] == pytest.approx([0.2, 0.3])
    assert [case[id].fields["Qmax"] for id in ("GEN1", "GEN1_2")] == pytest.approx([0.3, 0.7])
    assert case["EXC_GEN1"].fields["machine"] == "GEN1"


def test_a_fault_and_what_is_out_of_service_are_there(write):
    fault = [{"idx": 1, "u": 1, "bus": 2, "tf": 0.1, "tc": 0.15, "xf": 0.01, "rf": 0.0}]
    line = [row | {"u": 0} if row["idx"] == "L2" else row for row in TABLES["Line"]]
    case = gc.load_case(write(TABLES | {"Fault": fault, "Line": line, "Toggle": []}))
    assert case["LINE2-3_2"].fields["status"] == 0
    assert case["fault"].fields == {"bus": 2, "t": 0.1, "clear": 0.15, "r": 0.0, "x": 0.01}


@pytest.mark.parametrize(("change", "says"), [
    ({"Bus": 3}, "Bus: is no table"), ({"REGCP1": [{"idx": 1}]}, r"there is no device for REGCP1 \(1 rows\): .*--drop"),
    ({"PQ": [{"idx": 1, "bus": 9}]}, "PQ row 1: field 'bus': there is no bus 9"),
    ({"PQ": [{"idx": 1, "bus": 2, "p0": "x"}]}, "field 'p0': 'x' is not a number"),
    ({"Line": [{"idx": 1, "bus1": 1, "bus2": 2, "Sn": 0}]}, "field 'Sn': must be above 0"),
    ({"SEXS": [{"idx": 1, "syn": "Q"}]}, "SEXS row 1: field 'syn': there is no machine Q"),
    ({"Bus": [{"idx": None}]}, "field 'idx': None is not the idx of a device"),
    ({"Toggle": [{"idx": 1, "model": "GENROU", "dev": "M", "t": t} for t in (1, 2)]}, "would come back into service"),
])
def test_a_malformed_case_is_told_with_its_place(write, change, says):
    with pytest.raises(CaseError, match=r"x\.json: .*" + says):
        gc.load_case(write(TABLES | change))


@pytest.mark.parametrize("text", ["[1", "[]", "{}", "[" * 100_000])
def test_what_is_no_case_is_refused(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(CaseError, match=r"x\.json: is (not valid JSON|no case)"):
        gc.load_case(path)


def test_a_table_is_left_out_if_that_is_asked_for(write):
    case = gc.load_case(write(TABLES | {"REGCP1": [{"idx": 1}]}), drop=["REGCP1"])
    assert "left out, as asked for: 1 REGCP1" in case.notes


@pytest.mark.parametrize(("model", "row"), [
    ("REGCA1", {"idx": "C", "bus": 1, "gen": "G", "Sn": 100.0, "Tg": 0.02}),
    ("REECA1", {"idx": "R", "reg": "C", "Trv": 0.02}), ("REPCA1", {"idx": "P", "ree": "R", "Tfltr": 0.02})])
def test_a_table_of_converters_is_refused_with_what_to_do(write, model, row):
    with pytest.raises(CaseError, match=rf"{model} row 1: only tables of machines, .* --drop {model} .* a DYR file"):
        gc.load_case(write({**TABLES, model: [row]}))
    assert f"left out, as asked for: 1 {model}" in gc.load_case(write({**TABLES, model: [row]}), drop=[model]).notes
