"""Claims about routing rules and their safety statuses (V10), decided on all fault sets of small cubes.

We read no paper's full text: a claim is from an abstract if its place says so, else as the literature gives it.  "Contrast" and
"ours" mark claims that one would expect and that no paper makes.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from fastcube.algorithms.safety_status import safety_levels, safety_vectors
from fastcube.algorithms.shortest import distance
from fastcube.networks.hypercube import Hypercube

from ...claims import Counterexample, Effort, Method, Verdict
from ...cubes import cube_counterexample, enumerate_cubes
from . import exhaustive
from .registry import registry

#: Returns for rows of fault sets of Q_n with f faults the rows and nodes that are asked for: (sets, 2^n) or (sets,).
Rows = Callable[[int, int, exhaustive.Bools], exhaustive.Bools]


def largest_fault_count(effort: Effort, n: int) -> int:
    """Return the largest number of faults checked in Q_n: all up to n = 4, up to 6 in Q_5."""
    return int(2**n) - 1 if n <= 4 else effort.by_effort(full=6, quick=4)


def checked_range(effort: Effort, most: Callable[[int], int] | None = None) -> str:
    """Return the description of the checked fault sets: up to ``most(n)`` faulty nodes, or all."""
    if most is None:
        largest = largest_fault_count(effort, 5)
        return f"all fault sets of Q_1, ..., Q_4, and of up to {largest} faulty nodes of Q_5, without node 0"
    limits = [(n, min(largest_fault_count(effort, n), most(n))) for n in range(1, 6)]
    listed = ", ".join(f"{limit} in Q_{n}" for n, limit in limits if limit >= 0)
    return f"all sets of faulty nodes without node 0, up to {listed}"


@dataclass(frozen=True)
class FaultSets:
    """All fault sets of small cubes, in the order of n and f, as rows of arrays; a function finds the rows that violate a claim.

    Parameters
    ----------
    description : str
        Description of a counterexample.
    python : str or callable
        Lines of Python with ``c`` and ``{t}``, or a function that returns them for n and the fault set.
    most : callable, optional
        Most faults of Q_n.
    applies : callable, optional
        Returns the sets that satisfy the hypothesis, if not all do; these are counted.
    check : callable, optional
        Check of one cube, for small cubes with faulty links.
    method : one of ``METHODS``
    """

    description: str
    python: str | Callable[[int, exhaustive.Bools], str]
    most: Callable[[int], int] | None = None
    applies: Rows | None = None
    check: Callable[[Hypercube], Counterexample | None] | None = None
    method: Method = "exhaustive"

    def decide(self, effort: Effort, violations: Rows) -> Verdict:
        """Return the verdict: refuted by the first fault set in which ``violations`` finds a node."""
        for n in range(1, 6):
            largest = largest_fault_count(effort, n)
            for f, faulty in exhaustive.enumerate_fault_sets(n, min(largest, self.most(n)) if self.most else largest):
                effort.step(f"Q_{n}, f={f}")
                effort.applied += int(self.applies(n, f, faulty).sum()) if self.applies else len(faulty)
                found = violations(n, f, faulty)
                if found.any():
                    row, *node = np.argwhere(found)[0].tolist()
                    cube = Hypercube(n, np.flatnonzero(faulty[row]).tolist())
                    t = node[0] if node else 0
                    python = (
                        self.python.format(t=t)
                        if isinstance(self.python, str)
                        else self.python(n, faulty[row : row + 1])
                    )
                    checked = f"in the order of n and f; {checked_range(effort, self.most)}"
                    return Verdict("refuted", checked, cube_counterexample(self.description, cube, python))
        counted = "of these sets meet the hypothesis" if self.applies else "sets"
        verdict = Verdict("holds", f"{checked_range(effort, self.most)}: {effort.applied:,} {counted}")
        return decide_with_links(effort, verdict, self.check) if self.check else verdict


def cubes_with_links(numbers: Iterable[tuple[int, int]]) -> Iterator[Hypercube]:
    """Yield Q_2, then Q_3, with each of these numbers of faulty nodes and links, node 0 nonfaulty."""
    for n, (f, k) in itertools.product((2, 3), numbers):
        yield from enumerate_cubes(n, f, k, first=1)


def nonfaulty_targets(cube: Hypercube) -> list[int]:
    """Return the nonfaulty nodes but node 0."""
    return [t for t in range(1, 2**cube.n) if not cube.is_faulty(t)]


def _hamming_distances(n: int) -> exhaustive.Ints:
    """Return the Hamming distance of every node from node 0."""
    return np.array([x.bit_count() for x in range(2**n)], np.int8)


def _least_degree(n: int, faulty: exhaustive.Bools) -> exhaustive.Ints:
    """Return the fewest nonfaulty neighbours of a nonfaulty node, for each set."""
    counts = exhaustive.neighbour_counts(n, ~faulty)
    least: exhaustive.Ints = np.where(faulty, np.iinfo(np.int8).max, counts).min(axis=1).astype(np.int8)
    return least


# ---------------------------------------------------------------- Wu: levels and vectors


_NO_PATH = "promised, and no such path"


def decide_with_links(effort: Effort, verdict: Verdict, check: Callable[[Hypercube], Counterexample | None]) -> Verdict:
    """Return the verdict, unless ``check`` finds a counterexample in Q_2 or Q_3 with faulty links."""
    if verdict.outcome != "holds":
        return verdict
    nodes, links = effort.by_effort(full=(2, 3), quick=(1, 1))
    cases = cubes_with_links(itertools.product(range(nodes + 1), range(1, links + 1)))
    if (found := effort.find_first(cases, check, "Q_2 and Q_3 with faulty links")) is not None:
        return Verdict("refuted", "in Q_2 and Q_3 with faulty links", found)
    return replace(
        verdict,
        checked=f"{verdict.checked}; in Q_2 and Q_3, too, with up to {links} faulty links and {nodes} faulty nodes",
    )


def _check_promises(cube: Hypercube, is_promised: Callable[[int], bool], python: str) -> Counterexample | None:
    """Find the first node to which node 0 is promised a path over the Hamming distance that does not exist."""
    for t in nonfaulty_targets(cube):
        if is_promised(t) and distance(cube, 0, t) != t.bit_count():
            return cube_counterexample(_NO_PATH, cube, python.format(t=t), s=0, t=t)
    return None


_LEVEL_EXPRESSION = "[fc.safety_levels(c).level(0), fc.distance(c, 0, {t})]"
_VECTOR_EXPRESSION = "[fc.safety_vectors(c).vector(0).tolist(), fc.distance(c, 0, {t})]"


def _check_level(cube: Hypercube) -> Counterexample | None:
    """Find the first promise that a level breaks; levels promise nothing over a faulty link (V6)."""
    level = safety_levels(cube).level(0)

    def is_promised(t: int) -> bool:
        return t.bit_count() <= level and not cube.is_faulty_link(0, t)

    return _check_promises(cube, is_promised, _LEVEL_EXPRESSION)


def _check_vector(cube: Hypercube) -> Counterexample | None:
    vector = safety_vectors(cube).vector(0)
    return _check_promises(cube, lambda t: bool(vector[t.bit_count() - 1]), _VECTOR_EXPRESSION)


@registry.forall(
    "level-path",
    FaultSets(_NO_PATH, _LEVEL_EXPRESSION, check=_check_level),
    where="Wu 1997, abstract",
    states=(
        "A node of safety level k is joined by a path of H links to every nonfaulty node at Hamming distance H <= k [with faulty "
        "links, V6, except to a node across a faulty link]."
    ),
)
def level_path(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
    """Compare node 0's level with all minimal paths from it."""
    promised = exhaustive.safety_levels(n, faulty)[0][:, :1] >= _hamming_distances(n)
    return promised & ~faulty & ~exhaustive.has_minimal_path(n, faulty)


@registry.forall(
    "vector-path",
    FaultSets(_NO_PATH, _VECTOR_EXPRESSION, check=_check_vector),
    where="Wu 1998, abstract",
    states="A node whose safety vector has bit k is joined by a path of k links to every nonfaulty node at Hamming distance k.",
)
def vector_path(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
    """Compare node 0's vector with all minimal paths from it."""
    promised = exhaustive.safety_vectors(n, faulty)[:, 0, :][:, _hamming_distances(n)]
    return promised & ~faulty & ~exhaustive.has_minimal_path(n, faulty)


@registry.forall(
    "levels-rounds",
    FaultSets("too many rounds", "fc.safety_levels(c).rounds"),
    where="Wu 1995, abstract",
    states="Safety levels settle after at most n - 1 rounds.",
)
def levels_rounds(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
    """Compare the rounds of safety levels with n - 1, for all fault sets."""
    return exhaustive.safety_levels(n, faulty)[1] > n - 1


def _other_levels_python(n: int, faulty: exhaustive.Bools) -> str:
    """Return lines of Python for another assignment of levels that the definition allows, besides the safety levels."""
    level = "next((k for k, x in enumerate(sorted(S[w] for w in c.neighbours(v))) if x < k), c.n)"
    defined = f"[0 if c.is_faulty(v) else {level} for v in range(2**c.n)]"
    found = exhaustive.safety_levels(n, faulty, first=0)[0][0].tolist()
    return f"S = {found}\n[S == {defined}, S, fc.safety_levels(c).levels.tolist()]"


@registry.forall(
    "levels-unique",
    FaultSets("whether it is as the definition asks, another assignment, and the levels", _other_levels_python),
    where="Wu 1995, as the literature gives it",
    states="One assignment of safety levels to the nodes is as the definition asks.",
)
def levels_unique(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
    """Compare the results of starting with n and with 0: every valid assignment is between these two."""
    above, below = (exhaustive.safety_levels(n, faulty, first=first)[0] for first in (None, 0))
    differ: exhaustive.Bools = above != below
    return differ


def _fewer_than_n(python: str) -> FaultSets:
    """Return all sets of fewer than n faulty nodes, for a claim that a node has another one near."""
    return FaultSets("none near", python, lambda n: n - 1)


def _nodes_far_from(n: int, faulty: exhaustive.Bools, marked: exhaustive.Bools) -> exhaustive.Bools:
    """Return nonfaulty nodes that are not ``marked`` and have no marked neighbour."""
    far: exhaustive.Bools = ~faulty & ~marked & (exhaustive.neighbour_counts(n, marked) == 0)
    return far


@registry.forall(
    "levels-near",
    _fewer_than_n("[fc.safety_levels(c).level(v) for v in c.neighbours({t})]"),
    where="Wu 1995, 1997, as the literature gives it",
    states="With fewer than n faulty nodes every nonfaulty node has level n or a neighbour of level n.",
)
def levels_near(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
    """Check that each nonfaulty node has level n or a neighbour of level n, for all sets of fewer than n nodes."""
    return _nodes_far_from(n, faulty, exhaustive.safety_levels(n, faulty)[0] == n)


@registry.forall(
    "words-chain",
    FaultSets("not in this order", "[fc.safety_levels(c).level({t}), fc.wu_fernandez_safe(c).marked.tolist()]"),
    where="Wu 1995, 1998, as the literature gives it",
    states=(
        "A node that is not unsafe (Lee & Hayes) is not marked (Wu & Fernandez). A node that is not marked has level n. A "
        "node of level k has bits 1 .. k of the safety vector."
    ),
)
def status_chain(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
    """Check that each of the four definitions implies the next one, for all fault sets."""
    marked, levels = exhaustive.marked_nodes(n, faulty)[0], exhaustive.safety_levels(n, faulty)[0]
    bits = exhaustive.safety_vectors(n, faulty)[:, :, 1:]
    promised = levels[:, :, None] >= np.arange(1, n + 1)
    broken = (promised & ~bits).any(axis=2)
    return ~faulty & ((marked & ~exhaustive.unsafe_nodes(n, faulty)) | (~marked & (levels < n)) | broken)


@registry.forall(
    "unsafe-near",
    _fewer_than_n("fc.find_unsafe(c).nodes.tolist()"),
    where="contrast: Lee & Hayes's nodes in place of Wu's",
    states="With fewer than n faulty nodes every nonfaulty node is not unsafe or has such a neighbour.",
    added=True,
    correction="Of level n there is one (levels-near).",
)
def unsafe_near(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
    """Check that each nonfaulty node is active or next to an active node, for all sets of fewer than n nodes."""
    return _nodes_far_from(n, faulty, ~faulty & ~exhaustive.unsafe_nodes(n, faulty))


@registry.forall(
    "marking-rounds",
    FaultSets("too many rounds", "fc.wu_fernandez_safe(c).rounds"),
    where="contrast: the marking in place of levels",
    states="Wu and Fernandez's marking settles after at most n - 1 rounds.",
    added=True,
    correction="That holds of levels (levels-rounds).",
)
def marking_rounds(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
    """Compare the rounds of the marking with n - 1, for all sets; in Q_1 no node is ever marked."""
    return exhaustive.marked_nodes(n, faulty)[1] > n - 1


# ---------------------------------------------------------------- Gu & Peng: distances


def _too_far(most: Callable[[int], int], applies: Rows) -> FaultSets:
    """Return all sets of at most ``most(n)`` faulty nodes with a hypothesis, for a claim about distances from node 0."""
    return FaultSets("too far", "fc.distance(c, 0, {t})", most, applies)


def _has_neighbour(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
    """Return whether node 0 has a nonfaulty neighbour."""
    found: exhaustive.Bools = exhaustive.neighbour_counts(n, ~faulty)[:, 0] > 0
    return found


def _have_two_neighbours(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
    """Return whether every nonfaulty node has two nonfaulty neighbours."""
    return _least_degree(n, faulty) >= 2


def _have_k_neighbours(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
    """Return whether every nonfaulty node has k nonfaulty neighbours, for the least k < n that admits f faults."""
    least = min((k for k in range(1, n) if f <= 2**k * (n - k) - 1), default=n + 1)
    return _least_degree(n, faulty) >= least


@registry.forall(
    "gu-peng-4",
    _too_far(lambda n: 2 * n - 3, _has_neighbour),
    where="Gu & Peng, abstract",
    states="With at most 2n - 3 faulty nodes, s and t each with a nonfaulty neighbour, their distance is at most H + 4.",
)
def gu_peng_4(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
    """Compare node 0's distances with H + 4, for all sets that satisfy the hypothesis."""
    far = exhaustive.path_lengths(n, faulty) > _hamming_distances(n) + 4
    is_joined = exhaustive.neighbour_counts(n, ~faulty) > 0
    return far & ~faulty & is_joined & is_joined[:, :1]


@registry.forall(
    "gu-peng-6",
    _too_far(lambda n: 4 * n - 9, _have_two_neighbours),
    where="Gu & Peng 1999, abstract, of cubes in which every node has 2 nonfaulty neighbours; ours asks it of nonfaulty nodes",
    states="With at most 4n - 9 faulty nodes, every nonfaulty node with at least 2 nonfaulty neighbours, distances are at "
    "most H + 6.",
)
def gu_peng_6(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
    """Compare node 0's distances with H + 6, for all sets that satisfy the hypothesis."""
    far = exhaustive.path_lengths(n, faulty) > _hamming_distances(n) + 6
    return far & ~faulty & _have_two_neighbours(n, f, faulty)[:, None]


@registry.forall(
    "gu-peng-connected",
    FaultSets("disconnected", "fc.distance(c, 0, {t})", applies=_have_k_neighbours),
    where="Latifi et al., as the abstract of Gu & Peng 1999 quotes it for k <= n/2 and all nodes; ours asks more",
    states="With at most 2^k (n - k) - 1 faulty nodes, every nonfaulty node with at least k nonfaulty neighbours, the rest is "
    "connected.",
)
def gu_peng_connected(n: int, f: int, faulty: exhaustive.Bools) -> exhaustive.Bools:
    """Check that the nonfaulty nodes are connected, for all sets that satisfy the hypothesis with the least k that admits f.

    That k asks least of the neighbours, so the check decides every larger k < n, too.
    """
    disconnected: exhaustive.Bools = (exhaustive.path_lengths(n, faulty) == 127) & ~faulty
    return disconnected & _have_k_neighbours(n, f, faulty)[:, None]
