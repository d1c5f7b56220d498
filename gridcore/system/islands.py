"""Islands under the modes of a system, and whether each of them can stand."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..contract.node import Bus
from ..equations.layout import Layout
from ..errors import NetworkError


class Islands:
    """The islands of a system under the modes in a buffer, and what becomes of dead ones.

    Parameters
    ----------
    layout : Layout
    deenergise : bool
        Take an island without a voltage source out of service, in place of an error.
    """

    def __init__(self, layout: Layout, deenergise: bool = False):
        self.layout, self.deenergise = layout, deenergise
        self.buses = [i for i, x in enumerate(layout.instances) if issubclass(x.device, Bus)]
        place = {i: k for k, i in enumerate(self.buses)}
        ends: list[tuple[int, int, int]] = []
        sources: list[tuple[int, int, bool]] = []
        self._touching: dict[int, list[int]] = {k: [] for k in range(len(self.buses))}
        for i, instance in enumerate(layout.instances):
            at = [place[layout.ports[i][port]] for port in instance.device.bus_ports()]
            ends += [(i, a, b) for a, b in itertools.pairwise(at)]
            if instance.device.source or instance.words.get("control") == "slack":
                sources += [(i, a, instance.device.source) for a in at[:1]]
            for a in at:
                self._touching[a].append(i)
        self._ends = np.array(ends, dtype=int).reshape(-1, 3)
        self._sources = np.array(sources, dtype=int).reshape(-1, 3)

    def _status(self, members: np.ndarray) -> np.ndarray:
        return np.array([self.layout.address(f"{self.layout.instances[i].id}.status") for i in members], dtype=int)

    @functools.cached_property
    def _at(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions in Z of the status of branches and of sources."""
        return self._status(self._ends[:, 0]), self._status(self._sources[:, 0])

    @functools.cached_property
    def _energised(self) -> np.ndarray:
        """Where the mode of each bus is."""
        layout = self.layout
        return np.array([layout.address(f"{layout.instances[i].id}.energised") for i in self.buses], dtype=int)

    def components(self, Z: np.ndarray) -> tuple[int, np.ndarray]:
        """Number of islands, and the island of each bus (in order of `buses`)."""
        closed = self._ends[Z[self._at[0]] == 1]
        n = len(self.buses)
        links = sp.coo_matrix((np.ones(len(closed)), (closed[:, 1], closed[:, 2])), shape=(n, n))
        count, island = connected_components(links, directed=False)
        return int(count), island

    def dead(self, Z: np.ndarray, at_rest: bool = False) -> list[list[int]]:
        """Energised islands without a voltage source in service: places in `buses`.

        For the power flow alone (`at_rest`) a slack of any kind is one.
        """
        if not self.buses:
            return []
        count, island = self.components(Z)
        holds = (Z[self._at[1]] == 1) & ((self._sources[:, 2] == 1) | at_rest)
        held = set(island[self._sources[holds, 1]])
        energised = Z[self._energised]
        return [[int(k) for k in np.flatnonzero((island == i) & (energised == 1))]
                for i in range(count) if i not in held and energised[island == i].any()]

    def settle(self, Z: np.ndarray, at_rest: bool = False) -> None:
        """De-energise dead islands in Z, or refuse them.

        Raises
        ------
        NetworkError
            If there are dead islands and they may not be de-energised: lists their buses.
        """
        dead = self.dead(Z, at_rest)
        if dead and not self.deenergise:
            names = "; ".join(self._names(island) for island in dead[:10]) + "; ..." * (len(dead) > 10)
            raise NetworkError(f"island without a voltage source: {names}; de-energise it with deenergise=True "
                               "(--deenergise)")
        for k in (k for island in dead for k in island):
            bus = self.layout.instances[self.buses[k]].id
            Z[self.layout.address(f"{bus}.energised")] = 0.0
            for i in self._touching[k]:
                for j in (i, *self.layout.dependants(i)):
                    Z[self.layout.address(f"{self.layout.instances[j].id}.status")] = 0.0

    def _names(self, island: list[int]) -> str:
        names = [self.layout.instances[self.buses[k]].id for k in island]
        return ", ".join(names[:10]) + f" and {len(names) - 10} more" * (len(names) > 10)
