"""When theta's error is estimated: as soon as there are slopes enough, then rarely if it is small, else each time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from devices_for_tests import system as small

import gridcore as gc
from gridcore.contract import Device, Mode, Param, State, timer
from gridcore.integrate import Stepper
from gridcore.registry import records, registered
from gridcore_theta import Theta


class Swings(Device):
    """A swing of period 2 pi, whose error changes little as it goes; a mode changes at a time, or x jumps."""

    x0, y0 = Param("", 1.0), Param("", 0.0)
    at, jump = Param("s", np.inf), Param("s", np.inf)
    x, y, seen = State("", start_at="x0"), State("", start_at="y0"), Mode(0)
    changes = timer("at", then={"seen": 1})
    jumps = timer("jump", then={"x": lambda s: -s.x})

    def rates(s: Any) -> Any:
        return s.y, -s.x


def estimated(step: float, t_end: float, theta: float = 0.5, t0: float = 0.0, **fields: float) -> list[int]:
    """At the ends of which steps, counted from the start."""
    times = []

    class Noted(Theta):
        stretch = Stepper.stretch  # step by step

        def estimate(self, h: float) -> None:
            if self.ws is not None:
                times.append(float(self.ws.Z[-1]))
            super().estimate(h)

    with registered(Swings, records.Integrator("noted", Noted)):
        gc.simulate(small(Swings(id="S", **fields)), t0 + t_end, step, "noted", t0=t0, theta=theta)
    return [round((t - t0) / step) for t in times]


@pytest.mark.parametrize("t0", [0.0, 40.0])
@pytest.mark.parametrize(("theta", "first"), [(0.5, 2), (0.7, 3), (1.0, 3)])
def test_the_first_is_made_as_soon_as_slopes_are_enough_whatever_the_time(theta: float, first: int, t0: float) -> None:
    assert estimated(0.05, 0.4, theta, t0)[0] == first


@pytest.mark.parametrize("t0", [0.0, 40.0])
def test_a_small_one_is_made_again_after_sixteen_steps(t0: float) -> None:
    assert estimated(0.05, 3.0, t0=t0) == [2, 18, 34, 50]


def test_one_above_a_hundredth_of_what_is_warned_of_is_made_again_in_each_step() -> None:
    assert estimated(0.2, 4.0) == list(range(2, 20))


def test_a_jump_begins_a_history_and_a_change_that_moves_nothing_does_so_in_a_small_system() -> None:
    for event in ("at", "jump"):
        assert estimated(0.05, 1.5, **{event: 0.5}) == [2, 12, 28]
