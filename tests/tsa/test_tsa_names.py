"""Quantities of sensitivities by address, pair and pattern."""

from __future__ import annotations

import pytest

import gridcore as gc


def test_addresses_pairs_and_patterns_name_the_same_quantities():
    run = gc.simulate("wscc9", 0.2)
    pairs = gc.analyses.tsa(run, "GEN2.H", [("GEN1", "omega"), ("GEN2", "omega"), ("GEN3", "omega"), ("BUS7", "Vm")])
    names = gc.analyses.tsa(run, [("GEN2", "H")], ["GEN*.omega", "BUS7.Vm"])
    assert names.identical(pairs)
    assert gc.analyses.tsa(run, "GEN2.H", "GEN*.omega").identical(pairs[:, :3])


def test_what_is_no_run_is_told_so():
    for analysis in (lambda: gc.analyses.tsa("wscc9", "GEN2.H"), lambda: gc.analyses.rotors("wscc9")):
        with pytest.raises(gc.errors.CaseError, match=r"'wscc9' is no run: gc\.simulate makes one of a system"):
            analysis()
