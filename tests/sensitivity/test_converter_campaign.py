"""Ten scenarios of the converters' campaign; ``python -m tests.sensitivity.converter_campaign`` has more."""

from __future__ import annotations

import campaign
from converter_campaign import draw


def test_gradients_of_random_scenarios_with_converters_are_the_extrapolated_differences() -> None:
    """None fails; those where differences mean nothing are few."""
    failed: list[str] = []
    counts = campaign.campaign(1, range(10), failed.append, draw)
    assert not failed, "\n".join(failed)
    assert counts["agree"] >= 9


def test_where_a_voltage_turned_back_it_is_not_worse_at_once() -> None:
    """By round-off the lowest voltage had followed the voltage upwards from there."""
    program, _ = campaign.scenario(2, 16, draw)
    assert campaign.judge(program) == "agree"
    events = [(e.t, e.item) for e in program.run().events if e.device == "ROOFS"]
    turned = {t for t, item in events if item == "low_turns"}
    assert turned
    assert not turned & {t for t, item in events if item == "low_deepens"}
