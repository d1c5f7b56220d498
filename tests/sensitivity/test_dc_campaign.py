"""Ten scenarios of the campaign with a VSC line; ``python -m tests.sensitivity.dc_campaign`` has more."""

from __future__ import annotations

import campaign
from dc_campaign import draw


def test_gradients_of_random_scenarios_with_a_vsc_line_are_the_extrapolated_differences() -> None:
    """None fails; those where differences mean nothing are few."""
    failed: list[str] = []
    counts = campaign.campaign(1, range(10), failed.append, draw)
    assert not failed, "\n".join(failed)
    assert counts["agree"] >= 9
