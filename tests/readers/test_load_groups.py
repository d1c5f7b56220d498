"""Models for all loads of an owner, a zone, an area or the system find them; what is said of fewer goes before."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import gridcore as gc
from gridcore.errors import CaseError

RAW = Path(__file__).parents[1] / "data" / "transformer_codes.raw"
GENROU = "1 'GENROU' 1 8.0 0.03 0.4 0.05 6.5 0 1.8 1.7 0.3 0.55 0.25 0.2 0.03 0.1 /\n"
LAW = "{} 'IEEL{}' {} 0.5 0.3 0.2 0.5 0.3 0.2 {} -0.8 2 1 0 2 1 0 /\n"
OF = {2: (7, 1, 1), 4: (7, 8, 1), 5: (7, 8, 9), 6: (3, 3, 3)}  # area, zone and owner of the load at a bus
RECORDS = [(9, "OW", "*", 0.9), (8, "ZN", "*", 0.8), (7, "AR", "*", 0.7), (0, "AL", "*", 0.6)]
MEANT = {"LOAD2": 0.7, "LOAD4": 0.8, "LOAD5": 0.9, "LOAD6_A": 0.6}


def read(folder, text, raw=True):
    rows = RAW.read_text().splitlines()
    at = next(n for n, row in enumerate(rows) if "BEGIN LOAD DATA" in row) + 1
    for n in range(at, at + len(OF)):
        words = rows[n].split(",")
        area, zone, owner = OF[int(words[0])]
        rows[n] = ",".join([*words[:3], f" {area}", f" {zone}", *words[5:11], f" {owner}", *words[12:]])
    (folder / "x.raw").write_text("\n".join(rows))
    (folder / "x.dyr").write_text(GENROU + text)
    return gc.load_case(folder / "x.raw")


def exponents(case):
    return {id: case[id].fields.get("a7") for id in case.ids() if id.startswith("LOAD")}


@pytest.mark.parametrize("order", itertools.permutations(range(4)))
def test_owner_zone_area_and_all_in_this_order_whatever_that_of_the_file(tmp_path, order):
    case = read(tmp_path, "".join(LAW.format(*RECORDS[k]) for k in order))
    assert exponents(case) == MEANT
    assert not any("skipped" in note for note in case.notes)


def test_one_load_and_all_of_its_bus_go_before_and_an_identifier_is_that_of_the_loads(tmp_path):
    case = read(tmp_path, LAW.format(2, "BL", 1, 1.5) + LAW.format(4, "BL", "*", 1.4) + LAW.format(7, "AR", "*", 0.7)
                + LAW.format(0, "AL", "A", 0.6))
    assert exponents(case) == {"LOAD2": 1.5, "LOAD4": 1.4, "LOAD5": 0.7, "LOAD6_A": 0.6}


def test_a_record_without_a_load_is_skipped_with_a_note(tmp_path):
    case = read(tmp_path, LAW.format(99, "AR", "*", 0.7) + LAW.format(0, "AL", "*", 0.6))
    assert set(exponents(case).values()) == {0.6}
    assert any("1 records skipped" in note and "IEELAR at 99" in note for note in case.notes)


def test_relays_and_motors_have_such_models_too(tmp_path):
    stages = "58.5 0.2 0.05 0.1 " + "0 0 0 0 " * 4
    motor = "1 0.02 0.1 3 0.04 0.08 0 0 1 0 1.2 0 0 0.4 1.2 0 0 0 2 1"
    case = read(tmp_path, f"7 'LDS3AR' '*' 0 0 0 {stages} 0 /\n2 'LDS3BL' 1 0 0 0 {stages.replace('58.5', '59')} 0 /\n"
                          f"3 'CIM5ZN' '*' {motor} /\n")
    assert {r.fields["load"]: r.fields["f1"] for r in case if r.model == "LDS3BL"} == {
        "LOAD2": 59.0, "LOAD4": 58.5, "LOAD5": 58.5}
    assert case["LOAD6_A"].model == "CIM5BL"


def test_a_case_that_does_not_say_of_which_area_a_load_is_is_refused(tmp_path):
    case = read(tmp_path, "")
    gc.save_case(case, tmp_path / "x.toml")
    (tmp_path / "y.dyr").write_text(LAW.format(7, "AR", "*", 0.7))
    with pytest.raises(CaseError, match=r"IEELAR at bus 7.*area of a load stand in the RAW file.*'LOAD2' is not"):
        gc.load_case(tmp_path / "x.toml", tmp_path / "y.dyr")
