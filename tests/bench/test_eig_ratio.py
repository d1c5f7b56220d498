"""Modes against one dense eigenvalue call, in short form."""

import pytest

from . import eig

pytestmark = pytest.mark.bench


def test_modes_of_118_buses_cost_less_than_two_dense_eigenvalue_calls():
    ratio, *_ = eig.measure(rounds=5)
    assert ratio.value < eig.TARGET
