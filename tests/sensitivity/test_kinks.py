"""A continuous law with a kink that nobody locates: the order of the method stays, and so does exactness."""

from __future__ import annotations

import numpy as np
import pytest
from scenes import nine_bus, record

import gridcore as gc
from gridcore.equilibrium import Equilibrium


def swinging() -> Equilibrium:
    """A load whose voltage passes Vlow many times, in the swing after a fault."""
    case = nine_bus()
    case.remove("LOAD5"), case.remove("LOAD8")
    case.add(record("Exponential", id="LOAD5", bus=5, P0=1.25, Q0=0.5, alpha=0.3, beta=0.5, Vlow=0.82))
    case.add(record("Exponential", id="LOAD8", bus=8, P0=1.0, Q0=0.35, alpha=0.0, beta=3.0, Vlow=0.85))
    case.add(gc.BusFault(id="fault", bus=7, t=0.1, clear=0.25))
    return gc.build(case)


@pytest.fixture(scope="module")
def system():
    return swinging()


def test_the_order_stays_two_through_the_kink(system):
    runs = {h: gc.simulate(system, 0.75, h) for h in (5e-3, 2.5e-3, 1.25e-3, 1e-3 / 16)}
    reference = runs.pop(1e-3 / 16)
    after = reference.t > 0.251
    for bus, Vlow in (("BUS5", 0.82), ("BUS8", 0.85)):
        below = reference[bus, "Vm"][after] < Vlow
        assert np.count_nonzero(below[1:] != below[:-1]) > 0, bus
    errors = [abs(run["GEN2", "omega"][-1] - reference["GEN2", "omega"][-1]) for run in runs.values()]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 1.7).all(), orders


def test_gradients_are_those_of_differences_across_the_kink(system):
    run = gc.simulate(system, 0.75, 0.01)
    speed = gc.Integral(lambda v: (v["GEN2", "omega"] - 1) ** 2)
    names = ["LOAD5.Vlow", "LOAD8.Vlow", "LOAD5.alpha", "GEN2.H"]
    exact, differences = gc.adjoint(run, speed, names).values[0], gc.differences(run, speed, names).values[0]
    assert (exact[:2] != 0).all()
    np.testing.assert_allclose(exact, differences, rtol=1e-6, atol=1e-12)
