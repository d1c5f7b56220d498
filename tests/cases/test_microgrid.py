"""The microgrid: what its droops say is what it settles at."""

import numpy as np
import pytest

import gridcore as gc

BATTERIES = ("BATTERY", "SMALL")


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build("microgrid"), 15.0, 0.01)


def value(run, address):
    return run.system.Z0[run.system.layout.address(address)]


def test_the_island_settles_at_the_frequency_that_its_droops_say(run):
    """The turn of a voltage is measured on the network; the droops together balance what the batteries deliver."""
    V = (run["BUS5", "Vr"] + 1j * run["BUS5", "Vi"])[-101:]
    measured = np.angle(V[-1] / V[0]) / (run.t[-1] - run.t[-101]) / (120 * np.pi)
    power = {name: value(run, f"{name}.Sn") * run[name, "P"][-1] for name in BATTERIES}
    said = sum(value(run, f"{name}.Sn") * value(run, f"{name}.Pref") - power[name] for name in BATTERIES) / sum(
        value(run, f"{name}.Sn") / value(run, f"{name}.mp") for name in BATTERIES)
    assert said < -0.003
    assert abs(measured - said) < 1e-9
    for name in BATTERIES:
        assert abs(run[name, "omega"][-1] - 1.0 - said) < 1e-9


def test_the_island_is_at_rest_but_for_its_turn(run):
    for device, name in (("BATTERY", "P"), ("SMALL", "Q"), ("BUS5", "Vm"), ("ROOFS", "P"), ("ROOFS", "slip")):
        assert np.ptp(run[device, name][-101:]) < 1e-9


def test_what_the_roofs_lost_for_good_is_said_by_their_lowest_voltage(run):
    part = 1 - (1 - value(run, "ROOFS.Vrfrac")) * (value(run, "ROOFS.vl1") - run["ROOFS", "low_worst"][-1]) / (
        value(run, "ROOFS.vl1") - value(run, "ROOFS.vl0"))
    assert 0.7 < part < 0.75
    assert abs(run["ROOFS", "Mult"][-1] - part) < 1e-9
