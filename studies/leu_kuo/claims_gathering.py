"""Claims of Leu & Kuo about FTTC, over FIND_TREE's trees (sections 3.2 and 3.3), each for every variant where that matters.

``literal`` is Figure 13 character by character, ``comment`` as the comments beside it say, ``repaired`` ours (reading R9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from fastcube.algorithms.gathering import VARIANTS, Gathering, gather
from fastcube.algorithms.trees import CommunicationTree, detect, find_tree
from fastcube.engine.claims import Effort, Verdict, Witness
from fastcube.exact.trees import exact_gather
from fastcube.networks.hypercube import Hypercube

from .claims import first_cube, ledger, link_sets, random_cubes, witness

#: Link sets in the order in which a smallest witness is looked for.
SIZES = [(n, k) for n in (2, 3) for k in range(2 ** (n - 1) + 1)] + [(4, k) for k in range(5)]


def shown(words: str, cube: Hypercube, what: str, how: str = "") -> Witness:
    """A witness on FIND_TREE's tree: what an expression in g, the gathering, gives."""
    return witness(words, cube, f"(lambda g: {what})(fc.gather(cube, fc.find_tree(cube){how}))")


def run(cube: Hypercube, algorithm: str = "FTTC", variant: str | None = None) -> Gathering | None:
    """A gathering over FIND_TREE's tree; None without a sink."""
    tree = find_tree(cube)
    return None if tree is None else gather(cube, tree, algorithm, variant)


def first_run(
    effort: Effort, bad: Callable[[Gathering], bool], variant: str | None = None, algorithm: str = "FTTC"
) -> Hypercube:
    """The first cube of SIZES whose gathering is ``bad``."""

    def is_bad(cube: Hypercube) -> bool:
        g = run(cube, algorithm, variant)
        return g is not None and bad(g)

    found = first_cube(effort, SIZES, is_bad)
    assert found is not None
    return found


def _small_runs(effort: Effort, variant: str | None = None) -> Iterator[Gathering]:
    """All link sets of Q_2, Q_3 and drawn ones above, those with a sink."""
    for n, most in ((2, 4), (3, effort.pick(full=12, quick=4))):
        for links in range(most + 1):
            yield from filter(None, (run(cube, variant=variant) for cube in effort.each(link_sets(n, links), f"Q_{n}")))
    for n in (4, 5):
        yield from filter(
            None, (run(cube, variant=variant) for cube in random_cubes(effort, n, effort.pick(400, 60), seed=n))
        )


def _range(effort: Effort) -> str:
    return (
        f"all sets of links of Q_2, of Q_3 {effort.pick('', 'up to 4 links')}, and drawn ones of Q_4 and Q_5".replace(
            "  ", " "
        )
    )


# ---------------------------------------------------------------- Theorem 5


@ledger.claim(
    "last-stage",
    where="Theorem 5, proof",
    states="At stage n-1 the only active node must be able to send data message to the sink.",
)
def last_stage(effort: Effort) -> Verdict:
    """The sink has no faulty link."""
    for g in _small_runs(effort):
        assert all(stage < g.cube.n - 1 for stage in g.faulty_stages)
    return Verdict("holds", f"proved: FIND_TREE's sink has FAULT = 0; {_range(effort)}")


@ledger.claim(
    "theorem-5",
    where="Theorem 5",
    states="Algorithm FTTC takes O(n + k) parallel steps, k < n; the communication slowdown (n + k)/n is less than 2.",
)
def theorem_5(effort: Effort) -> Verdict:
    """As the paper counts: one more step for each faulty stage."""
    for g in _small_runs(effort):
        assert g.steps_paper == g.cube.n + len(g.faulty_stages) < 2 * g.cube.n
    return Verdict("holds", f"proved as the paper counts, without detours: stage n-1 is never faulty; {_range(effort)}")


@ledger.claim(
    "theorem-5-detours",
    where="Theorem 5",
    states="The communication slowdown is less than 2 [with the detours of m = 0, which the paper omits, at their length].",
    correction="It is as the paper counts, without detours (theorem-5); a detour has 3 links or more.",
    ours=True,
)
def theorem_5_detours(effort: Effort) -> Verdict:
    """Steps with every stage at 1, 2 for partitions, or its longest detour."""
    bad = first_run(effort, lambda g: g.steps_sync >= 2 * g.cube.n)
    shares = {n: float(exact_gather(n, 2 ** (n - 1)).twofold or 0) for n in (3,)}
    checked = (
        f"link sets by size; at n = 3 with 4 faulty links {shares[3]:.2%} of the sets with a sink take 2n steps or more"
    )
    return Verdict("refuted", checked, shown("steps with detours, and 2n", bad, "[g.steps_sync, 2 * cube.n]"))


@ledger.claim(
    "rerouting-slowdown", where="section 3.2", states="[By rerouting] the communication slowdown is (n + 3k)/n <= 4."
)
def rerouting_slowdown(effort: Effort) -> Verdict:
    """k <= n stages."""
    for n in effort.each(range(1, 63)):
        assert all(Fraction(n + 3 * k, n) <= 4 for k in range(n + 1))
    return Verdict(
        "holds", "arithmetic, as the paper counts; three hops for one are 2 more steps, so that n + 2k is enough"
    )


@ledger.claim(
    "rerouting-delivers",
    where="section 3.2",
    states="[The traditional rerouting strategy, a detour path of three hops, always delivers.]",
    ours=True,
    correction="It does where some dimension has three nonfaulty links around the faulty one.",
)
def rerouting_delivers(effort: Effort) -> Verdict:
    """Lost data among sets with a sink and no isolated node."""
    bad = first_run(effort, lambda g: g.lost > 0 and g.expected == 2**g.cube.n, algorithm="REROUTE")
    share = exact_gather(3, 4).complete_reroute
    checked = f"link sets by size; complete in {float(share or 0):.1%} of the sets of 4 links of Q_3 with a sink"
    return Verdict("refuted", checked, shown("units lost, without an isolated node", bad, "str(g.lost)", ', "REROUTE"'))


# ---------------------------------------------------------------- Theorem 6


def _deadlock_free(variant: str, why: str) -> Callable[[Effort], Verdict]:
    def decide(effort: Effort) -> Verdict:
        for g in _small_runs(effort, variant):
            assert not g.deadlocked
        return Verdict("holds", f"{why}; {_range(effort)}")

    decide.__doc__ = "Runs of small cubes; the order in which nodes wait proves it."
    return decide


_NO_CYCLE = (
    "proved: at one stage failing nodes wait for nothing, helpers for failing ones that hold their link nonfaulty and send "
    "over it, passive nodes for both; earlier stages wait for no later one"
)


@ledger.claim("theorem-6-literal", where="Theorem 6", states="Algorithm FTTC is deadlock-free [Figure 13 by its letter].",
              correction="By the comments beside it it is (theorem-6-comment); by its letter a helper waits for ever where its "
              "link to the failing neighbour is faulty too.")  # fmt: skip
def theorem_6_literal(effort: Effort) -> Verdict:
    """The first link set that blocks a node."""
    bad = first_run(effort, lambda g: g.deadlocked, "literal")
    return Verdict(
        "refuted", "link sets by size", shown("nodes that wait for ever", bad, "list(g.blocked)", ', variant="literal"')
    )


for _variant in ("comment", "repaired"):
    ledger.claim(
        f"theorem-6-{_variant}",
        where="Theorem 6",
        states=f"Algorithm FTTC is deadlock-free [variant {_variant}].",
        ours=_variant == "repaired",
    )(_deadlock_free(_variant, _NO_CYCLE))


@ledger.claim(
    "dependency-graph",
    where="Theorem 6, proof",
    states="This operation [adding edges to helpers] does not introduce any cycle in the RDG.",
)
def dependency_graph(effort: Effort) -> Verdict:
    """Who waits for whom over the whole run, without a cycle in any variant: nodes that wait for none are removed in turn."""
    for g in _small_runs(effort, "literal"):
        assert _acyclic(g.tree)
    why = "proved: a failing node sends before its helpers, and both before the nodes of later stages; in literal too"
    return Verdict("holds", f"{why}, which deadlocks all the same: what is waited for is never sent; {_range(effort)}")


def _acyclic(tree: CommunicationTree) -> bool:
    """Whether nodes can be ordered so that each waits for earlier ones only: the widest graph, which is literal's."""
    fault, d = detect(tree.cube).tolist(), tree.order
    waits: dict[int, set[int]] = {v: set() for v in range(2**tree.n)}
    for i, sender, receiver in tree.links:
        if not fault[sender] >> d[i] & 1:
            waits[receiver].add(sender)
            helped = (sender ^ 1 << d[j] for j in range(i + 1, tree.n))
            waits[sender] |= {w for w in helped if fault[w] >> d[i] & 1}
    while ready := {v for v, others in waits.items() if not others & waits.keys()}:
        waits = {v: others for v, others in waits.items() if v not in ready}
    return not waits


# ---------------------------------------------------------------- what arrives


def _always(variant: str, correction: str) -> None:
    @ledger.claim(
        f"always-{variant}",
        where="section 3.2",
        states="Algorithm FTTC always routes messages successfully unless there are nodes that are isolated "
        f"[variant {variant}].",
        ours=variant == "repaired",
        correction=correction,
    )
    def decide(effort: Effort) -> Verdict:
        """The first link set without an isolated node that loses data."""
        bad = first_run(effort, lambda g: g.lost > 0 and g.expected == 2**g.cube.n, variant)
        words = "units lost, by cause, without an isolated node"
        what = "{k: str(v) for k, v in g.lost_by.items() if v}"
        return Verdict("refuted", "link sets by size", shown(words, bad, what, f', variant="{variant}"'))


_always("literal", "Helpers wait for ever; repaired, only the stranded data is lost (repaired-loses-the-stranded).")
_always(
    "comment",
    "Failing neighbours send each other partitions that neither waits for, or there is no path; repaired, only the stranded "
    "data is lost (repaired-loses-the-stranded).",
)
_always(
    "repaired",
    "Nodes that are not isolated can be cut off from the sink together; nothing else is lost (repaired-loses-the-stranded).",
)


@ledger.claim(
    "repaired-loses-the-stranded",
    where="reading R9",
    states="[Repaired loses exactly the data of nodes that nonfaulty links do not join to the sink.]",
    ours=True,
)
def repaired_loses_the_stranded(effort: Effort) -> Verdict:
    """Runs of small cubes."""
    for g in _small_runs(effort, "repaired"):
        assert g.lost == g.stranded
    why = "proved: partitions are merged and sent on, everything else has a path to the passive node or the sink if there is one"
    return Verdict("holds", f"{why}; {_range(effort)}")


@ledger.claim(
    "m-0-small",
    where="section 3.2",
    states="The probability that m = 0 is small [that a failing node has m = 0, over the fault sets with a sink].",
)
def m_0_small(effort: Effort) -> Verdict:
    """Exact for Q_3, and for Q_4 up to some links; no threshold is printed: the shares are reported."""
    share = exact_gather(3, 4).no_partition or Fraction(0)
    four = {k: float(exact_gather(4, k).no_partition or 0) for k in effort.each(range(4, effort.pick(full=8, quick=6)))}
    listed = ", ".join(f"{k} links {p:.2%}" for k, p in four.items())
    words = "share of the sets of 4 links of Q_3 with a sink"
    evidence = Witness.of(words, "str(fc.exact_gather(3, links=4).no_partition)", {"n": 3, "links": 4, "f": 0})
    checked = f"no threshold is printed; exact: Q_3, 4 links {float(share):.2%}; Q_4, {listed}"
    return Verdict("undecided", checked, evidence)


@ledger.claim(
    "theorem-7",
    where="Theorem 7",
    states="FIND_TREE, FTTC and UDD can tolerate at least 2^(n-1) link failures [all data of non-isolated nodes arrives].",
    correction="Theorem 3 promises a sink below 2^(n-1) only, and a perfect matching of 2^(n-1) links leaves none.",
)
def theorem_7(effort: Effort) -> Verdict:
    """A perfect matching leaves no sink, though no node is isolated from n = 2 on."""
    effort.step()
    cube = Hypercube(2, (), [(0, 1), (2, 3)])
    words = "two faulty links, no isolated node, and no sink"
    return Verdict("refuted", "a perfect matching", witness(words, cube, "fc.find_tree(cube) is None"))


def _theorem_7(variant: str, correction: str) -> None:
    @ledger.claim(
        f"theorem-7-{variant}",
        where="Theorem 7",
        states=f"[With fewer than 2^(n-1) faulty links all data of non-isolated nodes arrives, variant {variant}.]",
        ours=True,
        correction=correction,
    )
    def decide(effort: Effort) -> Verdict:
        """The first link set below Theorem 3's bound that loses data."""
        if variant == "repaired":
            return _cut_off(effort)
        bad = first_run(effort, lambda g: g.lost > 0 and len(g.cube.faulty_links) < 2 ** (g.cube.n - 1), variant)
        return Verdict(
            "refuted", "link sets by size", shown("units lost", bad, "str(g.lost)", f', variant="{variant}"')
        )


def _cut_off(effort: Effort) -> Verdict:
    sizes = [(2, 1), (3, 2), (3, 3), *((4, k) for k in range(2, effort.pick(full=6, quick=5)))]
    for n, links in effort.each(sizes, "all link sets"):
        assert exact_gather(n, links).complete_repaired == 1
    pair = (0b1110, 0b1111)
    cube = Hypercube(4, (), [(u, u ^ 1 << k) for u in pair for k in (1, 2, 3)])
    words = "2(n-1) faulty links cut two neighbours off, fewer than 2^(n-1) from n = 4 on"
    last = effort.pick(5, 4)
    return Verdict("refuted", f"all link sets of Q_2 and Q_3 below 2^(n-1), of Q_4 up to {last}",
                   shown(words, cube, "str(g.lost)", ', variant="repaired"'))  # fmt: skip


_theorem_7("literal", "Helpers wait for ever, from n = 3 and two links on; see theorem-7-repaired.")
_theorem_7("comment", "So for n = 3; from n = 4 and four links on partitions are lost; see theorem-7-repaired.")
_theorem_7("repaired", "So unless nodes are cut off together, which takes 2(n-1) links.")


# ---------------------------------------------------------------- examples and node failures


@ledger.claim(
    "example-3",
    where="Example 3",
    states="1011 divides the data into 2 partitions and sends them to 1111 and 0011; 1010 does nothing "
    "[and all data arrives: comment and repaired; literal leaves 1001 waiting].",
)
def example_3(effort: Effort) -> Verdict:
    """Links 1011-1010 and 1011-1001, sink 0000, order (0, 1, 2, 3)."""
    cube = Hypercube(4, (), [(0b1011, 0b1010), (0b1011, 0b1001)])
    tree = CommunicationTree(cube, 0, (0, 1, 2, 3))
    for variant in effort.each(VARIANTS):
        g = gather(cube, tree, variant=variant)
        assert [(p.node, p.partners) for p in g.plans] == [(0b1011, (0b1111, 0b0011))]
        assert (g.lost == 0) == (variant != "literal")
    return Verdict("holds", "the example itself, in all variants")


@ledger.claim(
    "example-4",
    where="Example 4",
    states="At stage 0, node 100 is not able to send messages to node 000, thus it sends them to node 101; the computation "
    "is still completed correctly [comment and repaired].",
)
def example_4(effort: Effort) -> Verdict:
    """Figure 16: links 100-110 and 100-000 and node 111, with FIND_TREE's tree."""
    cube = Hypercube(3, [0b111], [(0b100, 0b110), (0b100, 0b000)])
    for variant in effort.each(("comment", "repaired")):
        g = run(cube, variant=variant)
        assert g is not None
        assert [(p.stage, p.node, p.partners) for p in g.plans] == [(0, 0b100, (0b101,))]
        assert g.lost == 0
    return Verdict("holds", "the example itself; Figure 13 by its letter deadlocks on it")


@ledger.claim(
    "faulty-as-isolated",
    where="section 3.3",
    states="Algorithms FIND_TREE and FTTC see no difference between faulty nodes and isolated nodes.",
)
def faulty_as_isolated(effort: Effort) -> Verdict:
    """A faulty node against the same node with all its links faulty: FAULT words, trees and deliveries."""
    for n in range(1, effort.pick(full=5, quick=4)):
        for cube in effort.each(link_sets(n, min(2, n)), f"Q_{n}"):
            for v in range(2**n):
                faulty = Hypercube(n, [v], cube.faulty_links)
                cut = Hypercube(n, (), [*cube.faulty_links, *((v, w) for w in cube.neighbours(v))])
                assert detect(faulty).tolist() == detect(cut).tolist()
                one, other = run(faulty), run(cut)
                assert (one is None) == (other is None)
                assert (
                    one is None or other is None or (one.tree.order, one.arrived) == (other.tree.order, other.arrived)
                )
    return Verdict(
        "holds", f"proved: the FAULT words are the same; one faulty node and two faulty links of Q_1, ..., Q_{n}"
    )


@ledger.claim(
    "computation-slowdown",
    where="section 3.3",
    states="It is obvious that the computation slowdown is N/(N - f), where f is the number of faulty nodes.",
    correction="It is N over the number of nodes that hold data: isolated ones hold none either (reading R13).",
)
def computation_slowdown(effort: Effort) -> Verdict:
    """A faulty node can isolate another."""
    effort.step()
    cube = Hypercube(3, [1, 2, 4])
    words = "3 faulty nodes isolate node 0: 4 of 8 nodes hold data, not N - f = 5"
    return Verdict("refuted", "the neighbours of a node", shown(words, cube, "[g.expected, 8 - 3]"))
