"""Whether a run is stable, and who parts."""

from __future__ import annotations

import numpy as np
import pytest

import gridcore as gc
from gridcore_verbs.summary import describe_run, layout


@pytest.mark.parametrize(("cleared", "stable"), [(0.086, True), (0.087, False)])
def test_the_machine_of_kundurs_example_parts_when_cleared_after_87_ms(cleared, stable):
    """P. Kundur (1994), example 13.1: stable when cleared after 86 ms, unstable after 87 ms."""
    system = gc.build("smib").with_values({"fault.clear": 0.1 + cleared})
    found = gc.simulate(system, 3.0, 0.005).summary()
    assert found.stable is stable
    assert found.parted == (() if stable else ("GEN1",))
    assert (found.angle < 180) is stable
    assert 0.1 < found.angle_at <= 3.0


def test_machines_that_part_together_are_those_with_less_inertia():
    case = gc.load_case("wscc9")
    case.set("fault.clear", 0.4)
    run = gc.simulate(case, 2.0)
    assert run.summary().parted == ("GEN2", "GEN3")  # 9.4 s on 100 MVA against 23.6 s
    angles = run.of(["GEN1", "GEN2", "GEN3"], "delta")[-1]
    assert abs(angles[1] - angles[2]) < np.pi < angles[1:].min() - angles[0]
    assert set(run.summary().parted) < set(gc.analyses.rotors(run).devices)


def test_the_words_are_those_that_the_verb_shows():
    run = gc.simulate("wscc9", 0.2)
    assert str(run.summary()) == layout(list(describe_run(run)))
    assert run.summary().stable is True


def test_of_an_option_that_is_a_long_list_it_tells_the_beginning():
    run = gc.simulate("wscc9", 0.2, 0.01, "bdf", order=[(0.0, 5), (0.1, 2), (0.15, 4)])
    run.tape.methods[0].options["order"] = [list(pair) for pair in run.tape.methods[0].options["order"]]  # as in a file
    assert "bdf, order = [0.0, 5] and 2 more, start = 1, 0 to 0.2 s" in layout(list(describe_run(run)))


def test_a_run_without_machines_is_neither_stable_nor_not():
    found = gc.simulate("swing", 0.1).summary()
    assert (found.stable, found.parted) == (None, ())
    assert np.isnan(found.angle)
    assert gc.simulate("wscc9", 0.1, record="BUS*.Vm").summary().stable is None
