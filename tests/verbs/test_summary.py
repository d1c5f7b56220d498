"""A run in words."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import gridcore as gc
from gridcore.tape import Method
from gridcore_verbs.summary import describe_run, describe_system, layout


@pytest.fixture(scope="module")
def run():
    """The 9-bus fault study, 0.4 s."""
    return gc.simulate(gc.build("wscc9"), t_end=0.4)


def test_the_summary_tells_what_was_simulated_and_what_came_of_it(run):
    text = layout([*describe_system(run.system), *describe_run(run)])
    for part in ("9 buses, 20 devices", "48 unknowns, 21 of them differential", "power flow", "largest residual",
                 "limits at t0   all kept", "0.1830000 s  LINE5-7: opened", "in synchronism", "simulate"):
        assert part in text
    speed = run.of(["GEN1", "GEN2", "GEN3"], "omega")
    assert f"to {speed.max():.4f} pu (GEN2 at" in text


def test_the_summary_says_when_synchronism_is_lost():
    case = gc.load_case("wscc9")
    case.set("fault.clear", 0.45)
    case.set("trip.t", 0.45)
    run = gc.simulate(gc.build(case), t_end=1.5)
    spread = np.ptp(run.of(["GEN1", "GEN2", "GEN3"], "delta"), axis=1)
    lost = run.t[np.argmax(spread >= np.pi)]
    text = layout([*describe_run(run)])
    assert f"OUT OF SYNCHRONISM: rotor angles 180 degrees apart at {lost:.4g} s, at most" in text
    assert f"{np.degrees(spread[-1]):.1f} in the end" in text


def test_the_summary_names_all_methods_of_a_run_that_another_has_continued(run):
    text = layout([*describe_run(gc.simulate(run, t_end=0.5, method="trbdf2"))])
    assert "theta, theta = 0.5, then trbdf2, 0 to 0.5 s" in text


def test_options_of_a_method_may_be_words(run):
    tape = dataclasses.replace(run.tape, methods=[Method("theta", {"theta": 0.5, "rootfinding": "sundials"})])
    text = layout([*describe_run(gc.Run(run.system, tape, run.settings, run.counters, run.timings))])
    assert "theta = 0.5, rootfinding = sundials, " in text


def test_a_system_without_network_has_a_summary_too():
    run = gc.simulate(gc.build("hiskens_pai"), t_end=0.12, step=0.001)
    text = layout([*describe_system(run.system), *describe_run(run)])
    assert "1 device: 1 SwitchedLinear" in text
    assert "0.0957333 s" in text
    assert not {"voltage", "speed"} & set(text.split())
