"""Buses between which a power-flow file has no impedance: one bus by several numbers."""

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError
from gridcore_readers import raw

FILE = """\
0, 100.0, 33, 0, 1, 60.0 /
THREE BUSES AND TWO BARS

1,'ONE', 20.0, 3, 1, 1, 1, 1.02, 0.0
2,'TWO', 20.0, 1, 1, 1, 1, 1.0, -1.0
3,'BAR', 20.0, 1, 1, 1, 1, 1.0, -1.0
4,'GEN', 20.0, 2, 1, 1, 1, 1.0, -1.0
0 /
3,'1',1,1,1,50.0,10.0
0 /
2,'1',1,0.0,19.0
0 /
1,'1',10.0,5.0,99,-99,1.02,0,100,0,0.2,0,0,1,1
4,'1',20.0,5.0,99,-99,1.01,0,100,0,0.2,0,0,1,1
0 /
1,2,'1',0.01,0.1,0.02
2,3,'1',0.0,{x},0.04
3,4,'1',0.0,0.0001,0.0
2,4,'2',0.01,0.1,0.02
1,4,'1',0.0,0.0,0.0,0,0,0,0,0,0,0,0
0 /
0 /
0 /
0 /
0 /
0 /
0 /
0 /
0 /
0 /
0 /
0 /
0 /
0 /
0 /
Q
"""
DYR = "1 'GENCLS' 1 3.0 0.0 /\n4 'GENCLS' 1 3.0 0.0 /\n"


@pytest.fixture
def read(tmp_path):
    def make(text=FILE, x="0.0"):
        path = tmp_path / "x.raw"
        path.write_text(text.format(x=x))
        return raw.read(path)
    return make


def test_a_branch_without_impedance_makes_one_bus_of_two_and_it_is_said(read):
    case = read()
    assert [record.fields["id"] for record in case.of("Bus")] == [1, 4]  # the one whose voltage is held
    assert [(record.fields["id"], record.fields["bus"], record.fields["label"]) for record in case.of("JoinedBus")] == [
        ("BUS2", 4, "TWO"), ("BUS3", 4, "BAR")]
    assert any("are one, by either number: 2 = 4, 3 = 4" in note for note in case.notes)
    assert "LINE2-3" not in case
    assert "LINE3-4" not in case
    assert case["LINE1-4"].fields["status"] == 0
    assert case["LOAD3"].fields["bus"] == 3


@pytest.mark.parametrize(("x", "joined"), [("0.0001", True), ("-1e-4", True), ("2.8e-17", True), ("0.000101", False)])
def test_a_line_without_resistance_has_no_impedance_up_to_the_threshold_of_the_file(read, x, joined):
    assert ("LINE2-3" not in read(x=x)) is joined


def test_a_branch_between_two_numbers_of_one_bus_is_what_it_draws_there(read):
    case = read()
    assert case["SHUNT2_LINE2-3"].fields == {"id": "SHUNT2_LINE2-3", "bus": 2, "g": 0.0, "b": 0.04}
    assert case["SHUNT2_LINE2-4_2"].fields["b"] == 0.02


def test_the_power_flow_is_that_of_ever_smaller_impedances(read):
    def voltages(z):
        text = FILE.replace("2,3,'1',0.0", f"2,3,'1',{z}").replace("3,4,'1',0.0,0.0001", f"3,4,'1',{z},0.0")
        system = gc.build(read(text, x="0.0"))
        return system.Z0[[system.layout.address(f"BUS{bus}.{part}") for bus in (1, 4) for part in ("Vr", "Vi")]]

    joined, near, far = voltages("0.0"), voltages("2e-6"), voltages("1e-4")
    assert 0 < abs(near - joined).max() < 0.03 * abs(far - joined).max() < 1e-4


def test_loads_machines_faults_and_results_go_by_either_number(read, tmp_path):
    def run(bus):
        read()
        (tmp_path / "x.dyr").write_text(DYR)
        case = gc.load_case(tmp_path / "x.raw")
        case.add_event(gc.BusFault(bus=bus, t=0.1, clear=0.15))
        return gc.simulate(gc.build(case), t_end=0.3)

    runs = [run(bus) for bus in (2, 3, 4)]
    assert runs[0]["GEN4", "delta"][-1] != runs[0]["GEN4", "delta"][0]
    for other in runs[1:]:
        assert np.array_equal(runs[0]["GEN4", "delta"], other["GEN4", "delta"])
    assert np.array_equal(runs[0]["BUS2", "Vm"], runs[0]["BUS4", "Vm"])


def test_what_is_no_bus_and_no_name_of_one_is_refused(read):
    case = read()
    case.add_event(gc.BusFault(bus="LOAD3", t=0.1))
    with pytest.raises(CaseError, match="there is no bus 'LOAD3'"):
        gc.build(case)
    ring = read()
    ring["BUS2"].fields["bus"] = 3
    with pytest.raises(CaseError, match="there is no bus 'BUS3'"):
        gc.build(ring)


@pytest.mark.parametrize("suffix", [".raw", ".toml"])
def test_numbers_of_one_bus_come_back(read, tmp_path, suffix):
    case = read()
    gc.save_case(case, tmp_path / f"y{suffix}")
    again = gc.load_case(tmp_path / f"y{suffix}", alone=True)
    assert sorted((record.model, str(record.fields)) for record in again) == sorted(
        (record.model, str(record.fields)) for record in case)


def test_a_line_that_is_below_the_threshold_only_in_the_file_that_is_written_comes_back(tmp_path):
    case = gc.load_case("smib")
    line = next(record for record in case if record.model == "Line")
    line.fields |= {"r": 0.0, "x": 1e-4}
    gc.save_case(case, tmp_path / "y.raw")
    again = gc.load_case(tmp_path / "y.raw", alone=True)
    assert next(record.fields["x"] for record in again.of("Line")) == 1e-4
    assert not [record for record in again if record.model == "JoinedBus"]


def test_a_machine_at_a_further_number_of_a_bus_is_written_there(tmp_path):
    text = FILE.format(x="0.0").replace("4,'1',20.0", "3,'1',20.0").replace("4,'GEN', 20.0, 2", "4,'GEN', 20.0, 1")
    (tmp_path / "x.raw").write_text(text)
    (tmp_path / "x.dyr").write_text(DYR.replace("4 'GENCLS'", "3 'GENCLS'"))
    case = gc.load_case(tmp_path / "x.raw")
    assert case["BUS3"].model == "JoinedBus"
    assert case["GEN3"].model == "GENCLS"
    for suffix in (".raw", ".dyr"):
        gc.save_case(case, tmp_path / f"y{suffix}")
    again = gc.load_case(tmp_path / "y.raw")
    assert again["GEN3"].fields == case["GEN3"].fields
