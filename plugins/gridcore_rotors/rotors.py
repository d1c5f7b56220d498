"""Rotor angles of synchronous machines: their centre of inertia, and whether they stay together.

A rotor is a source with the states ``delta`` (rad) and ``omega`` (pu). What belongs together is decided
point by point: machines in service in one island. Where an infinite bus holds an island, its angle is
the reference in place of the centre of inertia.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gridcore.contract import Bus
from gridcore.errors import CaseError
from gridcore.results import Points

if TYPE_CHECKING:
    from gridcore.equilibrium import Equilibrium
    from gridcore.results import Run

SLIPPED = 2 * np.pi  # a machine has slipped a pole against another


@dataclass(frozen=True)
class Rotors:
    """The machines of a run.

    Attributes
    ----------
    devices : list of str
    delta, omega : (points, machines) arrays
        Angles (rad) against the synchronous frame, and speeds (pu).
    in_service : (points, machines) bool array
    reference : (points, machines) array
        Angle (rad) of the centre of inertia, or of the infinite bus, of each machine's island:
        ``sum(H Sn delta) / sum(H Sn)``, Kundur (1994), eq. 13.24. ``H = 0`` is an infinite inertia, as GENCLS has it.
    spread : (points,) array
        Largest difference of two angles (rad) in one island, an infinite bus among them.
    infinite_buses : list of str
        The sources that hold an AC bus and have no rotor.
    parted : tuple of str
        The machines that fall out of step, where two of an island come 360 degrees apart: when they are farthest,
        between any two switchings, the angles fall into groups more than 180 degrees from each other (or, where they
        form a chain, at the widest gap); parted are all but the group with the largest inertia.
    """

    devices: list[str]
    delta: np.ndarray
    omega: np.ndarray
    in_service: np.ndarray
    reference: np.ndarray
    spread: np.ndarray
    infinite_buses: list[str]
    parted: tuple[str, ...] = ()

    @property
    def relative(self) -> np.ndarray:
        """(points, machines) angles (rad) to the reference; nan out of service."""
        return np.where(self.in_service, self.delta - self.reference, np.nan)

    @property
    def verdict(self) -> str:
        """Whether machines stay in step, judged by the largest spread.

        ``"in synchronism"`` below 180 degrees, ``"out of synchronism"`` from 360 on, when one machine
        has slipped a pole against another; ``"beyond 180 degrees"`` between, where large systems may
        come back.
        """
        widest = float(np.max(self.spread, initial=0.0))
        if widest < np.pi:
            return "in synchronism"
        return "beyond 180 degrees" if widest < SLIPPED else "out of synchronism"


def rotors(run: Run) -> Rotors:
    """The rotor angles of a run, against the centre of inertia or the infinite bus of each machine's island.

    Angles of one island at t0 are taken within half a turn of the infinite bus, or of their mean.

    Parameters
    ----------
    run : Run
        That keeps ``delta`` and ``omega`` of its machines.

    Returns
    -------
    Rotors

    Raises
    ------
    CaseError
        If the run does not keep them.
    """
    if not isinstance(run, Points):
        raise CaseError(f"{run!r} is no run: gc.simulate makes one of a system")
    system, layout, islands = run.system, run.system.layout, run.system.islands
    devices, place = rotor_devices(system), {number: k for k, number in enumerate(islands.nodes)}
    infinite = _infinite_buses(system, devices)
    delta, omega = run.of(devices, "delta"), run.of(devices, "omega")
    on = run.of(devices, "status") == 1
    inertia = np.array([_inertia(system, device) for device in devices])

    def bus_of(device: str) -> int:
        number = layout.find(device)
        return layout.ports[number][layout.instances[number].device.bus_ports()[0]]

    buses = np.array([place[bus_of(device)] for device in devices], dtype=int)
    references = [(layout.address(f"{source}.status"), place[bus_of(source)],
                   float(system.Z0[layout.index(np.array([bus_of(source)]), Bus, "Va0")][0]))
                  for source in infinite]
    _, island = islands.components(system.Z0)
    for number in np.unique(island[buses]):  # angles at t0 are known up to whole turns: those nearest to each other
        members = island[buses] == number
        about = next((angle for status, bus, angle in references if island[bus] == number and system.Z0[status] == 1),
                      np.angle(np.exp(1j * delta[0, members]).sum()))
        delta[:, members] -= 2 * np.pi * np.round((delta[0, members] - about) / (2 * np.pi))
    reference, spread, parted = np.zeros_like(delta), np.zeros(len(run.t)), np.zeros(len(devices), dtype=bool)
    for setting in np.unique(run.point_settings):
        points = np.flatnonzero(run.point_settings == setting)
        Z = system.Z0.copy()
        Z[system.n:-1] = run.tape.settings[setting]
        _, island = islands.components(Z)
        held = {island[bus]: angle for status, bus, angle in references if Z[status] == 1}
        for number in np.unique(island[buses]):
            members = np.flatnonzero(island[buses] == number)
            alive = members[on[points[0], members]]
            if not len(alive):
                continue
            angles = delta[points][:, alive]
            weights = inertia[alive] if np.isfinite(inertia[alive]).all() else np.isinf(inertia[alive]).astype(float)
            own = angles @ weights / weights.sum()
            if number in held:
                own = np.full(len(points), held[number])
                angles, weights = np.column_stack([angles, own]), np.append(np.zeros(len(alive)), 1.0)
            reference[points[:, None], members] = own[:, None]
            apart = angles.max(axis=1) - angles.min(axis=1)
            spread[points] = np.maximum(spread[points], apart)
            if apart.max() >= SLIPPED:
                parted[alive] |= _out_of_step(angles[np.argmax(apart)], weights)[:len(alive)]
    return Rotors(devices, delta, omega, on, reference, spread, infinite,
                  tuple(device for device, out in zip(devices, parted, strict=True) if out))


def _out_of_step(angles: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Which of these angles (rad) are not in the group with the largest weight."""
    order = np.argsort(angles)
    gaps = np.diff(angles[order])
    group = np.empty(len(angles), dtype=int)
    group[order] = np.concatenate([[0], np.cumsum(gaps >= min(np.pi, gaps.max()))])
    return np.asarray(group != np.argmax(np.bincount(group, weights)))


def kept_rotors(run: Run) -> Rotors | None:
    """The rotor angles of a run that keeps those of all its machines; None where it does not, or has no machine."""
    devices = rotor_devices(run.system)
    return rotors(run) if devices and run.keeps(devices, "delta") and run.keeps(devices, "omega") else None


def rotor_devices(system: Equilibrium) -> list[str]:
    """The sources that have a rotor."""
    return [i.id for i in system.layout.instances
            if i.device.source and {"delta", "omega"} <= set(i.device.declares.states)]


def _infinite_buses(system: Equilibrium, machines: list[str]) -> list[str]:
    """The sources that hold an AC bus and have no rotor."""
    return [i.id for i in system.layout.instances if i.device.source and i.id not in machines
            and any(port.at_bus for port in i.device.node_ports()[:1])]


def _inertia(system: Equilibrium, device: str) -> float:
    """H Sn (MWs) of a machine, infinite where H is zero; one that declares neither counts by what it declares."""
    declared = system.layout.instances[system.layout.find(device)].device.declares.params
    return float(np.prod([system.Z0[system.layout.address(f"{device}.{name}")] for name in ("H", "Sn")
                          if name in declared])) or np.inf
