"""What docs/trbdf2.md says of a stiff mode after a fault."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import gridcore as gc

sys.path.append(str(Path(__file__).parents[1] / "reference"))


def test_the_transducer_rings_by_the_trapezoidal_rule_alone() -> None:
    from scripts import script

    page = script("trbdf2")
    s = page.system()
    true = gc.simulate(s, page.T_END, 1e-4, method="trbdf2")
    runs = {name: gc.simulate(s, page.T_END, page.SHOWN, **options) for name, options in page.METHODS.items()}
    fast = {name: page.off(run, true, page.FAST) for name, run in runs.items()}
    assert fast["trapezoidal"] > 0.2
    assert fast["TR-BDF2"] < 1e-4 < fast["backward Euler"]
    slow = {name: page.off(run, true, page.SLOW) for name, run in runs.items()}
    assert slow["TR-BDF2"] < slow["trapezoidal"] < 0.1 * slow["theta = 0.6"] < 0.1 * slow["backward Euler"]
    ringing = runs["trapezoidal"]
    after = ringing.t > page.CLEAR + 0.02
    error = ringing[page.FAST][after] - np.interp(ringing.t[after], true.t, true[page.FAST])
    np.testing.assert_allclose(error[1:12] / error[:11], -9 / 11, atol=0.01)  # (1 - h/2T) / (1 + h/2T)


def test_chosen_steps_take_a_tenth_of_the_work_over_minutes_and_have_a_smaller_error() -> None:
    from scripts import script

    page = script("trbdf2")
    s = page.minutes()
    true = gc.simulate(s, 3.0, 1.0, "ida", rtol=1e-10, atol=1e-12).X[-1]
    fixed, chosen = {"step": 0.01}, {"step": "auto", "rtol": 1e-4, "atol": 1e-6}
    errors = [np.abs(gc.simulate(s, 3.0, **how).X[-1] - true).max() for how in (fixed, chosen)]
    assert errors[1] < errors[0]
    counters = [gc.simulate(s, 300.0, **how).counters for how in (fixed, chosen)]
    work = [count["newton_iterations"] + count["factorisations"] for count in counters]
    assert 10 * work[1] < work[0]  # a step of the grid takes but one iteration, mostly
