"""Where a one-line diagram has the nodes of a system, its branches, and what is attached to a node."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .positions import positions

if TYPE_CHECKING:
    from gridcore.case import Instance
    from gridcore.equilibrium import Equilibrium
    from gridcore.network import Network

_STUB = 0.45  # length of the line to what is attached, in parts of the usual length of a branch
_BESIDE = 0.08  # distance of circuits side by side, likewise


@dataclass(frozen=True)
class Attached:
    """What is drawn at a node: a source, or all loads and shunts together.

    Attributes
    ----------
    devices : tuple of str
    node : int
    source : bool
    at : (2,) array
    """

    devices: tuple[str, ...]
    node: int
    source: bool
    at: np.ndarray


@dataclass(frozen=True)
class Diagram:
    """A one-line diagram.

    Attributes
    ----------
    nodes : list of str
    at : (nodes, 2) array
        Positions.
    branches : list of str
        Devices with two terminals or more; one of three stands twice.
    ends : (branches, 2, 2) array
        Positions of both ends of each, in the order of its ports.
    attached : list of Attached
    """

    nodes: list[str]
    at: np.ndarray
    branches: list[str]
    ends: np.ndarray
    attached: list[Attached]


def diagram(system: Equilibrium) -> Diagram:
    """Lay a system out: positions are those of the case, or computed from the graph of its network."""
    network = system.network
    nodes = network.nodes
    place = {node: k for k, node in enumerate(nodes)}
    at = np.array(list(positions(system).values()), dtype=float).reshape(-1, 2)
    edges = [(place[ports[a]], place[ports[b]], device) for *_, (device, a, b) in network.graph.edges(keys=True)
             for ports in [network.terminals(device)]]
    pairs = np.array([edge[:2] for edge in edges], dtype=int).reshape(-1, 2)
    lengths = np.linalg.norm(at[pairs[:, 0]] - at[pairs[:, 1]], axis=1)
    usual = float(np.median(lengths[lengths > 0])) if (lengths > 0).any() else 1.0
    return Diagram(nodes, at, [device for *_, device in edges], _side_by_side(at, pairs, _BESIDE * usual),
                   _attached(system, network, at, pairs, _STUB * usual))


def _side_by_side(at: np.ndarray, pairs: np.ndarray, gap: float) -> np.ndarray:
    """(branches, 2, 2): circuits between the same nodes stand apart."""
    count = Counter(tuple(sorted(pair)) for pair in pairs.tolist())
    drawn: Counter[tuple[int, ...]] = Counter()
    ends = at[pairs]
    for k, pair in enumerate(pairs.tolist()):
        key = tuple(sorted(pair))
        along = at[key[1]] - at[key[0]]
        length = np.linalg.norm(along)
        if count[key] > 1 and length > 0:
            ends[k] += gap * (drawn[key] - (count[key] - 1) / 2) * np.array([-along[1], along[0]]) / length
        drawn[key] += 1
    return ends


def _attached(system: Equilibrium, network: Network, at: np.ndarray, pairs: np.ndarray, stub: float) -> list[Attached]:
    """Sources one by one and all else of a node together, where its branches leave most room."""
    by_id = {instance.id: instance for instance in system.instances}
    out = []
    for k, node in enumerate(network.nodes):
        here = [id for id in network.attached(node) if len(network.terminals(id)) == 1 and not _event(by_id[id])]
        others = tuple(id for id in here if not by_id[id].device.source)
        drawn = [((id,), True) for id in here if by_id[id].device.source] + ([(others, False)] if others else [])
        angles = [float(np.arctan2(*(at[b if a == k else a] - at[k])[::-1])) for a, b in pairs if k in (a, b)]
        for devices, source in drawn:
            angles.append(angle := _roomiest(angles))
            out.append(Attached(devices, k, source, at[k] + stub * np.array([np.cos(angle), np.sin(angle)])))
    return out


def _event(instance: Instance) -> bool:
    """Whether a device is what happens in a study: it acts at times, and has no states."""
    return bool(instance.device.declares.timers) and not instance.device.declares.states


def _roomiest(angles: list[float]) -> float:
    """The middle of the widest gap between directions; down where there are none."""
    if not angles:
        return -np.pi / 2
    round_trip = np.sort(np.mod(angles, 2 * np.pi))
    gaps = np.diff(np.append(round_trip, round_trip[0] + 2 * np.pi))
    widest = int(np.argmax(gaps))
    return float(round_trip[widest] + gaps[widest] / 2)
