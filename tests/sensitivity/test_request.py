"""What is asked for by name: which derivative a name is, where it stands in a table, and what labels it."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import gridcore as gc
from gridcore.sensitivity import products

END = gc.Terminal(lambda v: v["GEN2", "omega"])


@pytest.fixture(scope="module")
def run():
    return gc.simulate("wscc9", 0.3)


def test_the_first_of_all_parameters_is_one_as_the_others_are(run):
    """It is the nominal angular frequency, which moves with the case's: differences of cases tell its derivative."""
    ends = []
    for frequency in (60.0 - 6e-4, 60.0 + 6e-4):
        case = gc.load_case("wscc9")
        case.frequency = frequency
        ends.append(gc.simulate(gc.build(case), 0.3)["GEN2", "omega"][-1])
    g = gc.adjoint(run, END, "base.omega_b")
    assert g["at"].item() == 120 * np.pi
    np.testing.assert_allclose(g.item(), (ends[1] - ends[0]) / (2 * np.pi * 12e-4), rtol=1e-5)


def test_a_group_is_labelled_by_the_value_of_its_first(run):
    g = gc.adjoint(run, END, ["GEN1.H"], joint=[("GEN2.H", "GEN3.H")])
    assert list(g["parameter"].values) == ["GEN1.H", "GEN2.H + GEN3.H"]
    assert list(g["at"].values) == [23.64, 6.4]  # not 3.01, that of the last


def test_what_a_parameter_does_by_its_own_size_is_derivative_times_value():
    """Nothing where that is no number: of an event that never comes, at an infinite time."""
    g = xr.DataArray([[2.0, -3.0, 0.0, 1.0, -1.0]], dims=("objective", "parameter"),
                     coords={"at": ("parameter", [4.0, 0.5, np.inf, np.inf, np.inf])})
    assert products(g).tolist() == [[8.0, -1.5, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize("method", ["theta", "trbdf2", "bdf"])
def test_a_sample_at_the_start_is_the_state_there_though_an_event_is_there_too(method):
    case = gc.load_case("wscc9")
    case.set("fault.t", 0.0)
    run = gc.simulate(gc.build(case), 0.2, method=method)
    assert run.tape.records.steps().h[0] == 0.0
    start = gc.Sampled([0.0], lambda v: v["GEN2", "delta"])
    g = gc.adjoint(run, start, ["GEN2.H", "fault.clear"])
    assert g["value"].item() == run["GEN2", "delta"][0] ** 2
    assert np.all(g == 0.0)
