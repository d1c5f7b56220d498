"""A hundred scenarios of the campaign; ``python -m tests.sensitivity.campaign`` has as many as you like."""

from __future__ import annotations

import campaign
import numpy as np
import pytest

SEED, CHUNK = 20, 20


@pytest.mark.parametrize("first", range(0, 100, CHUNK))
def test_gradients_of_random_scenarios_are_the_extrapolated_differences(
        first: int, capsys: pytest.CaptureFixture[str]) -> None:
    """None fails; those where differences mean nothing are counted, and are few."""
    failed: list[str] = []
    counts = campaign.campaign(SEED, range(first, first + CHUNK), failed.append)
    with capsys.disabled():
        print(f"\n{first} to {first + CHUNK - 1}: " + ", ".join(f"{n} {what}" for what, n in counts.items()), end=" ")
    assert not failed, "\n".join(failed)
    assert counts["agree"] >= 0.8 * CHUNK


def test_a_wrong_gradient_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The campaign is able to fail: a derivative that is wrong by 1e-5 is told."""
    exact = campaign.gc.adjoint

    def wrong(*args: object, **options: object) -> object:
        return exact(*args, **options) * (1 + 1e-5)

    monkeypatch.setattr(campaign.gc, "adjoint", wrong)
    assert campaign.judge(campaign.scenario(SEED, 0)[0]) == "FAIL"


def test_why_a_draw_could_not_be_run_is_told() -> None:
    """Of a draw that could not be run the campaign tells its error, and goes on with the next."""
    draws, told = iter([campaign.GridcoreError("no solution"), None]), []

    def draw(rng: np.random.Generator) -> campaign.Scenario:
        if error := next(draws):
            raise error
        return campaign.draw(rng)

    counts = campaign.campaign(SEED, range(1), draw=draw, judged=lambda program: "agree", why=told.append)
    assert counts == {"agree": 1, "could not be run": 1}
    assert told == ["could not be run: --only 0: GridcoreError: no solution"]
