"""A small estimation that many tests share: a machine on an infinite bus after a fault; runs take milliseconds."""

from __future__ import annotations

import functools

import numpy as np

import gridcore as gc
from gridcore.sensitivity import Sampling
from gridcore_estimation import Measurements

TIMES = np.arange(1, 41) / 20 - 0.013  # beside events, where a run has two values
CLEAR = 0.1713
CHANNELS = ("GEN1.omega", "BUS1.Vm", "CCT1.P1")
SIZES = {"GEN1.omega": 0.01, "BUS1.Vm": 0.1, "CCT1.P1": 0.5}


@functools.cache
def smib():
    """The second circuit is opened a little after the fault is cleared, neither on a point of the grid."""
    case = gc.load_case("smib")
    case.set("trip.t", 0.1837)
    return gc.build(case).with_values({"fault.clear": CLEAR, "GEN1.D": 2.0})


def fabricated(system, channels=CHANNELS, times=TIMES, noise=0.0, seed=0, **options):
    """What would be measured in a system; noise is a part of each channel's size, weights are its inverse square."""
    run = gc.simulate(system, float(max(times)), **options)
    random = np.random.default_rng(seed)
    columns = {name: Sampling.of(run, times).values(run[tuple(name.rsplit(".", 1))])
               + noise * SIZES.get(name, 1.0) * random.standard_normal(len(times)) for name in channels}
    return Measurements.of(times, columns, {name: SIZES.get(name, 1.0) ** -2 for name in channels})
