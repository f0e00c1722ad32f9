"""What is claimed of rival rules and their words (V10), decided on all fault sets of small cubes.

No paper's text was read: a statement is from an abstract where its place says so, else as the literature gives it.
"Contrast" and "ours" are statements that one would expect and that no paper makes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from fastcube.algorithms.shortest import distance
from fastcube.algorithms.unicast import safety_levels, safety_vectors
from fastcube.audit.claims import Effort, Ledger, Verdict, Witness
from fastcube.audit.cubes import cubes, witness
from fastcube.networks.hypercube import Hypercube

from . import exhaustive

ledger = Ledger("unicast")

#: Finds in rows of fault sets of Q_n with f faults the rows and nodes where something is wrong: (sets, 2^n) or (sets,).
Wrong = Callable[[int, int, exhaustive.Bools], exhaustive.Bools]


def largest(effort: Effort, n: int) -> int:
    """Largest f that is looked at in Q_n: all up to n = 4, up to 6 in Q_5."""
    return int(2**n) - 1 if n <= 4 else effort.pick(full=6, quick=4)


def looked_at(effort: Effort) -> str:
    return f"all fault sets of Q_1, ..., Q_4, and of up to {largest(effort, 5)} faulty nodes of Q_5, without node 0"


def decide(
    effort: Effort,
    wrong: Wrong,
    words: str,
    python: str | Callable[[int, exhaustive.Bools], str],
    most: Callable[[int], int] = lambda n: 2**n,
) -> Verdict:
    """Refuted by the first fault set, in the order of n and f, where ``wrong`` finds a node.

    ``python`` has ``c`` and ``{t}``, or is made of n and the one set.
    """
    cases = 0
    for n in range(1, 6):
        for f, faulty in exhaustive.fault_sets(n, min(largest(effort, n), most(n))):
            effort.step(f"Q_{n}, f={f}")
            effort.applied += len(faulty)
            found = wrong(n, f, faulty)
            cases += len(faulty)
            if found.any():
                row, *node = np.argwhere(found)[0].tolist()
                cube = Hypercube(n, np.flatnonzero(faulty[row]).tolist())
                t = node[0] if node else 0
                shown = python.format(t=t) if isinstance(python, str) else python(n, faulty[row : row + 1])
                return Verdict("refuted", f"in the order of n and f; {looked_at(effort)}", witness(words, cube, shown))
    return Verdict("holds", f"{looked_at(effort)}: {cases:,} sets")


def with_links(numbers: Iterable[tuple[int, int]]) -> Iterator[Hypercube]:
    """Q_2, then Q_3, with each of these numbers of faulty nodes and links, node 0 nonfaulty."""
    for n, (f, k) in itertools.product((2, 3), numbers):
        yield from cubes(n, f, k, first=1)


def targets(cube: Hypercube) -> list[int]:
    """The nonfaulty nodes but node 0."""
    return [t for t in range(1, 2**cube.n) if not cube.is_faulty(t)]


def _weight(n: int) -> exhaustive.Ints:
    """Hamming distance of every node from node 0."""
    return np.array([x.bit_count() for x in range(2**n)], np.int8)


def _least_degree(n: int, faulty: exhaustive.Bools) -> exhaustive.Ints:
    """Fewest nonfaulty neighbours of a nonfaulty node, a set."""
    least: exhaustive.Ints = np.where(faulty, 127, exhaustive.counts(n, ~faulty)).min(axis=1).astype(np.int8)
    return least


# ---------------------------------------------------------------- Wu: levels and vectors


_NO_PATH = "promised, and no such path"


def also_with_links(effort: Effort, verdict: Verdict, wrong: Callable[[Hypercube], Witness | None]) -> Verdict:
    """The verdict, unless ``wrong`` finds a witness in Q_2 or Q_3 with faulty links."""
    if verdict.outcome != "holds":
        return verdict
    nodes, links = effort.pick(full=(2, 3), quick=(1, 1))
    cases = with_links(itertools.product(range(nodes + 1), range(1, links + 1)))
    if (found := effort.first(cases, wrong, "Q_2 and Q_3 with faulty links")) is not None:
        return Verdict("refuted", "in Q_2 and Q_3 with faulty links", found)
    return replace(
        verdict,
        checked=f"{verdict.checked}; in Q_2 and Q_3, too, with up to {links} faulty links and {nodes} faulty nodes",
    )


def _broken(cube: Hypercube, promised: Callable[[int], bool], python: str) -> Witness | None:
    """The first node to which node 0 is promised a path over the Hamming distance that there is not."""
    for t in targets(cube):
        if promised(t) and distance(cube, 0, t) != t.bit_count():
            return witness(_NO_PATH, cube, python.format(t=t), s=0, t=t)
    return None


@ledger.claim(
    "level-path",
    where="Wu 1995, 1997, abstracts",
    states=(
        "A node of safety level k is joined by a path of H links to every nonfaulty node at Hamming distance H <= k [with faulty "
        "links, V6, but to a node across one]."
    ),
)
def level_path(effort: Effort) -> Verdict:
    """Node 0's level against all minimal paths from it; its own level promises nothing over a faulty link (V6)."""

    def wrong(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
        promised = exhaustive.levels(n, faulty)[0][:, :1] >= _weight(n)
        return promised & ~faulty & ~exhaustive.minimal(n, faulty)

    def broken(cube: Hypercube) -> Witness | None:
        level = safety_levels(cube).level(0)
        return _broken(cube, lambda t: t.bit_count() <= level and not cube.is_faulty_link(0, t), python)

    python = "[fc.safety_levels(c).level(0), fc.distance(c, 0, {t})]"
    return also_with_links(effort, decide(effort, wrong, _NO_PATH, python), broken)


@ledger.claim(
    "vector-path",
    where="Wu 1998, abstract",
    states="A node whose safety vector has bit k is joined by a path of k links to every nonfaulty node at Hamming distance k.",
)
def vector_path(effort: Effort) -> Verdict:
    """Node 0's vector against all minimal paths from it."""

    def wrong(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
        promised = exhaustive.vectors(n, faulty)[:, 0, :][:, _weight(n)]
        return promised & ~faulty & ~exhaustive.minimal(n, faulty)

    def broken(cube: Hypercube) -> Witness | None:
        vector = safety_vectors(cube).vector(0)
        return _broken(cube, lambda t: bool(vector[t.bit_count() - 1]), python)

    python = "[fc.safety_vectors(c).vector(0).tolist(), fc.distance(c, 0, {t})]"
    return also_with_links(effort, decide(effort, wrong, _NO_PATH, python), broken)


@ledger.claim(
    "levels-rounds",
    where="Wu 1995, abstract",
    states="Safety levels settle after at most n - 1 rounds.",
)
def levels_rounds(effort: Effort) -> Verdict:
    """Rounds of all sets."""
    return decide(
        effort,
        lambda n, f, faulty: exhaustive.levels(n, faulty)[1] > n - 1,
        "too many rounds",
        "fc.safety_levels(c).rounds",
    )


@ledger.claim(
    "levels-unique",
    where="Wu 1995, as the literature gives it",
    states="One assignment of safety levels to the nodes is as the definition asks.",
)
def levels_unique(effort: Effort) -> Verdict:
    """Beginning with n and with 0: levels grow with neighbours' levels, so every assignment lies between what these come to."""

    def wrong(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
        differ: exhaustive.Bools = exhaustive.levels(n, faulty)[0] != exhaustive.levels(n, faulty, first=0)[0]
        return differ

    def other(n: int, faulty: exhaustive.Bools) -> str:
        level = "next((k for k, x in enumerate(sorted(S[w] for w in c.neighbours(v))) if x < k), c.n)"
        asked = f"[0 if c.is_faulty(v) else {level} for v in range(2**c.n)]"
        found = exhaustive.levels(n, faulty, first=0)[0][0].tolist()
        return f"(lambda S: [S == {asked}, S, fc.safety_levels(c).levels.tolist()])({found})"

    return decide(effort, wrong, "whether it is as the definition asks, another assignment, and the levels", other)


@ledger.claim(
    "levels-near",
    where="Wu 1995, 1997, as the literature gives it",
    states="With fewer than n faulty nodes every nonfaulty node has level n or a neighbour of level n.",
)
def levels_near(effort: Effort) -> Verdict:
    """All sets of fewer than n nodes."""
    python = "[fc.safety_levels(c).level(v) for v in c.neighbours({t})]"
    return _near(effort, lambda n, faulty: exhaustive.levels(n, faulty)[0] == n, python)


def _near(effort: Effort, good: Callable[[int, exhaustive.Bools], exhaustive.Bools], python: str) -> Verdict:
    """Whether every nonfaulty node is ``good`` or has a neighbour that is, in all sets of fewer than n nodes."""

    def wrong(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
        found = good(n, faulty)
        alone: exhaustive.Bools = ~faulty & ~found & (exhaustive.counts(n, found) == 0)
        return alone

    return decide(effort, wrong, "none near", python, lambda n: n - 1)


@ledger.claim(
    "words-chain",
    where="Wu 1995, 1998, as the literature gives it",
    states="A node that is not unsafe (Lee & Hayes) is not marked (Wu & Fernandez); one that is not marked has level n; one of "
    "level k has bits 1 .. k of the safety vector.",
)
def words_chain(effort: Effort) -> Verdict:
    """All words of all sets."""

    def wrong(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
        marked, own = exhaustive.marking(n, faulty)[0], exhaustive.levels(n, faulty)[0]
        bits = exhaustive.vectors(n, faulty)[:, :, 1:]
        promised = own[:, :, None] >= np.arange(1, n + 1)
        broken = (promised & ~bits).any(axis=2)
        return ~faulty & ((marked & ~exhaustive.unsafe(n, faulty)) | (~marked & (own < n)) | broken)

    return decide(
        effort, wrong, "not in this order", "[fc.safety_levels(c).level({t}), fc.wu_fernandez(c).marked.tolist()]"
    )


@ledger.claim(
    "unsafe-near",
    where="contrast: Lee & Hayes's nodes in place of Wu's",
    states="With fewer than n faulty nodes every nonfaulty node is not unsafe or has such a neighbour.",
    ours=True,
    correction="Of level n there is one (levels-near).",
)
def unsafe_near(effort: Effort) -> Verdict:
    """All sets of fewer than n nodes."""
    return _near(effort, lambda n, faulty: ~faulty & ~exhaustive.unsafe(n, faulty), "fc.find_unsafe(c).nodes.tolist()")


@ledger.claim(
    "marking-rounds",
    where="contrast: the marking in place of levels",
    states="Wu and Fernandez's marking settles after at most n - 1 rounds.",
    ours=True,
    correction="That holds of levels (levels-rounds).",
)
def marking_rounds(effort: Effort) -> Verdict:
    """Rounds of all sets; n >= 2, for a cube of one link has no rounds to count."""
    return decide(
        effort,
        lambda n, f, faulty: exhaustive.marking(n, faulty)[1] > n - 1,
        "too many rounds",
        "fc.wu_fernandez(c).rounds",
    )


# ---------------------------------------------------------------- Gu & Peng: distances


def _far(least: int, more: int, most: Callable[[int], int]) -> Callable[[Effort], Verdict]:
    def decider(effort: Effort) -> Verdict:
        """Node 0's distances in all sets within the hypothesis."""

        def wrong(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
            found = exhaustive.distances(n, faulty) > _weight(n) + more
            if least > 1:
                return found & ~faulty & (_least_degree(n, faulty) >= least)[:, None]
            own = exhaustive.counts(n, ~faulty) > 0
            return found & ~faulty & own & own[:, :1]

        return decide(effort, wrong, "too far", "fc.distance(c, 0, {t})", most)

    return decider


ledger.claim(
    "gu-peng-4",
    where="Gu & Peng, abstract",
    states="With at most 2n - 3 faulty nodes, s and t each with a nonfaulty neighbour, their distance is at most H + 4.",
)(_far(1, 4, lambda n: 2 * n - 3))

ledger.claim(
    "gu-peng-6",
    where="Gu & Peng, abstract",
    states="With at most 4n - 9 faulty nodes, every nonfaulty node with at least 2 nonfaulty neighbours, distances are at "
    "most H + 6.",
)(_far(2, 6, lambda n: 4 * n - 9))


@ledger.claim(
    "gu-peng-connected",
    where="Gu & Peng, abstract",
    states="With at most 2^k (n - k) - 1 faulty nodes, every nonfaulty node with at least k nonfaulty neighbours, the rest is "
    "connected.",
)
def gu_peng_connected(effort: Effort) -> Verdict:
    """k = 1, 2, 3 on all sets."""

    def wrong(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
        apart: exhaustive.Bools = (exhaustive.distances(n, faulty) == 127) & ~faulty
        degree = _least_degree(n, faulty)
        applies = np.zeros(len(faulty), np.bool_)
        for k in range(1, n):
            if f <= 2**k * (n - k) - 1:
                applies |= degree >= k
        return apart & applies[:, None]

    return decide(effort, wrong, "apart", "fc.distance(c, 0, {t})")
