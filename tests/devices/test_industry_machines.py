"""PSS/E's machines: against the circuits of their windings, their saturation curves, and equilibrium."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve
from standalone import Alone

import gridcore as gc
from gridcore.errors import GridcoreError
from gridcore_devices import GENCLS, GENROE, GENROU, GENSAE, GENSAL, Classical

# Kundur (1994), example 12.6; saturation of ACTIVSg200's largest unit
ROUND = dict(H=6.5, D=0.0, Rs=0.0025, Xd=1.8, Xq=1.7, Xdp=0.3, Xqp=0.55, Xdpp=0.25, Xl=0.2,
             Td0p=8.0, Td0pp=0.03, Tq0p=0.4, Tq0pp=0.05)
SALIENT = {k: v for k, v in ROUND.items() if k not in ("Xqp", "Tq0p")} | dict(Xq=1.1)
DATA = {GENROU: ROUND, GENROE: ROUND, GENSAL: SALIENT, GENSAE: SALIENT}
CLOSE = 1e-4  # of the range over which a variable moves: the error of the step of half a millisecond
SATURATED = dict(S10=0.11, S12=0.48)
machines = pytest.mark.parametrize("cls", list(DATA), ids=lambda cls: cls.__name__)


def at_rest(cls, V, S, **values):
    machine = Alone(cls, **values, bus=V)
    return machine.but(**machine.start(power=SimpleNamespace(P=np.real(S), Q=np.imag(S))))


# ---------------------------------------------------------------- equilibrium


@st.composite
def parameters(draw, cls):
    """Valid ones: Xl < Xdpp < Xdp < Xd and so on, any saturation curve that grows."""
    part = st.floats(0.05, 0.95)
    Xd = draw(st.floats(0.3, 3.0))
    Xdp = Xd * draw(part)
    Xqp = Xd * draw(part)
    Xl = min(Xdp, Xqp) * draw(part)
    Xdpp = Xl + (min(Xdp, Xqp) - Xl) * draw(part)
    S10 = draw(st.floats(0.001, 0.4))
    values = dict(H=draw(st.floats(1, 10)), D=draw(st.floats(0, 3)), Rs=draw(st.floats(0, 0.02)), Xd=Xd, Xdp=Xdp,
                  Xq=max(Xqp, Xdpp) + (Xd - Xl) * draw(part), Xdpp=Xdpp, Xl=Xl, Td0p=draw(st.floats(1, 10)),
                  Td0pp=draw(st.floats(0.01, 0.1)), Tq0pp=draw(st.floats(0.01, 0.1)), S10=S10,
                  S12=S10 * draw(st.floats(1.01, 10)))
    return values if cls in (GENSAL, GENSAE) else values | dict(Xqp=Xqp, Tq0p=draw(st.floats(0.1, 2)))


@pytest.mark.parametrize("saturated", [True, False])
@machines
@settings(max_examples=settings.default.max_examples // 4)
@given(data=st.data())
def test_start_is_the_equilibrium_for_any_valid_parameters(cls, saturated, data):
    values = data.draw(parameters(cls))
    if not saturated:
        values |= dict(S10=0.0, S12=0.0)
    V = data.draw(st.floats(0.9, 1.1)) * np.exp(1j * data.draw(st.floats(-3, 3)))
    S = data.draw(st.floats(-0.2, 1.0)) + 1j * data.draw(st.floats(-0.5, 0.8))
    assert cls.check(values) is None
    machine = at_rest(cls, V, S, **values)
    assert_allclose(machine.scope.rates(), 0, atol=1e-12 * (1 + abs(machine["Efd"])))
    assert_allclose(V * np.conj(machine.current()), S, atol=1e-12)
    assert_allclose([machine["P"], machine["Q"]], [S.real, S.imag], atol=1e-12)
    assert machine["XadIfd"] == pytest.approx(machine["Efd"])
    assert machine["Pe"] == pytest.approx(S.real + values["Rs"] * abs(machine.current()) ** 2)


# ---------------------------------------------------------------- saturation


@pytest.mark.parametrize("cls", [GENROU, GENROE, GENSAE])
@pytest.mark.parametrize(("voltage", "saturation"), [(1.0, 0.11), (1.2, 0.48)])
def test_field_current_at_no_load_is_on_the_saturation_curve(cls, voltage, saturation):
    """S(1.0) and S(1.2) are defined by the open-circuit characteristic: IEEE Std 1110-2002, section 5.2."""
    machine = at_rest(cls, voltage * np.exp(0.7j), 0.0, **DATA[cls], **SATURATED)
    assert machine["XadIfd"] == pytest.approx(voltage * (1 + saturation), rel=1e-13)


@pytest.mark.parametrize(("voltage", "saturation"), [(1.0, 0.11), (1.2, 0.48)])
def test_field_current_of_a_salient_machine_at_no_load_is_on_the_saturation_curve(voltage, saturation):
    machine = at_rest(GENSAL, voltage, 0.0, **SALIENT, **SATURATED)
    assert machine["XadIfd"] == pytest.approx(voltage * (1 + saturation), rel=1e-13)


def test_saturation_curves_between_and_below_their_points():
    curve = {cls: [at_rest(cls, V, 0.0, **DATA[cls], **SATURATED)["XadIfd"] / V - 1 for V in (0.5, 1.1)]
             for cls in DATA}
    ratio = np.sqrt(0.11 / (1.2 * 0.48))
    A = (1 - 1.2 * ratio) / (1 - ratio)
    parabola = 0.11 / (1 - A) ** 2 * (1.1 - A) ** 2 / 1.1
    assert_allclose(curve[GENROU], [0, parabola], rtol=1e-12, atol=1e-14)
    assert_allclose(curve[GENSAL], [0, parabola], rtol=1e-12, atol=1e-14)
    n = np.log(0.48 / 0.11) / np.log(1.2)
    for cls in (GENROE, GENSAE):
        assert_allclose(curve[cls], [0.11 * 0.5**n, 0.11 * 1.1**n], rtol=1e-12)


@pytest.mark.parametrize("cls", [GENROU, GENROE, GENSAE])
def test_steady_state_under_load_is_that_of_the_saturated_reactances(cls):
    """With S known, a machine in steady state has Xad/(1 + S) for Xad on either axis: Kundur (1994), section 3.6.

    That the q axis saturates by ``S (Xq - Xl)/(Xd - Xl)`` and the flux behind Xdpp sets S is PSS/E's definition; here
    the phasor equations with these are solved by iteration, not in closed form.
    """
    V, S = 1.03 * np.exp(0.35j), 0.78 + 0.21j
    d = DATA[cls]
    current = np.conj(S / V)
    flux = abs(V + (d["Rs"] + 1j * d["Xdpp"]) * current)
    factor = at_rest(cls, flux, 0.0, **d, **SATURATED)["XadIfd"] / flux - 1

    def equations(x):
        delta, Efd = x
        turn = np.exp(-1j * (delta - np.pi / 2))
        behind, Idq = (V + (d["Rs"] + 1j * d["Xdpp"]) * current) * turn, current * turn
        part_q = factor * (d["Xq"] - d["Xl"]) / (d["Xd"] - d["Xl"])
        return ((1 + part_q) * behind.real - (d["Xq"] - d["Xdpp"]) * Idq.imag,
                (1 + factor) * behind.imag + (d["Xd"] - d["Xdpp"]) * Idq.real - Efd)

    delta, Efd = fsolve(equations, (0.9, 2.0), xtol=1e-13)
    machine = at_rest(cls, V, S, **d, **SATURATED)
    assert_allclose([machine["delta"], machine["Efd"]], [delta, Efd], rtol=1e-10)


@machines
def test_no_saturation_where_none_is_given_and_its_derivatives_are_finite(cls):
    machine = at_rest(cls, 1.05, 0.8 + 0.3j, **DATA[cls], S10=0.0, S12=0.0)
    assert machine["XadIfd"] == pytest.approx(machine["airgap_line"], rel=1e-15)
    # S12 before S10: at S10 = 0 the exponential has no derivative
    assert np.isfinite(machine.jacobian(["S12", "Eqp", "psikd"] + ["S10"] * (cls not in (GENROE, GENSAE)))).all()


@pytest.mark.parametrize("cls", [GENROU, GENSAL])
def test_no_saturation_where_its_first_point_is_zero(cls):
    """PSS/E's trajectories of S(1.0) = 0, S(1.2) = 1 are those of a machine without saturation."""
    machine = at_rest(cls, 1.15, 0.8 + 0.3j, **DATA[cls], S10=0.0, S12=1.0)
    assert machine["XadIfd"] == pytest.approx(machine["airgap_line"], rel=1e-15)
    assert np.isfinite(machine.jacobian(["S10", "S12", "Eqp", "psikd"])).all()


# ---------------------------------------------------------------- dynamics


@machines
def test_power_at_the_shaft_over_speed_is_its_torque_where_that_is_asked_for(cls):
    machine = at_rest(cls, 1.02, 0.8 + 0.3j, **DATA[cls] | dict(D=2.0)).but(omega=1.05)
    shaft = machine["Pm"] - 2.0 * 0.05
    for torque, turning in ((0.0, shaft), (1.0, shaft / 1.05)):
        slope = machine.but(torque=torque).rates()[1]
        assert slope == pytest.approx((turning - machine["Pe"]) / (2 * machine["H"]), rel=1e-12)


class Circuits:
    """The windings of one axis as circuits: Kundur (1994), figures 3.18 and 4.1, by field and damper inductances.

    Rotor fluxes are the states; the stator's flux behind the leakage reactance and the field current follow from
    ``psi_ad = Xad (i_f + i_1 - Idq)`` and ``psi_k = psi_ad + X_k i_k``.
    """

    def __init__(self, X, Xp, Xpp, Xl, T0p, T0pp):
        self.mutual = X - Xl

        def beside(a, b):
            return a * b / (a - b) if a != b else np.inf  # the reactance that turns a into b in parallel

        self.first = beside(self.mutual, Xp - Xl)
        self.second = beside(Xp - Xl, Xpp - Xl)
        self.R = np.array([(self.mutual + self.first) / T0p, (self.second + Xp - Xl) / T0pp])  # times omega_b
        self.X = np.array([self.first, self.second])

    def airgap(self, psi, Idq):
        return (np.sum(psi / self.X) - Idq) / (1 / self.mutual + np.sum(1 / self.X))

    def solve(self, psi, Idq, voltage=0.0):
        """Slope of psi, and the currents of the windings; `voltage` is Efd, pu of the air-gap line."""
        currents = (psi - self.airgap(psi, Idq)) / self.X
        applied = np.array([self.R[0] / self.mutual * voltage, 0.0])
        return applied - self.R * currents, currents


def circuit_machine(d, V_of_t, Efd_of_t, Pm, delta, E):
    """Rotor circuits, stator without dynamics and swing equation as one differential equation."""
    on_d = Circuits(d["Xd"], d["Xdp"], d["Xdpp"], d["Xl"], d["Td0p"], d["Td0pp"])
    on_q = Circuits(d["Xq"], d["Xqp"], d["Xdpp"], d["Xl"], d["Tq0p"], d["Tq0pp"])
    Z = np.array([[d["Rs"], -d["Xl"]], [d["Xl"], d["Rs"]]])

    def stator(x, V):
        """Id, Iq: V + (Rs + j Xl) I is the air-gap voltage, linear in Idq."""
        turned = V * np.exp(-1j * (x[0] - np.pi / 2))

        def mismatch(Idq):
            air = -on_q.airgap(x[4:6], Idq[1]), on_d.airgap(x[2:4], Idq[0])
            return np.array([turned.real, turned.imag]) + Z @ Idq - air

        offset = mismatch(np.zeros(2))
        slope = np.array([mismatch(unit) - offset for unit in np.eye(2)]).T
        return np.linalg.solve(slope, -offset)

    def slope(t, x):
        Idq = stator(x, V_of_t(t))
        torque = on_d.airgap(x[2:4], Idq[0]) * Idq[1] - on_q.airgap(x[4:6], Idq[1]) * Idq[0]
        return np.array([120 * np.pi * (x[1] - 1), (Pm - torque) / (2 * d["H"]),
                         *on_d.solve(x[2:4], Idq[0], Efd_of_t(t))[0], *on_q.solve(x[4:6], Idq[1])[0]])

    def outputs(t, x):
        Idq = stator(x, V_of_t(t))
        return *Idq, on_d.mutual * on_d.solve(x[2:4], Idq[0])[1][0]

    def rest(x):
        return slope(0.0, np.concatenate([[delta, 1.0], x]))[2:]

    start = np.concatenate([[delta, 1.0], fsolve(rest, [E, E, 0, 0], xtol=1e-13)])
    return slope, outputs, start


def machine_on_a_stiff_bus(cls, values, *events):
    """A machine whose bus holds the voltage that it is told."""
    case = gc.Case("alone")
    case.add(gc.Record("Bus", {"id": 1}))
    case.add(gc.Record("InfiniteBus", {"id": "INF", "bus": 1, "control": "slack", "V0": 1.02}))
    case.add(gc.Record(cls.__name__, {"id": "G", "bus": 1, "control": "PQ", "P0": 0.7, "Q0": 0.2, **values}))
    for event in events:
        case.add(event)
    return case


@pytest.mark.parametrize("disturbance", ["voltage", "field", "angle"])
def test_round_rotor_machine_without_saturation_is_the_circuits_of_its_windings(disturbance):
    """A step of terminal voltage, of field voltage, or of the angle of the grid; half a second, full nonlinearity."""
    address, factor = {"voltage": ("INF.E", 0.8), "field": ("G.Efd", 1.4), "angle": ("INF.angle", None)}[disturbance]
    step = dict(scale=factor) if factor else dict(by=0.3)
    case = machine_on_a_stiff_bus(GENROU, ROUND, gc.ParameterStep(id="step", parameter=address, t=0.0, **step))
    run = gc.simulate(gc.build(case), t_end=0.5, step=5e-4)
    rest = {name: run["G", name][0] for name in ("delta", "Efd", "Pm", "Eqp")}
    V = 1.02 * (factor if disturbance == "voltage" else 1.0) * np.exp(0.3j * (disturbance == "angle"))
    Efd = rest["Efd"] * (factor if disturbance == "field" else 1.0)
    before = circuit_machine(ROUND, lambda t: 1.02, lambda t: rest["Efd"], rest["Pm"], rest["delta"], rest["Eqp"])
    after = circuit_machine(ROUND, lambda t: V, lambda t: Efd, rest["Pm"], rest["delta"], rest["Eqp"])
    assert_allclose(before[0](0.0, before[2]), 0, atol=1e-9)  # the same equilibrium
    late = run.t > 0
    solved = solve_ivp(after[0], (0, 0.5), before[2], rtol=1e-10, atol=1e-12, t_eval=run.t[late])
    Id, Iq, XadIfd = np.array([after[1](t, x) for t, x in zip(solved.t, solved.y.T)]).T
    for name, expected, moves in (("delta", solved.y[0], 1e-3), ("omega", solved.y[1], 1e-5), ("Id", Id, 1e-2),
                                  ("Iq", Iq, 1e-3), ("XadIfd", XadIfd, 1e-2)):
        assert np.ptp(expected) > moves, name
        assert_allclose(run["G", name][late], expected, atol=CLOSE * np.ptp(expected), err_msg=name)


@machines
def test_step_of_the_field_voltage_at_no_load_follows_the_open_circuit_time_constants(cls):
    """At open circuit the d axis is linear: Td0p (the field alone) and Td0pp, as a two-by-two system."""
    values = DATA[cls] | dict(Rs=0.0)
    machine = at_rest(cls, 1.0, 0.0, **values)

    def rates(Eqp, psikd):
        # no current flows where the terminal voltage is E''
        open_circuit = machine.but(Eqp=Eqp, psikd=psikd)
        delta = machine["delta"]
        E = 1j * open_circuit["psidpp"] * np.exp(1j * (delta - np.pi / 2))
        open_circuit = open_circuit.but(**{"bus.Vr": E.real, "bus.Vi": E.imag})
        assert abs(open_circuit.current()) < 1e-15
        return open_circuit.rates()[2:4]

    offset = rates(0.0, 0.0)
    A = np.array([rates(1.0, 0.0) - offset, rates(0.0, 1.0) - offset]).T
    behind = (values["Xd"] - values["Xdp"]) * (values["Xdp"] - values["Xdpp"]) / (values["Xdp"] - values["Xl"]) ** 2
    expected = np.array([[-(1 + behind) / 8.0, behind / 8.0], [1 / 0.03, -1 / 0.03]])
    assert_allclose(A, expected, rtol=1e-12)


def block_diagram(d, V, Efd, Pm, S):
    """GENROU/GENROE as drawn in PSS/E's manual, with the saturation ``S(psi)`` given as a function."""
    gd1, gd2 = (d["Xdpp"] - d["Xl"]) / (d["Xdp"] - d["Xl"]), (d["Xdp"] - d["Xdpp"]) / (d["Xdp"] - d["Xl"]) ** 2
    gq1, gq2 = (d["Xdpp"] - d["Xl"]) / (d["Xqp"] - d["Xl"]), (d["Xqp"] - d["Xdpp"]) / (d["Xqp"] - d["Xl"]) ** 2

    def slope(t, x):
        delta, omega, Eq, kd, Ed, kq = x  # kq and Ed count as the drawing does: positive for positive Iq
        flux_d = gd1 * Eq + (d["Xdp"] - d["Xdpp"]) / (d["Xdp"] - d["Xl"]) * kd
        flux_q = gq1 * Ed + (d["Xqp"] - d["Xdpp"]) / (d["Xqp"] - d["Xl"]) * kq
        Idq = (flux_q + 1j * flux_d - V * np.exp(-1j * (delta - np.pi / 2))) / (d["Rs"] + 1j * d["Xdpp"])
        Id, Iq = Idq.real, Idq.imag
        in_d, in_q = kd + (d["Xdp"] - d["Xl"]) * Id - Eq, kq - (d["Xqp"] - d["Xl"]) * Iq - Ed
        s = S(abs(flux_q + 1j * flux_d))
        Ifd = Eq + (d["Xd"] - d["Xdp"]) * (Id - gd2 * in_d) + s * flux_d
        Iqq = Ed - (d["Xq"] - d["Xqp"]) * (Iq + gq2 * in_q) + s * flux_q * (d["Xq"] - d["Xl"]) / (d["Xd"] - d["Xl"])
        return np.array([120 * np.pi * (omega - 1), (Pm - flux_d * Iq - flux_q * Id) / (2 * d["H"]),
                         (Efd - Ifd) / d["Td0p"], -in_d / d["Td0pp"], -Iqq / d["Tq0p"], -in_q / d["Tq0pp"]])

    return slope


@pytest.mark.parametrize("cls", [GENROU, GENROE])
def test_saturated_round_rotor_machine_after_a_voltage_step_is_the_block_diagram(cls):
    values = ROUND | SATURATED
    case = machine_on_a_stiff_bus(cls, values, gc.ParameterStep(id="step", parameter="INF.E", t=0.0, scale=1.1))
    run = gc.simulate(gc.build(case), t_end=1.0, step=5e-4)
    n = np.log(0.48 / 0.11) / np.log(1.2)
    ratio = np.sqrt(0.11 / (1.2 * 0.48))
    A = (1 - 1.2 * ratio) / (1 - ratio)
    curve = {GENROE: lambda psi: 0.11 * psi**n, GENROU: lambda psi: 0.11 / (1 - A) ** 2 * max(psi - A, 0) ** 2 / psi}
    names, signs = ("delta", "omega", "Eqp", "psikd", "Edp", "psikq"), np.array([1, 1, 1, 1, 1, -1])
    x0 = signs * [run["G", name][0] for name in names]
    Efd, Pm = run["G", "Efd"][0], run["G", "Pm"][0]
    assert_allclose(block_diagram(values, 1.02, Efd, Pm, curve[cls])(0.0, x0), 0, atol=1e-9)
    late = run.t > 0
    solved = solve_ivp(block_diagram(values, 1.02 * 1.1, Efd, Pm, curve[cls]), (0, 1), x0, rtol=1e-10, atol=1e-12,
                       t_eval=run.t[late])
    for name, sign, expected in zip(names, signs, solved.y):
        assert np.ptp(expected) > 1e-4
        assert_allclose(sign * run["G", name][late], expected, atol=CLOSE * np.ptp(expected), err_msg=name)


def test_gensae_after_a_voltage_step_is_its_block_diagram():
    """PSS/E's drawing: exponential saturation on both axes, one damper winding on the q axis."""
    d = SALIENT | SATURATED
    case = machine_on_a_stiff_bus(GENSAE, d, gc.ParameterStep(id="step", parameter="INF.E", t=0.0, scale=1.1))
    run = gc.simulate(gc.build(case), t_end=1.0, step=5e-4)
    n, Efd, Pm = np.log(0.48 / 0.11) / np.log(1.2), run["G", "Efd"][0], run["G", "Pm"][0]
    gd1, gd2 = (d["Xdpp"] - d["Xl"]) / (d["Xdp"] - d["Xl"]), (d["Xdp"] - d["Xdpp"]) / (d["Xdp"] - d["Xl"]) ** 2

    def slope(V):
        def rates(t, x):
            delta, omega, Eq, kd, flux_q = x
            flux_d = gd1 * Eq + (1 - gd1) * kd
            Idq = (-flux_q + 1j * flux_d - V * np.exp(-1j * (delta - np.pi / 2))) / (d["Rs"] + 1j * d["Xdpp"])
            in_d = kd + (d["Xdp"] - d["Xl"]) * Idq.real - Eq
            s = 0.11 * abs(flux_q + 1j * flux_d) ** n
            Ifd = Eq + (d["Xd"] - d["Xdp"]) * (Idq.real - gd2 * in_d) + s * flux_d
            Iqq = flux_q + (d["Xq"] - d["Xdpp"]) * Idq.imag + s * flux_q * (d["Xq"] - d["Xl"]) / (d["Xd"] - d["Xl"])
            return np.array([120 * np.pi * (omega - 1), (Pm - flux_d * Idq.imag + flux_q * Idq.real) / (2 * d["H"]),
                             (Efd - Ifd) / d["Td0p"], -in_d / d["Td0pp"], -Iqq / d["Tq0pp"]])

        return rates

    names = ("delta", "omega", "Eqp", "psikd", "psiqpp")
    x0 = np.array([run["G", name][0] for name in names])
    assert_allclose(slope(1.02)(0.0, x0), 0, atol=1e-9)
    late = run.t > 0
    solved = solve_ivp(slope(1.02 * 1.1), (0, 1), x0, rtol=1e-10, atol=1e-12, t_eval=run.t[late])
    for name, expected in zip(names, solved.y):
        assert np.ptp(expected) > 1e-4
        assert_allclose(run["G", name][late], expected, atol=CLOSE * np.ptp(expected), err_msg=name)


def test_salient_machine_is_the_round_rotor_one_without_its_second_winding():
    """With Xqp = Xq and no saturation the second q winding does nothing: the q axis is GENSAL's."""
    round_rotor = ROUND | dict(Xq=1.1, Xqp=1.1)
    events = [gc.ParameterStep(id="step", parameter="INF.E", t=0.05, scale=0.7)]
    one, two = (gc.simulate(gc.build(machine_on_a_stiff_bus(cls, values, *events)), t_end=0.6, step=2e-3)
                for cls, values in ((GENROU, round_rotor), (GENSAL, SALIENT)))
    for name in ("delta", "omega", "Eqp", "psikd", "Id", "Iq", "psiqpp", "XadIfd", "Pe"):
        assert_allclose(one["G", name], two["G", name], atol=1e-12, err_msg=name)


def test_saturation_of_a_salient_machine_is_of_its_transient_voltage_alone():
    machine = Alone(GENSAL, **SALIENT, **SATURATED, delta=0.8, omega=1.0, Eqp=1.13, psikd=0.9, psiqpp=-0.4, Efd=1.5,
                    Pm=0.8, bus=0.97 + 0.1j)
    unsaturated = machine.but(S10=0.0, S12=0.0)
    ratio = np.sqrt(0.11 / (1.2 * 0.48))
    A = (1 - 1.2 * ratio) / (1 - ratio)
    assert machine["XadIfd"] - unsaturated["XadIfd"] == pytest.approx(0.11 / (1 - A) ** 2 * (1.13 - A) ** 2)
    lost = machine.rates() - unsaturated.rates()
    assert_allclose(lost, [0, 0, -0.11 / (1 - A) ** 2 * (1.13 - A) ** 2 / 8.0, 0, 0], rtol=1e-11)


# ---------------------------------------------------------------- GENCLS


def test_gencls_is_the_classical_machine():
    values = dict(H=3.5, D=2.0, Rs=0.01, Xdp=0.3, bus=1.02 + 0.1j)
    one, two = (at_rest(cls, 1.02 + 0.1j, 0.7 + 0.2j, **{k: v for k, v in values.items() if k != "bus"})
                for cls in (GENCLS, Classical))
    assert_allclose(one.but(delta=0.9, omega=1.02).rates(), two.but(delta=0.9, omega=1.02).rates(), rtol=1e-14)


def test_gencls_without_inertia_is_an_infinite_bus_behind_its_impedance():
    case = machine_on_a_stiff_bus(GENCLS, dict(H=0.0, Xdp=0.2), gc.ParameterStep(id="s", parameter="INF.E", t=0.1,
                                                                               scale=0.5))
    run = gc.simulate(gc.build(case), t_end=5.0, step=0.01)
    assert np.ptp(run["G", "P"]) > 0.3
    assert np.abs(run["G", "omega"] - 1).max() < 1e-9
    assert np.ptp(run["G", "delta"]) < 1e-6


# ---------------------------------------------------------------- data


@pytest.mark.parametrize(("cls", "change", "word"), [
    (GENROU, dict(Xdp=0.2), "Xdp must not be Xl"), (GENROU, dict(Xqp=0.2), "Xqp must not be Xl"),
    (GENROU, dict(Xl=1.8), "Xd must be above Xl"),
    (GENROU, dict(S10=0.2, S12=0.1), "S12"), (GENROU, dict(S10=0.2, S12=0.0), "S12"), (GENSAL, dict(Xd=0.1), "Xd "),
    (GENROE, dict(S12=0.2), "exponential")])
def test_data_that_make_no_machine_are_refused(cls, change, word):
    with pytest.raises(GridcoreError, match=word):
        gc.build(machine_on_a_stiff_bus(cls, DATA[cls] | change))


@pytest.mark.parametrize("name", ["Xdp", "Xqp"])
def test_a_transient_reactance_below_the_leakage_is_told_and_the_machine_rests_all_the_same(name):
    """There are such data in files of the industry, and programs run them."""
    with pytest.warns(gc.errors.DataWarning, match=rf"{name}.*hardly meant: plausible is Xl to"):
        built = gc.build(machine_on_a_stiff_bus(GENROU, DATA[GENROU] | {name: 0.15, "Xdpp": 0.1}))
    run = gc.simulate(built, t_end=1.0, step=0.01)
    assert np.abs(run.X - run.X[0]).max() < 1e-9


def test_records_are_in_the_order_of_the_industry():
    """Of 11BUS_KUNDUR_TGOV.dyr (NREL-Sienna/PowerSystemsTestData), GENROU at bus 1."""
    record = "8 0.03 0.4 0.05 6.5 0 1.8 1.7 0.30 0.55 0.25 0.2 0.0 0.0"
    read = dict(zip(GENROU.dyr, map(float, record.split()), strict=True))
    assert read == {name: value for name, value in (ROUND | dict(S10=0.0, S12=0.0)).items() if name != "Rs"}
    assert GENROE.dyr == GENROU.dyr
    assert [name for name in GENROU.dyr if name not in ("Tq0p", "Xqp")] == list(GENSAL.dyr)
    assert GENCLS.dyr == ("H", "D")
