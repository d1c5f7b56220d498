"""Which devices have which quantity."""

from two_islands import two_islands

import gridcore as gc
from gridcore_tables.signals import signals


def test_devices_of_one_kind_are_one_variable_whatever_their_models():
    case = two_islands()
    case.add(gc.Record("Bus", {"id": 3, "kv": 20}))
    case.add(gc.Record("Line", {"bus1": 2, "bus2": 3, "x": 0.1}))
    case.add(gc.Record("InfiniteBus", {"id": "INF", "bus": 3, "control": "PV", "P0": 0.1}))
    found = {s.name: s for s in signals(gc.build(case))}
    assert found["delta"].devices == ("G1", "G2")
    assert found["P"].devices == ("G1", "G2", "INF")
    assert found["delta"].dimension == "Classical"
    assert found["P"].dimension == "Source"
    assert {s.dimension: s.devices for s in found.values()} == {
        **{s.dimension: s.devices for s in found.values()}, "bus": ("BUS1", "BUS2", "BUS3")}
