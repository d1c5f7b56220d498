"""Rotor angles: centre of inertia, islands, infinite buses, synchronism."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from two_islands import two_islands

import gridcore as gc
from gridcore_rotors.rotors import kept_rotors


@pytest.fixture(scope="module")
def run():
    """The 9-bus fault study, 0.4 s."""
    return gc.simulate(gc.build("wscc9"), t_end=0.4)


def test_inertia_weighted_angles_to_the_centre_of_inertia_cancel(run):
    machines = gc.analyses.rotors(run)
    inertia = np.array([23.64, 6.40, 3.01])  # all on 100 MVA
    assert np.allclose(machines.relative @ inertia, 0, atol=1e-12)
    delta = run.of(["GEN1", "GEN2", "GEN3"], "delta")
    assert np.allclose(machines.spread, delta.max(axis=1) - delta.min(axis=1), rtol=1e-14)


def test_the_rating_weighs_as_inertia_does():
    machines = gc.analyses.rotors(gc.simulate(gc.build(two_islands()), t_end=0.05))
    weight = np.array([4.0 * 100, 2.0 * 200])
    assert np.allclose(machines.relative @ weight, 0, atol=1e-12)


def test_a_machine_of_infinite_inertia_is_the_centre_of_inertia():
    """GENCLS with H = 0, beside another machine and alone."""
    case = gc.Case("infinite")
    case.add("Bus", id=1)
    case.add("GENCLS", bus=1, control="slack", H=0.0, D=0.0, Xdp=0.1)
    case.add("ZIP", bus=1, P0=0.2)
    alone = gc.analyses.rotors(gc.simulate(gc.build(case), t_end=0.05))
    assert np.all(alone.relative == 0)
    case.add("Bus", id=2)
    case.add("Line", bus1=1, bus2=2, x=0.3)
    case.add("Classical", bus=2, P0=0.5, H=4.0, Xdp=0.3)
    run = gc.simulate(gc.build(case), t_end=0.05)
    machines = gc.analyses.rotors(run)
    assert np.allclose(machines.reference, run["GEN1", "delta"][:, None], rtol=1e-15)
    assert np.allclose(machines.relative[:, 1], run["GEN2", "delta"] - run["GEN1", "delta"], rtol=1e-14)


def test_islands_have_a_centre_of_inertia_each():
    run = gc.simulate(gc.build(two_islands(TIE=0.1)), t_end=0.3)
    machines = gc.analyses.rotors(run)
    apart = run["TIE", "status"] == 0
    assert np.any(machines.relative[~apart] != 0)
    assert np.max(np.abs(machines.relative[apart])) < 1e-15
    assert np.all(machines.spread[apart] == 0)
    assert abs(run["G1", "delta"] - run["G2", "delta"])[-1] > abs(machines.spread[0])


def test_a_machine_out_of_service_has_no_angle():
    run = gc.simulate(gc.build(two_islands(G2=0.1)), t_end=0.3)
    machines = gc.analyses.rotors(run)
    off = run["G2", "status"] == 0
    assert off.any()
    assert np.all(np.isnan(machines.relative[off, 1]))
    assert np.allclose(machines.reference[off, 0], run["G1", "delta"][off], rtol=1e-15)


def test_an_infinite_bus_is_the_reference_of_its_island():
    run = gc.simulate(gc.build("smib"), t_end=0.05)
    machines = gc.analyses.rotors(run)
    angle = run["BUS3", "Va"][0]
    assert np.allclose(machines.relative[:, 0], run["GEN1", "delta"] - angle, rtol=1e-14)


def test_a_converter_that_forms_the_grid_is_a_rotor_and_no_infinite_bus():
    """Its angle moves with the frequency of all; without inertia it does not move the centre of inertia."""
    run = gc.simulate(gc.build("ieee39_converters"), t_end=2.0)
    machines = gc.analyses.rotors(run)
    assert {"GEN32", "GEN35"} < set(machines.devices)
    assert not {"GEN33", "GEN37"} & set(machines.devices)  # these follow the grid
    assert machines.infinite_buses == []
    delta = run.of(machines.devices, "delta")
    assert np.allclose(machines.spread, delta.max(axis=1) - delta.min(axis=1), rtol=1e-14)
    with_inertia = [name for name in machines.devices if name not in ("GEN32", "GEN35")]
    H, Sn = (np.array([run[name, field][0] for name in with_inertia]) for field in ("H", "Sn"))
    centre = run.of(with_inertia, "delta") @ (H * Sn) / (H @ Sn)
    assert np.allclose(machines.reference, centre[:, None], rtol=1e-13)


def test_the_angle_of_a_converter_is_under_either_name():
    """REGFMB1 has it as the sum of two states, and beside it is an infinite bus."""
    case = gc.Case("beside")
    case.add("Bus", id=1)
    case.add("Bus", id=2)
    case.add("Line", bus1=1, bus2=2, x=0.2)
    case.add("InfiniteBus", bus=1, control="slack")
    case.add("REGFMB1", id="VSM", bus=2, control="PV", P0=0.5)
    run = gc.simulate(gc.build(case), t_end=0.05)
    machines = gc.analyses.rotors(run)
    assert (machines.devices, machines.infinite_buses) == (["VSM"], ["INF1"])
    assert np.array_equal(machines.relative[:, 0], run["VSM", "angle"])


def test_rotors_without_inertia_count_by_their_rating():
    """Two droop-controlled converters alone."""
    case = gc.Case("island")
    case.add("Bus", id=1)
    case.add("Bus", id=2)
    case.add("Line", bus1=1, bus2=2, x=0.2)
    case.add("ZIP", bus=1, P0=0.9, Q0=0.1)
    case.add("REGFMA1", bus=1, control="slack", Sn=100.0, Xdp=0.15, IMAX=1.5, kiv=5.86)
    case.add("REGFMA1", bus=2, control="PV", Sn=300.0, P0=0.3, Xdp=0.15, IMAX=1.5, kiv=5.86)
    machines = gc.analyses.rotors(gc.simulate(gc.build(case), t_end=0.05))
    assert np.any(machines.relative != 0)
    assert np.allclose(machines.relative @ [100.0, 300.0], 0, atol=1e-12)


@pytest.mark.parametrize(("degrees", "verdict"), [
    (0, "in synchronism"), (179, "in synchronism"), (181, "beyond 180 degrees"), (359, "beyond 180 degrees"),
    (361, "out of synchronism")])
def test_machines_are_out_of_step_once_one_has_slipped_a_pole(run, degrees, verdict):
    widened = dataclasses.replace(gc.analyses.rotors(run), spread=np.radians([0.0, degrees, 10.0]))
    assert widened.verdict == verdict


def test_rotor_angles_are_those_of_all_machines_or_none():
    system = gc.build("wscc9")
    kept = {record: kept_rotors(gc.simulate(system, t_end=0.05, record=record))
            for record in ("*.delta", "*.omega", "*", "GEN1.*")}
    assert [record for record, machines in kept.items() if machines is not None] == ["*"]
    assert kept_rotors(gc.simulate(gc.build("hiskens_pai"), t_end=0.05, step=0.01)) is None
