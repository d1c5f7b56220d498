"""Controls of a power flow act where they are asked for, and leave a solution that has them as it is."""

import numpy as np
import pytest
from click.testing import CliRunner
from shared_data import shared

import gridcore as gc
from gridcore.commands.main import gridcore as command
from gridcore.equilibrium import Dispatch
from gridcore.errors import CaseError
from gridcore_readers import raw
from gridcore_readers.controls import levels

TEXT = """\
0, 100.0, 33, 0, 1, 60.0
TITLE

1,'ONE', 20.0, 3, 1, 1, 1, 1.0, 0.0
2,'TWO', 20.0, 2, 1, 1, 1, 1.0, 0.0
3,'THREE', 20.0, 1, 1, 1, 1, 1.0, 0.0
4,'FOUR', 20.0, 1, 1, 1, 1, 1.0, 0.0
0
3,'1',1,1,1,20.0,15.0
4,'1',1,1,1,20.0,25.0
0
0
1,'1',20.0,0.0,99,-99,1.0,0,100,0,0.2
2,'1',20.0,0.0,99,-99,1.01,3,100,0,0.2
0
1,2,'1',0.0,0.1,0.0
2,3,'1',0.0,0.1,0.0
1,4,'1',0.0,0.2,0.0
0
0
0
0
0
0
0
0
0
0
0
0
4,{mode},0,1,{high},{low},{target},100.0,'',0.0,1,-10.0,3,10.0
0
"""


@pytest.fixture
def read(tmp_path):
    def read(mode=0, low=0.99, high=1.0, target=0, **options):
        (tmp_path / "x.raw").write_text(TEXT.format(mode=mode, low=low, high=high, target=target))
        return raw.read(tmp_path / "x.raw", **options)
    return read


def voltage(case, bus):
    system = gc.build(case, initialise=False)
    dispatch = Dispatch(system.system, system.Z0.copy())
    return dict(zip(dispatch.ids, abs(dispatch.solve(False).V)))[f"BUS{bus}"]


def test_a_generator_holds_the_voltage_of_another_bus_if_asked_to(read):
    assert voltage(read(), 3) < 0.999
    case = read(controls=True)
    assert voltage(case, 3) == pytest.approx(1.01, abs=2e-6)
    assert case["GEN2"].fields["V0"] > 1.01
    assert "generators hold the voltages of other buses by set-points of their own: buses 3" in case.notes
    assert not any("hold their own" in note for note in case.notes)


def test_a_facts_device_holds_the_voltage_of_another_bus_likewise(read, monkeypatch):
    monkeypatch.setitem(globals(), "TEXT", TEXT.replace("'TWO', 20.0, 2", "'TWO', 20.0, 1").replace(
        "0\n4,{mode}", "'F',3,0,1,0,0,1.02,50,,,,,,,,,,,,2\n0\n4,{mode}"))
    assert voltage(read(), 2) < 1.01
    case = read(controls=True)
    assert voltage(case, 2) == pytest.approx(1.02, abs=2e-6)
    assert "generators hold the voltages of other buses by set-points of their own: buses 2" in case.notes


def test_a_shunt_without_steps_of_its_own_brings_the_voltage_to_the_edge_of_its_band(read):
    assert voltage(read(), 4) < 0.95
    case = read(2, controls=True)
    assert voltage(case, 4) == pytest.approx(0.99, abs=2e-6)
    assert 0.2 < case["SWITCHED4"].fields["b"] < 0.3
    assert any(note.startswith("switched shunts are where their bands have them: SWITCHED4") for note in case.notes)


@pytest.mark.parametrize(("low", "high", "b"), [
    (0.975, 0.995, 0.2), (0.9, 1.1, 0.0), (1.05, 1.1, 0.3), (0.8, 0.9, -0.1)])
def test_a_shunt_with_steps_goes_as_far_as_its_band_asks_and_its_steps_reach(read, low, high, b):
    assert read(1, low, high, controls=True)["SWITCHED4"].fields["b"] == pytest.approx(b, abs=1e-12)


def test_without_the_option_all_stays_as_it_is_in_the_file(read):
    case = read(1)
    assert case["SWITCHED4"].fields["b"] == 0
    assert "switched shunts stay as they are at t0: 4" in case.notes


def test_a_shunt_that_controls_no_voltage_is_not_said_to_be_where_its_band_has_it(read, monkeypatch):
    for case in (read(0, controls=True), read(3, controls=True)):
        assert "switched shunts stay as they are at t0: 4" in case.notes
        assert not any("their bands" in note for note in case.notes)
    with pytest.raises(CaseError, match=r"switched shunt row 1 \(line \d+\): field 'SWREM': there is no bus 77"):
        read(1, target=77, controls=True)
    with pytest.raises(CaseError, match=r"switched shunt row 1 .*field 'VSWHI': must not be below VSWLO, 0.99 pu"):
        read(1, high=0.9, controls=True)
    monkeypatch.setitem(globals(), "TEXT", TEXT.replace("'THREE', 20.0, 1", "'THREE', 20.0, 4"))
    assert "switched shunts stay as they are at t0: 4" in read(1, target=3, controls=True).notes


def test_steps_are_those_of_blocks_switched_one_after_the_other():
    assert levels([(2, 0.5), (1, -0.25), (1, 2.0)]) == [-0.25, 0.0, 0.5, 1.0, 3.0]
    assert levels([]) == [0.0]


def test_a_power_flow_that_is_not_there_is_said(read, monkeypatch):
    monkeypatch.setattr("gridcore_readers.controls.Dispatch.solve", _diverges)
    case = read(2, controls=True)
    assert case["SWITCHED4"].fields["b"] == 0
    assert any(note.startswith("the controls of the power flow find none, and stay as they are") for note in case.notes)


def _diverges(*_):
    raise gc.errors.PowerFlowError("the power flow diverges")


def test_the_option_is_one_of_the_verbs_too(read, tmp_path):
    read(2)
    told = CliRunner().invoke(command, ["pf", str(tmp_path / "x.raw"), "--alone", "--controls"])
    assert told.exit_code == 0
    assert "note: switched shunts are where their bands have them: SWITCHED4" in told.stderr


def test_a_solution_that_holds_them_stays_as_it_is():
    """52 remote buses."""
    path = shared("field/wecc240/240busWECC_2018_PSS33.raw")
    before, after = raw.read(path), raw.read(path, controls=True)
    for one, other in zip(before, after):
        for key in one.fields.keys() & {"V0", "b", "Vm0"}:
            assert np.isclose(one.fields[key], other.fields[key], rtol=0, atol=2e-5)
    assert any(note.endswith("(52 in all)") and "by set-points of their own" in note for note in after.notes)
