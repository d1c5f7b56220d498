"""Rows in gridcore's own format, added to a case that another file describes."""

import pytest

import gridcore as gc
from gridcore.errors import CaseError

EVENTS = """
BusFault = [{bus = 7, t = "100 ms", clear = 0.15}]
[[BranchTrip]]
branch = "LINE5-7"
t = 0.15
"""


def test_events_of_a_study_are_added_to_a_case(tmp_path):
    file = tmp_path / "fault.toml"
    file.write_text(EVENTS)
    run = gc.simulate(gc.build(gc.load_case("wscc9_paper", file)), 0.2)
    assert [str(event) for event in run.events if event.t < 0.16][-2:] == [
        "0.1500000 s  BUS7: fault cleared", "0.1500000 s  LINE5-7: opened"]


def test_an_error_names_the_row_of_the_added_file(tmp_path):
    file = tmp_path / "fault.toml"
    file.write_text(EVENTS.replace("LINE5-7", "LINE5-8"))
    with pytest.raises(CaseError, match=r"fault.toml.*BranchTrip row 1 \(line 3\).*LINE5-8"):
        gc.build(gc.load_case("wscc9_paper", file))


@pytest.mark.parametrize("text", ["frequency = 50", "note = 'about'"])
def test_what_is_no_row_is_refused(text, tmp_path):
    file = tmp_path / "fault.toml"
    file.write_text(text + EVENTS)
    with pytest.raises(CaseError, match="rows only"):
        gc.load_case("wscc9_paper", file)
