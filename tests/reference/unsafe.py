"""Unsafe nodes in plain Python: Lee & Hayes (1988), section 3.2, Figure 5, section 5 and the appendix.

Labels are integers, sets are sets; nothing is fast.  Interpretations of the paper, which the compiled code follows too:

R1  FIND_UNSAFE is synchronous: in step t = 1, 2, ... a nonfaulty, unmarked node is marked iff at least two of
    its neighbours are faulty or were marked in steps before t.  ``rounds`` is the last step that marks a node,
    0 if none does.  It runs to the fixed point (Figure 5 stops after B_n steps, which is not always enough).
R2  The nonfaulty end nodes of a faulty link are marked in step 1, also when the link's other end is faulty.
R3  The faulty and unsafe nodes form maximal subcubes at pairwise distance at least three, where a faulty node
    by itself is a subcube of dimension 0.  Equivalent construction: start from the faulty nodes and the faulty
    links, and merge subcubes at distance at most two into their smallest enclosing subcube until none are left.
"""

from __future__ import annotations

from collections.abc import Iterable

Link = tuple[int, int]
Subcube = tuple[int, int]  # (base, free): the nodes that agree with base outside free; base & free == 0


def neighbours(n: int, x: int) -> list[int]:
    """The n nodes whose labels differ from x in one bit."""
    return [x ^ (1 << i) for i in range(n)]


def find_unsafe(
    n: int, faulty_nodes: Iterable[int] = (), faulty_links: Iterable[Link] = (), steps: int | None = None
) -> dict[int, int]:
    """The step in which each unsafe node is marked (R1, R2).

    ``steps`` stops FIND_UNSAFE early, as Figure 5 does after B_n.
    """
    faulty = set(faulty_nodes)
    ends = {end for link in faulty_links for end in link}
    marked: dict[int, int] = {}
    step = 0
    while steps is None or step < steps:
        step += 1
        bad = faulty | marked.keys()
        now = [
            x
            for x in range(2**n)
            if x not in bad and (sum(y in bad for y in neighbours(n, x)) >= 2 or (step == 1 and x in ends))
        ]
        if not now:
            break
        for x in now:
            marked[x] = step
    return marked


def rounds(n: int, faulty_nodes: Iterable[int] = (), faulty_links: Iterable[Link] = ()) -> int:
    """The last step that marks a node, 0 if none does (R1)."""
    return max(find_unsafe(n, faulty_nodes, faulty_links).values(), default=0)


def is_unsafe(n: int, faulty_nodes: Iterable[int] = (), faulty_links: Iterable[Link] = ()) -> bool:
    """Whether Q_n is unsafe: no node is active."""
    faulty = set(faulty_nodes)
    return len(faulty) + len(find_unsafe(n, faulty, faulty_links)) == 2**n


# ---------------------------------------------------------------- subcubes (R3)


def nodes(n: int, cube: Subcube) -> set[int]:
    """The nodes of a subcube."""
    base, free = cube
    return {x for x in range(2**n) if x & ~free == base}


def distance(a: Subcube, b: Subcube) -> int:
    """Number of dimensions in which one subcube is fixed to 0 and the other to 1 (section 2)."""
    return ((a[0] ^ b[0]) & ~(a[1] | b[1])).bit_count()


def enclosing(a: Subcube, b: Subcube) -> Subcube:
    """Smallest subcube that contains both."""
    free = a[1] | b[1] | (a[0] ^ b[0])
    return a[0] & ~free, free


def subcubes(faulty_nodes: Iterable[int] = (), faulty_links: Iterable[Link] = ()) -> set[Subcube]:
    """The maximal subcubes of faulty and unsafe nodes, by merging; memory in proportion to the faults (R3)."""
    family = {(x, 0) for x in faulty_nodes} | {(u & v, u ^ v) for u, v in faulty_links}
    while True:
        close = next(((a, b) for a in family for b in family if a < b and distance(a, b) <= 2), None)
        if close is None:
            return family
        family -= set(close)
        family.add(enclosing(*close))


def maximal_subcubes(n: int, closed: set[int]) -> set[Subcube]:
    """All maximal subcubes, of any dimension, inside a set of nodes: straight from the definition."""
    inside = {
        (base, free)
        for free in range(2**n)
        for base in range(2**n)
        if base & free == 0 and nodes(n, (base, free)) <= closed
    }
    return {a for a in inside if not any(a != b and a[1] | b[1] == b[1] and a[0] & ~b[1] == b[0] for b in inside)}


# ---------------------------------------------------------------- the appendix


def paper_bound(n: int) -> int:
    """The appendix's B_n for n >= 2: n^2/4 + n/2 - 1 for even n, n^2/4 + n - 9/4 for odd n."""
    return (n * n + 2 * n - 4) // 4 if n % 2 == 0 else (n * n + 4 * n - 9) // 4
