"""Forty scenarios with a coincidence each; ``python -m tests.sensitivity.coincident_campaign`` has any number."""

from __future__ import annotations

import warnings

import campaign
import coincident_campaign
import numpy as np
import pytest

SEED, CHUNK = 7, 5


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coincident_campaign, "SHARE", 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 40, CHUNK))
def test_derivatives_at_coincidences_are_one_sided_ones_of_the_program(first: int) -> None:
    failed: list[str] = []
    counts = campaign.campaign(SEED, range(first, first + CHUNK), failed.append, coincident_campaign.draw,
                               coincident_campaign.judge)
    assert not failed, "\n".join(failed)
    assert counts["agree"] >= 0.6 * CHUNK


def test_a_derivative_of_neither_side_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The campaign is able to fail: the mean of both sides is told."""
    number = next(k for k in range(50) if "trip.t" in drawn(k).wrt)
    program, _ = campaign.scenario(SEED, number, coincident_campaign.draw)
    assert coincident_campaign.judge(program) == "agree"
    exact = campaign.gc.adjoint

    def wrong(*args: object, **options: object) -> object:
        return exact(*args, **options) * (1 + 1e-3)

    monkeypatch.setattr(campaign.gc, "adjoint", wrong)
    assert coincident_campaign.judge(program) == "FAIL"


def drawn(number: int) -> campaign.Scenario:
    return coincident_campaign.draw(np.random.default_rng([SEED, number]))


@pytest.mark.slow
def test_a_limit_left_and_reached_again_in_one_step_is_located_where_it_is_reached(monkeypatch) -> None:
    """It is left where its rate is zero, so that the sign of the rate there says nothing of the way to go."""
    monkeypatch.setattr(coincident_campaign, "SHARE", 1 / 3)
    program, _ = campaign.scenario(11, 812, coincident_campaign.draw)
    assert coincident_campaign.judge(program) == "agree"


@pytest.mark.slow
@pytest.mark.parametrize("number", [
    pytest.param(3453, id="limits that one event leaves and the next one of its instant brings back"),
    pytest.param(4645, id="a guard a microsecond from another event: the shortest differences alone see their order")])
def test_events_that_all_but_coincide(monkeypatch, number) -> None:
    monkeypatch.setattr(coincident_campaign, "SHARE", 1 / 3)
    program, _ = campaign.scenario(22, number, coincident_campaign.draw)
    assert coincident_campaign.judge(program) == "agree"


@pytest.mark.slow
def test_a_network_is_solved_again_however_little_the_start_is_moved(monkeypatch) -> None:
    """A line opens behind a fault, and the load falls to where it is an impedance: the residual rises on the way."""
    monkeypatch.setattr(coincident_campaign, "SHARE", 1 / 3)
    program, _ = campaign.scenario(22, 2028, coincident_campaign.draw)
    at = program.value("fault.t")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [program.results({"fault.t": at - k * 1e-7}) for k in range(1, 21)]
    assert len({repr(signature) for _, signature in found}) == 1
    slopes = np.diff([value for value, _ in found], axis=0) / -1e-7
    assert np.ptp(slopes, axis=0).max() < 5e-3  # on one branch of the solutions
