"""All trees that the paper's missing Figures 4 to 6 could show, and Algorithm A applied to them (interpretations S6, S7, S12).

The source is 0 and the faulty node 1^d 0^(n-d).  A tree is a tuple of the parents of nodes 0, 1, ...: -1 for the root, -2 for the
faulty node.  A base is a pair of trees of Q'_3, rooted at 1 and 2, that keep the invariants of interpretation S6 and have the
printed heights: 2 and 3 for d = 2, else 3 and 3.  The trees of Q'_n come from the base of distance d - (n - 3), if that is at
least 1.
"""

import functools
import itertools
from collections.abc import Iterator

Tree = tuple[int, ...]
Trees = tuple[Tree, ...]

#: The base trees that the library uses, by d (interpretation S7).
S7: dict[int, Trees] = {
    1: ((1, -1, 3, 1, -2, 1, 7, 5), (2, 3, -1, 2, -2, 7, 2, 6)),
    2: ((1, -1, 3, 1, 5, 1, -2, 5), (2, 3, -1, 2, 0, 4, -2, 3)),
    3: ((1, -1, 3, 1, 5, 1, 4, -2), (2, 3, -1, 2, 0, 4, 2, -2)),
}


def faulty_node(n: int, d: int) -> int:
    """Return the node 1^d 0^(n-d)."""
    return (1 << n) - (1 << n - d)


def depth(tree: Tree, v: int) -> int:
    """Return the number of links from the root to node ``v``; greater than the number of nodes if the parents form a cycle."""
    links = 0
    while tree[v] >= 0 and links <= len(tree):
        v = tree[v]
        links += 1
    return links


def depths(tree: Tree) -> list[int] | None:
    """Return the depth of each node of a tree, in the order of labels, or None if the parents form a cycle."""
    out = [depth(tree, v) for v, parent in enumerate(tree) if parent != -2]
    return None if max(out) > len(tree) else out


def height(tree: Tree) -> int:
    """Return the greatest depth in a tree."""
    return max(depths(tree) or [len(tree)])


def reroot_trees(trees: Trees) -> Trees:
    """Return the trees T_i with the link between the root and the source 0, its child, reversed: the source becomes the root."""
    out = []
    for i, tree in enumerate(trees):
        parents = list(tree)
        parents[0], parents[1 << i] = -1, 0
        out.append(tuple(parents))
    return tuple(out)


def arcs(tree: Tree) -> set[tuple[int, int]]:
    """Return the directed links (parent, child) of a tree."""
    return {(parent, v) for v, parent in enumerate(tree) if parent >= 0}


def _spanning(root: int, fault: int) -> Iterator[Tree]:
    """Yield the trees that span the nonfaulty nodes of Q'_3 from ``root``; 0 is its child and not the parent of 1 or 2 (S6)."""
    others = [v for v in range(1, 8) if v not in (root, fault)]
    choices = [[v ^ 1 << k for k in range(3) if v ^ 1 << k != fault and (v ^ 1 << k or v == 4)] for v in others]
    for parents in itertools.product(*choices):
        tree = [-2] * 8
        tree[root], tree[0] = -1, root
        for v, parent in zip(others, parents, strict=True):
            tree[v] = parent
        if depths(tuple(tree)) is not None:
            yield tuple(tree)


@functools.cache
def bases(d: int) -> tuple[Trees, ...]:
    """Return all bases for distance d, in lexicographic order."""
    wanted = (2 if d == 2 else 3, 3)
    first, second = ([t for t in _spanning(1 << i, faulty_node(3, d)) if height(t) == wanted[i]] for i in (0, 1))
    return tuple((one, other) for one in first for other in second if not arcs(one) & arcs(other))


def pivoted_tree(n: int, i: int) -> Tree:
    """Return the tree i of Johnsson and Ho in Q_n with its first link reversed (interpretations S1 and S2)."""
    tree = [-1] * 2**n
    for v in range(1, 2**n):
        if not v >> i & 1:
            tree[v] = v | 1 << i
        elif v != 1 << i:
            last = next(k for k in ((i - 1 - j) % n for j in range(n)) if v >> k & 1)
            tree[v] = v ^ 1 << last
    tree[0] = 1 << i
    return tuple(tree)


@functools.cache
def algorithm_a(n: int, d: int, base: Trees | None) -> Trees:
    """Return the n - 1 light trees of Q'_n, n >= 3; ``base`` has the trees of Q'_3 at which the recursion of case A ends."""
    if n == 3:
        return base or ()
    half = 2 ** (n - 1)
    low = [pivoted_tree(n - 1, i) for i in range(n - 1)]
    if d == 1:  # case B: the faulty node is the source of the upper half
        high = [tuple(-2 if v == 0 else -1 if parent == 0 else parent for v, parent in enumerate(t)) for t in low]
        return tuple(_join_trees(low[i], high[i], 1 << i, half) for i in range(n - 1))
    high = list(algorithm_a(n - 1, d - 1, base))
    trees = [_join_trees(low[i], high[i], 1 << i, half) for i in range(n - 2)]
    last = list(low[n - 2]) + [v if half | v != faulty_node(n, d) else -2 for v in range(half)]
    for i in range(n - 2):
        last[half | 1 << i] = half
    return (*trees, tuple(last))


def _join_trees(low: Tree, high: Tree, at: int, half: int) -> Tree:
    """Return one tree from the trees of both halves: ``at`` becomes the parent of the root of the upper one."""
    above = [at if parent == -1 else parent if parent < 0 else parent | half for parent in high]
    return (*low, *above)


def base_of(n: int, d: int, choice: dict[int, Trees]) -> Trees | None:
    """Return the base in ``choice`` from which the trees of Q'_n at distance d come, or None if the recursion ends in case B."""
    return choice.get(d - (n - 3))


def tree_heights(n: int, d: int, choice: dict[int, Trees]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the heights of the light trees with their pivots as roots, and with the source as root."""
    trees = algorithm_a(n, d, base_of(n, d, choice))
    return tuple(map(height, trees)), tuple(map(height, reroot_trees(trees)))


def enumerate_bases() -> Iterator[dict[int, Trees]]:
    """Yield every choice of bases of Q'_3, one for each d."""
    return ({1: a, 2: b, 3: c} for a, b, c in itertools.product(*(bases(d) for d in (1, 2, 3))))


def heights_python(trees: str) -> str:
    """Return lines of Python for the heights of trees; ``trees`` is an expression for lists of parents.

    In each round the depth of a node becomes one more than that of its parent, so as many rounds as nodes are enough.
    """
    return "\n".join(
        [
            f"trees = {trees}",
            "depths = [[0] * len(t) for t in trees]",
            "rounds = [depths := [[0 if p < 0 else 1 + d[p] for p in t] for t, d in zip(trees, depths)] for _ in trees[0]]",
            "[max(d) for d in rounds[-1]]",
        ]
    )


def arcs_python(trees: str) -> str:
    """Return lines of Python for the numbers of directed links of such trees, and of different ones among them."""
    return f"arcs = [(p, v) for t in {trees} for v, p in enumerate(t) if p >= 0]\n[len(arcs), len(set(arcs))]"
