"""Induction machines of RAW files take what their buses lack in the file's solution, or nothing is made of them."""

import cmath
import math

import pytest

from gridcore.errors import CaseError
from gridcore_readers import raw

V2 = cmath.rect(0.98, math.radians(-2.0))  # pu, behind a reactance of 0.1 pu from 1 pu
TAKEN = 100 * V2 * ((1 - V2) / 0.1j).conjugate()  # MVA
TEXT = """\
0, 100.0, 33, 0, 1, 60.0
TITLE

1,'ONE', 20.0, 3, 1, 1, 1, 1.0, 0.0
2,'TWO', 20.0, 1, 1, 1, 1, 0.98, -2.0
0 / END OF BUS DATA
0 / END OF LOAD DATA
0 / END OF FIXED SHUNT DATA
1,'1',10.0,5.0,99,-99,1.0,0,100,0,0.2,0,0,1,1
0 / END OF GENERATOR DATA
1,2,'1',0.0,0.1,0.0,0,0,0,0,0,0,0,1
""" + 14 * "0\n"


@pytest.fixture
def read(tmp_path):
    def read(*machines, **options):
        (tmp_path / "x.raw").write_text(TEXT + "".join(f"{machine}\n" for machine in machines) + "0\nQ\n")
        case = raw.read(tmp_path / "x.raw", **options)
        found = (record.fields for record in case.of("StaticGenerator"))
        return {fields["id"]: fields for fields in found if "id" in fields}, case
    return read


def machine(PC, PSET, ID="1", status=1):
    return f"2,'{ID}',{status},1,2,1,1,1,1,1,40.0,20.0,{PC},{PSET}"


@pytest.mark.parametrize(("PC", "PSET", "P"), [
    (1, TAKEN.real / 1.05, TAKEN.real), (2, TAKEN.real + 0.3, TAKEN.real + 0.3)])  # of its shaft, and its own
def test_a_machine_takes_what_its_bus_lacks(read, PC, PSET, P):
    made, case = read(machine(PC, PSET))
    assert made["INDUCTION2"] == {"id": "INDUCTION2", "bus": 2, "control": "PQ", "Sn": 40.0,
                                  "P0": pytest.approx(-P / 100, abs=1e-9),
                                  "Q0": pytest.approx(-TAKEN.imag / 100, abs=1e-9)}
    assert "induction machines are constant power, what their buses lack in the file's solution: buses 2" in case.notes


def test_machines_out_of_service_or_dropped_take_nothing(read):
    assert read(machine(1, 30.0, status=0))[0] == {}
    assert read(machine(1, 30.0), drop=["induction machine"])[0] == {}


@pytest.mark.parametrize(("machines", "says"), [
    ([machine(2, TAKEN.real - 5)], "field 'PSET': the file's solution is none with this machine: its bus lacks -34.2"),
    ([machine(1, TAKEN.real / 1.5)], "field 'PSET': the file's solution is none"),
    ([machine(1, TAKEN.real * 1.1)], "field 'PSET': the file's solution is none"),
    ([machine(1, 15.0), machine(1, 15.0, "2")], "is not known, beside induction machine row 1"),
])
def test_a_machine_that_the_solution_does_not_speak_for_is_told_and_tolerated(read, machines, says):
    with pytest.raises(CaseError, match=says):
        read(*machines)
    assert any(says in note for note in read(*machines, tolerate=True)[1].notes)


def test_a_machine_that_would_have_to_give_reactive_power_is_told(read):
    with pytest.raises(CaseError, match="the file's solution is none with this machine"):
        read("1,'1',1,1,2,1,1,1,1,1,40.0,20.0,1,5.0")
