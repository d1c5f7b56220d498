"""Ten scenarios of the campaign of plants; ``python -m tests.sensitivity.plant_campaign`` has more."""

from __future__ import annotations

import campaign
from plant_campaign import draw


def test_gradients_of_random_scenarios_with_plants_are_the_extrapolated_differences() -> None:
    """None fails; those that have no solution or where differences mean nothing are few."""
    failed: list[str] = []
    counts = campaign.campaign(1, range(10), failed.append, draw)
    assert not failed, "\n".join(failed)
    assert counts["agree"] >= 7
