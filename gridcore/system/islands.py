"""Islands under the modes of a system, and whether each of them can stand."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..contract import Bus
from ..equations import Layout
from ..errors import NetworkError


class Islands:
    """The islands of a system under the modes in a buffer, and what becomes of dead ones.

    They are those of :meth:`gridcore.network.graph.Network.islands`, found from numbers alone, for a run asks at every
    switching.

    Parameters
    ----------
    layout : Layout
    deenergise : bool
        Take an island without a source out of service, in place of an error.

    Attributes
    ----------
    nodes : list of int
        Numbers of the instances that are nodes.
    buses : list of int
        Of those that are AC buses.
    bus_places : (buses,) int array
        Their places in `nodes`.
    """

    def __init__(self, layout: Layout, deenergise: bool = False):
        self.layout, self.deenergise = layout, deenergise
        network = layout.network
        self.nodes = [layout.number[id] for id in network.nodes]
        self._place = {id: k for k, id in enumerate(network.nodes)}
        ac = [issubclass(layout.instances[i].device, Bus) for i in self.nodes]
        self.bus_places = np.flatnonzero(ac)
        self.buses = [self.nodes[k] for k in self.bus_places]
        ends: list[tuple[int, int, int]] = []
        sources: list[tuple[int, int, bool]] = []
        for i, instance in enumerate(layout.instances):
            ends += [(i, self._place[a], self._place[b]) for a, b in network.couples(instance.id)]
            if instance.device.source or instance.words.get("control") == "slack":
                at = list(network.terminals(instance.id).values())
                sources += [(i, self._place[node], instance.device.source) for node in at[:1]]
        self._ends = np.array(ends, dtype=int).reshape(-1, 3)
        self._sources = np.array(sources, dtype=int).reshape(-1, 3)

    @functools.cached_property
    def _at(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions in Z of the status of what connects nodes, and of sources."""
        return self.layout.positions(self._ends[:, 0], "status"), self.layout.positions(self._sources[:, 0], "status")

    @functools.cached_property
    def _energised(self) -> np.ndarray:
        """Where the mode of each node is."""
        return self.layout.positions(self.nodes, "energised")

    def components(self, Z: np.ndarray) -> tuple[int, np.ndarray]:
        """Number of islands, and the island of each node (in order of `nodes`)."""
        closed = self._ends[Z[self._at[0]] == 1]
        n = len(self.nodes)
        links = sp.coo_matrix((np.ones(len(closed)), (closed[:, 1], closed[:, 2])), shape=(n, n))
        count, island = connected_components(links, directed=False)
        return int(count), island

    def _numbered(self, islands: Sequence[Sequence[str]]) -> tuple[int, np.ndarray]:
        """The same from ids."""
        island = np.zeros(len(self.nodes), dtype=int)
        for k, members in enumerate(islands):
            island[[self._place[node] for node in members]] = k
        return len(islands), island

    def dead(self, Z: np.ndarray, at_rest: bool = False,
             islands: Sequence[Sequence[str]] | None = None) -> list[list[int]]:
        """Energised islands without a source in service: places in `nodes`.

        For the power flow alone (`at_rest`) a slack of any kind is one. The islands need not be found where they are
        known, by the ids of their nodes.
        """
        if not self.nodes:
            return []
        count, island = self.components(Z) if islands is None else self._numbered(islands)
        holds = (Z[self._at[1]] == 1) & ((self._sources[:, 2] == 1) | at_rest)
        held = set(island[self._sources[holds, 1]])
        energised = Z[self._energised]
        return [[int(k) for k in np.flatnonzero((island == i) & (energised == 1))]
                for i in range(count) if i not in held and energised[island == i].any()]

    def settle(self, Z: np.ndarray, at_rest: bool = False, islands: Sequence[Sequence[str]] | None = None) -> None:
        """De-energise dead islands in Z, or refuse them.

        What goes out of service with one island may have held another, across a converter.

        Raises
        ------
        NetworkError
            If there are dead islands and they may not be de-energised: lists their nodes.
        """
        while dead := self.dead(Z, at_rest, islands):
            if not self.deenergise:
                names = "; ".join(self._names(island) for island in dead[:10]) + "; ..." * (len(dead) > 10)
                raise NetworkError(f"island without a voltage source: {names}; de-energise it with deenergise=True "
                                   "(--deenergise)")
            islands, network = None, self.layout.network
            for k in (k for island in dead for k in island):
                Z[self._energised[k]] = 0.0
                for id in network.attached(network.nodes[k]):
                    for out in (id, *network.dependants(id)):
                        Z[self.layout.address(f"{out}.status")] = 0.0

    def _names(self, island: list[int]) -> str:
        names = [self.layout.instances[self.nodes[k]].id for k in island]
        return ", ".join(names[:10]) + f" and {len(names) - 10} more" * (len(names) > 10)
