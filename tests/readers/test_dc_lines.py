"""Records of two-terminal lines take the place of what a RAW file has for them, rest there, and come back."""

from __future__ import annotations

import numpy as np
import pytest
from shared_data import shared
from test_conventional_records import GENROU, RAW, comes_back

import gridcore as gc
from gridcore.errors import CaseError
from gridcore_readers import dyr_text, raw, raw_write

ROWS = ("'LINK {name}  ', {mode}, 3.0, {setting}, 60.0, {vcmod}, {rcomp}, 0.1, 'I', 0.0, 20, 1.0\n"
        "1, 1, 90.0, 5.0, {rc}, 4.0, 230.0, 0.22, 1.0125, 1.5, 0.51, 0.00625, 0, 0, 0, '1 ', 0.0\n"
        "6, 2, {most}, 15.0, 0.0, 1.9, 115.0, 0.225, 0.9875, 1.5, 0.51, 0.00625, 0, 0, 0, '1 ', 0.0\n")
ROW = {"name": "A", "mode": 1, "setting": 20.0, "vcmod": 0.0, "rcomp": 0.0, "rc": 0.0, "most": 90.0}
CDC4T = "5 10 0.05 0.04 0.6 0.7 0.1 35.5 0.7 0.1 12 80 5 4 30 15 120 30 220 45 500 0.1"
CDC6T = f"{CDC4T} 0.65 0.05 0.04 0.5 0.02 0.55 0.06 0.03 0.07 0.045"
RECORDS = {"CDC4T": CDC4T, "CDC6T": CDC6T}
MACHINES = f"1 {GENROU}3 {GENROU}"


def read(folder, text, *rows, **said):
    """The network of the tests of records with lines for direct current, and these records."""
    lines = "".join(ROWS.format(**ROW | row) for row in rows or [said])
    marker = "BEGIN TWO-TERMINAL DC DATA\n"
    (folder / "x.raw").write_text(RAW.read_text().replace(marker, marker + lines))
    (folder / "x.dyr").write_text(MACHINES + text)
    return gc.load_case(folder / "x.raw", folder / "x.dyr")


@pytest.mark.parametrize("model", RECORDS)
@pytest.mark.parametrize("row", [{}, {"setting": -18.0, "rcomp": 1.5}, {"mode": 2, "setting": 300.0}, {"vcmod": 40.0}])
def test_it_takes_the_place_of_two_sources_rests_as_they_are_and_comes_back(tmp_path, model, row):
    case = read(tmp_path, f"'LINK A' '{model}' {RECORDS[model]} /\n", **row)
    line, inverter = case["DC_LINK-A"], case["INV_DC_LINK-A"]
    assert (line.model, line.fields["bus"], inverter.model, inverter.fields["bus"]) == (model, 1, "CDCInverter", 6)
    assert not any("skipped" in note or "no effect" in note or "no machine" in note for note in case.notes)
    static = gc.build(raw.read(tmp_path / "x.raw"))
    system = gc.build(case)
    run = gc.simulate(system, 1.0, 0.02)
    assert not run.events
    assert np.abs(run.X - run.X[0]).max() < 1e-9
    for id, source, sign in (("DC_LINK-A", "DC_LINK-A_1", -1.0), ("INV_DC_LINK-A", "DC_LINK-A_6", 1.0)):
        at = static.case[source].fields
        assert sign * run[id, "P"][0] == pytest.approx(at["P0"], rel=1e-12)
        assert -run[id, "Q"][0] == pytest.approx(at["Q0"], rel=1e-12)
    for model_of in (model, "CDCInverter"):
        comes_back(tmp_path, case, model_of)
    comes_back(tmp_path, gc.load_case(tmp_path / "y.raw", tmp_path / "y.dyr"), model)
    assert "left out" not in (tmp_path / "y.dyr").read_text()


@pytest.mark.parametrize("version", [33, 35])
def test_its_rows_of_every_version_are_the_same_line(tmp_path, version):
    case = read(tmp_path, f"'LINK A' 'CDC4T' {CDC4T} /\n", rcomp=1.2)
    raw_write.write(case, tmp_path / "y.raw", version=version)
    gc.save_case(case, tmp_path / "y.dyr")
    back = gc.load_case(tmp_path / "y.raw", tmp_path / "y.dyr")
    assert [r.fields for r in back if r.model == "CDC4T"] == [r.fields for r in case if r.model == "CDC4T"]


def test_every_value_of_a_record_is_its_own_parameter_in_its_unit(tmp_path):
    case = read(tmp_path, f"'LINK A' 'CDC6T' {CDC6T} /\n")
    values = gc.build(case)
    for name, said in (("ALFDY", np.radians(5)), ("GAMDY", np.radians(10)), ("TVDC", 0.05), ("TIDC", 0.04),
                       ("VBLOCK", 0.6), ("VUNBL", 0.7), ("TBLOCK", 0.1), ("VBYPAS", 35.5), ("VUNBY", 0.7),
                       ("TBYPAS", 0.1), ("RSVOLT", 12), ("RSCUR", 0.08), ("VRAMP", 5), ("CRAMP", 4), ("C0", 0.03),
                       ("V1", 15), ("C1", 0.12), ("V2", 30),
                       ("C2", 0.22), ("V3", 45), ("C3", 0.5), ("TCMODE", 0.1), ("VDEBLK", 0.65), ("TDEBLK", 0.05),
                       ("TREBLK", 0.04), ("VINBLK", 0.5), ("TCOMB", 0.02), ("VACBYP", 0.55), ("TDEBYP", 0.06),
                       ("TINBLK", 0.03), ("TINBYP", 0.07), ("TVRDC", 0.045), ("NBI", 2), ("XCR", 4), ("DELTI", 0.1),
                       ("ER", 1.03 * 230 * 0.22 / 1.0125)):
        assert values.Z0[values.layout.address(f"DC_LINK-A.{name}")] == pytest.approx(said, rel=1e-12), name


def test_of_two_lines_between_the_same_buses_each_has_its_record(tmp_path):
    case = read(tmp_path, f"'LINK B' 'CDC4T' {CDC4T} /\n\"LINK A\", 'CDC6T', {CDC6T.replace(' ', ', ')} /\n",
                {}, {"name": "B", "setting": 15.0})
    assert (case["DC_LINK-A"].model, case["DC_LINK-B"].model) == ("CDC6T", "CDC4T")
    assert (case["DC_LINK-A"].fields["Pset"], case["DC_LINK-B"].fields["Pset"]) == (20.0, 15.0)
    assert not gc.simulate(gc.build(case), 0.2, 0.02).events


def test_a_name_may_be_a_number_without_quotes(tmp_path):
    text = f"7 'CDC4T' {CDC4T} /\n"
    rows = {"name": "A"}
    path = tmp_path / "x.raw"
    read(tmp_path, "", rows)
    path.write_text(path.read_text().replace("'LINK A  '", "7"))
    (tmp_path / "x.dyr").write_text(MACHINES + text)
    assert gc.load_case(path, tmp_path / "x.dyr")["DC_7"].model == "CDC4T"


def test_a_fault_at_either_end_is_run_through(tmp_path):
    for bus, level, happens in ((1, "0.6 0.7", "blocks"), (6, "0.2 0.3", "bypasses")):  # both fall in either
        case = read(tmp_path, f"'LINK A' 'CDC4T' {CDC4T.replace('0.6 0.7', level, 1)} /\n")
        case.add(gc.BusFault(id="fault", bus=bus, t=0.1, clear=0.2, x=0.01))
        run = gc.simulate(gc.build(case), 1.0, 0.005)
        assert happens in {event.item for event in run.events if event.device == "DC_LINK-A"}


@pytest.mark.parametrize(("text", "row", "says"), [
    (f"'LINK A' 'CDC4T' {CDC4T} /\n'LINK A' 'CDC6T' {CDC6T} /", {}, "CDC6T 'LINK A' .line 4.*'DC_LINK-A' has a record"),
    (f"'LINK A' 'CDC4T' {CDC4T} /", {"most": 15.0}, "the inverter holds its extinction angle .ANMX is not above ANMN"),
    (f"'LINK A' 'CDC4T' {CDC4T} 1 /", {}, "the record has 23 values, a CDC4T 22; these are too many"),
    (f"'LINK A' 'CDC4T' {CDC4T.replace('5 10', 'x 10', 1)} /", {}, "'x' is not a number")])
def test_what_cannot_be_is_an_error_that_names_the_record(tmp_path, text, row, says):
    with pytest.raises(CaseError, match=rf"(?s)x\.(raw|dyr).*{says}"):
        read(tmp_path, text, **row)


def test_a_least_angle_that_the_power_flow_is_below_is_told_with_the_record(tmp_path):
    case = read(tmp_path, f"'LINK A' 'CDC4T' {CDC4T.replace('5 10', '5 40', 1)} /")
    with pytest.raises(CaseError, match=r"x\.dyr.*CDC4T 'LINK A'.*extinction angle at t0 is .* below GAMDY, 40 deg"):
        gc.build(case)


def test_lines_that_are_not_there_blocked_or_of_other_models_are_noted(tmp_path):
    case = read(tmp_path, f"'LINK B' 'CDC4T' {CDC4T} /\n'LINK A' 'VSCDCT' 1 2 3 /\n'LINK A' 'GENROU' 1 2 /\n")
    assert any("CDC4T at 'LINK B'" in note and "VSCDCT at 'LINK A'" in note for note in case.notes)
    assert "DC_LINK-A_1" in case
    blocked = read(tmp_path, f"'LINK A' 'CDC4T' {CDC4T} /\n", mode=0)
    assert not [record for record in blocked if record.model == "CDC4T"]


def test_resistances_of_converters_that_the_power_flow_leaves_out_are_noted(tmp_path):
    case = read(tmp_path, f"'LINK A' 'CDC4T' {CDC4T} /\n", rc=0.01)
    assert any("RC of the converters of LINK A is left out" in note for note in case.notes)


def test_records_that_begin_with_a_name_may_follow_others_on_a_line_and_a_remark_is_none(tmp_path):
    path = tmp_path / "x.dyr"
    path.write_text("'Bob''s machines' are these\n1 'GENROU' 1 2 / 'LINK 1' 'CDC4T' 3\n 4 / \"B\" 'CDC6T' 5 /\n")
    models, skipped = dyr_text.read_models(path)
    assert [(m.bus, m.name, m.identifier, m.values, m.named) for m in models] == [
        (1, "GENROU", "1", ["2"], False), (0, "CDC4T", "LINK 1", ["3", "4"], True), (0, "CDC6T", "B", ["5"], True)]
    assert len(skipped) == 1


def test_kundurs_areas_joined_by_a_line_of_psse_rest_and_ride_through_faults_at_both_ends(tmp_path):
    """A file that PSS/E wrote, with the row of a line between two islands; its record is ours."""
    record = "'1' 'CDC4T' 5 15 0.05 0.05 0.6 0.7 0.1 250 0.7 0.1 50 100 2 2 100 200 400 300 700 450 1100 0.1 /\n"
    machine = f"{{0}} {GENROU}{{0}} 'SEXS' 1 0.1 10 100 0.05 -5 5 /\n{{0}} 'TGOV1' 1 0.05 0.05 1.2 0 0.2 5 0 /\n"
    (tmp_path / "x.dyr").write_text("".join(machine.format(bus) for bus in (1, 2, 3, 4)) + record)
    case = gc.load_case(shared("field/raw_versions/Kundur_2area_LCC_HVDC.raw"), tmp_path / "x.dyr", loads="Z")
    run = gc.simulate(gc.build(case, deenergise=True), 1.0, 0.02)
    assert not run.events
    assert np.abs(run.X - run.X[0]).max() < 1e-9
    assert run["DC_1", "P"][0] == pytest.approx(5.0, rel=1e-12)
    assert run["INV_DC_1", "P"][0] == pytest.approx(5.0 - 0.05 * run["DC_1", "I"][0] ** 2, rel=1e-12)
    for bus, happens, back in ((7, "blocks", "releases"), (9, "bypasses", "opens")):
        case.add(gc.BusFault(id="fault", bus=bus, t=0.1, clear=0.2, x=0.01))
        run = gc.simulate(gc.build(case, deenergise=True), 2.0, 0.01)
        items = [event.item for event in run.events if event.device == "DC_1"]
        assert items.index(happens) < items.index(back) < items.index("voltage_is_back")
        assert run["DC_1", "P"][-1] == pytest.approx(5.0, rel=1e-3)
        case.remove("fault")


@pytest.mark.parametrize(("written", "noted"), [("35.5", False), ("0", False), ("0.6", True)])
def test_a_voltage_of_bypass_that_could_be_in_per_unit_is_noted(tmp_path, written, noted):
    case = read(tmp_path, f"'LINK A' 'CDC4T' {CDC4T.replace('35.5', written)} /\n")
    assert any("VBYPAS of LINK A, 0.6, is read as kV" in note for note in case.notes) == noted
