"""DYR files: records become devices where they belong, and nothing happens in silence."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from shared_data import shared

import gridcore as gc
from gridcore.case import validate
from gridcore.commands.main import gridcore as command
from gridcore.errors import CaseError, DeviceError
from gridcore_readers import dyr_text

RAW = Path(__file__).parents[1] / "data" / "transformer_codes.raw"
GENROU = "8.0 0.03 0.4 0.05 6.5 0 1.8 1.7 0.3 0.55 0.25 0.06 0.03 0.1"
TEXT = f"""\
// machines
1 'GENROU' 1  {GENROU} / slack
3, 'GENROU ', 1, 8.0, 0.03, 0.4, 0.05,
   6.175, 0.0, 1.8, 1.7, 0.3, 0.55,
   0.25, 0.06, 0.03, 0.1 /USRWHT$
3 'IEEEST' 1 1 0 0 0 0 0 0 0 0.1 0.1 0.1 0.1 1.0 1.0 10.0 0.1 -0.1 0 0 /
3 "SEXS"  '1' 0.1 10 200 0.05 0 5 /
3 'TGOV1' 1 0.05 0.49 33 0.4 2.1 7 0 /
"""


@pytest.fixture
def read(tmp_path):
    def read(text=TEXT, raw="", **options):
        (tmp_path / "x.raw").write_text(raw or RAW.read_text())
        (tmp_path / "x.dyr").write_text(text)
        return gc.load_case(tmp_path / "x.raw", **options)
    return read


def models(case):
    return [record.model for record in case if record.file.endswith(".dyr")]


# Where records go -------------------------------------------------------------------------------------

def test_values_have_the_names_that_the_device_says(read):
    machine = read()["GEN1"]
    assert machine.model == "GENROU"
    names = ("Td0p", "Td0pp", "Tq0p", "Tq0pp", "H", "D", "Xd", "Xq", "Xdp", "Xqp", "Xdpp", "Xl", "S10", "S12")
    assert [machine.fields[name] for name in names] == [float(word) for word in GENROU.split()]
    assert (machine.row, Path(machine.file).name) == ("GENROU at bus 1 '1' (line 2)", "x.dyr")


def test_a_machine_keeps_what_the_power_flow_says_of_its_generator(read):
    static, machine = read(alone=True)["GEN3"].fields, read()["GEN3"].fields
    kept = ("bus", "control", "Sn", "P0", "Q0", "V0", "Qmin", "Qmax")
    assert [machine[key] for key in kept] == [static[key] for key in kept]


def test_the_impedance_of_the_source_goes_to_machines_whose_record_has_none(read):
    raw = RAW.read_text().replace("100.000, 0.00000E+0, 2.50000E-1", "100.000, 1.50000E-3, 2.50000E-1")
    fields = read(TEXT, raw)["GEN3"].fields
    assert (fields["Rs"], fields["Xdp"]) == (0.0015, 0.3)
    classical = read("3 'GENCLS' 1 5.0 1.0 /\n", raw)["GEN3"].fields
    assert (classical["Rs"], classical["Xdp"], classical["H"], classical["D"]) == (0.0015, 0.25, 5, 1)


def test_what_hangs_on_a_machine_finds_what_it_drives_whatever_the_order(read):
    case = read()
    assert {(r.model, r.fields.get("machine"), r.fields.get("exciter")) for r in case if r.model in
            ("SEXS", "TGOV1", "IEEEST")} == {("SEXS", "GEN3", None), ("TGOV1", "GEN3", None),
                                             ("IEEEST", None, "EXC_GEN3")}
    backwards = "".join(reversed(TEXT.splitlines(True)[5:])) + "".join(TEXT.splitlines(True)[:5])
    assert sorted(map(repr, read(backwards))) == sorted(map(repr, case))
    assert gc.build(case).operating_point.residual < 1e-9


def test_a_case_of_another_format_may_be_extended_and_a_matpower_file_counts_its_generators(tmp_path, read):
    case = read(alone=True)
    gc.save_case(case, tmp_path / "y.toml")
    there = gc.load_case(tmp_path / "y.toml", tmp_path / "x.dyr")
    assert sorted(map(repr, there)) == sorted(map(repr, read()))
    (tmp_path / "two.m").write_text("""mpc.baseMVA = 100;
        mpc.bus = [1 3 0 0 0 0 1 1 0 20 1 1.1 0.9; 2 1 50 10 0 0 1 1 0 20 1 1.1 0.9];
        mpc.gen = [1 20 0 99 -99 1 100 0 90 0; 1 20 0 99 -99 1 100 1 90 0; 1 30 0 99 -99 1 100 1 90 0];
        mpc.branch = [1 2 0 0.1 0 0 0 0 0 0 1 -360 360];""")
    (tmp_path / "two.dyr").write_text(f"1 'GENROU' 2 {GENROU} /\n1 'GENROE' 3 {GENROU} /")
    case = gc.load_case(tmp_path / "two.m", tmp_path / "two.dyr")
    assert {id: case[id].model for id in ("GEN1", "GEN1_2", "GEN1_3")} == {
        "GEN1": "StaticGenerator", "GEN1_2": "GENROU", "GEN1_3": "GENROE"}
    gc.build(case)


def test_a_model_of_another_plugin_is_read_like_any_other(read):
    class MYPSS(gc.Device):
        """Adds a constant to the reference."""

        attaches = "exciter"
        naming = "PSS_{exciter}"
        kind = gc.Field("a", choices=("a", "b", "2"))
        gain = gc.Param("pu", 0.0, doc="what is added", drives="exciter.Vs")
        dyr = ("kind", None, "gain")

    with gc.registered(MYPSS):
        line = next(line for line in TEXT.splitlines() if "IEEEST" in line)
        text = TEXT.replace(line, "3 'mypss' 1 b 7 0 /")
        case = read(text)
        assert case["PSS_EXC_GEN3"].fields == {"exciter": "EXC_GEN3", "kind": "b", "gain": 0.0}
        assert any("value 2 of MYPSS has no effect here: buses 3" in note for note in case.notes)
        user = read(text.replace("'mypss' 1 b 7 0", "'USRMDL' 1 'MYPSS' 3 0 1 2 0 0 2.0 0 0.5"))
        assert user["PSS_EXC_GEN3"].fields == {"exciter": "EXC_GEN3", "kind": "2", "gain": 0.5}


def test_a_machine_that_is_out_of_service_stays_so_with_all_that_hangs_on_it(read):
    raw = RAW.read_text().replace("2.50000E-1, 0.00000E+0, 0.00000E+0,1.00000,1,", "2.50000E-1, 0.0, 0.0,1.0,0,")
    case = read(raw=raw)
    assert (case["GEN3"].model, case["GEN3"].fields["status"]) == ("GENROU", 0)
    run = gc.simulate(gc.build(case), t_end=0.05)
    assert not run["EXC_GEN3", "status"].any()


# What is said ------------------------------------------------------------------------------------------

UNKNOWN = TEXT + "1 'GENQQQ2' 1 1 2 3 /\n3 'ESQQ' 1 0 /\n1 'ESQQ' 1 0 /\n"


def test_a_model_that_is_not_there_is_an_error_with_its_number_and_buses(read):
    with pytest.raises(CaseError) as caught:
        read(UNKNOWN)
    said = str(caught.value)
    assert "there is no device for GENQQQ2 (1 records, buses 1); ESQQ (2 records, buses 3, 1)" in said
    assert "--drop GENQQQ2 --drop ESQQ" in said
    with pytest.raises(CaseError, match="--substitute GENROX=GENROU"):
        read(TEXT.replace("'GENROU'", "'GENROX'"))


def test_a_model_that_is_not_there_is_left_out_with_a_note_if_that_is_tolerated(read):
    case = read(UNKNOWN, tolerate=True)
    assert ("left out, as tolerated: there is no device for GENQQQ2 (1 records, buses 1); ESQQ (2 records, buses 3, 1)"
            in case.notes)
    assert models(case) == models(read())


def test_a_record_of_another_bus_does_not_make_the_file_that_of_another_case(read):
    """One record has its place, and as many have none: a model that is not there, at a bus that is not there."""
    text = TEXT[:TEXT.index("3, 'GENROU")]
    assert models(read(text + "77 'GENQQQ2' 1 1 /\n")) == models(read(text)) == ["GENROU"]


def test_it_can_be_left_out_or_read_as_another_by_the_users_choice_which_stays_recorded(read, tmp_path):
    case = read(UNKNOWN.replace("1 'GENROU' 1", "1 'GENQRS' 1"), drop=["GENQQQ2", "esqq"],
                substitute={"GENQRS": "GENROU"})
    assert case["GEN1"].model == "GENROU"
    for note in ("ESQQ left out, as asked for: 2 records, buses 3, 1",
                 "GENQQQ2 left out, as asked for: 1 records, buses 1",
                 "GENQRS read as GENROU, as asked for: 1 records, buses 1"):
        assert note in case.notes
    run = gc.simulate(gc.build(case), t_end=0.02)
    run.save(tmp_path / "run.nc")
    assert "GENQRS read as GENROU, as asked for" in gc.load_run(tmp_path / "run.nc").system.case.about["notes"]


def test_the_choice_names_models_of_the_file(read):
    with pytest.raises(CaseError, match="has no model 'TGOV'; did you mean TGOV1"):
        read(drop=["TGOV"])
    with pytest.raises(CaseError, match=r"the record has 14 values, a TGOV1 7; these are too many"):
        read(substitute={"GENROU": "TGOV1"})


def test_what_loses_its_host_is_noted(read):
    case = read(drop=["SEXS"])
    assert "IEEEST" not in models(case)
    assert any("1 records skipped, for nothing there has the inputs that they drive: IEEEST at 3 '1'" in n
               for n in case.notes)


def test_controls_of_a_machine_that_takes_none_are_told_from_those_of_what_is_not_there(read):
    notes = read(f"1 'GENROU' 1 {GENROU} /\n3 'GENCLS' 1 5.0 1.0 /\n3 'SEXS' 1 0.1 10 200 0.05 0 5 /\n"
                 "3 'SEXS' 2 0.1 10 200 0.05 0 5 /\n").notes
    assert "x.dyr: 1 records skipped, for nothing there has the inputs that they drive: SEXS at 3 '1'" in notes
    assert "x.dyr: 1 records skipped, for what they act on is not in the case: SEXS at 3 '2'" in notes


def test_generators_without_a_machine_are_told(read):
    assert any(note == "1 generators in service have no machine model and inject constant power: buses 3"
               for note in read(TEXT[: TEXT.index("3, 'GENROU")]).notes)


def test_records_of_machines_that_are_not_there_are_told_and_a_file_of_another_case_is_refused(read):
    case = read(TEXT + f"3 'GENROU' 2 {GENROU} /\n99 'TGOV1' 1 0.05 0.49 33 0.4 2.1 7 0 /\n77 'GENQQQ2' 1 1 /\n")
    assert any("3 records skipped, for what they act on is not in the case: GENQQQ2 at 77 '1'; GENROU at 3 '2'; "
               "TGOV1 at 99 '1'" in note for note in case.notes)
    with pytest.raises(CaseError, match="no record belongs to a generator or load of the case"):
        read(f"98 'GENROU' 1 {GENROU} /\n")


def test_a_record_that_does_not_begin_with_a_bus_is_skipped_with_a_note(read):
    assert "x.dyr line 9: 'Line' is not the number of a bus, and the record is skipped" in read(
        TEXT + "   Line 'Toggle' Line_8     2.0  /\n").notes


def test_two_records_on_a_line_are_two_records(read):
    assert sorted(map(repr, read(TEXT.replace("/\n3 'TGOV1'", "/  3 'TGOV1'")))) == sorted(map(repr, read()))


def test_numbers_are_those_of_fortran_and_may_be_repeated(read):
    text = TEXT.replace("0.05 0.49 33 0.4 2.1 7 0", "0.05,4.9D-01 33 0.4 2.1 .7+1 0").replace(
        "0 0 0 0 0 0 0.1 0.1 0.1 0.1 1.0 1.0 10.0", "0 0 0, 3*0.0, 4*0.1 2*1.0 10.0")
    assert [record.fields for record in read(text)] == [record.fields for record in read()]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_no_record_is_lost_to_a_byte_order_mark_or_an_old_encoding(tmp_path, encoding):
    path = tmp_path / "x.dyr"
    path.write_bytes(("1 'GENROU' 1 2 / Bj\u00f6rk\n2 'TGOV1' 1 3 /\n").encode(encoding))
    assert [(m.bus, m.name) for m in dyr_text.read_models(path)[0]] == [(1, "GENROU"), (2, "TGOV1")]
    path.write_bytes(("1 'GENROU' 1 2 /\n".encode("utf-8-sig")) * 2)  # two files in one
    assert len(dyr_text.read_models(path)[0]) == 2


@pytest.mark.parametrize("remark", ["*** Machines of Bob's ***", "Area 'North\n 12 34 5", "machines: 1 2 3"])
def test_a_remark_without_a_slash_does_not_take_the_next_record_with_it(read, remark):
    case = read(TEXT.replace("3 'TGOV1'", f"{remark}\n3 'TGOV1'"))
    assert [record.fields for record in case] == [record.fields for record in read()]
    assert any("is not the number of a bus, and the record is skipped" in note for note in case.notes)


@pytest.mark.parametrize("record", ["3 'USRLOD' A 'MYLOAD' 12 1 0 2 0 0 1.5 2.5 /",
                                    "3 'USRBUS' 'MYLOAD' 12 1 0 2 0 0 1.5 2.5 /"])
def test_a_model_of_a_user_is_called_by_its_own_name(tmp_path, record):
    path = tmp_path / "x.dyr"
    path.write_text(record)
    (model,), _ = dyr_text.read_models(path)
    assert (model.name, model.values) == ("MYLOAD", ["1.5", "2.5"])


def test_a_saturation_that_is_zero_at_one_is_none_as_in_psse(read):
    case = read(TEXT.replace("0.03 0.1 / slack", "0 0.5 / slack"))
    assert (case["GEN1"].fields["S10"], case["GEN1"].fields["S12"]) == (0, 0)
    assert any("S(1.0) = 0 is no saturation, whatever S(1.2), as PSS/E has it: buses 1" in note for note in case.notes)


def test_values_that_a_record_leaves_out_are_the_defaults_of_its_model_and_said(read):
    case = read(TEXT.replace("0.4 2.1 7 0 /", "0.4 2.1 7 /"))
    assert case["GOV_GEN3"].fields == read()["GOV_GEN3"].fields
    assert "x.dyr: Dt of TGOV1 is not given, and its default, 0.0: buses 3" in case.notes


# What is tolerated --------------------------------------------------------------------------------------

def test_short_records_end_with_zeros_as_in_psse_if_that_is_tolerated(read):
    case = read(TEXT.replace("0.4 2.1 7 0 /", "0.4,,7 /"), tolerate=True)
    assert [case["GOV_GEN3"].fields[name] for name in ("T2", "T3", "Dt")] == [0, 7, 0]
    assert any("values of TGOV1 that are not given are zero" in note for note in case.notes)
    longer = read(TEXT.replace("2.1 7 0 /", "2.1 7 0 0 0 /"), tolerate=True)
    assert longer["GOV_GEN3"].fields == read()["GOV_GEN3"].fields


def test_what_makes_no_sense_is_ignored_before_its_device_if_that_is_tolerated(read):
    text = TEXT.replace("0.03 0.1 / slack", "0.3 0.1 / slack")
    with pytest.raises(CaseError, match="S10 must be below S12"):
        validate(read(text))
    case = read(text, tolerate=True)
    validate(case)
    assert case["GEN1"].fields["S10"] == case["GEN1"].fields["S12"] == 0
    assert any(note.startswith("as tolerated, the saturation ignored: ") and "GENROU at bus 1" in note
               for note in case.notes)


def test_a_record_that_cannot_be_read_is_left_out_if_that_is_tolerated(read):
    case = read(TEXT.replace("0.05 0.49 33 0.4", "0.05 0.49 3e 0.4"), tolerate=True)
    assert "GOV_GEN3" not in case
    assert any(note.startswith("left out, as tolerated: ") and "'3e' is not a number" in note for note in case.notes)


@pytest.mark.parametrize(("text", "says"), [
    (TEXT + "1 'TGOV1' 1 0.05 0.49\n", r"line 9: the file ends within this record"),
    (TEXT + "1 'TGOV1 1 0.05 0.49 /\n", r"line 9: a quote is not closed"),
    (TEXT + "1 'TGOV1' /\n", r"line 9: a record is 'bus, model, id, values /'"),
    (TEXT + "1 'TGOV1' 1 0.05 0.49 33 0.4 2.1 /\n",
     r"TGOV1 at bus 1 '1' \(line 9\): field 'T3': missing: the record has 5 values, a TGOV1 7, and there is no default "
     r"for T3"),
    (TEXT + "1 'TGOV1' 1 0.05 0.49 3e 0.4 2.1 7 0 /\n", r"\(line 9\): field 'VMAX': '3e' is not a number"),
    (TEXT + "1 'TGOV1' 1,0.05,,33,0.4,2.1,7,0 /\n", r"\(line 9\): field 'T1': missing"),
    (TEXT + "3 'TGOV1' 1 0.05 0.49 33 0.4 2.1 7 0 /\n", r"\(line 9\): TGOV1 at .* \(line 8\) drives GEN3\.Dt already"),
    (TEXT + f"3 'GENROU' 1 {GENROU} /\n", r"\(line 9\): 'GEN3' is a GENROU already"),
])
def test_a_malformed_file_is_told_with_its_place(read, text, says):
    with pytest.raises(CaseError, match=r"x\.dyr: .*" + says) as caught:
        read(text)
    assert "\n" not in str(caught.value)


def test_an_order_that_names_nothing_is_refused(read):
    wrong = type("TGOV1", (gc.Device,), {"dyr": ("R", None)})
    with gc.registered(wrong), pytest.raises(DeviceError, match=r"TGOV1: dyr: 'R' is not"):
        read()


# Files of others ---------------------------------------------------------------------------------------

PAIRS = {
    ("kundur/kundur.raw", "kundur/kundur_full.dyr"): {"GENROU": 4, "EXDC2": 4, "TGOV1": 4},
    ("kundur/11BUS_KUNDUR.raw", "kundur/11BUS_KUNDUR_TGOV.dyr"): {"GENROU": 4, "SEXS": 4, "TGOV1": 4},
    ("kundur/Benchmark_4ger_33_2015.RAW", "kundur/Benchmark_4ger_33_2015.dyr"): {"GENROE": 4, "ESST1A": 4},
    ("ieee39/IEEE39.raw", "ieee39/IEEE39.dyr"): {"GENROU": 10, "ESDC1A": 9, "TGOV1": 10},
    ("npcc140/npcc.raw", "npcc140/npcc_full.dyr"): {"GENROU": 27, "GENCLS": 21, "TGOV1": 29, "IEEEX1": 24},
    ("activsg200/case_ACTIVSg200.m", "activsg200/ACTIVSg200_dynamics.dyr"):
        {"GENROU": 49, "SEXS": 49, "TGOV1": 49, "COMPLOAD": 26},
    ("activsg2000/ACTIVSg2000.RAW", "activsg2000/ACTIVSg2000_dynamics.dyr"): {
        "GENROU": 410, "GENSAL": 25, "ESST4B": 278, "GGOV1": 367, "IEEEST": 434, "EXAC2": 38, "EXPIC1": 61,
        "ESAC6A": 7, "IEEEG1": 43, "EXAC1": 6, "SCRX": 5, "HYGOV": 25, "ESDC1A": 12, "ESAC1A": 4, "IEEET1": 23,
        "ESDC2A": 1},
}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: Path(pair[1]).stem)
def test_every_record_becomes_a_device(pair):
    case = gc.load_case(*map(shared, pair))
    found = models(case)
    assert {model: found.count(model) for model in PAIRS[pair]} == PAIRS[pair]
    assert len(found) == sum(PAIRS[pair].values())
    validate(case)
    assert not any("skipped, for what" in note for note in case.notes)


@pytest.mark.parametrize("pair", list(PAIRS)[:6], ids=lambda pair: Path(pair[1]).stem)
def test_converted_to_the_native_formats_a_case_is_the_same(pair, tmp_path):
    case = gc.load_case(*map(shared, pair))
    there = {i.id: (i.values, i.words, i.ports) for i in validate(case).records}
    for suffix in (".toml", ".xlsx"):
        gc.save_case(case, tmp_path / f"{case.name}{suffix}")
        back = gc.load_case(tmp_path / f"{case.name}{suffix}")
        assert {i.id: (i.values, i.words, i.ports) for i in validate(back).records} == there
        assert (back.about, back.base_mva, back.frequency) == (case.about, case.base_mva, case.frequency)


def test_activsg2000_has_1739_records():
    assert sum(PAIRS[next(reversed(PAIRS))].values()) == 1739


def test_a_pair_is_found_by_the_name_of_the_power_flow_file():
    assert len(gc.load_case(shared("kundur/Benchmark_4ger_33_2015.RAW")).of("GENROE")) == 4


# On the command line -----------------------------------------------------------------------------------

def test_options_and_notes_of_verbs(read, tmp_path, monkeypatch):
    read(UNKNOWN, alone=True)
    monkeypatch.chdir(tmp_path)
    call = CliRunner().invoke
    refused = call(command, ["pf", "x.raw"])
    assert refused.exit_code == 2
    assert "there is no device for GENQQQ2" in refused.stderr
    for options in (["--alone"], ["--drop", "GENQQQ2", "--drop", "ESQQ"],
                    ["--with", "x.dyr", "--drop", "GENQQQ2", "--substitute", "ESQQ=NIX"]):
        result = call(command, ["pf", "x.raw", *options])
        assert result.exit_code == (2 if "ESQQ=NIX" in options else 0)
    told = call(command, ["convert", "x.raw", "x.toml", "--drop", "GENQQQ2", "--drop", "ESQQ", "--loads", "I/Z"])
    assert "note: ESQQ left out, as asked for: 2 records, buses 3, 1" in told.stderr
    assert gc.load_case("x.toml")["LOAD2"].fields["pI"] == 1
    assert "is not MODEL=OTHER" in call(command, ["pf", "x.raw", "--substitute", "ESQQ"]).stderr


def test_the_verb_models_lists_what_a_file_asks_for(tmp_path):
    (tmp_path / "x.dyr").write_text(UNKNOWN)
    result = CliRunner().invoke(command, ["models", str(tmp_path / "x.dyr")])
    assert result.exit_code == 1
    assert "ESQQ     NO       2  buses 3, 1\n" in result.stdout
    assert "GENROU   yes      2  buses 1, 3\n" in result.stdout
    assert "8 records of 6 models, 2 of them without a device" in result.stdout
    assert dyr_text.read_models(tmp_path / "x.dyr")[0][0].values == GENROU.split()
