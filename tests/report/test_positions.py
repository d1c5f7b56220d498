"""Where nodes are drawn: as the case says, or computed."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gridcore as gc


def placed(**given):
    """The case smib with positions of some of its buses."""
    case = gc.load_case("smib")
    for id, text in given.items():
        case.set(f"{id}.position", text)
    return case


def test_every_node_has_a_position_the_same_every_time():
    system = gc.build("wscc9")
    free = gc.analyses.positions(system)
    assert list(free) == system.network.nodes
    assert np.isfinite(list(free.values())).all()
    assert free == gc.analyses.positions("wscc9")


def test_nodes_that_more_branches_part_are_farther_from_each_other():
    system = gc.build("wscc9")
    at, between = gc.analyses.positions(system), dict(nx.all_pairs_shortest_path_length(system.network.graph))
    distances = {n: np.mean([np.hypot(*np.subtract(at[a], at[b])) for a in at for b in at if between[a][b] == n])
                 for n in range(1, 5)}
    assert sorted(distances.values()) == list(distances.values())


def test_positions_of_the_case_are_kept_and_others_found_beside_them():
    some = gc.analyses.positions(placed(BUS1="3.5 -2"))
    assert some["BUS1"] == (3.5, -2.0)
    assert len(set(some.values())) == 3
    every = gc.analyses.positions(placed(BUS1="0, 1", BUS2="4, 5e1", BUS3="0 0"))
    assert every == {"BUS1": (0.0, 1.0), "BUS2": (4.0, 50.0), "BUS3": (0.0, 0.0)}


@pytest.mark.parametrize("text", ["here", "1", "1 2 3"])
def test_a_position_that_is_not_two_numbers_is_refused_with_its_row(text):
    with pytest.raises(gc.errors.CaseError, match=f"Bus row 1 .*'{text}' must be two numbers"):
        gc.analyses.positions(placed(BUS1=text))
