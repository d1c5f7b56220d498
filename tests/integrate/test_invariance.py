"""What a run does not depend on: where time begins, its unit, that of a guard, which way up it is, what stands beside.

One scene with a bit of everything: a relay with a delay that is cancelled once, limits that are reached and left, a
reset, a guard of both directions, a timer that changes parameters, an algebraic variable.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from devices_for_tests import Clockwork, Driven, registered, system

import gridcore as gc
from gridcore.contract import Algebraic, Device, Mode, Param, State, guard, timer
from gridcore.tape import Step, Switch

pytestmark = pytest.mark.usefixtures("small_devices")

T_END, STEP = 8.0, 1 / 16
GRIDS = {"grid": {"step": STEP}, "damped": {"step": STEP, "theta": 0.75}, "trbdf2": {"step": STEP, "method": "trbdf2"}}
AUTO = {"auto": {"step": "auto", "rtol": 1e-4}, "auto, trbdf2": {"step": "auto", "rtol": 1e-4, "method": "trbdf2"}}
ON_GRIDS, ALL = (pytest.mark.parametrize("options", names) for names in (list(GRIDS), [*GRIDS, *AUTO]))
MARK = 2.75  # an instant within a step, at which an objective looks
WRT = ["M.weight", "M.high", "M.delay", "M.at", "M.upper", "M.bounce", "M.pull"]


@functools.cache
def scene(sign):
    """The class of a device whose guards have this sign, with directions that fit."""
    up, down = ("up", "down") if sign > 0 else ("down", "up")

    class Machinery(Device):
        """An oscillator ``x``, which is pushed by a relay; a state that follows it between limits; a ball."""

        pace = Param("1/s", 1.0)  # everything is so many times as fast
        unit = Param("", 1.0)  # of guards
        weight, pull, bounce = Param("", 0.1), Param("", 0.4), Param("", 0.9)
        high, upper, lower = Param("", 0.55), Param("", 0.35), Param("", -0.3)
        delay, patience, at = Param("s", 1.5), Param("s", 3.0), Param("s", 4.3)
        x0, v0, z0, h0, u0 = (Param("", value) for value in (0.1, 0.9, 0.0, 0.6, 0.0))
        x, v = State("", start_at="x0"), State("", start_at="v0")
        z = State("", limits=("lower", "upper"), start_at="z0")
        h, u = State("", start_at="h0"), State("", start_at="u0")
        y = Algebraic("")
        pushed, counted = Mode(0), Mode(0)

        def rates(s):
            force = s.y - s.weight * s.v + np.where(s.pushed == 1, -s.pull, 0.0)
            return s.pace * s.v, s.pace * force, s.pace * (s.v - 0.2 * s.z), s.pace * s.u, -s.pace

        def residuals(s):
            return s.y + s.x + 0.3 * s.y * s.y * s.y

        @guard(up, when={"pushed": 0}, then={"pushed": 1}, delay="delay")
        def too_high(s):
            return sign * s.unit * (np.exp(s.x) - np.exp(s.high))

        @guard(up, when={"pushed": 0}, then={"pushed": 2}, delay="patience")
        def stays_fast(s):
            return sign * s.unit * (s.v - 0.3)

        @guard(down, then={"u": lambda s: -s.bounce * s.u})
        def hits(s):
            return sign * s.unit * s.h

        @guard("both", then={"counted": lambda s: s.counted + 1})
        def passes(s):
            return sign * s.unit * (s.x + 0.2 * s.v)

        ticks = timer("at", then={"weight": lambda s: 2 * s.weight, "pull": lambda s: -s.pull}, doc="tick")

    return Machinery


def simulated(options, sign=1.0, t0=0.0, beside=(), behind=(), **values):
    """A run of the scene; `values` are its parameters, times from its start on."""
    pace, kind = values.get("pace", 1.0), scene(sign)
    times = {name: getattr(kind, name).default / pace for name in ("delay", "patience", "at")}
    how = dict({**GRIDS, **AUTO}[options])
    if how["step"] != "auto":
        how["step"] /= pace
    with registered(kind):
        s = system(*beside, kind(id="M", **{**values, **times, "at": times["at"] + t0}), *behind)
    return gc.simulate(s, t0 + T_END / pace, t0=t0, **how)


def derivatives(run, t0=0.0, pace=1.0):
    of = [gc.Terminal(lambda v: v["M", "x"]), gc.Integral(lambda v: v["M", "z"] ** 2 + v["M", "u"]),
          gc.At([t0 + MARK / pace], lambda v: v["M", "y"] + v["M", "h"])]
    found = gc.adjoint(run, of, WRT).values
    np.testing.assert_allclose(found, gc.analyses.forward_gradient(run, of, WRT).values, rtol=1e-10, atol=1e-12)
    return found


@functools.cache
def usual(options):
    """The run that others are compared with, and its derivatives."""
    run = simulated(options)
    return run, derivatives(run)


def happened(run):
    return [(e.device, e.item, e.kind) for e in run.events if e.device == "M"]


def work(run):
    """What was counted, but for evaluations, which round-off may make one more."""
    return {name: run.counters.get(name) for name in ("steps", "switches", "events", "locations", "delays",
                                                      "cancellations", "rejections")}


@ALL
def test_the_scene_has_a_bit_of_everything(options):
    run, found = usual(options)
    assert {item for _, item, _ in happened(run)} >= {"too_high", "hits", "passes", "ticks", "z_at_upper", "z_at_lower"}
    assert {kind for _, _, kind in happened(run)} >= {"cancelled"}
    assert run["M", "pushed"][-1] == 1
    assert (np.abs(found) > 1e-3).any(axis=0).all()
    steps = [record for record in run.tape.records if isinstance(record, Step)]
    made = {"steps": sum(step.h > 0 for step in steps), "locations": sum(step.guard >= 0 for step in steps),
            "switches": sum(isinstance(record, Switch) for record in run.tape.records)}
    assert made == {name: run.counters[name] for name in made}


@ALL
@pytest.mark.parametrize("change", [{"unit": 2.0**-14}, {"unit": 2.0**20}, {"sign": -1.0}])
def test_neither_the_unit_of_a_guard_nor_which_way_up_it_is_moves_a_bit(options, change):
    """Powers of two are exact: the same evaluations find the same times."""
    (run, found), other = usual(options), simulated(options, **change)
    assert happened(other) == happened(run)
    assert work(other) == work(run)
    assert np.array_equal(other.t, run.t)
    assert np.array_equal(other.X, run.X)
    np.testing.assert_allclose(derivatives(other), found, rtol=1e-13)


@ON_GRIDS
@pytest.mark.parametrize("pace", [2.0**-3, 2.0**4])
def test_the_unit_of_time_moves_no_bit(options, pace):
    (run, found), other = usual(options), simulated(options, pace=pace)
    assert happened(other) == happened(run)
    assert work(other) == work(run)
    assert np.array_equal(other.t * pace, run.t)
    assert np.array_equal(other.X, run.X)
    scale = np.array([[pace if name in ("M.delay", "M.at") else 1.0 for name in WRT]]) / [[1.0], [pace], [1.0]]
    np.testing.assert_allclose(derivatives(other, pace=pace), scale * found, rtol=1e-11)


@ON_GRIDS
@pytest.mark.parametrize("t0", [-64.0, 64.0])
def test_when_a_run_begins_does_not_matter(options, t0):
    """Times have fewer digits there; nothing else is other."""
    (run, found), other = usual(options), simulated(options, t0=t0)
    assert happened(other) == happened(run)
    assert work(other) == work(run)
    np.testing.assert_allclose(other.t - t0, run.t, atol=1e-12)
    np.testing.assert_allclose(other.X, run.X, atol=1e-11)
    np.testing.assert_allclose(derivatives(other, t0), found, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("options", list(AUTO))
@pytest.mark.parametrize("t0", [-64.0, 64.0])
def test_when_a_run_of_chosen_steps_begins_matters_as_little_as_its_tolerance(options, t0):
    """Round-off decides whether a step was cut off by its target, and so the length of the next."""
    (run, found), other = usual(options), simulated(options, t0=t0)
    assert happened(other) == happened(run)
    assert other.counters["steps"] == pytest.approx(run.counters["steps"], rel=0.05)
    np.testing.assert_allclose([e.t - t0 for e in other.events], [e.t for e in run.events], atol=1e-3)
    np.testing.assert_allclose(derivatives(other, t0), found, rtol=0.01, atol=1e-3)


@ALL
def test_what_stands_beside_and_does_nothing_does_not_matter(options):
    """What does has other places in all arrays then; and lengths of chosen steps follow the round-off of errors."""
    run, found = usual(options)
    other = simulated(options, beside=[Clockwork(id="A", speed=0.0), Driven(id="B", a=0.0, b=0.0, c=0.0)],
                      behind=[Clockwork(id="Z", speed=0.0)])
    assert happened(other) == happened(run)
    assert work(other) == work(run)
    at = [other.system.layout.address(".".join(name)) for name in run.system.variables]
    within = 1e-7 if options in AUTO else 1e-11
    np.testing.assert_allclose(other.t, run.t, rtol=0, atol=within)
    np.testing.assert_allclose(other.X[:, at], run.X, rtol=0, atol=within)
    np.testing.assert_allclose(derivatives(other), found, rtol=10 * within, atol=within)
