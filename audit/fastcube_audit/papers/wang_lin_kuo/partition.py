"""Claims of Wang, Lin & Kuo on 2-partitions and on routing between supernodes (sections 3 and 4).

Statements are in our words, and square brackets mark what an interpretation (A1 to A16) adds.
"""

import itertools
import math
from collections.abc import Iterator

from fastcube.algorithms.channel_dependencies import dependency_cycle
from fastcube.algorithms.multicasting import multicast
from fastcube.algorithms.partition import Supercube, find_conflict, greedy_two_partition, two_partition
from fastcube.networks.hypercube import Hypercube
from fastcube.studies.wang_lin_kuo import partition

from ...claims import Cases, Counterexample, Effort, Verdict, check_agreement, sizes
from .figures_15_16 import split_in_supernode
from .registry import example_verdict, registry

EXAMPLE = Hypercube(6, [0b000000, 0b100001, 0b111000, 0b000100])
FIGURE_18 = Hypercube(5, [0b00100, 0b01001, 0b11110, 0b10011])
SOURCE_18 = 0b01100
DESTINATIONS_18 = (0b00010, 0b00101, 0b00111, 0b01000, 0b01010, 0b11000, 0b11101, 0b10100, 0b10001)
SECTION_5_3 = Hypercube(5, [0b00011, 0b00100, 0b01110, 0b01001, 0b11010, 0b11110, 0b10101, 0b10011])

#: Proof that Figure 2 never fails with so few faults.
PROOF = (
    "for every n: choose one pair of faults that meet on each dimension with a conflict; these pairs are a forest on "
    "the faults, because a cycle in a hypercube uses each dimension twice, so at most f - 1 dimensions have one: "
    "fewer than n, and after the first deletion fewer than n - 1"
)


def cube_data(cube: Hypercube) -> dict[str, object]:
    """Return n and the faults of a cube as the data of an example."""
    return {"n": cube.n, "faulty_nodes": sorted(cube.faulty_nodes)}  # type: ignore[arg-type]


def cut_cubes(n: int, f: int) -> Iterator[tuple[Hypercube, Supercube]]:
    """Yield all sets of f faults of Q_n with each of their fault-tolerant pairs."""
    for faults in itertools.combinations(range(2**n), f):
        for pair in itertools.combinations(range(n), 2):
            if find_conflict(faults, 1 << pair[0] | 1 << pair[1]) is None:
                yield Hypercube(n, faults), Supercube(n, frozenset(faults), pair)


# ---------------------------------------------------------------- 2-partitions


@registry.claim(
    "example-3-1",
    where="section 3.1",
    states=(
        "With the faults 000000, 100001, 111000, 000100 of Q_6 the dimensions {0, 5} leave two faults in one 2-cube, and {0, "
        "1} in none."
    ),
)
def example_3_1(effort: Effort) -> Verdict:
    """Count the 2-cubes that contain a fault, for both pairs of dimensions."""
    python = "[[len({v & ~mask for v in cube.faulty_nodes}) for mask in (0b100001, 0b000011)] for cube in [fc.%s]]"
    description = "2-cubes with a fault along {0, 5} and {0, 1}, of 4 faults"
    found = Counterexample.of(description, python % EXAMPLE.source(), cube_data(EXAMPLE)).with_form("{0[0]} and {0[1]}")
    return example_verdict(effort, found, [[3, 4]], "the example's fault set")


@registry.claim(
    "lemma-1",
    where="section 3.1, Lemma 1",
    states="Every set of at most n - 1 faulty nodes of Q_n, n >= 2, has a fault-tolerant 2-partition.",
    method="proved",
    group="partitions",
)
def lemma_1(effort: Effort) -> Verdict:
    """Count over all fault sets, and search for a pair in each fault set of the small cubes."""
    return _decide_always_found(effort, 0)


@registry.claim(
    "figure-2",
    where="section 3.1, Figure 2",
    states=(
        "Figure 2 finds a fault-tolerant 2-partition for every set of at most n - 1 faulty nodes of Q_n, n >= 2 [j mapped "
        "back]."
    ),
    method="proved",
    group="partitions",
)
def figure_2_finds(effort: Effort) -> Verdict:
    """Count over all fault sets, and run Figure 2 on each fault set of the small cubes."""
    return _decide_always_found(effort, 1)


def _is_pair_found(cube: Hypercube, exhaustive: bool) -> bool:
    """Return whether a pair of dimensions is found that leaves at most one fault in every 2-cube; check it against the steps."""
    pair = two_partition(cube, exhaustive)
    faults: frozenset[int] = cube.faulty_nodes  # type: ignore[assignment]
    if not exhaustive:
        check_agreement(
            pair, greedy_two_partition(cube.n, sorted(faults))[0], f"Figure 2 on {cube!r}, its search and its steps"
        )
    return pair is not None and len({v & ~(1 << pair[0] | 1 << pair[1]) for v in faults}) == len(faults)


def _decide_always_found(effort: Effort, which: int) -> Verdict:
    """Decide by the first fault set without a pair; the counts and the search must agree where both are made."""
    largest = effort.by_effort(full=6, quick=5)
    for n in effort.each(range(2, largest + 1), "Q_n"):
        for f, row in enumerate(partition.partition_counts(n, n - 1)):
            every = math.comb(2**n, f)
            effort.applied += every
            if n > 4 and row[which] == every:
                continue
            cubes = (Hypercube(n, faults) for faults in itertools.combinations(range(2**n), f))
            without = [cube for cube in cubes if not _is_pair_found(cube, exhaustive=which == 0)]
            check_agreement(
                row[which], every - len(without), f"sets of {f} faults of Q_{n} with a pair, counted and searched for"
            )
            if without:
                python = f"fc.two_partition(fc.{without[0].source()}, exhaustive={which == 0})"
                found = Counterexample.of("no 2-partition is found", python, cube_data(without[0]))
                return Verdict("refuted", f"fault sets up to Q_{n}", found)
    return Verdict("holds", f"all sets of at most n - 1 faults of Q_2, ..., Q_{largest}; {PROOF}")


@registry.claim(
    "figure-2-printed",
    where="section 3.1, Figure 2, step 3",
    states=(
        "{i, j} as Figure 2 returns it is fault-tolerant in Q_n, n >= 3 [as printed: j is a dimension of the shortened "
        "words]."
    ),
    correction="j counts the digits that are left: dimension j + 1 of the cube when j >= i.",
    misprint_reason=(
        "In the transcription we have, j numbers a dimension of the shortened words. The comments of the figure's steps say"
        " that j numbers the digits that are left after deleting i."
    ),
)
def figure_2_printed(effort: Effort) -> Verdict:
    """Run the printed Figure 2 on fault sets, in order of n and size."""
    found: list[Counterexample] = []
    sets = ((n, faults) for n in (3, 4) for f in range(n) for faults in itertools.combinations(range(2**n), f))
    for n, faults in effort.each(sets, "fault sets"):
        effort.count_if_applicable()
        pair = greedy_two_partition(n, faults, map_back=False)[0]
        if pair is None:
            continue
        python = f"list(fc.greedy_two_partition({n}, {list(faults)}, map_back=False)[0])"
        data = {"n": n, "faulty_nodes": list(faults)}
        if not found and pair[0] == pair[1]:
            found.append(Counterexample.of("the two dimensions are the same", python, data))
        if pair[0] != pair[1] and (conflict := find_conflict(faults, 1 << pair[0] | 1 << pair[1])) is not None:
            description = f"{conflict[0]:0{n}b} and {conflict[1]:0{n}b} are in one 2-cube along them"
            found.append(Counterexample.of(description, python, data))
            break
    checked = "fault sets of Q_3 and Q_4 by n and size"
    return Verdict("refuted", checked, found[0], tuple(found[1:])) if found else Verdict("holds", checked)


@registry.claim(
    "figure-2-complexity",
    where="section 3.1",
    states="Figure 2 takes O(n) time for Q_n, n >= 2 [passes of its loops; or words from which a digit is deleted].",
    correction="O(n) passes, each over f words: O(n f), which is O(n^2) for n - 1 faults.",
)
def figure_2_complexity(effort: Effort) -> Verdict:
    """Count the steps of Figure 2 for n - 1 faults: node 0 and its neighbours across all but the last two dimensions."""
    sizes = (4, 8, 16, 32, 62)
    faults = "[0, *(1 << i for i in range(n - 2))]"
    cut_labels = Counterexample.of(
        "words cut for node 0 and n - 2 of its neighbours, n = 4, 8, 16, 32, 62: (n - 1)^2 in each of the two steps",
        f"[fc.greedy_two_partition(n, {faults})[1] for n in {sizes}]",
        {"n": list(sizes)},
    )
    passes = Counterexample.of(
        "passes of the two loops on the same faults: as many words, each by n - 1 at a time",
        f"[fc.greedy_two_partition(n, {faults})[1] // (n - 1) for n in {sizes}]",
        {"n": list(sizes)},
    )
    check_agreement(passes.value, [2 * (n - 1) for n in sizes], "passes of both loops, and the most that there can be")
    effort.applied += len(sizes)
    is_quadratic = cut_labels.value == [2 * (n - 1) ** 2 for n in effort.each(sizes)]
    checked = "one family of fault sets, n = 4, 8, 16, 32, 62; its loops have n and n - 1 passes at the most"
    return Verdict("depends", checked, cut_labels, (passes,)) if is_quadratic else Verdict("holds", checked, passes)


def _faulty_neighbours(largest: int) -> Iterator[tuple[Hypercube, Supercube, int, int]]:
    """Yield nonfaulty nodes with a faulty neighbour across an external link, in order of n and of the number of faults."""
    for n in range(3, largest + 1):
        for f in range(min(n, 2 ** (n - 2) + 1)):
            for cube, net in cut_cubes(n, f):
                for x, bit in itertools.product(range(2**n), net.external):
                    if x not in net.faults and x ^ bit in net.faults:
                        yield cube, net, x, bit


@registry.forall(
    "theorem-1",
    Cases(
        "all sets of at most n - 1 faults of Q_3, ..., Q_{} with all their fault-tolerant 2-partitions; for "
        "every n: Y has no other fault than that neighbour, and at most one of the two buddies is faulty",
        _faulty_neighbours,
        full=4,
        quick=3,
        method="proved",
    ),
    where="section 3.1, Theorem 1",
    states=(
        "Where the neighbour of a nonfaulty node x in an adjacent 2-cube Y of a fault-tolerant 2-partition of Q_n, n "
        ">= 3, is faulty, a nonfaulty buddy of x has a nonfaulty neighbour in Y: two hops lead there."
    ),
)
def theorem_1(cube: Hypercube, net: Supercube, x: int, bit: int) -> Counterexample | None:
    """Check that some buddy and its external neighbour are nonfaulty, for every fault set, pair, node and external dimension."""
    buddies = (x ^ net.low, x ^ net.high)
    if any(b not in net.faults and b ^ bit not in net.faults for b in buddies):
        return None
    python = f"[[fc.{cube.source()}.is_faulty(v) for v in (b, b ^ {bit})] for b in {buddies}]"
    description = f"whether the buddies of {x:0{cube.n}b} and their neighbours are faulty"
    return Counterexample.of(description, python, cube_data(cube))


# ---------------------------------------------------------------- labels and supernodes


@registry.forall(
    "hamilton-path",
    sizes(3, 14, 10, "n = 3, ..., {} with P = {{0, 1}}"),
    where="section 3.2",
    states=(
        "l() numbers the supernodes of Q_n, n >= 3, from 0 to 2^(n-2) - 1, each once, along a Hamilton path of neighbours [A2]."
    ),
)
def hamilton_path(n: int) -> Counterexample | None:
    """Check that the supernodes in the order of their labels form a path."""
    net = Supercube(n, frozenset(), (0, 1))
    by_label = sorted(range(0, 2**n, 4), key=net.label)
    is_numbering = [net.label(v) for v in by_label] == list(range(2 ** (n - 2)))
    if is_numbering and all((u ^ v).bit_count() == 1 for u, v in itertools.pairwise(by_label)):
        return None
    python = f"fc.multicast(fc.Hypercube({n}), 0, range(1, {2**n}), (0, 1), 'hamilton').N"
    return Counterexample.of("the labels are no path", python, {"n": n})


def _hops_in_supernode(net: Supercube, v: int, u: int) -> int:
    """Return the hops of R from v to u in one supernode; 99 when it does not arrive or meets a fault."""
    for hops in range(5):
        if v == u:
            return hops
        v = net.next_node_within(v, u)
        if v in net.faults:
            return 99
    return 99


@registry.forall(
    "still-minimal",
    Cases("all pairs of nodes of a fault-free supernode", lambda _: itertools.permutations(range(4), 2)),
    where="section 4.2, Figures 8(d) and 9",
    states="R takes a shortest way between any two nodes of a fault-free supernode, though it never turns at 01.",
)
def still_minimal(v: int, u: int) -> Counterexample | None:
    """Check the paths between all pairs of nodes of a supernode without fault."""
    net = Supercube(2, frozenset(), (0, 1))
    if _hops_in_supernode(net, v, u) == (v ^ u).bit_count() and not net.next_node_within(v, u) == 0b01 != u:
        return None
    return Counterexample.of(
        "a longer way, or a turn at 01", f"fc.multicast(fc.Hypercube(2), {v}, [{u}]).channels", {"n": 2}
    )


@registry.forall(
    "two-hops-inside",
    Cases(
        "all four places of the fault and all pairs of nonfaulty nodes",
        lambda _: itertools.permutations(range(4), 3),
    ),
    where="section 4.2, Figure 13",
    states="Figure 13 takes two hops at the most between any two nonfaulty nodes of a supernode with one fault.",
)
def two_hops_inside(fault: int, v: int, u: int) -> Counterexample | None:
    """Check the paths between all pairs of nonfaulty nodes of a supernode, for every place of the fault."""
    if _hops_in_supernode(Supercube(2, frozenset([fault]), (0, 1)), v, u) <= 2:
        return None
    cube = Hypercube(2, [fault])
    return Counterexample.of("more than two hops", f"fc.multicast(fc.{cube.source()}, {v}, [{u}]).N", cube_data(cube))


@registry.forall(
    "no-cycle-inside",
    Cases(
        "a fault-free supernode and all four places of a fault",
        lambda _: ((Hypercube(2, faults),) for faults in ((), (0,), (1,), (2,), (3,))),
    ),
    where="section 4.2, Figures 8(d) and 12",
    states=(
        "Inside one supernode, taken alone, no cycle of channels waits: neither with a faulty node, nor without one "
        "after the two turns are forbidden."
    ),
)
def no_cycle_inside(cube: Hypercube) -> Counterexample | None:
    """Search for a cycle in Q_2, which is one supernode, without a fault and with one at each place."""
    if dependency_cycle(cube) is None:
        return None
    return Counterexample.of("a cycle", f"fc.dependency_cycle(fc.{cube.source()}) is not None", cube_data(cube))


@registry.forall(
    "networks-disjoint",
    Cases(
        "by the labels of its ends; all sets of at most 2 faults of Q_3 and {} of Q_4 with all pairs, from everywhere to "
        "everyone and, among one fault at most, to each node alone",
        lambda most: (case for n, top in ((3, 2), (4, most)) for f in range(top + 1) for case in cut_cubes(n, f)),
        full=3,
        quick=0,
    ),
    where="section 4.2, Theorem 2, proof",
    states="No channel between supernodes of Q_n, n >= 3, is both in the high-channel network and in the low-channel network.",
    definition=True,
)
def networks_disjoint(cube: Hypercube, net: Supercube) -> Counterexample | None:
    """Compare the external channels of D_H and D_L: multicasts to all nodes, and to single nodes with at most one fault."""
    nonfaulty = [v for v in range(2**cube.n) if v not in net.faults]
    used: dict[str, set[tuple[int, int]]] = {"H": set(), "L": set(), "E": set()}
    alone = [{w} for w in nonfaulty] if len(net.faults) <= 1 else []
    for v, wanted in itertools.product(nonfaulty, [set(nonfaulty), *alone]):
        for use in multicast(cube, v, wanted - {v}, net.partition).uses:
            if (use.u ^ use.v) & ~net.inside:
                used[use.kind].add((use.u, use.v))
    if not used["H"] & used["L"]:
        return None
    u, v = min(used["H"] & used["L"])
    ends = f"{cube.label(u)} to {cube.label(v)}"
    python = f"fc.multicast(fc.{cube.source()}, {u}, [{v}], {net.partition}).channels"
    return Counterexample.of(f"a channel of D_H and of D_L: {ends}", python, cube_data(cube))


@registry.claim(
    "figures-16-17-printed",
    where="section 4.2, Figures 16 and 17",
    states=(
        "Figure 16 sends every destination of the source's own supernode a message, n >= 2 [as printed, where one "
        "inter-channel is needed, or where both buddies are destinations. Figure 17 has the same two cases]."
    ),
    correction="One message per outgoing inter-channel, carrying the destinations that R sends over it (A7).",
    misprint_reason=(
        "In the transcription we have, the case of two channels with one buddy among the destinations is left out. The text"
        " delivers to all destinations, and Figure 14 names the channel of each."
    ),
)
def figures_16_17_printed(effort: Effort) -> Verdict:
    """Try every source and destination set of Q_2 by size, without a fault and with one."""
    for faults in ((), (0,), (1,), (2,), (3,)):
        net = Supercube(2, frozenset(faults), (0, 1))
        nonfaulty = [v for v in range(4) if v not in faults]
        for size in range(1, len(nonfaulty)):
            for s in nonfaulty:
                for wanted in effort.each(itertools.combinations([v for v in nonfaulty if v != s], size), "Q_2"):
                    effort.count_if_applicable()
                    sent = split_in_supernode(net, s, wanted)
                    if {d for _, carried in sent for d in carried} != set(wanted):
                        found = _figure_16(Hypercube(2, faults), s, wanted)
                        check_agreement(
                            found.value,
                            [[b, list(carried)] for b, carried in sent],
                            "Figure 16's messages, by the lines of Python and by the program",
                        )
                        return Verdict("refuted", "destination sets of Q_2 by size", found)
    return Verdict("holds", "all sources and destination sets of Q_2, without a fault and with one")


def _figure_16(cube: Hypercube, s: int, wanted: tuple[int, ...]) -> Counterexample:
    """Return an example of step 2 of Figure 16 as printed, next to R for each single destination, which the library uses (A7)."""
    call = f"fc.multicast(fc.{cube.source()}, {s}, [d])"
    python = "\n".join(
        [
            f"D = {list(wanted)}",
            f"R = [{call}.channels[0][1] for d in D]",
            f"b = [b for b in ({s ^ 1}, {s ^ 2}) if b in D]",
            "two = [[b[0], [b[0]]], [b[1], [d for d in D if d != b[0]]]] if len(b) == 2 else []",
            "[[R[0], D]] if len(set(R)) == 1 else two",
        ]
    )
    description = (
        f"messages of Figure 16 from {s:02b} to {' and '.join(f'{d:02b}' for d in wanted)}, as printed: one where one "
        "inter-channel is needed, two where both buddies are destinations, else none; R alone is the library's"
    )
    return Counterexample.of(description, python, cube_data(cube) | {"source": s, "destinations": list(wanted)})


# ---------------------------------------------------------------- examples


@registry.claim(
    "example-4-3",
    where="sections 4.3 and 5, Figures 18 and 19",
    states=(
        "The multicast of Figure 18 goes up over 011, 010, 110, 111, 101, 100 and down over 011, 001, 000, and takes 14 "
        "channels [A6]."
    ),
)
def example_4_3(effort: Effort) -> Verdict:
    """Run the multicast of the figure, and compare N and the orders of supernodes."""
    call = f"m = fc.multicast(fc.{FIGURE_18.source()}, {SOURCE_18:#07b}, {list(DESTINATIONS_18)}, (0, 1))"
    order = "[list(dict.fromkeys(x >> 2 for u in m.uses if u.kind == k for x in (u.u, u.v))) for k in 'HL']"
    python = f"{call}\n[m.N, {order}]"
    data = cube_data(FIGURE_18) | {"source": SOURCE_18, "destinations": list(DESTINATIONS_18)}
    found = Counterexample.of(
        "channels of the multicast of Figure 18, and its supernodes upwards and downwards", python, data
    )
    found = found.with_form("{0}; upwards {1[0]:row3}, downwards {1[1]:row3}")
    wanted = [14, [[0b011, 0b010, 0b110, 0b111, 0b101, 0b100], [0b011, 0b001, 0b000]]]
    return example_verdict(effort, found, wanted, "the figure's fault set, source and destinations")


@registry.claim(
    "example-5-3",
    where="section 5.3",
    states=(
        "Eight faults, 00011, 00100, 01110, 01001, 11010, 11110, 10101 and 10011, leave {0, 1} fault-tolerant, and "
        "the multicast of Figure 18 is completed among them [none of its destinations is one]."
    ),
)
def example_5_3(effort: Effort) -> Verdict:
    """Run the multicast of Figure 18 and one to all other nonfaulty nodes, among the eight faults of the example."""
    wanted = sorted(DESTINATIONS_18)
    others = [v for v in range(32) if not SECTION_5_3.is_faulty(v) and v != SOURCE_18]
    call = f"fc.multicast(fc.{SECTION_5_3.source()}, {SOURCE_18:#07b}, wanted, (0, 1))"
    python = f"[[sorted({call}.delivered) for wanted in ({wanted}, {others})], list(fc.two_partition(fc.{SECTION_5_3.source()}))]"
    found = Counterexample.of(
        "destinations reached, those of Figure 18 and all; and Figure 2's pair", python, cube_data(SECTION_5_3)
    )
    found = found.with_form("{0[0]:nodes} and {0[1]:nodes}; {1:set}")
    return example_verdict(effort, found, [[wanted, others], [0, 1]], "the example's fault set")


def _multicasts_among_four(every_set: int, every_source: int) -> Iterator[tuple[Hypercube, Supercube, int, set[int]]]:
    """Yield multicasts of Q_4 with four faults: the source, and as destinations all nodes or each of two nodes."""
    for cube, net in itertools.islice(cut_cubes(4, 4), 0, None, every_set):
        nonfaulty = [v for v in range(16) if v not in net.faults]
        for s in nonfaulty[::every_source]:
            others = set(nonfaulty) - {s}
            yield from ((cube, net, s, wanted) for wanted in (others, {max(others)}, {min(others)}))


@registry.forall(
    "beyond-n-1",
    Cases(
        "{0[0]} of 4 faults of Q_4 with their fault-tolerant pairs, to everyone and to two single nodes from {0[1]} "
        "nonfaulty source",
        lambda chosen: _multicasts_among_four(*chosen[2:]),
        full=("all sets", "every", 1, 1),
        quick=("every twelfth set", "every fourth", 12, 4),
    ),
    where="section 5.3",
    states=(
        "With at most 2^(n-2) faults of Q_n, n >= 2, a multicast reaches every destination wherever a fault-tolerant "
        "2-partition exists."
    ),
)
def beyond_n_1(cube: Hypercube, net: Supercube, s: int, wanted: set[int]) -> Counterexample | None:
    """Check that a multicast among four faults of Q_4 reaches its destinations and meets no fault, for all pairs."""
    cast = multicast(cube, s, wanted, net.partition)
    if cast.delivered == wanted and not any(v in net.faults for _, v in cast.channels):
        return None
    call = f"m = fc.multicast(fc.{cube.source()}, {s}, {sorted(wanted)}, {net.partition})"
    python = f"{call}\n[sorted(m.delivered), sorted({{v for _, v in m.channels}})]"
    description = "the destinations reached, and the nodes entered: one is lost, or one is faulty"
    return Counterexample.of(description, python, cube_data(cube))
