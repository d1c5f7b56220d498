"""The transpose of a step of TR-BDF2 and of BDF is its transpose, as of every other record of their tapes."""

from __future__ import annotations

import pytest
import scenes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_dot_products import ALL, check_tape

import gridcore as gc

METHODS = pytest.mark.parametrize("method", ["trbdf2", "bdf"])


@METHODS
@pytest.mark.parametrize("name", ["hiskens_pai", "resets_that_read_states_parameters_and_time",
                                  "limited_state_with_explicit_time", "regulator_limits",
                                  "recovery_loads_and_delayed_trip", "kundur", "new_england"])
def test_every_record_of_a_tape(name: str, method: str) -> None:
    study = scenes.STUDIES[name]()
    study.method = method
    assert check_tape(study.simulate(), seed=1, every=5) == ALL


@METHODS
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(step=st.floats(0.01, 0.2), level=st.floats(0.6, 1.4), gain=st.floats(0.2, 1.2), drift=st.floats(-1.0, 1.0),
       seed=st.integers(0, 2**31))
def test_random_hopping_systems(method: str, step: float, level: float, gain: float, drift: float, seed: int) -> None:
    case = scenes.case_of(scenes.record("Hopper", id="hop", level=level, gain=gain, drift=drift),
                          scenes.record("Limited", id="l", high=0.5 * level), scenes.record("LinearDAE", id="d"))
    check_tape(gc.simulate(gc.build(case), 1.5, step, method=method), seed)
