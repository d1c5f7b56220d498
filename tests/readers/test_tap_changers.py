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
