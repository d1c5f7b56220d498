"""The graph of a case: what is connected by what, and what hangs on what."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import networkx as nx

from ..case.validation import Instance
from ..contract.node import Bus


def graph(instances: Sequence[Instance]) -> nx.MultiGraph:
    """The network as a networkx multigraph.

    Buses are nodes with the ids of the devices that hang on them (``devices``); every device with
    two bus ports is an edge, its id the key.
    """
    network = nx.MultiGraph()
    network.add_nodes_from((i.id, {"devices": [], **i.values}) for i in instances if issubclass(i.device, Bus))
    for instance in instances:
        ports = [instance.ports[port] for port in instance.device.bus_ports()]
        if len(ports) == 1:
            network.nodes[ports[0]]["devices"].append(instance.id)
        for a, b in itertools.pairwise(ports):
            network.add_edge(a, b, key=instance.id, model=instance.device.__name__)
    return network
