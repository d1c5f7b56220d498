"""Timers that fall on one instant: the first carries the derivative of all, and the others say so."""

import warnings

import pytest

import gridcore as gc
from gridcore.errors import CaseError
from gridcore.sensitivity.request import CoincidenceWarning

SPEED = gc.Terminal(lambda v: v["GEN2", "omega"])


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build("wscc9"), t_end=0.4)  # the line opens when the fault is cleared


@pytest.mark.parametrize("derive", [
    lambda run, wrt: gc.adjoint(run, SPEED, wrt), lambda run, wrt: gc.analyses.tsa(run, wrt, [("GEN2", "omega")])])
def test_a_timer_that_moves_with_another_says_so(run, derive):
    with pytest.warns(CoincidenceWarning, match=r"trip\.t falls on the instant of fault\.clear"):
        derive(run, "trip.t")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        derive(run, ["fault.clear", "fault.t"])


def test_there_is_no_derivative_in_a_time_constant_of_zero(run):
    with pytest.raises(CaseError, match=r"'EXC1\.TR' is a time constant of zero"):
        gc.adjoint(run, SPEED, "EXC1.TR")
    assert "EXC1.TR" not in gc.adjoint(run, SPEED, "EXC1.*").parameter.values
