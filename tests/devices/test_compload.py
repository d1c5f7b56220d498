"""Composite load: its motor against the circuits of its windings, and what the whole draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from standalone import Alone

import gridcore as gc
from gridcore.errors import GridcoreError
from gridcore_devices import COMPLOAD

# a record of ACTIVSg200_dynamics.dyr
DATA = dict(PL=20.0, QL=20.0, IP=20.0, IQ=20.0, YP=30.0, YQ=60.0, RA=0.078, XA=0.065, XM=2.67, R1=0.044, X1=0.049,
            H=1.069, VI=0.7, TI=20 / 60, TB=2 / 60, D=1.0)


V = 1.01 * np.exp(0.2j)


def at_rest(V=V, **values):
    load = Alone(COMPLOAD, **(DATA | dict(P0=0.4, Q0=0.1) | values), bus=V)
    return load.but(**load.start())


@given(st.floats(0, 40), st.floats(0, 30), st.floats(0, 30), st.floats(0.5, 2), st.floats(0.9, 1.1),
       st.floats(-0.3, 0.4))
def test_start_is_the_equilibrium_and_draws_the_load_of_the_power_flow(PL, IP, YP, scale, V, Q0):
    load = at_rest(V * np.exp(0.4j), PL=PL, IP=IP, YP=YP, PMULT=scale * 1.2, P0=0.3 * scale, Q0=Q0)
    assert_allclose(load.rates(), 0, atol=1e-11)
    assert_allclose([load["P"], load["Q"]], [0.3 * scale, Q0], rtol=1e-12, atol=1e-13)
    for name in ("V0", "Tm", "B"):
        assert_allclose(load.scope.call(COMPLOAD.declares.setpoints[name].equals), load[name], rtol=1e-11, atol=1e-13)


def test_motor_in_steady_state_is_its_equivalent_circuit():
    """Kundur (1994), figure 7.5: R1/slip behind the magnetising reactance; the smaller of the two slips."""
    load, d = at_rest(), DATA
    rotor = d["R1"] / load["slip"] + 1j * d["X1"]
    Z = d["RA"] + 1j * d["XA"] + 1j * d["XM"] * rotor / (1j * d["XM"] + rotor)
    power = 1.01**2 / np.conj(Z)
    assert_allclose([load["drawn_P"], load["drawn_Q"]], [power.real, power.imag], rtol=1e-12)
    assert power.real * 0.4 == pytest.approx(0.3 * 0.4)
    assert 0 < load["slip"] < 0.05


def test_without_a_motor_it_is_the_static_load():
    load = at_rest(PL=30.0, IP=30.0, YP=40.0)
    low = load.but(**{"bus.Vr": 0.9, "bus.Vi": 0.0})
    v = 0.9 / 1.01
    assert low["P"] == pytest.approx(0.4 * (0.3 + 0.3 * v + 0.4 * v * v))
    assert low["Q"] == pytest.approx(0.1 * (0.2 + 0.2 * v + 0.6 * v * v))
    assert_allclose(load.rates(), 0)


def circuits(d, V, Tm):
    """Stator and cage as coupled coils, in the network's frame: flux of the cage and slip; no stator dynamics."""
    def currents(flux):
        coils = np.array([[d["RA"] + 1j * (d["XA"] + d["XM"]), 1j * d["XM"]], [d["XM"], d["X1"] + d["XM"]]])
        return np.linalg.solve(coils, [V, flux])

    def slope(t, x):
        flux, slip = x[0] + 1j * x[1], x[2]
        stator, cage = currents(flux)
        turn = -120 * np.pi * (d["R1"] * cage + 1j * slip * flux)
        torque = d["XM"] * (stator * np.conj(cage)).imag
        return [turn.real, turn.imag, (Tm * (1 - slip) ** d["D"] - torque) / (2 * d["H"])]

    return slope, currents


def fed(*events, **values):
    case = gc.Case("load")
    case.add(gc.Record("Bus", {"id": 1}))
    case.add(gc.Record("InfiniteBus", {"id": "INF", "bus": 1, "control": "slack"}))
    case.add(gc.Record("COMPLOAD", {"id": "L", "bus": 1, "P0": 0.4, "Q0": 0.1, **DATA, **values}))
    for event in events:
        case.add(event)
    return case


@pytest.mark.parametrize("factor", [0.8, 0.3])
def test_motor_after_a_step_of_voltage_is_the_circuits_of_its_windings(factor):
    run = gc.simulate(gc.build(fed(gc.ParameterStep(id="step", parameter="INF.E", t=0.0, scale=factor), VI=0.0)),
                      t_end=0.6, step=2.5e-4)
    d, start = DATA, {name: run["L", name][0] for name in ("slip", "Er", "Ei", "Tm")}
    flux = (start["Er"] + 1j * start["Ei"]) * (d["X1"] + d["XM"]) / (1j * d["XM"])
    before, _ = circuits(d, 1.0, start["Tm"])
    assert_allclose(before(0.0, [flux.real, flux.imag, start["slip"]]), 0, atol=1e-10)
    slope, currents = circuits(d, factor, start["Tm"])
    late = run.t > 0
    solved = solve_ivp(slope, (0, 0.6), [flux.real, flux.imag, start["slip"]], rtol=1e-10, atol=1e-12,
                       t_eval=run.t[late])
    expected = np.array([factor * np.conj(currents(a + 1j * b)[0]) for a, b in solved.y[:2].T])
    for name, values in (("slip", solved.y[2]), ("drawn_P", expected.real), ("drawn_Q", expected.imag)):
        assert np.ptp(values) > 3e-3, name
        assert_allclose(run["L", name][late], values, atol=1e-4 * np.ptp(values), err_msg=name)


def test_motor_is_disconnected_when_the_voltage_stays_low_and_not_before():
    short, long = (gc.simulate(gc.build(fed(
        gc.ParameterStep(id="down", parameter="INF.E", t=0.1, scale=0.6),
        gc.ParameterStep(id="up", parameter="INF.E", t=0.1 + duration, scale=1 / 0.6))), t_end=1.0, step=0.005)
        for duration in (0.3, 0.5))
    assert (short["L", "motor"] == 1).all()
    tripped = [event.t for event in long.events if event.item == "trips" and event.kind == "switch"]
    assert_allclose(tripped, [0.1 + 20 / 60 + 2 / 60], atol=1e-9)
    after = long.t > 0.7
    assert_allclose(long["L", "P"][after], 0.7 * 0.4, rtol=1e-12)
    assert_allclose(long["L", "Q"][after], 0.1, rtol=1e-12)
    assert np.ptp(long["L", "slip"][after]) == 0


def test_without_a_motor_no_relay_acts():
    sag = gc.ParameterStep(id="down", parameter="INF.E", t=0.1, scale=0.6)
    run = gc.simulate(gc.build(fed(sag, PL=30.0, IP=30.0, YP=40.0)), t_end=1.0, step=0.01)
    assert run["BUS1", "Vm"][-1] < run["L", "VI"][-1]
    assert not [event for event in run.events if event.device == "L"]


@pytest.mark.parametrize(("change", "word"), [
    (dict(PL=60.0), "100"), (dict(R2=0.1), "cages"), (dict(SE2=0.2), "saturation"), (dict(MBASE=20.0), "MBASE"),
    (dict(P0=-0.1), "P0")])
def test_what_is_not_modelled_is_refused(change, word):
    with pytest.raises(GridcoreError, match=word):
        gc.build(fed(**change))
