"""Blocks: their transfer functions, their limits as events at closed-form instants, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from devices_for_tests import registered
from numpy.testing import assert_allclose

import gridcore as gc
from gridcore.contract import Device, Param, State, quantity, timer
from gridcore.equilibrium import Equilibrium
from gridcore.errors import DeviceError, GridcoreError, InitialisationError
from gridcore_blocks import (
    PI,
    PID,
    Block,
    Curve,
    Deadband,
    HighGate,
    Integrator,
    Lag,
    LeadLag,
    Limit,
    LowGate,
    RateLimitedLag,
    SecondOrderLag,
    Washout,
)


class Plant(Device):
    """Something to put blocks on: an input `u` that steps to `u1` at `t1`, to `u2` at `t2`, and two time constants."""

    u = Param("pu", 0.0)
    u1, u2 = Param("pu", 0.0), Param("pu", 0.0)
    t1, t2 = Param("s", 1.0), Param("s", float("inf"))
    T = Param("s", 0.5, ge=0)
    T2 = Param("s", 0.2, ge=0)
    K = Param("pu", 3.0)
    low, high = Param("pu", -1.0), Param("pu", 1.0)
    first = timer("t1", then={"u": lambda s: s.u1})
    second = timer("t2", then={"u": lambda s: s.u2})


@contextmanager
def plants(*records: Of, initialise: bool = True) -> Iterator[Equilibrium]:
    case = gc.Case("plants")
    classes = {record.cls for record in records}
    with registered(*classes):
        for record in records:
            case.add(gc.Record(record.cls.__name__, record.fields))
        yield gc.build(case, initialise=initialise)


class Of:
    """``Of(Thing, "A", u1=2.0)``: a record and its class."""

    def __init__(self, cls: type[Device], id: str = "A", **fields: float):
        self.cls, self.fields = cls, {"id": id, **fields}


def run_of(*records, t_end=4.0, step=0.01, initialise=True):
    """An open integrator is not determined at rest: without initialisation all states begin at zero."""
    with plants(*records, initialise=initialise) as system:
        return gc.simulate(system, t_end=t_end, step=step)


def events(run, device="A"):
    return [(e.item, e.t) for e in run.events if e.device == device and e.item not in ("first", "second")]


# ---------------------------------------------------------------- transfer functions


class Linear(Plant):
    lag = Lag("u", T="T", K="K")
    lead = LeadLag("u", T1="T", T2="T2", K=lambda s: 2 * s.K)
    washout = Washout("u", T="T", K="K")
    both = PI("u", KP=2.0, KI=0.0)
    ahead = PID("u", KP=2.0, KI=0.0, KD="K", TD="T")
    filtered = SecondOrderLag("u", A1="T", A2="T2")
    chained = LeadLag("lag", T1="T2", T2="T")


def response(system, output, s):
    """Derivative of a quantity of A in A.u at a complex frequency, from the system's Jacobians."""
    J = system.jacobian(system.Z0).toarray()
    at = [system.layout.address("A.u")]
    column = system.system.parameter_jacobian(at).evaluate(system.Z0).toarray()[:, 0]
    x = np.linalg.solve(s * np.diag(system.differential(system.Z0).astype(float)) - J, column)
    function, gather = system.system.quantity("A", output)
    Z = system.Z0.astype(float)
    rows = np.array([(np.asarray(function(Z[gather] + d)) - np.asarray(function(Z[gather] - d))).ravel()[0] / 2e-3
                     for d in 1e-3 * np.eye(len(gather))])
    slope = np.zeros(len(Z))
    np.add.at(slope, gather, rows)
    return slope[: system.n] @ x + slope[at[0]]


@pytest.mark.parametrize(("T", "T2"), [(0.5, 0.2), (0.0, 0.2), (0.5, 0.0), (0.0, 0.0)])
def test_linear_blocks_have_their_transfer_functions_and_a_time_constant_of_zero_takes_them_away(T, T2):
    with plants(Of(Linear, T=T, T2=T2)) as system:
        for w in (0.3, 2.0, 30.0):
            s = 1j * w
            lag = 3.0 / (1 + T * s)
            expected = {"lag": lag, "lead": 6.0 * ((1 + T * s) / (1 + T2 * s) if T2 else 1.0),
                        "washout": 3.0 * s / (1 + T * s) if T else 0.0, "both": 2.0,
                        "ahead": 2.0 + (3.0 * s / (1 + T * s) if T else 0.0),
                        "filtered": 1 / (1 + T * s + T2 * s * s), "chained": lag * ((1 + T2 * s) / (1 + T * s))
                        if T else 3.0}
            expected["filtered_d1"] = expected["filtered"] * s if T or T2 else 0.0
            expected["filtered_d2"] = expected["filtered"] * s * s if T2 else 0.0
            for name, value in expected.items():
                assert response(system, name, s) == pytest.approx(value, rel=1e-8, abs=1e-9), name


class Integral(Plant):
    slow = Integrator("u", T="T", K="K")
    both = PI("u", KP="K", KI=4.0)
    all = PID("u", KP="K", KI=4.0, KD=0.5, TD="T2")


def test_integrators_have_theirs():
    with plants(Of(Integral), initialise=False) as system:
        s = 2j
        assert response(system, "slow", s) == pytest.approx(3.0 / (0.5 * s), rel=1e-8)
        assert response(system, "both", s) == pytest.approx(3.0 + 4.0 / s, rel=1e-8)
        assert response(system, "all", s) == pytest.approx(3.0 + 4.0 / s + 0.5 * s / (1 + 0.2 * s), rel=1e-8)


def test_instances_of_one_class_may_have_a_time_constant_or_none():
    run = run_of(Of(Linear, "A", u1=1.0, T=0.0), Of(Linear, "B", u1=1.0, T=0.4))
    after = run.t > 1.0
    assert_allclose(run["A", "lag"][after], 3.0, rtol=1e-12)
    assert_allclose(run["B", "lag"][after], 3 * (1 - np.exp(-(run.t[after] - 1) / 0.4)), atol=3e-4)
    with plants(Of(Linear, "A", u1=1.0, T=0.0)) as system:
        assert system.layout.address("A.T") in system.zero_time_constants
    with plants(Of(Linear, "A", u1=1.0)) as system:
        assert system.zero_time_constants == []


# ---------------------------------------------------------------- limits are events


class Waves(Plant):
    """Signals of time, so that the instants are known."""

    clamped = Limit(lambda s: np.sin(s.time), limits=(-0.5, 0.5))
    larger = HighGate(lambda s: np.sin(s.time), lambda s: np.cos(s.time))
    smaller = LowGate(lambda s: np.sin(s.time), lambda s: np.cos(s.time))
    dead = Deadband(lambda s: np.sin(s.time), width=0.3)
    bent = Curve(lambda s: np.sin(s.time), points=((-0.8, 0.0), (-0.5, 0.2), (0.5, "K"), (0.7, 4.0)))
    behind = Lag("larger", T="T")


def test_clamps_gates_and_deadbands_change_at_the_instants_of_their_signals():
    run = run_of(Of(Waves), t_end=6.0)
    t, sine, cosine = run.t, np.sin(run.t), np.cos(run.t)
    assert_allclose(run["A", "clamped"], np.clip(sine, -0.5, 0.5), atol=1e-12)
    assert_allclose(run["A", "larger"], np.maximum(sine, cosine), atol=1e-12)
    assert_allclose(run["A", "smaller"], np.minimum(sine, cosine), atol=1e-12)
    assert_allclose(run["A", "dead"], np.sign(sine) * np.maximum(np.abs(sine) - 0.3, 0), atol=1e-12)
    bent = np.select([sine < -0.5, sine < 0.5], [0.2 / 0.3 * (sine + 0.8), 0.2 + 2.8 * (sine + 0.5)],
                     3.0 + 5.0 * (sine - 0.5))
    assert_allclose(run["A", "bent"], bent, atol=1e-12)
    at, band = np.pi / 6, np.arcsin(0.3)
    expected = {"clamped_at_max": at, "clamped_off_max": np.pi - at, "clamped_at_min": np.pi + at,
                "clamped_off_min": 2 * np.pi - at, "larger_to_first": np.pi / 4, "larger_to_second": 1.25 * np.pi,
                "smaller_to_second": np.pi / 4, "smaller_to_first": 1.25 * np.pi, "dead_above": band,
                "bent_above_2": at, "bent_below_2": np.pi - at, "bent_below_1": np.pi + at,
                "bent_above_1": 2 * np.pi - at,
                "dead_back_below": np.pi - band, "dead_below": np.pi + band, "dead_back_above": 2 * np.pi - band}
    assert dict(events(run)) == pytest.approx(expected, rel=1e-12)
    assert t[-1] == 6.0


def test_a_gate_selects_at_t0_what_passes():
    with plants(Of(Waves)) as system:  # at time zero the cosine is the larger one
        modes = {m: system.Z0[system.layout.address(f"A.{m}_side")] for m in ("larger", "smaller")}
        assert modes == {"larger": 1, "smaller": 0}
        assert system.operating_point.violations == []


class Held(Plant):
    lag = Lag("u", T="T", limits=("low", "high"))
    lead = LeadLag("u", T1="T2", T2="T", limits=("low", "high"))
    both = PI("u", KP=2.0, KI=4.0, limits=("low", "high"))
    valve = RateLimitedLag("u", T="T2", rates=(-0.5, 0.25), limits=(None, "high"))


def test_non_windup_limits_are_reached_and_left_when_the_diagram_says():
    """Steps to 2 at 1 s and to -3 at 2.5 s; limits -1 and 1."""
    run = run_of(Of(Held, u1=2.0, u2=-3.0, t2=2.5), t_end=8.0, step=0.001, initialise=False)
    found = dict(events(run))
    T, T2 = 0.5, 0.2
    assert found["lag_at_high"] == pytest.approx(1 + T * np.log(2), abs=1e-5)  # 2 (1 - e^(-t/T)) = 1
    assert found["lag_off_high"] == found["lead_x_off_high"] == found["both_x_off_high"] == 2.5  # at once
    assert found["lag_at_low"] == pytest.approx(2.5 + T * np.log(2), abs=1e-5)  # -3 + 4 e^(-t/T) = -1
    # x + T2/T (u - x) = 1 with x = 2 (1 - e^(-t/T))
    assert found["lead_at_high"] == pytest.approx(1 + T * np.log(2 * (1 - T2 / T)), abs=1e-5)
    assert found["both_at_high"] == 1.0  # 2 * 2 at once
    assert found["both_x_at_high"] == pytest.approx(1 + 1 / 8, abs=1e-12)  # 4 * 2 t = 1
    # the valve opens at 0.25/s, and closes at 0.5/s while (-3 - x)/T2 is below that: until x = -2.9
    opening, turn = (run.t > 1.0) & (run.t < 2.5), 2.5 + (0.375 + 2.9) / 0.5
    assert_allclose(run["A", "valve"][opening], 0.25 * (run.t[opening] - 1), atol=1e-12)
    closing = (run.t > 2.5) & (run.t < turn)
    assert_allclose(run["A", "valve"][closing], 0.375 - 0.5 * (run.t[closing] - 2.5), atol=1e-12)
    assert turn > run.t[-1]


class Derived(Plant):
    ahead = PID("u", KP=2.0, KI=4.0, KD=1.0, TD="T2", limits=("low", "high"), names=("LOW", "HIGH"))


def test_a_derivative_takes_a_sum_off_its_limit_while_the_integrator_stays_at_it():
    """A step to 2 at 1 s: at the limit 1/8 s later; one to 0.1 at 2.5 s: the sum is 1 + 0.2 - drop e^(-t/T2)."""
    run = run_of(Of(Derived, u1=2.0, u2=0.1, t2=2.5), t_end=4.0, step=0.001, initialise=False)
    found = dict(events(run))
    assert found["ahead_x_at_HIGH"] == pytest.approx(1 + 1 / 8, abs=1e-12)
    assert "ahead_x_off_HIGH" not in found
    assert found["ahead_off_HIGH"] == found["ahead_at_LOW"] == 2.5  # the derivative goes down at once
    drop = (2 * (1 - np.exp(-1.5 / 0.2)) - 0.1) / 0.2
    assert found["ahead_off_LOW"] == pytest.approx(2.5 + 0.2 * np.log(drop / 2.2), abs=1e-5)
    assert found["ahead_at_HIGH"] == pytest.approx(2.5 + 0.2 * np.log(drop / 0.2), abs=1e-5)


def test_a_valve_that_nears_its_target_is_a_lag_again():
    run = run_of(Of(Held, u1=0.4, high=0.3), t_end=6.0, step=0.001, initialise=False)
    found = dict(events(run))
    # 0.25/s until (0.4 - x)/0.2 = 0.25, x = 0.35: beyond the limit of 0.3, which is met first
    assert found["valve_at_high"] == pytest.approx(1 + 0.3 / 0.25, abs=1e-12)
    run = run_of(Of(Held, u1=0.4), t_end=6.0, step=0.001, initialise=False)
    slow = dict(events(run))["valve_speed_off_max"]
    assert slow == pytest.approx(1 + 0.35 / 0.25, abs=1e-12)
    after = run.t > slow
    assert_allclose(run["A", "valve"][after], 0.4 - 0.05 * np.exp(-(run.t[after] - slow) / 0.2), atol=1e-6)


class Moving(Plant):
    """A bound that is a quantity: it steps with the parameter `c`."""

    c = Param("pu", 4.0)
    c1, c2, c3 = Param("pu", 1.0), Param("pu", 1.5), Param("pu", 3.0)
    lowered = timer("t1", then={"c": lambda s: s.c1})
    t3, t4 = Param("s", 1.5), Param("s", 2.0)
    raised = timer("t3", then={"c": lambda s: s.c2})
    raised_more = timer("t4", then={"c": lambda s: s.c3})
    first = None
    held = Lag(lambda s: 5.0, T="T", limits=(None, lambda s: s.c), names=("", "ceiling"), at_limit=1)


def test_a_limit_that_jumps_in_takes_the_state_along_and_one_that_jumps_away_does_not():
    run = run_of(Of(Moving), t_end=3.0, step=0.001)
    T, x = 0.5, run["A", "held"]
    before, low = run.t < 1.0, (run.t > 1.0) & (run.t < 1.5)
    assert (x[before] == 4.0).all()
    assert (x[low] == 1.0).all()
    # from 1 towards 5 until 1.5, then towards 3
    reach = T * np.log(4 / 3.5)
    free = (run.t > 1.5) & (run.t < 1.5 + reach)
    assert_allclose(x[free], 5 - 4 * np.exp(-(run.t[free] - 1.5) / T), atol=1e-5)
    again = (run.t > 2.0) & (run.t < 2.0 + T * np.log(3.5 / 2))
    assert_allclose(x[again], 5 - 3.5 * np.exp(-(run.t[again] - 2.0) / T), atol=1e-5)
    assert events(run)[-1][1] == pytest.approx(2 + T * np.log(3.5 / 2), abs=1e-5)
    assert {name for name, _ in events(run)} == {"lowered", "raised", "raised_more", "held_at_ceiling"}


class Falling(Plant):
    """A state that falls by itself, under a bound that falls faster and then turns."""

    x0 = Param("pu", 1.0)
    x = State("pu", rate=lambda s: s.time - 1.0, limits=(None, "ceiling"), start_at="x0")

    @quantity("pu", "bound")
    def ceiling(s: Any) -> Any:
        return 1.1 - 2.0 * s.time + 0.0 * s.x


def test_a_state_on_its_way_back_is_let_be_and_caught_when_it_turns():
    run = run_of(Of(Falling), t_end=1.5, step=0.01)
    on_its_way = run.t < 1.0 - 1e-8
    assert_allclose(run["A", "x"][on_its_way], 1 - run.t[on_its_way] + run.t[on_its_way] ** 2 / 2, atol=1e-12)
    assert [name for name, _ in events(run)] == ["x_at_ceiling"]
    assert events(run)[0][1] == pytest.approx(1.0, abs=2e-9)
    assert_allclose(run["A", "x"][run.t > 1.0 + 1e-8], 1.1 - 2 * run.t[run.t > 1.0 + 1e-8], atol=1e-12)


class Unselected(Plant):
    """An integrator that a gate does not select runs into its limit: it rests there."""

    windup = Integrator(lambda s: s.T - s.u, limits=("low", "high"), at_limit=1)
    choice = LowGate("u", "windup")


def test_an_integrator_may_rest_at_its_limit_and_is_freed_where_its_rate_points_back():
    with plants(Of(Unselected, u=0.2)) as system:
        assert system.Z0[system.layout.address("A.windup")] == 1.0
        assert system.operating_point.residual < 1e-12
    with pytest.raises(InitialisationError):  # its rate is -0.2 wherever it is free
        run_of(Of(Unselected, u=0.7))


# ---------------------------------------------------------------- gradients


class Loop(Plant):
    """A control loop with a limit of every kind."""

    error = Limit(lambda s: s.u - s.plant, limits=(-0.6, 0.6))
    pi = PI("error", KP=lambda s: s.K, KI=2.0, limits=("low", "high"))
    command = LeadLag("pi", T1="T2", T2="T", limits=(-0.9, 0.8))
    valve = RateLimitedLag("command", T="T2", rates=(-2.0, 1.5), limits=("low", 0.75))
    dead = Deadband(lambda s: s.u - s.plant, width=0.1)
    flow = LowGate("valve", lambda s: 0.9 - 0.3 * s.plant - s.dead)
    plant = Lag("flow", T="T", K=1.1, limits=(None, lambda s: 0.7 + 0.2 * s.u))


def test_gradients_are_exact_through_limits_of_every_kind():
    record = Of(Loop, u1=0.713, u2=-0.41, t1=0.1031, t2=2.0)
    with plants(record) as system:
        run = gc.simulate(system, t_end=4.0, step=0.01)
        assert {e.item.split("_")[0] for e in run.events} >= {"error", "pi", "command", "valve", "dead", "flow"}
        effort = gc.Integral(lambda v: v["A", "plant"] ** 2, name="effort")
        wrt = ["A.T", "A.T2", "A.K", "A.high", "A.u1", "A.t1"]
        exact, differences = gc.adjoint(run, effort, wrt=wrt), gc.differences(run, effort, wrt=wrt, relative_step=1e-6)
    assert_allclose(exact.values, differences.values, rtol=1e-6, atol=1e-8)


# ---------------------------------------------------------------- what is declared, and refused


class Twice(Block):
    """A block of a third party: the input twice, and a state that follows it."""

    def __init__(self, u: str):
        super().__init__("pu", "twice the input")
        self.u = u

    def expand(self) -> None:
        self.state(f"{self.name}_slow", lambda s: getattr(s, self.u) - getattr(s, f"{self.name}_slow"), T="T")
        self.output(lambda s: 2 * getattr(s, self.u))


def test_a_block_is_what_it_stands_for():
    class Own(Plant):
        twice = Twice("u")
        slow = Lag("twice", T="T", limits=("low", None), doc="slower")

        def rates(s):
            return -s.more

        more = State("pu")

    declared = Own.declares
    assert list(declared.states) == ["twice_slow", "slow", "more"]
    assert set(declared.quantities) == {"twice"}
    assert declared.modes.keys() >= {"slow_limit"}
    assert set(declared.guards) == {"slow_at_low", "slow_off_low"}
    assert declared.states["slow"].doc == "slower"
    with plants(Of(Own, u=0.3)) as system:
        assert system.Z0[system.layout.address("A.slow")] == pytest.approx(0.6)


def test_a_subclass_may_replace_a_block():
    class Faster(Linear):
        lag = Lag("u", T="T2", K=7.0)

    with plants(Of(Faster, u=1.0)) as system:
        assert system.Z0[system.layout.address("A.lag")] == pytest.approx(7.0)


def test_a_loop_without_a_state_is_named():
    class Ring(Plant):
        a = Limit(lambda s: s.u - s.b, limits=(-1.0, 1.0))
        b = LowGate("a", "u")

    with pytest.raises((DeviceError, GridcoreError), match="depends on itself without a state in between"):
        run_of(Of(Ring))


def test_a_time_constant_must_depend_on_parameters_alone():
    class Shifty(Plant):
        x = Lag("u", T="moves")

        @quantity("s", "no constant")
        def moves(s: Any) -> Any:
            return s.T + s.x

    with pytest.raises(DeviceError, match="T='moves' depends on more than parameters"):
        run_of(Of(Shifty))


@pytest.mark.parametrize("fields", [dict(T="nothing"), dict(T="T", limits=("nothing", None))])
def test_names_that_do_not_exist_are_refused_with_the_class(fields):
    with pytest.raises(DeviceError, match="nothing"):
        type("Broken", (Plant,), {"x": Lag("u", **fields)})
