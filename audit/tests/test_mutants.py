"""Broken algorithms, and the claims that must then turn: refuted with a counterexample, or stopped where two computations differ.

A decider that calls a broken algorithm right decides nothing.  Each mutant names the claims about what it breaks; those that a
mutant leaves true are not named.  Everything is decided with quick effort, in this process, and once more under ``python -O``.
"""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from audit_helpers.mutants import _SHAPES, LH, LK, LP, SW, UC, WL, decide_claim

from fastcube.algorithms import multicasting, partition
from fastcube.algorithms.broadcasting import broadcast
from fastcube.algorithms.gathering import gather
from fastcube.algorithms.paths import route
from fastcube.algorithms.shortest import distance
from fastcube.algorithms.spanning import broadcast_packets, light_trees
from fastcube.algorithms.spanning_flows import NonfaultyGraph
from fastcube.algorithms.trees import CommunicationTree, find_tree, unusable_link_masks
from fastcube.algorithms.trees_lattice import fault_free_trees
from fastcube.algorithms.unsafe import find_unsafe
from fastcube.exact.unsafe import exact_unsafe
from fastcube.networks.dualcube import DualCube
from fastcube.networks.network import descending_bits
from fastcube.studies.wang_lin_kuo.partition import partition_counts
from fastcube_audit.papers.lee_hayes.worlds import World
from fastcube_audit.papers.li_peng_chu import binomial_trees, hypercube_routing, routing
from fastcube_audit.papers.routing_rules import exhaustive as every
from fastcube_audit.papers.routing_rules import rules
from fastcube_audit.papers.sui_wang_lee import broadcast as sw_broadcast

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="counts over all fault sets need compiled code")

Patch = Callable[[pytest.MonkeyPatch], None]


@dataclasses.dataclass(frozen=True)
class Mutant:
    """What is broken, how, and which claims of which paper must see it."""

    paper: str
    description: str
    patch: Patch
    claims: tuple[str, ...]


def swap(*names: str, by: Any) -> Patch:
    """Put something else in the place of names in ``fastcube_audit.papers``."""

    def patch(m: pytest.MonkeyPatch) -> None:
        for name in names:
            m.setattr(f"fastcube_audit.papers.{name}", by)

    return patch


def method(owner: type, name: str, by: Any) -> Patch:
    return lambda m: m.setattr(owner, name, by)


def shown_too(name: str, by: Any) -> Patch:
    """Break it for the lines of a worked example as well, which are evaluated in the names of ``fc``."""
    import fastcube

    return lambda m: m.setattr(fastcube, name, by)


def both(*patches: Patch) -> Patch:
    def patch(m: pytest.MonkeyPatch) -> None:
        for one in patches:
            one(m)

    return patch


# ---------------------------------------------------------------- Lee & Hayes


def routed(k_less: int = 0, instead: str = "") -> Callable[..., Any]:
    """``route`` with a smaller k, or by another algorithm in the place of ROUTE2."""

    def mutant(cube: Any, s: int, t: int, algorithm: str | None = None, **options: Any) -> Any:
        if k_less and "k" in options:
            options["k"] = max(1, options["k"] - k_less)
        return route(cube, s, t, instead if instead and algorithm == "ROUTE2" else algorithm, **options)

    return mutant


def casting(of: str, instead: str) -> Patch:
    def mutant(cube: Any, s: int, algorithm: str | None = None) -> Any:
        return broadcast(cube, s, instead if algorithm == of else algorithm)

    return swap("lee_hayes.broadcasting.broadcast", by=mutant)


def late(cube: Any) -> Any:
    """FIND_UNSAFE that takes a round too many."""
    unsafe = find_unsafe(cube)
    return dataclasses.replace(unsafe, rounds=unsafe.rounds + 1) if dataclasses.is_dataclass(unsafe) else _Late(unsafe)


def five_times(n: int, f: int) -> Any:
    """Exact values with five times as many unsafe nodes."""
    exact = exact_unsafe(n, f)
    return dataclasses.replace(exact, mean_fraction=5 * exact.mean_fraction)


class _Late:
    def __init__(self, unsafe: Any) -> None:
        self._unsafe = unsafe

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._unsafe, name)
        return value + 1 if name in ("rounds", "round_of") else value


LEE_HAYES = [
    Mutant(
        LH,
        "ROUTE3 is ROUTE",
        method(World, "route3", lambda w, s, t: route(w.cube, s, t, "ROUTE")),
        ("theorem-4", "route3-active", "route3-to-unsafe", "route3-from-unsafe", "ceil-half-faults-routing"),
    ),
    Mutant(
        LH,
        "ROUTE3 is ROUTE1(1)",
        method(World, "route3", lambda w, s, t: route(w.cube, s, t, "ROUTE1", k=1)),
        ("route3-to-unsafe", "route3-different-subcubes"),
    ),
    Mutant(
        LH,
        "k is one less than is said",
        swap("lee_hayes.routing.route", by=routed(1)),
        ("theorem-1", "theorem-2"),
    ),
    Mutant(
        LH,
        "ROUTE2 is ROUTE1",
        swap("lee_hayes.routing.route", by=routed(instead="ROUTE1")),
        ("theorem-2", "route2-n"),
    ),
    Mutant(
        LH,
        "BROADCAST2 is BROADCAST",
        casting("BROADCAST2", "BROADCAST"),
        ("theorem-6", "broadcast2-active", "theorem-6-links"),
    ),
    Mutant(
        LH,
        "BROADCAST2 is BROADCAST1",
        casting("BROADCAST2", "BROADCAST1"),
        ("theorem-6", "ceil-half-faults-broadcasting"),
    ),
    Mutant(
        LH,
        "BROADCAST1 is BROADCAST",
        casting("BROADCAST1", "BROADCAST"),
        ("theorem-5", "unsafe-nodes-are-silent", "unsafe-served-last"),
    ),
    Mutant(
        LH,
        "every set of nodes is closed",
        swap("lee_hayes.unsafe.closed_sets", by=lambda n: range(2**2 ** min(n, 4))),
        ("theorem-3", "one-bad-neighbour"),
    ),
    Mutant(
        LH,
        "FIND_UNSAFE takes a round more",
        both(
            swap(*(f"lee_hayes.{name}.find_unsafe" for name in ("unsafe", "rounds", "registry")), by=late),
            shown_too("find_unsafe", late),
        ),
        ("figure-3", "figure-12", "rounds-bound", "n-cubed"),
    ),
    Mutant(
        LH,
        "five times as many nodes are unsafe",
        swap("lee_hayes.unsafe.exact_unsafe", by=five_times),
        ("fifteen-percent",),
    ),
    Mutant(
        LH,
        "ROUTE3 asks every neighbour three times",
        swap(
            "lee_hayes.route3.descending_bits",
            by=lambda x: (bit for bit in descending_bits(x) for _ in range(3)),
        ),
        ("two-comparisons",),
    ),
]

# ---------------------------------------------------------------- Leu & Kuo


def sink_0(cube: Any, algorithm: str | None = None) -> Any:
    """FIND_TREE with the sink 0, whatever its links."""
    found = find_tree(cube, algorithm)
    order = tuple(range(cube.n)) if found is None else found.order
    return CommunicationTree(cube, 0, order, () if found is None else found.costs)


def dearest(cube: Any, algorithm: str | None = None) -> Any:
    """FIND_TREE with its order reversed."""
    found = find_tree(cube, algorithm)
    return None if found is None else CommunicationTree(cube, found.sink, found.order[::-1])


def fttc(variant: str = "", algorithm: str = "") -> Callable[..., Any]:
    """Gather by another variant or algorithm than requested."""

    def mutant(cube: Any, tree: Any, name: str | None = None, asked: str | None = None, **options: Any) -> Any:
        if algorithm and name in (None, "FTTC"):
            return gather(cube, tree, algorithm)
        if variant and name in (None, "FTTC"):
            return gather(cube, tree, name, variant)
        return gather(cube, tree, name, asked, **options)

    return mutant


_GATHER = "leu_kuo.gathering.gather"
_FINDS = ("leu_kuo.trees.find_tree", "leu_kuo.gathering.find_tree")


def role_shifted(tree: Any, v: int, i: int) -> str:
    return _ROLE(tree, v, min(i + 1, tree.n - 1))


_ROLE = CommunicationTree.role

LEU_KUO = [
    Mutant(
        LK,
        "FIND_TREE takes node 0 for the sink",
        swap(*_FINDS, by=sink_0),
        ("last-stage", "theorem-5", "beyond-theorem-3"),
    ),
    Mutant(
        LK, "FTTC follows the letter", swap(_GATHER, by=fttc("as_printed")), ("theorem-6-as-commented", "asynchronous")
    ),
    Mutant(
        LK,
        "FTTC is TC",
        swap(_GATHER, by=fttc(algorithm="TC")),
        ("asynchronous", "corrected-loses-the-stranded", "theorem-5"),
    ),
    Mutant(
        LK, "FTTC follows the letter in examples", shown_too("gather", fttc("as_printed")), ("example-3", "example-4")
    ),
    Mutant(LK, "FIND_TREE takes the dearest dimension", shown_too("find_tree", dearest), ("example-2",)),
    Mutant(
        LK,
        "a link's far end does not know its fault",
        shown_too("unusable_link_masks", lambda cube: unusable_link_masks(cube) & 0b100),
        ("detect",),
    ),
    Mutant(
        LK,
        "roles come a stage too late",
        method(CommunicationTree, "role", role_shifted),
        ("theorem-1", "theorem-2", "example-1", "idle-afterwards"),
    ),
    Mutant(
        LK,
        "EXHAUST misses a tree",
        shown_too("fault_free_trees", lambda cube: list(fault_free_trees(cube))[1:]),
        ("property-1",),
    ),
    Mutant(
        LK,
        "a tree lacks its last link",
        method(CommunicationTree, "links", property(lambda t: _LINKS.fget(t)[:-1])),
        ("property-2",),
    ),
    Mutant(
        LK,
        "faulty nodes have no FAULT",
        swap(
            "leu_kuo.delivery.unusable_link_masks",
            by=lambda cube: unusable_link_masks(type(cube)(cube.n, (), cube.faulty_links)),
        ),
        ("faulty-as-isolated", "computation-slowdown"),
    ),
]

_LINKS: Any = CommunicationTree.links

# ---------------------------------------------------------------- Li, Peng & Chu


def cut_off(faults: Any, root: int, k: int, dims: int) -> dict[int, int]:
    """A tree with a node cut off."""
    tree = binomial_trees.build_tree_by_halves(faults, root, k, dims)
    if k:
        tree.pop(max(v for v in tree if v != root))
    return tree


def nearer(
    dual: DualCube, start: int, dims: int, deepest: int | None = None, goal: int | None = None
) -> dict[int, int]:
    """A search that ends two links early."""
    return hypercube_routing.reachable_distances(dual, start, dims, max((deepest or 3) - 2, 0), goal)


def crooked(dual: DualCube, s: int, t: int) -> bool:
    return not (s ^ t) & 1


_EDGES = routing._virtual_edges_between
_TREE = DualCube.binomial_tree

LI_PENG_CHU = [
    Mutant(
        LP,
        "a node is cut off the tree",
        swap("li_peng_chu.network.build_tree_by_halves", by=cut_off),
        ("tree-exists",),
    ),
    Mutant(
        LP,
        "searches end two links early",
        swap(
            "li_peng_chu.routing.reachable_distances",
            "li_peng_chu.hypercube.reachable_distances",
            by=nearer,
        ),
        ("lemma-1", "hypercube-path", "hypercube-half", "virtual-edge-path"),
    ),
    Mutant(
        LP,
        "distance forgets the cross edges",
        method(DualCube, "intact_distance", lambda d, u, v: (u ^ v).bit_count()),
        ("distance",),
    ),
    Mutant(
        LP,
        "virtual edges end beside their ends",
        swap("li_peng_chu.routing._virtual_edges_between", by=lambda d, t: ((u, v ^ 1) for u, v in _EDGES(d, t))),
        ("virtual-edge-path",),
    ),
    Mutant(
        LP,
        "paths of virtual edges meet",
        swap("li_peng_chu.network._has_disjoint_paths", by=crooked),
        ("virtual-paths",),
    ),
    Mutant(
        LP,
        "the 10-cube is never connected",
        swap("li_peng_chu.hypercube._is_connected", by=lambda *_: False),
        ("ten-cube-connected",),
    ),
    Mutant(
        LP,
        "a path takes seven links more",
        swap(
            "li_peng_chu.hypercube.reachable_distances",
            by=lambda *a: {v: n + 7 * (n > 0) for v, n in hypercube_routing.reachable_distances(*a).items()},
        ),
        ("hypercube-length", "hypercube-recursion"),
    ),
    Mutant(
        LP,
        "trees are sixteen times as large",
        method(DualCube, "binomial_tree", lambda d, root, k: _TREE(d, root, min(k + 4, d.m))),
        ("time-bound", "hypercube-time"),
    ),
    Mutant(LP, "there is no distance", swap("li_peng_chu.routing.distance", by=lambda *_: None), ("theorem-1-path",)),
    Mutant(
        LP,
        "distances are seven links longer",
        both(
            swap(
                "li_peng_chu.routing.reachable_distances",
                by=lambda *a: {v: n + 7 for v, n in hypercube_routing.reachable_distances(*a).items()},
            ),
            shown_too("distance", lambda *a: distance(*a) + 7),
        ),
        ("theorem-1-length",),
    ),
    Mutant(
        LP,
        "no tree grows past its root",
        both(
            swap("li_peng_chu.hypercube_routing.complete_tree", by=lambda *_, **__: None),
            swap("li_peng_chu.choices.enumerate_trees", by=lambda *_, **__: iter(())),
        ),
        ("hypercube-algorithm",),
    ),
]

# ---------------------------------------------------------------- Sui, Wang & Lee


def zeros(cube: Any, s: int, pivoted: bool = False) -> Any:
    """Trees in which everyone's parent is 0."""
    return np.where(light_trees(cube, s, pivoted=pivoted) < 0, light_trees(cube, s, pivoted=pivoted), 0)


def slower(*arguments: Any, **options: Any) -> Any:
    return broadcast_packets(*arguments, **options) + 1


def unsound(m: pytest.MonkeyPatch) -> None:
    m.setattr("fastcube.kernels.spanning.broadcast.light_heights", lambda *_: False)


def taller(n: int) -> Any:
    return {d: tuple(tuple(x + (d == n) for x in kind) for kind in both_) for d, both_ in _SHAPES(n).items()}


class _Wider:
    """A graph with one more link at every node, for cuts."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)

    def minimum_edge_cut(self) -> Any:
        found = self._graph.minimum_edge_cut()
        return found._replace(size=found.size + 1)


SUI_WANG_LEE = [
    Mutant(
        SW,
        "spanning trees are zeros",
        swap("sui_wang_lee.trees.light_trees", by=zeros),
        ("pivoted", "link-partition", "deepest-node"),
    ),
    Mutant(SW, "trees share links", unsound, ("lemma-3", "lemma-4", "lemma-5-last")),
    Mutant(
        SW,
        "trees are taller at distance n",
        swap("sui_wang_lee.trees.light_tree_heights", by=taller),
        ("lemma-5-last", "lemma-5-optimal", "theorem-2"),
    ),
    Mutant(
        SW,
        "a broadcast takes a step more",
        swap("sui_wang_lee.broadcast.broadcast_packets", by=slower),
        ("johnsson-ho", "theorem-2", "latency"),
    ),
    Mutant(
        SW,
        "cuts are larger",
        swap("sui_wang_lee.trees.NonfaultyGraph", by=lambda cube: _Wider(NonfaultyGraph(cube))),
        ("theorem-1-common-root",),
    ),
    Mutant(
        SW,
        "steps are counted one short",
        swap("sui_wang_lee.broadcast.steps_on_trees", by=lambda *a: _STEPS(*a) - 1),
        ("theorem-2",),
    ),
    Mutant(
        SW,
        "the permutation is the identity",
        swap("sui_wang_lee.trees.position_dimensions", by=lambda n, s, f: list(range(n))),
        ("lemma-2",),
    ),
    Mutant(
        SW,
        "base trees need not be disjoint",
        swap("sui_wang_lee.trees.tree_heights", by=lambda n, d, choice: ((n,) * (n - 1),) * 2),
        ("lemma-6", "n-2-tall-trees"),
    ),
]

_STEPS = sw_broadcast.steps_on_trees

# ---------------------------------------------------------------- Wang, Lin & Kuo


def one_less(n: int, most: int) -> Any:
    return [tuple(x - (f > 1) for x in row) for f, row in enumerate(partition_counts(n, most))]


def never(cube: Any, exhaustive: bool = False) -> Any:
    return None if len(cube.faulty_nodes) > 1 else partition.two_partition(cube, exhaustive)


def forgetful(cube: Any, s: int, wanted: Any, *options: Any, **named: Any) -> Any:
    """A multicast that loses its last destination."""
    return multicasting.multicast(cube, s, sorted(wanted)[:-1], *options, **named)


def straight(net: Any, v: int, u: int) -> int:
    """R by the low dimension first, whatever is faulty."""
    return v ^ (net.low if (v ^ u) & net.low else net.high)


def roundabout(net: Any, v: int, u: int) -> int:
    """R from 00 to 01 by 10 and 11."""
    return v ^ net.high if v ^ u == net.low and not v & net.inside else _NEXT_NODE_WITHIN(net, v, u)


_NEXT_NODE_WITHIN = partition.Supercube.next_node_within

WANG_LIN_KUO = [
    Mutant(
        WL,
        "counts of partitions are one too few",
        lambda m: m.setattr("fastcube.studies.wang_lin_kuo.partition.partition_counts", one_less),
        ("lemma-1", "figure-2"),
    ),
    Mutant(
        WL,
        "two faults have no partition",
        swap("wang_lin_kuo.partition.two_partition", by=never),
        ("lemma-1", "figure-2"),
    ),
    Mutant(
        WL,
        "a multicast loses its last destination",
        swap("wang_lin_kuo.partition.multicast", by=forgetful),
        ("beyond-n-1",),
    ),
    Mutant(
        WL,
        "examples lose their last destination",
        shown_too("multicast", forgetful),
        ("example-5-3", "example-4-3"),
    ),
    Mutant(
        WL, "R goes into the fault", method(partition.Supercube, "next_node_within", straight), ("two-hops-inside",)
    ),
    Mutant(WL, "R goes round", method(partition.Supercube, "next_node_within", roundabout), ("still-minimal",)),
    Mutant(
        WL,
        "labels are binary",
        method(
            partition.Supercube, "label", lambda net, v: sum(1 << at for at, bit in enumerate(net.external) if v & bit)
        ),
        ("hamilton-path",),
    ),
    Mutant(
        WL,
        "channels always wait in a circle",
        swap("wang_lin_kuo.partition.dependency_cycle", by=lambda *_: [(0, 1), (1, 0)]),
        ("no-cycle-inside",),
    ),
]

# ---------------------------------------------------------------- routing rules


def astray(cube: Any, s: int, t: int, algorithm: str | None = None, **options: Any) -> Any:
    """``route`` that delivers two links late."""
    found = route(cube, s, t, algorithm, **options)
    return dataclasses.replace(found, outcome="stuck", path=[*found.path, s, t, s, t])


def another(n: int, faulty: Any, first: int | None = None) -> Any:
    """Levels that are one less where they begin with 0."""
    own, rounds = _LEVELS(n, faulty)
    return own - (first == 0), rounds


def generous(*arguments: Any) -> Any:
    """Counts by which nothing is delivered as it is accepted."""
    for n, f, found, maxima, pairs in _COUNTED(*arguments):
        yield n, f, {**found, "a1_delivered": 0}, {**maxima, "levels_wrong": (1, 0)}, pairs


_COUNTED = rules._count_messages
_LEVELS = every.safety_levels

ROUTING_RULES = [
    Mutant(
        UC,
        "levels depend on the beginning",
        swap("routing_rules.status.exhaustive.safety_levels", by=another),
        ("levels-unique",),
    ),
    Mutant(
        UC,
        "messages go astray",
        both(
            swap("routing_rules.rules.route", by=astray),
            swap("routing_rules.rules._count_messages", by=generous),
        ),
        ("accepted-delivered", "a1-delivers"),
    ),
    Mutant(
        UC,
        "no path is minimal beside a faulty link",
        swap("routing_rules.status.distance", by=lambda cube, s, t: distance(cube, s, t) + 2),
        ("level-path", "vector-path"),
    ),
]

MUTANTS = [*LEE_HAYES, *LEU_KUO, *LI_PENG_CHU, *SUI_WANG_LEE, *WANG_LIN_KUO, *ROUTING_RULES]

#: Verdicts of sound algorithms other than that the claim holds.
KNOWN = {
    (LH, "rounds-bound"): "refuted",
    (LK, "computation-slowdown"): "depends",
    (LP, "hypercube-recursion"): "undecided",
    (LP, "theorem-1-length"): "undecided",
    (LP, "hypercube-algorithm"): "undecided",
    (SW, "theorem-2"): "depends",
    (SW, "lemma-6"): "depends",
    (SW, "n-2-tall-trees"): "depends",
    (SW, "latency"): "depends",
}


#: Claims of an order of growth, and claims whose counts name no case: a mutant must be shown to fail, not only stop the decider.
SHOWN = {"n-cubed", "time-bound", "hypercube-time", "theorem-1-length", "hypercube-algorithm"}
SHOWN |= {"accepted-delivered", "a1-delivers"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mutant", "claim"),
    [pytest.param(m, c, id=f"{m.paper}: {m.description}: {c}") for m in MUTANTS for c in m.claims],
)
def test_a_broken_algorithm_turns_its_claims(mutant, claim, monkeypatch):
    mutant.patch(monkeypatch)
    found, python = decide_claim(mutant.paper, claim)
    assert found not in ("holds", KNOWN.get((mutant.paper, claim), "holds"))
    assert (found == "refuted" and python) or claim not in SHOWN


def test_every_paper_has_six_mutants_at_least():
    assert all(sum(m.paper == paper for m in MUTANTS) >= 6 for paper in (LH, LK, LP, SW, WL))


@pytest.mark.slow
def test_no_assert_decides():
    """Under ``python -O`` a broken algorithm is seen, too."""
    code = (
        "import fastcube as fc, fastcube_audit.papers.leu_kuo.gathering as g\n"
        "from fastcube.algorithms.trees import CommunicationTree\n"
        "g.find_tree = lambda cube: CommunicationTree(cube, 0, range(cube.n))\n"
        "from fastcube_audit import registries\nfrom fastcube_audit.claims import Effort\n"
        "print(__debug__, registries.claim_registries()['leu_kuo']['last-stage'].decide(Effort(quick=True)).outcome)"
    )
    done = subprocess.run([sys.executable, "-O", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "refuted"]


def test_no_file_of_claims_asserts():
    import ast
    from pathlib import Path

    papers = Path(__file__).resolve().parents[1] / "fastcube_audit" / "papers"
    files = [path for path in papers.glob("*/*.py") if path.stem != "examples"]
    assert len(files) > 15
    for file in files:
        assert not [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Assert)], file
