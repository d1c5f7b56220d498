"""Ids made of names that others gave."""

from __future__ import annotations

from gridcore_imports.names import Names


def test_an_id_is_the_name_where_it_can_be_and_stands_once():
    names = Names()
    assert [names.id("Line", name) for name in ("a", "DE0 1.5", 7, "7", "a", "a", "*")] == [
        "a", "DE0_1_5", "Line7", "Line_7", "Line_a", "Line_a_2", "Line"]
    assert names.id("Load", "a") == "Load_a"
