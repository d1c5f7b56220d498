"""How far an approximate gradient is from the exact one."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from gridcore.sensitivity.adjoint import against


@pytest.mark.parametrize("unit", [1.0, 1e-3])
@pytest.mark.parametrize(("approximate", "discrepancy"), [
    ([[0.0, 0.0], [2.0, -4.0]], 0.0), ([[0.0, 0.0], [2.4, -4.0]], 0.1), ([[0.0, 0.0], [2.4, -5.0]], 0.25),
    ([[1e-9, 0.0], [2.0, -4.0]], np.inf)])
def test_the_discrepancy_is_the_largest_difference_by_the_largest_derivative_of_the_objective(
        approximate, discrepancy, unit):
    """Where all derivatives are zero, so must be the approximate ones. It has no unit."""
    def table(values, **attrs):
        return xr.DataArray(unit * np.array(values), dims=("objective", "parameter"), attrs=attrs)

    exact = [[0.0, 0.0], [2.0, -4.0]]
    found = against(table(exact, method="discrete", replay_mismatch=1e-5), table(approximate, method="rough"))
    assert found.attrs == {"method": "rough", "approximate": "yes", "replay_mismatch": 1e-5,
                           "discrepancy": pytest.approx(discrepancy, rel=1e-12)}
    np.testing.assert_array_equal(found.values, unit * np.array(approximate))
    np.testing.assert_array_equal(found["discrete"].values, unit * np.array(exact))


def test_there_is_no_discrepancy_of_nothing():
    nothing = xr.DataArray(np.zeros((0, 2)), dims=("objective", "parameter"), attrs={"method": "rough"})
    assert against(nothing, nothing).attrs["discrepancy"] == 0.0
