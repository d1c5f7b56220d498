"""PSLF dynamic data: what is in them is what a DYR file of the same system says."""

import pytest
from test_andes import RAW

import gridcore as gc
from gridcore.errors import CaseError

DYR = """\
1 'GENROU' 1 8.0 0.03 0.4 0.05 6.5 0 1.8 1.7 0.3 0.55 0.25 0.06 0.03 0.1 /
3 'GENCLS' 1 6.0 0.0 /
1 'SEXS' 1 0.1 10 100 0.05 0 5 /
1 'TGOV1' 1 0.05 0.5 1.0 0.0 2.1 7 0 /
"""
DYD = """\
# of the same system
genrou   1 "ONE   "  20.00 "1 " : #9 mva=200.0 8.0 0.03 0.4 0.05 6.5 0 1.8 1.7 0.3 0.55 0.25 0.06 0.03 0.1 0 0 0 0
gencls   3 ""        20.00 "1 " : #9 mva = 100.0 "h" 6.0 "d" 0.0 "ra" 0.0 "Lppd" 0.2
sexs     1 "ONE   "  20.00 "1 " : #9 "TATB" 0.1 "tb" 10 "k" 100 /
   "te" 0.05 "emin" 0 "emax" 5
tgov1    1 "ONE   "  20.00 "1 " : #9 mva=200.0 0.05 0.5 1.0 0.0 2.1 7 0
"""


@pytest.fixture
def read(tmp_path):
    def make(text, suffix=".dyd", **options):
        (tmp_path / "x.raw").write_text(RAW)
        (tmp_path / f"y{suffix}").write_text(text)
        return gc.load_case(tmp_path / "x.raw", tmp_path / f"y{suffix}", **options)
    return make


def test_records_say_what_those_of_psse_do(read):
    theirs = read(DYR, ".dyr")
    case = read(DYD)
    assert case.ids() == theirs.ids()
    for record, other in zip(case, theirs):
        assert (record.model, {"Rs": 0.0, **record.fields}) == (other.model, {"Rs": 0.0, **other.fields})
    gc.build(case)


def test_what_a_device_does_not_have_is_said_and_what_is_no_record_is_skipped(read):
    case = read(DYD.replace("0.1 0 0 0 0", "0.1 0 0 0.05 0") + "lcfb1 1 2 3\n")
    assert "y.dyd: xcomp of GENROU has no effect here: buses 1" in case.notes
    assert "y.dyd line 7: no record of a model at one bus, and skipped: lcfb1" in case.notes


def test_a_turbine_has_a_rating_of_its_own_and_one_that_cannot_have_it_is_told(read):
    GGOV1 = 'ggov1 1 "ONE" 20.0 "1" : #9 mwcap = 163 "rselect" 1 "flag" 0 "r" 0.04 "tpelec" 1 "kpgov" 10 "kigov" 2 ' \
            '"tact" 0.5 "kturb" 1.5'
    case = read(DYD.replace(DYD[DYD.index("tgov1"):], GGOV1))
    assert next(record for record in case if record.model == "GGOV1").fields["Trate"] == 163
    assert not any("mwcap" in note for note in case.notes)
    for given, told in (("mva=200.0", False), ("mva=180", True), ("mwcap= 180", True)):
        notes = read(DYD.replace("mva=200.0 0.05", f"{given} 0.05")).notes
        assert any("of TGOV1 has no effect here: its per unit is that of the machine's rating: buses 1" in note
                   for note in notes) == told


def test_lines_of_slashes_alone_are_no_records(read):
    assert list(read(f" /\n\n{DYD}/\n \n")) == list(read(DYD))


def test_models_are_dropped_and_substituted(read):
    case = read(DYD.replace("gencls ", "genqqq ").replace("tgov1", "tgov9"), drop=["TGOV9"],
                substitute={"GENQQQ": "GENCLS"})
    assert case["GEN3"].model == "GENCLS"
    assert "GOV_GEN1" not in case


@pytest.mark.parametrize(("text", "says"), [
    (DYD.replace("2.1 7 0", "2.1 7 0 3"), r"TGOV1 at bus 1 '1' \(line 6\): there are more than its 7 values"),
    (DYD.replace('"TATB" 0.1', "0.1"), r"SEXS at .*: the place of 0.1 is not known"),
    (DYD.replace('"tb" 10', '"tb" x'), r"field 'tb': 'x' is not a number"),
    (DYD.replace('"tb" 10', ""), r"field 'TB': missing: "),
    (DYD.replace("sexs", "sexy"), r"there is no device for SEXY \(1 records, buses 1\)"),
])
def test_a_malformed_record_is_told_with_its_place(read, text, says):
    with pytest.raises(CaseError, match=r"y\.dyd: .*" + says):
        read(text)
