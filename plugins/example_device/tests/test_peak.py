"""An objective of a kind of its own is a number of the run, differentiated exactly, from Python and from a file."""

from pathlib import Path

import numpy as np
import pytest

import gridcore as gc
from gridcore.testing import objective_checks
from gridcore_example_device.peak import SmoothPeak

CASE = Path(__file__).with_name("feeder.toml")


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build(gc.load_case(CASE)), t_end=0.3, step=0.002)


def peak(sharpness):
    return SmoothPeak(lambda v: -v["BUS2", "Vm"], sharpness)


def test_it_tends_to_the_largest_value(run):
    for sharpness in (1e2, 1e4):
        value = gc.adjoint(run, peak(sharpness), ["AC.P0"])["value"].item()
        assert 0 <= value - (-run["BUS2", "Vm"]).max() <= np.log(len(run.t)) / sharpness


def sag(v):
    return -v["BUS2", "Vm"]


@objective_checks(SmoothPeak(sag, 50.0) + 0.1 * gc.Terminal(sag), gc.load_case(CASE), ["AC.P0", "AC.Tstall"],
                  t_end=0.3, step=0.002)
def test_it_is_what_an_objective_should_be(check):
    check()


def test_its_gradient_is_that_of_differences(run):
    wrt = ["AC.P0", "AC.Tstall"]
    exact = gc.adjoint(run, peak(50.0) + 0.1 * gc.Terminal(lambda v: v["BUS2", "Vm"]), wrt).values
    checked = gc.differences(run, peak(50.0) + 0.1 * gc.Terminal(lambda v: v["BUS2", "Vm"]), wrt).values
    np.testing.assert_allclose(exact, checked, rtol=1e-6, atol=1e-9)


def test_a_file_may_ask_for_it(run, tmp_path):
    file = tmp_path / "peak.toml"
    file.write_text('[[objective]]\nkind = "smooth peak"\nof = "BUS2.Vm"\nsharpness = 100\n')
    (objective,) = gc.analyses.load_objectives(file, run.system)
    assert objective.sharpness == 100
    assert gc.adjoint(run, objective, ["AC.P0"])["value"].item() >= run["BUS2", "Vm"].max()
