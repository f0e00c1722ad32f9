"""Claims of Sui, Wang & Lee on broadcasting: Theorem 2, its optimality, and cited results."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

from fastcube.algorithms.spanning import broadcast_packets
from fastcube.algorithms.spanning_flows import NonfaultyGraph, iterate_members
from fastcube.networks.hypercube import Hypercube
from fastcube.studies.sui_wang_lee.packets import printed_steps

from ...claims import Cases, Counterexample, Effort, Verdict, check_agreement
from .registry import registry
from .schedules import search_schedule
from .trees import (
    cube_at,
    cube_data_at,
    decide_over_bases,
    enumerate_light_trees,
    heights_counterexample,
    largest_dimension,
)


def steps_on_trees(heights: tuple[int, ...], packets: int) -> int:
    """Return the steps of a broadcast of packets that are dealt in turn to edge-disjoint trees of these heights."""
    k = len(heights)
    return max((packets - i + k - 1) // k - 1 + high for i, high in enumerate(heights) if i < packets)


@registry.claim(
    "theorem-2",
    where="Theorem 2",
    states="Dealt to the n - 1 light trees of Q'_n, n >= 3, M >= 1 packets take ceil(M/(n-1)) + n steps.",
    correction=(
        "With trees of which n - 2 have height n + 1 (n-2-tall-trees), and a remaining packet sent down the tallest tree, "
        "it does. With other trees or another distribution of packets, it is one step fewer at H(f,s) = n - 1 for some M."
    ),
    fact="base-trees",
    group="light trees",
)
def theorem_2(effort: Effort) -> Verdict:
    """Compare the steps with the formula for every distance, base and order of dealing, and up to 4 n packets.

    With n - 1 packets more, steps and formula both grow by one.
    """
    for n, d, _, heights in enumerate_light_trees(effort):
        cube = cube_at(n, d)
        for packets in (1, n):
            check_agreement(
                broadcast_packets(cube, 0, packets),
                steps_on_trees(heights, packets),
                f"steps of {packets} packets in Q'_{n}, d = {d}",
            )

    def is_as_printed(n: int, d: int, heights: tuple[int, ...]) -> bool:
        tallest = tuple(sorted(heights, reverse=True))
        return all(steps_on_trees(tallest, m) == printed_steps(n, d, m) for m in range(1, 4 * n + 1))

    over_bases = decide_over_bases(effort, is_as_printed)
    if over_bases.outcome != "depends" or over_bases.counterexample is None:
        return over_bases
    by_s7 = [
        (n, d, m)
        for n, d, _, heights in enumerate_light_trees(effort)
        for m in range(1, 4 * n + 1)
        if steps_on_trees(heights, m) != printed_steps(n, d, m)
    ]
    if not by_s7:
        return over_bases
    n, d, packets = by_s7[0]
    python = f"fc.broadcast_packets(fc.{cube_at(n, d).source()}, 0, packets={packets})"
    description = (
        f"steps of M = {packets} in Q'_{n}, H(f,s) = {d}, by S7 and S10; stated: {printed_steps(n, d, packets)}"
    )
    sizes = sorted({n for n, _, _ in by_s7})
    return Verdict(
        "depends",
        f"{over_bases.checked}, the tallest tree being dealt to first; by interpretations S7 and S10, every source and faulty "
        f"node of Q_3, ..., Q_{largest_dimension(effort)}: one step fewer somewhere in Q'_n for n = {', '.join(map(str, sizes))}",
        Counterexample.of(description, python, cube_data_at(n, d, packets=packets)),
        (over_bases.counterexample, _other_heights_example(over_bases.more[0], packets)),
    )


def _other_heights_example(heights: Counterexample, packets: int) -> Counterexample:
    """Return an example with the same number of packets on trees of other heights."""
    n = heights.data["n"]
    *lines, expression = heights.python.split("\n")
    steps = f"max(({packets} - i + len(h) - 1) // len(h) - 1 + x for i, x in enumerate(h) if i < {packets})"
    description = f"steps of M = {packets} in Q'_{n} down the trees of another base, the tallest first"
    python = "\n".join([*lines, f"h = sorted({expression}, reverse=True)", steps])
    return Counterexample.of(description, python, heights.data | {"packets": packets})


def _schedule_counterexample(n: int, d: int, packets: int, steps: int) -> Counterexample | None:
    """Return a counterexample: a schedule of at most ``steps`` steps, or None where the search finds none."""
    cube = cube_at(n, d)
    schedule = search_schedule(cube, 0, packets, steps)
    if schedule is None:
        return None
    return Counterexample.of(
        f"a schedule of {steps} steps for M = {packets} in Q'_{n}, H(f,s) = {d}; "
        f"the trees take {broadcast_packets(cube, 0, packets)}, printed are {printed_steps(n, d, packets)}",
        f"fc.schedule_steps(fc.{cube.source()}, 0, {packets}, {schedule})",
        cube_data_at(n, d, packets=packets, schedule=schedule),
    )


def _bound(n: int, d: int, packets: int) -> int:
    """Return a lower bound on the steps of every schedule, from the packets that leave the source last."""
    graph = NonfaultyGraph(cube_at(n, d))
    out, layers = 0, list(graph.iter_layers(1))
    for far, layer in enumerate(layers):
        for v in iterate_members(layer):
            alone = math.ceil(packets / sum(ends >> v & 1 for ends in graph.links))
            out = max(out, alone + len(layers) - 2 if far == 0 else far - 1 + alone)
    return out


#: Proof that no set of n - 1 trees has a height below n + 1 (interpretation S13).
_PROOF = (
    "among n - 1 edge-disjoint trees with the root s it is minimal for n >= 4, proved: s has n nonfaulty links at the "
    "most, so that n - 2 of the trees leave it by one link s -> s_i each, from where the antipode of s_i is n links "
    "more; it is faulty for one of them at the most, and so n - 3 >= 1 trees have height n + 1"
)


def _light_trees_example(n: int) -> Counterexample:
    """Return an example: the heights of the light trees of Q'_n, whose maximum cannot be lower."""
    return heights_counterexample(
        f"heights of the n - 1 trees of Q'_{n} rooted at s: among such trees {n + 1} is the least greatest", n, 1, False
    )


@registry.claim(
    "theorem-2-minimal",
    where="Theorem 2",
    states=(
        "No broadcast of M packets in Q'_n, n >= 4, takes fewer than ceil(M/(n-1)) + n steps [of any schedule; or over n - 1 "
        "trees]."
    ),
    correction=(
        "Among broadcasts over n - 1 edge-disjoint trees that reach their greatest height it is minimal; other schedules are "
        "shorter."
    ),
    fact="minimal-latency",
)
def theorem_2_minimal(effort: Effort) -> Verdict:
    """Search for shorter schedules for the smallest n and M, and compare with the lower bound."""
    most = effort.by_effort(full=8, quick=6)
    shorter, optimal, tried = [], 0, 0
    for packets, d in effort.each(itertools.product(range(1, most + 1), range(1, 5)), "schedules in Q'_4"):
        tried += effort.count_if_applicable()
        steps, bound = broadcast_packets(cube_at(4, d), 0, packets) or 0, _bound(4, d, packets)
        check_agreement(
            bound <= steps,
            True,
            f"the bound of {packets} packets at distance {d} against the steps over the trees",
        )
        found = next(
            (k for k in range(bound, steps) if search_schedule(cube_at(4, d), 0, packets, k) is not None), steps
        )
        optimal += found == bound
        if found < printed_steps(4, d, packets):
            shorter.append((4, d, packets, found))
    checked = (
        f"schedules searched for M = 1, ..., {most} and every d of Q'_4: shorter than stated at {len(shorter)} of "
        f"{tried}, as short as any can be at {optimal}; {_PROOF}"
    )
    if not shorter:
        return Verdict("holds", checked)
    first = _schedule_counterexample(*shorter[0])
    # as many packets as trees, so that no tree is idle
    busy = next((_schedule_counterexample(*case) for case in shorter if case[2] >= 6), None)
    if first is None:
        return Verdict("undecided", checked)
    further = () if busy is None else (busy,)
    return Verdict("depends", checked, first, (*further, _light_trees_example(4)))


@registry.claim(
    "latency",
    where="abstract; section IV; conclusion",
    states=(
        "No broadcast of one packet in Q'_n, n >= 4, takes fewer than n + 1 steps [of any kind; or over n - 1 edge-disjoint "
        "trees]."
    ),
    correction=(
        "Over n - 1 edge-disjoint trees none does; flooding takes n steps, or n - 1 where the antipode of s is faulty."
    ),
    fact="minimal-latency",
)
def latency(effort: Effort) -> Verdict:
    """Check that a packet sent over all links at once reaches every node after as many steps as its distance."""
    most = effort.by_effort(full=8, quick=5)
    flooding = None
    for n, d in effort.each(((m, d) for m in range(4, most + 1) for d in range(1, m + 1)), "one packet"):
        effort.count_if_applicable()
        steps = broadcast_packets(cube_at(n, d), 0, 1, trees="bfs")
        check_agreement(
            steps, n - 1 if d == n else n, f"steps of one packet over a shortest-path tree of Q'_{n} at distance {d}"
        )
        if flooding is None and steps is not None and steps < n + 1:
            python = f'fc.broadcast_packets(fc.{cube_at(n, d).source()}, 0, packets=1, trees="bfs")'
            description = f"steps of one packet down a shortest-path tree of Q'_{n}; n + 1 is {n + 1}"
            flooding = Counterexample.of(description, python, cube_data_at(n, d, packets=1))
    checked = f"every distance in Q'_4, ..., Q'_{most}, by shortest-path trees; {_PROOF}"
    if flooding is None:
        return Verdict("holds", checked)
    return Verdict("depends", checked, flooding, (_light_trees_example(4),))


def _spanning_trees_of_q3(d: int) -> Iterator[tuple[int, frozenset[tuple[int, int]]]]:
    """Yield the height and the directed links of every spanning tree of Q'_3 with root 0."""
    graph = NonfaultyGraph(cube_at(3, d))
    nodes = list(iterate_members(graph.nodes))
    links = [(v, v | 1 << k) for v in nodes for k in range(3) if not v >> k & 1 and graph.links[k] >> v & 1]
    for chosen in itertools.combinations(links, len(nodes) - 1):
        depth, arcs, front = {0: 0}, [], [0]
        for u in front:
            for v in [b if a == u else a for a, b in chosen if u in (a, b)]:
                if v not in depth:
                    depth[v] = depth[u] + 1
                    arcs.append((u, v))
                    front.append(v)
        if len(depth) == len(nodes):
            yield max(depth.values()), frozenset(arcs)


@registry.claim(
    "spanning-graph-height",
    where="abstract",
    states=(
        "No n - 1 edge-disjoint spanning trees of Q'_n, n >= 3, with the root s have a smaller greatest height than "
        "the light trees re-rooted at s."
    ),
    correction=(
        "For n >= 4 none have. For n = 3 none have at H(f,s) = 1 and 3; at H(f,s) = 2 it depends on the base trees: none have "
        "if these make Lemma 6 false."
    ),
    fact="base-trees",
    group="light trees",
)
def spanning_graph_height(effort: Effort) -> Verdict:
    """Compare heights with the heights of every pair of spanning trees in Q'_3; for larger n the proof of S13 applies."""
    best = {}
    for d in (1, 2, 3):
        trees = list(_spanning_trees_of_q3(d))
        pairs = effort.each(itertools.combinations(trees, 2), f"pairs of trees, H(f,s) = {d}")
        best[d] = min(max(a, b) for (a, one), (b, other) in pairs if not one & other)
    found = decide_over_bases(effort, lambda n, d, heights: n > 3 or max(heights) == best[d])
    by_distance = ", ".join(f"{height} at distance {d}" for d, height in best.items())
    checked = (
        f"{found.checked}; n = 3, every pair of spanning trees: the least greatest height is "
        f"{by_distance}; n >= 4: {_PROOF}"
    )
    return replace(found, checked=checked)


# ---------------------------------------------------------------- cited results


@registry.claim(
    "latifi",
    where="section IV, after Latifi [7]",
    states="The largest diameter of what is left of Q_n without n - 1 nodes is n + 1, n >= 3.",
)
def latifi(effort: Effort) -> Verdict:
    """Compute the diameters of Q_n without n - 1 faulty nodes, for all fault sets up to translation."""
    most = effort.by_effort(full=5, quick=4)
    attained = []
    for n in range(3, most + 1):
        diameter = 0
        for others in effort.each(itertools.combinations(range(1, 2**n), n - 2), f"Q_{n}"):
            effort.count_if_applicable()
            cube = Hypercube(n, (0, *others))
            graph = NonfaultyGraph(cube)
            for v in iterate_members(graph.nodes):
                layers = list(graph.iter_layers(1 << v))
                far = len(layers) - 1 if sum(map(int.bit_count, layers)) == graph.nodes.bit_count() else 2**n
                diameter = max(diameter, far)
                if far > n + 1:
                    python = f'fc.broadcast_packets(fc.{cube.source()}, {v}, packets=1, trees="bfs")'
                    data = {"n": n, "faulty_nodes": [0, *others]}
                    return Verdict("refuted", f"Q_{n}", Counterexample.of(f"farthest from {v}", python, data))
        attained.append(diameter)
    checked = f"all sets of n - 1 faulty nodes of Q_3, ..., Q_{most}; the largest diameters are {', '.join(map(str, attained))}"
    return Verdict("holds" if attained == list(range(4, most + 2)) else "undecided", checked)


@registry.forall(
    "johnsson-ho",
    Cases(
        "M = 1, ..., 3n in Q_2, ..., Q_{}",
        lambda most: ((n, packets) for n in range(2, most + 1) for packets in range(1, 3 * n + 1)),
        full=12,
        quick=8,
    ),
    where="section II, after Johnsson and Ho [3]",
    states="Dealt to Johnsson and Ho's n trees of Q_n, n >= 2, M >= 1 packets take ceil(M/n) + n steps.",
)
def johnsson_ho(n: int, packets: int) -> Counterexample | None:
    """Count the steps on the n trees without fault; one source suffices because of translations."""
    if broadcast_packets(Hypercube(n), 0, packets) == printed_steps(n, 0, packets):
        return None
    python = f"fc.broadcast_packets(fc.Hypercube({n}), 0, packets={packets})"
    return Counterexample.of("steps", python, {"n": n, "source": 0, "packets": packets})
