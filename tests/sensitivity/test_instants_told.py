"""Which instants of a run are told: at its beginning, in its first step, and each of several by what happens in it."""

import warnings

import numpy as np
import pytest
from one_sided import one_sided
from scenes import nine_bus, record

import gridcore as gc
from gridcore.sensitivity import CoincidenceWarning

SPEED = gc.Terminal(lambda v: v["GEN2", "omega"])
OFF = 0.0131  # a step that puts no event of these scenes on the grid


def struck(t: float, *more: gc.Device) -> gc.Case:
    case = nine_bus()
    for part in (gc.BusFault(id="fault", bus=7, t=t, clear=0.183), *more):
        case.add(part)
    return case


def opened(t: float) -> gc.Device:
    return gc.BranchTrip(id="trip", branch="LINE4-5", t=t)


@pytest.mark.parametrize(("more", "chain", "asked"), [
    ((), r"fault\.t", "fault.t"), ((opened(0.0),), r"fault\.t, then trip\.t", "trip.t")])
def test_the_beginning_does_not_move_with_an_event_in_it_whose_derivative_is_towards_later(more, chain, asked):
    case = struck(0.0, *more)
    run = gc.simulate(gc.build(case), 0.3, OFF)
    told = rf"^at 0 s: a point of the grid, then {chain}; the derivative in {asked} is one-sided, that of this order$"
    with pytest.warns(CoincidenceWarning, match=told) as found:
        derivative = gc.adjoint(run, SPEED, asked).item()
    assert len(found) == 1
    np.testing.assert_allclose(derivative, one_sided(case, {asked: 1.0}, [SPEED], 0.3, OFF), rtol=3e-5)


def test_events_at_the_end_of_the_first_step_are_told_without_its_beginning():
    run = gc.simulate(gc.build(struck(0.005, opened(0.005))), 0.1, OFF)
    told = r"^at 0\.005 s: fault\.t, then trip\.t; the derivative in fault\.t is one-sided, .*joint= gives that of all"
    with pytest.warns(CoincidenceWarning, match=told) as found:
        gc.adjoint(run, SPEED, "fault.t")
    assert len(found) == 1


def test_behind_an_instant_whose_events_move_each_other_the_next_is_told():
    """A relay that does not wait acts with its crossing; the clearing and the trip come later, in an order."""
    relay = record("UnderVoltageLoadShedding", id="A", load="LOAD5", threshold=0.8, delay=0.0, shed=0.3)
    run = gc.simulate(gc.build(struck(0.1, relay, opened(0.183))), 0.3, OFF)
    begun, acted = (event.t for event in run.events if event.device == "A")
    assert begun == acted < 0.183
    with pytest.warns(CoincidenceWarning, match=r"^at 0\.183 s: fault\.clear, then trip\.t; the deriv") as found:
        gc.adjoint(run, SPEED, ["A.threshold", "fault.clear"])
    assert len(found) == 1


def test_each_of_two_instants_is_told_with_all_that_happens_in_it():
    steps = [gc.ParameterStep(id=f"step{k}", parameter=f"LOAD{k}.P0", t=t, scale=1.1)
             for k, t in ((5, 0.1), (6, 0.183), (8, 0.183))]
    run = gc.simulate(gc.build(struck(0.1, *steps)), 0.3, OFF)
    with pytest.warns(CoincidenceWarning) as found:
        gc.adjoint(run, SPEED, ["fault.t", "fault.clear"])
    told = [str(warning.message).partition(";")[0] for warning in found]
    assert told == ["at 0.1 s: fault.t, then step5.t", "at 0.183 s: fault.clear, then step6.t, then step8.t"]


@pytest.mark.parametrize("beside", [0.0, 1e-6])
def test_a_sample_where_a_limit_is_reached_is_told_whatever_moves_it(beside):
    case = struck(0.1)
    case.set("EXC2.VRMAX", 2.2)
    run = gc.simulate(gc.build(case), 0.3, OFF)
    reached = next(event.t for event in run.events if event.device == "EXC2")
    sample = gc.At([reached + beside], lambda v: v["BUS7", "Vm"])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        gc.adjoint(run, sample, "GEN2.H")
    told = [str(warning.message) for warning in found if warning.category is CoincidenceWarning]
    assert len(told) == (not beside)
    assert all(": a sample, then EXC2" in text and "the derivative in whatever moves one of them is" in text
               for text in told)
