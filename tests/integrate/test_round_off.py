from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from devices_for_tests import registered, system

import gridcore as gc
from gridcore import numerics
from gridcore.contract import Algebraic, Device, Mode, Param, State, guard
from gridcore.integrate.round_off import round_off, visible
from gridcore.linear import Newton
from gridcore_blocks import Limit


class Amplified(Device):
    """A large gain, in an algebraic equation, before two limits that are reached together."""

    gain = Param("")
    speed = Param("1/s", 1e-6)
    x0 = Param("", 1.0)
    x = State("", start_at="x0")
    error = Algebraic("", equals=lambda s: s.gain * (s.x - s.x0))
    first = Limit("error", limits=(-1.0, 1.0))
    second = Limit("first", limits=(-1.0, 1.0))

    def rates(s):
        return s.speed


class Chain(Device):
    """``y = gain (x1 - x2)`` through an algebraic variable, and a guard that reads a tenth of it."""

    gain = Param("")
    a0, b0 = Param("", 0.7), Param("", 0.3)
    a, b = State("", start_at="a0"), State("", start_at="b0")
    y = Algebraic("", equals=lambda s: s.gain * (s.a - s.b))
    hit = Mode(0)

    def rates(s):
        return 0.0, 0.0

    @guard("up", when={"hit": 0}, then={"hit": 1})
    def crosses(s):
        return 0.1 * s.y - 0.04 * s.gain


def estimate(gain, relative=False):
    with registered(Chain):
        s = system(Chain(id="C", gain=gain))
    newton = Newton(s.workspace())
    newton.resolve(s.differential(s.Z0))
    return s, newton, round_off(newton, s.system, np.array([0]), relative)[0]


def test_round_off_of_a_guard_grows_with_a_gain_in_another_equation():
    small, large = estimate(1e3, relative=True)[2], estimate(1e6, relative=True)[2]
    assert large / small == pytest.approx(1000, rel=0.01)


def test_factors_of_other_equations_do_not_tell_the_round_off_but_new_ones_do():
    class Weak(Device):
        k, x0 = Param("", 1.0), Param("", 1e-9)
        x = State("", start_at="x0", rate=lambda s: 0.0)
        y = Algebraic("")
        hit = Mode(0)

        def residuals(s):
            return s.k * s.y - s.x

        @guard("up", when={"hit": 0}, then={"hit": 1})
        def crosses(s):
            return s.y - 1.0

    with registered(Weak):
        s = system(Weak(id="W"))
    newton = Newton(s.workspace())
    newton.resolve(s.differential(s.Z0))
    ws = newton.ws
    ws.Z[s.layout.address("W.k")] = 1e-9
    ws.refresh()
    ws.X[[name for _, name in s.variables].index("y")] = 1.0
    off = np.array([0]), np.array([1e-8])  # eps of what x is measured by, beside k
    assert visible(newton, s.system, *off)[0]
    assert not visible(newton, s.system, *off, anew=True)[0]


def test_round_off_of_a_guard_of_time_grows_with_time():
    class Late(Device):
        x0, at = Param("", 1.0), Param("s", 9e9)
        x = State("", start_at="x0", rate=lambda s: 0.0)
        late = Mode(0)

        @guard("up", when={"late": 0}, then={"late": 1})
        def passes(s):
            return 3.0 * (s.time - s.at)

    with registered(Late):
        s = system(Late(id="L"))
    newton = Newton(s.workspace())
    newton.resolve(s.differential(s.Z0))
    for t in (-7.0, 1e5):
        newton.ws.Z[-1] = t
        size = round_off(newton, s.system, np.array([0]), relative=True)
        assert size == pytest.approx(3.0 * abs(t) * numerics.ROUND_OFF)


@pytest.mark.parametrize("gain", [1.0, 1e3, 1e6, 1e9])
def test_what_arithmetic_leaves_of_a_zero_is_within_the_estimate(gain):
    s, newton, size = estimate(gain, relative=True)
    names = [name for _, name in s.variables]
    a, b = names.index("a"), names.index("b")
    ws = newton.ws
    X = ws.X.copy()
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(200):
        ws.X[:] = X
        move = rng.uniform(-1e-3, 1e-3)
        ws.X[a] += move
        ws.X[b] += move  # 0.1 (a - b) stays what it is but for round-off
        newton.resolve(s.differential(ws.Z))
        worst = max(worst, abs(s.switching.values(ws.Z)[0]))
    assert 0 < worst < size < 1e4 * worst


def test_the_estimate_is_that_of_skeel():
    """``eps (|w| |A| |X| + |gamma_X| |X| + |gamma_t t|)`` with ``A' w = gamma_X``, by dense matrices."""

    class Timed(Chain):
        hits = Mode(0)

        @guard("up", when={"hits": 0}, then={"hits": 1})
        def passes(s):
            return 3 * s.a - 2 * s.y + 5 * s.time - 40.0

        @guard("up", when={"hits": 0}, then={"hits": 1})
        def later(s):
            return s.time - 5.0

    with registered(Timed):
        s = system(Timed(id="T", gain=7.0))
    ws = s.workspace()
    ws.Z[-1] = 4.0
    newton = Newton(ws)
    newton.resolve(s.differential(s.Z0))
    found = round_off(newton, s.system, np.array([0, 1]), relative=True)
    A = sp.csc_matrix((ws.matrix(), ws.indices, ws.indptr), (s.n, s.n)).toarray()
    names, size = [name for _, name in s.variables], np.abs(ws.X)
    for k, (terms, in_t) in enumerate([({"y": 0.1}, 0.0), ({"a": 3.0, "y": -2.0}, 5.0)]):
        gradient = np.array([terms.get(name, 0.0) for name in names])
        w = np.linalg.solve(A.T, gradient)
        expected = np.abs(w) @ np.abs(A) @ size + np.abs(gradient) @ size + abs(in_t * 4.0)
        assert found[k] == pytest.approx(numerics.ROUND_OFF * expected, rel=1e-12, abs=0)
    absolute = round_off(newton, s.system, np.array([0, 1]))
    assert np.all(absolute >= found)
    assert absolute[0] >= numerics.GUARD_LEAST
    assert round_off(newton, s.system, np.array([2]))[0] == numerics.GUARD_LEAST  # of the time alone
    ws.scale = np.where(np.array(names) == "y", 1e6, ws.scale)
    assert round_off(newton, s.system, np.array([0]))[0] == pytest.approx(1e6 * numerics.GUARD_LEAST, rel=1e-12)


def test_the_end_of_a_step_is_not_known_better_than_its_last_correction():
    s, newton, size = estimate(10.0, relative=True)
    ws = newton.ws
    terms = 0.1 * abs(ws.X[[name for _, name in s.variables].index("y")]) + 0.04 * 10.0
    ws.moved = 1e-8
    assert 0.1 < round_off(newton, s.system, np.array([0]), relative=True)[0] / (1e-8 * terms) <= 1.0
    assert size < 1e-3 * 1e-8 * terms
    ws.R[:] = 1e-9 * (ws.scale + np.abs(ws.X))
    assert ws.newton(np.inf) == ws.moved == pytest.approx(1e-9)


def test_large_values_are_visible_without_an_estimate():
    s, newton, size = estimate(1e6)
    before = newton.lu.solves
    assert visible(newton, s.system, np.array([0, 0]), np.array([100.0, -2000.0])).all()
    assert newton.lu.solves == before
    assert list(visible(newton, s.system, np.array([0, 0]), np.array([2 * size, size / 2]))) == [True, False]


@pytest.mark.parametrize(("method", "gain"), [*(("theta", 10.0**k) for k in range(2, 10)), ("ida", 1e2), ("ida", 1e4)])
def test_limits_behind_a_gain_that_are_reached_at_one_instant_are_reached_once(gain, method):
    with registered(Amplified):
        devices = [Amplified(id=f"A{k}", gain=gain, speed=1.2 / gain, x0=1 + 0.037 * k) for k in range(8)]
        run = gc.simulate(system(*devices), 1.0, 0.01, method=method)
    happened = Counter((e.device, e.item) for e in run.events)
    assert set(happened.values()) == {1}
    assert {item for _, item in happened} <= {"first_at_max", "second_at_max"}
    assert {device for device, _ in happened} == {f"A{k}" for k in range(8)}
    assert [e.t for e in run.events] == pytest.approx([1 / 1.2] * len(run.events), abs=1e-10 + 1e-12 * gain)
