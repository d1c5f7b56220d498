"""What is watched, what a trigger changes, and what follows from it."""

from __future__ import annotations

import numpy as np
import pytest
from devices_for_tests import Delayed, DelayedForGood, DelayedOwnCancel, Limited, registered, system
from hypothesis import given
from hypothesis import strategies as st

import gridcore as gc
from gridcore.contract import Device, Input, Mode, Param, Source, State, guard, timer


class Switchboard(Device):
    a = Param("", 2.0)
    at = Param("s", 0.5)
    later = Param("s", 0.7)
    x0 = Param("", 1.0)
    x = State("", start_at="x0")
    mode, other = Mode(0), Mode(0)

    def rates(s):
        return -s.x

    @guard("up", when={"mode": 1, "other": 2}, then={"mode": 2})
    def watched(s):
        """Watched."""
        return s.x - 5

    first = timer("at", then={"a": lambda s: s.x + s.a, "x": lambda s: 10 * s.a, "mode": 1}, doc="first")
    second = timer("later", then={"mode": lambda s: s.mode + 1}, doc="second")


class Guest(Device):
    """Switches its host, by the host's own values."""

    attaches = "host"
    at = Param("s", 0.5)
    hits = timer("at", then={"host.x": lambda s, host: -host.x, "host.mode": 3}, doc="hit")
    seen = guard("down", when={"host.mode": 3}, then={"host.other": 1})(lambda s, host: host.x)


class Valve(Device):
    u = Input("", 1.0)
    x = State("", start_at="x0")
    x0 = Param("", 1.0)

    def rates(s):
        return s.u - s.x


class Positioner(Device):
    attaches = "valve"
    at = Param("s", 0.5)
    x = State("", drives="valve.u")
    shuts = timer("at", then={"valve.u": 0.0}, doc="shut")

    def rates(s):
        return 1.0 - s.x


class Shutter(Device):
    attaches = "valve"
    at = Param("s", 0.5)
    shuts = timer("at", then={"valve.u": 0.0}, doc="shut")


@pytest.fixture(scope="module", autouse=True)
def _registered():
    with registered(Switchboard, Guest, Valve, Positioner, Shutter):
        yield


@pytest.fixture
def board():
    return system(Switchboard(id="S"), Switchboard(id="T", x0=3.0), Guest(id="G", host="T"))


def at(s, name):
    return s.layout.address(name)


def trigger(s, name, of="timers"):
    return next(t for t in getattr(s.switching, of) if str(t) == name)


# ---------------------------------------------------------------- conditions


def test_a_guard_is_watched_when_all_its_modes_have_their_values(board):
    Z, row = board.Z0.copy(), [str(g) for g in board.switching.guards].index("S.watched")
    for mode, other, status, watched in ((1, 2, 1, True), (1, 0, 1, False), (0, 2, 1, False), (1, 2, 0, False)):
        Z[at(board, "S.mode")], Z[at(board, "S.other")], Z[at(board, "S.status")] = mode, other, status
        assert board.switching.active(Z)[row] == watched


def test_a_guard_may_be_watched_by_the_modes_of_its_host(board):
    Z, row = board.Z0.copy(), [str(g) for g in board.switching.guards].index("G.seen")
    assert not board.switching.active(Z)[row]
    Z[at(board, "T.mode")] = 3
    assert board.switching.active(Z)[row]


def test_a_limited_state_is_watched_for_what_it_can_do_next(small_devices):
    s = system(Limited(id="L"))
    names, Z = [g.item for g in s.switching.guards], s.Z0.copy()
    for mode, watched in ((0, {"x_at_high", "x_at_low"}), (1, {"x_off_high"}), (-1, {"x_off_low"})):
        Z[at(s, "L.x_limit")] = mode
        assert {n for n, on in zip(names, s.switching.active(Z), strict=True) if on} == watched
    Z[at(s, "L.status")] = 0
    assert not s.switching.active(Z).any()


def test_guard_functions_have_their_values_and_directions(small_devices):
    s = system(Limited(id="L", low=-0.25, high=0.75, x0=0.5))
    Z = s.Z0.copy()
    Z[-1] = 1.0
    values = dict(zip([g.item for g in s.switching.guards], s.switching.values(Z), strict=True))
    rate = np.cos(1)
    assert values == pytest.approx({"x_at_high": -0.25, "x_at_low": 0.75, "x_off_high": rate, "x_off_low": rate})
    assert {g.item: g.direction for g in s.switching.guards} == {
        "x_at_high": 1, "x_at_low": -1, "x_off_high": -1, "x_off_low": 1}


def test_cancellation_is_by_crossing_back_by_an_own_row_or_not_at_all(small_devices):
    back, own, never = (system(D(id="D")).switching for D in (Delayed, DelayedOwnCancel, DelayedForGood))
    assert [g.cancel for g in back.guards] == [-2]
    assert [g.cancel for g in never.guards] == [-1]
    assert own.guards[0].cancel == 1
    assert list(own.is_cancel) == [False, True]
    assert own.guards[1].direction == 1


# ---------------------------------------------------------------- changes


def test_an_action_on_an_input_is_refused_where_another_device_drives_it():
    free = system(Valve(id="V"), Shutter(id="H", valve="V"))
    assert gc.simulate(free, 1.0, 0.1)["V.u"][-1] == 0.0
    driven = system(Valve(id="V"), Shutter(id="H", valve="V"), Positioner(id="P", valve="V", at=2.0))
    with pytest.raises(gc.errors.EventError, match=r"H\.shuts changes V\.u, but P drives it"):
        gc.simulate(driven, 1.0, 0.1)


def test_all_changes_of_a_trigger_are_computed_from_the_values_before(board):
    Z = board.Z0.copy()
    board.switching.apply(Z, [trigger(board, "S.first")])
    assert Z[at(board, "S.a")] == 1 + 2
    assert Z[at(board, "S.x")] == 10 * 2
    assert Z[at(board, "S.mode")] == 1


def test_nothing_else_changes(board):
    Z = board.Z0.copy()
    board.switching.apply(Z, [trigger(board, "S.first")])
    changed = {board.layout.label(k) for k in np.flatnonzero(Z != board.Z0)}
    assert changed == {"S.a", "S.x", "S.mode"}


def test_triggers_of_one_instant_act_one_after_the_other(board):
    Z = board.Z0.copy()
    board.switching.apply(Z, [trigger(board, "S.first"), trigger(board, "S.second"), trigger(board, "S.second")])
    assert Z[at(board, "S.mode")] == 3


def test_a_device_may_change_what_it_hangs_on(board):
    Z = board.Z0.copy()
    board.switching.apply(Z, [trigger(board, "G.hits")])
    assert Z[at(board, "T.x")] == -3
    assert Z[at(board, "T.mode")] == 3
    assert Z[at(board, "S.x")] == 1


def test_timers_know_their_parameter_and_their_words(board):
    names = {str(t): (board.Z0[t.time], t.what) for t in board.switching.timers}
    assert names == {"S.first": (0.5, "first"), "S.second": (0.7, "second"), "T.first": (0.5, "first"),
                     "T.second": (0.7, "second"), "G.hits": (0.5, "hit")}


def test_simultaneous_timers_act_in_the_order_of_their_declaration_and_all_are_reported(board):
    run = gc.simulate(board, 1.0, 0.1)
    assert [f"{e.device}.{e.item}" for e in run.events if e.t == 0.5] == [
        "S.first", "T.first", "G.hits", "G.seen"]
    # T.first sets x to 20, G.hits turns it round, each seeing what the one before has left; that is below zero
    after = np.flatnonzero(run.t == 0.5)[-1]
    assert run["T", "x"][after] == -20


@given(names=st.lists(st.sampled_from(["S.first", "S.second", "T.first", "T.second", "G.hits"]), max_size=6),
       x=st.floats(-3, 3), mode=st.integers(0, 3))
def test_what_applying_triggers_returns_is_where_the_buffer_has_changed(names, x, mode):
    """Also where one of them undoes what another one did, or sets what was so before."""
    s = system(Switchboard(id="S"), Switchboard(id="T", x0=3.0), Guest(id="G", host="T"))
    Z = s.Z0.copy()
    Z[at(s, "T.x")], Z[at(s, "T.mode")] = x, mode
    before = Z.copy()
    assert sorted(s.switching.apply(Z, [trigger(s, name) for name in names])) == list(np.flatnonzero(Z != before))


def test_a_trigger_that_sets_what_is_so_already_changes_nothing(board):
    Z, hits = board.Z0.copy(), trigger(board, "G.hits")
    Z[at(board, "T.x")] = 0.0  # which is turned round to -0.0
    assert board.layout.label(*board.switching.apply(Z, [hits])) == "T.mode"
    before = Z.tobytes()
    assert len(board.switching.apply(Z, [hits])) == 0
    assert Z.tobytes() == before


@given(changes=st.dictionaries(st.sampled_from([f"{id}.{name}" for id, names in (
    ("S", ["mode", "other", "status"]), ("T", ["mode", "other", "status"]), ("G", ["status"])) for name in names]),
    st.integers(0, 3)), more=st.lists(st.sampled_from(["S.a", "T.x", "S.mode", "G.status"])))
def test_what_is_watched_follows_from_what_was_and_the_modes_that_have_changed(changes, more):
    s = system(Switchboard(id="S"), Switchboard(id="T", x0=3.0), Guest(id="G", host="T"))
    Z, told = s.Z0.copy(), np.array([at(s, name) for name in (*changes, *more)], dtype=int)
    before = s.switching.active(Z)
    for name, value in changes.items():
        Z[at(s, name)] = value
    assert list(s.switching.active(Z, before, told)) == list(s.switching.active(Z))


def test_a_cancellation_that_was_watched_is_not_watched_by_modes(small_devices):
    s = system(DelayedOwnCancel(id="D"))
    assert list(s.switching.active(s.Z0, np.array([True, True]), np.zeros(0, dtype=int))) == [True, False]


def test_triggers_are_chosen_by_kind_and_number_in_their_order(board):
    chosen = board.switching.chosen([("timer", 4), ("guard", 0), ("timer", 2)])
    assert [str(each) for each in chosen] == ["G.hits", "S.watched", "S.second"]


# ---------------------------------------------------------------- out of service


@pytest.fixture(scope="module")
def nine():
    return gc.build("wscc9_paper")


def test_what_hangs_on_a_tripped_device_goes_with_it(nine):
    case = nine.case.copy()
    case.add(gc.Trip(id="trip", device="GEN2", t=0.1))
    s = gc.build(case)
    Z = s.Z0.copy()
    s.switching.apply(Z, [trigger(s, "trip.trips")])
    out = {i.id for i in s.layout.instances if Z[at(s, f"{i.id}.status")] == 0}
    hanging = set(s.network.dependants("GEN2"))
    assert out == {"GEN2"} | hanging
    assert {"EXC2", "GOV2"} <= out


def test_states_out_of_service_stand_still_and_inject_nothing(nine):
    case = nine.case.copy()
    case.add(gc.Trip(id="trip", device="GEN2", t=0.1))
    run = gc.simulate(gc.build(case), 0.5, 0.01)
    after = run.t > 0.1
    for device, variable in (("GEN2", "omega"), ("GEN2", "Eqp"), ("EXC2", "Efd"), ("GOV2", "Pm")):
        assert np.ptp(run[device, variable][after]) == 0
    np.testing.assert_allclose(run["GEN2", "P"][after], 0, atol=1e-12)
    assert abs(run["GEN1", "omega"][-1] - 1) > 1e-4  # the others take over


def isolated(nine):
    """Bus 5 hangs on two lines; both open."""
    case = nine.case.copy()
    for record in [r for r in case.records if r.model == "BusFault"]:
        case.records.remove(record)
    load = next(i.id for i in nine.layout.instances if i.ports.get("bus") == "BUS5")
    lines = [i.id for i in nine.layout.instances if len(i.ports) == 2 and "BUS5" in i.ports.values()]
    assert len(lines) == 2
    for k, line in enumerate(lines):
        case.add(gc.BranchTrip(id=f"trip{k}", branch=line, t=0.1 + 0.1 * k))
    return case, load


@pytest.mark.parametrize("names", [["trip.trips"], ["trip0.opens", "trip1.opens"],
                                   ["trip0.opens", "trip0.closes"], ["trip1.opens", "trip.trips", "trip0.opens"]])
def test_where_the_buffer_has_changed_and_what_is_watched_is_known_after_outages_too(nine, names):
    case, load = isolated(nine)
    case.add(gc.Trip(id="trip", device="GEN2", t=0.1))
    s = gc.build(case, deenergise=True)
    Z, watched = s.Z0.copy(), s.switching.active(s.Z0)
    for some in ([], names[:1], names, names[::-1]):
        before = Z.copy()
        changed = s.switching.apply(Z, [trigger(s, name) for name in some])
        assert list(changed) == list(np.flatnonzero(Z != before))
        watched = s.switching.active(Z, watched, changed)
        assert list(watched) == list(s.switching.active(Z))
    assert (Z[at(s, f"{load}.status")] == 0) == ({"trip0.opens", "trip1.opens"} <= set(names))


def test_an_island_without_a_source_is_refused_by_the_names_of_its_buses(nine):
    case, _ = isolated(nine)
    with pytest.raises(gc.errors.NetworkError, match="island without a voltage source: BUS5") as caught:
        gc.simulate(gc.build(case), 0.5, 0.01)
    assert caught.value.run.t[-1] == pytest.approx(0.2)


def test_where_nothing_is_left_with_a_source_there_is_no_power_flow(nine):
    case = nine.case.copy()
    for record in case:
        if issubclass(record.device, Source):
            record.fields["status"] = 0
    with pytest.raises(gc.errors.NetworkError, match="no bus is energised: there is no voltage source in service"):
        gc.build(case, deenergise=True)


def test_or_it_is_taken_out_of_service_where_that_is_asked_for(nine):
    case, load = isolated(nine)
    run = gc.simulate(gc.build(case, deenergise=True), 0.5, 0.01)
    dead = run.t > 0.2
    assert np.abs(run["BUS5", "Vm"][dead]).max() < 1e-12
    assert run[load, "status"][-1] == 0
    assert run["BUS6", "Vm"][-1] > 0.5


def test_an_event_that_changes_the_time_of_one_is_an_error():
    class Postpones(Switchboard):
        puts_off = timer("at", then={"later": 0.9}, doc="put off")

    said = r"^S\.puts_off changes S\.later, the time of an event, which stands when the run begins"
    with registered(Postpones), pytest.raises(gc.errors.EventError, match=said):
        gc.simulate(system(Postpones(id="S")), 1.0)
