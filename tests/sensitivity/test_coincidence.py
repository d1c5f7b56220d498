"""Events of one instant: each derivative is that of the program on the side on which their order holds."""

import dataclasses
import warnings

import numpy as np
import pytest
from one_sided import one_sided
from scenes import nine_bus, record

import gridcore as gc
from gridcore.errors import CaseError
from gridcore.sensitivity import CoincidenceWarning, Replay, carried_parameters
from gridcore.sensitivity.operators import StandStill, crossing
from gridcore.tape import Step
from gridcore_devices.hybrid.bouncing_ball import BouncingBall

SPEED = gc.Terminal(lambda v: v["GEN2", "omega"])
OBJECTIVES = [SPEED, gc.Integral(lambda v: v["BUS5", "Vm"] ** 2)]
T_END = 0.5
OFF = 0.0131  # a step that puts no event of these scenes on the grid


def fault(clear: float = 0.183, t: float = 0.1) -> gc.BusFault:
    return gc.BusFault(id="fault", bus=7, t=t, clear=clear)


def shedding(id: str, delay: float = 0.07) -> gc.Record:
    return record("UnderVoltageLoadShedding", id=id, load="LOAD5", threshold=0.8, delay=delay, shed=0.3)


def cleared_and_opened() -> gc.Case:
    case = nine_bus()
    case.add(fault())
    case.add(gc.BranchTrip(id="trip", branch="LINE5-7", t=0.183))
    return case


def equal_relays() -> gc.Case:
    case = nine_bus()
    for part in (fault(0.45), shedding("A"), shedding("B")):
        case.add(part)
    return case


def started_and_cancelled_together() -> gc.Case:
    case = nine_bus()
    for part in (fault(), shedding("A", 0.3), shedding("B", 0.3)):
        case.add(part)
    return case


def relay_at_the_clearing() -> gc.Case:
    """Fault 0.1, delay 0.1, clearing 0.2: ordinary data."""
    case = nine_bus()
    case.add(fault(0.2))
    case.add(record("OverCurrentRelay", id="R", branch="LINE5-7", threshold=2.0, delay=0.1))
    return case


def identical_units() -> gc.Case:
    """Two machines that are one machine twice, and reach a limit together."""
    case = nine_bus()
    case.set("GEN2.P0", 0.8)
    case.add(gc.Record("TwoAxis", dict(case["GEN2"].fields, id="GEN2b")))
    case.add(gc.Record("IEEEType1", dict(case["EXC2"].fields, id="EXC2b", machine="GEN2b")))
    for id in ("EXC2", "EXC2b"):
        case.set(f"{id}.VRMAX", 2.2)
    case.add(gc.BusFault(id="fault", bus=7, t=0.1, clear=0.183, x=0.1))
    return case


def limits_left_and_reached_again() -> gc.Case:
    """The clearing takes two exciters off their limits, the trip of the same instant puts them back: EXC3 sooner."""
    case = nine_bus()
    case.set("EXC2.VRMAX", 2.4)
    case.set("EXC3.VRMAX", 1.8)
    case.add(gc.BusFault(id="fault", bus=5, t=0.05, clear=0.183, x=0.4))
    case.add(gc.BranchTrip(id="trip", branch="LINE4-5", t=0.183))
    return case


def ball() -> gc.Case:
    case = gc.Case("ball")
    case.add(BouncingBall(id="B"))
    return case


def gradient(case: gc.Case, wrt: list[str], step: float, **options) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoincidenceWarning)
        return gc.adjoint(gc.simulate(gc.build(case), T_END, step), OBJECTIVES, wrt, **options).values


SIDES = {  # scene, step, a direction in which the order of events stays what it is; long where little depends on it
    "the first earlier": (cleared_and_opened, OFF, {"fault.clear": -1.0}),
    "the second later": (cleared_and_opened, OFF, {"trip.t": 1.0}),
    "both earlier": (cleared_and_opened, OFF, {"fault.clear": -1.0, "trip.t": -1.0}),
    "both later": (cleared_and_opened, OFF, {"fault.clear": 1.0, "trip.t": 1.0}),
    "the first of equal relays faster": (equal_relays, OFF, {"B.delay": -1.0}),
    "the second of equal relays slower": (equal_relays, OFF, {"A.delay": 1.0}),
    "the first of equal relays sees more": (equal_relays, OFF, {"B.threshold": 100.0}),
    "the second of equal relays sees less": (equal_relays, OFF, {"A.threshold": -100.0}),
    "the first of equal relays starts first and is cancelled last": (
        started_and_cancelled_together, OFF, {"B.threshold": 100.0}),
    "the second of equal relays starts last and is cancelled first": (
        started_and_cancelled_together, OFF, {"A.threshold": -100.0}),
    "both relays": (equal_relays, OFF, {"A.delay": 1.0, "B.delay": 1.0}),
    "relay before the clearing": (relay_at_the_clearing, OFF, {"R.delay": -1.0}),
    "clearing after the relay": (relay_at_the_clearing, OFF, {"fault.clear": 1.0}),
    "fault, and with it the relay, earlier": (relay_at_the_clearing, OFF, {"fault.t": -1.0}),
    "event before its point of the grid": (cleared_and_opened, 0.01, {"fault.t": -1.0}),
    "relay, clearing and the grid": (relay_at_the_clearing, 0.01, {"R.delay": -1.0}),
    "in their order before the grid": (relay_at_the_clearing, 0.01, {"R.delay": -2.0, "fault.clear": -1.0}),
    "one of identical units": (identical_units, 0.01, {"EXC2.VRMAX": -1.0}),
    "the other of identical units": (identical_units, 0.01, {"EXC2b.VRMAX": 1.0}),
    "identical units together": (identical_units, 0.01, {"EXC2.VRMAX": 1.0, "EXC2b.VRMAX": 1.0}),
}


@pytest.mark.parametrize("name", SIDES)
def test_a_derivative_is_that_of_the_program_on_the_side_of_its_order(name):
    scene, step, direction = SIDES[name]
    case = scene()
    found = gradient(case, list(direction), step) @ np.array(list(direction.values()))
    np.testing.assert_allclose(found, one_sided(case, direction, OBJECTIVES, T_END, step), rtol=3e-5, atol=3e-9)


@pytest.mark.parametrize("direction", [{"trip.t": 1.0}, {"fault.clear": -1.0}])
def test_limits_left_between_events_of_one_instant_are_reached_again_in_the_order_that_they_part_in(direction):
    """By implicit Euler, to which the last of them matters most: it begins a long step."""
    case = limits_left_and_reached_again()
    run = gc.simulate(gc.build(case), T_END, OFF, theta=1.0)
    assert [e.device for e in run.events if e.t == 0.183 and "reaches" in str(e)] == ["EXC3", "EXC2"]
    with pytest.warns(CoincidenceWarning):
        found = gc.adjoint(run, OBJECTIVES, list(direction)).values @ np.array(list(direction.values()))
    expected = one_sided(case, direction, OBJECTIVES, T_END, OFF, theta=1.0)
    np.testing.assert_allclose(found, expected, rtol=3e-5, atol=3e-9)


@pytest.mark.parametrize(("scene", "step", "direction"), [
    (cleared_and_opened, OFF, {"trip.t": -1.0}), (equal_relays, OFF, {"B.delay": 1.0}),
    (cleared_and_opened, 0.01, {"fault.t": 1.0})])
def test_on_the_other_side_the_program_has_another_derivative(scene, step, direction):
    """What the tests above compare is not the same on both sides."""
    case = scene()
    found = gradient(case, list(direction), step) @ np.array(list(direction.values()))
    other = one_sided(case, direction, OBJECTIVES, T_END, step)
    assert np.all(np.abs(found - other) > 2e-5 * np.abs(other))


@pytest.mark.parametrize(("scene", "group"), [
    (cleared_and_opened, ("fault.clear", "trip.t")), (equal_relays, ("A.delay", "B.delay")),
    (identical_units, ("EXC2.VRMAX", "EXC2b.VRMAX"))])
def test_the_joint_derivative_is_the_sum(scene, group):
    case = scene()
    alone, joint = gradient(case, list(group), 0.01), gradient(case, [], 0.01, joint=[group])
    assert joint.shape == (2, 1)
    np.testing.assert_array_equal(joint[:, 0], alone.sum(axis=1))


def test_one_alone_beside_the_group_that_has_it():
    case = cleared_and_opened()
    alone = gradient(case, ["fault.clear", "trip.t"], OFF)
    both = gradient(case, ["fault.clear"], OFF, joint=[("fault.clear", "trip.t")])
    np.testing.assert_array_equal(both, np.stack([alone[:, 0], alone.sum(axis=1)], axis=1))


def test_groups_may_share_what_they_have():
    case = cleared_and_opened()
    clear, trip = gradient(case, ["fault.clear", "trip.t"], OFF).T
    found = gradient(case, [], OFF, joint=[("fault.clear", "trip.t"), ("trip.t",)])  # as many as have a derivative
    np.testing.assert_array_equal(found, np.stack([clear + trip, trip], axis=1))
    twice = gradient(case, ["trip.t"], OFF, joint=[("trip.t",)])
    np.testing.assert_array_equal(twice, np.stack([trip, trip], axis=1))


def test_forward_and_adjoint_are_the_same_at_an_instant_of_three():
    run = gc.simulate(gc.build(relay_at_the_clearing()), T_END, 0.01)
    wrt = ["fault.t", "fault.clear", "R.delay", "GEN2.H"]
    with pytest.warns(CoincidenceWarning):
        backward = gc.adjoint(run, SPEED, wrt).values
    with pytest.warns(CoincidenceWarning):
        forward = gc.analyses.tsa(run, wrt, [("GEN2", "omega")]).values[-1]
    np.testing.assert_allclose(forward, backward, rtol=1e-12, atol=1e-15)


def test_the_steps_between_events_of_one_instant_have_no_length():
    run = gc.simulate(gc.build(cleared_and_opened()), T_END, OFF)
    at = [r for r in run.tape.records if isinstance(r, Step) and r.h == 0.0]
    names = [run.system.layout.label(run.tape.clocks[clock].of) for r in at for clock in (r.start, r.end)]
    assert names == ["fault.clear", "trip.t"]


def test_a_step_of_no_length_is_asked_of_its_method_only_where_it_ends_on_a_guard():
    """Others' operators may divide by its length; one that ends on a guard has to move with its time."""
    run = gc.simulate(gc.build(cleared_and_opened()), T_END, OFF)
    replay = Replay(run.system, run.tape, np.array([run.system.layout.address("GEN2.H")]))
    still = next(r for r in run.tape.records if isinstance(r, Step) and r.h == 0.0)
    method = type(replay.step(run.tape.records[0]))
    assert method is not StandStill
    for guard, expected in ((-1, StandStill), (0, method), (1, method)):
        assert type(replay.step(dataclasses.replace(still, guard=guard))) is expected


# ---------------------------------------------------------------- who is told


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build(cleared_and_opened()), 0.4, OFF)


DERIVE = {"adjoint": lambda run, wrt, **options: gc.adjoint(run, SPEED, wrt, **options),
          "tsa": lambda run, wrt, **options: gc.analyses.tsa(run, wrt, [("GEN2", "omega")], **options)}


@pytest.mark.parametrize("derive", DERIVE.values(), ids=DERIVE)
@pytest.mark.parametrize("asked", ["fault.clear", "trip.t"])
def test_who_asks_for_one_of_them_is_told_the_first_too(run, derive, asked):
    told = (rf"^at 0\.183 s: fault\.clear, then trip\.t; the derivative in {asked} is one-sided, that of this order; "
            "joint= gives that of all of them together$")
    with pytest.warns(CoincidenceWarning, match=told):
        derive(run, asked)


@pytest.mark.parametrize("derive", DERIVE.values(), ids=DERIVE)
def test_who_asks_for_all_of_them_together_or_for_others_is_not_told(run, derive):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        derive(run, ["fault.t", "GEN2.H"], joint=[("trip.t", "fault.clear")])


def test_who_asks_for_a_group_that_lacks_one_of_them_is_told(run):
    with pytest.warns(CoincidenceWarning, match=r"fault\.clear, then trip\.t; the derivative in fault\.clear is"):
        gc.adjoint(run, SPEED, [], joint=[("fault.t", "fault.clear")])


def test_three_of_one_instant_are_told_as_one():
    case = cleared_and_opened()
    case.add(gc.BranchTrip(id="third", branch="LINE7-8", t=0.183))
    run = gc.simulate(gc.build(case), 0.2, OFF)
    with pytest.warns(CoincidenceWarning, match=r"clear, then .*\.t, then .*\.t; the derivative in trip\.t") as told:
        gc.adjoint(run, SPEED, "trip.t")
    assert len(told) == 1


def test_events_that_follow_each_other_at_once_are_none_of_one_instant():
    """By a hundredth of a microsecond."""
    case = cleared_and_opened()
    case.set("trip.t", 0.183 + 1e-8)
    run = gc.simulate(gc.build(case), 0.2, OFF)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gc.adjoint(run, SPEED, ["trip.t", "fault.clear"])


def test_a_group_of_one_is_one_alone(run):
    with pytest.warns(CoincidenceWarning, match=r"the derivative in trip\.t is one-sided"):
        gc.adjoint(run, SPEED, [], joint=[("trip.t",)])


def test_a_group_does_not_move_the_grid():
    """Both times later, the program takes other steps: the derivative is the one towards earlier times."""
    case, group = cleared_and_opened(), ("fault.t", "fault.clear")
    run = gc.simulate(gc.build(case), T_END, 0.01)
    with pytest.warns(CoincidenceWarning, match=r"at 0\.1 s: fault\.t, then a point of the grid.* that of this order$"):
        found = gc.adjoint(run, OBJECTIVES, [], joint=[group]).values[:, 0]
    earlier, later = (one_sided(case, dict.fromkeys(group, sign), OBJECTIVES, T_END, 0.01) for sign in (-1.0, 1.0))
    np.testing.assert_allclose(-found, earlier, rtol=3e-5)
    assert np.all(np.abs(found - later) > 0.1 * np.abs(found))


def test_a_point_of_the_grid_is_told():
    run = gc.simulate(gc.build(cleared_and_opened()), 0.4, 0.01)
    for derive in (gc.adjoint, gc.differences, gc.analyses.forward_gradient):
        with pytest.warns(CoincidenceWarning, match=r"at 0\.1 s: fault\.t, then a point of the grid") as told:
            derive(run, SPEED, "fault.t")
        assert told[0].filename == __file__  # the line that asks


def test_two_instants_a_step_apart_are_told_as_two():
    case = cleared_and_opened()
    case.set("fault.clear", 0.11)
    run = gc.simulate(gc.build(case), 0.15, 0.01)
    with pytest.warns(CoincidenceWarning) as told:
        gc.adjoint(run, SPEED, ["fault.t", "fault.clear"])
    assert [str(warning.message).partition(";")[0] for warning in told] == [
        "at 0.1 s: fault.t, then a point of the grid", "at 0.11 s: fault.clear, then a point of the grid"]


def test_guards_of_one_instant_are_told_whatever_is_asked_for():
    run = gc.simulate(gc.build(identical_units()), T_END, 0.01)
    with pytest.warns(CoincidenceWarning, match=r"EXC2\.VR_at_VRMAX, then EXC2b\.VR_at_VRMAX|EXC2.*, then EXC2b"):
        gc.adjoint(run, SPEED, "EXC2.KA")


@pytest.mark.parametrize(("derive", "side"), [
    (gc.adjoint, "derivatives are those of the side that was taken"),
    (gc.differences, "differences are of both sides")])
def test_a_limit_that_is_exactly_reached_at_t0_is_told(derive, side):
    case = nine_bus()
    at = gc.build(case)
    case.set("EXC2.VRMAX", float(at.Z0[at.layout.address("EXC2.VR")]))
    run = gc.simulate(gc.build(case), 0.1, 0.01)
    with pytest.warns(CoincidenceWarning, match=rf"EXC2.* is exactly where it acts at t0: {side}$") as told:
        derive(run, SPEED, "GEN2.H")
    assert told[0].filename == __file__


@pytest.mark.parametrize(("beyond", "told"), [(2 * 2.0**-52, True), (1e-14, False), (1e-9, False)])
def test_a_limit_is_reached_at_t0_but_for_the_round_off_of_its_terms(beyond, told):
    case = nine_bus()
    at = gc.build(case)
    case.set("EXC2.VRMAX", float(at.Z0[at.layout.address("EXC2.VR")]) * (1 + beyond))
    run = gc.simulate(gc.build(case), 0.05, 0.01)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        gc.adjoint(run, SPEED, "GEN2.H")
    assert any("EXC2" in str(warning.message) for warning in found) == told


def test_limits_that_are_exactly_reached_at_t0_are_counted():
    case = nine_bus()
    at = gc.build(case)
    for device in ("EXC2", "EXC3"):
        case.set(f"{device}.VRMAX", float(at.Z0[at.layout.address(f"{device}.VR")]))
    run = gc.simulate(gc.build(case), 0.1, 0.01)
    with pytest.warns(CoincidenceWarning, match=r"EXC2.* and 1 more are exactly where they act at t0"):
        gc.adjoint(run, SPEED, "GEN2.H")


@pytest.mark.parametrize(("case", "names"), [
    (cleared_and_opened, ["GEN2.H", "fault.t", "fault.clear", "trip.t"]), (ball, ["B.restitution"])])
def test_what_a_sweep_carries_are_parameters(case, names):
    """Those that are wanted, times of events, and those that events change; no variable, no mode."""
    run = gc.simulate(gc.build(case()), 1.0, 0.01)
    system, of = run.system, run.system.layout.address
    carried = carried_parameters(system, run.tape, [of(names[0])])
    assert run.events
    assert np.all((carried >= system.n) & (carried < system.n + system.layout.n_p))
    assert {of(name) for name in names} <= set(carried.tolist())


def test_what_moves_together_has_one_unit(run):
    with pytest.raises(CaseError, match=r"GEN1\.H is in s, GEN1\.Xd is in pu"):
        gc.adjoint(run, SPEED, [], joint=[("GEN1.H", "GEN1.Xd")])


# ---------------------------------------------------------------- a time that is another's


def test_a_time_that_is_another_events_has_one_derivative_the_joint_one(run):
    case = cleared_and_opened()
    case.set("trip.t", "fault.clear")
    shared = gc.simulate(gc.build(case), 0.4, OFF)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = gc.adjoint(shared, SPEED, "fault.clear").values
        joint = gc.adjoint(run, SPEED, [], joint=[("fault.clear", "trip.t")]).values
    np.testing.assert_allclose(found, joint, rtol=1e-10)
    np.testing.assert_allclose(found, gc.differences(shared, SPEED, "fault.clear").values, rtol=1e-7)


def test_a_time_that_is_another_events_follows_it():
    case = cleared_and_opened()
    case.set("trip.t", "fault.clear")
    moved = gc.build(case).with_values({"fault.clear": 0.2})
    case.set("fault.clear", 0.2)
    assert moved.Z0.tobytes() == gc.build(case).Z0.tobytes()
    assert [e.t for e in gc.simulate(moved, 0.3).events if e.item in ("clears", "opens")] == [0.2, 0.2]


@pytest.mark.parametrize(("before", "after", "words"), [
    ("fault.clear", 0.2, r"trip\.t is fault\.clear in the case"),
    (0.2, "fault.clear", r"trip\.t is a number in the case")])
def test_what_a_time_is_stays(before, after, words):
    case = cleared_and_opened()
    case.set("trip.t", before)
    with pytest.raises(CaseError, match=words):
        gc.build(case).with_values({"trip.t": after})


def test_there_is_no_derivative_in_a_time_that_is_another_events():
    case = cleared_and_opened()
    case.set("trip.t", "fault.clear")
    with pytest.raises(CaseError, match=r"'trip\.t' is fault\.clear: ask for that"):
        gc.adjoint(gc.simulate(gc.build(case), 0.2), SPEED, "trip.t")


def test_times_that_are_each_other_are_refused():
    case = cleared_and_opened()
    case.set("trip.t", "fault.clear")
    case.set("fault.clear", "trip.t")
    with pytest.raises(CaseError, match="is in the end itself: give one of them a number"):
        gc.build(case)


def test_there_is_no_derivative_in_a_time_constant_of_zero(run):
    with pytest.raises(CaseError, match=r"'EXC1\.TR' is a time constant of zero"):
        gc.adjoint(run, SPEED, "EXC1.TR")
    assert "EXC1.TR" not in gc.adjoint(run, SPEED, "EXC1.*").parameter.values


def test_behind_another_event_a_speed_that_rates_which_balance_leave_is_none():
    """A guard that is at zero always when the other is has no speed of its own: it would be the round-off of rates."""
    run = gc.simulate(gc.build(nine_bus()), 0.3, 0.01)
    replay = Replay(run.system, run.tape, np.array([run.system.layout.address("GEN2.H")]))
    trigger = next(k for k, g in enumerate(run.system.system.switching.guards) if "EXC" in g.device)
    here = next(r for r in run.tape.records if isinstance(r, Step) and r.h > 0)
    behind = dataclasses.replace(here, h=0.0, guard=trigger)
    slope = replay.slope(here.k + 1)
    gamma, _, _ = replay.guard(trigger, here.k + 1)
    along = gamma / np.linalg.norm(gamma) ** 2
    assert crossing(replay, behind, slope + along)[2] == pytest.approx(gamma @ slope + 1.0)
    with pytest.raises(gc.errors.EventError, match="grazes"):
        crossing(replay, behind, 1e-12 * along)


def test_behind_another_event_a_guard_of_voltages_grazes_where_their_rates_balance():
    """It reads algebraic variables alone, whose rates are no sums of the system's equations."""
    run = gc.simulate(gc.build(relay_at_the_clearing()), 0.3, 0.01)
    replay = Replay(run.system, run.tape, np.array([run.system.layout.address("GEN2.H")]))
    trigger = next(k for k, g in enumerate(run.system.system.switching.guards) if g.device == "R")
    here = next(r for r in run.tape.records if isinstance(r, Step) and r.h > 0)
    behind = dataclasses.replace(here, h=0.0, guard=trigger)
    gamma, _, _ = replay.guard(trigger, here.k + 1)
    a, b = np.flatnonzero(gamma)[:2]
    across = np.zeros(run.system.n)
    across[[a, b]] = 0.1 * gamma[b], -0.1 * gamma[a]
    along = 1e-10 * np.abs(gamma) @ np.abs(across) * gamma / (gamma @ gamma)
    assert not replay.point(here.k + 1).differential[[a, b]].any()
    assert crossing(replay, behind, across + 100 * along)[2] == pytest.approx(gamma @ (100 * along), rel=1e-6)
    with pytest.raises(gc.errors.EventError, match="grazes"):
        crossing(replay, behind, across + along)


@pytest.mark.parametrize(("wrt", "joint"), [
    (["fault.clear"], [("fault.clear", "trip.t")]), (["trip.t", "fault.clear"], [("fault.clear", "trip.t")]),
    ([], [("fault.clear", "trip.t"), ("fault.t", "fault.clear")]), (["fault.t"], [("trip.t",)])])
def test_what_moves_together_has_the_sum_beside_what_is_asked_for_alone(wrt, joint):
    """However many columns that makes, as many as names, say."""
    run = gc.simulate(gc.build(cleared_and_opened()), 0.3, OFF)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoincidenceWarning)
        each = gc.adjoint(run, OBJECTIVES, ["fault.t", "fault.clear", "trip.t"])
        found = gc.adjoint(run, OBJECTIVES, wrt, joint=joint)
    assert list(found["parameter"].values) == [*wrt, *(" + ".join(group) for group in joint)]
    for k, group in enumerate([*((name,) for name in wrt), *joint]):
        expected = each.sel(parameter=list(group)).sum("parameter")
        np.testing.assert_allclose(found[:, k], expected, rtol=1e-12)


def test_a_relay_that_does_not_wait_moves_as_one_with_what_sets_it_off():
    """Its action comes behind the crossing, at the same instant, however the crossing moves."""
    case = nine_bus()
    for part in (fault(0.45), shedding("A", 0.0)):
        case.add(part)
    run = gc.simulate(gc.build(case), T_END, OFF)
    begun, acted = (event for event in run.events if event.device == "A")
    assert (begun.kind, acted.kind, begun.t) == ("delay started", "switch", acted.t)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = gc.adjoint(run, OBJECTIVES, ["A.threshold"]).values[:, 0]
    for sign in (-1.0, 1.0):
        np.testing.assert_allclose(sign * found, one_sided(case, {"A.threshold": sign * 100}, OBJECTIVES, T_END, OFF)
                                   / 100, rtol=3e-5)
