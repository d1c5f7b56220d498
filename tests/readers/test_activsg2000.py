"""ACTIVSg2000 from its PSS/E files: what docs/activsg2000.md says, but for the long run."""

import re
import time

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


@pytest.mark.bench
def test_it_reads_in_less_than_two_seconds():
    files, times = (shared(RAW), shared(DYR)), []
    for _ in range(3):
        began = time.perf_counter()
        gc.load_case(*files)
        times.append(time.perf_counter() - began)
    assert min(times) < 2.0


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
def test_within_its_limits_it_stays_at_rest():
    """The machines' ratings raised to their dispatch, and what is broken then moved to where it is, as in the page; but
    without the one ESDC2A, the saturation of which cannot be met within its limits, wherever they are.
    """
    case = gc.load_case(shared(RAW), shared(DYR), loads="I/Z", drop=["ESDC2A"])
    for record in case:
        if record.device.source and record.fields["P0"] * case.base_mva > record.fields["Sn"]:
            record.fields["Sn"] = record.fields["P0"] * case.base_mva / 0.9
    for violation in gc.build(case).operating_point.violations:
        id, limit, by = LIMIT.fullmatch(violation).groups()
        case[id].fields[limit] += (float(by) * 1.001 + 1e-6) * (1 if "MAX" in limit else -1)
    system = gc.build(case)
    assert not system.operating_point.violations
    run = gc.simulate(system, t_end=0.1)
    machines = [i.id for i in system.layout.instances if i.device.source]
    assert max(np.abs(run[id, "omega"] - 1.0).max() for id in machines) < 1e-6
