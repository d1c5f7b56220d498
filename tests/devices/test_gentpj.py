"""GENTPF and GENTPJ: equilibrium, saturation, and their equations integrated plainly."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, fsolve
from standalone import Alone

import gridcore as gc
from gridcore.errors import GridcoreError
from gridcore_devices import GENTPF, GENTPJ

DATA = dict(H=6.5, D=0.5, Rs=0.0025, Xd=1.8, Xq=1.7, Xdp=0.3, Xqp=0.55, Xdpp=0.22, Xqpp=0.25, Xl=0.15, Td0p=8.0,
            Td0pp=0.03, Tq0p=0.4, Tq0pp=0.05)
SATURATED = dict(S10=0.11, S12=0.48)
MODELS = {GENTPF: {}, GENTPJ: dict(Kis=0.1)}
machines = pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)


def factor(psi):
    """S through both points."""
    ratio = np.sqrt(0.11 / (1.2 * 0.48))
    A = (1 - 1.2 * ratio) / (1 - ratio)
    return 0.11 / (1 - A) ** 2 * max(psi - A, 0.0) ** 2 / psi


def at_rest(cls, V, S, **values):
    machine = Alone(cls, **values, bus=V)
    return machine.but(**machine.start(power=SimpleNamespace(P=np.real(S), Q=np.imag(S))))


@st.composite
def parameters(draw, cls):
    """Valid ones, Xl below the sub-transient reactances and these below the transient ones."""
    part = st.floats(0.05, 0.95)
    Xd, Xq = draw(st.floats(0.5, 3.0)), draw(st.floats(0.5, 3.0))
    Xdp, Xqp = Xd * draw(part), Xq * draw(part)
    Xl = min(Xdp, Xqp) * draw(part)
    values = dict(H=draw(st.floats(1, 10)), D=draw(st.floats(0, 3)), Rs=draw(st.floats(0, 0.02)), Xd=Xd, Xq=Xq, Xdp=Xdp,
                  Xqp=Xqp, Xl=Xl, Xdpp=Xl + (Xdp - Xl) * draw(part), Xqpp=Xl + (Xqp - Xl) * draw(part), Td0p=8.0,
                  Td0pp=0.03, Tq0p=draw(st.sampled_from([0.0, 0.4])), Tq0pp=0.05, S10=0.11, S12=0.48)
    return values | (dict(Kis=draw(st.floats(0, 0.2))) if cls is GENTPJ else {})


@machines
@given(data=st.data())
def test_start_is_the_equilibrium_for_any_valid_parameters(cls, data):
    values = data.draw(parameters(cls))
    assert cls.check(values) is None
    V = data.draw(st.floats(0.9, 1.1)) * np.exp(1j * data.draw(st.floats(-3, 3)))
    S = data.draw(st.floats(-0.2, 1.0)) + 1j * data.draw(st.floats(-0.5, 0.8))
    machine = at_rest(cls, V, S, **values)
    assert_allclose(machine.scope.rates(), 0, atol=1e-11 * (1 + abs(machine["Efd"])))
    assert_allclose(machine.residuals(), 0, atol=1e-12)
    assert_allclose(V * np.conj(machine.current()), S, atol=1e-12)
    assert machine["XadIfd"] == pytest.approx(machine["Efd"])
    assert machine["Pe"] == pytest.approx(S.real + values["Rs"] * abs(machine.current()) ** 2)


@machines
@pytest.mark.parametrize(("voltage", "saturation"), [(1.0, 0.11), (1.2, 0.48)])
def test_field_current_at_no_load_is_on_the_saturation_curve(cls, voltage, saturation):
    machine = at_rest(cls, voltage * np.exp(0.7j), 0.0, **DATA, **SATURATED, **MODELS[cls])
    assert machine["XadIfd"] == pytest.approx(voltage * (1 + saturation), rel=1e-13)


@machines
def test_steady_state_under_load_is_that_of_the_saturated_synchronous_reactances(cls):
    """Mutual reactances over Sd and Sq, the leakage reactance as it is; the phasor equations solved by iteration."""
    V, S, d = 1.03 * np.exp(0.35j), 0.78 + 0.31j, DATA
    current = np.conj(S / V)
    s = factor(abs(V + (d["Rs"] + 1j * d["Xl"]) * current) + MODELS[cls].get("Kis", 0.0) * abs(current))
    Sd, Sq = 1 + s, 1 + s * d["Xq"] / d["Xd"]
    Xd, Xq = (d["Xd"] - d["Xl"]) / Sd + d["Xl"], (d["Xq"] - d["Xl"]) / Sq + d["Xl"]

    def equations(x):
        delta, Efd = x
        turn = np.exp(-1j * (delta - np.pi / 2))
        v, i = V * turn, current * turn
        return v.real + d["Rs"] * i.real - Xq * i.imag, v.imag + d["Rs"] * i.imag + Xd * i.real - Efd / Sd

    delta, Efd = fsolve(equations, (0.9, 2.0), xtol=1e-13)
    machine = at_rest(cls, V, S, **d, **SATURATED, **MODELS[cls])
    assert_allclose([machine["delta"], machine["Efd"]], [delta, Efd], rtol=1e-10)


@machines
@pytest.mark.parametrize("torque", [0.0, 1.0])
def test_after_a_voltage_step_it_follows_its_equations(cls, torque):
    """As published, with the saturation found anew by root finding at every evaluation."""
    d, Kis = DATA | SATURATED, MODELS[cls].get("Kis", 0.0)
    case = gc.Case("alone")
    case.add(gc.Record("Bus", {"id": 1}))
    case.add(gc.Record("InfiniteBus", {"id": "INF", "bus": 1, "control": "slack", "V0": 1.02}))
    case.add(gc.Record(cls.__name__, {"id": "G", "bus": 1, "control": "PQ", "P0": 0.7, "Q0": 0.2, **d, **MODELS[cls],
                                      "torque": torque}))
    case.add(gc.ParameterStep(id="step", parameter="INF.E", t=0.0, scale=0.9))
    run = gc.simulate(gc.build(case), t_end=0.6, step=5e-4)
    Efd, Pm = run["G", "Efd"][0], run["G", "Pm"][0]

    def solved(x, V, s):
        """Sd, Sq and the current, with a saturation s."""
        Sd, Sq = 1 + s, 1 + s * d["Xq"] / d["Xd"]
        Xd, Xq = (d["Xdpp"] - d["Xl"]) / Sd + d["Xl"], (d["Xqpp"] - d["Xl"]) / Sq + d["Xl"]
        v = V * np.exp(-1j * (x[0] - np.pi / 2))
        Id, Iq = np.linalg.solve([[d["Rs"], -Xq], [Xd, d["Rs"]]], [x[5] - v.real, x[3] - v.imag])
        return Sd, Sq, Id, Iq, v

    def miss(s, x, V):
        *_, Id, Iq, v = solved(x, V, s)
        current = Id + 1j * Iq
        return factor(abs(v + (d["Rs"] + 1j * d["Xl"]) * current) + Kis * abs(current)) - s

    def slope(V):
        def rates(t, x):
            _, omega, Eqp, Eqpp, Edp, Edpp = x
            Sd, Sq, Id, Iq, v = solved(x, V, brentq(miss, 0.0, 5.0, args=(x, V), xtol=1e-14))
            Te = v.real * Id + v.imag * Iq + d["Rs"] * (Id * Id + Iq * Iq)
            shaft = (Pm - d["D"] * (omega - 1)) / (omega if torque else 1.0)
            a, b, c, e = d["Xdp"] - d["Xdpp"], d["Xd"] - d["Xdp"], d["Xqp"] - d["Xqpp"], d["Xq"] - d["Xqp"]
            return np.array([120 * np.pi * (omega - 1), (shaft - Te) / (2 * d["H"]),
                             (Efd - Sd * ((a + b) / a * Eqp - b / a * Eqpp)) / d["Td0p"],
                             (Sd * (Eqp - Eqpp) - a * Id) / d["Td0pp"],
                             -Sq * ((c + e) / c * Edp - e / c * Edpp) / d["Tq0p"],
                             (Sq * (Edp - Edpp) + c * Iq) / d["Tq0pp"]])

        return rates

    names = ("delta", "omega", "Eqp", "Eqpp", "Edp", "Edpp")
    x0 = np.array([run["G", name][0] for name in names])
    assert_allclose(slope(1.02)(0.0, x0), 0, atol=1e-8)
    late = run.t > 0
    found = solve_ivp(slope(1.02 * 0.9), (0, 0.6), x0, rtol=1e-9, atol=1e-11, t_eval=run.t[late])
    for name, expected in zip(names, found.y):
        assert np.ptp(expected) > 1e-4
        assert_allclose(run["G", name][late], expected, atol=1e-4 * np.ptp(expected), err_msg=name)


@pytest.mark.parametrize(("change", "word"), [(dict(Xl=0.23), "Xdpp must be above Xl"), (dict(Xdp=0.2), "Xdp must be"),
                                              (dict(Xqp=0.2), "Xqp must be"), (dict(S10=0.2, S12=0.1), "S10")])
def test_data_without_a_meaning_are_refused(change, word):
    case = gc.Case("alone")
    case.add(gc.Record("Bus", {"id": 1}))
    case.add(gc.Record("GENTPJ", {"id": "G", "bus": 1, "control": "slack", **DATA, **change}))
    with pytest.raises(GridcoreError, match=word):
        gc.build(case)
