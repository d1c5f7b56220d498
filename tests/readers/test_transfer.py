"""What a load-shedding relay's record trips besides: a generator, all of a bus, or branches; read, refused, written."""

from pathlib import Path

import pytest

import gridcore as gc
from gridcore.errors import CaseError

RAW = Path(__file__).parents[1] / "data" / "transformer_codes.raw"
GENROU = "'GENROU' 1 8.0 0.03 0.4 0.05 6.5 0 1.8 1.7 0.3 0.55 0.25 0.2 0.03 0.1 /\n"
REST = "0 0 0 0 " * 4
FREQUENCY = "2 'LDS3BL' 1 {} 0 58.5 0.2 0.05 0.1 " + REST + "{} /\n"
VOLTAGE = "2 'LVS3BL' 1 {} 0 0.8 0.2 0.05 0.1 " + REST + "{} /\n"


@pytest.fixture
def read(tmp_path):
    def read(text, second=False):
        raw = RAW.read_text()
        if second:  # another generator at bus 3
            row = next(line for line in raw.splitlines() if line.startswith("     3,'1 ',    70.000"))
            raw = raw.replace(row, row + "\n" + row.replace("'1 '", "'B '"))
        (tmp_path / "x.raw").write_text(raw)
        (tmp_path / "x.dyr").write_text(f"1 {GENROU}" + text)
        return gc.load_case(tmp_path / "x.raw")
    return read


def tripped(case):
    return [(r.fields["device"], r.fields["ttb"]) for r in case if r.model == "TransferTrip"]


@pytest.mark.parametrize(("text", "devices"), [
    (FREQUENCY.format("3 '1'", "0.07"), [("GEN3", 0.07)]), (FREQUENCY.format("3 B", "0.07"), [("GEN3_B", 0.07)]),
    (FREQUENCY.format("3 '-1'", "0.07"), [("GEN3", 0.07), ("GEN3_B", 0.07)]), (FREQUENCY.format("0 0", "0"), []),
    (FREQUENCY.format("3 '1'", ""), [("GEN3", 0.0)]),  # a short record
    (VOLTAGE.format("5 2 '1' 6 1 'T2'", "0.07 0.1"), [("LINE2-5", 0.07), ("TRANSFORMER6-1_T2", 0.1)]),
    (VOLTAGE.format("0 0 '0' 2 5 1", "0 0.1"), [("LINE2-5", 0.1)])])
def test_each_is_tripped_by_a_device_of_its_own_which_is_written(read, tmp_path, text, devices):
    case = read(text, second=True)
    assert tripped(case) == devices
    assert all(r.fields["relay"] in case for r in case if r.model == "TransferTrip")
    assert not any("skipped" in note or "no effect" in note for note in case.notes)
    gc.save_case(case, tmp_path / "y.raw")
    gc.save_case(case, tmp_path / "y.dyr")
    assert tripped(gc.load_case(tmp_path / "y.raw", tmp_path / "y.dyr")) == devices


@pytest.mark.parametrize(("text", "says"), [
    (FREQUENCY.format("3 'Q'", "0.07"), "LDS3BL at bus 2.*field 'trip1': there is no generator 'Q' at bus 3"),
    (FREQUENCY.format("9 1", "0.07"), "there is no generator '1' at bus 9"),
    (VOLTAGE.format("2 6 '1' 0 0 0", "0 0"), "field 'trip1': there is no branch 2-6 with the circuit '1'"),
    (FREQUENCY.format("3 1", "soon"), "field 'trip1': .*soon")])
def test_what_is_not_there_is_told(read, text, says):
    with pytest.raises(CaseError, match=says):
        read(text)


def test_a_relay_whose_trips_are_not_there_is_left_out_whole_if_that_is_tolerated(tmp_path):
    (tmp_path / "x.raw").write_text(RAW.read_text())
    (tmp_path / "x.dyr").write_text(f"1 {GENROU}" + FREQUENCY.format("3 'Q'", "0.07"))
    case = gc.load_case(tmp_path / "x.raw", tolerate=True)
    assert not [r for r in case if r.model in ("LDS3BL", "TransferTrip")]
    assert any("left out, as tolerated: " in note and "there is no generator 'Q'" in note for note in case.notes)


@pytest.mark.parametrize(("text", "further", "back"), [
    (FREQUENCY.format("3 1", "0.07"), [("LINE2-5", 0.1)], [("GEN3", 0.07)]),
    (FREQUENCY.format("3 1", "0.07"), [("GEN3_B", 0.1)], [("GEN3", 0.07)]),  # at another time
    (VOLTAGE.format("5 2 1 0 0 0", "0.07 0"), [("GEN3", 0.1), ("LINE5-6", 0.2), ("TRANSFORMER6-1_T2", 0.3)],
     [("LINE2-5", 0.07), ("LINE5-6", 0.2)])])
def test_what_a_record_has_no_room_for_is_left_out_and_named(read, tmp_path, text, further, back):
    case = read(text, second=True)
    (relay,) = [r.fields["relay"] for r in case if r.model == "TransferTrip"]
    for device, ttb in further:
        case.add("TransferTrip", relay=relay, device=device, ttb=ttb)
    gc.save_case(case, tmp_path / "y.raw")
    gc.save_case(case, tmp_path / "y.dyr")
    assert tripped(gc.load_case(tmp_path / "y.raw", tmp_path / "y.dyr")) == back
    written = (tmp_path / "y.dyr").read_text()
    for device, ttb in further:
        assert (f"TRANSFER_{relay}_{device}" in written) is ((device, ttb) not in back)


def test_a_generator_that_is_tripped_need_not_have_a_machine(read):
    assert tripped(read(FREQUENCY.format("3 1", "0.07"))) == [("GEN3", 0.07)]
    assert tripped(read(f"3 {GENROU}" + FREQUENCY.format("3 1", "0.07"))) == [("GEN3", 0.07)]
