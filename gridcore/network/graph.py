"""The graph of a case: what is connected by what, and what hangs on what.

It is made from the validated case before anything else, and the layout of the equations, the islands and the order in
which devices follow each other out of service are read from it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

from ..case import Instance, Named
from ..contract import Node


class Network:
    """What a case consists of, as graphs of its ids. ``gc.build(case).network``.

    A device that attaches to several nodes connects them one after the other, in the order of its ports: it is one edge
    from the first to the second, another from the second to the third, and so on. An edge has the key ``(id, port,
    port)``, so that those of one device differ, and the attributes ``device`` (its id) and ``model``.

    Parameters
    ----------
    instances : sequence of Instance
        The validated records, in the order of the case; no parameter's value is read, whether they are in service is.

    Raises
    ------
    CaseError
        If devices hang on each other in a ring.
    """

    def __init__(self, instances: Sequence[Instance]):
        self.instances = list(instances)
        self._by_id = Named("device", {instance.id: instance for instance in self.instances})
        self._terminals: Named[dict[str, str]] = Named("device", {
            i.id: {port: i.ports[port] for port in i.device.node_ports()} for i in self.instances})
        self._attached = Named("node", {i.id: list[str]() for i in self.instances if issubclass(i.device, Node)})
        self._guests: dict[str, list[str]] = {}
        for i in self.instances:
            for port, host in i.ports.items():
                (self._attached if port in self._terminals[i.id] else self._guests).setdefault(host, []).append(i.id)
        try:
            TopologicalSorter(self._guests).prepare()
        except CycleError as error:
            told = f"devices hang on each other in a ring: {', '.join(ring := error.args[1][1:])}"
            raise self._by_id[ring[0]].record.error(told) from None

    @cached_property
    def graph(self) -> Any:
        """A networkx.MultiGraph: nodes with the attribute ``model``, edges as above, both in the order of the case."""
        import networkx as nx  # here, for it is heavy, and a run needs no such graph

        made = nx.MultiGraph()
        made.add_nodes_from((id, {"model": self._by_id[id].model}) for id in self._attached)
        made.add_edges_from((a, b, (i.id, port, other), {"device": i.id, "model": i.model}) for i in self.instances
                            for (port, a), (other, b) in itertools.pairwise(self._terminals[i.id].items()))
        return made

    @property
    def nodes(self) -> list[str]:
        """Ids of the nodes, in the order of the case."""
        return list(self._attached)

    def terminals(self, id: str) -> dict[str, str]:
        """The nodes of a device by port, in the order of its ports."""
        return dict(self._terminals[id])

    def attached(self, node: str) -> list[str]:
        """Devices that attach to a node themselves, in the order of the case."""
        return list(self._attached[node])

    def dependants(self, id: str) -> list[str]:
        """Devices that hang on a device, directly or not: they go out of service with it. Nodes have none."""
        found = [self._by_id[id].id]
        for host in found:  # which grows
            found += [guest for guest in dict.fromkeys(self._guests.get(host, ())) if guest not in found]
        return found[1:]

    def couples(self, id: str) -> list[tuple[str, str]]:
        """Pairs of nodes that a device joins to one island: those of one class that follow each other at its ports.

        A converter between an AC bus and a DC node joins none: either side needs a source of its own.
        """
        if len(self._terminals[id]) < 2:
            return []
        by_kind: dict[type, list[str]] = {}
        for node in self._terminals[id].values():
            mro = self._by_id[node].device.__mro__
            by_kind.setdefault(mro[mro.index(Node) - 1], []).append(node)  # the class right below Node
        return [pair for nodes in by_kind.values() for pair in itertools.pairwise(nodes)]

    def islands(self, status: Mapping[str, bool] | None = None) -> list[list[str]]:
        """The nodes that devices in service connect, each island in the order of the case, the islands too.

        Parameters
        ----------
        status : mapping of str to bool, optional
            Whether a device is in service, of those where it is not as the case has it at t0. What hangs on a
            device is out of service with it.
        """
        import networkx as nx

        status = {self._by_id[id].id: on for id, on in (status or {}).items()}
        out = {i.id for i in self.instances if not status.get(i.id, i.in_service)}
        out |= {below for id in tuple(out) for below in self.dependants(id)}
        coupled = nx.Graph()
        coupled.add_nodes_from(self.graph)
        coupled.add_edges_from(pair for id in self._by_id if id not in out for pair in self.couples(id))
        place = {node: k for k, node in enumerate(self.graph)}
        return sorted((sorted(island, key=place.__getitem__) for island in nx.connected_components(coupled)),
                      key=lambda island: place[island[0]])
