"""What is written as RAW and DYR reads as the same system, to the last bit."""

import math
from pathlib import Path

import pytest
from shared_data import shared

import gridcore as gc
from gridcore.case import validate
from gridcore.contract import Record
from gridcore.errors import CaseError
from gridcore_readers import raw, raw_write
from gridcore_readers.inverse import inverse, inverse_of_all

CODES = Path(__file__).parents[1] / "data" / "transformer_codes.raw"


def system(case):
    """Everything but the names of star points: models, values, places, what is in service."""
    valid = validate(case)
    number = raw_write.bus_numbers([instance.id for instance in valid.of("Bus")])
    return sorted((i.model, sorted(i.values.items()), sorted(i.words.items()) if i.model != "Bus" else [],
                   [number.get(id, id) for id in i.ports.values()], i.in_service) for i in valid.records)


@pytest.fixture(params=[33, 35])
def back(request, tmp_path):
    def back(case):
        raw_write.write(case, tmp_path / "back.raw", version=request.param)
        return raw.read(tmp_path / "back.raw")
    return back


def test_every_code_of_transformer_data_comes_back_as_the_same_system(back):
    case = raw.read(CODES)
    again = back(case)
    assert system(again) == system(case)
    assert {"LOAD6_A", "LINE5-6_2", "TRANSFORMER6-1_T2", "SHUNT5", "SWITCHED6", "MAG1-2"} <= set(again.ids())
    assert (again.title, again.base_mva, again.frequency) == (case.title, case.base_mva, case.frequency)


def test_what_is_written_twice_is_the_same_text(tmp_path):
    for name in ("a", "b"):
        case = raw.read(tmp_path / "a.raw" if name == "b" else CODES)
        gc.save_case(case, tmp_path / f"{name}.raw")
    assert (tmp_path / "a.raw").read_text() == (tmp_path / "b.raw").read_text()


def test_names_with_quotes_loads_in_parts_and_odd_numbers_come_back(back):
    case = raw.read(CODES)
    case["BUS2"].fields["label"] = "O'BRIEN, \"N\""
    case["BUS3"].fields["label"] = "O'NEIL / 2"
    case["LOAD2"].fields.update(P0=0.1 + 0.2, pP=0.5, pI=0.25, pZ=0.25, Q0=math.pi / 100, qP=0.1, qZ=0.9)
    case["BUS4"].fields["Va0"] = 0.3
    again = back(case)
    assert system(again) == system(case)
    assert again["BUS2"].fields["label"] == "O'BRIEN, \"N\""
    assert again["BUS3"].fields["label"] == "O'NEIL / 2"


def test_what_a_raw_file_has_no_place_for_is_written_as_what_it_amounts_to(back):
    case = gc.Case("x")
    for number in (1, 2):
        case.add("Bus", id=number, kv=20)
    case.add("StaticGenerator", bus=1, control="slack")
    case.add("StaticGenerator", bus=1, control="PQ", P0=0.25, Q0=0.5)
    case.add("Transformer", bus1=1, bus2=2, x=0.1, b=0.25, tap=1.0)
    case.add("Line", bus1=1, bus2=2, x=0.1, g=0.5)
    again = back(case)
    assert (again["LOAD1"].fields["P0"], again["LOAD1"].fields["Q0"]) == (-0.25, -0.5)
    assert sum(record.fields["b"] for record in again.of("Shunt")) == 0.25
    assert sum(record.fields["g"] for record in again.of("Shunt")) == 0.5
    case.add("SeriesAdmittance", bus1=1, bus2=2, g=1.0, b=-1.0)
    with pytest.raises(CaseError, match="a RAW file has no branch like a SeriesAdmittance"):
        back(case)


def test_the_version_is_that_of_the_file_that_a_case_was_read_from(tmp_path):
    gc.save_case(raw.read(CODES), tmp_path / "old.raw")
    raw_write.write(raw.read(CODES), tmp_path / "new.raw", version=35)
    gc.save_case(raw.read(tmp_path / "new.raw"), tmp_path / "again.raw")
    versions = [raw.read(tmp_path / f"{name}.raw").about["source"][-2:] for name in ("old", "new", "again")]
    assert versions == ["33", "35", "35"]


@pytest.mark.parametrize(("reading", "wanted"), [(math.radians, 0.3), (lambda x: x / 100, 0.1 + 0.2)])
def test_a_number_is_found_that_is_read_as_what_is_wanted(reading, wanted):
    assert reading(inverse(reading, wanted, math.degrees(0.3) if reading is math.radians else 30.0)) == wanted
    assert inverse(float, math.inf, math.inf) == math.inf
    assert inverse_of_all(lambda x: (x[0] / 3, x[1] * 7), (1 / 3, 0.1 * 7), [1.0, 0.1]) == [1.0, 0.1]


# Files of others ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", [
    "kundur/11BUS_KUNDUR.raw", "kundur/Benchmark_4ger_33_2015.RAW", "npcc140/npcc.raw", "ieee39/ieee39.raw",
    "field/wecc240/240busWECC_2018_PSS33.raw", "field/raw_versions/IEEE_24_bus_rev35.raw",
    "field/raw_versions/ieee9_v36.raw", "field/raw_versions/ieee9_3WXfr.raw",
    "field/raw_versions/IEEE_14_bus_nodeBreaker_rev35.raw"])
def test_raw_files_come_back_as_the_same_system(name, back):
    case = raw.read(shared(name))
    assert system(back(case)) == system(case)


@pytest.mark.parametrize("pair", [
    ("kundur/kundur.raw", "kundur/kundur_full.dyr"), ("kundur/Benchmark_4ger_33_2015.RAW",),
    ("ieee39/IEEE39.raw", "ieee39/IEEE39.dyr"), ("npcc140/npcc.raw", "npcc140/npcc_full.dyr"),
    pytest.param(("activsg2000/ACTIVSg2000.RAW", "activsg2000/ACTIVSg2000_dynamics.dyr"), marks=pytest.mark.slow)])
def test_dyr_files_come_back_as_the_same_system(pair, tmp_path):
    case = gc.load_case(*map(shared, pair))
    gc.save_case(case, tmp_path / "x.raw")
    gc.save_case(case, tmp_path / "x.dyr")
    again = gc.load_case(tmp_path / "x.raw")
    assert {i.id: (i.model, i.values, i.words, i.ports, i.in_service) for i in validate(again).records} == {
        i.id: (i.model, i.values, i.words, i.ports, i.in_service) for i in validate(case).records}
    gc.save_case(again, tmp_path / "y.dyr")
    assert (tmp_path / "x.dyr").read_text() == (tmp_path / "y.dyr").read_text()


def test_values_in_a_unit_of_the_record_come_back(tmp_path):
    class MYGOV(gc.Device):
        """Adds a delay of no effect."""

        attaches = "machine"
        naming = "MY_{machine}"
        delay = gc.Param("s", doc="a time")
        gain = gc.Param("pu", 0.0, doc="what is added", drives="machine.Pm")
        dyr = ("delay cycles", "gain")

    with gc.registered(MYGOV):
        (tmp_path / "x.raw").write_text(CODES.read_text())
        genrou = "8.0 0.03 0.4 0.05 6.5 0 1.8 1.7 0.3 0.55 0.25 0.06 0.03 0.1"
        (tmp_path / "x.dyr").write_text(f"3 'GENROU' 1 {genrou} /\n3 'MYGOV' 1 7.3 0.25 /")
        case = gc.load_case(tmp_path / "x.raw")
        gc.save_case(case, tmp_path / "y.dyr")
        assert "3 'MYGOV' '1' 7.3 0.25 /" in (tmp_path / "y.dyr").read_text()
        case.set("MY_GEN3.delay", 0.1)
        gc.save_case(case, tmp_path / "y.dyr")
        assert "3 'MYGOV' '1' 5.0 0.25 /" in (tmp_path / "y.dyr").read_text()


@pytest.mark.parametrize("names", [
    ("GEN1", "GEN1_2"), ("A", "GEN1"), ("GEN1_7", "GEN1"), ("GEN1_a/b,c", "B"), ("GEN2", "GEN1_'")])
def test_whatever_elements_are_called_records_of_a_written_pair_belong_to_those_that_they_were_of(tmp_path, names):
    case = gc.Case("two machines at a bus")
    for number in (1, 2):
        case.add("Bus", id=number, kv=20)
    case.add("Transformer", id="T", bus1=1, bus2=2, x=0.1)
    case.add("OLTC1T", transformer="T", bus=2, VMA=1.05, VMI=0.95, TD=12)
    for k, (name, control) in enumerate(zip(names, ("slack", "PV"))):
        case.add("GENCLS", id=name, bus=1, control=control, P0=0.1 * (1 + k), H=4.0 + k, Xdp=0.2)
        case.add("FRQTPAT", id=f"RELAY{k}", bus=1, machine=name, FL=0.8, FU=1.2, TP=0.1, TB=0.1 * (1 + k))
    case.add("ZIP", id="town", bus=2, P0=0.1, pZ=1, pP=0)
    case.add("IEELBL", id="LOAD2", bus=2, P0=0.5, Q0=0.1, a1=1, a4=1, n1=2, n4=2)
    for suffix in ("raw", "dyr"):
        gc.save_case(case, tmp_path / f"x.{suffix}")
    again = gc.load_case(tmp_path / "x.raw")
    assert [(m.fields["P0"], m.fields["H"]) for m in again.of("GENCLS")] == [(0.1, 4.0), (0.2, 5.0)]
    assert [again[r.fields["machine"]].fields["H"] for r in again.of("FRQTPAT")] == [4.0, 5.0]
    assert [load.fields["P0"] for load in again.of("IEELBL")] == [0.5]
    assert [changer.fields["TD"] for changer in again.of("OLTC1T")] == [12]
    assert not any("skipped" in note for note in again.notes)


def test_devices_without_a_record_of_psse_are_named_in_a_remark(tmp_path):
    case = gc.load_case("wscc9")
    gc.save_case(case, tmp_path / "x.dyr")
    text = (tmp_path / "x.dyr").read_text()
    assert "// without a record of PSS/E, left out: GEN1" in text
    with pytest.raises(CaseError, match="adds to a case and is none by itself"):
        gc.load_case(tmp_path / "x.dyr")


def test_what_hangs_on_a_machine_without_a_record_goes_with_it_and_the_files_are_read(tmp_path):
    case = gc.load_case("kundur")
    case.add("FRQTPAT", id="FRQTPAT1", bus=3, machine="GEN1", FL=0.8, FU=1.2, TP=0.1, TB=0.1)
    machine = case["GEN1"]
    taken = {key: value for key, value in machine.fields.items() if key in ("id", "bus", "control", "P0", "V0", "Sn")}
    case.records[case.records.index(machine)] = Record(
        "TwoAxis", taken | {"H": 6.5, "Xd": 1.8, "Xdp": 0.3, "Xq": 1.7, "Xqp": 0.55, "Td0p": 8.0, "Tq0p": 0.4})
    gc.save_case(case, tmp_path / "x.raw")
    gc.save_case(case, tmp_path / "x.dyr")
    again = gc.load_case(tmp_path / "x.raw")
    hanging = {i.id for i in validate(case).records if {"GEN1", "EXC_GEN1"} & set(i.ports.values())} - {"FRQTPAT1"}
    assert len(hanging) > 1
    models = {"GENROU", *(case[id].model for id in hanging), "FRQTPAT"}
    assert {id for id in again.ids() if again[id].model in models} == {
        id for id in case.ids() if case[id].model in models} - hanging
    assert not any("skipped" in note for note in again.notes)
    assert f"// on such devices, and left out with them: {', '.join(id for id in case.ids() if id in hanging)}" in (
        tmp_path / "x.dyr").read_text()
