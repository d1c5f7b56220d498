"""Records of converters and their controls find their places, rest, and are written as they were read."""

import numpy as np
import pytest
from test_conventional_records import GENROU, comes_back, named, read

import gridcore as gc
from gridcore.errors import CaseError

REGCA1 = "3 'REGCA1' 1 1 0.02 10 0.9 0.4 1.22 1.2 0.8 0.4 -1.3 0.02 0.7 99 -99 0 /\n"
LIMITS = "-99 99 0.02 -0.05 0.05 {} 1.1 -1.1 0 {}0.02 9 -9 1.2 0.8 0.1 0.2 0.5 10 {}0.02 99 -99 9 {} 9 0.02"
PAIRS = "0.2 1 0.5 5 0.9 9 0 0"
REECA1 = f"3 'REECA1' 1 0 0 1 1 0 0 {LIMITS.format(2, '0.1 0.1 0.1 ', '0 ', 0)} {PAIRS} {PAIRS} /\n"
REECB1 = f"3 'REECB1' 1 0 0 1 1 0 {LIMITS.format(2, '', '', 0)} /\n"
WTDTA1 = "3 'WTDTA1' 1 4 0.5 0.8 1.6 1.5 /\n"
WTARA1 = "3 'WTARA1' 1 0.007 1 /\n"
MANY = " ".join(f"{0.1 * k:.1f} {k}" for k in range(1, 11))
RECORDS = [
    REGCA1, "3 'REGCB1' 1 0 1 0.021 0.018 70 -72 10 0.012 9 /", REGCA1 + REECA1, REGCA1 + REECB1,
    REGCA1 + f"3 'REECC1' 1 0 0 1 1 0 {LIMITS.format(2, '', '', -9)} {PAIRS} {PAIRS} 1e10 0.5 1 0 /",
    REGCA1 + f"3 'REECD1' 1 0 1 1 0 0 1 {LIMITS.format(2, '0.1 0.1 0.1 ', '0 ', 0)} {MANY} {MANY} "
    "0 0.05 0.02 0 0.5 0.1 2 0.1 /",
    REGCA1 + REECB1 + "3 'REPCA1' 1 0 0 0 0 0 1 1 0.02 1 0.5 0 0.05 0.7 0 0 0.02 0.1 -0.1 "
    "-0.01 0.01 9 -9 1 0.05 0.25 -0.01 0.01 9 -9 9 0 0.1 20 20 /",
    REGCA1 + REECA1 + WTDTA1, REGCA1 + REECA1 + WTDTA1 + WTARA1,
    REGCA1 + REECA1 + WTDTA1 + WTARA1 + "3 'WTPTA1' 1 25 150 30 3 0 0.3 27 0 10 -10 /",
    REGCA1 + REECA1 + WTDTA1 + "3 'WTTQA1' 1 0 3 0.6 0.05 60 9 0 0.2 0.58 0.4 0.72 0.6 0.86 0.8 1 0 /"]


# NERC's values for IEEE Std 1547-2003: no control of voltage or frequency, trips at 59.3 and 60.5 Hz, of 50 Hz here
DERA1 = ("3 'DERA1' 1 1 0 1 1 1 1 0.02 0.02 -99 99 0 0 0.02 0.02 0 0 -99 99 0 0 9 0 99 -99 0.02 0 0 9 0.44 0.49 1.2 "
         "1.15 0.16 0.16 0.16 0.16 0 49.3 50.5 0.16 0.16 0.02 0.1 0.02 0.8 0 0 /")
RECORDS.append(DERA1)


@pytest.mark.parametrize("text", RECORDS, ids=named)
def test_its_record_is_read_to_the_last_value_rests_and_comes_back(tmp_path, text):
    case = read(tmp_path, f"1 {GENROU}{text}")
    assert named(text) in {record.model for record in case}
    assert not any("skipped" in note or "no effect" in note for note in case.notes)
    run = gc.simulate(gc.build(case), 1.0, 0.02)
    assert not run.events
    assert np.abs(run.X - run.X[0]).max() < 1e-9
    comes_back(tmp_path, case, named(text))


def test_frequencies_at_which_a_record_of_DERA1_trips_are_hertz(tmp_path):
    system = gc.build(read(tmp_path, f"1 {GENROU}{DERA1}"))
    assert system.Z0[system.layout.address("GEN3.fl")] == pytest.approx(49.3 / 50, abs=1e-12)
    assert system.Z0[system.layout.address("GEN3.fh")] == pytest.approx(50.5 / 50, abs=1e-12)


@pytest.mark.parametrize("where", ["0 0 0 '0 '", "5 0 0 '0 '", "0 6 5 '1'"])
def test_a_record_of_the_plant_control_of_wind_turbines_is_one_of_the_plant_control(tmp_path, where):
    text = f"1 {GENROU}" + REGCA1 + REECB1 + REPCA1.format(where)
    plain, wind = ([(record.model, record.fields) for record in read(tmp_path, each)]
                   for each in (text, text.replace("'REPCA1'", "'REPCTA1'")))
    assert wind == plain


def test_a_record_of_droop_without_its_second_flag_is_refused_and_the_error_says_what_is_right(tmp_path):
    values = "0.01 0.02 0.03 1.2 1.15 0 0.9 0 0.44 -0.44 0.01 0.05 0.02 0.1 3 20 0 5.86 /\n"
    with pytest.raises(CaseError, match=r"19 values, a REGFMA1 20.* without QVFlag: write 1 after VFlag"):
        read(tmp_path, f"3 'REGFM_A1' 1 1 {values}")
    case = read(tmp_path, f"3 'REGFM_A1' 1 1 0 {values}")
    (record,) = case.of("REGFMA1")
    assert (record.fields["QVFlag"], record.fields["TPf"], record.fields["kiv"]) == (0.0, 0.01, 5.86)


REPCA1 = ("3 'REPCA1' 1 {} 0 1 1 0.02 1 0.5 0 0.05 0.7 0 0 0.02 0.1 -0.1 -0.01 0.01 9 -9 1 0.05 0.25 -0.01 0.01 9 -9 9 "
          "0 0.1 20 20 /\n")
FEW = "-99 99 0.02 -0.05 0.05 2 1.1 -1.1 0 0.02 9 -9 1.2 0.8 0.1 0.2 0.5 10 0.02 99 -99 9 0 9 0.02"
PLANT = ("5 'USRBUS' 'PLNTBU1' 504 0 7 28 7 15 5 5 2 '1' 0 1 1 0.02 1 0.5 0 0.05 0.7 0 0 0.02 0.1 -0.1 -0.01 0.01 9 -9 "
         "1 0.05 0.25 -0.01 0.01 9 -9 9 -9 0.1 20 20 150 /\n")
SHARE = "3 'USRMDL' '1' 'REAX4BU1' 107 0 1 7 2 4 5 0.1 0.6 0.7 0.5 -0.4 0.3 -0.2 /"
ELSEWHERE = {
    "RemoteREPCA1": (REGCA1 + REECB1 + REPCA1.format("5 0 0 '0 '"), {"bus": 5}),
    "MonitoringREPCA1": (REGCA1 + REECB1 + REPCA1.format("0 6 5 '1'"), {"bus": 3, "branch": "LINE5-6", "end": 2}),
    "RemoteREECA1": (REGCA1 + REECA1.replace("'REECA1' 1 0", "'REECA1' 1 5"), {"regulated": 5, "PFlag": 0.0}),
    "RemoteREECB1": (REGCA1 + REECB1.replace("'REECB1' 1 0", "'REECB1' 1 5"), {"regulated": 5, "PfFlag": 0.0}),
    "RemoteREECC1": (REGCA1 + f"3 'REECC1' 1 6 0 1 1 0 {FEW} {PAIRS} {PAIRS} 1e10 0.5 1 0 /", {"regulated": 6}),
    "REPCB1": (REGCA1 + REECB1 + PLANT + SHARE, {"bus": 5, "branch": "LINE2-5", "end": 2, "MVAb": 150.0}),
    "REAX4BU1": (REGCA1 + REECB1 + SHARE + PLANT, {"control": "REEC_GEN3", "plant": "REPC5", "Kw": 0.6, "Pmin": -0.2})}


@pytest.mark.parametrize("model", ELSEWHERE)
def test_a_record_that_names_another_bus_a_branch_or_a_plant_is_of_that(tmp_path, model):
    text, values = ELSEWHERE[model]
    case = read(tmp_path, f"1 {GENROU}{text}")
    (record,) = [record for record in case if record.model == model]
    assert {name: record.fields[name] for name in values} == values
    assert not any("skipped" in note or "no effect" in note for note in case.notes)
    run = gc.simulate(gc.build(case), 1.0, 0.02)
    assert not run.events
    assert np.abs(run.X - run.X[0]).max() < 1e-9
    comes_back(tmp_path, case, model)


@pytest.mark.parametrize(("named", "error"), [("0 6 4 '1'", "there is no branch 6-4 with the circuit '1'"),
                                              ("0 6 x '1'", "must be numbers of buses")])
def test_a_branch_that_is_not_there_is_an_error_that_names_the_record(tmp_path, named, error):
    with pytest.raises(CaseError, match=rf"x.dyr.*REPCA1 at bus 3.*branch.*{error}"):
        read(tmp_path, f"1 {GENROU}" + REGCA1 + REECB1 + REPCA1.format(named))
