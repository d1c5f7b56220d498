"""Records of PSS/E's conventional models find their places, and what is read rests."""

from pathlib import Path

import numpy as np
import pytest

import gridcore as gc

RAW = Path(__file__).parents[1] / "data" / "transformer_codes.raw"
GENROU = "'GENROU' 1 8.0 0.03 0.4 0.05 6.5 0 1.8 1.7 0.3 0.55 0.25 0.2 0.03 0.1 /\n"
SEXS = "3 'SEXS' 1 0.1 10 200 0.05 -9 9 /\n"
TPJ = "8.0 0.03 0.4 0.05 6.5 0 1.8 1.7 0.3 0.55 0.22 0.25 0.15 0.03 0.1"
MACHINES = [
    f"3 'GENTPF' 1 {TPJ} /", f"3 'GENTPJ1' 1 {TPJ} 0.05 /", f"3 'USRMDL' 1 'GENTPJU1' 1 1 0 16 6 1 {TPJ} 0.05 /",
    f"3 'GENTPJ' 1 {TPJ} 0.05 /", "3 'GENSAE' 1 8.0 0.03 0.05 6.5 0 1.8 1.1 0.3 0.25 0.2 0.03 0.1 /"]
CONTROLS = [
    "3 'GAST' 1 0.05 0.4 0.1 3.0 1.5 2.0 1.2 -0.05 0.1 /",
    "3 'IEEEG3' 1 0.5 0.05 0.1 -0.1 1.2 0 0.05 0.3 5 1 0.5 1 1.5 1 /",
    "3 'IEESGO' 1 0.1 0 0.2 0.3 5 0.4 20 0.7 0.3 1.2 0 /", "3 'DEGOV' 1 0 0 0 18 12 5 0.2 0 2 -0.1 /",
    "3 'DEGOV1' 1 0 0.1905 0.0476 0.018 1.0 5.1 0.322 0 0 99.99 -99.99 0.07 0.05 /",
    "3 'EXST1' 1 0.01 5 -5 10 20 200 0.1 9 -9 0 0 0.1 /",
    "3 'IEEET2' 1 0.02 40 0.05 9 -9 1 0.5 0.05 1 0.1 3 0.1 4 0.3 /",
    "3 'ESST3A' 1 0.02 0.2 -0.2 8 1 5 50 0.05 10 -10 1 6 0.5 9 0.1 0.1 9 10 0.4 1 0 /",
    "3 'EXDC1' 1 0.02 40 0.05 0.5 0.2 9 -9 1 0.5 0.05 1 0 3 0.1 4 0.3 /",
    "3 'AC8B' 1 0.02 160 6 8 0.08 999 -999 1 0.01 7.76 -6.96 0.2 0.2 1 1 8 0 1 0.05 2 0.5 /",
    "3 'DC4B' 1 2 2 0.017 60 6 16 0.017 9 -9 1 0.017 0.3 0.95 0 1 0 3.61 0.22 4.82 0.95 /",
    "3 'ST6B' 1 1 0.012 18.038 45.094 0 1 9 -9 1 1 1.0577 17.33 4.164 9 -9 1 0.02 /",
    "3 'ST8C' 1 2 2 0 1 0.02 15 12 9 -9 1.2 3 9 -9 0.6 0.03 9 -9 1 0.05 0.1 5 0.5 0.1 10 9 0.05 0.6 9 /",
    SEXS + "3 'MAXEX2' 1 1 2.6 1.1 60 1.2 30 1.5 15 1 0.002 -0.1 /",
    SEXS + "3 'UEL1' 1 1.95 1.38 0 5.8 5.8 0.5 1 0.2 0 0 0.05 0 0 0.2 0 /",
    SEXS + "3 'UEL2' 1 2 2 0 0.05 0.05 0.05 0.5 0.8 0.25 0 0 0 0 0 0 0 0 0 -0.9 0.3 -0.9 0.6 -0.8 0.9 -0.7 1.02 -0.6"
    + " 0" * 12 + " 0.25 0 /",
    SEXS + "3 'IEEEVC' 1 0 -0.05 /", SEXS + "3 'STAB1' 1 6 1.5 13.3 0.0447 13.3 0.0447 0.2 /",
    SEXS + "3 'PSS2A' 1 1 0 3 0 5 1 2 2 0 2 0 2 0.2 1 0.5 0.1 5 0.2 0.02 0.2 0.02 0.1 -0.1 /",
    SEXS + "3 'PSS2B' 1 1 0 3 0 5 1 2 2 0 2 0 2 0.2 1 0.5 0.1 5 0.2 0.02 0.2 0.02 0 0 99 -99 99 -99 0.1 -0.1 /",
    SEXS + "3 'ST2CUT' 1 1 0 3 0 5 0.1 0.02 0.02 2 2 0.2 0.02 0.2 0.02 0 0 0.1 -0.1 0.1 -0.1 /"]


def read(folder, text):
    (folder / "x.raw").write_text(RAW.read_text())
    (folder / "x.dyr").write_text(text)
    return gc.load_case(folder / "x.raw")


def named(text):
    """The model of the last record."""
    return text.split("'")[-2]


@pytest.mark.parametrize("text", [*(f"1 {GENROU}{line}" for line in MACHINES),
                                  *(f"1 {GENROU}3 {GENROU}{line}" for line in CONTROLS)], ids=named)
def test_its_record_is_read_to_the_last_value_and_rests(tmp_path, text):
    case = read(tmp_path, text)
    assert named(text) in {record.model for record in case}
    assert not any("skipped" in note or "no effect" in note for note in case.notes)
    run = gc.simulate(gc.build(case), 1.0, 0.02)
    assert not run.events
    assert np.ptp(run["GEN3", "delta"]) < 1e-9


@pytest.mark.parametrize("record", [
    "'IEELBL' 1 0.5 0.3 0.2 0.5 0.3 0.2 1.5 -0.8 2 1 0 2 1 0 /",
    "'CIM5BL' 1 1 0.02 0.08 3.0 0.03 0.1 0 0 0 0 0 0 0 1.2 0.8 0 0 0 2 1 /"], ids=named)
def test_a_load_takes_its_record_and_rests(tmp_path, record):
    static = read(tmp_path, f"1 {GENROU}3 {GENROU}")
    id = next(id for id in static.ids() if id.startswith("LOAD") and static[id].fields["P0"] > 0)
    identifier = id.partition("_")[2] or "1"
    placed = record.replace("' 1 ", f"' '{identifier}' ", 1)
    case = read(tmp_path, f"1 {GENROU}3 {GENROU}{static[id].fields['bus']} {placed}")
    assert case[id].model == named(record)
    run = gc.simulate(gc.build(case), 1.0, 0.02)
    assert np.ptp(run[id, "P"]) < 1e-9
