"""Damaged files: an error on one line, or a case; never a traceback, never a hang."""

import mutants
import pytest
import wrong_types


@pytest.mark.parametrize("seed", range(0, 200, 50))
def test_a_damaged_file_is_read_or_refused_on_one_line(seed):
    refused = 0
    for kind, outcome, seconds in mutants.outcomes(50, 1_000_000 + seed):
        assert not outcome.startswith("TRACEBACK"), f"{kind}: {outcome}"
        assert seconds < mutants.SLOW
        assert "\n" not in outcome
        refused += outcome != "read"
    assert 5 < refused < 50  # damage is seen, and mostly not in the first line


@pytest.mark.filterwarnings("ignore")
def test_a_file_with_wrong_types_is_understood_or_refused_in_words():
    found = list(wrong_types.outcomes(300, 1_000_000))
    assert not [(kind, outcome) for kind, outcome in found if outcome.startswith("TRACEBACK")]
    for wanted in ("sweep", "objectives"):
        read = sum(kind == wanted and outcome == "read" for kind, outcome in found)
        assert 10 < read < 100
