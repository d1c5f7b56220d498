"""Significant correct digits beside reference solutions of the Test Set for IVP Solvers; ``pytest -s`` prints them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import two_bit_adder as adder
from ivp_test_set import PROBLEMS

import gridcore as gc

# Steps that follow a fast start, of the length of the last.
AKZO, HIRES, POLLUTION = ([(0, h / 20), (first, h / 4), (then, h)] for h, first, then in (
    (0.2, 1, 20), (0.2, 2, 10), (0.02, 1, 2)))
HIRES += [(320.0, 0.01)]  # and a fast end
TIGHT = {"rtol": 1e-10, "atol": 1e-12}


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    with gc.registered(*(problem.device for problem in PROBLEMS.values()), *adder.DEVICES):
        yield


def solved(name: str, step: Any, method: str, **options: Any) -> gc.Run:
    case = gc.Case(name)
    case.add(name, id="it")
    return gc.simulate(gc.build(case), PROBLEMS[name].t_end, step, method, **options)


ROWS = [
    ("Akzo", "ida", 180.0, {}, 7.68), ("Akzo", "ida", 180.0, TIGHT, 9.45),
    ("Akzo", "trbdf2", AKZO, {}, 5.83), ("Akzo", "theta", AKZO, {}, 5.52),
    ("Hires", "ida", 321.8122, {}, 7.07), ("Hires", "ida", 321.8122, TIGHT, 8.70),
    ("Hires", "trbdf2", HIRES, {}, 4.96), ("Hires", "theta", HIRES, {}, 4.64),
    ("Pollution", "ida", 60.0, {}, 8.25), ("Pollution", "ida", 60.0, TIGHT, 9.91),
    # it starts far from where y16 is after 1e-12 s, and the trapezoidal rule would ring about it for good
    ("Pollution", "trbdf2", POLLUTION, {}, 7.26), ("Pollution", "theta", POLLUTION, {"theta": 0.505}, 5.87),
    ("Amplifier", "ida", 0.2, {}, 7.28), ("Amplifier", "ida", 0.2, {"rtol": 1e-6, "atol": 1e-8}, 5.94),
    ("Amplifier", "trbdf2", 5e-5, {}, 4.65), ("Amplifier", "theta", 5e-5, {}, 4.33),
]


@pytest.mark.filterwarnings("ignore:a step of")
@pytest.mark.parametrize(("name", "method", "step", "options", "digits"), ROWS,
                         ids=[f"{name}_{method}_{digits:.0f}_digits" for name, method, *_, digits in ROWS])
def test_as_many_digits_are_correct_as_the_method_can_give(name, method, step, options, digits):
    """The error may be twice as large as it was when the digits were written down."""
    if method == "ida":
        pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    run = solved(name, step, method, **options)
    found = PROBLEMS[name].digits(run)
    print(f"\n{name} {method} {options}: {found:.2f} digits, {run.counters['steps']} steps", end=" ")
    assert found >= digits - math.log10(2)


@pytest.mark.filterwarnings("ignore:a step of")
@pytest.mark.parametrize(("method", "step", "options", "digits"), [
    ("trbdf2", 0.1, {}, 5.37), ("theta", 0.1, {}, 4.21), ("ida", 5.0, {"rtol": 1e-6, "atol": 1e-6}, 6.17)],
    ids=["trbdf2", "theta", "ida"])
def test_the_two_bit_adding_unit_adds(method, step, options, digits):
    if method == "ida":
        pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    run = gc.simulate(adder.circuit(), 320.0, step, method, **options)
    found = -math.log10(max(abs(run[f"{wire}.u"][-1] / known - 1) for wire, known in adder.REFERENCE.items()))
    print(f"\nTwo bit adder {method} {options}: {found:.2f} digits, {run.counters['steps']} steps", end=" ")
    assert found >= digits - math.log10(2)
    settled = run.at(10.0 * np.arange(1, 33))  # inputs move in the five units after these times
    v1, v2, v3, v4, cin, S0, S1, not_C = (
        settled[f"W{wire}.u"] > 2.5 for wire in (*adder.INPUTS, "49", "130", "148"))
    inputs = 2 * ~v3 + ~v1 + (2 * ~v4 + ~v2) + 1 * cin
    assert np.array_equal(4 * ~not_C + 2 * S1 + S0, inputs)
    assert set(inputs) == set(range(8))
