"""Spreadsheets hold the same tables as the text format, to the last bit."""

import datetime
import math
import re
import subprocess
import sys
import zipfile

import numpy as np
import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridcore.case import Case, load_case, save_case, validate
from gridcore.case.files import shipped
from gridcore.contract import Record
from gridcore.errors import CaseError
from gridcore_readers import excel


def book(path, **sheets):
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for title, rows in sheets.items():
        sheet = workbook.create_sheet(title)
        for row in rows:
            sheet.append(row)
    workbook.save(path)
    return path


@pytest.mark.parametrize("name", shipped())
def test_shipped_cases_write_and_read_back_identical(name, tmp_path):
    case = load_case(name)
    save_case(case, tmp_path / "case.xlsx")
    back = load_case(tmp_path / "case.xlsx")
    order = list(dict.fromkeys(record.model for record in case))
    assert back == Case(case.name, case.title, case.base_mva, case.frequency, case.about,
                        sorted(case.records, key=lambda record: order.index(record.model)))
    by_id = {i.id: (i.values, i.words, i.ports) for i in validate(back).records}
    assert by_id == {i.id: (i.values, i.words, i.ports) for i in validate(case).records}


numbers = st.one_of(st.floats(allow_nan=False), st.integers(-2**53, 2**53), st.booleans())
letters = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Co"])
tricky = st.sampled_from(["=1+1", "#REF!", "1.5", "'x", "TRUE", "_x000A_", " a "])
words = st.one_of(st.text(letters, min_size=1, max_size=20), tricky).filter(lambda word: word not in excel.INFINITE)


@settings(max_examples=60, deadline=None)
@given(title=words, values=st.lists(numbers | words, min_size=1, max_size=6))
def test_what_is_written_reads_back_identical(tmp_path_factory, title, values):
    case = Case("any", title, 1 / 3, 50.0, {"source": title})
    for value in values:
        case.add(Record("Bus", {"id": 1, "x": value}))
    path = tmp_path_factory.mktemp("excel") / "any.xlsx"
    excel.write(case, path)
    back = excel.read(path)
    assert back == case
    written, found = ([(type(v), repr(v)) for r in c for v in r.fields.values()] for c in (case, back))
    assert found == written


def test_a_sheet_is_a_model_and_an_empty_cell_a_field_that_is_not_given(tmp_path):
    path = book(tmp_path / "x.xlsx", case=[["base_mva", "0.1 GVA"], ["frequency", 50], ["source", "me"]],
                Bus=[["id", "kv", None], [1, 20], [None, None], ["North", None]], Empty=[])
    case = load_case(path)
    assert (case.name, case.base_mva, case.frequency, case.about) == ("x", 100.0, 50, {"source": "me"})
    assert [(r.fields, r.row) for r in case] == [({"id": 1, "kv": 20}, "sheet Bus row 2"),
                                                ({"id": "North"}, "sheet Bus row 4")]


def test_a_formula_is_the_value_that_is_stored_with_it_and_without_one_is_no_field_that_is_not_given(tmp_path):
    path = book(tmp_path / "x.xlsx", Bus=[["id", "kv", "Vm0"], [1, "=0.25*2", "=1+0"], [2, None, 1.0], [3, 20, "=1+1"]])
    with pytest.raises(CaseError, match=r"x\.xlsx: sheet Bus cell B2: a formula without a stored value: open the file "
                                        "in a spreadsheet and save it"):
        excel.read(path)
    store(path, {"B2": b"<v>0.5</v>", "C2": b"<v>1.0</v>", "C4": b"<v></v>"}, text="C4")
    assert [r.fields for r in excel.read(path)] == [{"id": 1, "kv": 0.5, "Vm0": 1.0}, {"id": 2, "Vm0": 1.0},
                                                    {"id": 3, "kv": 20}]


def store(path, values, text):
    """Give formulas their values, as a spreadsheet does that saves them, one of them as text."""
    with zipfile.ZipFile(path) as parts:
        content = {name: parts.read(name) for name in parts.namelist()}
    sheet = content["xl/worksheets/sheet1.xml"]
    for cell, value in values.items():
        kind = b' t="str"' if cell == text else b""
        begin = rb"(<c r=\"%s\")([^>]*)>(<f>[^<]*</f>)<v ?/>" % cell.encode()
        sheet = re.sub(begin, rb"\1%s>\3%s" % (kind, value), sheet)
    with zipfile.ZipFile(path, "w") as parts:
        for name, part in (content | {"xl/worksheets/sheet1.xml": sheet}).items():
            parts.writestr(name, part)


def test_a_whole_number_of_numpy_reads_back_as_one(tmp_path):
    case = Case("numbers")
    case.add(Record("Bus", {"id": np.int64(7), "kv": np.float32(0.5)}))
    save_case(case, tmp_path / "numbers.xlsx")
    assert load_case(tmp_path / "numbers.xlsx")["BUS7"].fields == {"id": 7, "kv": 0.5}


def test_infinity_is_written_as_a_word(tmp_path):
    excel.write(Case("x", records=[Record("Bus", {"id": 1, "a": -math.inf})]), tmp_path / "x.xlsx")
    assert openpyxl.load_workbook(tmp_path / "x.xlsx")["Bus"]["B2"].value == "-inf"
    assert excel.read(tmp_path / "x.xlsx").records[0].fields["a"] == -math.inf


@pytest.mark.parametrize(("sheets", "says"), [
    ({"Bus": [["id", None], [1, 5]]}, r"sheet Bus row 2: 5 stands in a column without a name"),
    ({"Bus": [["id", "id"], [1, 5]]}, r"sheet Bus row 2: field 'id': two columns have this name"),
    ({"Bus": [["id", "x"], [1, datetime.date(2020, 1, 2)]]}, r"sheet Bus row 2: field 'x': 2020-01-02 .* neither"),
    ({"case": [[7, "x"]]}, r"sheet case row 1: the first column is the name of a heading"),
    ({"case": [["frequencies", 50]]}, r"sheet case row 1: field 'frequencies': unknown setting; did you"),
])
def test_what_is_wrong_is_told_with_its_place(tmp_path, sheets, says):
    with pytest.raises(CaseError, match=r"x\.xlsx: " + says):
        excel.read(book(tmp_path / "x.xlsx", **sheets))


def test_a_file_that_is_none_or_not_there_is_told(tmp_path):
    (tmp_path / "x.xlsx").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(CaseError, match=r"x\.xlsx: is not a spreadsheet that can be read"):
        excel.read(tmp_path / "x.xlsx")
    with pytest.raises(CaseError, match="cannot be read: No such file"):
        excel.read(tmp_path / "none.xlsx")


def test_what_the_format_cannot_hold_is_refused(tmp_path):
    with pytest.raises(CaseError, match=r"field 'x': \[1\] is neither a number nor text"):
        excel.write(Case("x", records=[Record("Bus", {"id": 1, "x": [1]})]), tmp_path / "x.xlsx")
    with pytest.raises(CaseError, match=r"field 'x': '' is neither a number nor text"):  # a cell without text is empty
        excel.write(Case("x", records=[Record("Bus", {"id": 1, "x": ""})]), tmp_path / "x.xlsx")
    with pytest.raises(CaseError, match="has a character that a spreadsheet cannot hold"):
        excel.write(Case("x", "\x07"), tmp_path / "x.xlsx")


def test_a_workbook_that_cannot_be_written_is_one_error(tmp_path):
    """No library tries once more when the process ends."""
    program = ("import resource, signal\nimport gridcore as gc\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
               "case = gc.load_case('wscc9')\n"
               "resource.setrlimit(resource.RLIMIT_FSIZE, (8000, resource.RLIM_INFINITY))\n"
               f"try:\n    gc.save_case(case, '{tmp_path}/x.xlsx')\n"
               "except gc.GridcoreError as error:\n    print(error)\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (f"{tmp_path}/x.xlsx: cannot be written: File too large\n", "")
    assert not any(tmp_path.iterdir())
