"""Quantities of sensitivities by address, pair and pattern."""

from __future__ import annotations

import gridcore as gc


def test_addresses_pairs_and_patterns_name_the_same_quantities():
    run = gc.simulate("wscc9", 0.2)
    pairs = gc.analyses.tsa(run, "GEN2.H", [("GEN1", "omega"), ("GEN2", "omega"), ("GEN3", "omega"), ("BUS7", "Vm")])
    names = gc.analyses.tsa(run, [("GEN2", "H")], ["GEN*.omega", "BUS7.Vm"])
    assert names.identical(pairs)
    assert gc.analyses.tsa(run, "GEN2.H", "GEN*.omega").identical(pairs[:, :3])
