"""The graph of a case, from which layout, dependants and islands are read: :class:`gridcore.network.graph.Network`."""
