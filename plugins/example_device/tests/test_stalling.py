"""The plugin is found where it is installed, and its device does what circuit theory says it must."""

from pathlib import Path

import numpy as np
import pytest

import gridcore as gc
from gridcore.registry import devices
from gridcore.testing import device_checks
from gridcore_example_device.stalling import StallingLoad

CASE = Path(__file__).with_name("feeder.toml")


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build(gc.load_case(CASE)), t_end=0.5, step=0.001)


def test_gridcore_finds_the_device_by_its_entry_point():
    assert devices["StallingLoad"] is StallingLoad
    assert devices.origin("StallingLoad") == "example_device (gridcore-example-device 0.1.0)"


@device_checks(StallingLoad)
def test_it_is_what_a_device_should_be(check):
    check()


def test_at_the_operating_point_it_draws_its_scheduled_power(run):
    assert run["AC", "P"][0] == pytest.approx(0.8, rel=1e-12)
    assert run["AC", "V"][0] == pytest.approx(run["BUS2", "Vm"][0], rel=1e-12)


def test_it_stalls_a_delay_after_the_measured_voltage_is_too_low(run):
    before, during = run["BUS2", "Vm"][0], run["BUS2", "Vm"][np.searchsorted(run.t, 0.11)]
    # Between the fault and the stall the bus voltage is constant, so the measurement is an exponential.
    crossing = 0.1 + 0.02 * np.log((before - during) / (0.6 - during))
    started, stalled = (event.t for event in run.events if event.device == "AC")
    assert started == pytest.approx(crossing, abs=1e-5)
    assert stalled - started == pytest.approx(0.033, rel=1e-12)


def test_stalled_it_is_an_impedance_behind_the_line(run):
    stalled = (0.1 + 0.1j) / 0.8
    assert run["BUS2", "Vm"][-1] == pytest.approx(abs(stalled / (stalled + 0.1j)), rel=1e-9)
