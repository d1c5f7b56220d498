import numpy as np
import pytest
from numpy.testing import assert_allclose
from standalone import Alone

import gridcore as gc
from gridcore_devices import ZIP, Exponential, ExponentialRecovery

POWER = dict(P0=1.25, Q0=0.5, V0=0.98)
RECOVERY = dict(alpha_s=0.4, alpha_t=1.8, beta_s=0.6, beta_t=2.5, Tp=60.0, Tq=40.0)
MIXED = dict(pZ=0.3, pI=0.3, pP=0.4, qZ=0.5, qI=0.2, qP=0.3)
KINDS = [(ZIP, {}), (ZIP, MIXED), (Exponential, dict(alpha=1.3, beta=2.2)),
         (ExponentialRecovery, RECOVERY | dict(xp=0.0, xq=0.0))]


def load(cls, V, **values):
    return Alone(cls, **(POWER | values), bus=V)


def power(cls, V, **values):
    """P + j Q drawn."""
    return -V * np.conj(load(cls, V, **values).current())


@pytest.mark.parametrize(("cls", "data"), KINDS)
def test_draws_its_power_at_the_voltage_of_the_operating_point(cls, data):
    V = 0.98 * np.exp(-0.3j)
    assert_allclose(power(cls, V, **data), 1.25 + 0.5j, rtol=1e-14)
    at = load(cls, V, **data)
    assert_allclose([at["P"], at["Q"]], [1.25, 0.5], rtol=1e-14)


@pytest.mark.parametrize(("cls", "data"), KINDS)
def test_shedding_takes_its_part_of_the_power(cls, data):
    V = 0.9 * np.exp(0.2j)
    assert_allclose(power(cls, V, **data, k=0.6), 0.6 * power(cls, V, **data), rtol=1e-14)


def test_zip_parts_follow_the_powers_of_the_voltage():
    v = 0.85 / 0.98
    P, Q = 1.25 * (0.3 * v**2 + 0.3 * v + 0.4), 0.5 * (0.5 * v**2 + 0.2 * v + 0.3)
    assert_allclose(power(ZIP, 0.85, **MIXED), P + 1j * Q, rtol=1e-14)


def test_exponential_load_follows_its_exponents():
    v = 0.85 / 0.98
    assert_allclose(power(Exponential, 0.85, alpha=1.3, beta=2.2), 1.25 * v**1.3 + 0.5j * v**2.2, rtol=1e-14)


@pytest.mark.parametrize(("exponent", "part"), [(2, "Z"), (1, "I"), (0, "P")])
def test_pure_zip_is_the_exponential_load_of_that_exponent(exponent, part):
    data = {f"{x}{y}": float(y == part) for x in "pq" for y in "ZIP"}
    for V in (1.05, 0.8, 0.4, 0.01):
        expected = power(Exponential, V, alpha=exponent, beta=exponent)
        assert_allclose(power(ZIP, V, **data), expected, rtol=1e-13)


@pytest.mark.parametrize(("cls", "data"), KINDS)
def test_low_voltage_makes_it_a_constant_impedance_without_a_jump(cls, data):
    threshold = load(cls, 0.7, **data).current()
    assert_allclose(load(cls, 0.7 - 1e-12, **data).current(), threshold, rtol=1e-10)
    for V in (0.5, 0.1, 1e-6):
        assert_allclose(load(cls, V, **data).current() / V, threshold / 0.7, rtol=1e-12)


@pytest.mark.parametrize(("cls", "data"), KINDS)
def test_current_and_its_derivatives_are_finite_on_a_dead_bus(cls, data):
    at = load(cls, 0.0, **data)
    assert at.current() == 0
    slope = at.jacobian(["bus.Vr", "bus.Vi"], lambda a: np.array(a.scope.flows()["bus"]))
    assert np.isfinite(slope).all()


def test_recovered_power_vanishes_with_the_voltage():
    assert abs(load(ExponentialRecovery, 1e-9, **RECOVERY, xp=0.3, xq=0.1).current()) < 1e-8


def test_recovery_goes_from_the_transient_to_the_static_characteristic():
    """Karlsson & Hill (1994): after a voltage step, exponentially with Tp and Tq."""
    v = 0.9 / 0.98
    transient, static = 1.25 * v**1.8 + 0.5j * v**2.5, 1.25 * v**0.4 + 0.5j * v**0.6
    assert_allclose(power(ExponentialRecovery, 0.9, **RECOVERY, xp=0.0, xq=0.0), transient, rtol=1e-14)
    gap = static - transient
    settled = load(ExponentialRecovery, 0.9, **RECOVERY, xp=gap.real, xq=gap.imag)
    assert_allclose(settled.rates(), 0, atol=1e-16)
    assert_allclose(-0.9 * np.conj(settled.current()), static, rtol=1e-14)
    assert_allclose(settled.jacobian(["xp", "xq"]), np.diag([-1 / 60, -1 / 40]), rtol=1e-12)


def test_zip_parts_must_add_up():
    values = {"pZ": 0.5, "pI": 0.0, "pP": 0.0, "qZ": 1.0, "qI": 0.0, "qP": 0.0}
    assert ZIP.check(values) == "pZ + pI + pP must be 1"
    assert ZIP.check(values | {"pP": 0.5}) is None


def test_a_load_partly_connected_from_the_start_draws_that_part_in_the_power_flow():
    case = gc.load_case("wscc9")
    case.set("LOAD5.k", 0.8)
    run = gc.simulate(gc.build(case), t_end=0.02, step=0.01)
    assert run["LOAD5", "P"][0] == pytest.approx(0.8 * 1.25, rel=1e-12)
    assert run["GEN1", "P"][0] == pytest.approx(0.716 - 0.25, abs=0.01)
