import numpy as np
import pytest
from numpy.testing import assert_allclose
from standalone import Alone

from gridcore_devices import TGOV1, TwoAxis

DATA = dict(R=0.05, T1=0.5, T2=2.1, T3=7.0, VMIN=0.0, VMAX=1.2, Dt=0.3)


def governor(**values):
    return Alone(TGOV1, {"machine": TwoAxis}, **(DATA | {"machine.omega": 1.0} | values))


def test_start_is_the_equilibrium():
    at = governor(Pm=0.85)
    assert np.abs(at.but(**at.start()).rates()).max() == 0


def test_response_to_speed_and_reference_is_the_transfer_function():
    at = governor(x1=0.8, Pm=0.8, Pref=0.8)
    A, B = at.jacobian(["x1", "Pm"]), at.jacobian(["Pref", "machine.omega"])
    for w in (0.01, 0.3, 2.0, 20.0):
        s = 1j * w
        found = np.linalg.solve(s * np.eye(2) - A, B)[1]
        turbine = (1 + s * 2.1) / ((1 + s * 0.5) * (1 + s * 7.0))
        assert_allclose(found, [turbine, -turbine / 0.05], rtol=1e-12)


def test_turbine_sees_no_valve_speed_at_a_valve_limit():
    free = governor(x1=1.2, Pm=0.9, Pref=1.5)
    held = free.but(x1_limit=1.0)
    assert held.rates()[1] == pytest.approx((1.2 - 0.9) / 7.0)
    assert free.rates()[1] == pytest.approx((1.2 - 0.9 + 2.1 * 0.3 / 0.5) / 7.0)


def test_limits_the_wrong_way_round_are_refused():
    assert "VMIN" in (TGOV1.check(DATA | dict(VMIN=2.0)) or "")
