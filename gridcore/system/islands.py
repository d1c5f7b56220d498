"""Islands under the modes of a system, and whether each of them can stand."""

from __future__ import annotations

import warnings

import numpy as np

from ..contract import Bus
from ..equations import Layout
from ..errors import DataWarning, NetworkError
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

    def _held(self, Z: np.ndarray, at_rest: bool) -> np.ndarray:
        """Which nodes are in an island with a source in service, (nodes,) bool: at rest a slack of any kind is one."""
        holds, (count, island) = (Z[self._running] == 1) & ((self._always == 1) | at_rest), self.components(Z)
        return np.asarray(np.bincount(island[self._source_at[holds]], minlength=count)[island] > 0)

    def settle(self, Z: np.ndarray, at_rest: bool = False) -> None:
        """De-energise dead islands in Z, or refuse them; energise what has come to an island with a source.

        What goes out of service with one island may have held another, across a converter. It stays so when a branch to
        it is closed, until an event puts it in service: a warning says what is left out. `at_rest`: for the power flow.

        Raises
        ------
        NetworkError
            If there are dead islands and they may not be de-energised: lists their nodes; if there are no others.
        """
        network, address = self.layout.network, self.layout.address
        while (dead := (Z[self._energised] == 1) & ~(held := self._held(Z, at_rest))).any():
            if not self.deenergise:
                _, island = self.components(Z)
                islands = [np.flatnonzero(dead & (island == i)).tolist() for i in np.unique(island[dead])]
                names = "; ".join(self._names(nodes) for nodes in islands[:10]) + "; ..." * (len(islands) > 10)
                near = dict.fromkeys(id for k in islands[0] for id in network.attached(network.nodes[k]))
                off = [id for id in near if Z[address(f"{id}.status")] == 0]
                raise NetworkError(f"island without a voltage source: {names}; de-energise it with deenergise=True "
                                   f"(--deenergise){'; out of service there: ' * bool(off)}{', '.join(off[:10])}")
            for k in np.flatnonzero(dead).tolist():
                Z[self._energised[k]] = 0.0
                for device in network.attached(network.nodes[k]):
                    self.layout.set_status(Z, device, 0.0)
        for k in np.flatnonzero((Z[self._energised] == 0) & held).tolist():
            Z[self._energised[k]], id = 1.0, network.nodes[k]
            off = [of for of in network.attached(id) if Z[address(f"{of}.status")] == 0]
            warnings.warn(f"{id} is energised again at t = {Z[-1]:.9g} s{' without ' * bool(off)}{', '.join(off[:10])}",
                          DataWarning, stacklevel=2)
        if self.nodes and not Z[self._energised].any():
            raise NetworkError("no bus is energised: there is no voltage source in service")

    def _names(self, island: list[int]) -> str:
        names = [self.layout.instances[self.nodes[k]].id for k in island]
        return ", ".join(names[:10]) + f" and {len(names) - 10} more" * (len(names) > 10)
