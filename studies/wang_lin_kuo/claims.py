"""Claims of the paper about 2-partitions and about routing among supernodes (sections 3 and 4); the ledger itself.

Statements are as printed; what a reading (A1-A16) adds stands in square brackets.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from fastcube.algorithms.multicasting import multicast
from fastcube.algorithms.partition import Supercube, conflict, figure_2, two_partition
from fastcube.algorithms.wormhole import dependency_cycle
from fastcube.engine.claims import Effort, Ledger, Verdict, Witness
from fastcube.exact.partition import counts
from fastcube.networks.hypercube import Hypercube

ledger = Ledger("wang_lin_kuo")

EXAMPLE = Hypercube(6, [0b000000, 0b100001, 0b111000, 0b000100])
FIGURE_18 = Hypercube(5, [0b00100, 0b01001, 0b11110, 0b10011])
SOURCE_18 = 0b01100
DESTINATIONS_18 = (0b00010, 0b00101, 0b00111, 0b01000, 0b01010, 0b11000, 0b11101, 0b10100, 0b10001)
SECTION_5_3 = Hypercube(5, [0b00011, 0b00100, 0b01110, 0b01001, 0b11010, 0b11110, 0b10101, 0b10011])

#: Why Figure 2 never fails with so few faults.
PROOF = (
    "for every n: choose one pair of faults that meet on each dimension with a conflict; these pairs are "
    "a forest on the faults, because "
    "a circle in a hypercube uses each dimension twice, so at most f - 1 dimensions have one: fewer than "
    "n, and after the first "
    "deletion fewer than n - 1"
)

_FIGURE_2 = '__import__("fastcube.algorithms.partition", fromlist=["*"]).figure_2'


def data_of(cube: Hypercube) -> dict[str, object]:
    """A cube and its faults, for programs."""
    return {"n": cube.n, "faulty_nodes": sorted(cube.faulty_nodes)}  # type: ignore[arg-type]


def cut_cubes(n: int, f: int) -> Iterator[tuple[Hypercube, Supercube]]:
    """All sets of f faults of Q_n with all their fault-tolerant pairs."""
    for faults in itertools.combinations(range(2**n), f):
        for pair in itertools.combinations(range(n), 2):
            if conflict(faults, 1 << pair[0] | 1 << pair[1]) is None:
                yield Hypercube(n, faults), Supercube(n, frozenset(faults), pair)


# ---------------------------------------------------------------- 2-partitions


@ledger.claim(
    "example-3-1",
    where="section 3.1",
    states=(
        "With F = {000000, 100001, 111000, 000100} in a 6-cube the 2-partition with P = {0, 5} is not a fault-tolerant "
        "2-partition; with P = {0, 1} it is."
    ),
)
def example_3_1(effort: Effort) -> Verdict:
    """The two pairs."""
    python = "[[len({v & ~mask for v in cube.faulty_nodes}) for mask in (0b100001, 0b000011)] for cube in [fc.%s]]"
    witness = Witness.of(
        "2-cubes with a fault along {0, 5} and {0, 1}, of 4 faults", python % EXAMPLE.source(), data_of(EXAMPLE)
    )
    return Verdict("holds" if witness.value == [[3, 4]] else "refuted", "the example's fault set", witness)


@ledger.claim(
    "lemma-1",
    where="section 3.1, Lemma 1",
    states=(
        "For n >= 2, given a set F of n-1 or fewer faulty nodes in an n-cube, there exists a "
        "fault-tolerant 2-partition of the "
        "n-cube."
    ),
    group="partitions",
)
def lemma_1(effort: Effort) -> Verdict:
    """Counts over all fault sets."""
    return _always_found(effort, 0)


@ledger.claim(
    "figure-2",
    where="section 3.1, Figure 2",
    states=(
        "The algorithm to find a fault-tolerant 2-partition [finds one for every n - 1 or fewer "
        "faults, with j mapped back]."
    ),
    group="partitions",
)
def figure_2_finds(effort: Effort) -> Verdict:
    """Counts over all fault sets."""
    return _always_found(effort, 1)


def _always_found(effort: Effort, which: int) -> Verdict:
    largest = effort.pick(full=6, quick=5)
    for n in effort.each(range(2, largest + 1), "Q_n"):
        for f, row in enumerate(counts(n, n - 1)):
            if row[which] < math.comb(2**n, f):
                words = "no 2-partition is found"
                for faults in itertools.combinations(range(2**n), f):
                    cube = Hypercube(n, faults)
                    if two_partition(cube, exhaustive=which == 0) is None:
                        python = f"fc.two_partition(fc.{cube.source()}, exhaustive={which == 0})"
                        return Verdict("refuted", f"fault sets up to Q_{n}", Witness.of(words, python, data_of(cube)))
    return Verdict("holds", f"all sets of at most n - 1 faults of Q_2, ..., Q_{largest}; {PROOF}")


@ledger.claim(
    "figure-2-printed",
    where="section 3.1, Figure 2, step 3",
    states="Let P be the set {i, j}; return P [as printed: j is a dimension of the shortened words].",
    correction="j counts the digits that are left: dimension j + 1 of the cube when j >= i.",
)
def figure_2_printed(effort: Effort) -> Verdict:
    """Fault sets in order of n and size."""
    found: list[Witness] = []
    for n in range(2, 5):
        for f in range(n):
            for faults in effort.each(itertools.combinations(range(2**n), f), f"Q_{n}"):
                pair = figure_2(n, faults, map_back=False)[0]
                assert pair is not None
                python = f"list({_FIGURE_2}({n}, {list(faults)}, map_back=False)[0])"
                data = {"n": n, "faulty_nodes": list(faults)}
                if not found and pair[0] == pair[1]:
                    found.append(Witness.of("the two dimensions are the same", python, data))
                if pair[0] != pair[1] and (met := conflict(faults, 1 << pair[0] | 1 << pair[1])) is not None:
                    words = f"{met[0]:0{n}b} and {met[1]:0{n}b} are in one 2-cube along them"
                    found.append(Witness.of(words, python, data))
                    return Verdict("refuted", "fault sets by n and size", found[0], tuple(found[1:]))
    return Verdict("refuted", "fault sets of Q_2, Q_3, Q_4 by size", found[0])


@ledger.claim(
    "figure-2-complexity",
    where="section 3.1",
    states="The complexity of this algorithm is O(n) [counted in words from which a digit is deleted].",
    correction="O(n f) words, O(n^2) for n - 1 faults.",
)
def figure_2_complexity(effort: Effort) -> Verdict:
    """Node 0 and its neighbours across all but the last two dimensions, each of which has a conflict: n - 1 faults."""
    python = f"[{_FIGURE_2}(n, [0, *(1 << i for i in range(n - 2))])[1] for n in (4, 8, 16, 32, 62)]"
    words = "words cut for node 0 and n - 2 of its neighbours, n = 4, 8, 16, 32, 62: (n - 1)^2 in each of the two steps"
    witness = Witness.of(words, python, {"n": [4, 8, 16, 32, 62]})
    quadratic = witness.value == [2 * (n - 1) ** 2 for n in (4, 8, 16, 32, 62)]
    return Verdict("refuted" if quadratic else "undecided", "one family of fault sets, n = 4, 8, 16, 32, 62", witness)


@ledger.claim(
    "theorem-1",
    where="section 3.1, Theorem 1",
    states=(
        "Any pair of adjacent 2-cubes X and Y [of a fault-tolerant 2-partition]: if the neighboring node "
        "y_1 (in Y) of the non-faulty node "
        "x_1 (in X) is faulty, there exist some channels with both end nodes being non-faulty, and one "
        "of the end nodes is the "
        "non-faulty buddy of x_1, and the other is in Y: at most two hops are required."
    ),
)
def theorem_1(effort: Effort) -> Verdict:
    """Every fault set, pair, node and external dimension."""
    largest = effort.pick(full=4, quick=3)
    for n in range(2, largest + 1):
        for f in range(min(n, 2 ** (n - 2) + 1)):
            for cube, net in effort.each(cut_cubes(n, f), f"Q_{n}"):
                for x, bit in itertools.product(range(2**n), net.external):
                    if x in net.faults or x ^ bit not in net.faults:
                        continue
                    buddies = (x ^ net.low, x ^ net.high)
                    if not any(b not in net.faults and b ^ bit not in net.faults for b in buddies):
                        python = f"fc.{cube.source()}.faulty_nodes >= {{{x ^ bit}}}"
                        return Verdict(
                            "refuted", f"up to Q_{n}", Witness.of("no buddy leads on", python, data_of(cube))
                        )
    return Verdict(
        "holds",
        f"all sets of at most n - 1 faults of Q_2, ..., Q_{largest} with all their fault-tolerant "
        "2-partitions; for every n: Y has no other "
        "fault than y_1, and at most one of x_1's two buddies is faulty",
    )


# ---------------------------------------------------------------- labels and supernodes


@ledger.claim(
    "hamilton-path",
    where="section 3.2",
    states=(
        "The assignment of the label to a supernode is based on the order of that supernode in a "
        "Hamilton path; each supernode has its "
        "unique label by using such label assignment function [A2]."
    ),
)
def hamilton_path(effort: Effort) -> Verdict:
    """Supernodes in the order of their labels."""
    largest = effort.pick(full=14, quick=10)
    for n in effort.each(range(3, largest + 1), "Q_n"):
        net = Supercube(n, frozenset(), (0, 1))
        by_label = sorted(range(0, 2**n, 4), key=net.label)
        labels = [net.label(v) for v in by_label]
        if labels != list(range(2 ** (n - 2))) or any(
            (u ^ v).bit_count() != 1 for u, v in itertools.pairwise(by_label)
        ):
            python = f"fc.multicast(fc.Hypercube({n}), 0, range(1, {2**n}), (0, 1), 'hamilton').N"
            return Verdict("refuted", f"up to n = {n}", Witness.of("the labels are no path", python, {"n": n}))
    return Verdict("holds", f"n = 3, ..., {largest} with P = {{0, 1}}")


def _walk(net: Supercube, v: int, u: int) -> int:
    """Hops of R from v to u in one supernode; 99 when it does not arrive or meets a fault."""
    for hops in range(5):
        if v == u:
            return hops
        v = net.within(v, u)
        if v in net.faults:
            return 99
    return 99


@ledger.claim(
    "still-minimal",
    where="section 4.2, Figures 8(d) and 9",
    states="It is easy to verify that the routing is still minimal [within a fault-free supernode].",
)
def still_minimal(effort: Effort) -> Verdict:
    """All pairs of places."""
    net = Supercube(2, frozenset(), (0, 1))
    bad = [(v, u) for v, u in itertools.permutations(range(4), 2) if _walk(net, v, u) != (v ^ u).bit_count()]
    if bad:
        v, u = bad[0]
        python = f"fc.multicast(fc.Hypercube(2), {v}, [{u}]).N"
        return Verdict("refuted", "all pairs of nodes of Q_2", Witness.of("a longer way", python, {"n": 2}))
    return Verdict("holds", "all pairs of nodes of a fault-free supernode")


@ledger.claim(
    "two-hops-inside",
    where="section 4.2, Figure 13",
    states=(
        "Each non-faulty node can communicate with other non-faulty nodes (within the same supernode) "
        "through at most two hops [by the "
        "algorithm of Figure 13]."
    ),
)
def two_hops_inside(effort: Effort) -> Verdict:
    """All places of the fault, all pairs of nonfaulty places."""
    for fault in range(4):
        net = Supercube(2, frozenset([fault]), (0, 1))
        for v, u in itertools.permutations(set(range(4)) - {fault}, 2):
            if _walk(net, v, u) > 2:
                cube = Hypercube(2, [fault])
                python = f"fc.multicast(fc.{cube.source()}, {v}, [{u}]).N"
                return Verdict("refuted", "faulty supernodes", Witness.of("more than two hops", python, data_of(cube)))
    return Verdict("holds", "all four places of the fault and all pairs of nonfaulty nodes")


@ledger.claim(
    "no-cycle-inside",
    where="section 4.2, Figures 8(d) and 12",
    states=(
        "There exists no channel dependency cycle within a faulty supernode [and none within a "
        "fault-free one after the two turns "
        "are inhibited; one supernode, taken alone]."
    ),
)
def no_cycle_inside(effort: Effort) -> Verdict:
    """Q_2 is one supernode: without a fault, and with one at each place."""
    for faults in ((), (0,), (1,), (2,), (3,)):
        cube = Hypercube(2, faults)
        if dependency_cycle(cube) is not None:
            python = f"fc.dependency_cycle(fc.{cube.source()}) is not None"
            return Verdict("refuted", "one supernode", Witness.of("a cycle", python, data_of(cube)))
    return Verdict("holds", "a fault-free supernode and all four places of a fault")


@ledger.claim(
    "figures-16-17-printed",
    where="section 4.2, Figures 16 and 17",
    states=(
        "The multicast scheme for the source node and for intermediate nodes delivers every destination "
        "[as printed: D_E is sent when one "
        "inter-channel is needed, or when two buddies are both in D_E]."
    ),
    correction="One message per outgoing inter-channel, carrying the destinations that R sends over it (A7).",
)
def figures_16_17_printed(effort: Effort) -> Verdict:
    """The smallest case of two inter-channels with one buddy among the destinations."""
    python = (
        "[[len({(use.u, use.v) for use in m.uses if use.u == 0}), sum(b in (1, 3) for b in (1, 2))] "
        "for m in [fc.multicast(fc.Hypercube(2), 0, [1, 3])]]"
    )
    words = (
        "source 00, D_E = {01, 11}: two inter-channels are needed but one buddy is in D_E, so neither case applies and "
        "nothing is sent"
    )
    witness = Witness.of(words, python, {"n": 2, "faulty_nodes": [], "source": 0, "destinations": [1, 3]})
    return Verdict("refuted" if witness.value == [[2, 1]] else "holds", "destination sets of Q_2 by size", witness)


# ---------------------------------------------------------------- examples


@ledger.claim(
    "example-4-3",
    where="sections 4.3 and 5, Figures 18 and 19",
    states=(
        "In the faulty 5-cube of Figure 18 the traversal order is 011** => 001** => 000** and 011** => "
        "010** => 110** => 111** => 101** => "
        "100**, and N is equal to the number of channels, that is, 14 [A6]."
    ),
)
def example_4_3(effort: Effort) -> Verdict:
    """The figure's multicast."""
    python = f"fc.multicast(fc.{FIGURE_18.source()}, {SOURCE_18:#07b}, {list(DESTINATIONS_18)}, (0, 1)).N"
    data = data_of(FIGURE_18) | {"source": SOURCE_18, "destinations": list(DESTINATIONS_18)}
    witness = Witness.of("the multicast of Figure 18", python, data)
    net = Supercube(5, frozenset(FIGURE_18.faulty_nodes), (0, 1))  # type: ignore[arg-type]
    order = [net.label(v << 2) for v in (0b011, 0b010, 0b110, 0b111, 0b101, 0b100, 0b001, 0b000)]
    as_told = witness.value == 14 and order == [2, 3, 4, 5, 6, 7, 1, 0]
    return Verdict("holds" if as_told else "refuted", "the figure's fault set, source and destinations", witness)


@ledger.claim(
    "example-5-3",
    where="section 5.3",
    states=(
        "With the faulty nodes 00011, 00100, 01110, 01001, 11010, 11110, 10101, 10011 the partition with "
        "P = {0, 1} is still a "
        "fault-tolerant 2-partition and the multicast [of Figure 18, none of whose destinations is among "
        "them] can still "
        "be completed."
    ),
)
def example_5_3(effort: Effort) -> Verdict:
    """The eight faults, Figure 18's source and destinations, and all other nonfaulty nodes."""
    wanted = list(DESTINATIONS_18)
    python = (
        f"[sorted(fc.multicast(fc.{SECTION_5_3.source()}, {SOURCE_18:#07b}, {wanted}, (0, 1)).delivered), "
        f"list(fc.two_partition(fc.{SECTION_5_3.source()}))]"
    )
    witness = Witness.of("the destinations delivered, and Figure 2's pair", python, data_of(SECTION_5_3))
    others = [v for v in range(32) if not SECTION_5_3.is_faulty(v)]
    all_of_them = multicast(SECTION_5_3, SOURCE_18, others, (0, 1)).delivered == set(others) - {SOURCE_18}
    as_told = witness.value == [sorted(wanted), [0, 1]] and all_of_them
    return Verdict("holds" if as_told else "refuted", "the example's fault set", witness)


@ledger.claim(
    "beyond-n-1",
    where="section 5.3",
    states=(
        "For a faulty n-cube with at most 2^(n-2) faults, the proposed algorithm also works correctly if "
        "a fault-tolerant 2-partition for "
        "this n-cube can be found [every destination is delivered]."
    ),
)
def beyond_n_1(effort: Effort) -> Verdict:
    """All sets of four faults of Q_4 with all their pairs, from every source to everyone and to each alone."""
    step = effort.pick(full=1, quick=12)
    for cube, net in effort.each(itertools.islice(cut_cubes(4, 4), 0, None, step), "Q_4, 4 faults"):
        nonfaulty = [v for v in range(16) if v not in net.faults]
        for s in nonfaulty[:: effort.pick(full=1, quick=4)]:
            others = set(nonfaulty) - {s}
            for wanted in (others, {max(others)}, {min(others)}):
                if multicast(cube, s, wanted, net.partition).delivered != wanted:
                    python = (
                        f"sorted(fc.multicast(fc.{cube.source()}, {s}, {sorted(wanted)}, {net.partition}).delivered)"
                    )
                    return Verdict(
                        "refuted", "sets of 4 faults of Q_4", Witness.of("a destination is lost", python, data_of(cube))
                    )
    how = effort.pick(full="all sets", quick="every twelfth set")
    return Verdict("holds", f"{how} of 4 faults of Q_4 with their fault-tolerant pairs, to everyone and to two single nodes from "
                   f"{effort.pick(full='every', quick='every fourth')} nonfaulty source")  # fmt: skip
