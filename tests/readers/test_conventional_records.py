"""Records of PSS/E's conventional models find their places, and what is read rests."""

from pathlib import Path

import numpy as np
import pytest

import gridcore as gc

RAW = Path(__file__).parents[1] / "data" / "transformer_codes.raw"
GENROU = "'GENROU' 1 8.0 0.03 0.4 0.05 6.5 0 1.8 1.7 0.3 0.55 0.25 0.2 0.03 0.1 /\n"
SEXS = "3 'SEXS' 1 0.1 10 200 0.05 -9 9 /\n"
TPJ = "8.0 0.03 0.4 0.05 6.5 0 1.8 1.7 0.3 0.55 0.22 0.25 0.15 0.03 0.1"
STEAM = "20 0.2 0.1 0.1 0.3 -0.3 2 0 0.3 0.3 {0} 7 0.4 0 0.5 0.3 {0} 0 0 0"
VALVE = "6e-4 0 0.01 0 0 0.3 0.4 0.6 0.65 0.8 0.85 1 0.95 0"
MACHINES = [
    f"3 'GENTPF' 1 {TPJ} /", f"3 'GENTPJ1' 1 {TPJ} 0.05 /", f"3 'USRMDL' 1 'GENTPJU1' 1 1 0 16 6 1 {TPJ} 0.05 /",
    f"3 'GENTPJ' 1 {TPJ} 0.05 /", "3 'GENSAE' 1 8.0 0.03 0.05 6.5 0 1.8 1.1 0.3 0.25 0.2 0.03 0.1 /"]
CONTROLS = [
    "3 'GAST' 1 0.05 0.4 0.1 3.0 1.5 2.0 1.2 -0.05 0.1 /",
    "3 'IEEEG3' 1 0.5 0.05 0.1 -0.1 1.2 0 0.05 0.3 5 1 0.5 1 1.5 1 /",
    "3 'IEESGO' 1 0.1 0 0.2 0.3 5 0.4 20 0.7 0.3 1.2 0 /", "3 'DEGOV' 1 0 0 0 18 12 5 0.2 0 2 -0.1 /",
    "3 'DEGOV1' 1 0 0.1905 0.0476 0.018 1.0 5.1 0.322 0 0 99.99 -99.99 0.07 0.05 /",
    "3 'PIDGOV' 1 1 0.05 0.01 5 1 0.1 0.5 0.99 0.001 0.1 0.7 0.3 0.9 0.5 0.9 1.0 0.05 1 0.6 0.04 -0.04 /",
    "3 'WPIDHY' 1 0.01 -0.05 3 0.5 3 0.02 0.01 0.025 -0.025 1 0.1 3.25 99 0 0 0.12 0.545 0.4 0.827 0.83 1 /",
    f"3 'WSIEG1' 1 0 0 {STEAM.format(0)} {VALVE} /",
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
    SEXS + "3 'PSS2C' 1 1 0 3 0 5 1 2 2 0 2 0 2 0.2 1 0.5 0.1 5 0.2 0.02 0.2 0.02 0 0 99 -99 99 -99 0.1 -0.1 0 0 "
    "0.2 0.1 0 0 /", SEXS + "3 'STAB2A' 1 1 4 0.25 2 0.075 2.5 0.05 0.1 /",
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


# What hangs on more than the machine or load of its record: a device, its record, what it hangs on.
PLACED = {
    "CrossIEEEG1": (f"3 'IEEEG1' 1 1 '1' {STEAM.format(0.4)} /", {"machine": "GEN3", "second": "GEN1"}),
    "CrossWSIEG1": (f"3 'WSIEG1' 1 1 '1' {STEAM.format(0.4)} {VALVE} /", {"machine": "GEN3", "second": "GEN1"}),
    "FRQTPAT": ("17 'FRQTPAT' 3 1 '1' 47 52 0.1 0.05 /", {"bus": 3, "machine": "GEN1", "id": "FRQTPAT17"}),
    "VTGTPAT": ("18 'VTGTPAT' 1 3 '1' 0.5 1.3 0.1 0.05 /", {"bus": 1, "machine": "GEN3", "id": "VTGTPAT18"})}
SHED = {
    "LDS3BL": "'LDS3BL' '{}' 0 '0' 0 49 0.1 0.05 0.2 48.5 0.1 0.05 0.3 0 0 0 0 0 0 0 0 0 0 0 0 0 /",
    "LVS3BL": "'LVS3BL' '{}' 0 0 '0' 0 0 '0' 0 0.8 0.1 0.05 0.2 0.7 0.1 0.05 0.3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 /"}


def comes_back(folder, case, model):
    """The records of a model are the same when the case is written and read."""
    gc.save_case(case, folder / "y.raw")
    gc.save_case(case, folder / "y.dyr")
    back = gc.load_case(folder / "y.raw", folder / "y.dyr")
    there = [r.fields for r in case if r.model == model]
    assert there
    assert [r.fields for r in back if r.model == model] == there


@pytest.mark.parametrize("text", CONTROLS, ids=named)
def test_its_record_is_written_as_it_was_read(tmp_path, text):
    comes_back(tmp_path, read(tmp_path, f"1 {GENROU}3 {GENROU}{text}"), named(text))


@pytest.mark.parametrize("model", PLACED)
def test_it_hangs_on_what_its_record_says_rests_and_is_written(tmp_path, model):
    text, places = PLACED[model]
    case = read(tmp_path, f"1 {GENROU}3 {GENROU}{text}")
    (record,) = [r for r in case if r.model == model]
    assert {port: record.fields[port] for port in places} == places
    assert not any("skipped" in note or "no effect" in note for note in case.notes)
    run = gc.simulate(gc.build(case), 1.0, 0.02)
    assert not run.events
    assert np.ptp(run["GEN3", "delta"]) < 1e-9
    comes_back(tmp_path, case, model)


@pytest.mark.parametrize("machine", [f"3 {GENROU}", ""])
def test_a_relay_trips_a_generator_with_or_without_a_record(tmp_path, machine):
    case = read(tmp_path, f"1 {GENROU}{machine}5 'VTGTPAT' 3 3 1 0.5 1.2 0 0 /")
    assert [r.fields["machine"] for r in case if r.model == "VTGTPAT"] == ["GEN3"]


def loads(case):
    """Loads with their buses and identifiers."""
    found = [(id, case[id].fields["bus"]) for id in case.ids() if id.startswith("LOAD")]
    return [(id, bus, id.removeprefix(f"LOAD{bus}").lstrip("_") or "1") for id, bus in found]


@pytest.mark.parametrize("model", SHED)
@pytest.mark.parametrize("every", [False, True])
def test_a_relay_hangs_on_the_load_of_its_record_or_on_all_of_its_bus(tmp_path, model, every):
    """Static loads and such with a record."""
    static = read(tmp_path, f"1 {GENROU}")
    bus = loads(static)[0][1]
    here = [(id, identifier) for id, at, identifier in loads(static) if at == bus]
    dynamic = f"{bus} 'IEELBL' {here[0][1]} 1 0 0 1 0 0 0 0 2 1 0 2 1 0 /\n"
    text = f"1 {GENROU}{dynamic}{bus} {SHED[model].format('*' if every else here[-1][1])}"
    case = read(tmp_path, text)
    assert [r.fields["load"] for r in case if r.model == model] == [id for id, _ in (here if every else here[-1:])]
    assert not any("skipped" in note or "no effect" in note for note in case.notes)
    assert not gc.simulate(gc.build(case), 0.2, 0.02).events
    comes_back(tmp_path, case, model)


def test_a_record_of_one_load_goes_before_that_of_its_bus_and_that_before_one_of_all(tmp_path):
    (own, bus, identifier), (other, second, _), *rest = loads(read(tmp_path, f"1 {GENROU}"))
    assert rest
    law = "0.5 0.3 0.2 0.5 0.3 0.2 {} -0.8 2 1 0 2 1 0 /\n"
    records = [f"{bus} 'IEELBL' {identifier} {law.format(1.5)}", f"{bus} 'IEELBL' '*' {law.format(1.1)}",
               f"{second} 'IEELBL' '*' {law.format(1.1)}", f"0 'IEELAL' * {law.format(0.7)}"]
    for text in ("".join(records), "".join(reversed(records))):
        case = read(tmp_path, f"1 {GENROU}{text}")
        assert {id: case[id].fields["a7"] for id, *_ in loads(case)} == {
            own: 1.5, other: 1.1, **{id: 0.7 for id, *_ in rest}}
        assert not any("skipped" in note for note in case.notes)
