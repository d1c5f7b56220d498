"""Islands under the modes of a system, and whether each of them can stand."""

from __future__ import annotations

import numpy as np

from ..contract import Bus
from ..equations import Layout
from ..errors import NetworkError
from ..kept import Kept
from ..network import components


class Islands:
    """The islands of a system under the modes in a buffer, and what becomes of dead ones.

    They are those of :meth:`gridcore.network.graph.Network.islands`, from numbers alone: a run asks at every switch.

    Attributes
    ----------
    deenergise : bool
        Take an island without a source out of service, in place of an error.
    nodes : list of int
        Numbers of the instances that are nodes.
    buses : list of int
        Of those that are AC buses; `bus_places` has their places in `nodes`.
    """

    def __init__(self, layout: Layout, deenergise: bool = False):
        self.layout, self.deenergise = layout, deenergise
        network = layout.network
        self.nodes = [layout.number[id] for id in network.nodes]
        self.bus_places = np.flatnonzero([issubclass(layout.instances[i].device, Bus) for i in self.nodes])
        self.buses = [self.nodes[k] for k in self.bus_places]
        place = {id: k for k, id in enumerate(network.nodes)}
        couples: list[tuple[int, int, int]] = []
        sources: list[tuple[int, int, bool]] = []
        for i, instance in enumerate(layout.instances):
            couples += [(i, place[a], place[b]) for a, b in network.couples(instance.id)]
            if instance.device.source or instance.words.get("control") == "slack":
                sources += [(i, place[node], instance.device.source)
                            for node in list(network.terminals(instance.id).values())[:1]]
        couple, self._from, self._to = np.array(couples, dtype=int).reshape(-1, 3).T
        source, self._source_at, self._always = np.array(sources, dtype=int).reshape(-1, 3).T
        self._closed, self._running = layout.positions(couple, "status"), layout.positions(source, "status")
        self._energised = layout.positions(self.nodes, "energised")
        self._found: Kept[tuple[int, np.ndarray]] = Kept()  # by which branches are closed

    def components(self, Z: np.ndarray) -> tuple[int, np.ndarray]:
        """Number of islands, and the island of each node (in order of `nodes`)."""
        closed = Z[self._closed] == 1
        return self._found.get(closed.tobytes(), lambda: components(
            len(self.nodes), self._from[closed], self._to[closed]))

    def dead(self, Z: np.ndarray, at_rest: bool = False) -> list[list[int]]:
        """Energised islands without a source in service, as places in `nodes`.

        For the power flow alone (`at_rest`) a slack of any kind is one.
        """
        if not self.nodes:
            return []
        count, island = self.components(Z)
        energised, holds = Z[self._energised] == 1, (Z[self._running] == 1) & ((self._always == 1) | at_rest)
        held = set(island[self._source_at[holds]])
        return [np.flatnonzero((island == i) & energised).tolist()
                for i in range(count) if i not in held and energised[island == i].any()]

    def settle(self, Z: np.ndarray, at_rest: bool = False) -> None:
        """De-energise dead islands in Z, or refuse them.

        What goes out of service with one island may have held another, across a converter.

        Raises
        ------
        NetworkError
            If there are dead islands and they may not be de-energised: lists their nodes; if there are no others.
        """
        network = self.layout.network
        while dead := self.dead(Z, at_rest):
            if not self.deenergise:
                names = "; ".join(self._names(island) for island in dead[:10]) + "; ..." * (len(dead) > 10)
                near = dict.fromkeys(id for k in dead[0] for id in network.attached(network.nodes[k]))
                off = [id for id in near if Z[self.layout.address(f"{id}.status")] == 0]
                raise NetworkError(f"island without a voltage source: {names}; de-energise it with deenergise=True "
                                   f"(--deenergise){'; out of service there: ' * bool(off)}{', '.join(off[:10])}")
            for k in (k for island in dead for k in island):
                Z[self._energised[k]] = 0.0
                for device in network.attached(network.nodes[k]):
                    self.layout.set_status(Z, device, 0.0)
        if self.nodes and not Z[self._energised].any():
            raise NetworkError("no bus is energised: there is no voltage source in service")

    def _names(self, island: list[int]) -> str:
        names = [self.layout.instances[self.nodes[k]].id for k in island]
        return ", ".join(names[:10]) + f" and {len(names) - 10} more" * (len(names) > 10)
