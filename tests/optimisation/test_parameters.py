"""Parameters of an optimisation: what is varied, from where, within what; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import gridcore as gc
from gridcore_optimisation.parameters import Parameters

SYSTEM = gc.build("wscc9")


def test_patterns_name_what_the_case_gives_and_the_power_flow_does_not_find():
    found = Parameters.of(SYSTEM, ["GEN*.P0", "fault.clear"], None, None)
    assert found.names == ["GEN2.P0", "GEN3.P0", "fault.clear"]
    assert found.units == ["pu", "pu", "s"]
    np.testing.assert_array_equal(found.start, [1.63, 0.85, 0.183])


def test_bounds_are_those_given_within_those_declared():
    found = Parameters.of(SYSTEM, ["GEN*.H", "GEN2.P0"], {"GEN*": (-5.0, 9e9), "GEN2.*": (1.0, None)}, None)
    assert dict(zip(found.names, zip(found.low, found.high))) == {
        "GEN1.H": (5e-324, 9e9), "GEN2.H": (1.0, np.inf), "GEN3.H": (5e-324, 9e9), "GEN2.P0": (1.0, np.inf)}


def test_scale_is_a_tenth_of_the_start_unless_it_is_given():
    found = Parameters.of(SYSTEM, ["GEN[23].P0", "GEN2.Rs"], {"GEN2.Rs": (0.0, 0.5)}, {"GEN3.P0": np.int64(2)})
    np.testing.assert_allclose(found.scale, [0.163, 2.0, 0.05])


def test_a_start_is_met_to_the_last_bit_and_bounds_are_not_passed():
    found = Parameters.of(SYSTEM, "GEN[23].P0", (0.1, 1.7), 0.1)
    assert np.array_equal(found.values(np.zeros(2)), found.start)
    assert np.array_equal(found.values(found.scaled(found.high) + 1e-9), found.high)
    np.testing.assert_allclose(found.values(found.scaled(np.array([1.234, 0.5]))), [1.234, 0.5], rtol=1e-15)


@pytest.mark.parametrize(("wrt", "bounds", "scale", "said"), [
    ("GEM2.P0", None, None, "no parameter or state matches 'GEM2.P0'; did you mean GEN2.P0"),
    ("GEN1.P0", None, None, "'GEN1.P0' is found by the power flow"),
    ("GEN2.omega", None, None, "GEN2.omega: no parameter that a case gives"),
    ([], None, None, "wrt is empty: name what is varied"),
    ("GEN1.Qmax", None, None, "GEN1.Qmax is inf in the case: there is nothing to start from"),
    ("GEN1.Qmin", (-1.0, 1.0), None, "GEN1.Qmin is -inf in the case: there is nothing to start from"),
    (["GEN1.H", "trip.reclose"], None, None, "trip.reclose is inf in the case: there is nothing to start from"),
    ("GEN2.P0", {"GEN3.P0": (0, 1)}, None, "bounds: 'GEN3.P0' is not among the parameters that are varied; did you"),
    ("GEN2.P0", (2.0, 1.0), None, "the bounds of GEN2.P0 contradict each other: 2 to 1"),
    ("GEN2.P0", (2.0, 3.0), None, "GEN2.P0 = 1.63 starts outside its bounds 2 to 3"),
    ("GEN2.H", (-2.0, -1.0), None, "GEN2.H: no value is within its bounds"),
    ("GEN2.P0", 2.0, None, "the bounds of GEN2.P0 must be two numbers, or None for no bound, not 2.0"),
    ("GEN2.P0", ("a", 2), None, "field 'P0': 'a' is not a number"),
    ("GEN2.P0", None, 0.0, "the scale of GEN2.P0 must be a number above 0, not 0.0")])
def test_what_is_wrong_is_told(wrt, bounds, scale, said):
    with pytest.raises(gc.errors.CaseError) as error:
        Parameters.of(SYSTEM, wrt, bounds, scale)
    assert said in str(error.value)
