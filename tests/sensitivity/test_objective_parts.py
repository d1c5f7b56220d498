"""Objectives are differentiated a part of a run at a time: the same numbers, and little memory for long runs."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from devices_for_tests import Driven, system

import gridcore as gc
from gridcore.sensitivity import evaluate
from gridcore.tape import checkpoints

pytestmark = pytest.mark.usefixtures("small_devices")


def objectives(count=1):
    return [o for k in range(count) for o in (
        gc.Integral(lambda v: v["D", "x"] ** 2 + v["D", "x"] * v["D", "a"], name=f"integral {k}"),
        0.5 * gc.Sampled([0.1, 0.33], lambda v: v["D", "x"], 0.2) + gc.Terminal(lambda v: v["D", "x"] * v["D", "b"]))]


def all_of(run, count=1):
    found = evaluate(run, objectives(count))
    return found.values, np.array([found.points[k] for k in range(len(run.t))]), found.nonzero, found.clocks


@pytest.mark.usefixtures("short_segments")
@pytest.mark.parametrize("kept", [{}, {"memory": 1.0}, {"checkpoint": 8 * 160}])
@pytest.mark.parametrize("points", [1, 7, 64])
def test_parts_change_nothing(monkeypatch, kept, points):
    small = system(Driven(id="D", at=0.4))
    wanted = all_of(gc.simulate(small, 1.0, 0.005))
    gradient = gc.adjoint(gc.simulate(small, 1.0, 0.005), objectives(), ["D.a", "D.at"]).values
    monkeypatch.setattr(checkpoints, "POINTS", points)
    run = gc.simulate(small, 1.0, 0.005, **kept)
    for there, here in zip(wanted, all_of(run), strict=True):
        np.testing.assert_equal(here, there)
    assert np.array_equal(gc.adjoint(run, objectives(), ["D.a", "D.at"]).values, gradient)
    assert np.array_equal(gc.analyses.forward_gradient(run, objectives(), ["D.a", "D.at"]).shape, gradient.shape)


def test_points_may_be_asked_for_in_any_order(monkeypatch):
    monkeypatch.setattr(checkpoints, "POINTS", 7)
    run = gc.simulate(system(Driven(id="D", at=0.4)), 1.0, 0.02)
    _, wanted, _, _ = all_of(run)
    found = evaluate(run, objectives()).points
    for k in np.random.default_rng(3).permutation(len(run.t)):
        assert np.array_equal(found[k], wanted[k])


def test_what_each_objective_is_at_all_points_is_the_joint_one_in_part(monkeypatch):
    run = gc.simulate(system(Driven(id="D", at=0.4)), 1.0, 0.005)
    one = objectives()[1]
    partials, found = one.weights(run), evaluate(run, [one])
    np.testing.assert_array_equal(partials.at, found.at)
    np.testing.assert_array_equal(partials.points, [found.points[k] for k in range(len(run.t))])


def test_an_objective_that_is_a_parameter_has_the_derivative_one_in_it_the_first_of_all_too():
    small, names = system(Driven(id="D")), ["base.omega_b", "base.base_mva", "D.a", "D.b", "D.c", "D.x0"]
    places = [small.layout.address(name) for name in names]
    assert min(places) == small.n
    run = gc.simulate(small, 1.0, 0.1)
    themselves = [gc.Terminal(lambda v, name=name: v[tuple(name.split("."))]) for name in names]
    assert evaluate(run, themselves).parameters(small) == sorted(places)
    for derive in (gc.adjoint, gc.analyses.forward_gradient):
        np.testing.assert_array_equal(derive(run, themselves, names).sel(parameter=names), np.eye(len(names)))


def test_memory_does_not_grow_with_steps_times_what_objectives_read(monkeypatch):
    monkeypatch.setattr(checkpoints, "POINTS", 64)
    small = system(Driven(id="D"))
    several = objectives(10)
    peaks = []
    for steps in (1000, 3000):
        run = gc.simulate(small, 1.0, 1.0 / steps)
        evaluate(run, several)
        tracemalloc.start()
        evaluate(run, several)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (peaks[1] - peaks[0]) / 2000 < 800  # bytes a step: 300 for 30 functions; 2240 in one piece
