"""Samples at the instant of an event see it to come: who differentiates them in its time is told."""

import warnings

import numpy as np
import pytest
from one_sided import one_sided
from scenes import nine_bus

import gridcore as gc
from gridcore.sensitivity import CoincidenceWarning

OFF = 0.0131  # a step that puts no event of these scenes on the grid
SPEED = gc.Terminal(lambda v: v["GEN2", "omega"])
VOLTAGE = gc.Sampled([0.15, 0.183, 0.25], lambda v: v["BUS7", "Vm"], 1.0)


def faulted():
    case = nine_bus()
    case.add(gc.BusFault(id="fault", bus=7, t=0.1, clear=0.183))
    return case


@pytest.fixture(scope="module")
def cleared_alone():
    return gc.simulate(faulted(), 0.3, OFF)


@pytest.mark.parametrize("objective", [
    VOLTAGE, gc.At([0.183], lambda v: v["BUS7", "Vm"]), SPEED - 2.0 * VOLTAGE,
    gc.Sampled(0.183 + 1e-13, lambda v: v["BUS7", "Vm"])], ids=["squares", "values", "a sum", "one, but for round-off"])
@pytest.mark.parametrize("derive", [gc.adjoint, gc.analyses.forward_gradient], ids=["adjoint", "forward"])
def test_a_sample_at_an_event_is_told(cleared_alone, derive, objective):
    told = r"^at 0\.183 s: a sample, then fault\.clear; the derivative in fault.clear is one-sided, that of this order$"
    with pytest.warns(CoincidenceWarning, match=told) as found:
        derive(cleared_alone, objective, ["fault.*", "GEN2.H"])
    assert [warning.filename for warning in found] == [__file__]


def test_the_derivative_of_a_sample_at_an_event_is_that_of_the_event_behind_it(cleared_alone):
    with pytest.warns(CoincidenceWarning):
        found = gc.adjoint(cleared_alone, VOLTAGE, "fault.clear").item()
    later = one_sided(cleared_alone.system.case, {"fault.clear": 1.0}, [VOLTAGE], 0.3, OFF)
    np.testing.assert_allclose(found, later, rtol=3e-5)


def test_a_difference_across_what_a_sample_sees_jump_is_told(cleared_alone):
    told = r"a sample, then fault\.clear; the difference in fault\.clear is across what jumps there, which is no "
    with pytest.warns(CoincidenceWarning, match=told):
        assert gc.differences(cleared_alone, VOLTAGE, "fault.clear").item() > 1e3


def test_with_the_grid_at_the_event_a_sample_is_told_as_well():
    run = gc.simulate(faulted(), 0.15, 0.01)
    told = r"at 0\.1 s: a sample, then fault\.t, then a point of the grid; the difference .* is across what jumps"
    with pytest.warns(CoincidenceWarning, match=told):
        gc.differences(run, gc.Sampled([0.1], lambda v: v["BUS7", "Vm"], 0.9), "fault.t")


@pytest.mark.parametrize("times", [[0.15, 0.25], [0.183 - 1e-9, 0.183 + 1e-9], []])
def test_samples_beside_events_and_events_that_are_not_asked_for_are_not_told(cleared_alone, times):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gc.adjoint(cleared_alone, gc.Sampled(times, lambda v: v["BUS7", "Vm"]), ["fault.clear", "GEN2.H"])
        gc.adjoint(cleared_alone, VOLTAGE, ["fault.t", "GEN2.H"])
