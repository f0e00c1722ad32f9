"""Claims of Leu & Kuo about the data that FTTC delivers to the sink, its examples, and faulty nodes (sections 3.2 and 3.3).

Variants and conventions as in ``gathering``.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

from fastcube.algorithms.gathering import Gathering
from fastcube.algorithms.trees import find_tree, unusable_link_masks
from fastcube.exact.enumeration import exact_gather
from fastcube.networks.hypercube import Hypercube

from ...claims import Cases, Counterexample, Effort, Verdict, check_agreement
from ...cubes import enumerate_cubes
from .gathering import (
    HELPER,
    FirstRun,
    Runs,
    gather_on_tree,
    gathering_counterexample,
    is_lossy_without_isolated,
    run_counterexample,
)
from .registry import cube_counterexample, example_verdict, registry
from .trees import LinkSets


def _claim_always_complete(variant: str, correction: str, misprint_reason: str = "") -> None:
    @registry.forall(
        f"always-{variant.replace('_', '-')}",
        FirstRun(variant),
        where="section 3.2",
        states=(
            "Where FIND_TREE finds a tree of Q_n, n >= 2, and no node has lost all its links, FTTC brings everything to the sink "
            f"[{variant.replace('_', ' ')}]."
        ),
        added=variant == "corrected",
        correction=correction,
        fact="figure-13-helper" if misprint_reason else "",
        misprint_reason=misprint_reason,
    )
    def check_complete(g: Gathering) -> Counterexample | None:
        """Find the first link set without an isolated node that loses data."""
        if not is_lossy_without_isolated(g):
            return None
        description = "units lost, by cause, without an isolated node"
        return run_counterexample(description, g, "{k: str(v) for k, v in g.lost_by.items() if v}")


_claim_always_complete(
    "as_printed",
    "Helpers wait for ever; corrected, only the stranded data is lost (corrected-loses-the-stranded).",
    HELPER,
)
_claim_always_complete(
    "as_commented",
    (
        "Failing neighbours send each other partitions that neither waits for, or there is no path. With the correction, only "
        "the stranded data is lost (corrected-loses-the-stranded)."
    ),
)
_claim_always_complete(
    "corrected",
    "Nodes that are not isolated can be cut off from the sink together; nothing else is lost (corrected-loses-the-stranded).",
)


@registry.forall(
    "corrected-loses-the-stranded",
    Runs(
        "proved: partitions are merged and sent on, everything else has a path to the passive node or the sink if there is one; ",
        "corrected",
        method="proved",
    ),
    where="interpretation R9",
    states="[Corrected, FTTC loses exactly the data of nodes that nonfaulty links do not join to the sink, in Q_n, n >= 2.]",
    added=True,
)
def corrected_loses_the_stranded(g: Gathering) -> Counterexample | None:
    """Compare the lost data with the data of nodes cut off from the sink, in runs on small cubes."""
    if g.lost == g.unreachable_data:
        return None
    description = "units lost, and units of nodes not joined to the sink"
    return run_counterexample(description, g, "[str(g.lost), str(g.unreachable_data)]")


@registry.claim(
    "m-0-small",
    where="section 3.2",
    states=(
        "It rarely happens that a failing node has no active neighbour to help it, m = 0 [fraction of the fault sets with a "
        "sink]."
    ),
)
def m_0_small(effort: Effort) -> Verdict:
    """Report exact fractions for Q_3, and for Q_4 up to some links; the paper prints no threshold."""
    fraction = exact_gather(3, 4)["blocked_sender_without_helper"] or Fraction(0)
    effort.applied += math.comb(12, 4)
    four = {
        k: float(exact_gather(4, k)["blocked_sender_without_helper"] or 0)
        for k in effort.each(range(4, effort.by_effort(full=8, quick=6)))
    }
    effort.applied += sum(math.comb(32, k) for k in four)
    listed = ", ".join(f"{k} links {p:.2%}" for k, p in four.items())
    description = "fraction of the sets of 4 links of Q_3 with a sink"
    evidence = Counterexample.of(
        description, "str(fc.exact_gather(3, links=4)['blocked_sender_without_helper'])", {"n": 3, "links": 4, "f": 0}
    )
    checked = f"no threshold is printed; exact: Q_3, 4 links {float(fraction):.2%}; Q_4, {listed}"
    return Verdict("undecided", checked, evidence)


@registry.forall(
    "theorem-7",
    LinkSets([(2, 2), (3, 4)]),
    where="Theorem 7",
    states=(
        "FIND_TREE, FTTC and uniform data tolerate at least 2^(n-1) faulty links of Q_n, n >= 2 [as many, whichever they are: "
        "all data of nodes that are not isolated arrives]."
    ),
    correction=(
        "Theorem 3 promises a sink below 2^(n-1) only, and a perfect matching of 2^(n-1) links leaves none. With fewer there is "
        "one, but data can be lost (theorem-7-as-commented)."
    ),
)
def theorem_7(cube: Hypercube) -> Counterexample | None:
    """Find the first set of 2^(n-1) links that leaves no sink and isolates no node."""
    is_isolating = any(word == 2**cube.n - 1 for word in unusable_link_masks(cube).tolist())
    if is_isolating or find_tree(cube) is not None:
        return None
    description = "as many faulty links, no isolated node, and no sink"
    return cube_counterexample(description, cube, "fc.find_tree(cube) is None")


def _claim_theorem_7(variant: str, correction: str) -> None:
    @registry.claim(
        f"theorem-7-{variant.replace('_', '-')}",
        where="Theorem 7",
        states=(
            "[With fewer than 2^(n-1) faulty links of Q_n, n >= 2, all data of non-isolated nodes arrives, "
            f"{variant.replace('_', ' ')}.]"
        ),
        added=True,
        correction=correction,
    )
    def decide_theorem_7(effort: Effort) -> Verdict:
        """Find the first link set below Theorem 3's bound that loses data."""
        if variant == "corrected":
            return _decide_cut_off(effort)

        def check(g: Gathering) -> Counterexample | None:
            is_below_bound = len(g.cube.faulty_links) < 2 ** (g.cube.n - 1)
            return run_counterexample("units lost", g, "str(g.lost)") if g.lost > 0 and is_below_bound else None

        return FirstRun(variant).decide(effort, check)


def _decide_cut_off(effort: Effort) -> Verdict:
    last = effort.by_effort(full=5, quick=4)
    for n, links in effort.each([(2, 1), (3, 2), (3, 3), *((4, k) for k in range(2, last + 1))], "all link sets"):
        effort.applied += math.comb(n * 2 ** (n - 1), links)
        check_agreement(
            exact_gather(n, links)["complete_corrected"],
            Fraction(1),
            f"variant corrected with {links} faulty links of Q_{n}",
        )
    pair = (0b1110, 0b1111)
    cube = Hypercube(4, (), [(u, u ^ 1 << k) for u in pair for k in (1, 2, 3)])
    description = "2(n-1) faulty links cut two neighbours off, fewer than 2^(n-1) from n = 4 on"
    found = gathering_counterexample(description, cube, "str(g.lost)", ', variant="corrected"')
    return Verdict(
        "refuted" if found.value != "0" else "undecided",
        f"all link sets of Q_2 and Q_3 below 2^(n-1), of Q_4 up to {last}",
        found,
    )


_claim_theorem_7("as_printed", "Helpers wait for ever; see theorem-7-corrected.")
_claim_theorem_7("as_commented", "Partitions are lost; see theorem-7-corrected.")
_claim_theorem_7("corrected", "All data arrives unless nodes are cut off together, which takes 2(n-1) links.")


# ---------------------------------------------------------------- examples and node failures


@registry.claim(
    "example-3",
    where="Example 3",
    states=(
        "With 1011-1010 and 1011-1001 faulty, 1011 sends half of its data to 1111 and half to 0011, and 1010 does nothing [and "
        "everything arrives, as commented and corrected]."
    ),
)
def example_3(effort: Effort) -> Verdict:
    """Run the example: links 1011-1010 and 1011-1001, sink 0000, order (0, 1, 2, 3)."""
    effort.count_if_applicable()
    cube = Hypercube(4, (), [(0b1011, 0b1010), (0b1011, 0b1001)])
    python = (
        "[[[[p.node, list(p.partners)] for p in g.plans], str(g.lost)] for v in ('as_commented', 'corrected') "
        "for g in [fc.gather(cube, fc.CommunicationTree(cube, 0, (0, 1, 2, 3)), variant=v)]]"
    )
    found = cube_counterexample("who sends partitions to whom, and what is lost, by variant", cube, python)
    found = found.with_form(
        "as commented: {0[0][0][0]:node} to {0[0][0][1]:row}, {0[1]} lost; "
        "corrected: {1[0][0][0]:node} to {1[0][0][1]:row}, {1[1]} lost"
    )
    return example_verdict(
        found, [[[[0b1011, [0b1111, 0b0011]]], "0"]] * 2, "the example itself; as printed, Figure 13 blocks 1001"
    )


@registry.claim(
    "example-4",
    where="Example 4",
    states=(
        "With the links 100-110 and 100-000 and the node 111 faulty, 100 sends at stage 0 to 101 in place of 000, and everything "
        "arrives [as commented and corrected]."
    ),
)
def example_4(effort: Effort) -> Verdict:
    """Run the example of Figure 16: node 111, links 100-000 and 100-110, FIND_TREE's tree."""
    effort.count_if_applicable()
    cube = Hypercube(3, [0b111], [(0b100, 0b110), (0b100, 0b000)])
    python = (
        "[[[[p.stage, p.node, list(p.partners)] for p in g.plans], str(g.lost)] for v in ('as_commented', 'corrected') "
        "for g in [fc.gather(cube, fc.find_tree(cube), variant=v)]]"
    )
    found = cube_counterexample("stage, sender and receivers of partitions, and what is lost, by variant", cube, python)
    found = found.with_form(
        "as commented: stage {0[0][0][0]}, {0[0][0][1]:node} to {0[0][0][2]:row}, {0[1]} lost; "
        "corrected: stage {1[0][0][0]}, {1[0][0][1]:node} to {1[0][0][2]:row}, {1[1]} lost"
    )
    return example_verdict(
        found, [[[[0, 0b100, [0b101]]], "0"]] * 2, "the example itself; as printed, Figure 13 deadlocks on it"
    )


def _nodes_among_two_links(largest: int) -> Iterator[tuple[Hypercube, int]]:
    for n in range(1, largest + 1):
        for cube in enumerate_cubes(n, links=min(2, n)):
            yield from ((cube, v) for v in range(2**n))


@registry.forall(
    "faulty-as-isolated",
    Cases(
        "proved: the FAULT words are the same; one faulty node and two faulty links of Q_1, ..., Q_{}",
        _nodes_among_two_links,
        full=4,
        quick=3,
        method="proved",
    ),
    where="section 3.3",
    states="FIND_TREE and FTTC do the same in Q_n, n >= 1, for a faulty node as for one all of whose links are faulty.",
    definition=True,
)
def faulty_as_isolated(cube: Hypercube, v: int) -> Counterexample | None:
    """Compare a faulty node with a node whose links are all faulty: FAULT words, trees and deliveries."""
    faulty = Hypercube(cube.n, [v], cube.faulty_links)
    cut = Hypercube(cube.n, (), [*cube.faulty_links, *((v, w) for w in cube.neighbours(v))])
    runs = [gather_on_tree(c) for c in (faulty, cut)]
    outcomes = [None if g is None else (g.tree.order, g.arrived) for g in runs]
    if unusable_link_masks(faulty).tolist() == unusable_link_masks(cut).tolist() and outcomes[0] == outcomes[1]:
        return None
    python = f"[fc.unusable_link_masks(c).tolist() for c in (cube, fc.{cut.source()})]"
    return cube_counterexample(f"FAULT of all nodes, {v:0{cube.n}b} faulty, and its links faulty", faulty, python)


@registry.claim(
    "computation-slowdown",
    where="section 3.3",
    states=(
        "Among f faulty nodes the computation takes N/(N - f) times as long, N = 2^n, n >= 2 [f: faulty; or all without data]."
    ),
    correction="It is N over the number of nodes that hold data: isolated nodes hold none either (interpretation R13).",
)
def computation_slowdown(effort: Effort) -> Verdict:
    """Find the first fault set that isolates a node, and a set with that node counted among the f."""
    for n, f in ((2, 2), (3, 3)):
        for cube in effort.each(enumerate_cubes(n, f), f"Q_{n}"):
            g = gather_on_tree(cube)
            if g is not None and effort.count_if_applicable() and g.expected != 2**n - f:
                alone = sum(word != 2**n - 1 for word in unusable_link_masks(cube).tolist())
                check_agreement(g.expected, alone, "nodes that hold data, and nodes with a nonfaulty link")
                description = "nodes that hold data, and N - f: fewer, since the faults isolate another node"
                fewer = gathering_counterexample(description, cube, "[g.expected, 2**cube.n - len(cube.faulty_nodes)]")
                description = "nodes that hold data, and N less the faulty and the isolated nodes: equal"
                counted = "[g.expected, sum(word != 2**cube.n - 1 for word in fc.unusable_link_masks(cube).tolist())]"
                return Verdict(
                    "depends",
                    "fault sets with a sink by size",
                    fewer,
                    (gathering_counterexample(description, cube, counted),),
                )
    return Verdict("holds", "fault sets with a sink of Q_2 and Q_3 that have n nodes")
