"""Where nodes are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gridcore.equilibrium import as_system

if TYPE_CHECKING:
    from gridcore.case import Case, Instance
    from gridcore.equilibrium import Equilibrium

LARGEST = 250  # nodes whose distances are worth a time that grows with their square


def positions(system: Equilibrium | Case | str | Path) -> dict[str, tuple[float, float]]:
    """Where to draw each node of a system: as the case says (``position``), and the others where springs would hold
    them; where it says it of none, at distances that grow with the number of branches between, wider than high.

    T. Kamada, S. Kawai, "An algorithm for drawing general undirected graphs", Inf. Process. Lett. 31 (1989).

    Parameters
    ----------
    system : Equilibrium or Case or str or Path

    Returns
    -------
    dict of str to (float, float)
        By id, in the order of the case; to scale with each other, and of no unit.

    Raises
    ------
    CaseError
        If a position in the case is not two numbers.
    """
    import networkx as nx

    system = as_system(system)
    nodes, graph = system.network.nodes, nx.Graph(system.network.graph)
    given = {i.id: at for i in system.instances if i.id in graph and (at := _position(i)) is not None}
    if given or not 2 < len(graph) <= LARGEST or not nx.is_connected(graph):
        found = nx.spring_layout(graph, pos=given or None, fixed=list(given) or None, seed=1)
        return {node: given.get(node) or (float(found[node][0]), float(found[node][1])) for node in nodes}
    found = nx.kamada_kawai_layout(graph)
    xy = np.array([found[node] for node in nodes])
    xy -= xy.mean(axis=0)
    xy = xy @ np.linalg.svd(xy, full_matrices=False)[2].T  # a page is wider than high
    return {node: (x, y) for node, (x, y) in zip(nodes, xy.tolist(), strict=True)}


def _position(instance: Instance) -> tuple[float, float] | None:
    text = instance.words["position"]
    if not text:
        return None
    try:
        x, y = (float(word) for word in text.replace(",", " ").split())
    except ValueError:
        raise instance.record.error(f"'{text}' must be two numbers, \"3.5 2\"", "position") from None
    return x, y
