"""Twenty scenarios of the industry's campaign; ``python -m tests.sensitivity.industry_campaign`` has more."""

from __future__ import annotations

import campaign
import pytest
from industry_campaign import draw

SEED, CHUNK = 1, 10


@pytest.mark.parametrize("first", range(0, 20, CHUNK))
def test_gradients_of_random_scenarios_are_the_extrapolated_differences(
        first: int, capsys: pytest.CaptureFixture[str]) -> None:
    """None fails; those where differences mean nothing are counted, and are few."""
    failed: list[str] = []
    counts = campaign.campaign(SEED, range(first, first + CHUNK), failed.append, draw)
    with capsys.disabled():
        print(f"\n{first} to {first + CHUNK - 1}: " + ", ".join(f"{n} {what}" for what, n in counts.items()), end=" ")
    assert not failed, "\n".join(failed)
    assert counts["agree"] >= 0.9 * CHUNK


@pytest.mark.parametrize("number", [
    13,  # behind a gain of 300 a limit was reached and left again and again, as round-off had it
    295,  # a limit of a stabilizer, passed just before the end of a step, was left where it was reached
])
def test_events_that_round_off_had_made(number: int) -> None:
    program, _ = campaign.scenario(SEED, number, draw)
    assert campaign.judge(program) == "agree"
    left: set[tuple[str, str, float]] = set()
    for event in program.run().events:
        what = event.what.replace(" leaves ", " reaches ")
        if what != event.what:
            left.add((event.device, what, event.t))
        else:
            assert (event.device, what, event.t) not in left, event
