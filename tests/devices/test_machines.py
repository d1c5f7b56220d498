from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from standalone import Alone

from gridcore_devices import Classical, FluxDecay, InfiniteBus, TwoAxis

# Sauer & Pai (1998), table 7.3 and figure 7.4: machines of the WSCC system, their voltage and power
BOOK = [
    dict(H=23.64, Xd=0.146, Xdp=0.0608, Xq=0.0969, Xqp=0.0969, Td0p=8.96, Tq0p=0.31),
    dict(H=6.4, Xd=0.8958, Xdp=0.1198, Xq=0.8645, Xqp=0.1969, Td0p=6.0, Tq0p=0.535),
    dict(H=3.01, Xd=1.3125, Xdp=0.1813, Xq=1.2578, Xqp=0.25, Td0p=5.89, Tq0p=0.6),
]
VOLTAGE = [1.04, 1.025 * np.exp(1j * np.radians(9.3)), 1.025 * np.exp(1j * np.radians(4.7))]
POWER = [0.716 + 0.27j, 1.63 + 0.067j, 0.85 - 0.109j]
# section 7.6: delta (deg), Id, Iq, E'd, E'q, Efd
INITIAL = [
    (3.58, 0.302, 0.671, 0.0, 1.056, 1.082),
    (61.1, 1.29, 0.931, 0.622, 0.788, 1.789),
    (54.2, 0.562, 0.619, 0.624, 0.768, 1.403),
]


def power(S):
    return SimpleNamespace(P=np.real(S), Q=np.imag(S))


@pytest.mark.parametrize("number", range(3))
def test_two_axis_machine_starts_as_in_the_book(number):
    start = Alone(TwoAxis, **BOOK[number], bus=VOLTAGE[number]).start(power=power(POWER[number]))
    found = [np.degrees(start["delta"]), *(start[name] for name in ("Id", "Iq", "Edp", "Eqp", "Efd"))]
    assert_allclose(found, INITIAL[number], rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(("cls", "names"), [
    (TwoAxis, BOOK[1] | {"Rs": 0.01}),
    (FluxDecay, {k: v for k, v in BOOK[1].items() if k in ("H", "Xd", "Xq", "Xdp", "Td0p")} | {"Rs": 0.01}),
    (Classical, {"H": 6.4, "Xdp": 0.1198, "Rs": 0.01}),
])
def test_start_is_the_equilibrium_at_the_given_power(cls, names):
    V, S = 1.025 * np.exp(0.16j), 1.63 + 0.07j
    machine = Alone(cls, **names, bus=V)
    at_rest = machine.but(**machine.start(power=power(S)))
    assert_allclose(at_rest.rates(), 0, atol=1e-14)
    assert_allclose(V * np.conj(at_rest.current()), S, rtol=1e-14)
    assert_allclose([at_rest["P"], at_rest["Q"]], [1.63, 0.07], rtol=1e-13)
    if cls is TwoAxis:
        assert_allclose(at_rest.residuals(), 0, atol=1e-14)


def two_axis(rng):
    """A machine in no particular state, its currents solved from Sauer & Pai eq. 7.8 as a phasor equation."""
    d = BOOK[2] | {"Rs": 0.02}
    delta, Edp, Eqp = rng.uniform(-2, 2), rng.uniform(-1, 1), rng.uniform(0.5, 1.5)
    V = rng.uniform(0.2, 1.1) * np.exp(1j * rng.uniform(-3, 3))
    turn = np.exp(1j * (delta - np.pi / 2))

    def mismatch(Id, Iq):
        E = (Edp + (d["Xqp"] - d["Xdp"]) * Iq + 1j * Eqp) * turn
        return V + (d["Rs"] + 1j * d["Xdp"]) * (Id + 1j * Iq) * turn - E

    offset = mismatch(0, 0)
    columns = np.array([mismatch(1, 0) - offset, mismatch(0, 1) - offset])
    Id, Iq = np.linalg.solve(np.array([columns.real, columns.imag]), [-offset.real, -offset.imag])
    machine = Alone(TwoAxis, **d, delta=delta, omega=1.01, Edp=Edp, Eqp=Eqp, Id=Id, Iq=Iq, Efd=1.4, Pm=0.8,
                    bus=V)
    return machine, V, (Id + 1j * Iq) * turn


@pytest.mark.parametrize("seed", range(5))
def test_two_axis_stator_equations_are_the_phasor_equation_of_the_book(seed):
    machine, V, current = two_axis(np.random.default_rng(seed))
    assert_allclose(machine.residuals(), 0, atol=1e-13)
    assert_allclose(machine.current(), current, rtol=1e-13)
    terminal = V * np.conj(current)
    assert_allclose(machine["Pe"], terminal.real + 0.02 * abs(current) ** 2, rtol=1e-12)
    assert_allclose([machine["P"], machine["Q"]], [terminal.real, terminal.imag], rtol=1e-12)


def test_two_axis_rates_are_equations_7_1_to_7_4():
    machine, *_ = two_axis(np.random.default_rng(7))
    v, d = machine.values, BOOK[2]
    omega_s = 120 * np.pi
    torque = v["Edp"] * v["Id"] + v["Eqp"] * v["Iq"] + (d["Xqp"] - d["Xdp"]) * v["Id"] * v["Iq"]
    speed = omega_s * v["omega"]  # the book's speed is in rad/s
    assert_allclose(machine.rates(), [
        speed - omega_s,
        omega_s / (2 * d["H"]) * (v["Pm"] - torque) / omega_s,
        (-v["Eqp"] - (d["Xd"] - d["Xdp"]) * v["Id"] + v["Efd"]) / d["Td0p"],
        (-v["Edp"] + (d["Xq"] - d["Xqp"]) * v["Iq"]) / d["Tq0p"]], rtol=1e-12)


def test_damping_of_rotor_and_turbine_add():
    machine, *_ = two_axis(np.random.default_rng(3))
    without = machine.rates()[1]
    assert_allclose(machine.but(D=2.0).rates()[1] - without, -2.0 * 0.01 / (2 * 3.01), rtol=1e-10)
    assert_allclose(machine.but(D=1.5, Dt=0.5).rates(), machine.but(D=2.0).rates(), rtol=1e-14)


def test_two_axis_without_a_damper_winding_is_the_flux_decay_machine():
    d = BOOK[1] | {"Rs": 0.01, "Xqp": BOOK[1]["Xq"]}
    V, state = 0.9 * np.exp(0.3j), dict(delta=0.9, omega=0.99, Eqp=1.1, Efd=1.5, Pm=1.2)
    one = Alone(FluxDecay, **{k: v for k, v in d.items() if k not in ("Xqp", "Tq0p")}, **state, bus=V)
    two = Alone(TwoAxis, **d, **state, Edp=0.0, Id=one["Id"], Iq=one["Iq"], bus=V)
    assert_allclose(two.residuals(), 0, atol=1e-14)
    assert_allclose(two.current(), one.current(), rtol=1e-13)
    assert_allclose(two.rates()[:3], one.rates(), rtol=1e-12)


def test_flux_decay_without_saliency_injects_as_the_classical_machine():
    V = 0.95 * np.exp(-0.2j)
    both = dict(H=3.0, Rs=0.01, Xdp=0.3, delta=0.5, omega=1.0, Pm=0.5)
    one = Alone(FluxDecay, **both, Xd=1.0, Xq=0.3, Td0p=5.0, Eqp=1.1, Efd=1.1, bus=V)
    classical = Alone(Classical, **both, E=1.1, bus=V)
    assert_allclose(one.current(), classical.current(), rtol=1e-13)
    assert_allclose(one.rates()[:2], classical.rates(), rtol=1e-12)


def test_classical_machine_of_kundur_example_13_1():
    V = np.exp(1j * np.radians(28.34))
    start = Alone(Classical, H=3.5, Xdp=0.3, bus=V).start(power=power(0.9 + 0.436j))
    assert start["E"] == pytest.approx(1.1626, abs=1e-4)
    assert np.degrees(start["delta"]) == pytest.approx(41.77, abs=0.01)


def test_infinite_bus_holds_its_voltage_behind_its_impedance():
    V, S = 1.02 * np.exp(0.1j), 0.4 - 0.3j
    grid = Alone(InfiniteBus, R=0.01, X=0.05, bus=V)
    grid = grid.but(**grid.start(power=power(S)))
    assert_allclose(grid.residuals(), 0, atol=1e-14)
    assert_allclose(V * np.conj(grid.current()), S, rtol=1e-14)
    source = grid["E"] * np.exp(1j * grid["angle"])
    assert_allclose(source - V, (0.01 + 0.05j) * grid.current(), rtol=1e-12)


def test_infinite_bus_out_of_service_lets_go_of_its_bus():
    grid = Alone(InfiniteBus, E=1.0, angle=0.0, Ir=0.0, Ii=0.0, bus=0.6 + 0.1j, status=0.0)
    np.testing.assert_array_equal(grid.residuals(), 0)


def test_a_tripped_machine_delivers_nothing():
    machine, *_ = two_axis(np.random.default_rng(1))
    assert machine.but(status=0.0)["P"] == 0
    assert machine.but(status=0.0)["Q"] == 0
