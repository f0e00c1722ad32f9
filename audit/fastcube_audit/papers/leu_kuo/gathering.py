"""Claims of Leu & Kuo about the steps and waits of FTTC over FIND_TREE's trees (section 3.2), by variant.

Variant ``as_printed`` is Figure 13, ``as_commented`` follows the comments in the figure, and ``corrected`` is our own (R9).
"""

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fastcube.algorithms.gathering import Gathering, gather
from fastcube.algorithms.gathering_run import GatheringRun
from fastcube.algorithms.trees import CommunicationTree, find_tree, unusable_link_masks
from fastcube.exact.enumeration import exact_gather
from fastcube.networks.hypercube import Hypercube

from ...claims import Counterexample, Effort, Method, Verdict
from ...cubes import enumerate_cubes
from .asynchronous import simulate_run
from .registry import cube_counterexample, registry
from .trees import LinkSets, sample_cubes

#: Link sets in the order in which a smallest counterexample is searched.
SIZES = [(n, k) for n in (2, 3) for k in range(2 ** (n - 1) + 1)] + [(4, k) for k in range(5)]


def gathering_counterexample(description: str, cube: Hypercube, python: str, options: str = "") -> Counterexample:
    """Return a counterexample with an expression in ``g``, the gathering with ``options`` over FIND_TREE's tree of ``cube``."""
    return cube_counterexample(description, cube, f"g = fc.gather(cube, fc.find_tree(cube){options})\n{python}")


def run_counterexample(description: str, g: Gathering, python: str, form: str = "") -> Counterexample:
    """Return a gathering over FIND_TREE's tree as a counterexample, with an expression in ``g``."""
    options = f', variant="{g.variant}"' if g.algorithm == "FTTC" else f', "{g.algorithm}"'
    return gathering_counterexample(description, g.cube, python, options).with_form(form)


def gather_on_tree(cube: Hypercube, algorithm: str = "FTTC", variant: str | None = None) -> Gathering | None:
    """Return a gathering over FIND_TREE's tree; None without a sink."""
    tree = find_tree(cube)
    return None if tree is None else gather(cube, tree, algorithm, variant)


@dataclass(frozen=True)
class FirstRun:
    """A universal statement about gatherings: link sets are tried by size until a check finds a counterexample."""

    variant: str | None = None
    algorithm: str = "FTTC"
    checked: str = "link sets by size"
    method: Method = "exhaustive"

    def decide(self, effort: Effort, check: Callable[[Gathering], Counterexample | None]) -> Verdict:
        """Return the verdict: refuted by the first counterexample that ``check`` finds."""

        def check_cube(cube: Hypercube) -> Counterexample | None:
            g = gather_on_tree(cube, self.algorithm, self.variant)
            return None if g is None else check(g)

        return LinkSets(SIZES, self.checked).decide(effort, check_cube)


def _small_runs(
    effort: Effort, variant: str | None, algorithm: str, applies: Callable[[Gathering], bool]
) -> Iterator[Gathering]:
    """Yield gatherings to which a statement ``applies``: for all link sets of Q_2, Q_3 and random larger sets with a sink."""
    small = ((n, k) for n, most in ((2, 4), (3, effort.by_effort(full=12, quick=4))) for k in range(most + 1))
    cases = itertools.chain(
        (cube for n, k in small for cube in effort.each(enumerate_cubes(n, links=k), f"Q_{n}")),
        (cube for n in (4, 5) for cube in sample_cubes(effort, n, effort.by_effort(400, 60), seed=n)),
    )
    for g in (gather_on_tree(cube, algorithm, variant) for cube in cases):
        if g is not None and effort.count_if_applicable(applies(g)):
            yield g


@dataclass(frozen=True)
class Runs:
    """A statement about all gatherings over trees of small cubes and random larger ones.

    Parameters
    ----------
    reason : str
        The beginning of the description of the range, such as a proof.
    variant, algorithm
        The gatherings.
    applies : callable
        Whether the statement applies to a gathering.
    method : one of ``METHODS``
    """

    reason: str
    variant: str | None = None
    algorithm: str = "FTTC"
    applies: Callable[[Gathering], bool] = lambda g: True
    method: Method = "random"

    def decide(self, effort: Effort, check: Callable[[Gathering], Counterexample | None]) -> Verdict:
        """Return the verdict: refuted by the first counterexample that ``check`` finds."""
        runs = _small_runs(effort, self.variant, self.algorithm, self.applies)
        found = next((counterexample for g in runs if (counterexample := check(g)) is not None), None)
        few = effort.by_effort("of Q_3", "of Q_3 up to 4 links")
        return Verdict.refuted_if(found, f"{self.reason}all sets of links of Q_2, {few}, and drawn ones of Q_4 and Q_5")


# ---------------------------------------------------------------- Theorem 5


@registry.forall(
    "last-stage",
    Runs("proved: FIND_TREE's sink has FAULT = 0; ", method="proved"),
    where="Theorem 5, proof",
    states="At stage n - 1 the one active node of FIND_TREE's tree of Q_n, n >= 2, can send to the sink.",
    definition=True,
)
def last_stage(g: Gathering) -> Counterexample | None:
    """Check that the sink has no faulty link."""
    if all(stage < g.cube.n - 1 for stage in g.faulty_stages):
        return None
    return run_counterexample("faulty stages, and n - 1", g, "[list(g.faulty_stages), cube.n - 1]")


@registry.forall(
    "theorem-5",
    Runs("proved as the paper counts, without detours: stage n-1 is never faulty; ", method="proved"),
    where="Theorem 5",
    states=(
        "Over FIND_TREE's tree of Q_n, n >= 2, FTTC takes n + k steps, where k < n is the number of faulty stages. These "
        "are fewer than twice the n steps of a tree without faults [as the paper counts, without detours]."
    ),
    definition=True,
)
def theorem_5(g: Gathering) -> Counterexample | None:
    """Count steps as the paper does: one more step for each faulty stage."""
    if g.steps_paper == g.cube.n + len(g.faulty_stages) < 2 * g.cube.n:
        return None
    return run_counterexample("steps as counted, and 2n", g, "[g.steps_paper, 2 * cube.n]")


@registry.claim(
    "theorem-5-detours",
    where="Theorem 5",
    states="[Also with the detours of m = 0 counted at their length, FTTC takes fewer than 2n steps in Q_n, n >= 2.]",
    correction="It does as the paper counts, without detours (theorem-5); a detour has 3 links or more.",
    added=True,
)
def theorem_5_detours(effort: Effort) -> Verdict:
    """Count steps with every stage at 1, 2 for partitions, or its longest detour."""
    fraction = float(exact_gather(3, 4)["slowdown_at_least_2"] or 0)
    checked = (
        f"link sets by size; at n = 3 with 4 faulty links {fraction:.2%} of the sets with a sink take 2n steps or more"
    )

    def check(g: Gathering) -> Counterexample | None:
        if g.steps_sync < 2 * g.cube.n:
            return None
        return run_counterexample("steps with detours, and 2n", g, "[g.steps_sync, 2 * cube.n]")

    return FirstRun(checked=checked).decide(effort, check)


@registry.forall(
    "without-faults",
    Runs("those without a faulty link in the tree of ", applies=lambda g: not g.tree.faulty_links),
    where="section 3.2, stated twice",
    states="Where no link of the tree is faulty, FTTC in Q_n, n >= 2, takes the same steps as TC, and everything arrives.",
)
def without_faults(g: Gathering) -> Counterexample | None:
    """Compare the results of both algorithms for all trees of FIND_TREE without a faulty link."""
    other = gather(g.cube, g.tree, "TC")
    alike = (g.steps_sync, g.arrived, g.plans) == (other.steps_sync, other.arrived, other.plans)
    if alike and not g.lost:
        return None
    python = "[[h.steps_sync, str(h.arrived), len(h.plans)] for h in (g, fc.gather(g.cube, g.tree, 'TC'))]"
    return run_counterexample("steps, units that arrive and failing nodes of FTTC and of TC", g, python)


@registry.forall(
    "rerouting-slowdown",
    Runs("arithmetic, as the paper counts; ", algorithm="REROUTE", method="proved"),
    where="section 3.2",
    states=(
        "By rerouting over three hops Q_n, n >= 2, takes n + 3k steps at the most with k faulty stages, four times n at the "
        "most."
    ),
    definition=True,
)
def rerouting_slowdown(g: Gathering) -> Counterexample | None:
    """Count steps as the paper does, and hop by hop."""
    if g.steps_sync <= g.steps_paper == g.cube.n + 3 * len(g.faulty_stages) <= 4 * g.cube.n:
        return None
    description = "steps hop by hop, as the paper counts, and 4n"
    return run_counterexample(description, g, "[g.steps_sync, g.steps_paper, 4 * cube.n]")


@registry.forall(
    "rerouting-steps",
    Runs("hop by hop; ", algorithm="REROUTE"),
    where="section 3.2",
    states="[Three hops in place of one are two steps more: rerouting takes n + 2k steps in Q_n, n >= 2.]",
    added=True,
)
def rerouting_steps(g: Gathering) -> Counterexample | None:
    """Compare the steps of rerouting, counted hop by hop, with n + 2k."""
    if g.steps_sync == g.cube.n + 2 * len(g.faulty_stages):
        return None
    description = "steps hop by hop, and n + 2k"
    return run_counterexample(description, g, "[g.steps_sync, cube.n + 2 * len(g.faulty_stages)]")


@registry.claim(
    "rerouting-delivers",
    where="section 3.2",
    states="[Rerouting over three hops always delivers, where no node of Q_n, n >= 2, is isolated.]",
    added=True,
    correction="It does where some dimension has three nonfaulty links around the faulty one.",
)
def rerouting_delivers(effort: Effort) -> Verdict:
    """Find lost data among sets with a sink and no isolated node."""
    fraction = float(exact_gather(3, 4)["complete_reroute"] or 0)
    checked = f"link sets by size; complete in {fraction:.1%} of the sets of 4 links of Q_3 with a sink"

    def check(g: Gathering) -> Counterexample | None:
        if not is_lossy_without_isolated(g):
            return None
        return run_counterexample("units lost, without an isolated node", g, "str(g.lost)")

    return FirstRun(algorithm="REROUTE", checked=checked).decide(effort, check)


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
    "theorem-6-as-printed",
    FirstRun("as_printed"),
    where="Theorem 6",
    states=f"{_STATED_6} [Figure 13 as printed].",
    correction="By the printed comments none does (theorem-6-as-commented); as printed, a helper waits for a neighbour across a "
    "faulty link.",
    fact="figure-13-helper",
    misprint_reason=HELPER,
)
def theorem_6_as_printed(g: Gathering) -> Counterexample | None:
    """Find the first link set that blocks a node."""
    return _blocked_counterexample(g) if g.deadlocked else None


def _blocked_counterexample(g: Gathering) -> Counterexample:
    return run_counterexample("nodes that wait for ever", g, "list(g.blocked)", "{value:row}")


def _claim_deadlock_free(variant: str) -> None:
    @registry.forall(
        f"theorem-6-{variant.replace('_', '-')}",
        Runs(f"{_NO_CYCLE}; ", variant, method="proved"),
        where="Theorem 6",
        states=f"{_STATED_6} [{variant.replace('_', ' ')}].",
        added=variant == "corrected",
    )
    def check_deadlock(g: Gathering) -> Counterexample | None:
        """Check that runs on small cubes end; the order in which nodes wait proves the claim."""
        return _blocked_counterexample(g) if g.deadlocked else None


_claim_deadlock_free("as_commented")
_claim_deadlock_free("corrected")


@registry.claim(
    "asynchronous",
    where="section 3.2",
    states=(
        "Nodes need no common clock: in whatever order they run, with receives that wait, FTTC in Q_n, n >= 2, merges the same "
        "at the sink [as commented]."
    ),
    method="proved",
)
def asynchronous(effort: Effort) -> Verdict:
    """Compare runs in which a random node proceeds at each step to the sweep over the stages."""
    rng = random.Random(5)

    def check(g: Gathering) -> Counterexample | None:
        units = [simulate_run(GatheringRun(g.cube, g.tree, "FTTC", "as_commented"), rng) for _ in range(3)]
        if set(units) == {g.arrived}:
            return None
        return run_counterexample("units that arrive; in another order others do", g, "str(g.arrived)")

    reason = (
        "proved: sends never block and every receive names its sender and stage; three orders drawn of each run over "
    )
    return Runs(reason, "as_commented").decide(effort, check)


@registry.forall(
    "dependency-graph",
    Runs(
        "proved: a failing node sends before its helpers, and both before the nodes of later stages; the widest graph, which is "
        "Figure 13's, in ",
        "as_printed",
        method="proved",
    ),
    where="Theorem 6, proof",
    states="The edges to helpers close no cycle in the graph of waiting nodes, over FIND_TREE's tree of Q_n, n >= 2.",
)
def dependency_graph(g: Gathering) -> Counterexample | None:
    """Check that the graph of waiting nodes over a run is acyclic in all variants, by removing nodes that wait for none."""
    return None if _is_acyclic(g.tree) else _blocked_counterexample(g)


def _is_acyclic(tree: CommunicationTree) -> bool:
    """Whether nodes can be ordered so that each waits for earlier ones only, in the graph with most edges (of ``as_printed``)."""
    fault, d = unusable_link_masks(tree.cube).tolist(), tree.order
    waits: dict[int, set[int]] = {v: set() for v in range(2**tree.n)}
    for i, sender, receiver in tree.links:
        if not fault[sender] >> d[i] & 1:
            waits[receiver].add(sender)
            helped = (sender ^ 1 << d[j] for j in range(i + 1, tree.n))
            waits[sender] |= {w for w in helped if fault[w] >> d[i] & 1}
    while ready := {v for v, others in waits.items() if not others & waits.keys()}:
        waits = {v: others for v, others in waits.items() if v not in ready}
    return not waits
