"""Rotor angles of synchronous machines: their centre of inertia, and whether they stay together.

A rotor is a source with an angle (rad), ``delta`` or ``angle``, and a speed (pu) of its own, ``omega``: a machine, or
the internal voltage of a converter that forms the grid. A source with an ``angle`` and no speed is an infinite bus.
What belongs together is decided point by point: rotors in service in one island. Where an infinite bus holds an island,
its angle is the reference in place of the centre of inertia.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gridcore.results import Points, check_run
from gridcore_notebook import html

if TYPE_CHECKING:
    from gridcore.contract import Device
    from gridcore.equilibrium import Equilibrium
    from gridcore.results import Run

SLIPPED = 2 * np.pi  # a machine has slipped a pole against another


@dataclass(frozen=True)
class Rotors:
    """The machines of a run, and its converters that form the grid.

    Attributes
    ----------
    devices : list of str
    delta, omega : (points, machines) arrays
        Angles (rad) against the synchronous frame, and speeds (pu).
    in_service : (points, machines) bool array
    reference : (points, machines) array
        Angle (rad) of the centre of inertia, or of the infinite bus, of each machine's island:
        ``sum(H Sn delta) / sum(H Sn)``, Kundur (1994), eq. 13.24. ``H = 0`` is an infinite inertia, as GENCLS has it;
        what has no `H` has no inertia, and counts by its rating where nothing in the island has any.
    spread : (points,) array
        Largest difference of two angles (rad) in one island, an infinite bus among them.
    infinite_buses : list of str
        The sources whose angle is given.
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

    _repr_html_ = html

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
    check_run(run, Points)
    system, layout, islands = run.system, run.system.layout, run.system.islands
    devices, place = rotor_devices(system), {number: k for k, number in enumerate(islands.nodes)}
    infinite = _infinite_buses(system)
    delta, omega = _angles(run, devices), run.of(devices, "omega")
    on = run.of(devices, "status") == 1
    inertia, rating = (np.array([_given(system, device, name) for device in devices]) for name in ("H", "Sn"))
    inertia *= np.where(inertia > 0, rating, 1.0)

    def bus_of(device: str) -> int:
        number = layout.find(device)
        return layout.ports[number][layout.instances[number].device.bus_ports()[0]]

    buses = np.array([place[bus_of(device)] for device in devices], dtype=int)
    references = [(layout.address(f"{source}.status"), place[bus_of(source)], angle)
                  for source, angle in zip(infinite, _angles(run, infinite).T, strict=True)]
    _, island = islands.components(system.Z0)
    held = {island[bus]: angle[0] for status, bus, angle in references if system.Z0[status] == 1}
    for number in set(island[buses].tolist()):  # angles at t0 are known up to whole turns: those nearest to each other
        members = island[buses] == number
        about = held.get(number, np.angle(np.exp(1j * delta[0, members]).sum()))
        delta[:, members] -= 2 * np.pi * np.round((delta[0, members] - about) / (2 * np.pi))
    reference, spread, parted = np.zeros_like(delta), np.zeros(len(run.t)), np.zeros(len(devices), dtype=bool)
    for setting in set(run.point_settings.tolist()):
        points = np.flatnonzero(run.point_settings == setting)
        Z = system.Z0.copy()
        Z[system.n:-1] = run.tape.settings[setting]
        _, island = islands.components(Z)
        held = {island[bus]: angle[points] for status, bus, angle in references if Z[status] == 1}
        for number in set(island[buses].tolist()):
            members = np.flatnonzero(island[buses] == number)
            alive = members[on[points[0], members]]
            if not len(alive):
                continue
            angles = delta[points][:, alive]
            weights = _weights(inertia[alive], rating[alive])
            own = angles @ weights / weights.sum()
            if number in held:
                own = held[number]
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


def _weights(inertia: np.ndarray, rating: np.ndarray) -> np.ndarray:
    """Of the rotors of an island in its centre of inertia."""
    if np.isinf(inertia).any():
        return np.isinf(inertia).astype(float)
    return inertia if inertia.any() else rating


def kept_rotors(run: Run) -> Rotors | None:
    """The rotor angles of a run that keeps those of all its rotors; None where it does not, or has none."""
    devices = rotor_devices(run.system)
    kept = devices and run.keeps(devices, "omega") and all(
        run.keeps(group, name) for name, group in _by_angle(run.system, devices).items())
    return rotors(run) if kept else None


def rotor_devices(system: Equilibrium) -> list[str]:
    """The sources that have a rotor."""
    return [i.id for i in system.layout.instances if _angle_of(i.device) and _offers(i.device, "omega")]


def _infinite_buses(system: Equilibrium) -> list[str]:
    """The sources of AC buses that have an angle, and no speed of their own."""
    return [i.id for i in system.layout.instances if _angle_of(i.device) and not _offers(i.device, "omega")
            and i.device.bus_ports()]


def _angle_of(device: type[Device]) -> str:
    """The name of the angle that a source has; none for any other."""
    return next((name for name in ("delta", "angle") if device.source and _offers(device, name)), "")


def _offers(device: type[Device], name: str) -> bool:
    return name in device.declares.readable() or name in device.declares.setpoints or name in device.declares.params


def _by_angle(system: Equilibrium, devices: list[str]) -> dict[str, list[str]]:
    """The devices by the name of their angle."""
    groups: dict[str, list[str]] = {}
    for device in devices:
        name = _angle_of(system.layout.instances[system.layout.find(device)].device)
        groups.setdefault(name, []).append(device)
    return groups


def _angles(run: Run, devices: list[str]) -> np.ndarray:
    """(points, devices) of these rotors or infinite buses (rad)."""
    out = np.empty((len(run.t), len(devices)))
    for name, group in _by_angle(run.system, devices).items():
        out[:, [devices.index(device) for device in group]] = run.of(group, name)
    return out


def _given(system: Equilibrium, device: str, name: str) -> float:
    """`H` or `Sn`: an H of zero is infinite, one that there is not is none, and so a rating of one."""
    declared = system.layout.instances[system.layout.find(device)].device.declares.params
    if name not in declared:
        return 0.0 if name == "H" else 1.0
    return float(system.Z0[system.layout.address(f"{device}.{name}")]) or np.inf
