"""Examples for Sui, Wang & Lee: the spanning trees of the figures as interpreted here, and broadcasts on them."""

from fastcube.algorithms.spanning import edge_disjoint_spanning_trees
from fastcube.networks.hypercube import Hypercube
from fastcube.plot.network_drawing import Drawing

from ...examples import Example, examples_of
from .bases import heights_python


def _trees(
    description: str, n: int, faulty: tuple[int, ...], pivoted: bool, value: list[list[int]], which: slice = slice(None)
) -> Example:
    """Return the example of some trees around 0: the parents of nodes 0, 1, ..., -1 for the root and -2 for a faulty node."""
    cube = Hypercube(n, faulty)
    network = f"fc.Hypercube({n}{f', {list(faulty)}' if faulty else ''})"
    call = f"fc.edge_disjoint_spanning_trees({network}, 0{', pivoted=True' if pivoted else ''})"
    cut = "" if which == slice(None) else f"[{which.start or ''}:{'' if which.stop is None else which.stop}]"
    drawn = []
    every = edge_disjoint_spanning_trees(cube, 0, pivoted=pivoted).tolist()
    for i in range(len(every))[which]:
        arrows = ((p, v, str((p ^ v).bit_length() - 1)) for v, p in enumerate(every[i]) if p >= 0)
        drawn.append(Drawing(cube, arrows=tuple(arrows), caption=f"tree {i}, with the dimension of each link"))
    return Example(description, f"{call}{cut}.tolist()", value, tuple(drawn))


def figure_1() -> Example:
    """Return the example of Johnsson and Ho's three trees of Q_3 (interpretation S1)."""
    value = [[-1, 0, 3, 1, 5, 1, 7, 3], [-1, 3, 0, 2, 6, 7, 2, 6], [-1, 5, 6, 7, 0, 4, 4, 5]]
    return _trees("three edge-disjoint spanning trees of Q_3", 3, (), False, value)


def figure_2() -> Example:
    """Return the example of a broadcast on these trees, which takes ceil(M/n) + n = 4 steps."""
    return Example(
        "steps of 3 packets on the three trees of Q_3", "fc.broadcast_packets(fc.Hypercube(3), 0, packets=3)", 4
    )


def figure_3() -> Example:
    """Return the example of the same trees with the link at the old root reversed (interpretation S2)."""
    value = [[1, -1, 3, 1, 5, 1, 7, 3], [2, 3, -1, 2, 6, 7, 2, 6], [4, 5, 6, 7, -1, 4, 4, 5]]
    return _trees("three pivoted edge-disjoint spanning trees of Q_3", 3, (), True, value)


def lemma_2() -> Example:
    """Return the example of a dimension permutation pi: position i from the left takes the bit of dimension pi(i)."""
    python = "''.join(format(0b00101, '05b')[fc.Hypercube(5).n - 1 - k] for k in (2, 0, 4, 3, 1))"
    return Example("node 00101 after the dimension permutation [2 0 4 3 1]", python, "11000")


def figure_4() -> Example:
    """Return the example of the base trees for the faulty node 100 (interpretation S7)."""
    value = [[1, -1, 3, 1, -2, 1, 7, 5], [2, 3, -1, 2, -2, 7, 2, 6]]
    return _trees("Q'_3 with H(f,s) = 1, heights 3 and 3", 3, (0b100,), True, value)


def figure_5() -> Example:
    """Return the example of the base trees for the faulty node 110 (interpretation S7)."""
    value = [[1, -1, 3, 1, 5, 1, -2, 5], [2, 3, -1, 2, 0, 4, -2, 3]]
    return _trees("Q'_3 with H(f,s) = 2, heights 2 and 3", 3, (0b110,), True, value)


def figure_6() -> Example:
    """Return the example of the base trees for the faulty node 111 (interpretation S7)."""
    value = [[1, -1, 3, 1, 5, 1, 4, -2], [2, 3, -1, 2, 0, 4, 2, -2]]
    return _trees("Q'_3 with H(f,s) = 3, heights 3 and 3", 3, (0b111,), True, value)


def figure_7() -> Example:
    """Return the example of trees of Q'_4 made of pivoted trees of Q_3 and base trees, joined at s_0, s'_0 and s_1, s'_1."""
    value = [
        [1, -1, 3, 1, 5, 1, 7, 3, 9, 1, 11, 9, -2, 9, 15, 13],
        [2, 3, -1, 2, 6, 7, 2, 6, 10, 11, 2, 10, -2, 15, 10, 14],
    ]
    return _trees("steps 1 to 3 for Q'_4, f = 1100", 4, (0b1100,), True, value, slice(0, 2))


def figure_8() -> Example:
    """Return the example of the last tree of Q'_4: s'_0 and s'_1 are children of s', the other nodes of Q'_3 of those in Q_3."""
    value = [[4, 5, 6, 7, -1, 4, 4, 5, 0, 8, 8, 3, -2, 5, 6, 7]]
    return _trees("steps 4 to 6 for Q'_4, f = 1100", 4, (0b1100,), True, value, slice(2, None))


def figure_9() -> Example:
    """Return the example of trees of Q'_4 whose faulty node is s', the source of the upper half."""
    value = [
        [1, -1, 3, 1, 5, 1, 7, 3, -2, 1, 11, 9, 13, 9, 15, 11],
        [2, 3, -1, 2, 6, 7, 2, 6, -2, 11, 2, 10, 14, 15, 10, 14],
        [4, 5, 6, 7, -1, 4, 4, 5, -2, 13, 14, 15, 4, 12, 12, 13],
    ]
    return _trees("steps 1 to 4 for Q'_4, f = 1000", 4, (0b1000,), True, value)


def lemma_5() -> Example:
    """Return the example of tree heights, the greatest numbers of links from the root to a node."""
    call = "fc.edge_disjoint_spanning_trees(fc.Hypercube(4, [f]), 0, pivoted=True).tolist()"
    *lines, heights = heights_python(f"[t for f in (8, 12, 14, 15) for t in {call}]").split("\n")
    python = "\n".join([*lines, f"h = {heights}", "[h[i : i + 3] for i in (0, 3, 6, 9)]"])
    description = "heights of the three light trees of Q'_4 for f = 1000, 1100, 1110 and 1111: n - 1 once, for 1110"
    return Example(description, python, [[4, 4, 4], [4, 4, 4], [3, 4, 4], [4, 4, 4]], form="{0}; {1}; {2}; {3}")


def theorem_2() -> Example:
    """Return the example of broadcasts of M = 1, 3, 4, 6 and 7 packets."""
    description = "steps in Q'_4, f = 1000, of M = 1, 3, 4, 6 and 7 packets: ceil(M/3) + 4"
    return Example(
        description,
        "[fc.broadcast_packets(fc.Hypercube(4, [8]), 0, packets=M) for M in (1, 3, 4, 6, 7)]",
        [5, 5, 6, 6, 7],
    )


def no_redundant() -> Example:
    """Return the example of the number of parents of a node in n - 1 trees, all of them different."""
    parents = "sorted({sum(p[v] >= 0 for p in t) for v in range(1, 16) if v != 12})"
    links = "len({(p[v], v) for p in t for v in range(16) if p[v] >= 0})"
    python = f"t = fc.edge_disjoint_spanning_trees(fc.Hypercube(4, [12]), 0).tolist()\n[{parents}, {links}]"
    description = (
        "Q'_4, f = 1100: trees that reach a node, each with its own packets, and the directed links that "
        "they use, 3 * 14"
    )
    return Example(description, python, [[3], 42], form="{0[0]} trees, {1} links")


EXAMPLES = examples_of(globals())
