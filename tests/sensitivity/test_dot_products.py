"""Every operation's transpose is its transpose: <w, J v> = <J' w, v>, for random vectors, record by record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scenes
from devices_for_tests import SMALL, registered
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from studies import Study

import gridcore as gc
from gridcore.equilibrium import InitialSensitivity
from gridcore.equilibrium.powerflow import PQ
from gridcore.registry import registries as plugins
from gridcore.sensitivity import Replay, carried_parameters
from gridcore.tape import Resolve, Step, Switch

V, W = 3, 2  # tangents and adjoints at once


@pytest.fixture(autouse=True)
def _devices() -> Iterator[None]:
    with registered(*SMALL, *scenes.DEVICES):
        yield


def replay_of(run: Any) -> Replay:
    """A replay that carries every parameter there is."""
    system = run.system
    point = system.operating_point.dispatch
    found = [] if point is None else [i for at, *_ in point.shares() for i in at]
    return Replay(system, run.tape, carried_parameters(
        system, run.tape, range(system.n, system.n + system.layout.n_p), found))


def assert_transposed(v: list[np.ndarray], Jv: list[np.ndarray], w: list[np.ndarray], JTw: list[np.ndarray]) -> None:
    """Each list holds the parts of one vector, (directions, ...)."""
    join = [np.concatenate([p.reshape(len(p), -1) for p in parts], axis=1) for parts in (v, Jv, w, JTw)]
    v_, Jv_, w_, JTw_ = join
    scale = (np.linalg.norm(w_, axis=1)[:, None] * np.linalg.norm(Jv_, axis=1)
             + np.linalg.norm(JTw_, axis=1)[:, None] * np.linalg.norm(v_, axis=1))
    assert np.isfinite(scale).all()
    assert (np.abs(w_ @ Jv_.T - JTw_ @ v_.T) <= 1e-13 * scale).all()


class Vectors:
    """Random tangents and adjoints of the shapes of a replay."""

    def __init__(self, replay: Replay, seed: int):
        self.replay, self.rng = replay, np.random.default_rng(seed)

    def X(self, rows: int) -> np.ndarray:
        return self.rng.normal(size=(rows, self.replay.system.n))

    def P(self, rows: int) -> np.ndarray:
        return self.rng.normal(size=(rows, len(self.replay.carried)))

    def T(self, rows: int) -> np.ndarray:
        return self.rng.normal(size=rows)


def check_step(replay: Replay, record: Step, rule: Any, r: Vectors) -> None:
    """The rule on a step; the grid's clock does not move, and a located end is the result's own."""
    dX, dP, dT0, dT1 = r.X(V), r.P(V), r.T(V), r.T(V)
    if record.start == 0:
        dT0[:] = 0.0
    if record.end == 0 or record.guard >= 0:
        dT1[:] = 0.0
    operator, clock = replay.step(record), replay.tape.point_clock
    before = [(r.X(V), r.T(V) * (rule.moving and clock[k] != 0)) for k in operator.past]
    operator.before = before
    X1, T1 = rule.step(operator, dX, dP, dT0, dT1)
    aX, aT = r.X(W), r.T(W)
    if record.end == 0:
        aT[:] = 0.0
    aP = np.zeros((W, len(replay.carried)))
    operator = replay.step(record)
    bX, bT0, bT1 = rule.step_transpose(operator, aX, aP, aT)
    of_before = [part * (rule.moving or part.ndim > 1) for pair in operator.before for part in pair]
    assert_transposed([dX, dP, dT0, dT1, *(part for pair in before for part in pair)], [X1, T1], [aX, aT],
                      [bX, aP, bT0, bT1, *of_before])


def check_resolve(replay: Replay, record: Resolve, r: Vectors) -> None:
    operator = replay.resolve(record.k)
    dX, dP, dT, aX = r.X(V), r.P(V), r.T(V), r.X(W)
    aP = np.zeros((W, len(replay.carried)))
    bX, bT = operator.transpose(aX, aP)
    assert_transposed([dX, dP, dT], [operator.forward(dX, dP, dT)], [aX], [bX, aP, bT])


def check_switch(replay: Replay, record: Switch, r: Vectors) -> None:
    operator = replay.switch(record)
    dX, dP, dT, aX, aP = r.X(V), r.P(V), r.T(V), r.X(W), r.P(W)
    assert_transposed([dX, dP, dT], list(operator.forward(dX, dP, dT)), [aX, aP], list(operator.transpose(aX, aP)))


def check_tape(run: Any, seed: int, every: int = 1) -> set[str]:
    """All records but, of plain steps, one in `every`; returns the kinds that there were."""
    replay, r = replay_of(run), Vectors(replay_of(run), seed)
    seen = set()
    for number, record in enumerate(run.tape.records):
        if isinstance(record, Step):
            if record.guard >= 0 or record.start or record.end or number % every == 0:
                seen.add("located" if record.guard >= 0 else "step")
                for rule in ("discrete", "continuous"):
                    check_step(replay, record, plugins.jump_rules[rule].rule, r)
        elif isinstance(record, Resolve):
            seen.add("resolve")
            check_resolve(replay, record, r)
        elif isinstance(record, Switch):
            seen.add("switch")
            check_switch(replay, record, r)
    return seen


ALL = {"step", "located", "resolve", "switch"}


@pytest.mark.parametrize(("name", "kinds"), [
    ("hiskens_pai", ALL), ("swing_off_the_grid", {"step", "resolve", "switch"}),
    ("resets_that_read_states_parameters_and_time", ALL), ("timers_at_one_instant", {"step", "resolve", "switch"}),
    ("limited_state_with_explicit_time", ALL), ("regulator_limits", ALL), ("regulator_limits_theta_07", ALL),
    ("regulator_limits_backward_euler", ALL), ("underfrequency_load_shedding", ALL),
    ("set_point_ramp_and_step", {"step", "resolve", "switch"}), ("recovery_loads_and_delayed_trip", ALL),
    ("kundur", ALL)])
def test_every_record_of_a_tape(name: str, kinds: set[str]) -> None:
    assert check_tape(scenes.STUDIES[name]().simulate(), seed=1, every=5) == kinds


def test_a_tape_without_events() -> None:
    run = gc.simulate(gc.build(scenes.nine_bus()), 0.05, 0.01)
    assert check_tape(run, seed=2) == {"step"}


@settings(max_examples=settings.default.max_examples // 10,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(theta=st.floats(0.5, 1.0), step=st.floats(0.01, 0.2), level=st.floats(0.6, 1.4), gain=st.floats(0.2, 1.2),
       drift=st.floats(-1.0, 1.0), seed=st.integers(0, 2**31))
def test_random_hopping_systems(theta: float, step: float, level: float, gain: float, drift: float, seed: int) -> None:
    case = scenes.case_of(scenes.record("Hopper", id="hop", level=level, gain=gain, drift=drift),
                          scenes.record("Limited", id="l", high=0.5 * level), scenes.record("LinearDAE", id="d"))
    check_tape(gc.simulate(gc.build(case), 1.5, step, theta=theta), seed)


STARTS = ["regulator_limits", "regulator_limits_direct_dispatch", "kundur", "two_machines_at_one_bus",
          "classical_machines_exponential_loads_shunt_and_infinite_bus", "set_point_ramp_and_step", "hiskens_pai",
          "limited_state_with_explicit_time", "paper_with_governors", "recovery_loads_and_delayed_trip"]


@pytest.mark.parametrize("through", [True, False])
@pytest.mark.parametrize("name", STARTS)
def test_initial_point(name: str, through: bool) -> None:
    """Power flow and initialisation together, and initialisation alone."""
    study: Study = scenes.STUDIES[name]()
    system = gc.build(study.case)
    study.system = system
    run = gc.simulate(system, study.step, study.step)
    replay = replay_of(run)
    r, initial = Vectors(replay, 3), InitialSensitivity(system, replay.carried, through)
    dP, aX, aP = r.P(V), r.X(W), r.P(W)
    assert_transposed([dP], list(initial.forward(dP)), [aX, aP], [initial.transpose(aX, aP)])


@pytest.mark.parametrize("name", [n for n in STARTS if n not in ("hiskens_pai", "limited_state_with_explicit_time")])
def test_power_flow(name: str) -> None:
    """Voltages from scheduled powers and set-points: <w, V> as a real product of real and imaginary parts."""
    flow = gc.build(scenes.STUDIES[name]().case).operating_point.power_flow
    rng, n = np.random.default_rng(4), len(flow.V)
    dS = rng.normal(size=(V, n)) + 1j * rng.normal(size=(V, n))
    dV, w = rng.normal(size=(V, n)), rng.normal(size=(W, n)) + 1j * rng.normal(size=(W, n))
    aS, aV = flow.adjoint(w)
    out = flow.tangent(dS, dV)
    assert_transposed([dS.real, dS.imag, dV], [out.real, out.imag], [w.real, w.imag], [aS.real, aS.imag, aV])
    assert not flow.tangent(np.zeros((1, n)), np.where(flow.kinds == PQ, 1.0, 0.0)).any()
