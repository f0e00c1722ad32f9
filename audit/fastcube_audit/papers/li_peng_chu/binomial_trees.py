"""Binomial trees in hypercubes with faulty nodes: the greedy tree of interpretation B2, and a tree that is built by halves.

A cube is given by the bits of its dimensions, and a tree is a map node -> parent, whose root is its own parent.
"""

from collections.abc import Callable, Container

from fastcube.networks.network import descending_bits


def grow_tree(faults: Container[int], root: int, k: int, dims: int, highest: bool) -> tuple[dict[int, int], bool]:
    """Return a fault-free T_k(root) as a map node -> parent in insertion order, and whether it is complete.

    In each of k stages every node takes its highest or lowest free dimension; a node without one stops the tree.  With
    ``highest`` this is the tree of interpretation B2; the paper leaves the choice open.
    """
    tree = {root: root}
    for _ in range(k):
        for u in list(tree):
            free = (d for d in descending_bits(dims & ~(u ^ root)) if u ^ d not in tree and u ^ d not in faults)
            d = next(free, 0) if highest else min(free, default=0)
            if not d:
                return tree, False
            tree[u ^ d] = u
    return tree, True


def complete_tree(faults: Container[int], root: int, k: int, dims: int, highest: bool) -> dict[int, int] | None:
    """Return the tree of ``grow_tree``, or None where it is not complete."""
    tree, is_complete = grow_tree(faults, root, k, dims, highest)
    return tree if is_complete else None


def smallest_faults_where(
    n: int, k: int, is_wanted: Callable[[list[int] | None, frozenset[int]], bool], most: int | None = None
) -> list[int] | None:
    """Return a smallest fault set, of at most ``most`` nodes, for which the greedy tree T_k(0) of Q_n ``is_wanted``, or None.

    ``is_wanted`` gets the tree of interpretation B2 in insertion order (None when it cannot be completed) and the faults.  A
    fault matters only if the growing tree meets it, so faults are added in the order in which the tree meets them.
    """
    found: list[list[int]] = []

    def search(faults: frozenset[int], start: int) -> None:
        tree, is_complete = grow_tree(faults, 0, k, 2**n - 1, highest=True)
        order = list(tree)
        if is_wanted(order if is_complete else None, faults):
            found.append(sorted(faults))
        elif most is None or len(faults) < most:
            for j in range(start, len(order)):
                search(faults | {order[j]}, j)

    search(frozenset(), 1)
    return min(found, key=lambda f: (len(f), f), default=None)


def build_tree_by_halves(faults: Container[int], root: int, k: int, dims: int) -> dict[int, int]:
    """Return a fault-free T_k(root) in a k-safe cube of dimensions ``dims``, as a map node -> parent; the root is its own parent.

    The cube is cut along the dimension of a nonfaulty neighbour of the root.  Both halves are (k-1)-safe, and T_k consists of a
    T_(k-1) of either end.  ``docs/proofs.md`` shows that this is the paper's tree.
    """
    if k == 0:
        return {root: root}
    d = next(d for d in descending_bits(dims) if root ^ d not in faults)
    far = build_tree_by_halves(faults, root ^ d, k - 1, dims ^ d)
    return {**build_tree_by_halves(faults, root, k - 1, dims ^ d), **far, root ^ d: root}
