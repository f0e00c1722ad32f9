"""Claims of Leu & Kuo about the steps and waits of FTTC over FIND_TREE's trees (section 3.2), by variant.

``as_printed`` is Figure 13, ``as_commented`` follows the comments in the figure, and ``corrected`` is our correction (R9).
"""

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fastcube.algorithms.gathering import Gathering, gather
from fastcube.algorithms.gathering_run import GatheringRun
from fastcube.algorithms.trees import CommunicationTree, detect, find_tree
from fastcube.exact.enumeration import exact_gather
from fastcube.networks.hypercube import Hypercube

from ...claims import Effort, Verdict, Witness
from ...cubes import enumerate_cubes
from .asynchronous import simulate_run
from .registry import registry, witness
from .trees import FirstCube, random_cubes

#: Link sets in the order in which a smallest counterexample is searched.
SIZES = [(n, k) for n in (2, 3) for k in range(2 ** (n - 1) + 1)] + [(4, k) for k in range(5)]


def gather_expression(what: str, how: str = "") -> str:
    """Return an expression in ``cube`` for ``what``, an expression in g, the gathering over FIND_TREE's tree."""
    return f"(lambda g: {what})(fc.gather(cube, fc.find_tree(cube){how}))"


def gather_witness(words: str, cube: Hypercube, what: str, how: str = "") -> Witness:
    """Return the counterexample with the value of an expression in g, the gathering over FIND_TREE's tree."""
    return witness(words, cube, gather_expression(what, how))


def gather_on_tree(cube: Hypercube, algorithm: str = "FTTC", variant: str | None = None) -> Gathering | None:
    """Return a gathering over FIND_TREE's tree; None without a sink."""
    tree = find_tree(cube)
    return None if tree is None else gather(cube, tree, algorithm, variant)


@dataclass(frozen=True)
class FirstRun:
    """A universal statement about gatherings: link sets are tried by size until a check finds one that violates the statement."""

    words: str
    what: str
    variant: str | None = None
    algorithm: str = "FTTC"
    checked: str = "link sets by size"
    form: str = ""

    def decide(self, effort: Effort, check: Callable[[Gathering], bool]) -> Verdict:
        """Return the verdict: refuted by the first gathering that ``check`` accepts."""

        def is_bad_run(cube: Hypercube) -> bool:
            g = gather_on_tree(cube, self.algorithm, self.variant)
            return g is not None and check(g)

        how = ', "REROUTE"' if self.algorithm == "REROUTE" else f', variant="{self.variant}"' if self.variant else ""
        python = gather_expression(self.what, how)
        return FirstCube(SIZES, self.words, python, self.checked, self.form).decide(effort, is_bad_run)


def _small_runs(
    effort: Effort,
    variant: str | None = None,
    algorithm: str = "FTTC",
    of: Callable[[Gathering], bool] = lambda g: True,
) -> Iterator[Gathering]:
    """Yield gatherings for all link sets of Q_2, Q_3 and random larger sets with a sink; sets with ``of`` count as cases."""
    small = ((n, k) for n, most in ((2, 4), (3, effort.by_effort(full=12, quick=4))) for k in range(most + 1))
    cases = itertools.chain(
        (cube for n, k in small for cube in effort.each(enumerate_cubes(n, links=k), f"Q_{n}")),
        (cube for n in (4, 5) for cube in random_cubes(effort, n, effort.by_effort(400, 60), seed=n)),
    )
    for g in (gather_on_tree(cube, algorithm, variant) for cube in cases):
        if g is not None and effort.count_if_applicable(of(g)):
            yield g


@dataclass(frozen=True)
class Runs:
    """A statement about all gatherings over trees of small cubes and random larger ones.

    A check returns whether the statement holds for one gathering.  ``what``, an expression in ``g``, shows a gathering that
    violates it; ``how`` are the arguments of ``fc.gather``.
    """

    words: str
    what: str
    why: str
    variant: str | None = None
    algorithm: str = "FTTC"
    how: str | None = None
    of: Callable[[Gathering], bool] = lambda g: True

    def decide(self, effort: Effort, check: Callable[[Gathering], bool]) -> Verdict:
        """Return the verdict: refuted by the first gathering that fails ``check``."""
        how = f", {self.algorithm!r}" + ("" if self.variant is None else f", {self.variant!r}")
        runs = _small_runs(effort, self.variant, self.algorithm, self.of)
        bad = next((g.cube for g in runs if not check(g)), None)
        found = (
            None if bad is None else gather_witness(self.words, bad, self.what, how if self.how is None else self.how)
        )
        few = effort.by_effort("of Q_3", "of Q_3 up to 4 links")
        return Verdict.refuted_if(found, f"{self.why}all sets of links of Q_2, {few}, and drawn ones of Q_4 and Q_5")


# ---------------------------------------------------------------- Theorem 5


@registry.forall(
    "last-stage",
    Runs(
        "faulty stages, and n - 1",
        "[list(g.faulty_stages), cube.n - 1]",
        "proved: FIND_TREE's sink has FAULT = 0; ",
    ),
    where="Theorem 5, proof",
    states="At stage n - 1 the one active node of FIND_TREE's tree of Q_n, n >= 2, can send to the sink.",
    definition=True,
)
def last_stage(g: Gathering) -> bool:
    """Check that the sink has no faulty link."""
    return all(stage < g.cube.n - 1 for stage in g.faulty_stages)


@registry.forall(
    "theorem-5",
    Runs(
        "steps as counted, and 2n",
        "[g.steps_paper, 2 * cube.n]",
        "proved as the paper counts, without detours: stage n-1 is never faulty; ",
    ),
    where="Theorem 5",
    states=(
        "Over FIND_TREE's tree of Q_n, n >= 2, FTTC takes n + k steps, where k < n is the number of faulty stages. These "
        "are fewer than twice the n steps of a tree without faults [as the paper counts, without detours]."
    ),
    definition=True,
)
def theorem_5(g: Gathering) -> bool:
    """Count steps as the paper does: one more step for each faulty stage."""
    return g.steps_paper == g.cube.n + len(g.faulty_stages) < 2 * g.cube.n


@registry.claim(
    "theorem-5-detours",
    where="Theorem 5",
    states="[Also with the detours of m = 0 counted at their length, FTTC takes fewer than 2n steps in Q_n, n >= 2.]",
    correction="It does as the paper counts, without detours (theorem-5); a detour has 3 links or more.",
    ours=True,
)
def theorem_5_detours(effort: Effort) -> Verdict:
    """Count steps with every stage at 1, 2 for partitions, or its longest detour."""
    share = float(exact_gather(3, 4)["slowdown_at_least_2"] or 0)
    checked = (
        f"link sets by size; at n = 3 with 4 faulty links {share:.2%} of the sets with a sink take 2n steps or more"
    )
    runs = FirstRun("steps with detours, and 2n", "[g.steps_sync, 2 * cube.n]", checked=checked)
    return runs.decide(effort, lambda g: bool(g.steps_sync >= 2 * g.cube.n))


@registry.forall(
    "without-faults",
    Runs(
        "steps, units that arrive and failing nodes of FTTC and of TC",
        "[[g.steps_sync, str(g.arrived), len(g.plans)] for g in (fc.gather(g.cube, g.tree), fc.gather(g.cube, g.tree, 'TC'))]",
        "those without a faulty link in the tree of ",
        how="",
        of=lambda g: not g.tree.faulty_links,
    ),
    where="section 3.2, told twice",
    states="Where no link of the tree is faulty, FTTC in Q_n, n >= 2, takes the same steps as TC, and everything arrives.",
)
def without_faults(g: Gathering) -> bool:
    """Compare the results of both algorithms for all trees of FIND_TREE without a faulty link."""
    other = gather(g.cube, g.tree, "TC")
    alike = (g.steps_sync, g.arrived, g.plans) == (other.steps_sync, other.arrived, other.plans)
    return alike and not g.lost


@registry.forall(
    "rerouting-slowdown",
    Runs(
        "steps hop by hop, as the paper counts, and 4n",
        "[g.steps_sync, g.steps_paper, 4 * cube.n]",
        "arithmetic, as the paper counts; ",
        algorithm="REROUTE",
    ),
    where="section 3.2",
    states=(
        "By rerouting over three hops Q_n, n >= 2, takes n + 3k steps at the most with k faulty stages, four times n at the "
        "most."
    ),
    definition=True,
)
def rerouting_slowdown(g: Gathering) -> bool:
    """Count steps as the paper does, and hop by hop."""
    return g.steps_sync <= g.steps_paper == g.cube.n + 3 * len(g.faulty_stages) <= 4 * g.cube.n


@registry.forall(
    "rerouting-steps",
    Runs(
        "steps hop by hop, and n + 2k",
        "[g.steps_sync, cube.n + 2 * len(g.faulty_stages)]",
        "hop by hop; ",
        algorithm="REROUTE",
    ),
    where="section 3.2",
    states="[Three hops in place of one are two steps more: rerouting takes n + 2k steps in Q_n, n >= 2.]",
    ours=True,
)
def rerouting_steps(g: Gathering) -> bool:
    """Compare the steps of rerouting, counted hop by hop, with n + 2k."""
    return bool(g.steps_sync == g.cube.n + 2 * len(g.faulty_stages))


@registry.claim(
    "rerouting-delivers",
    where="section 3.2",
    states="[Rerouting over three hops always delivers, where no node of Q_n, n >= 2, is isolated.]",
    ours=True,
    correction="It does where some dimension has three nonfaulty links around the faulty one.",
)
def rerouting_delivers(effort: Effort) -> Verdict:
    """Find lost data among sets with a sink and no isolated node."""
    share = float(exact_gather(3, 4)["complete_reroute"] or 0)
    checked = f"link sets by size; complete in {share:.1%} of the sets of 4 links of Q_3 with a sink"
    runs = FirstRun("units lost, without an isolated node", "str(g.lost)", algorithm="REROUTE", checked=checked)
    return runs.decide(effort, is_lossy_without_isolated)


def is_lossy_without_isolated(g: Gathering) -> bool:
    """Whether data is lost although every node has a nonfaulty link."""
    return g.lost > 0 and g.expected == 2**g.cube.n


# ---------------------------------------------------------------- Theorem 6

_STATED_6 = "No node waits for ever in FTTC over FIND_TREE's tree of Q_n, n >= 2, whatever links are faulty"

#: Why Figure 13 as printed is not counted against the statements about FTTC.
HELPER = (
    "In the transcription we have one subscript of Figure 13 differs from the printed comment, and makes the condition repeat "
    "a test of the branch."
)

_NO_CYCLE = (
    "proved: at one stage failing nodes wait for nothing, helpers for failing ones that hold their link nonfaulty and send "
    "over it, passive nodes for both; earlier stages wait for no later one"
)


@registry.forall(
    "theorem-6-literal",
    FirstRun("nodes that wait for ever", "list(g.blocked)", "as_printed", form="{value:row}"),
    where="Theorem 6",
    states=f"{_STATED_6} [Figure 13 as printed].",
    correction="By the printed comments none does (theorem-6-comment); as printed, a helper waits for a neighbour across a "
    "faulty link.",
    fact="figure-13-helper",
    slip=HELPER,
)
def theorem_6_literal(g: Gathering) -> bool:
    """Find the first link set that blocks a node."""
    return g.deadlocked


def _claim_deadlock_free(variant: str) -> None:
    @registry.forall(
        f"theorem-6-{variant}",
        Runs("nodes that wait for ever", "list(g.blocked)", f"{_NO_CYCLE}; ", variant),
        where="Theorem 6",
        states=f"{_STATED_6} [variant {variant}].",
        ours=variant == "corrected",
    )
    def is_deadlock_free(g: Gathering) -> bool:
        """Check that runs on small cubes end; the order in which nodes wait proves the claim."""
        return not g.deadlocked


_claim_deadlock_free("as_commented")
_claim_deadlock_free("corrected")


@registry.claim(
    "asynchronous",
    where="section 3.2",
    states=(
        "Nodes need no common clock: in whatever order they run, with receives that wait, FTTC in Q_n, n >= 2, merges the same "
        "at the sink [variant comment]."
    ),
)
def asynchronous(effort: Effort) -> Verdict:
    """Compare runs in which a random node proceeds at each step to the sweep over the stages."""
    rng = random.Random(5)

    def is_same_in_all_orders(g: Gathering) -> bool:
        units = [simulate_run(GatheringRun(g.cube, g.tree, "FTTC", "as_commented"), rng) for _ in range(3)]
        return set(units) == {g.arrived}

    why = "proved: sends never block and every receive names its sender and stage; three orders drawn of each run over "
    runs = Runs("units that arrive; in another order others do", "str(g.arrived)", why, "as_commented")
    return runs.decide(effort, is_same_in_all_orders)


@registry.forall(
    "dependency-graph",
    Runs(
        "nodes that wait for ever",
        "list(g.blocked)",
        "proved: a failing node sends before its helpers, and both before the nodes of later stages; the widest graph, which is "
        "Figure 13's, in ",
        "as_printed",
    ),
    where="Theorem 6, proof",
    states="The edges to helpers close no cycle in the graph of waiting nodes, over FIND_TREE's tree of Q_n, n >= 2.",
)
def dependency_graph(g: Gathering) -> bool:
    """Check that the graph of waiting nodes over a run is acyclic in all variants, by removing nodes that wait for none."""
    return _is_acyclic(g.tree)


def _is_acyclic(tree: CommunicationTree) -> bool:
    """Whether nodes can be ordered so that each waits for earlier ones only, in the graph with most edges (of ``as_printed``)."""
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
