"""IEEEST: against its transfer function, its block diagram, and in a machine's loop."""

from __future__ import annotations

from types import SimpleNamespace

import diagrams
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.signal import tf2ss
from workbench import BenchMachine, built

import gridcore as gc
from gridcore.errors import CaseError
from gridcore_conformance.testbed import testbed
from gridcore_devices import SEXS

# the stabilizer of ACTIVSg2000
DATA = dict(ICS=1.0, A1=1.013, A2=0.013, A3=0.0, A4=0.0, A5=1.013, A6=0.113, T1=0.0, T2=0.02, T3=0.0, T4=0.0, T5=1.65,
            T6=1.65, KS=3.0, LSMAX=0.1, LSMIN=-0.1)
FULL = DATA | dict(A3=0.05, A4=0.001, T1=0.2, T2=0.02, T3=0.3, T4=0.05)
EXCITER = dict(TATB=0.1, TB=10.0, K=100.0, TE=0.05, EMIN=-3.0, EMAX=4.0)


@pytest.fixture(autouse=True)
def bench_machine():
    with testbed(BenchMachine):
        yield


def stabilized(data, steps=(), **kwargs):
    return built(SEXS, EXCITER, steps=steps, more=[gc.Record("IEEEST", {"id": "PSS", "exciter": "EXC", **data})],
                 **kwargs)


def transfer(d, s):
    """Vs over the input, without limits; a denominator of zero order takes its lead-lag away."""
    out = (1 + d["A5"] * s + d["A6"] * s * s) / (1 + d["A1"] * s + d["A2"] * s * s)
    out /= 1 + d.get("A3", 0.0) * s + d.get("A4", 0.0) * s * s
    for lead, lag in (("T1", "T2"), ("T3", "T4")):
        if d[lag] > 0:
            out *= (1 + d[lead] * s) / (1 + d[lag] * s)
    return out * d["KS"] * (s * d["T5"] if d["T5"] > 0 else 1.0) / (1 + s * d["T6"])


def frequency_response(data, signal, s):
    """Derivative of Vs in a signal of the assembled system at a complex frequency, from its own Jacobians."""
    system = stabilized(data)
    J = system.jacobian(system.Z0).toarray()
    column = system.system.parameter_jacobian([system.layout.address(signal)]).evaluate(system.Z0).toarray()[:, 0]
    M = np.diag(system.differential(system.Z0).astype(float))
    x = np.linalg.solve(s * M - J, column)
    return x[system.layout.address("PSS.Vs")]


@pytest.mark.parametrize("change", [
    {}, dict(T1=0.2, T3=0.3, T4=0.05), dict(A3=0.05), dict(A3=0.05, A4=0.001), dict(A4=0.001), dict(A1=0.0),
    dict(A2=0.0, A6=0.0), dict(A2=0.0, A3=0.4), dict(A1=0.0, A2=0.0, A5=0.0, A6=0.0),
    dict(A1=0.0, A2=0.0, A3=0.05, A4=0.01), dict(A1=0.0, A2=0.0, A3=0.05, A6=0.0), dict(A3=0.02, A6=0.0, A5=0.0),
    dict(T2=0.0), dict(T5=0.0), dict(T5=0.0, T6=0.0), dict(T5=3.0, T6=0.5),
])
def test_its_transfer_function_is_that_of_the_model_library(change):
    data = DATA | change
    for w in (0.1, 1.0, 6.0, 40.0):
        found = frequency_response(data, "M.omega", 1j * w)
        assert found == pytest.approx(transfer(data, 1j * w), rel=1e-9)


# d input / d signal; Vd + j Vq = e^{j (pi/2 - 0.5)} on the bench
VD, VQ = np.sin(0.5), np.cos(0.5)


@pytest.mark.parametrize(("ICS", "signal", "gain"), [
    (1, "M.omega", 1.0), (2, "M.omega", 0.0), (3, "M.Id", VD), (3, "M.Iq", VQ), (4, "M.Id", -VD), (4, "M.Pm", 1.0),
    (5, "INF.E", 1.0), (6, "INF.E", None), (2, "INF.angle", None),
])
def test_the_code_selects_the_input(ICS, signal, gain):
    data = FULL | dict(ICS=float(ICS))
    s = 3j
    if gain is None:  # a derivative behind the time constant of its measurement
        gain = s / (1 + 0.02 * s) / (120 * np.pi if ICS == 2 else 1.0)
    assert frequency_response(data, signal, s) == pytest.approx(gain * transfer(data, s), rel=1e-9, abs=1e-13)


def diagram(d):
    """The whole transfer function as one state space, and a clamp behind it."""
    num, den = np.poly1d([1.0]), np.poly1d([1.0])
    for n, m in (([d["A6"], d["A5"], 1.0], [d["A2"], d["A1"], 1.0]), ([1.0], [d["A4"], d["A3"], 1.0]),
                 ([d["T1"], 1.0], [d["T2"], 1.0]), ([d["T3"], 1.0], [d["T4"], 1.0]),
                 ([d["KS"] * d["T5"], 0.0], [d["T6"], 1.0])):
        num, den = num * np.poly1d(n), den * np.poly1d(m)
    A, B, C, D = tf2ss(num.coeffs, den.coeffs)
    names = [f"x{k}" for k in range(len(A))]

    def vector(x):
        return np.array([getattr(x, name) for name in names])

    def rates(x, u):
        return dict(zip(names, A @ vector(x) + B[:, 0] * (u.omega - 1.0), strict=True))

    def out(x, u):
        return float(np.clip(C[0] @ vector(x) + D[0, 0] * (u.omega - 1.0), d["LSMIN"], d["LSMAX"]))

    return diagrams.Diagram(SimpleNamespace(**d), lambda Efd, u: (dict.fromkeys(names, 0.0), 0.0), rates, out)


def test_response_to_speed_is_that_of_the_transfer_function_held_between_the_limits():
    steps = [(0.1, "omega", 0.004), (0.5, "omega", -0.013), (1.2, "omega", 0.009)]
    run = gc.simulate(stabilized(FULL, steps), t_end=3.0, step=0.005, method="ida", rtol=1e-9, atol=1e-11)
    items = [event.item for event in run.events if event.device == "PSS"]
    assert {"limited_at_LSMAX", "limited_off_LSMAX", "limited_at_LSMIN", "limited_off_LSMIN"} <= set(items)
    away = np.all([np.abs(run.t - at) > 1e-6 for at, _, _ in steps], axis=0)
    expected = diagram(FULL).run(0.0, [(0.1, {"omega": 1.004}), (0.5, {"omega": 0.991}), (1.2, {"omega": 1.0})],
                                 run.t[away])
    assert_allclose(run["PSS", "Vs"][away], expected, atol=1e-7)
    assert np.ptp(run["EXC", "Efd"]) > 1.0  # and the exciter listens to it


def test_the_signal_is_cut_outside_its_voltage_window():
    data = FULL | dict(VCU=1.1, VCL=0.9)
    steps = [(0.1, "omega", 0.002), (0.2, "V", 0.2), (0.3, "V", -0.2), (0.4, "V", -0.3), (0.5, "V", 0.3)]
    run = gc.simulate(stabilized(data, steps), t_end=0.6, step=0.005)
    items = [event.item for event in run.events if event.device == "PSS" and "limited" not in event.item]
    assert items == ["above", "back_below", "below", "back_above"]
    inside = [(run.t > a + 1e-9) & (run.t < b - 1e-9) for a, b in ((0.2, 0.3), (0.4, 0.5))]
    outside = [(run.t > a + 1e-9) & (run.t < b - 1e-9) for a, b in ((0.1, 0.2), (0.3, 0.4), (0.5, 0.6))]
    assert all((run["PSS", "Vs"][mask] == 0).all() for mask in inside)
    assert all((np.abs(run["PSS", "Vs"][mask]) > 1e-4).all() for mask in outside)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_it_rests_with_any_valid_parameters(data):
    draw, part = data.draw, st.one_of(st.just(0.0), st.floats(0.01, 2.0))
    values = {name: draw(part) for name in ("A1", "A2", "A3", "A4", "T1", "T2", "T3", "T4", "T6")}
    order = sum(2 if values[b] else 1 if values[a] else 0 for a, b in (("A1", "A2"), ("A3", "A4")))
    values |= dict(A5=draw(part) if order >= 1 else 0.0, A6=draw(part) if order >= 2 else 0.0,
                   T5=draw(part) if values["T6"] else 0.0, KS=draw(st.floats(-30.0, 30.0)),
                   ICS=float(draw(st.integers(1, 6))), VCU=draw(st.sampled_from([0.0, 1.2])),
                   VCL=draw(st.sampled_from([0.0, 0.8])))
    system = stabilized(values)
    assert system.operating_point.residual < 1e-9
    assert not system.operating_point.violations
    # an input that is not zero at rest, without washout, is held between the limits; the reference makes up for it
    Vs = system.Z0[system.layout.address("PSS.Vs")]
    assert abs(Vs) <= 0.1 + 1e-12
    assert system.Z0[system.layout.address("EXC.Efd")] == pytest.approx(2.0)
    run = gc.simulate(system, t_end=0.1, step=0.02)
    assert not run.events
    assert np.ptp(run["EXC", "Efd"]) < 1e-8


@pytest.mark.parametrize(("change", "words"), [
    (dict(ICS=2.5), "whole number"), (dict(ICS=7.0), "ICS"), (dict(IB=3.0), "IB"), (dict(LSMIN=0.2), "LSMIN"),
    (dict(T6=0.0), "T6"), (dict(A2=0.0, A1=1.0), "higher order"),
])
def test_data_that_make_no_sense_are_refused(change, words):
    with pytest.raises(CaseError, match=words):
        stabilized(DATA | change)


def test_gradients_are_exact_across_limits_and_voltage_window():
    # no event falls on a point of the grid, where the discretised program has a kink: docs/sensitivities.md
    steps = [(0.1, "omega", 0.004), (0.3, "V", 0.15), (0.5, "V", -0.15), (0.6, "omega", -0.013),
             (1.203, "omega", 0.009)]
    run = gc.simulate(stabilized(FULL | dict(VCU=1.1), steps), t_end=2.0, step=0.005)
    assert {"above", "limited_at_LSMAX", "limited_at_LSMIN"} <= {event.item for event in run.events}
    effort = gc.Integral(lambda v: v["EXC", "Efd"] ** 2, name="effort")
    wrt = ["PSS.A1", "PSS.A4", "PSS.T1", "PSS.T5", "PSS.KS", "PSS.LSMAX", "EXC.K"]
    exact, differences = gc.adjoint(run, effort, wrt=wrt), gc.differences(run, effort, wrt=wrt, relative_step=1e-6)
    assert_allclose(exact.values, differences.values, rtol=2e-6, atol=1e-7)


def test_it_damps_the_swing_of_a_machine():
    """A gain on speed through the exciter adds damping: Kundur (1994), section 12.5."""
    def system(KS):
        case = gc.Case("smib")
        case.add(gc.Record("Bus", {"id": "B1"}))
        case.add(gc.Record("Bus", {"id": "B2"}))
        case.add(gc.Record("InfiniteBus", {"id": "INF", "bus": "B2", "control": "slack", "V0": 1.0}))
        case.add(gc.Record("Line", {"id": "L", "bus1": "B1", "bus2": "B2", "x": 0.5}))
        case.add(gc.Record("GENROU", {
            "id": "G", "bus": "B1", "P0": 0.8, "V0": 1.02, "H": 3.5, "D": 0.0, "Rs": 0.003, "Xd": 1.81, "Xq": 1.76,
            "Xdp": 0.3, "Xqp": 0.65, "Xdpp": 0.23, "Xl": 0.16, "Td0p": 8.0, "Td0pp": 0.03, "Tq0p": 1.0, "Tq0pp": 0.07}))
        case.add(gc.Record("SEXS", {"id": "E", "machine": "G", **EXCITER, "TATB": 1.0, "K": 200.0, "TE": 0.01}))
        case.add(gc.Record("IEEEST", {"id": "S", "exciter": "E", "KS": KS, "T1": 0.154, "T2": 0.033, "T5": 1.4,
                                      "T6": 1.4}))
        return gc.build(case)

    def damping(KS):
        found = system(KS)
        J, mask = found.jacobian(found.Z0).toarray(), found.differential(found.Z0)
        gy, gx = J[np.ix_(~mask, ~mask)], J[np.ix_(~mask, mask)]
        A = J[np.ix_(mask, mask)] - J[np.ix_(mask, ~mask)] @ np.linalg.solve(gy, gx)
        swing = [e for e in np.linalg.eigvals(A) if 4 < e.imag < 12]
        return max(e.real for e in swing)

    assert damping(0.0) > -0.2
    assert damping(9.5) < -1.0
