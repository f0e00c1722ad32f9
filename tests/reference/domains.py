"""Failure domains with NetworkX, from interpretation N13 alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import NamedTuple

import networkx as nx

from . import networks


class Outcome(NamedTuple):
    """One side of a trial (N5); ``st_connected`` is None where no pair is sampled."""

    connected: bool
    no_isolated_node: bool
    extra_1: bool
    st_connected: bool | None


def list_domains(domain: str, name: str, n: int) -> list[set[int]]:
    """The domains in the order of their numbers: the nodes of each board, or of the row of each switch."""
    if domain != "switch":
        size = int(domain.split("-")[1])
        return [set(range(first, first + size)) for first in range(0, 2**n, size)]
    base = int(name.split("-")[1])
    digits = n // (base.bit_length() - 1)
    rows = []
    for i in range(digits):
        for others in itertools.product(range(base), repeat=digits - 1):
            values = others[::-1]  # the lowest digit changes fastest
            at = [(*values[:i], x, *values[i:]) for x in range(base)]
            rows.append({sum(value * base**j for j, value in enumerate(label)) for label in at})
    return rows


def evaluate(
    name: str, n: int, faulty: Iterable[int], rows: Iterable[set[int]] = (), pair: tuple[int, int] | None = None
) -> Outcome:
    """The outcome with faulty nodes, and without the links inside rows whose switches have failed."""
    graph = nx.Graph(map(tuple, networks.links(name, n)))
    graph.add_nodes_from(range(2**n))
    for row in rows:
        graph.remove_edges_from(itertools.combinations(row, 2))
    graph.remove_nodes_from(list(faulty))
    parts = list(nx.connected_components(graph))
    isolated = nx.number_of_isolates(graph) > 0
    joined = None if pair is None else nx.has_path(graph, *pair)
    return Outcome(len(parts) == 1, not isolated, len(parts) > 1 and not isolated, joined)


def quotient(n: int, size: int, boards: Iterable[int]) -> bool:
    """Whether Q_n without boards is connected, asked of the cube of boards."""
    bits = size.bit_length() - 1
    cube = nx.hypercube_graph(n - bits) if n > bits else nx.empty_graph(1)
    label = {g: tuple(g >> i & 1 for i in range(n - bits)) if n > bits else 0 for g in range(2 ** (n - bits))}
    cube.remove_nodes_from([label[g] for g in boards])
    return len(cube) > 0 and nx.is_connected(cube)
