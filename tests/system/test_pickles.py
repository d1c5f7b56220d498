"""What is pickled and loaded is the same, to the last bit: for joblib, multiprocessing and Dask."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import gridcore as gc
from gridcore.equilibrium import starting_at


def again(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.fixture(scope="module")
def system():
    return gc.build("wscc9")


def test_a_case(system):
    case = gc.load_case("wscc9")
    assert again(case) == case


@pytest.mark.parametrize("change", [lambda s: s, lambda s: s.with_values({"GEN2.H": 5.0}),
                                    lambda s: s.with_values({"fault.clear": 0.2}),
                                    lambda s: starting_at(s, {"GEN2.omega": 1.001})])
def test_a_system_simulates_and_differentiates_as_before(system, change):
    one = change(system)
    other = again(one)
    assert other.Z0.tobytes() == one.Z0.tobytes()
    H = gc.Terminal(lambda v: v["GEN2", "omega"])
    runs = [gc.simulate(s, 0.3) for s in (one, other)]
    assert runs[0].X.tobytes() == runs[1].X.tobytes()
    gradients = [gc.adjoint(run, H, ["GEN*.H", "GEN*.P0"]).values for run in runs]
    assert gradients[0].tobytes() == gradients[1].tobytes()


def test_systems_of_one_process_share_their_structure(system):
    assert again(system).system is again(system.with_values({"GEN2.H": 5.0})).system


@pytest.mark.usefixtures("short_segments")
@pytest.mark.parametrize("checkpoint", ["memory", "disk", 8 * 60 * 120])
def test_a_run_can_be_read_and_replayed(system, checkpoint):
    run = gc.simulate(system, 0.5, checkpoint=checkpoint)
    other = again(run)
    assert other.X.tobytes() == run.X.tobytes()
    assert [str(e) for e in other.events] == [str(e) for e in run.events]
    H = gc.Integral(lambda v: v["GEN2", "omega"] ** 2)
    assert gc.adjoint(other, H, ["GEN2.H"]).values.tobytes() == gc.adjoint(run, H, ["GEN2.H"]).values.tobytes()


def test_results(system):
    run = gc.simulate(system, 0.3)
    gradient = gc.adjoint(run, gc.Terminal(lambda v: v["GEN2", "omega"]), ["GEN2.H"])
    assert again(gradient).identical(gradient)
    modes = gc.analyses.small_signal(system)
    assert np.array_equal(again(modes).eigenvalues, modes.eigenvalues)
    assert np.array_equal(again(modes.linear).reduced, modes.linear.reduced)
    x, right = system.Z0[:system.n], modes.right
    assert np.array_equal(again(modes.linear).jacobian(x), modes.linear.jacobian(x))
    assert np.array_equal(again(modes.linear).with_algebraic(right), modes.linear.with_algebraic(right))
