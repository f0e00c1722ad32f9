"""Edge-disjoint spanning trees of one hypercube (Sui, Wang & Lee), broadcasts of packets on them, and Edmonds' number.

A cube without faults has n such trees around a source s (Johnsson & Ho), a cube with one faulty node n - 1 (Algorithm A).  For
any other fault set their number is the edge connectivity of the nonfaulty graph (Edmonds).  Trees are directed away from their
root, and edge-disjoint means that they share no directed link.  Interpretations S1-S11.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, check_flag, check_integer, check_range
from ..networks.hypercube import Hypercube, check_cube
from ..networks.network import Link, require_listed_faults
from .registry import Algorithms, check_end
from .spanning_flows import NonfaultyGraph

#: Largest n for n light trees of 2^n parents each, which take 1.5 GB.
LARGEST_LIGHT = 23
#: Largest n for computations on the whole nonfaulty graph: flows on integers of 2^n bits.
LARGEST_GRAPH = 20
#: Largest n for packing trees, which takes about n 2^n flows, one per arc.
LARGEST_PACKED = 10

#: Entries of a tree's array that are not parents.
ROOT, ABSENT = -1, -2

Trees = NDArray[np.int64]

TREES: Algorithms[Trees] = Algorithms("edge_disjoint_spanning_trees", network="cube")
HEIGHTS: Algorithms[Iterable[int]] = Algorithms("broadcast_packets", network="cube", choice="trees")


def edge_disjoint_spanning_trees(cube: Hypercube, s: int, pivoted: bool = False, algorithm: str = "light") -> Trees:
    """Return edge-disjoint spanning trees of the nonfaulty nodes around a source.

    Parameters
    ----------
    cube : Hypercube
        With listed faults.
    s : int
        Label of a nonfaulty node.
    pivoted : bool
        If True, return the paper's pivoted and light trees, each rooted at a neighbour of s, instead of trees rooted at s.
    algorithm : str
        ``light`` (default): Johnsson and Ho's n trees without faults, or the n - 1 light trees of Algorithm A with one
        faulty node; n <= 23.  ``edmonds``: any faulty nodes and links, the largest possible number of trees, all rooted
        at s; n <= 10.  It is not specified which of several largest sets is returned.

    Returns
    -------
    int64 array of shape (trees, 2^n)
        Parents of every node in every tree, -1 at the root, -2 at a faulty node.

    Raises
    ------
    ParameterError
        If n is too large, or ``light`` gets a faulty link or more than one faulty node.

    Notes
    -----
    ``light``: O(2^n n^2) time, 0.1 s at n = 16, 4 s at n = 20.  ``edmonds``: one flow per arc of the nonfaulty graph, 0.7 s
    at n = 8, 7 s at n = 10.

    Examples
    --------
    >>> fc.edge_disjoint_spanning_trees(fc.Hypercube(2), 0)  # the first tree reaches 3 by 1, the second by 2
    array([[-1,  0,  3,  1],
           [-1,  3,  0,  2]])
    """
    chosen = TREES.choose(cube, algorithm, {"pivoted": True} if check_flag("pivoted", pivoted) else {})
    s = check_end(cube, "s", s)
    require_listed_faults(cube)
    return chosen(cube, s)


def broadcast_packets(cube: Hypercube, s: int, packets: int, trees: str = "edst") -> int | None:
    """Return the number of steps until every nonfaulty node holds all packets sent from s (S8, S10).

    A node uses all its links at once.  Each directed link carries one packet per step.  With k trees, packet p is sent on tree
    p mod k.

    Parameters
    ----------
    cube : Hypercube
        With listed faults.
    s : int
        Label of a nonfaulty node.
    packets : int
        Number of packets, 1 or more.
    trees : str
        ``edst`` (default): the trees of :func:`edge_disjoint_spanning_trees`.  ``edmonds``: the same with
        ``algorithm="edmonds"``.
        ``binomial``: one tree, in which the parent of v clears the highest set bit of v ^ s; without faults only.
        ``bfs``: one shortest-path tree, n <= 20.

    Returns
    -------
    int or None
        The steps, 0 if the source is the only nonfaulty node; None if ``bfs`` or ``edmonds`` find no tree.

    Notes
    -----
    Trees without a common directed link do not delay each other, and packet q of a tree (from 0) reaches depth h in step q + h.
    So the result is the maximum over the trees of (packets on the tree) - 1 + (height of the tree).

    Examples
    --------
    >>> fc.broadcast_packets(fc.Hypercube(3), 0, packets=1, trees="binomial")  # the last node is 3 links away
    3
    >>> fc.broadcast_packets(fc.Hypercube(3), 0, packets=100, trees="edst")  # three trees share the packets
    37
    """
    chosen = HEIGHTS.choose(cube, trees)
    s = check_end(cube, "s", s)
    packets = check_integer("packets", packets, 1, 2**62)
    if 2**cube.n - len(require_listed_faults(cube)) == 1:
        return 0
    heights = list(chosen(cube, s))
    return _pipelined_steps(heights, packets) if heights else None


def max_edge_disjoint_trees(cube: Hypercube) -> int:
    """Return Edmonds' number: the largest number of edge-disjoint spanning trees of the nonfaulty nodes, for any root.

    Parameters
    ----------
    cube : Hypercube
        With listed faults and at least two nonfaulty nodes; n <= 20.

    Returns
    -------
    int
        The edge connectivity of the graph of nonfaulty nodes and links, 0 if it is disconnected.

    Notes
    -----
    Bitmasks of 2^n nodes limit n.  n^2 of them are combined to show that no cut has fewer links than the smallest degree.  The
    few nodes for which this fails need one flow each.  1 to 10 ms at n = 12, 1 s at n = 16, a minute at n = 20 with a quarter of
    the nodes faulty.

    Examples
    --------
    >>> fc.max_edge_disjoint_trees(fc.Hypercube(4, faulty_nodes=[1]))  # node 0 has three nonfaulty links
    3
    """
    return _nonfaulty_graph(cube).minimum_edge_cut().size


def minimum_edge_cut(cube: Hypercube) -> list[Link]:
    """Return the smallest set of links whose removal disconnects the nonfaulty nodes.

    Parameters are as in :func:`max_edge_disjoint_trees`, which returns the number of these links.  The result is a sorted list of
    pairs (u, v), u < v, and empty if the nonfaulty nodes are already disconnected.

    Examples
    --------
    >>> fc.minimum_edge_cut(fc.Hypercube(3, faulty_nodes=[1]))  # the nonfaulty links of node 0
    [(0, 2), (0, 4)]
    """
    graph = _nonfaulty_graph(cube)
    return graph.list_cut(graph.minimum_edge_cut().side)


@TREES.register(Hypercube, "light", options={"pivoted": None}, default=True)
def light_trees(cube: Hypercube, s: int, pivoted: bool = False) -> Trees:
    """Return the trees of ``algorithm="light"`` as rows of parents; see ``edge_disjoint_spanning_trees``."""
    rows = list(_light_rows(cube, s, pivoted))
    return np.stack(rows) if rows else np.empty((0, 2**cube.n), np.int64)


def _light_rows(cube: Hypercube, s: int, pivoted: bool = False) -> Iterator[Trees]:
    """Return the trees one by one.  Raises ParameterError at once for too many faults."""
    n, faults = cube.n, sorted(require_listed_faults(cube))
    if len(faults) > 1 or cube.faulty_links:
        found = f"{len(faults)} faulty nodes" if len(faults) > 1 else f"{len(cube.faulty_links)} faulty links"
        raise ParameterError(
            'cube must have at most one faulty node and no faulty link for algorithm="light", '
            f'got {found}; algorithm="edmonds" takes any'
        )
    check_range("n", n, 1, LARGEST_LIGHT, "for 2^n n entries of memory")
    if not faults:
        return (_translate_tree(_johnsson_ho_tree(n, i, pivoted), s) for i in range(n))
    return _trees_around_fault(n, s, faults[0], pivoted)


def _trees_around_fault(n: int, s: int, fault: int, pivoted: bool) -> Iterator[Trees]:
    """Yield the n - 1 light trees around s with one faulty node."""
    dims = position_dimensions(n, s, fault)
    labels = np.full(1, s, np.int64)  # labels of the nodes in canonical position (S4)
    for k in dims:
        labels = np.concatenate([labels, labels ^ (1 << k)])
    for i in range(n - 1):
        canonical = light_tree(n, (s ^ fault).bit_count(), i)
        tree = np.empty(2**n, np.int64)
        tree[labels] = np.where(canonical < 0, canonical, labels[canonical])
        if not pivoted:  # reverse the link from the root to s
            tree[s], tree[s ^ 1 << dims[i]] = ROOT, s
        yield tree


def _translate_tree(tree: Trees, s: int) -> Trees:
    """Return the tree with every label replaced by its XOR with s."""
    moved: Trees = tree[np.arange(tree.size) ^ s]
    moved[moved >= 0] ^= s
    return moved


def position_dimensions(n: int, s: int, fault: int) -> list[int]:
    """Return the dimension that is moved to each position, from position 0 (S4).

    The bits in which s and the faulty node differ go to the top, highest first.  The other bits follow, highest first.
    """
    return sorted(range(n), key=lambda k: ((s ^ fault) >> k & 1, k))


def _johnsson_ho_tree(n: int, i: int, pivoted: bool) -> Trees:
    """Return Johnsson and Ho's tree i, rooted at 0 (S1), or its pivoted form, rooted at 2^i (S2)."""
    v = np.arange(2**n, dtype=np.int64)
    last = v & (1 << i)
    for k in range(i + 1, i + n):  # the set bit that comes last in the order i, i+1, ..., i-1
        bit = 1 << k % n
        last[(v & bit) > 0] = bit
    last[(v & (1 << i)) == 0] = 1 << i
    parent: Trees = v ^ last
    parent[0], parent[1 << i] = (1 << i, ROOT) if pivoted else (ROOT, 0)
    return parent


def light_tree(n: int, d: int, i: int) -> Trees:
    """Return light tree i of Q'_n, whose faulty node is 1^d 0^(n-d) and whose source is 0 (Algorithm A; S3, S5, S9).

    The tree is rooted at 2^i.  Needs 1 <= d <= n and 0 <= i <= n - 2, which is not checked.
    """
    tree = np.full(2**n, ABSENT, np.int64)
    start = 0  # the smallest label of the current subcube, Q'_m
    for m in range(n, 1, -1):
        top, inner = start + (1 << m - 1), _johnsson_ho_tree(m - 1, i, True)
        tree[start:top] = inner + start  # the paper's tree ST_i
        tree[start + (1 << i)] = ROOT if start == 0 else start - (1 << m) + (1 << i)  # step 3: below s_i
        upper = slice(top, top + (1 << m - 1))
        if d == 1:  # case B, in which s' is faulty
            tree[upper] = inner + top
            tree[top], tree[top + (1 << i)] = ABSENT, start + (1 << i)
            break
        if i == m - 2:  # the last tree differs
            tree[upper] = np.arange(start, top)  # step 6 of Algorithm A
            tree[[top + (1 << j) for j in range(m - 2)]] = top  # step 5 of Algorithm A
            tree[start + (1 << m) - (1 << m - d)] = ABSENT
            break
        start, d = top, d - 1
    return tree


@TREES.register(Hypercube, "edmonds")
def edmonds_trees(cube: Hypercube, s: int) -> Trees:
    """Return the trees of ``algorithm="edmonds"`` as rows of parents; see ``edge_disjoint_spanning_trees``."""
    check_integer("n", cube.n, 1, LARGEST_PACKED, 'for algorithm="edmonds"')
    trees = _nonfaulty_graph(cube).pack_trees(s)
    return np.array(trees, np.int64).reshape(-1, 2**cube.n)


def _nonfaulty_graph(cube: Hypercube) -> NonfaultyGraph:
    """Return the nonfaulty graph.  Raises ParameterError for a large cube, or one with fewer than two nonfaulty nodes."""
    check_cube(cube)
    faults = require_listed_faults(cube)
    check_integer("n", cube.n, 1, LARGEST_GRAPH, "where all 2^n nodes are looked at")
    if len(faults) > 2**cube.n - 2:
        raise ParameterError(
            f"cube must have two nonfaulty nodes at least: any number of trees spans fewer, got {2**cube.n - len(faults)}"
        )
    return NonfaultyGraph(cube)


def depths(tree: Trees) -> NDArray[np.int64]:
    """Return the depth of every node of a tree, 0 for absent nodes."""
    v = np.arange(tree.size)
    up = np.where(tree < 0, v, tree)
    depth: NDArray[np.int64] = (up != v).astype(np.int64)
    while (up[up] != up).any():  # up[v] is 1, 2, 4, ... links above v or the root, and depth[v] counts these links
        depth += depth[up]
        up = up[up]
    return depth


def height(tree: Trees) -> int:
    """Return the greatest depth of a tree's nodes."""
    return int(depths(tree).max())


def _pipelined_steps(heights: list[int], packets: int) -> int:
    """Return the steps of a broadcast whose packets are sent in turn on edge-disjoint trees of these heights."""
    packets_on_tree = [(packets - i + len(heights) - 1) // len(heights) for i in range(len(heights))]
    return max(count - 1 + height for count, height in zip(packets_on_tree, heights, strict=True) if count)


@HEIGHTS.register(Hypercube, "edst", default=True)
def _heights_edst(cube: Hypercube, s: int) -> Iterable[int]:
    return map(height, _light_rows(cube, s))


@HEIGHTS.register(Hypercube, "binomial")
def _heights_binomial(cube: Hypercube, s: int) -> Iterable[int]:
    if cube.faulty_nodes or cube.faulty_links:
        raise ParameterError(f'cube must have no fault for trees="binomial", got {cube!r}')
    return [cube.n]


@HEIGHTS.register(Hypercube, "bfs")
def _heights_bfs(cube: Hypercube, s: int) -> Iterable[int]:
    graph = _nonfaulty_graph(cube)
    layers = list(graph.iter_layers(1 << s))
    return [len(layers) - 1] if sum(layer.bit_count() for layer in layers) == graph.nodes.bit_count() else []


@HEIGHTS.register(Hypercube, "edmonds")
def _heights_edmonds(cube: Hypercube, s: int) -> Iterable[int]:
    return map(height, edmonds_trees(cube, s))
