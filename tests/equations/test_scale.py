"""Variables have a scale: what is small is known as exactly, relative to itself, as what is not."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
from devices_for_tests import registered, system

import gridcore as gc
from gridcore.errors import DeviceError
from gridcore.integrate.round_off import round_off
from gridcore.linear import Newton

METHODS = ["theta", *(["ida"] if importlib.util.find_spec("scikits_odes_sundials") else [])]


def reaction(size: float, scale: float) -> type[gc.Device]:
    """``x' = k z - x`` and ``z = size + x - x²/(z + size)``, an equation that Newton's method has to iterate on."""

    class Reaction(gc.Device):
        k = gc.Param("1/s", 1.5)
        x0 = gc.Param("", size)
        x = gc.State("", start_at="x0", scale=scale)
        z = gc.Algebraic("", init=size, scale=scale)
        low = gc.Mode(1)

        def rates(s: Any) -> Any:
            return s.k * s.z - s.x

        def residuals(s: Any) -> Any:
            return s.z - size - s.x + s.x * s.x / (s.z + size)

        @gc.guard("up", when={"low": 1}, then={"low": 0, "k": lambda s: 0.3 * s.k})
        def passes(s: Any) -> Any:
            return s.x - 1.2 * size

    return Reaction


def simulated(size, scale, **options):
    cls = reaction(size, scale)
    with registered(cls):
        made = system(cls(id="R"))
        return gc.simulate(made, **{"t_end": 1.0, "step": 0.05} | options)


def defect(run, size):
    """Of the algebraic equation, relative to its terms, at all points."""
    x, z = run["R", "x"], run["R", "z"]
    return np.max(np.abs(z - size - x + x * x / (z + size))) / size


@pytest.mark.parametrize("method", METHODS)
def test_what_is_small_solves_its_equations_to_round_off_relative_to_itself(method):
    # IDA's points between its own are interpolated: they solve the equations to its tolerance, relative to the scale
    allowed = {"theta": 1e-13, "ida": 1e-8}[method]
    assert defect(simulated(1e-9, 1e-9, method=method), 1e-9) < allowed
    assert defect(simulated(1e-9, 1.0, method=method), 1e-9) > 10 * allowed


@pytest.mark.parametrize("size", [2.0**-30, 2.0**20])
def test_in_another_unit_results_are_the_same(size):
    one, other = simulated(1.0, 1.0), simulated(size, size)
    np.testing.assert_allclose(other.t, one.t, rtol=0, atol=1e-14)
    np.testing.assert_allclose(other["R", "x"] / size, one["R", "x"], rtol=1e-13)
    assert len(other.events) == len(one.events) == 1


def test_the_adjoint_of_what_is_small_is_exact():
    size = 2.0**-30
    wrt = ["R.k", "R.x0"]
    H = gc.Terminal(lambda v: v["R", "x"])
    one, other = (gc.adjoint(simulated(s, s), objectives=[H], wrt=wrt) for s in (1.0, size))
    mine, theirs = np.ravel(other), np.ravel(one) * [size, 1.0]
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_the_adjoint_of_what_is_small_agrees_with_differences():
    size, h = 1e-9, 1e-5
    cls = reaction(size, size)
    H = gc.Terminal(lambda v: v["R", "x"])
    with registered(cls):
        made = system(cls(id="R"))

        def end(k):
            return gc.simulate(made.with_values({"R.k": k}), t_end=1.0, step=0.05)["R", "x"][-1]

        run = gc.simulate(made, t_end=1.0, step=0.05)
        gradient = float(np.ravel(gc.adjoint(run, objectives=[H], wrt=["R.k"]))[0])
        fourth = (8 * (end(1.5 + h) - end(1.5 - h)) - (end(1.5 + 2 * h) - end(1.5 - 2 * h))) / (12 * h)
    assert gradient == pytest.approx(fourth, rel=1e-9)


def test_round_off_of_a_guard_follows_the_scale_of_what_it_reads():
    found = []
    for size in (1.0, 2.0**-30):
        cls = reaction(size, size)
        with registered(cls):
            made = system(cls(id="R"))
        newton = Newton(made.workspace())
        newton.resolve(made.differential(made.Z0))
        found.append(round_off(newton, made.system, np.array([0]))[0] / size)
    assert found[1] == pytest.approx(found[0], rel=1e-12)


def test_scales_are_collected_in_the_order_of_the_variables():
    cls = reaction(1.0, 1e-6)
    with registered(cls):
        made = system(cls(id="R"), cls(id="S"))
    assert made.scale.tolist() == [1e-6] * 4
    assert made.workspace().scale is made.scale
    assert not made.scale.flags.writeable
    assert (gc.build("wscc9").scale == 1).all()


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_a_scale_that_is_no_size_is_refused(scale):
    with pytest.raises(DeviceError, match=r"Reaction: x: scale=.* is not a positive number"):
        reaction(1.0, scale)
