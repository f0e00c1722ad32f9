"""Make networks with faults from NetworkX graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterError, as_integer, check_integer, short_repr
from .family import LARGEST_TABLED, CubeNetwork, Family, find_family, network
from .hypercube import Hypercube


def _label_bits(node: object) -> str | None:
    """Return a node that is a bit string, or a tuple of 0 and 1, as text; None for any other node."""
    if isinstance(node, str):
        text = node.removeprefix("0b")
    elif isinstance(node, tuple) and all(isinstance(x, (int, np.integer)) and x in (0, 1) for x in node):
        text = "".join(str(int(x)) for x in node)
    else:
        return None
    return text if text and not text.strip("01") else None


def _check_label(node: object) -> int:
    """Return an integer node as an int.  Raises ParameterError."""
    if as_integer(node) is None:
        raise ParameterError(f"nodes of graph must be integers, bit strings or tuples of bits, got {short_repr(node)}")
    return check_integer("nodes of graph", node, 0, 2**LARGEST_TABLED - 1)


def from_networkx(graph: Any, family: str | Family = "hypercube", *, n: int | None = None) -> CubeNetwork | Hypercube:
    """Return the network of a family whose nonfaulty nodes and links are the nodes and links of a graph.

    Parameters
    ----------
    graph : networkx.Graph
        An undirected graph.  Its nodes are ints, bit strings, or tuples of 0 and 1, the most significant bit first.
    family : str or Family
        A name of :func:`network_families`, or a family of your own.
    n : int, optional
        Number of bits of a label, at most 20.  By default the length of the bit strings or tuples, or of the largest int.

    Returns
    -------
    Hypercube or CubeNetwork
        Nodes missing from the graph are faulty, and so are missing links between two nodes of the graph.

    Raises
    ------
    ParameterError
        If the graph has a link that the family does not have, or nodes that are not labels.

    Examples
    --------
    >>> import networkx
    >>> graph = networkx.hypercube_graph(3)
    >>> graph.remove_node((0, 1, 1))
    >>> fc.from_networkx(graph)
    Hypercube(3, faulty_nodes=[0b011])
    """
    chosen = find_family(family, "family")
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")) or graph.is_directed():
        raise ParameterError(
            f"graph must be an undirected networkx.Graph, got an object of type {type(graph).__name__}"
        )
    labels: dict[Any, int] = {}
    lengths: set[int] = set()
    for node in graph.nodes:
        bits = _label_bits(node)
        if bits is None:
            labels[node] = _check_label(node)
        else:
            labels[node] = int(bits, 2)
            lengths.add(len(bits))
    if len(lengths) > 1:
        raise ParameterError(f"nodes of graph must be bit strings of one length, got {min(lengths)} and {max(lengths)}")
    if len(set(labels.values())) < len(labels):
        raise ParameterError("nodes of graph must be different labels, got one label twice")
    if n is None:
        if not labels:
            raise ParameterError("n must be given for a graph without nodes")
        n = min(lengths) if lengths else max(max(labels.values()).bit_length(), 1)
    n = check_integer("n", n, 1, LARGEST_TABLED, "for the nodes of graph")
    if lengths and n not in lengths:
        raise ParameterError(f"n must be {min(lengths)}, the number of bits of the nodes of graph, got {n}")
    without_faults = network(chosen, n)
    for node, label in labels.items():
        if label >= 2**n:
            raise ParameterError(f"nodes of graph must be in [0, {2**n - 1}] for n={n}, got {short_repr(node)}")
    present = set()
    for u, v in graph.edges():
        if not without_faults.is_link(labels[u], labels[v]):
            raise ParameterError(
                f"links of graph must be links of {chosen.name} for n={n}, got {short_repr(u)} - {short_repr(v)}"
            )
        present.add((min(labels[u], labels[v]), max(labels[u], labels[v])))
    nonfaulty = set(labels.values())
    links = ((v, w) for v in nonfaulty for w in without_faults.neighbours(v) if v < w and w in nonfaulty)
    return network(chosen, n, set(range(2**n)) - nonfaulty, [link for link in links if link not in present])
