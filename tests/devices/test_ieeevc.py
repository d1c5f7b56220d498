"""IEEEVC: what an exciter senses with it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from workbench import BenchMachine, built

import gridcore as gc
import gridcore_devices
from gridcore_conformance.testbed import testbed

SEXS = dict(TATB=0.1, TB=10.0, K=100.0, TE=0.05, EMIN=-3.0, EMAX=4.0)
SCRX = SEXS | dict(CSWITCH=1.0)
IEEET1 = dict(TR=0.02, KA=50.0, TA=0.05, VRMAX=7.5, VRMIN=-7.0, KE=1.0, TE=0.5, KF=0.05, TF=1.0)
EXST1 = dict(TR=0.01, KA=150.0, TA=0.02, VRMAX=9.0, VRMIN=-9.0)
EXCITERS = {"SEXS": SEXS, "SCRX": SCRX, "IEEET1": IEEET1, "EXST1": EXST1}


@pytest.fixture(autouse=True)
def bench_machine():
    with testbed(BenchMachine):
        yield


def compensated(name, steps=(), **values):
    return built(getattr(gridcore_devices, name), EXCITERS[name], steps=steps,
                 more=[gc.Record("IEEEVC", {"id": "COMP", "exciter": "EXC", **values})])


def voltage(Id, Iq, RC, XC):
    """|V + (RC + j XC) I| of the bench, in the frame of its rotor."""
    return abs(np.exp(1j * (np.pi / 2 - 0.5)) + (RC + 1j * XC) * (Id + 1j * Iq))


@pytest.mark.parametrize("name", EXCITERS)
def test_an_exciter_answers_to_the_current_as_to_the_voltage_that_its_impedance_drops(name):
    """A step of current moves what is sensed, and the field, as the same step of the reference does downwards."""
    RC, XC = 0.02, 0.06
    moved = voltage(0.55, 0.62, RC, XC) - voltage(0.5, 0.6, RC, XC)
    run = gc.simulate(compensated(name, [(0.1, "Id", 0.05), (0.1, "Iq", 0.02)], RC=RC, XC=XC), t_end=0.8, step=0.01)
    assert_allclose(run["COMP", "Vc"][[0, -1]], [voltage(0.5, 0.6, RC, XC) - 1, voltage(0.55, 0.62, RC, XC) - 1],
                    rtol=1e-12)
    plain = gc.simulate(compensated(name, [(0.1, "V", moved)]), t_end=0.8, step=0.01)
    assert np.ptp(run["EXC", "Efd"]) > 0.03
    late = run.t > 0.1
    assert_allclose(run["EXC", "Efd"][late], plain["EXC", "Efd"][plain.t > 0.1], atol=1e-9)


def test_a_machine_with_compensation_holds_the_voltage_behind_its_transformer():
    """High gain, XC = -0.08: the sensed voltage stays, the terminal voltage rises with the reactive current drawn."""
    case = gc.Case("behind a transformer", base_mva=100)
    for number in (1, 2, 3):
        case.add("Bus", id=number)
    case.add("InfiniteBus", bus=1, control="slack")
    case.add("Line", bus1=1, bus2=2, x=0.3)
    case.add("Line", bus1=2, bus2=3, x=0.1)
    case.add("GENROU", bus=3, P0=0.5, V0=1.02, H=4.0, Xd=1.8, Xq=1.7, Xdp=0.3, Xqp=0.5, Xdpp=0.25, Xl=0.2, Td0p=6.0,
             Td0pp=0.03, Tq0p=0.5, Tq0pp=0.05)
    case.add("SEXS", machine="GEN3", TATB=0.1, TB=10.0, K=500.0, TE=0.02, EMIN=-9.0, EMAX=9.0)
    case.add("IEEEVC", exciter="EXC_GEN3", XC=-0.08)
    case.add("TGOV1", machine="GEN3", R=0.05, T1=0.5, T2=2.0, T3=7.0, VMIN=0.0, VMAX=1.2, Dt=20.0)
    case.add("ParameterStep", id="step", parameter="INF1.E", t=0.1, by=-0.03)
    run = gc.simulate(case, 60.0, 0.02)
    sensed = run["BUS3", "Vm"] + run["COMP_EXC_GEN3", "Vc"]
    assert abs(sensed[-1] - sensed[0]) < 1e-3
    assert run["BUS3", "Vm"][-1] - run["BUS3", "Vm"][0] > 2e-3
