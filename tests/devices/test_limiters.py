"""MAXEX2, UEL1 and UEL2: instants by hand, transfer functions, and their diagrams into their limits and out again."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from diagrams import Diagram, lead_lag, phasors
from numpy.testing import assert_allclose
from workbench import ADDRESS, BenchMachine, built

import gridcore as gc
import gridcore_devices
from gridcore.errors import CaseError
from gridcore_conformance.testbed import testbed

EXCITER = dict(TATB=0.1, TB=10.0, K=50.0, TE=0.05, EMIN=-30.0, EMAX=40.0)
FED_BACK = dict(TR=0.02, KA=50.0, TA=0.05, VRMAX=45.0, VRMIN=-30.0, KE=1.0, TE=0.5, KF=0.05, TF1=1.0)
MAXEX2 = dict(M=1.0, EFDRATED=2.0, EFD1=1.1, TIME1=0.6, EFD2=1.3, TIME2=0.4, EFD3=1.5, TIME3=0.2, EFDDES=1.0, KMX=0.5,
              VLOW=-0.05)
BEHIND = dict(KUF=0.0, KUI=0.8, KUL=0.6, VUIMAX=0.3, VUIMIN=0.0, TU1=0.05, TU2=0.2, TU3=0.1, TU4=0.05, VULMAX=0.2,
              VULMIN=0.0)
UEL1 = BEHIND | dict(KUR=1.95, KUC=1.6, VURMAX=1.93, VUCMAX=2.2)
POINTS = dict(P0=0.0, Q0=-0.31, P1=0.3, Q1=-0.31, P2=0.6, Q2=-0.28, P3=0.9, Q3=-0.21, P4=1.02, Q4=0.0)
UEL2 = BEHIND | POINTS | dict(K1=2.0, K2=2.0, TUV=0.05, TUP=0.1, TUQ=0.03)
LIMITERS = {"UEL1": UEL1, "UEL2": UEL2}


@pytest.fixture(autouse=True)
def bench_machine():
    with testbed(BenchMachine):
        yield


def limited(name, data, steps=(), exciter="SEXS", Efd=2.0):
    values = EXCITER if exciter == "SEXS" else FED_BACK
    return built(getattr(gridcore_devices, exciter), values, Efd=Efd, steps=steps,
                 more=[gc.Record(name, {"id": "LIM", "exciter": "EXC", **data})])


# ---------------------------------------------------------------- over-excitation


def instants(run):
    return {event.item: event.t for event in run.events if event.device == "LIM"}


@pytest.mark.parametrize(("current", "time"), [(2.4, 0.5), (2.8, 0.3), (3.4, 0.2)])
def test_the_time_goes_through_the_points_in_straight_lines(current, time):
    run = gc.simulate(limited("MAXEX2", MAXEX2, [(0.1, "Ifd", current - 1.8)]), t_end=0.8, step=0.01)
    assert instants(run)["takes_over"] == pytest.approx(0.1 + time, abs=1e-9)


def test_a_share_of_the_time_counts_with_the_next_level():
    """0.25 s of 0.5 s, then 0.3 s: half of it is left."""
    run = gc.simulate(limited("MAXEX2", MAXEX2, [(0.1, "Ifd", 0.6), (0.35, "Ifd", 0.4)]), t_end=0.8, step=0.01)
    assert instants(run)["takes_over"] == pytest.approx(0.5, abs=1e-9)


def test_the_time_is_forgotten_below_the_first_point():
    run = gc.simulate(limited("MAXEX2", MAXEX2, [(0.1, "Ifd", 0.6), (0.5, "Ifd", -0.3), (0.6, "Ifd", 0.3)]), t_end=1.3,
                      step=0.01)
    assert instants(run)["takes_over"] == pytest.approx(1.1, abs=1e-9)
    assert run["LIM", "passed"][run.t < 0.5].max() == pytest.approx(0.8, rel=0.05)


def test_once_it_acts_it_ramps_to_its_limit_and_back_to_zero_and_goes_on_acting():
    """At 0.6 s; 0.5 (2.0 - 2.4) = -0.2/s to -0.05; from 1.0 s 0.5 (2.0 - 1.6) = 0.2/s to 0; again from 1.5 s."""
    run = gc.simulate(limited("MAXEX2", MAXEX2, [(0.1, "Ifd", 0.6), (1.0, "Ifd", -0.8), (1.5, "Ifd", 0.8)]), t_end=1.6,
                      step=0.01)
    expected = np.interp(run.t, [0.0, 0.6, 0.85, 1.0, 1.25, 1.5, 1.6], [0.0, 0.0, -0.05, -0.05, 0.0, 0.0, -0.02])
    assert_allclose(run["LIM", "VOEL"], expected, atol=1e-9)
    assert [event.item for event in run.events if event.device == "LIM"] == [
        "rises", "takes_over", "VOEL_off_zero", "VOEL_at_VLOW", "falls", "VOEL_off_VLOW", "VOEL_at_zero", "rises",
        "VOEL_off_zero"]


def test_it_holds_the_field_voltage_at_what_is_desired():
    """A reference of 3 V more asks for more than 3.5 pu; the limiter takes it back to 1.05 times 2 pu."""
    data = MAXEX2 | dict(M=0.0, EFDDES=1.05, KMX=0.2, VLOW=-0.5)
    run = gc.simulate(limited("MAXEX2", data, [(0.1, "dVref", 0.15)]), t_end=40.0, step=0.02)
    assert run["EXC", "Efd"].max() > 2.4
    assert run["EXC", "Efd"][-1] == pytest.approx(2.1, abs=1e-3)


def test_time_that_has_passed_at_t0_counts():
    system = limited("MAXEX2", MAXEX2 | dict(passed0=0.5, EFDRATED=1.5))
    run = gc.simulate(system, t_end=0.5, step=0.01)
    assert instants(run)["takes_over"] == pytest.approx(0.25, abs=1e-9)  # 1.8 / 1.5 = 1.2: 0.5 s


@pytest.mark.parametrize(("name", "change", "words"), [
    ("MAXEX2", dict(EFD2=1.0), "in this order"), ("UEL1", dict(VUIMIN=1.0), "VUIMIN must be below VUIMAX"),
    ("UEL2", dict(P3=0.5), "P3 must be above P2"), ("UEL2", dict(Q7=-0.1), "P5 must be above P4")])
def test_data_that_make_no_sense_are_refused(name, change, words):
    with pytest.raises(CaseError, match=words):
        limited(name, {"MAXEX2": MAXEX2, **LIMITERS}[name] | change)


# ---------------------------------------------------------------- under-excitation


def characteristic(d, P):
    """Q'(P), the last line goes on."""
    x, y = [d.P0, d.P1, d.P2, d.P3, d.P4], [d.Q0, d.Q1, d.Q2, d.Q3, d.Q4]
    return y[-1] + (y[-1] - y[-2]) / (x[-1] - x[-2]) * (P - x[-1]) if P > x[-1] else np.interp(P, x, y)


def power(u):
    V, current = phasors(u)
    return V * np.conj(current)


def diagram(name, d):
    """IEEE Std 421.5-2005, figures 10-2 and 10-4, without the exciter's feedback."""
    def error(x, u):
        V, current = phasors(u)
        if name == "UEL1":
            return min(abs(d.KUC * V - 1j * current), d.VUCMAX) - min(d.KUR * u.V, d.VURMAX)
        return characteristic(d, abs(x.P)) * x.F ** d.K2 - x.Q

    def rest(_, u):
        S = power(u)
        return dict(integral=0.0, first=0.0, second=0.0, F=u.V, P=S.real / u.V ** d.K1 if name == "UEL2" else 0.0,
                    Q=S.imag), 0.0

    def signals(x, u):
        VU = np.clip(d.KUL * error(x, u) + x.integral, d.VUIMIN, d.VUIMAX)
        first = lead_lag(VU, x.first, d.TU1, d.TU2)
        return VU, first, np.clip(lead_lag(first, x.second, d.TU3, d.TU4), d.VULMIN, d.VULMAX)

    def rates(x, u):
        VU, first, _ = signals(x, u)
        out = dict(integral=d.KUI * error(x, u), first=(VU - x.first) / d.TU2, second=(first - x.second) / d.TU4, F=0.0,
                   P=0.0, Q=0.0)
        if name == "UEL2":
            S = power(u)
            out |= dict(F=(u.V - x.F) / d.TUV, P=(S.real / x.F ** d.K1 - x.P) / d.TUP, Q=(S.imag - x.Q) / d.TUQ)
        return out

    return Diagram(d, rest, rates, lambda x, u: signals(x, u)[2], {"integral": lambda u: (d.VUIMIN, d.VUIMAX)})


# under-excited, more active power, a low voltage, and back
STEPS = [(0.1, "Id", -0.75), (0.8, "Iq", 0.5), (1.2, "V", -0.1), (1.5, "Iq", -0.5), (1.7, "Id", 0.75), (2.2, "V", 0.12)]


@pytest.mark.parametrize("KUI", [0.8, 0.0])
@pytest.mark.parametrize("name", LIMITERS)
def test_its_response_is_that_of_the_diagram_into_its_limits_and_out_again(name, KUI):
    data = LIMITERS[name] | dict(KUI=KUI, KUL=0.6 if KUI else 1.5)
    run = gc.simulate(limited(name, data, STEPS), t_end=3.0, step=0.01, method="ida", rtol=1e-9, atol=1e-10)
    away = np.all([np.abs(run.t - t) > 1e-6 for t, _, _ in STEPS], axis=0)
    now, changes = dict(V=1.0, Id=0.5, Iq=0.6), []
    for t, signal, by in STEPS:
        now[signal] += by
        changes.append((t, {signal: now[signal]}))
    reference = diagram(name, SimpleNamespace(**data)).run(0.0, changes, run.t[away])
    assert_allclose(run["LIM", "VUEL"][away], reference, atol=1e-7)
    items = {event.item for event in run.events if event.device == "LIM"}
    assert {"integral_off_VUIMIN" if KUI else "VU_off_VUIMIN", "VU_at_VUIMIN", "limited_at_VULMAX",
            "limited_off_VULMAX"} <= items
    assert name == "UEL2" or {"VUR_off_VURMAX", "VUC_at_VUCMAX"} <= items


@pytest.mark.parametrize("name", LIMITERS)
def test_its_signal_over_the_current_is_the_transfer_function_by_hand(name):
    """Without an integrator and with limits out of reach."""
    wide = LIMITERS[name] | dict(VUIMAX=9.0, VULMAX=9.0, VUIMIN=-9.0, VULMIN=-9.0, VUCMAX=9.0, VURMAX=9.0, KUI=0.0)
    d = SimpleNamespace(**wide)
    system = limited(name, {key: value for key, value in wide.items() if name == "UEL1" or key not in (
        "VUCMAX", "VURMAX")})
    J = system.jacobian(system.Z0).toarray()
    at = [system.layout.address(ADDRESS["Id"])]
    column = system.system.parameter_jacobian(at).evaluate(system.Z0).toarray()[:, 0]
    M = np.diag(system.differential(system.Z0).astype(float))
    Vd, Vq = np.sin(0.5), np.cos(0.5)
    for w in (0.1, 1.0, 10.0, 100.0):
        s = 1j * w
        found = np.linalg.solve(s * M - J, column)[system.layout.address("LIM.VUEL")]
        if name == "UEL1":
            to_error = -(d.KUC * Vq - 0.5) / np.hypot(d.KUC * Vd + 0.6, d.KUC * Vq - 0.5)
        else:
            slope = (d.Q3 - d.Q2) / (d.P3 - d.P2)  # P = 0.766
            to_error = slope * Vd / (1 + s * d.TUP) - Vq / (1 + s * d.TUQ)
        behind = d.KUL * (1 + s * d.TU1) / (1 + s * d.TU2) * (1 + s * d.TU3) / (1 + s * d.TU4)
        assert found == pytest.approx(to_error * behind, rel=1e-9)


def test_a_proportional_limiter_may_act_at_t0_an_integrating_one_not():
    """The operating point is 1.64 from the centre of the circle, whose radius is 1.5."""
    beyond = UEL1 | dict(KUR=1.5, KUI=0.0)
    run = gc.simulate(limited("UEL1", beyond), t_end=0.3, step=0.1)
    V, current = phasors(SimpleNamespace(V=1.0, delta=0.5, Id=0.5, Iq=0.6))
    assert_allclose(run["LIM", "VUEL"], 0.6 * (abs(1.6 * V - 1j * current) - 1.5), rtol=1e-9)


@pytest.mark.parametrize("name", LIMITERS)
def test_an_integrating_limiter_refuses_a_machine_beyond_its_limit_by_name_point_and_limit(name):
    """S = 0.767 + 0.151j; the circle about 1.6j of radius 1.5 is at 0.309 there, the line through (0, 0.2) at 0.2."""
    beyond = LIMITERS[name] | (dict(KUR=1.5) if name == "UEL1" else {key: 0.2 for key in POINTS if key[0] == "Q"})
    V, current = phasors(SimpleNamespace(V=1.0, delta=0.5, Id=0.5, Iq=0.6))
    S = V * np.conj(current)
    limit = 1.6 - np.sqrt(1.5 ** 2 - S.real ** 2) if name == "UEL1" else 0.2
    point = rf"Q = {S.imag:.4g} at P = {S.real:.4g} and V = 1 .* Q = {limit:.4g};"
    with pytest.raises(gc.errors.InitialisationError, match=rf"^LIM: at t0 .* KUI = 0.8 .* {point}") as caught:
        limited(name, beyond)
    assert "\n" not in str(caught.value)
    system = limited(name, beyond | dict(KUI=0.0))
    assert gc.simulate(system, t_end=0.1, step=0.05)["LIM", "lowest"][0] == pytest.approx(limit)


@pytest.mark.parametrize("name", LIMITERS)
def test_what_is_out_of_service_may_be_beyond(name):
    beyond = LIMITERS[name] | (dict(KUR=1.5) if name == "UEL1" else {key: 0.2 for key in POINTS if key[0] == "Q"})
    run = gc.simulate(limited(name, beyond | dict(status=0)), t_end=0.1, step=0.05)
    assert_allclose(run["EXC", "Efd"], 2.0)


@pytest.mark.parametrize("name", LIMITERS)
def test_the_exciters_rate_feedback_is_in_the_error(name):
    plain, fed = (gc.simulate(limited(name, LIMITERS[name] | dict(KUF=KUF), [(0.1, "dVref", 0.02)], "IEEEX1"),
                              t_end=0.4, step=0.01) for KUF in (0.0, 2.0))
    feedback = fed["EXC", "feedback"]
    assert np.ptp(feedback) > 1e-3
    assert_allclose(fed["LIM", "error"] - plain["LIM", "error"], -2.0 * feedback, atol=1e-9)


def test_a_machine_that_is_under_excited_is_held_at_the_circle():
    """Behind a line, the remote voltage rises: without the limiter it would go far beyond it."""
    ends = {}
    for with_limiter in (False, True):
        case = gc.Case("circle", base_mva=100)
        for number in (1, 2):
            case.add("Bus", id=number)
        case.add("InfiniteBus", bus=1, control="slack")
        case.add("Line", bus1=1, bus2=2, x=0.2)
        case.add("GENROU", bus=2, P0=0.5, V0=1.0, H=4.0, D=2.0, Xd=1.8, Xq=1.7, Xdp=0.3, Xqp=0.5, Xdpp=0.25, Xl=0.2,
                 Td0p=6.0, Td0pp=0.03, Tq0p=0.5, Tq0pp=0.05)
        case.add("SEXS", machine="GEN2", TATB=0.1, TB=10.0, K=100.0, TE=0.02, EMIN=-9.0, EMAX=9.0)
        if with_limiter:
            case.add("UEL1", exciter="EXC_GEN2", KUR=1.7, KUC=1.5, KUI=0.2, KUL=0.1, VUIMAX=0.3, TU2=0.05, VULMAX=0.3)
        case.add("ParameterStep", id="step", parameter="INF1.E", t=0.1, by=0.1)
        run = gc.simulate(case, 60.0, 0.02)
        Q, V = run["GEN2", "Q"][-1], run["BUS2", "Vm"][-1]
        P = run["GEN2", "P"][-1]
        ends[with_limiter] = np.hypot(P, Q - 1.5 * V * V) / V - 1.7 * V
    assert ends[False] > 0.05
    assert ends[True] == pytest.approx(0.0, abs=1e-3)
