"""A test bench for one governor: speed and power are prescribed, answers compared with the plain blocks.

The references are block diagrams written out with `numpy.clip` and `min`, solved by scipy with small steps.
"""

from typing import Any

import numpy as np
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import gridcore as gc
from gridcore.contract import Input, Param, Setpoint, Source, State, quantity
from gridcore_conformance.testbed import testbed

P0 = 0.7


class Bench(Source):
    """What a governor sees of a machine: the speed has a given slope, the power is a given number."""

    E = Setpoint("pu", init=1.0)
    X = Param("pu", 0.2)
    omega0 = Param("pu", 1.0)
    slope = Param("1/s", 0.0)
    seen = Param("pu", P0)
    delta = State("rad")
    omega = State("pu", init=1.0, start_at="omega0")
    Pm = Input("pu")
    Dt = Input("pu", 0.0)

    @quantity("pu")
    def P(s: Any) -> Any:
        return s.seen

    def currents(s: Any, bus: Any) -> Any:
        return (s.E * np.sin(s.delta) - bus.Vi) / s.X, (bus.Vr - s.E * np.cos(s.delta)) / s.X

    def rates(s: Any, bus: Any) -> Any:
        drawn = s.E * (bus.Vr * np.sin(s.delta) - bus.Vi * np.cos(s.delta)) / s.X
        return 1e-3 * (s.Pm - drawn), s.slope  # nothing that the governor sees; but at rest Pm is the power drawn


def built(cls, data, slopes=(), powers=(), sn=100.0):
    """A governor G under a piecewise linear speed and a piecewise constant power: ``[(t, value), ...]``."""
    case = gc.Case("bench")
    for id in (1, 2):
        case.add(gc.Record("Bus", {"id": id}))
    case.add(gc.Record("Line", {"bus1": 1, "bus2": 2, "x": 0.1}))
    case.add(gc.Record("InfiniteBus", {"id": "INF", "bus": 2, "control": "slack"}))
    case.add(gc.Record("Bench", {"id": "M", "bus": 1, "P0": P0 * sn / 100, "Sn": sn}))
    case.add(gc.Record(cls.__name__, {"id": "G", "machine": "M", **data}))
    for name, steps in (("slope", slopes), ("seen", powers)):
        before = {"slope": 0.0, "seen": P0}[name]
        for k, (t, value) in enumerate(steps):
            case.add(gc.ParameterStep(id=f"{name}{k}", parameter=f"M.{name}", t=t, by=value - before))
            before = value
    with testbed(Bench):
        return gc.build(case)


def driven(cls, data, slopes, powers=(), t_end=20.0, step=0.002, sn=100.0, **options):
    """A run of what is :func:`built`."""
    return gc.simulate(built(cls, data, slopes, powers, sn), t_end=t_end, step=step, **options)


def profile(steps, first):
    """Value at a time of what was stepped, and its integral: two functions."""
    times, values = [-1.0, *(t for t, _ in steps)], [first, *(v for _, v in steps)]

    def value(t):
        return values[int(np.searchsorted(times, t, side="right")) - 1]

    def integral(t):
        return sum(v * (min(t, end) - begin) for v, begin, end in zip(values, times, [*times[1:], np.inf])
                   if t > begin)

    return value, integral


def solved(slope, x0, run, breaks):
    """The reference at the points of the run, restarted where the inputs break."""
    t, x, out = run.t, np.asarray(x0, float), np.zeros((len(x0), len(run.t)))
    for begin, end in zip([0.0, *breaks], [*breaks, t[-1]]):
        here = (t >= begin) & (t <= end)
        found = solve_ivp(slope, (begin, end), x, rtol=1e-8, atol=1e-10, max_step=0.01, dense_output=True)
        out[:, here], x = found.sol(t[here]), found.y[:, -1]
    return out


def agree(run, expected, close=2e-5):
    for name, values in expected.items():
        assert np.ptp(values) > 1e-3, name
        assert_allclose(run["G", name], values, atol=close * (1 + np.ptp(values)), err_msg=name)


def modes(run):
    """Which events of the governor there were."""
    return {event.item for event in run.events if event.device == "G"}
