"""Reference E, PowerSimulationsDynamics.jl: eigenvalues of its first test case, and the four forms of its Jacobian."""

from __future__ import annotations

import numpy as np
import pytest
from scripts import DOCS, script

import gridcore as gc

e = script("reference_e")


def test_eigenvalue_is_that_of_psat_to_its_digits():
    found = e.eigenvalue()
    assert (round(found.real, 5), round(found.imag, 4)) == (e.PSAT.real, e.PSAT.imag)


def test_behind_their_reactance_the_source_gives_their_eigenvalue():
    """To what the power flow's digits leave; with the source at the bus the sixth digit is another."""
    assert abs(e.eigenvalue(e.SOURCE_REACTANCE) - e.THEIRS) < 5e-8
    assert abs(e.eigenvalue() - e.THEIRS) > 5e-5


def test_power_flow_is_that_of_the_file():
    system = e.system()
    angle = system.Z0[system.layout.address("BUS102.Va0")]
    assert np.degrees(angle) == pytest.approx(1.3118, abs=5e-5)
    assert 100 * system.Z0[system.layout.address("GEN.Q0")] == pytest.approx(-20.228, abs=5e-4)


def test_all_forms_are_the_derivative_of_the_equations():
    assert max(e.forms().values()) < 1e-7


def test_what_the_page_shows_is_what_the_script_finds():
    page = (DOCS / "reference-e.md").read_text()
    assert e.eigenvalues() in page
    assert all(form in page for form in e.forms())


def test_trip_of_a_circuit_leaves_a_slower_mode():
    """The package's test drops one circuit: of the closed form, K falls with the reactance."""
    case = e.case()
    case.add(gc.BranchTrip(id="trip", branch="CCT2", t=0.1))
    run = gc.simulate(gc.build(case), t_end=90.0, step=0.02)
    after = gc.analyses.small_signal(run, tolerance=1e-4).eigenvalues[0]
    assert after.imag < e.eigenvalue().imag
    assert after.real == pytest.approx(e.eigenvalue().real, rel=1e-6)
