"""A part of ieee39, a machine with its controls behind a bus, driven by what the whole of it has there."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import gridcore as gc
from gridcore_estimation import Measurements

BUS, LINE = "BUS29", "TRANSFORMER29-38"
PART = (BUS, "BUS38", LINE, "GEN38", "EXC_GEN38", "GOV_GEN38")
T_END = 3.0


def whole(*events):
    case = gc.load_case("ieee39")
    for id in ("trip", "fault"):
        case.remove(id)
    for event in events:
        case.add(event)
    return gc.simulate(gc.build(case), T_END, 0.01)


@pytest.fixture(scope="module")
def fault():
    return whole(gc.BusFault(id="fault", bus=16, t=0.1, clear=0.2, x=0.05))


@pytest.fixture(scope="module")
def ramp():
    """A load grows: voltage and angle do not jump, so a frequency says all of the angle."""
    return whole(gc.Ramp(parameter="LOAD16.P0", t0=0.2, t1=1.0, scale=1.3))


def part(run, model, **signals):
    """The machine behind the bus, and a source that plays signals, (time, values) each, at it."""
    case = gc.load_case("ieee39")
    case.records = [record for id, record in zip(case.ids(), case.records) if id in PART]
    case[BUS].fields["Va0"] = run[BUS, "Va"][0]
    case.add(model, id="SRC", bus=29, control="slack", V0=run[BUS, "Vm"][0], **{name: name for name in signals})
    for name, (time, values) in signals.items():
        gc.analyses.add_time_series(case, name, time, values)
    return case


def angle(run):
    return np.unwrap(run[BUS, "Va"])


def at_first(run, *addresses):
    """Quantities at every instant of a run, before what happens there."""
    t, first = np.unique(run.t, return_index=True)
    return t, *(run[address][first] for address in addresses)


def test_what_is_played_back_whole_is_the_same_again_through_a_fault(fault):
    """Every point of the run and both sides of its jumps are samples, and so steps and points are the same."""
    again = gc.simulate(part(fault, "PlaybackSource", V=(fault.t, fault[BUS, "Vm"]), theta=(fault.t, angle(fault))),
                        T_END, 0.01)
    t, P, Q, speed = at_first(fault, f"{LINE}.P1", f"{LINE}.Q1", "GEN38.omega")
    same, p, q, omega = at_first(again, f"{LINE}.P1", f"{LINE}.Q1", "GEN38.omega")
    assert_allclose(same, t, rtol=0, atol=1e-12)
    assert np.ptp(P) > 1.0
    assert_allclose(p, P, rtol=0, atol=1e-8)
    assert_allclose(q, Q, rtol=0, atol=1e-8)
    assert_allclose(omega, speed, rtol=0, atol=1e-10)


def sampled(run, rate):
    """Magnitude and frequency `rate` times a second, as a unit would measure them at each instant; and the bound.

    Linear interpolation is off by the second derivative times ``h^2 / 8``, an angle from a frequency (the trapezoidal
    rule) by its own second derivative times ``h^2 / 12`` in all and by ``h^2 / 8`` of the frequency's between samples.
    """
    t, V, theta = at_first(run, f"{BUS}.Vm", f"{BUS}.Va")
    V, theta = CubicSpline(t, V), CubicSpline(t, np.unwrap(theta))
    h, samples = 1 / rate, np.arange(0.0, T_END + 1 / rate, 1 / rate)
    f = 1 + theta(samples, 1) / (100 * np.pi)
    bound = h**2 / 8 * (np.abs(V(t, 2)).max() + 2 * np.abs(theta(t, 2)).max())
    return (samples, V(samples)), (samples, f), bound


@pytest.mark.parametrize("rate", [30, 60])
def test_a_recording_of_voltage_and_frequency_drives_the_machine_to_the_recorded_powers(ramp, rate):
    V, f, bound = sampled(ramp, rate)
    again = gc.simulate(part(ramp, "PLBVFU1", V=V, f=f), T_END, 0.01)
    t, P, Q = at_first(ramp, f"{LINE}.P1", f"{LINE}.Q1")
    same, p, q = at_first(again, f"{LINE}.P1", f"{LINE}.Q1")
    both, there, again_there = np.intersect1d(t.round(9), same.round(9), return_indices=True)
    assert len(both) == len(t)
    stiff = 1.1 / 0.03  # pu of power per pu of voltage or rad: what the transformer and the machine's X'' let through
    for recorded, played in ((P, p), (Q, q)):
        error = np.abs(recorded[there] - played[again_there]).max()
        assert error < stiff * bound
        assert stiff * bound < 0.3 * np.ptp(recorded)


def test_a_fit_from_the_recording_finds_the_inertia(ramp):
    V, f, _ = sampled(ramp, 60)
    truth = part(ramp, "PLBVFU1", V=V, f=f)["GEN38"].fields["H"]
    t, P, Q = at_first(ramp, f"{LINE}.P1", f"{LINE}.Q1")
    data = Measurements.of(t, {f"{LINE}.P1": P, f"{LINE}.Q1": Q}).every(5)
    system = gc.build(part(ramp, "PLBVFU1", V=V, f=f)).with_values({"GEN38.H": 1.4 * truth})
    fit = gc.analyses.estimate(system, data, wrt=["GEN38.H"])
    assert abs(fit["GEN38.H"] / truth - 1) < 0.01


def test_a_fit_from_phasors_through_a_fault_finds_it_to_the_digits_of_the_run(fault):
    case = part(fault, "PlaybackSource", V=(fault.t, fault[BUS, "Vm"]), theta=(fault.t, angle(fault)))
    truth = case["GEN38"].fields["H"]
    t, P = at_first(fault, f"{LINE}.P1")
    data = Measurements.of(t[3::7], {f"{LINE}.P1": P[3::7]})
    system = gc.build(case).with_values({"GEN38.H": 0.7 * truth})
    fit = gc.analyses.estimate(system, data.between(0.25, T_END), wrt=["GEN38.H"])
    assert abs(fit["GEN38.H"] / truth - 1) < 1e-6


def test_its_voltage_is_that_of_the_diagram():
    """PLBVFU1: scaled deviations through lags, the frequency integrated."""
    t, V, f = [0.0, 0.2, 0.2, 1.0], [400.0, 400.0, 360.0, 392.0], [50.0, 50.0, 50.5, 49.8]
    case = gc.Case("bus", frequency=50.0)
    case.add("Bus", id=1)
    case.add("ZIP", bus=1, P0=0.5, Q0=0.1)
    case.add("PLBVFU1", id="SRC", bus=1, control="slack", V0=1.02, V="V", f="f", Vscale=400, fscale=50, Tv=0.05, Tf=0.1)
    gc.analyses.add_time_series(case, "V", t, V)
    gc.analyses.add_time_series(case, "f", t, f)
    run = gc.simulate(case, 1.0, 0.001)

    def rates(time, x):
        v, w = ((np.interp(time, t[2:], c[2:]) - c[0]) / c[0] for c in (V, f))
        return (v - x[0]) / 0.05, (w - x[1]) / 0.1, 100 * np.pi * x[1]

    x = solve_ivp(rates, (0.2, 1.0), [0.0, 0.0, 0.0], rtol=1e-10, atol=1e-12).y[:, -1]
    assert_allclose(run["BUS1", "Vm"][-1], 1.02 + x[0], rtol=0, atol=2e-6)
    assert_allclose(run["SRC", "angle"][-1], x[2], rtol=0, atol=2e-5)
    assert_allclose(run["SRC", "P"], -run["LOAD1", "P"] * -1, rtol=0, atol=1e-10)


def test_flags_leave_the_voltage_or_the_frequency_as_it_is():
    case = gc.Case("bus")
    case.add("Bus", id=1)
    case.add("ZIP", bus=1, P0=0.5)
    case.add("PLBVFU1", id="SRC", bus=1, control="slack", V="V", f="f", Vflag=0, fflag=0)
    for name in ("V", "f"):
        gc.analyses.add_time_series(case, name, [0.0, 0.1, 1.0], [1.0, 1.1, 1.2])
    run = gc.simulate(case, 1.0, 0.1)
    assert np.ptp(run["BUS1", "Vr"]) < 1e-12


def test_degrees_and_kilovolts_are_scaled():
    phasors = []
    for V, theta, scales in ((1.0, 1.0, {}), (230.0, 180 / np.pi, {"Vscale": 230.0, "radian": 180 / np.pi})):
        case = gc.Case("bus")
        case.add("Bus", id=1)
        case.add("ZIP", bus=1, P0=0.5)
        case.add("PlaybackSource", bus=1, control="slack", V="V", theta="theta", **scales)
        gc.analyses.add_time_series(case, "V", [0.0, 1.0], [V, 1.1 * V])
        gc.analyses.add_time_series(case, "theta", [0.0, 1.0], [0.2 * theta, 0.5 * theta])
        phasors.append(gc.simulate(case, 1.0, 0.1)["BUS1", ["Vm", "Va"][0]])
    assert_allclose(*phasors, rtol=1e-14)


@pytest.mark.parametrize("lag", [0.0, 0.25])
def test_a_signal_moves_a_set_point_by_its_deviation_through_a_lag(lag):
    case = gc.load_case("smib")
    for id in ("fault", "trip"):
        case.remove(id)
    gc.analyses.add_time_series(case, "power", [0.0, 0.33, 0.33], [250.0, 250.0, 260.0])
    case.add("Playback", id="PLAY", signal="power", parameter="GEN1.Pm", scale=0.01, T=lag)
    system = gc.build(case)
    run = gc.simulate(system, 2.0, 0.005)
    start, late = run["PLAY", "value"][0], run.t > 0.33
    assert_allclose(run["PLAY", "value"][run.t < 0.33], start, rtol=1e-12)
    law = start + 0.1 * (1 - (np.exp(-(run.t[late] - 0.33) / lag) if lag else 0.0))
    assert_allclose(run["PLAY", "value"][late], law, rtol=0, atol=1e-5)
    assert run["GEN1", "delta"][-1] > run["GEN1", "delta"][0] + 0.01


def test_a_jump_that_is_played_on_a_parameter_is_a_step_of_it():
    ends = []
    for played in (True, False):
        case = gc.load_case("wscc9")
        for id in ("fault", "trip"):
            case.remove(id)
        if played:
            gc.analyses.add_time_series(case, "s", [0.0, 0.213, 0.213], [1.0, 1.0, 1.2])
            case.add("Playback", signal="s", parameter="LOAD5.P0")
        else:
            case.add("ParameterStep", parameter="LOAD5.P0", t=0.213, by=0.2)
        ends.append(gc.simulate(case, 1.0, 0.01)["GEN2", "omega"][-1])
    assert_allclose(*ends, rtol=1e-10)
