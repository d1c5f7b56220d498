"""ACTIVSg2000 from its PSS/E files: what docs/activsg2000.md says, but for the long run."""

import re
from collections import Counter

import numpy as np
import pytest
from shared_data import shared

import gridcore as gc

RAW, DYR = "activsg2000/ACTIVSg2000.RAW", "activsg2000/ACTIVSg2000_dynamics.dyr"
LIMIT = re.compile(r"(\S+): \S+ reaches (\S+) at t0 already \(by (\S+)\)")


@pytest.fixture(scope="module")
def case():
    return gc.load_case(shared(RAW), shared(DYR), loads="I/Z")


@pytest.fixture(scope="module")
def system(case):
    return gc.build(case)


def test_all_1739_records_are_devices_of_the_system(system):
    made = [i for i in system.layout.instances if i.record.file.endswith(".dyr")]
    assert len(made) == 1739
    machines = [i for i in made if i.device.source]
    assert (len(machines), sum(i.in_service for i in machines)) == (435, 334)


def test_it_is_at_rest_or_the_limit_that_is_broken_is_named(system):
    point = system.operating_point
    assert point.power_flow.mismatch < 1e-11
    assert point.residual < 1e-9
    assert point.violations
    for violation in point.violations:
        device, limit, _ = LIMIT.fullmatch(violation).groups()
        assert limit in system.case[device].device.declares.params


@pytest.mark.slow
def test_as_the_files_are_it_goes_from_limit_to_limit_and_does_not_fail(case):
    """Stabilizers that swing between their limits, regulators in series that reach theirs at one instant."""
    faulted = case.copy()
    faulted.add_event(gc.BusFault(id="fault", bus=7095, t=1.0, clear=1.06))
    run = gc.simulate(gc.build(faulted), t_end=1.25, step=0.01)
    assert run.t[-1] == 1.25
    happened = Counter((e.device, e.item, e.t) for e in run.events)
    assert len(run.events) > 400
    assert max(happened.values()) == 1  # none is left and reached again at one instant


@pytest.fixture(scope="module")
def within(case):
    return gc.analyses.widen_limits(case)


def test_every_limit_that_is_broken_can_be_moved_and_then_none_is(system, within):
    broken = {LIMIT.fullmatch(violation).groups()[0] for violation in system.operating_point.violations}
    assert {note.split(".")[0] for note in within.notes if " is widened from " in note} == broken
    assert gc.build(within).operating_point.violations == []


@pytest.mark.slow
def test_within_its_limits_it_stays_at_rest(within):
    system = gc.build(within)
    run = gc.simulate(system, t_end=1.0)
    assert run.events == []
    there = system.Z0[[system.layout.address(f"{device}.status") for device, _ in system.variables]] == 1
    assert np.abs((run.X - run.X[0]) / (1 + np.abs(run.X[0])))[:, there].max() < 1e-8


@pytest.mark.slow
def test_within_its_limits_it_is_stable_for_ten_seconds_with_a_fault(within):
    """Bolted, for 60 ms, at the bus of the two largest machines, as in the page."""
    faulted = within.copy()
    faulted.add_event(gc.BusFault(id="fault", bus=7095, t=1.0, clear=1.06))
    system = gc.build(faulted)
    run = gc.simulate(system, t_end=10.0, step=0.01)
    machines = [i.id for i in system.layout.instances if i.device.source and i.in_service]
    buses = [i.id for i in system.layout.instances if i.model == "Bus"]
    speeds = np.array([run[id, "omega"] for id in machines])
    angles = np.degrees([run[id, "delta"] for id in machines])
    assert run.t[-1] == 10.0
    assert 0.005 < np.abs(speeds - 1).max() < 0.02
    assert np.abs(speeds[:, -1] - 1).max() < 3e-4
    assert np.ptp(angles, axis=0).max() < 150
    assert abs(np.ptp(angles[:, -1]) - np.ptp(angles[:, 0])) < 1
    assert min(run[id, "Vm"][-1] for id in buses) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize(("bus", "t_end"), [(3027, 0.6), (1021, 2.1)])
def test_an_exciter_that_settles_at_its_ceiling_is_followed_to_round_off(within, bus, t_end):
    """EXC_GEN3105 comes to EMAX while a dozen other limits keep the factors of equations that are no more."""
    faulted = within.copy()
    faulted.add_event(gc.BusFault(id="fault", bus=bus, t=0.1, clear=0.2))
    run = gc.simulate(gc.build(faulted), t_end, 0.01)
    assert run.t[-1] == t_end
    assert {"E_at_EMAX", "E_off_EMAX"} <= {e.item for e in run.events if e.device == "EXC_GEN3105"}
    at_ceiling = np.abs(run["EXC_GEN3105", "E"] / run["EXC_GEN3105", "EMAX"] - 1) < 1e-12
    assert 10 < at_ceiling.sum() < len(run.t) - 10


@pytest.mark.slow
def test_no_solution_is_found_far_away_where_a_fault_drives_many_limits(within):
    """Three milliseconds after it, iterations lead to field voltages of 1e13, where corrections are small."""
    faulted = within.copy()
    faulted.add_event(gc.BusFault(id="fault", bus=5236, t=0.1, clear=0.2))
    run = gc.simulate(gc.build(faulted), 0.3, 0.01)
    assert run.t[-1] == 0.3
    assert len(run.events) > 60
    assert np.abs(run["EXC_*.Efd"].values).max() < 100
