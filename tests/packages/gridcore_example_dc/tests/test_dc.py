"""A third party's nodes: found, well by the doctor's verdict, simulated and differentiated beside an AC system."""

from __future__ import annotations

import numpy as np
import pytest

import gridcore as gc
from gridcore.registry import devices
from gridcore.testing import device_checks

NAMES = ("DCNode", "DCLine", "DCSource", "DCLoad", "Converter", "DCTrip")


@pytest.mark.parametrize("name", NAMES)
def test_it_is_found_by_its_entry_point(name):
    assert devices.origin(name) == "example_dc (gridcore-example-dc 0.1.0)"


@pytest.mark.parametrize("name", NAMES)
def test_it_is_what_a_device_should_be(name):
    assert device_checks.report(devices[name]).ok, device_checks.report(devices[name])


def test_a_dc_feeder_beside_the_nine_buses_ends_where_its_droop_says_and_has_exact_gradients():
    """The source's voltage under load by hand: ``E - (droop + r) I`` behind the resistance of the line."""
    case = gc.load_case("wscc9")
    for model, fields in (("DCNode", {"id": 1}), ("DCNode", {"id": 2}), ("DCSource", {"dc": 1, "E": 1.05}),
                          ("DCLine", {"dc1": 1, "dc2": 2, "r": 0.04}), ("DCLoad", {"dc": 2, "P0": 1.0})):
        case.add(gc.Record(model, fields))
    run = gc.simulate(gc.build(case), 1.0, 0.01)
    total = 0.006 + 0.004 + 0.04
    assert run["DC2", "V"][-1] == pytest.approx(1.05 / 2 + np.sqrt(1.05**2 / 4 - total), rel=1e-9)
    gradient = gc.adjoint(run, gc.Terminal(lambda v: v["DC2", "V"]), ["DCLINE1-2.r", "DCSRC1.droop"]).values[0]
    expected = -1 / (2 * np.sqrt(1.05**2 / 4 - total))  # at rest the two act as one resistance
    np.testing.assert_allclose(gradient, [expected, expected], rtol=1e-9)
