"""Eight scenarios of the campaign with a line of a record; ``python -m tests.sensitivity.cdc_campaign`` has more."""

from __future__ import annotations

import campaign
import pytest
from cdc_campaign import draw


@pytest.mark.filterwarnings("ignore::gridcore_theta.stepper.StepWarning")
def test_gradients_of_random_scenarios_with_a_line_of_records_are_the_extrapolated_differences() -> None:
    """None fails; those where differences mean nothing are few."""
    failed: list[str] = []
    counts = campaign.campaign(1, range(8), failed.append, draw)
    assert not failed, "\n".join(failed)
    assert counts["agree"] >= 6
