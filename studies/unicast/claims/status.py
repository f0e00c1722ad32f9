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
from fastcube.audit.claims import Effort, Verdict, Witness
from fastcube.audit.cubes import cube_witness, enumerate_cubes
from fastcube.networks.hypercube import Hypercube

from . import exhaustive
from .registry import registry

#: Finds in rows of fault sets of Q_n with f faults the rows and nodes where something is wrong: (sets, 2^n) or (sets,).
Predicate = Callable[[int, int, exhaustive.Bools], exhaustive.Bools]


def largest_fault_count(effort: Effort, n: int) -> int:
    """Largest f that is looked at in Q_n: all up to n = 4, up to 6 in Q_5."""
    return int(2**n) - 1 if n <= 4 else effort.by_effort(full=6, quick=4)


def checked_range(effort: Effort) -> str:
    return f"all fault sets of Q_1, ..., Q_4, and of up to {largest_fault_count(effort, 5)} faulty nodes of Q_5, without node 0"


def decide_fault_sets(
    effort: Effort,
    wrong: Predicate,
    words: str,
    python: str | Callable[[int, exhaustive.Bools], str],
    most: Callable[[int], int] = lambda n: 2**n,
) -> Verdict:
    """Refuted by the first fault set, in the order of n and f, where ``wrong`` finds a node.

    ``python`` has ``c`` and ``{t}``, or is made of n and the one set.
    """
    cases = 0
    for n in range(1, 6):
        for f, faulty in exhaustive.fault_sets(n, min(largest_fault_count(effort, n), most(n))):
            effort.step(f"Q_{n}, f={f}")
            effort.applied += len(faulty)
            found = wrong(n, f, faulty)
            cases += len(faulty)
            if found.any():
                row, *node = np.argwhere(found)[0].tolist()
                cube = Hypercube(n, np.flatnonzero(faulty[row]).tolist())
                t = node[0] if node else 0
                shown = python.format(t=t) if isinstance(python, str) else python(n, faulty[row : row + 1])
                return Verdict(
                    "refuted", f"in the order of n and f; {checked_range(effort)}", cube_witness(words, cube, shown)
                )
    return Verdict("holds", f"{checked_range(effort)}: {cases:,} sets looked through")


def cubes_with_links(numbers: Iterable[tuple[int, int]]) -> Iterator[Hypercube]:
    """Q_2, then Q_3, with each of these numbers of faulty nodes and links, node 0 nonfaulty."""
    for n, (f, k) in itertools.product((2, 3), numbers):
        yield from enumerate_cubes(n, f, k, first=1)


def nonfaulty_targets(cube: Hypercube) -> list[int]:
    """The nonfaulty nodes but node 0."""
    return [t for t in range(1, 2**cube.n) if not cube.is_faulty(t)]


def _hamming_weights(n: int) -> exhaustive.Ints:
    """Hamming distance of every node from node 0."""
    return np.array([x.bit_count() for x in range(2**n)], np.int8)


def _least_degree(n: int, faulty: exhaustive.Bools) -> exhaustive.Ints:
    """Fewest nonfaulty neighbours of a nonfaulty node, a set."""
    least: exhaustive.Ints = np.where(faulty, 127, exhaustive.neighbour_counts(n, ~faulty)).min(axis=1).astype(np.int8)
    return least


# ---------------------------------------------------------------- Wu: levels and vectors


_NO_PATH = "promised, and no such path"


def decide_with_links(effort: Effort, verdict: Verdict, wrong: Callable[[Hypercube], Witness | None]) -> Verdict:
    """The verdict, unless ``wrong`` finds a witness in Q_2 or Q_3 with faulty links."""
    if verdict.outcome != "holds":
        return verdict
    nodes, links = effort.by_effort(full=(2, 3), quick=(1, 1))
    cases = cubes_with_links(itertools.product(range(nodes + 1), range(1, links + 1)))
    if (found := effort.first(cases, wrong, "Q_2 and Q_3 with faulty links")) is not None:
        return Verdict("refuted", "in Q_2 and Q_3 with faulty links", found)
    return replace(
        verdict,
        checked=f"{verdict.checked}; in Q_2 and Q_3, too, with up to {links} faulty links and {nodes} faulty nodes",
    )


def _broken_promise(cube: Hypercube, promised: Callable[[int], bool], python: str) -> Witness | None:
    """The first node to which node 0 is promised a path over the Hamming distance that there is not."""
    for t in nonfaulty_targets(cube):
        if promised(t) and distance(cube, 0, t) != t.bit_count():
            return cube_witness(_NO_PATH, cube, python.format(t=t), s=0, t=t)
    return None


@registry.claim(
    "level-path",
    where="Wu 1997, abstract",
    states=(
        "A node of safety level k is joined by a path of H links to every nonfaulty node at Hamming distance H <= k [with faulty "
        "links, V6, but to a node across one]."
    ),
)
def level_path(effort: Effort) -> Verdict:
    """Node 0's level against all minimal paths from it; its own level promises nothing over a faulty link (V6)."""

    def wrong(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
        promised = exhaustive.safety_levels(n, faulty)[0][:, :1] >= _hamming_weights(n)
        return promised & ~faulty & ~exhaustive.has_minimal_path(n, faulty)

    def broken(cube: Hypercube) -> Witness | None:
        level = safety_levels(cube).level(0)
        return _broken_promise(cube, lambda t: t.bit_count() <= level and not cube.is_faulty_link(0, t), python)

    python = "[fc.safety_levels(c).level(0), fc.distance(c, 0, {t})]"
    return decide_with_links(effort, decide_fault_sets(effort, wrong, _NO_PATH, python), broken)


@registry.claim(
    "vector-path",
    where="Wu 1998, abstract",
    states="A node whose safety vector has bit k is joined by a path of k links to every nonfaulty node at Hamming distance k.",
)
def vector_path(effort: Effort) -> Verdict:
    """Node 0's vector against all minimal paths from it."""

    def wrong(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
        promised = exhaustive.safety_vectors(n, faulty)[:, 0, :][:, _hamming_weights(n)]
        return promised & ~faulty & ~exhaustive.has_minimal_path(n, faulty)

    def broken(cube: Hypercube) -> Witness | None:
        vector = safety_vectors(cube).vector(0)
        return _broken_promise(cube, lambda t: bool(vector[t.bit_count() - 1]), python)

    python = "[fc.safety_vectors(c).vector(0).tolist(), fc.distance(c, 0, {t})]"
    return decide_with_links(effort, decide_fault_sets(effort, wrong, _NO_PATH, python), broken)


@registry.claim(
    "levels-rounds",
    where="Wu 1995, abstract",
    states="Safety levels settle after at most n - 1 rounds.",
)
def levels_rounds(effort: Effort) -> Verdict:
    """Rounds of all sets."""
    return decide_fault_sets(
        effort,
        lambda n, f, faulty: exhaustive.safety_levels(n, faulty)[1] > n - 1,
        "too many rounds",
        "fc.safety_levels(c).rounds",
    )


@registry.claim(
    "levels-unique",
    where="Wu 1995, as the literature gives it",
    states="One assignment of safety levels to the nodes is as the definition asks.",
)
def levels_unique(effort: Effort) -> Verdict:
    """Beginning with n and with 0: levels grow with neighbours' levels, so every assignment lies between what these come to."""

    def wrong(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
        differ: exhaustive.Bools = (
            exhaustive.safety_levels(n, faulty)[0] != exhaustive.safety_levels(n, faulty, first=0)[0]
        )
        return differ

    def check_other_start(n: int, faulty: exhaustive.Bools) -> str:
        level = "next((k for k, x in enumerate(sorted(S[w] for w in c.neighbours(v))) if x < k), c.n)"
        asked = f"[0 if c.is_faulty(v) else {level} for v in range(2**c.n)]"
        found = exhaustive.safety_levels(n, faulty, first=0)[0][0].tolist()
        return f"(lambda S: [S == {asked}, S, fc.safety_levels(c).levels.tolist()])({found})"

    return decide_fault_sets(
        effort, wrong, "whether it is as the definition asks, another assignment, and the levels", check_other_start
    )


@registry.claim(
    "levels-near",
    where="Wu 1995, 1997, as the literature gives it",
    states="With fewer than n faulty nodes every nonfaulty node has level n or a neighbour of level n.",
)
def levels_near(effort: Effort) -> Verdict:
    """All sets of fewer than n nodes."""
    python = "[fc.safety_levels(c).level(v) for v in c.neighbours({t})]"
    return _decide_near(effort, lambda n, faulty: exhaustive.safety_levels(n, faulty)[0] == n, python)


def _decide_near(effort: Effort, good: Callable[[int, exhaustive.Bools], exhaustive.Bools], python: str) -> Verdict:
    """Whether every nonfaulty node is ``good`` or has a neighbour that is, in all sets of fewer than n nodes."""

    def wrong(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
        found = good(n, faulty)
        alone: exhaustive.Bools = ~faulty & ~found & (exhaustive.neighbour_counts(n, found) == 0)
        return alone

    verdict = decide_fault_sets(effort, wrong, "none near", python, lambda n: n - 1)
    if verdict.witness:
        return verdict
    sets = verdict.checked.rpartition(": ")[2]
    return replace(verdict, checked=f"all sets of fewer than n faulty nodes of Q_1, ..., Q_5, without node 0: {sets}")


@registry.claim(
    "words-chain",
    where="Wu 1995, 1998, as the literature gives it",
    states="A node that is not unsafe (Lee & Hayes) is not marked (Wu & Fernandez); one that is not marked has level n; one of "
    "level k has bits 1 .. k of the safety vector.",
)
def words_chain(effort: Effort) -> Verdict:
    """All words of all sets."""

    def wrong(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
        marked, own = exhaustive.marked_nodes(n, faulty)[0], exhaustive.safety_levels(n, faulty)[0]
        bits = exhaustive.safety_vectors(n, faulty)[:, :, 1:]
        promised = own[:, :, None] >= np.arange(1, n + 1)
        broken = (promised & ~bits).any(axis=2)
        return ~faulty & ((marked & ~exhaustive.unsafe_nodes(n, faulty)) | (~marked & (own < n)) | broken)

    return decide_fault_sets(
        effort, wrong, "not in this order", "[fc.safety_levels(c).level({t}), fc.wu_fernandez(c).marked.tolist()]"
    )


@registry.claim(
    "unsafe-near",
    where="contrast: Lee & Hayes's nodes in place of Wu's",
    states="With fewer than n faulty nodes every nonfaulty node is not unsafe or has such a neighbour.",
    ours=True,
    correction="Of level n there is one (levels-near).",
)
def unsafe_near(effort: Effort) -> Verdict:
    """All sets of fewer than n nodes."""
    return _decide_near(
        effort, lambda n, faulty: ~faulty & ~exhaustive.unsafe_nodes(n, faulty), "fc.find_unsafe(c).nodes.tolist()"
    )


@registry.claim(
    "marking-rounds",
    where="contrast: the marking in place of levels",
    states="Wu and Fernandez's marking settles after at most n - 1 rounds.",
    ours=True,
    correction="That holds of levels (levels-rounds).",
)
def marking_rounds(effort: Effort) -> Verdict:
    """Rounds of all sets; n >= 2, for a cube of one link has no rounds to count."""
    return decide_fault_sets(
        effort,
        lambda n, f, faulty: exhaustive.marked_nodes(n, faulty)[1] > n - 1,
        "too many rounds",
        "fc.wu_fernandez(c).rounds",
    )


# ---------------------------------------------------------------- Gu & Peng: distances


def _distance_decider(least: int, more: int, most: Callable[[int], int]) -> Callable[[Effort], Verdict]:
    def decide_distances(effort: Effort) -> Verdict:
        """Node 0's distances in all sets within the hypothesis."""

        def wrong(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
            found = exhaustive.path_lengths(n, faulty) > _hamming_weights(n) + more
            if least > 1:
                return found & ~faulty & (_least_degree(n, faulty) >= least)[:, None]
            own = exhaustive.neighbour_counts(n, ~faulty) > 0
            return found & ~faulty & own & own[:, :1]

        return decide_fault_sets(effort, wrong, "too far", "fc.distance(c, 0, {t})", most)

    return decide_distances


registry.claim(
    "gu-peng-4",
    where="Gu & Peng, abstract",
    states="With at most 2n - 3 faulty nodes, s and t each with a nonfaulty neighbour, their distance is at most H + 4.",
)(_distance_decider(1, 4, lambda n: 2 * n - 3))

registry.claim(
    "gu-peng-6",
    where="Gu & Peng 1999, abstract, of cubes in which every node has 2 nonfaulty neighbours; ours asks it of nonfaulty nodes",
    states="With at most 4n - 9 faulty nodes, every nonfaulty node with at least 2 nonfaulty neighbours, distances are at "
    "most H + 6.",
)(_distance_decider(2, 6, lambda n: 4 * n - 9))


@registry.claim(
    "gu-peng-connected",
    where="Latifi et al., as the abstract of Gu & Peng 1999 quotes it for k <= n/2 and all nodes; ours asks more",
    states="With at most 2^k (n - k) - 1 faulty nodes, every nonfaulty node with at least k nonfaulty neighbours, the rest is "
    "connected.",
)
def gu_peng_connected(effort: Effort) -> Verdict:
    """k = 1, 2, 3 on all sets."""

    def wrong(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
        apart: exhaustive.Bools = (exhaustive.path_lengths(n, faulty) == 127) & ~faulty
        degree = _least_degree(n, faulty)
        applies = np.zeros(len(faulty), np.bool_)
        for k in range(1, n):
            if f <= 2**k * (n - k) - 1:
                applies |= degree >= k
        return apart & applies[:, None]

    return decide_fault_sets(effort, wrong, "apart", "fc.distance(c, 0, {t})")
