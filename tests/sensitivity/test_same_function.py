"""Two functions have one fingerprint only if they compute the same."""

import numpy as np

from gridcore.sensitivity.same_function import fingerprint

scale = 2.0


def band(high, name="GEN1"):
    return lambda v: scale * np.maximum(v[name, "omega"] - high, 0.0)


def test_functions_made_alike_from_equal_numbers_are_one():
    assert fingerprint(band(1.01)) == fingerprint(band(1.01)) is not None


def test_another_number_in_the_closure_is_another_function():
    assert fingerprint(band(1.01)) != fingerprint(band(1.02))
    assert fingerprint(band(1.01)) != fingerprint(band(1.01, "GEN2"))


def test_a_global_that_changed_makes_another_function(monkeypatch):
    before = fingerprint(band(1.01))
    monkeypatch.setitem(globals(), "scale", 3.0)
    assert fingerprint(band(1.01)) != before


def test_what_could_change_unseen_has_no_fingerprint():
    limits = [1.01]
    data = np.ones(3)
    assert fingerprint(lambda v: v["GEN1", "omega"] - limits[0]) is None
    assert fingerprint(lambda v: v["GEN1", "omega"] * data[0]) is None
    assert fingerprint(lambda v: band(1.01)(v)) is None
    assert fingerprint(lambda v: sum(x for x in (v["GEN1", "omega"],))) is None


def test_a_default_counts():
    assert fingerprint(lambda v, k=1: v) != fingerprint(lambda v, k=2: v)


def test_what_is_imported_or_looked_up_within_has_no_fingerprint():
    def imports(v):
        import math
        return math.pi * v["GEN1", "omega"]

    assert fingerprint(imports) is None
    assert fingerprint(lambda v: globals()["scale"] * v["GEN1", "omega"]) is None
    assert fingerprint(lambda v: sum((max(v["GEN1", "omega"], 1.0), float(len("ab"))))) is not None
