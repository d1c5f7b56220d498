"""Exact zeros are recognised by construction: which there are follows from what holds and what damps an island."""

from __future__ import annotations

import numpy as np
import pytest
from book import book_case

import gridcore as gc
from gridcore.contract import Device, Param, State


def zeros(system):
    modes = gc.analyses.small_signal(system)
    return modes, {label: k for k, label in enumerate(modes.labels) if label}


def test_angles_of_an_island_turn_together():
    modes, found = zeros(gc.build("wscc9"))
    assert list(found) == ["rotation"]
    v = modes.right[:, found["rotation"]]
    turned = np.array([name == "delta" for _, name in modes.states])
    np.testing.assert_allclose(v, turned / np.sqrt(3), atol=1e-12)


def test_without_damping_the_common_speed_is_a_second_zero_without_an_eigenvector():
    modes, found = zeros(gc.build(book_case()))
    A, u = modes.linear.reduced, modes.right[:, found["common speed"]]
    speeds = np.array([name == "omega" for _, name in modes.states])
    assert np.ptp(u[speeds].real) < 1e-12 * np.abs(u).max()
    assert np.linalg.norm(A @ u) > 1e-3                                # no eigenvector,
    assert np.linalg.norm(A @ (A @ u)) < 1e-10 * np.linalg.norm(A)     # but the end of a chain of two
    for label, k in found.items():
        kind = {"rotation": "delta", "common speed": "omega"}[label]
        assert all(name.endswith(kind) for name in modes.participants(k, 3))


@pytest.mark.parametrize(("damping", "labels"), [(0.0, {"rotation", "common speed"}), (1e-4, {"rotation"})])
def test_the_least_damping_takes_the_second_zero_away(damping, labels):
    case = book_case()
    case.set("GEN1.D", damping)
    modes, found = zeros(gc.build(case))
    assert set(found) == labels
    rest = modes.eigenvalues[[k for k, label in enumerate(modes.labels) if not label]]
    slowest = rest[np.abs(rest).argmin()].real
    assert (slowest > -1e-4) == bool(damping)


def test_an_infinite_bus_holds_the_angle():
    _, found = zeros(gc.build("smib"))
    assert not found


def test_islands_turn_each_by_itself():
    case = gc.load_case("wscc9")
    twin = case.copy()
    events = {"BusFault", "BranchTrip"}
    case.records = [r for r in case.records if r.model not in events]
    for record in (r for r in twin.records if r.model not in events):
        for key in ("id", "bus", "bus1", "bus2", "machine"):
            if isinstance(record.fields.get(key), int):
                record.fields[key] += 100
            elif isinstance(record.fields.get(key), str):
                record.fields[key] += "B"
        case.add(record)
    modes = gc.analyses.small_signal(gc.build(case))
    assert modes.labels.count("rotation") == 2
    assert np.abs(modes.eigenvalues).argsort(kind="stable")[:2].tolist() == [
        k for k, label in enumerate(modes.labels) if label]


class Clockwork(Device):
    """Counts, and nothing reads it."""

    phase0 = Param("rad", 0.3)
    phase = State("rad", start_at="phase0")

    def rates(s):
        return 0.0 * s.phase


def test_a_state_that_nothing_reads_is_an_integrator():
    from devices_for_tests import registered

    case = gc.load_case("smib")
    with registered(Clockwork):
        case.add(Clockwork(id="CLOCK"))
        modes, found = zeros(gc.build(case))
    assert list(found) == ["integrator"]
    assert modes.participants(found["integrator"], 1) == {"CLOCK.phase": 1.0}


def test_zeros_are_the_same_to_the_sparse_method():
    system = gc.build(book_case())
    dense, sparse = (gc.analyses.small_signal(system, method=m) for m in ("dense", "sparse"))
    assert dense.labels == sparse.labels
