import numpy as np
import pytest
from scipy.integrate import solve_ivp
from standalone import Alone

from gridcore_devices import (
    ZIP,
    Line,
    OverCurrentRelay,
    OverloadRelay,
    UnderFrequencyLoadShedding,
    UnderVoltageLoadShedding,
)

V1, V2 = 1.0 + 0j, 0.9 * np.exp(-0.2j)


@pytest.mark.parametrize("cls", [OverCurrentRelay, OverloadRelay])
def test_line_relay_compares_what_flows_in_at_the_first_end(cls):
    values = {"branch.r": 0.01, "branch.x": 0.1, "branch.b": 0.2, "branch.bus1": V1, "branch.bus2": V2}
    relay = Alone(cls, {"branch": Line}, threshold=1.5, **values)
    current = (V1 - V2) / (0.01 + 0.1j) + 0.1j * V1
    measured = abs(current) if cls is OverCurrentRelay else abs(V1 * np.conj(current))
    assert relay.guard("overload") == pytest.approx(measured - 1.5, rel=1e-12)
    guard = cls.declares.guards["overload"]
    assert (guard.direction, guard.delay, guard.cancel) == (1, "delay", True)
    assert dict(guard.then) == {"branch.status": 0}


def shedding(cls, voltage, **values):
    return Alone(cls, {"load": ZIP}, **values, **{"load.bus": voltage})


def test_frequency_follows_a_turning_phasor_through_many_turns():
    """A bus at 59.4 Hz for 20 s: twelve turns against the synchronous frame; the lags die out."""
    slip, data = -0.01, dict(threshold=59.5, shed=0.1, Ta=0.02, Tf=0.05)

    def rates(t, x):
        V = 0.95 * np.exp(1j * (0.4 + slip * 120 * np.pi * t))
        return shedding(UnderFrequencyLoadShedding, V, **data, theta=x[0], slip=x[1]).rates()

    end = solve_ivp(rates, (0, 20), [0.4, 0.0], method="LSODA", rtol=1e-8, atol=1e-10).y[:, -1]
    assert end[1] == pytest.approx(slip, rel=1e-6)
    at = shedding(UnderFrequencyLoadShedding, 0.95, **data, theta=end[0], slip=end[1])
    assert at.guard("underfrequency") == pytest.approx(59.4 - 59.5, rel=1e-5)


def test_frequency_estimate_is_a_washout_and_a_lag_for_small_angles():
    at = shedding(UnderFrequencyLoadShedding, 1.0 + 0j, threshold=59.0, shed=0.1, Ta=0.03, Tf=0.08, theta=0.0,
                  slip=0.0)
    A, B = at.jacobian(["theta", "slip"]), at.jacobian(["load.bus.Vi"])  # at 1 + 0j, dVi is the angle
    for w in (0.1, 3.0, 40.0):
        s = 1j * w
        found = np.linalg.solve(s * np.eye(2) - A, B)
        # slip is driven by d theta/dt, which the state equations hold as the rate of the first state
        expected = s / (1 + 0.03 * s) / (1 + 0.08 * s) / (120 * np.pi)
        assert found[1, 0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("cls", "item"), [(UnderFrequencyLoadShedding, "underfrequency"),
                                           (UnderVoltageLoadShedding, "undervoltage")])
def test_a_stage_sheds_its_part_once_and_never_more_than_there_is(cls, item):
    stage = shedding(cls, 1.0, threshold=1.0, shed=0.3, **{"load.k": 1.0})
    assert stage.target(item, "load.k") == pytest.approx(0.7)
    assert stage.but(**{"load.k": 0.2}).target(item, "load.k") == 0
    assert stage.target(item, "armed") == 0
    guard = cls.declares.guards[item]
    assert guard.when["armed"] == 1
    assert (guard.direction, guard.delay, guard.cancel) == (-1, "delay", True)


def test_undervoltage_stage_measures_through_its_lag():
    stage = shedding(UnderVoltageLoadShedding, 0.8, threshold=0.85, shed=0.3, Tv=0.02, V=0.9)
    assert stage.rates()[0] == pytest.approx(-0.1 / 0.02)
    assert stage.guard("undervoltage") == pytest.approx(0.05)
