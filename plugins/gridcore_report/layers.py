"""What colours of the one-line diagram may stand for: the run itself, a mode, the gradient of an objective."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gridcore.contract import Bus

if TYPE_CHECKING:
    import xarray as xr

    from gridcore.equilibrium import Equilibrium
    from gridcore.results import Run
    from gridcore_smallsignal.modes import Modes

    from .diagram import Diagram

MODES = 8
_NUMBERS = 300_000  # of all frames together
_FRAMES = 200


@dataclass(frozen=True)
class Frames:
    """The run at some instants.

    Attributes
    ----------
    points : (frames,) int array
        Points of the run.
    voltage : (frames, nodes) array
        In pu; nan where a node is de-energised or is no bus.
    flow : (frames, branches) array
        Active power (MW) into the branch at its first node; nan where it is not known.
    """

    points: np.ndarray
    voltage: np.ndarray
    flow: np.ndarray


@dataclass(frozen=True)
class Layer:
    """Numbers of devices, as colours: of nodes, of branches, of what is attached; nan where a place has none."""

    name: str
    title: str
    nodes: np.ndarray
    branches: np.ndarray
    attached: np.ndarray
    signed: bool


def frames(run: Run, drawn: Diagram) -> Frames:
    """Voltages and flows at instants at equal distances, before and after every switching among them."""
    most = int(np.clip(_NUMBERS / (len(drawn.nodes) + len(drawn.branches)), 20, _FRAMES))
    points = thinned(run, most)
    by_id = {instance.id: instance.device for instance in run.system.instances}
    buses = [k for k, node in enumerate(drawn.nodes) if issubclass(by_id[node], Bus) and run.keeps([node], "Vm")]
    lines = [k for k, branch in enumerate(drawn.branches)
             if "P1" in by_id[branch].declares.quantities and run.keeps([branch], "P1")]
    voltage = np.full((len(points), len(drawn.nodes)), np.nan)
    flow = np.full((len(points), len(drawn.branches)), np.nan)
    if buses:
        names = [drawn.nodes[k] for k in buses]
        live = run.of(names, "energised")[points] == 1
        voltage[:, buses] = np.where(live, run.of(names, "Vm")[points], np.nan)
    if lines:
        base = float(run.system.case.base_mva)
        flow[:, lines] = base * run.of([drawn.branches[k] for k in lines], "P1")[points]
    return Frames(points, voltage, flow)


def thinned(run: Run, most: int) -> np.ndarray:
    """Numbers of about so many points of a run: those nearest to equal distances, and both sides of every switching."""
    if len(run.t) <= most:
        return np.arange(len(run.t))
    even = np.searchsorted(run.t, np.linspace(run.t[0], run.t[-1], most)).clip(max=len(run.t) - 1)
    switched = np.flatnonzero(np.diff(run.point_settings))
    return np.unique(np.concatenate([even, switched[:most], switched[:most] + 1]))


def participation(modes: Modes, drawn: Diagram, system: Equilibrium) -> Iterator[Layer]:
    """Of the least damped modes that oscillate: the participation of each place's states, added."""
    places = places_of(system, drawn)
    count = 0
    for k in modes.pairs():
        if not modes.eigenvalues[k].imag or modes.labels[k]:
            continue
        found: dict[int, float] = {}
        for (device, _), factor in zip(modes.states, modes.participation[:, k], strict=True):
            if device in places:
                found[places[device]] = found.get(places[device], 0.0) + float(factor)
        yield _layer(f"participation in mode {k} ({modes.frequency[k]:.2f} Hz, damping ratio "
                     f"{100 * modes.damping_ratio[k]:.1f} %)", "participation", found, drawn, signed=False)
        count += 1
        if count == MODES:
            return


def sensitivity(gradient: xr.DataArray, drawn: Diagram, system: Equilibrium) -> Iterator[Layer]:
    """Of each objective: derivative times parameter, of each place the largest."""
    from gridcore.sensitivity import products

    places = places_of(system, drawn)
    devices = [str(address).rpartition(".")[0] for address in gradient["parameter"].values]
    for name, unit, row in zip(gradient["objective"].values, gradient["objective_unit"].values, products(gradient)):
        found: dict[int, float] = {}
        for device, value in zip(devices, row.tolist()):
            if device in places and abs(value) > abs(found.get(places[device], 0.0)):
                found[places[device]] = value
        yield _layer(f"sensitivity of {name}", f"derivative * parameter{f' ({unit})' if unit else ''}", found, drawn,
                     signed=True)


def places_of(system: Equilibrium, drawn: Diagram) -> dict[str, int]:
    """Where each device is drawn: numbers of nodes, then of branches, then of what is attached.

    What hangs on a device is drawn with it; what attaches to a node and is not drawn itself, as the node.
    """
    nodes, branches = len(drawn.nodes), len(drawn.branches)
    out = {node: k for k, node in enumerate(drawn.nodes)}
    out |= {branch: nodes + k for k, branch in enumerate(drawn.branches)}
    out |= {id: nodes + branches + k for k, item in enumerate(drawn.attached) for id in item.devices}
    waiting = [instance for instance in system.instances if instance.id not in out]
    while waiting:
        found = {i.id: next(out[host] for host in i.ports.values() if host in out)
                 for i in waiting if any(host in out for host in i.ports.values())}
        out |= found
        waiting = [i for i in waiting if i.id not in found]
        if not found:
            break
    return out


def _layer(name: str, title: str, found: Mapping[int, float], drawn: Diagram, signed: bool) -> Layer:
    nodes, branches = len(drawn.nodes), len(drawn.branches)
    values = np.full(nodes + branches + len(drawn.attached), np.nan)
    for place, value in found.items():
        values[place] = value
    at_nodes, at_branches, at_attached = np.split(values, [nodes, nodes + branches])
    return Layer(name, title, at_nodes, at_branches, at_attached, signed)
