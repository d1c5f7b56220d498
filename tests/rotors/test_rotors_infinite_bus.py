"""Where an infinite bus holds an island, its angle is one of those that the verdict on synchronism compares."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gridcore as gc
from gridcore_rotors.rotors import rotors
from gridcore_verbs.summary import describe_run


def smib(clear: float, angle: float = 0.0, **fields: float) -> gc.Run:
    """Kundur's machine on an infinite bus: stable when cleared after 0.086 s, unstable after 0.087 s."""
    case = gc.load_case("smib")
    case.set("fault.clear", 0.1 + clear)
    case.set("trip.t", 0.1 + clear)
    case.set("BUS3.Va0", math.radians(angle))
    case.set("BUS1.Va0", math.radians(28.34 + angle))
    for name, value in fields.items():
        case.set(name.replace("__", "."), value)
    return gc.simulate(gc.build(case), 3.0, 0.005)


@pytest.mark.parametrize(("clear", "verdict"), [(0.086, "in synchronism"), (0.087, "out of synchronism")])
def test_a_machine_alone_is_judged_by_its_angle_to_the_infinite_bus(clear: float, verdict: str) -> None:
    run = smib(clear)
    found = rotors(run)
    assert found.verdict == verdict
    np.testing.assert_array_equal(found.spread, np.abs(run["GEN1", "delta"]))  # the bus is at zero
    assert any(verdict.upper().lower() in text.lower() for heading, text in describe_run(run) if heading == "machines")


@pytest.mark.parametrize("angle", [30.0, 150.0, 175.0, -170.0])
def test_the_verdict_does_not_depend_on_the_angle_at_which_the_infinite_bus_stands(angle: float) -> None:
    """Angles at t0 are known up to whole turns only; those of one island belong together."""
    plain, turned = rotors(smib(0.08)), rotors(smib(0.08, angle))
    np.testing.assert_allclose(turned.spread, plain.spread, rtol=0, atol=1e-8)
    np.testing.assert_allclose(turned.relative, plain.relative, rtol=0, atol=1e-8)
    assert turned.verdict == plain.verdict == "in synchronism"


def test_nor_do_machines_among_themselves_depend_on_the_angle_of_the_slack() -> None:
    runs = []
    for angle in (0.0, 170.0):
        case = gc.load_case("wscc9")
        case.set("BUS1.Va0", math.radians(angle))
        runs.append(rotors(gc.simulate(gc.build(case), 1.0, 0.01)))
    np.testing.assert_allclose(runs[1].spread, runs[0].spread, rtol=0, atol=1e-8)
    assert runs[0].verdict == runs[1].verdict == "in synchronism"


def test_an_infinite_bus_that_is_out_of_service_is_no_reference() -> None:
    """A second machine holds the grid when the infinite bus is tripped: from there on, the centre of inertia."""
    case = gc.load_case("smib")
    for id in ("fault", "trip"):
        case.remove(id)
    case.add(gc.Record("Classical", {"id": "GEN2", "bus": 3, "control": "slack", "V0": 0.90081, "H": 4.0, "Xdp": 0.3}))
    case.set("GRID.control", "PQ")
    case.add(gc.Trip(id="out", device="GRID", t=0.1))
    run = gc.simulate(gc.build(case), 0.3, 0.01)
    found, after = rotors(run), run.t > 0.1
    H = np.array([3.5, 4.0])
    np.testing.assert_allclose(found.reference[~after][0], 0.0, atol=1e-12)
    np.testing.assert_allclose(found.reference[after][:, 0], (found.delta @ H / H.sum())[after], rtol=1e-12)
