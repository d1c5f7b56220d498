"""Tap changers of a DYR file: their delays are in the record, their band and range in the power-flow file."""

from pathlib import Path

import pytest

import gridcore as gc
from gridcore.errors import CaseError

RAW = Path(__file__).parents[1] / "data" / "transformer_codes.raw"
OFF = "150.00, 0,      0, 1.10000, 0.90000, 1.10000, 0.90000,  33,"
PER_NOMV = "120.00, 0,      0, 1.10000, 0.90000, 1.10000, 0.90000,  33,"


def read(folder, *records, of_1_2="1, 2, 253, 207, 1.01, 0.97, 17", of_6_1="1, 1, 1.1, 0.9, 1.05, 1.0, 11"):
    """Transformer 1-2 has its turns in kV, 6-1 in per unit of NOMV; both codes stand in the same columns."""
    text = RAW.read_text().replace(OFF, f"150.00, {of_1_2},").replace(PER_NOMV, f"120.00, {of_6_1},")
    (folder / "x.raw").write_text(text)
    (folder / "x.dyr").write_text("\n".join([*records, ""]))
    return gc.load_case(folder / "x.raw")


def test_a_record_hangs_on_its_transformer_with_the_band_and_the_range_of_the_power_flow_file(tmp_path):
    case = read(tmp_path, "1 'OLTC1T' 2 '1' 30 1.5 5 /", "1 'OLTC1T' 6 'T2' 45 0 10 /")
    first, second = case.of("OLTC1T")
    scale = case["TRANSFORMER1-2"].fields["tap"] / 235.0
    assert first.fields == pytest.approx({
        "transformer": "TRANSFORMER1-2", "bus": 2, "VMA": 1.01, "VMI": 0.97, "RMA": 253 * scale, "RMI": 207 * scale,
        "step": 46 * scale / 16, "TD": 30.0, "TC": 1.5, "TSD": 5.0})
    assert second.fields["transformer"] == "TRANSFORMER6-1_T2"
    assert (second.fields["bus"], second.fields["TD"]) == (1, 45.0)
    assert second.fields["RMA"] == pytest.approx(case["TRANSFORMER6-1_T2"].fields["tap"] * 1.1 / 0.98)
    gc.build(case)


@pytest.mark.parametrize(("bus", "sign"), [(1, -1), (-1, -1), (2, 1), (-2, 1), (5, 1), (-5, -1)])
def test_a_tap_is_stepped_the_other_way_for_a_bus_on_its_own_side(tmp_path, bus, sign):
    """PSS/E, "Transformer data": of a bus that is neither end the sign of CONT says on which side it is."""
    case = read(tmp_path, "1 'OLTC1T' 2 '1' 30 0 5 /", of_1_2=f"1, {bus}, 253, 207, 1.01, 0.97, 17")
    (changer,) = case.of("OLTC1T")
    assert changer.fields["bus"] == abs(bus)
    assert changer.fields["step"] * sign > 0


def test_a_tap_that_controls_no_voltage_is_an_error_that_says_so_or_is_left_out(tmp_path):
    with pytest.raises(CaseError, match=r"OLTC1T at bus 1 .*does not control the voltage of a bus: COD = 0"):
        read(tmp_path, "1 'OLTC1T' 2 '1' 30 0 5 /", of_1_2="0, 2, 253, 207, 1.01, 0.97, 17")
    case = gc.load_case(tmp_path / "x.raw", tolerate=True)
    assert not case.of("OLTC1T")
    assert any("does not control the voltage" in note for note in case.notes)


def test_without_the_power_flow_file_there_is_neither_band_nor_range(tmp_path):
    read(tmp_path, "1 'OLTC1T' 2 '1' 30 0 5 /")
    gc.save_case(gc.load_case(tmp_path / "x.raw", alone=True), tmp_path / "x.toml")
    with pytest.raises(CaseError, match="the band and the range of a tap stand in the RAW file"):
        gc.load_case(tmp_path / "x.toml", tmp_path / "x.dyr")


def test_a_record_of_a_transformer_that_is_not_there_is_skipped(tmp_path):
    case = read(tmp_path, "1 'OLTC1T' 2 '1' 30 0 5 /", "1 'OLTC1T' 5 '1' 30 0 5 /")
    assert len(case.of("OLTC1T")) == 1
    assert any("OLTC1T at 1 '5 1'" in note for note in case.notes)


def test_what_is_written_is_read_as_the_same(tmp_path):
    case = read(tmp_path, "1 'OLTC1T' 2 '1' 30 1.5 5 /", "1 'OLTC1T' 6 'T2' 45 0 10 /")
    for name in ("y.raw", "y.dyr"):
        gc.save_case(case, tmp_path / name)
    again = gc.load_case(tmp_path / "y.raw")
    assert [record.fields for record in again.of("OLTC1T")] == [record.fields for record in case.of("OLTC1T")]


WINDINGS = ("1.02000,   0.000,   0.000,", "1.00000,   0.000,   5.000,", "0.97500,   0.000,   0.000,")
WITHOUT = "   100.00,   100.00,   100.00, 0,      0, 1.10000, 0.90000, 1.10000, 0.90000,  33,"


def read_three(folder, record, **controls):
    """The transformer 2-3-4, of which some windings (w1 to w3) have a control."""
    text = RAW.read_text()
    for name, control in controls.items():
        winding = WINDINGS[int(name[1]) - 1]
        assert winding + WITHOUT in text
        text = text.replace(winding + WITHOUT, f"{winding} 100, 100, 100, {control},")
    (folder / "x.raw").write_text(text)
    (folder / "x.dyr").write_text(f"{record}\n")
    return gc.load_case(folder / "x.raw")


@pytest.mark.parametrize("record", ["2 'OLTC3T' 3 4 '1' 30 1.5 5 /", "4 'OLTC3T' 2 3 1 30 1.5 5 /"])
def test_of_three_windings_it_is_the_one_that_controls_a_voltage(tmp_path, record):
    case = read_three(tmp_path, record, w2="1, 4, 1.1, 0.9, 1.02, 0.98, 21")
    (changer,) = case.of("OLTC3T")
    assert changer.fields == pytest.approx({
        "transformer": "TRANSFORMER2-3-4_w2", "bus": 4, "VMA": 1.02, "VMI": 0.98, "RMA": 1.1, "RMI": 0.9, "step": 0.01,
        "TD": 30.0, "TC": 1.5, "TSD": 5.0})
    gc.build(case)


@pytest.mark.parametrize(("bus", "sign"), [(4, -1), (-4, -1), (2, 1), (-2, 1), (3, 1), (-3, 1), (5, 1), (-5, -1)])
def test_of_three_windings_a_bus_on_its_own_side_is_raised_by_a_higher_tap(tmp_path, bus, sign):
    case = read_three(tmp_path, "2 'OLTC3T' 3 4 '1' 30 0 5 /", w3=f"1, {bus}, 1.1, 0.9, 1.02, 0.98, 21")
    assert case.of("OLTC3T")[0].fields["step"] * sign > 0


def test_of_three_windings_none_or_two_that_control_a_voltage_are_an_error(tmp_path):
    record, control = "2 'OLTC3T' 3 4 '1' 30 0 5 /", "1, 4, 1.1, 0.9, 1.02, 0.98, 21"
    with pytest.raises(CaseError, match=r"OLTC3T at bus 2 .*does not control the voltage of a bus: COD = 0"):
        read_three(tmp_path, record)
    with pytest.raises(CaseError, match=r"the taps of TRANSFORMER2-3-4_w1, TRANSFORMER2-3-4_w3 control voltages"):
        read_three(tmp_path, record, w1=control, w3=control)
    case = gc.load_case(tmp_path / "x.raw", tolerate=True)
    assert not case.of("OLTC3T")
    assert any("control voltages" in note for note in case.notes)


def test_of_three_windings_what_is_written_is_read_as_the_same(tmp_path):
    case = read_three(tmp_path, "2 'OLTC3T' 3 4 '1' 30 1.5 5 /", w3="1, 2, 1.1, 0.9, 1.02, 0.98, 21")
    for name in ("y.raw", "y.dyr"):
        gc.save_case(case, tmp_path / name)
    again = gc.load_case(tmp_path / "y.raw")
    assert [record.fields for record in again.of("OLTC3T")] == [record.fields for record in case.of("OLTC3T")]
    case.of("OLTC3T")[0].fields["transformer"] = "TRANSFORMER1-2"
    gc.save_case(case, tmp_path / "z.dyr")
    assert "left out: OLTC_TRANSFORMER1-2" in (tmp_path / "z.dyr").read_text()


def test_the_tap_of_one_of_three_windings_brings_a_voltage_into_its_band(tmp_path):
    case = read_three(tmp_path, "1 'GENCLS' 1 50 0 /\n2 'OLTC3T' 3 4 '1' 1 0.1 0.5 /",
                      w1="1, 4, 1.2, 0.8, 1.0, 0.98, 161")
    run = gc.simulate(case, t_end=60.0, step=0.05)
    assert run["BUS4", "Vm"][0] < 0.97
    assert 0.98 <= run["BUS4", "Vm"][-1] <= 1.0
    assert run["OLTC_TRANSFORMER2-3-4_w1", "position"][-1] > 0
