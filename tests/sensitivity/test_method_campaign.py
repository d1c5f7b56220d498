"""Forty scenarios by any method; ``python -m tests.sensitivity.method_campaign`` has as many as you like."""

from __future__ import annotations

import campaign
import numpy as np
import pytest
from method_campaign import draw

SEED = 1


@pytest.mark.parametrize("first", [0, 20])
def test_gradients_of_random_scenarios_by_any_method_are_the_extrapolated_differences(first: int) -> None:
    """None fails, on grids and in chosen steps; those where differences mean nothing are few."""
    failed: list[str] = []
    counts = campaign.campaign(SEED, range(first, first + 20), failed.append, draw)
    assert not failed, "\n".join(failed)
    assert counts["agree"] >= 18


def test_steps_are_chosen_and_given_for_every_method() -> None:
    """Forty draws have each method both ways."""
    drawn = [draw(np.random.default_rng([SEED, number])).how for number in range(40)]
    assert {(how["method"], how["step"] == "auto") for how in drawn} == {
        (method, chosen) for method in ("theta", "trbdf2", "bdf") for chosen in (True, False)}


def test_a_wrong_gradient_of_chosen_steps_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What round-off makes of the results hides no derivative that is wrong by 1e-4."""
    exact = campaign.gc.adjoint
    monkeypatch.setattr(campaign.gc, "adjoint", lambda *args, **options: exact(*args, **options) * (1 + 1e-4))
    found = (campaign.scenario(SEED, number, draw)[0] for number in range(40))
    program = next(program for program in found if program.scenario.how["step"] == "auto")
    assert campaign.judge(program) == "FAIL"
