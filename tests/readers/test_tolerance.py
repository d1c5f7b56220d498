"""What makes no sense is put aside: a limit or a saturation before a device, each with a note."""

import pytest
from click.testing import CliRunner

import gridcore as gc
from gridcore.case import validate
from gridcore.commands.main import gridcore as command
from gridcore_readers.tolerance import found, mend


@pytest.fixture
def case():
    made = gc.Case("x")
    made.add("Bus", id=1)
    made.add("Bus", id=2)
    made.add("Line", bus1=1, bus2=2, x=0.1)
    made.add("StaticGenerator", bus=1, control="slack", P0=0.1)
    for n, record in enumerate(made):
        record.file, record.row = "x.raw", f"row {n}"
    return made


def test_a_sound_case_is_left_as_it_is(case):
    before = case.copy()
    mend(case)
    assert case == before


@pytest.mark.parametrize(("fields", "gone", "says"), [
    ({"Qmin": 2.0, "Qmax": 1.0}, ("Qmin", "Qmax"), "as tolerated, Qmin and Qmax ignored: "),
    ({"Vlow": -1.0}, ("Vlow",), "as tolerated, Vlow ignored: "),
])
def test_limits_that_make_no_sense_are_ignored(case, fields, gone, says):
    case["GEN1"].fields.update(fields)
    mend(case)
    validate(case)
    assert not set(gone) & case["GEN1"].fields.keys()
    assert case.notes[0].startswith(says)


def test_of_a_machine_with_another_fault_the_saturation_goes_first_and_then_itself(case):
    case.add("GENROU", bus=2, id="M", H=3.0, Td0p=6.5, Td0pp=0.03, Tq0p=0.4, Tq0pp=0.05, Xd=1.8, Xq=1.7, Xdp=0.3,
             Xqp=0.55, Xdpp=0.25, Xl=0.3, S10=0.05, S12=0.4)
    case["M"].row = "GENROU at bus 2"
    mend(case)
    assert "M" not in case
    assert [note.partition(":")[0] for note in case.notes] == [
        "as tolerated, the saturation ignored", "as tolerated, the GENROU left out"]


def test_what_cannot_be_is_left_out_with_what_hangs_on_it(case):
    case["LINE1-2"].fields["bus2"] = 7
    case["GEN1"].fields["P0"] = "many"
    mend(case)
    assert case.ids() == ["BUS1", "BUS2"] or case["GEN1"].fields.get("P0") is None
    assert any(note.startswith("as tolerated, the Line left out: ") for note in case.notes)


def test_all_faults_are_told_where_other_verbs_tell_the_first(case, tmp_path):
    case["LINE1-2"].fields["x"] = "much"
    case["GEN1"].fields["P0"] = "many"
    assert len(found(case)) == 2
    assert len(case) == 4
    gc.save_case(case, tmp_path / "x.toml")
    told = CliRunner().invoke(command, ["faults", str(tmp_path / "x.toml")])
    assert told.exit_code == 1
    assert "field 'x'" in told.stdout
    assert "field 'P0'" in told.stdout
    assert "2 faults" in told.stdout
    assert "more)" not in told.stdout
