"""Claims of Leu & Kuo about FTTC, over FIND_TREE's trees (sections 3.2 and 3.3), each for every variant where that matters.

``literal`` is Figure 13 character by character, ``comment`` as the comments beside it say, ``repaired`` ours (reading R9).
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction

from fastcube.algorithms.gathering import Gathering, gather
from fastcube.algorithms.gathering_run import Run
from fastcube.algorithms.trees import CommunicationTree, detect, find_tree
from fastcube.exact.enumeration import exact_gather
from fastcube.networks.hypercube import Hypercube
from fastcube.papers.claims import Effort, Verdict, Witness, agree

from .claims import first_cube, first_witness, ledger, link_sets, random_cubes, told, witness
from .orders import arrived

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
) -> Hypercube | None:
    """The first cube of SIZES whose gathering is ``bad``."""

    def is_bad(cube: Hypercube) -> bool:
        g = run(cube, algorithm, variant)
        return g is not None and bad(g)

    return first_cube(effort, SIZES, is_bad)


def _none_found(effort: Effort) -> Verdict:
    return Verdict("undecided", f"none of {effort.applied:,} link sets of Q_2, Q_3 and Q_4, by size, speaks against it")


def _small_runs(
    effort: Effort,
    variant: str | None = None,
    algorithm: str = "FTTC",
    of: Callable[[Gathering], bool] = lambda g: True,
) -> Iterator[Gathering]:
    """All link sets of Q_2, Q_3 and drawn ones above, those with a sink ``of`` which a claim speaks; each a case."""
    small = ((n, k) for n, most in ((2, 4), (3, effort.pick(full=12, quick=4))) for k in range(most + 1))
    cubes = itertools.chain(
        (cube for n, k in small for cube in effort.each(link_sets(n, k), f"Q_{n}")),
        (cube for n in (4, 5) for cube in random_cubes(effort, n, effort.pick(400, 60), seed=n)),
    )
    for g in (run(cube, algorithm, variant) for cube in cubes):
        if g is not None and effort.applies(of(g)):
            yield g


def _of_all_runs(
    effort: Effort, right: str, words: str, what: str, why: str, variant: str | None = None, algorithm: str = "FTTC"
) -> Verdict:
    """Refuted by the first gathering for which the expression ``right`` in ``g`` is not true; ``what`` shows it."""
    holds = eval(f"lambda g: {right}")
    how = f", {algorithm!r}" + ("" if variant is None else f", {variant!r}")
    bad = next((g.cube for g in _small_runs(effort, variant, algorithm) if not holds(g)), None)
    return Verdict.unless(None if bad is None else shown(words, bad, what, how), f"{why}; {_range(effort)}")


def _range(effort: Effort) -> str:
    return f"all sets of links of Q_2, {effort.pick('of Q_3', 'of Q_3 up to 4 links')}, and drawn ones of Q_4 and Q_5"


# ---------------------------------------------------------------- Theorem 5


@ledger.claim(
    "last-stage",
    where="Theorem 5, proof",
    states="At stage n - 1 the one active node of FIND_TREE's tree of Q_n, n >= 2, can send to the sink.",
    definition=True,
)
def last_stage(effort: Effort) -> Verdict:
    """The sink has no faulty link."""
    return _of_all_runs(
        effort,
        "all(stage < g.cube.n - 1 for stage in g.faulty_stages)",
        "faulty stages, and n - 1",
        "[list(g.faulty_stages), cube.n - 1]",
        "proved: FIND_TREE's sink has FAULT = 0",
    )


@ledger.claim(
    "theorem-5",
    where="Theorem 5",
    states=(
        "Over FIND_TREE's tree of Q_n, n >= 2, FTTC takes n + k steps, k < n being the faulty stages: fewer than twice the n "
        "steps "
        "of a tree without faults [as the paper counts, without detours]."
    ),
    definition=True,
)
def theorem_5(effort: Effort) -> Verdict:
    """As the paper counts: one more step for each faulty stage."""
    return _of_all_runs(
        effort,
        "g.steps_paper == g.cube.n + len(g.faulty_stages) < 2 * g.cube.n",
        "steps as counted, and 2n",
        "[g.steps_paper, 2 * cube.n]",
        "proved as the paper counts, without detours: stage n-1 is never faulty",
    )


@ledger.claim(
    "theorem-5-detours",
    where="Theorem 5",
    states="[Also with the detours of m = 0 counted at their length, FTTC takes fewer than 2n steps in Q_n, n >= 2.]",
    correction="It does as the paper counts, without detours (theorem-5); a detour has 3 links or more.",
    ours=True,
)
def theorem_5_detours(effort: Effort) -> Verdict:
    """Steps with every stage at 1, 2 for partitions, or its longest detour."""
    bad = first_run(effort, lambda g: g.steps_sync >= 2 * g.cube.n)
    if bad is None:
        return _none_found(effort)
    share = float(exact_gather(3, 4)["twofold"] or 0)
    checked = (
        f"link sets by size; at n = 3 with 4 faulty links {share:.2%} of the sets with a sink take 2n steps or more"
    )
    return Verdict("refuted", checked, shown("steps with detours, and 2n", bad, "[g.steps_sync, 2 * cube.n]"))


@ledger.claim(
    "without-faults",
    where="section 3.2, told twice",
    states="Where no link of the tree is faulty, FTTC does in Q_n, n >= 2, what TC does: the same steps, and everything arrives.",
)
def without_faults(effort: Effort) -> Verdict:
    """All trees of FIND_TREE without a faulty link: outcomes of both."""
    both = "[[g.steps_sync, str(g.arrived), len(g.plans)] for g in (fc.gather(g.cube, g.tree), fc.gather(g.cube, g.tree, 'TC'))]"
    found = None
    for one in _small_runs(effort, of=lambda g: not g.tree.faulty_links):
        other = gather(one.cube, one.tree, "TC")
        alike = (one.steps_sync, one.arrived, one.plans) == (other.steps_sync, other.arrived, other.plans)
        if not alike or one.lost:
            found = shown("steps, units that arrive and failing nodes of FTTC and of TC", one.cube, both)
            break
    return Verdict.unless(found, f"those without a faulty link in the tree of {_range(effort)}")


@ledger.claim(
    "rerouting-slowdown",
    where="section 3.2",
    states=(
        "By rerouting over three hops Q_n, n >= 2, takes n + 3k steps at the most with k faulty stages, four times n at the "
        "most."
    ),
    definition=True,
)
def rerouting_slowdown(effort: Effort) -> Verdict:
    """As the paper counts, and hop by hop."""
    return _of_all_runs(
        effort,
        "g.steps_sync <= g.steps_paper == g.cube.n + 3 * len(g.faulty_stages) <= 4 * g.cube.n",
        "steps hop by hop, as the paper counts, and 4n",
        "[g.steps_sync, g.steps_paper, 4 * cube.n]",
        "arithmetic, as the paper counts",
        algorithm="REROUTE",
    )


@ledger.claim(
    "rerouting-steps",
    where="section 3.2",
    states="[Three hops in place of one are two steps more: rerouting takes n + 2k steps in Q_n, n >= 2.]",
    ours=True,
)
def rerouting_steps(effort: Effort) -> Verdict:
    """Hop by hop."""
    right = "g.steps_sync == g.cube.n + 2 * len(g.faulty_stages)"
    return _of_all_runs(
        effort,
        right,
        "steps hop by hop, and n + 2k",
        "[g.steps_sync, cube.n + 2 * len(g.faulty_stages)]",
        "hop by hop",
        algorithm="REROUTE",
    )


@ledger.claim(
    "rerouting-delivers",
    where="section 3.2",
    states="[Rerouting over three hops always delivers, where no node of Q_n, n >= 2, is isolated.]",
    ours=True,
    correction="It does where some dimension has three nonfaulty links around the faulty one.",
)
def rerouting_delivers(effort: Effort) -> Verdict:
    """Lost data among sets with a sink and no isolated node."""
    bad = first_run(effort, lambda g: g.lost > 0 and g.expected == 2**g.cube.n, algorithm="REROUTE")
    if bad is None:
        return _none_found(effort)
    share = exact_gather(3, 4)["complete_reroute"]
    checked = f"link sets by size; complete in {float(share or 0):.1%} of the sets of 4 links of Q_3 with a sink"
    return Verdict("refuted", checked, shown("units lost, without an isolated node", bad, "str(g.lost)", ', "REROUTE"'))


# ---------------------------------------------------------------- Theorem 6

_STATED_6 = "No node waits for ever in FTTC over FIND_TREE's tree of Q_n, n >= 2, whatever links are faulty"

#: Why the letter of Figure 13 is not held against what is said of FTTC.
_HELPER = (
    "In the transcription we have one subscript of Figure 13 differs from the comment beside it, and makes the condition say "
    "what the branch has already asked."
)

_NO_CYCLE = (
    "proved: at one stage failing nodes wait for nothing, helpers for failing ones that hold their link nonfaulty and send "
    "over it, passive nodes for both; earlier stages wait for no later one"
)


@ledger.claim(
    "theorem-6-literal",
    where="Theorem 6",
    states=f"{_STATED_6} [Figure 13 by its letter].",
    correction="By the comments beside it none does (theorem-6-comment); by its letter a helper waits for a neighbour across a "
    "faulty link.",
    fact="figure-13-helper",
    slip=_HELPER,
)
def theorem_6_literal(effort: Effort) -> Verdict:
    """The first link set that blocks a node."""
    bad = first_run(effort, lambda g: g.deadlocked, "literal")
    if bad is None:
        return _none_found(effort)
    found = shown("nodes that wait for ever", bad, "list(g.blocked)", ', variant="literal"')
    return Verdict("refuted", "link sets by size", found.written("{value:row}"))


def _deadlock_free(variant: str) -> None:
    @ledger.claim(
        f"theorem-6-{variant}",
        where="Theorem 6",
        states=f"{_STATED_6} [variant {variant}].",
        ours=variant == "repaired",
    )
    def decide(effort: Effort) -> Verdict:
        """Runs of small cubes; the order in which nodes wait proves it."""
        return _of_all_runs(
            effort, "not g.deadlocked", "nodes that wait for ever", "list(g.blocked)", _NO_CYCLE, variant
        )


_deadlock_free("comment")
_deadlock_free("repaired")


@ledger.claim(
    "asynchronous",
    where="section 3.2",
    states=(
        "Nodes need no common clock: in whatever order they run, with receives that wait, FTTC in Q_n, n >= 2, merges the "
        "same at "
        "the sink [variant comment]."
    ),
)
def asynchronous(effort: Effort) -> Verdict:
    """Runs in which a node that can go on is drawn at every step, against the sweep over the stages."""
    rng = random.Random(5)
    found = None
    for g in _small_runs(effort, "comment"):
        units = [arrived(Run(g.cube, g.tree, "FTTC", "comment"), rng) for _ in range(3)]
        if set(units) != {g.arrived}:
            words = f"units that arrive; in other orders {', '.join(map(str, units))}"
            found = shown(words, g.cube, "str(g.arrived)", ', variant="comment"')
            break
    return Verdict.unless(
        found,
        "proved: sends never block and every receive names its sender and stage; three orders drawn of each run over "
        f"{_range(effort)}",
    )


@ledger.claim(
    "dependency-graph",
    where="Theorem 6, proof",
    states="The edges to helpers close no circle in the graph of who waits for whom, over FIND_TREE's tree of Q_n, n >= 2.",
)
def dependency_graph(effort: Effort) -> Verdict:
    """Who waits for whom over the whole run, without a circle in any variant: nodes that wait for none are removed in turn."""
    bad = next((g.cube for g in _small_runs(effort, "literal") if not _acyclic(g.tree)), None)
    found = None if bad is None else shown("nodes that wait for ever", bad, "list(g.blocked)", ", 'FTTC', 'literal'")
    why = "proved: a failing node sends before its helpers, and both before the nodes of later stages"
    return Verdict.unless(found, f"{why}; the widest graph, which is literal's, in {_range(effort)}")


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


def _always(variant: str, correction: str, slip: str = "") -> None:
    @ledger.claim(
        f"always-{variant}",
        where="section 3.2",
        states=(
            "Where FIND_TREE finds a tree of Q_n, n >= 2, and no node has lost all its links, FTTC brings everything to the sink "
            f"[variant {variant}]."
        ),
        ours=variant == "repaired",
        correction=correction,
        fact="figure-13-helper" if slip else "",
        slip=slip,
    )
    def decide(effort: Effort) -> Verdict:
        """The first link set without an isolated node that loses data."""
        bad = first_run(effort, lambda g: g.lost > 0 and g.expected == 2**g.cube.n, variant)
        if bad is None:
            return _none_found(effort)
        words = "units lost, by cause, without an isolated node"
        what = "{k: str(v) for k, v in g.lost_by.items() if v}"
        return Verdict("refuted", "link sets by size", shown(words, bad, what, f', variant="{variant}"'))


_always(
    "literal", "Helpers wait for ever; repaired, only the stranded data is lost (repaired-loses-the-stranded).", _HELPER
)
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
    states="[Repaired, FTTC loses exactly the data of nodes that nonfaulty links do not join to the sink, in Q_n, n >= 2.]",
    ours=True,
)
def repaired_loses_the_stranded(effort: Effort) -> Verdict:
    """Runs of small cubes."""
    why = "proved: partitions are merged and sent on, everything else has a path to the passive node or the sink if there is one"
    words, what = "units lost, and units of nodes not joined to the sink", "[str(g.lost), str(g.stranded)]"
    return _of_all_runs(effort, "g.lost == g.stranded", words, what, why, "repaired")


@ledger.claim(
    "m-0-small",
    where="section 3.2",
    states=(
        "It rarely happens that a failing node has no active neighbour to help it, m = 0 [share of the fault sets with a "
        "sink]."
    ),
)
def m_0_small(effort: Effort) -> Verdict:
    """Exact for Q_3, and for Q_4 up to some links; no threshold is printed: the shares are reported."""
    share = exact_gather(3, 4)["no_partition"] or Fraction(0)
    effort.applied += math.comb(12, 4)
    four = {
        k: float(exact_gather(4, k)["no_partition"] or 0) for k in effort.each(range(4, effort.pick(full=8, quick=6)))
    }
    effort.applied += sum(math.comb(32, k) for k in four)
    listed = ", ".join(f"{k} links {p:.2%}" for k, p in four.items())
    words = "share of the sets of 4 links of Q_3 with a sink"
    evidence = Witness.of(words, "str(fc.exact_gather(3, links=4)['no_partition'])", {"n": 3, "links": 4, "f": 0})
    checked = f"no threshold is printed; exact: Q_3, 4 links {float(share):.2%}; Q_4, {listed}"
    return Verdict("undecided", checked, evidence)


@ledger.claim(
    "theorem-7",
    where="Theorem 7",
    states=(
        "FIND_TREE, FTTC and uniform data tolerate at least 2^(n-1) faulty links of Q_n, n >= 2 [as many, whichever they are: "
        "all data of nodes that are not isolated arrives]."
    ),
    correction=(
        "Theorem 3 promises a sink below 2^(n-1) only, and a perfect matching of 2^(n-1) links leaves none. With fewer there is "
        "one, but data can be lost (theorem-7-comment)."
    ),
)
def theorem_7(effort: Effort) -> Verdict:
    """The first set of so many links without a sink, no node being isolated."""

    def bad(cube: Hypercube) -> bool:
        return find_tree(cube) is None and all(word != 2**cube.n - 1 for word in detect(cube).tolist())

    found = first_witness(
        effort,
        [(2, 2), (3, 4)],
        bad,
        "as many faulty links, no isolated node, and no sink",
        "fc.find_tree(cube) is None",
    )
    return _none_found(effort) if found is None else Verdict("refuted", "link sets by size", found)


def _theorem_7(variant: str, correction: str) -> None:
    @ledger.claim(
        f"theorem-7-{variant}",
        where="Theorem 7",
        states=(
            "[With fewer than 2^(n-1) faulty links of Q_n, n >= 2, all data of non-isolated nodes arrives, variant "
            f"{variant}.]"
        ),
        ours=True,
        correction=correction,
    )
    def decide(effort: Effort) -> Verdict:
        """The first link set below Theorem 3's bound that loses data."""
        if variant == "repaired":
            return _cut_off(effort)
        bad = first_run(effort, lambda g: g.lost > 0 and len(g.cube.faulty_links) < 2 ** (g.cube.n - 1), variant)
        if bad is None:
            return _none_found(effort)
        return Verdict(
            "refuted", "link sets by size", shown("units lost", bad, "str(g.lost)", f', variant="{variant}"')
        )


def _cut_off(effort: Effort) -> Verdict:
    last = effort.pick(full=5, quick=4)
    for n, links in effort.each([(2, 1), (3, 2), (3, 3), *((4, k) for k in range(2, last + 1))], "all link sets"):
        effort.applied += math.comb(n * 2 ** (n - 1), links)
        agree(exact_gather(n, links)["complete_repaired"], Fraction(1), f"repaired with {links} faulty links of Q_{n}")
    pair = (0b1110, 0b1111)
    cube = Hypercube(4, (), [(u, u ^ 1 << k) for u in pair for k in (1, 2, 3)])
    words = "2(n-1) faulty links cut two neighbours off, fewer than 2^(n-1) from n = 4 on"
    found = shown(words, cube, "str(g.lost)", ', variant="repaired"')
    return Verdict(
        "refuted" if found.value != "0" else "undecided",
        f"all link sets of Q_2 and Q_3 below 2^(n-1), of Q_4 up to {last}",
        found,
    )


_theorem_7("literal", "Helpers wait for ever; see theorem-7-repaired.")
_theorem_7("comment", "Partitions are lost; see theorem-7-repaired.")
_theorem_7("repaired", "So unless nodes are cut off together, which takes 2(n-1) links.")


# ---------------------------------------------------------------- examples and node failures


@ledger.claim(
    "example-3",
    where="Example 3",
    states=(
        "With 1011-1010 and 1011-1001 faulty, 1011 sends half of its data to 1111 and half to 0011, and 1010 does nothing [and "
        "everything arrives: comment and repaired]."
    ),
)
def example_3(effort: Effort) -> Verdict:
    """Links 1011-1010 and 1011-1001, sink 0000, order (0, 1, 2, 3)."""
    effort.applies()
    cube = Hypercube(4, (), [(0b1011, 0b1010), (0b1011, 0b1001)])
    python = (
        "[[[[p.node, list(p.partners)] for p in g.plans], str(g.lost)] for v in ('comment', 'repaired') "
        "for g in [fc.gather(cube, fc.CommunicationTree(cube, 0, (0, 1, 2, 3)), variant=v)]]"
    )
    found = witness("who sends partitions to whom, and what is lost, by variant", cube, python)
    found = found.written(
        "comment: {0[0][0][0]:node} to {0[0][0][1]:row}, {0[1]} lost; "
        "repaired: {1[0][0][0]:node} to {1[0][0][1]:row}, {1[1]} lost"
    )
    return told(
        found, [[[[0b1011, [0b1111, 0b0011]]], "0"]] * 2, "the example itself; by its letter Figure 13 blocks 1001"
    )


@ledger.claim(
    "example-4",
    where="Example 4",
    states=(
        "With the links 100-110 and 100-000 and the node 111 faulty, 100 sends at stage 0 to 101 in place of 000, and everything "
        "arrives [comment and repaired]."
    ),
)
def example_4(effort: Effort) -> Verdict:
    """Figure 16: node 111, the links 100-000 and 100-110; with FIND_TREE's tree."""
    effort.applies()
    cube = Hypercube(3, [0b111], [(0b100, 0b110), (0b100, 0b000)])
    python = (
        "[[[[p.stage, p.node, list(p.partners)] for p in g.plans], str(g.lost)] for v in ('comment', 'repaired') "
        "for g in [fc.gather(cube, fc.find_tree(cube), variant=v)]]"
    )
    found = witness("stage, sender and receivers of partitions, and what is lost, by variant", cube, python)
    found = found.written(
        "comment: stage {0[0][0][0]}, {0[0][0][1]:node} to {0[0][0][2]:row}, {0[1]} lost; "
        "repaired: stage {1[0][0][0]}, {1[0][0][1]:node} to {1[0][0][2]:row}, {1[1]} lost"
    )
    return told(
        found, [[[[0, 0b100, [0b101]]], "0"]] * 2, "the example itself; by its letter Figure 13 deadlocks on it"
    )


@ledger.claim(
    "faulty-as-isolated",
    where="section 3.3",
    states="FIND_TREE and FTTC do the same in Q_n, n >= 1, for a faulty node as for one all of whose links are faulty.",
    definition=True,
)
def faulty_as_isolated(effort: Effort) -> Verdict:
    """A faulty node against the same node with all its links faulty: FAULT words, trees and deliveries."""
    largest = effort.pick(full=4, quick=3)

    def cases() -> Iterator[tuple[Hypercube, int]]:
        return ((cube, v) for n in range(1, largest + 1) for cube in link_sets(n, min(2, n)) for v in range(2**n))

    def wrong(case: tuple[Hypercube, int]) -> Witness | None:
        cube, v = case
        faulty = Hypercube(cube.n, [v], cube.faulty_links)
        cut = Hypercube(cube.n, (), [*cube.faulty_links, *((v, w) for w in cube.neighbours(v))])
        told_of = [(one.tree.order, one.arrived) if (one := run(c)) is not None else None for c in (faulty, cut)]
        if detect(faulty).tolist() == detect(cut).tolist() and told_of[0] == told_of[1]:
            return None
        python = f"[fc.detect(c).tolist() for c in (cube, fc.{cut.source()})]"
        return witness(f"FAULT of all nodes, {v:0{cube.n}b} faulty, and its links faulty", faulty, python)

    found = effort.first(cases(), wrong)
    checked = f"proved: the FAULT words are the same; one faulty node and two faulty links of Q_1, ..., Q_{largest}"
    return Verdict.unless(found, checked)


@ledger.claim(
    "computation-slowdown",
    where="section 3.3",
    states=(
        "Among f faulty nodes the computation takes N/(N - f) times as long, N = 2^n, n >= 2 [f: faulty; or all without data]."
    ),
    correction="It is N over the number of nodes that hold data: isolated ones hold none either (reading R13).",
)
def computation_slowdown(effort: Effort) -> Verdict:
    """Fault sets by size: the first that isolates a node, and the same with that node counted among the f."""
    for n, f in ((2, 2), (3, 3)):
        for faults in effort.each(itertools.combinations(range(2**n), f), f"Q_{n}"):
            cube = Hypercube(n, faults)
            g = run(cube)
            if g is None or not effort.applies():
                continue
            if g.expected != 2**n - f:
                holding = "[g.expected, 2**cube.n - len(cube.faulty_nodes)]"
                counted = "[g.expected, sum(word != 2**cube.n - 1 for word in fc.detect(cube).tolist())]"
                alone = sum(word != 2**n - 1 for word in detect(cube).tolist())
                agree(g.expected, alone, "nodes that hold data, and nodes with a nonfaulty link")
                return Verdict(
                    "depends",
                    "fault sets with a sink by size",
                    shown(
                        "nodes that hold data, and N - f: fewer, since the faults isolate another node", cube, holding
                    ),
                    (
                        shown(
                            "nodes that hold data, and N less the faulty and the isolated ones: as many", cube, counted
                        ),
                    ),
                )
    return Verdict("holds", "fault sets with a sink of Q_2 and Q_3 that have n nodes")
