"""Lines of algorithms changed as a careless programmer would, and the claims that must then turn.

Chosen from the papers, the readings and the algorithms by someone who had not seen the deciders: a mutant here changes what
runs, wherever it is called from, and no name in a decider.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numba
import pytest
from audit_helpers.mutants import LH, LK, LP, SW, UC, WL, clear_caches, decide_claim, isolated_caches  # noqa: F401  (a fixture of each test here, too)
from helpers.compiled import mark_others_slow
from reference import dualcube, routing_rules, wormhole
from reference.multicasting import Supercube

import fastcube as fc

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="counts over all fault sets need compiled code")


class Line(NamedTuple):
    """A mutant: text that a module has once, its replacement, and the claims that must notice."""

    paper: str
    description: str
    module: str
    old: str
    new: str
    claims: tuple[str, ...]


# fmt: off
LINES = [
    Line(LH, "the last node of a path is not looked at", "routing",
         "zip(bits, range(k), strict=False)", "zip(bits, range(k - 1), strict=False)",
         ("theorem-1", "corollary-1", "route2-1")),
    Line(LH, "ROUTE2 makes no detour", "routing",
         "return _detour(cube, curr, t, k) if bit is None else bit", "return bit",
         ("theorem-2", "route2-n", "route2-1")),
    Line(LH, "ROUTE3's third loop ends a link early", "routing",
         "for bit in descending_bits(2**cube.n - 1 & ~(curr ^ t)):",
         "for bit in [*descending_bits(2**cube.n - 1 & ~(curr ^ t))][:-1]:",
         ("theorem-4", "ceil-half-faults-routing")),
    Line(LH, "ROUTE3 takes an unsafe node for active", "routing",
         "return not any((x ^ base) & fixed == 0 for base, fixed in closed) and not",
         "return not cube.is_faulty(x) and not",
         ("theorem-4", "route3-to-unsafe", "route3-different-subcubes")),
    Line(LH, "subcubes at distance two are not merged", "unsafe",
         "near = distance <= 2", "near = distance <= 1",
         ("figure-3", "theorem-3", "theorem-4", "theorem-6")),
    Line(LH, "BROADCAST2 clears the bit of the link back", "broadcasting",
         "yield first, control\n", "yield first, control & ~first\n",
         ("theorem-6", "theorem-6-links", "ceil-half-faults-broadcasting", "floor-half-faults-broadcasting")),
    Line(LH, "BROADCAST1 serves unsafe neighbours in their turn", "broadcasting",
         "if not self.is_closed(x ^ bit):\n                control",
         "if not is_blocked(self.cube, x, bit):\n                control",
         ("unsafe-served-last", "unsafe-nodes-are-silent", "theorem-5")),
    Line(LH, "ends of faulty links are not unsafe", "unsafe",
         "links = np.array(sorted(cube.faulty_links)", "links = np.array(sorted(())",
         ("theorem-3-links", "theorem-4-links", "theorem-6-links")),
    Line(LH, "three bad neighbours make a node unsafe", "unsafe",
         "near[seen[near] == 2]", "near[seen[near] == 3]",
         ("figure-12",)),
    Line(LH, "BROADCAST sends over the lowest dimension first", "broadcasting",
         "for bit in descending_bits(control):\n        control ^= bit\n        yield",
         "for bit in [*descending_bits(control)][::-1]:\n        control ^= bit\n        yield",
         ("broadcast1-plain",)),

    Line(LK, "an active node is idle", "trees",
         "for d in self.order[:i])", "for d in self.order[: i + 1])",
         ("example-1", "theorem-1", "theorem-2", "one-partner")),
    Line(LK, "one end alone knows of a faulty link", "trees",
         "masks[ends | link] |= link", "masks[ends | link] |= link & _ONE & ~_ONE",
         ("detect", "example-3", "example-4")),
    Line(LK, "the last node is no sink", "trees",
         "sink if sink < 2**n else None", "sink if sink < 2**n - 1 else None",
         ("beyond-theorem-3",)),
    Line(LK, "partitions go over faulty links", "gathering_run",
         "for j in range(i + 1, self.n) if not fault[v] >> d[j] & 1]\n        if",
         "for j in range(i + 1, self.n)]\n        if",
         ("example-3", "example-4", "corrected-loses-the-stranded")),
    Line(LK, "partitions miss a neighbour that waits", "gathering_run",
         "for j in range(i + 1, self.n) if not fault[v] >> d[j] & 1]\n        if",
         "for j in range(i + 2, self.n) if not fault[v] >> d[j] & 1]\n        if",
         ("theorem-6-as-commented", "theorem-6-corrected", "corrected-loses-the-stranded")),
    Line(LK, "helpers wait by the letter", "gathering_run",
         ' if self.variant == "as_printed" or not fault[v] >> d[j] & 1', "",
         ("theorem-6-as-commented", "theorem-6-corrected", "example-3", "corrected-loses-the-stranded")),
    Line(LK, "links of faulty nodes are alive", "trees",
         "lows.append(nodes & ~bit)\n        bits.append(np.full_like(nodes, bit))",
         "lows.append(nodes[:0] & ~bit)\n        bits.append(np.full_like(nodes[:0], bit))",
         ("faulty-as-isolated", "example-4", "fewest-links-without-sink")),
    Line(LK, "FIND_TREE fills the order from the front", "trees",
         "(order[0],) = rest", "(order[0],) = rest; order.reverse()",
         ("example-2", "example-4")),
    Line(LK, "rerouting is charged three steps more", "gathering",
         "paper, sync = n + 3 * k, n + 2 * k", "paper, sync = n + 3 * k, n + 3 * k",
         ("rerouting-steps",)),
    Line(LK, "every stage takes two steps", "gathering_run",
         "longest = [1] * self.n", "longest = [2] * self.n",
         ("without-faults",)),
    Line(LK, "one half's dead links cross", "trees_lattice",
         "- self.inside[here] - self.inside[other] +", "- self.inside[here] +",
         ("fault-free-below-n",)),

    Line(SW, "the order is ascending, not cyclic", "spanning",
         "for k in range(i + 1, i + n):", "for k in range(i + 1 - i - 1, n):",
         ("pivoted", "johnsson-ho", "lemma-4", "link-partition")),
    Line(SW, "the faulty node stays in the tree", "spanning",
         "= ABSENT, start + (1 << i)", "= top + (1 << i), start + (1 << i)",
         ("lemma-3", "lemma-4")),
    Line(SW, "step 5 misses a node", "spanning",
         "for j in range(m - 2)]", "for j in range(m - 3)]",
         ("lemma-3", "lemma-4", "link-partition")),
    Line(SW, "the faulty node's bits go to the bottom", "spanning",
         "((s ^ fault) >> k & 1, k)", "(~(s ^ fault) >> k & 1, k)",
         ("lemma-2", "lemma-4")),
    Line(SW, "a packet too many a tree, where they come out even", "spanning",
         "(packets - i + len(heights) - 1) // len(heights)", "(packets - i) // len(heights) + 1",
         ("johnsson-ho",)),
    Line(SW, "light trees hang from the source", "spanning",
         "if not pivoted:  # reverse", "if pivoted:  # reverse",
         ("lemma-3", "lemma-4")),
    Line(SW, "the distance does not fall in the recursion", "spanning",
         "start, d = top, d - 1", "start, d = top, d",
         ("lemma-3", "lemma-4")),
    Line(SW, "trees are a link lower", "spanning",
         "int(depths(tree).max())", "int(depths(tree).max()) - 1",
         ("johnsson-ho",)),
    Line(SW, "no cut is smaller than a degree", "spanning_flows",
         "if best.size == 0:", "if best.size >= 0:",
         ("smallest-nodes", "smallest-links")),

    Line(WL, "j = i is not mapped back", "partition",
         "if map_back and j >= i else j", "if map_back and j > i else j",
         ("figure-2",)),
    Line(WL, "a pair of dimensions is not tried together", "partition",
         "if find_conflict(faults, 1 << lo | 1 << hi) is None:", "if find_conflict(faults, 1 << lo) is None:",
         ("lemma-1",)),
    Line(WL, "labels are binary", "partition",
         "            position ^= position >> shift\n", "",
         ("hamilton-path", "example-4-3")),
    Line(WL, "R turns at 01", "partition",
         "v ^ (self.low if v & self.inside else self.high)", "v ^ (self.high if v & self.inside else self.low)",
         ("still-minimal",)),
    Line(WL, "R sees no fault", "partition",
         "if self.faults.isdisjoint((v, v ^ self.low, v ^ self.high, u)):", "if True:",
         ("two-hops-inside",)),
    Line(WL, "the low buddy, faulty or not", "partition",
         "return Step(v ^ self.low if v ^ self.low not in self.faults else v ^ self.high, True)",
         "return Step(v ^ self.low, True)",
         ("beyond-n-1",)),
    Line(WL, "D_H goes to the highest label first", "multicasting",
         "for a, d in labelled if a > label]", "for a, d in labelled[::-1] if a > label]",
         ("example-4-3",)),
    Line(WL, "one message for both buddies", "multicasting",
         "            yield Use(kind, w, v, header)",
         "            yield Use(kind, w, v, header)\n            return",
         ("worst-case", "beyond-n-1")),
    Line(WL, "external dimensions descend", "partition",
         "for i in range(n) if i not in partition]", "for i in reversed(range(n)) if i not in partition]",
         ("example-4-3",)),
    Line(WL, "D_L shares the channels of D_H", "channel_dependencies",
         "if virtual_channels == 1:", "if virtual_channels >= 1:",
         ("corrected-unicast", "corrected-graph")),
    Line(WL, "a shortcut leads beyond the goal", "partition",
         "if (over > goal) if here < goal else (over < goal):", "if False:",
         ("networks-disjoint",)),

    Line(LP, "no way through another cluster is counted", "networks.dualcube",
         "+ 2 * other_cluster", "+ 0 * other_cluster",
         ("distance",)),
    Line(LP, "cross neighbours are not counted", "networks.dualcube",
         "for node in self.neighbours(fault):", "for node in self.neighbours(fault)[:-1]:",
         ("lemma-1", "theorem-1-path")),
    Line(LP, "clusters are joined along their names", "networks.dualcube",
         "low = self._size * (label >> 2 * self._size)", "low = self._size * (1 - (label >> 2 * self._size))",
         ("distance",)),
    Line(LP, "a fault inside a cluster stops nobody", "networks.dualcube",
         "if u not in seen and not self.is_faulty(u):", "if u not in seen:",
         ("lemma-2",)),
    Line(LP, "a tree takes faulty children", "networks.dualcube",
         "if u ^ d not in tree and u ^ d not in faults)", "if u ^ d not in tree)",
         ("hypercube-greedy", "theorem-1-corrected")),
    Line(LP, "a path goes on from the wrong side of the cut", "dualcube_offline",
         "return path + self.route_in_subcube(u ^ split, t,", "return path + self.route_in_subcube(u, t,",
         ("hypercube-greedy", "theorem-1-corrected")),
    Line(LP, "a path is not turned round", "dualcube_offline",
         "return self.route_from_cluster(t, s)[::-1]", "return self.route_from_cluster(t, s)",
         ("theorem-1-corrected",)),
    Line(LP, "faulty neighbours of a tree are entered", "dualcube_offline",
         "if x not in self.faults:\n                        yield", "if True:\n                        yield",
         ("theorem-1-corrected",)),
    Line(LP, "trees grow a stage more", "networks.dualcube",
         "for _ in range(k):\n        for u, path", "for _ in range(k + 1):\n        for u, path",
         ("hypercube-greedy",)),
]
# fmt: on


def functions(code: types.CodeType) -> Iterator[types.CodeType]:
    """The codes of a module's functions and methods; not those inside them."""
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            if "<" not in const.co_name and const.co_flags & 2:  # a new local namespace: a function's, no class body's
                yield const
            else:
                yield from functions(const)


def read_module(line: Line) -> tuple[types.ModuleType, str]:
    """The module that a line is in, and its text."""
    name = line.module if "." in line.module else f"algorithms.{line.module}"
    module = importlib.import_module(f"fastcube.{name}")
    assert module.__file__
    return module, Path(module.__file__).read_text()


def change(m: pytest.MonkeyPatch, line: Line) -> None:
    """Put the changed code in the place of each function that the change is in."""
    module, text = read_module(line)
    assert module.__file__
    before, after = (
        {code.co_qualname: code for code in functions(compile(source, module.__file__, "exec"))}
        for source in (text, text.replace(line.old, line.new))
    )
    found: Any
    for name in before:
        if before[name] == after[name]:
            continue
        found = module
        for part in name.split("."):
            found = vars(found)[part]
        if isinstance(found, functools.cached_property):
            found = found.func
        elif isinstance(found, property):
            found = found.fget
        m.setattr(found, "__code__", after[name])


#: Claims that are not said to hold: a mutant must turn them otherwise than sound algorithms do, or by another counterexample.
NOT_HOLDING = {(LP, "hypercube-greedy"), (LP, "theorem-1-corrected"), (LP, "lemma-2")}

#: Claims decided by kernels that no default test compiles.
COMPILED = {
    "distance",
    "fault-free-below-n",
    "fewest-links-without-sink",
    "lemma-3",
    "lemma-4",
    "smallest-nodes",
    "smallest-links",
    "corrected-unicast",
    "corrected-graph",
}


def cases() -> Iterator[Any]:
    """Yield each line with each of its claims; by default only one claim per line, which needs no compiled kernel."""
    for line in LINES:
        quick = [c for c in line.claims if (line.paper, c) not in NOT_HOLDING and c not in COMPILED]
        for claim in line.claims:
            marks = () if claim in quick[:1] else pytest.mark.slow
            yield pytest.param(line, claim, id=f"{line.paper}: {line.description}: {claim}", marks=marks)


@pytest.mark.parametrize(("line", "claim"), [*cases()])
def test_a_changed_line_turns_its_claims(line, claim, monkeypatch):
    sound = decide_claim(line.paper, claim) if (line.paper, claim) in NOT_HOLDING else ("holds", "")
    clear_caches()
    change(monkeypatch, line)
    found = decide_claim(line.paper, claim)
    assert found[0] != "holds"
    assert found != sound


def test_every_paper_has_six_changed_lines_at_least():
    assert all(sum(line.paper == paper for line in LINES) >= 6 for paper in (LH, LK, LP, SW, WL))


# ---------------------------------------------------------------- what a twin must see


def trees() -> tuple[Any, Any]:
    """T_2(0) in DC(2) next to a fault, by the library and by the reference implementation."""
    net = dualcube.Offline(2, {2}.__contains__, 2, corrected=False)
    root = net.word(0)
    tree = net.tree(root, 2, dualcube.dims_of(root))
    return fc.DualCube(2, [2]).binomial_tree(0, 2), tree and [int(u, 2) for u in tree]


def flits_of_branches() -> tuple[Any, Any]:
    """Three short multicasts that branch in each other's way, by the library and by the twin."""
    messages = [(3, [6, 4, 0, 5]), (6, [7, 0, 3]), (0, [7, 3, 6, 5, 1])]
    library = fc.simulate_wormhole(fc.Hypercube(3), messages, (0, 1), flits=2)
    twin = wormhole.simulate(Supercube(3, (), 0, 1), messages, flits=2)
    return (library.deadlocked, library.held), (twin.deadlocked, twin.held)


#: Cubes on which each line of the routing rules counts, as n, faulty nodes and faulty links.
ROUTING_RULES_CUBES = (
    (3, (), ((0, 1),)),
    (3, (5,), ((0, 1), (2, 6))),
    (4, (1, 2, 8), ()),
    (4, (1, 2, 4, 9, 10), ()),
    (4, (3, 5), ((0, 4), (8, 9), (1, 3))),
)


def statuses_and_routes() -> tuple[Any, Any]:
    """Levels and vectors, and ways by rules that draw nothing, by the library and by the twin."""
    library, twin = [], []
    for n, nodes, links in ROUTING_RULES_CUBES:
        cube, plain = fc.Hypercube(n, nodes, links), routing_rules.Cube(n, nodes, links)
        bits = plain.vectors()[0]
        library.append((fc.safety_levels(cube).levels.tolist(), fc.safety_vectors(cube).vectors.astype(int).tolist()))
        twin.append(([plain.levels()[1][v] for v in range(2**n)], [bits[v][1:] for v in range(2**n)]))
        for s, t, rule in itertools.product(plain.nonfaulty[:4], plain.nonfaulty, ("LEVELS", "VECTORS", "A1", "DFS")):
            if s != t:
                found = fc.route(cube, s, t, algorithm=rule)
                library.append((found.outcome, found.path))
                twin.append(plain.route(rule, s, t))
    return library, twin


#: Lines misread as a twin of the same shape would misread them too; one written from the reading alone must part from them.
# fmt: off
MISREAD = [
    (trees, Line(LP, "children may stand in the tree, as the paper prints it", "networks.dualcube",
     "if u ^ d not in tree and u ^ d not in faults)", "if u ^ d not in faults)", ())),
    (flits_of_branches, Line(WL, "a flit moves on when the first of its channels has room", "wormhole",
     "all(after.flit is None for after in link.then)", "all(after.flit is None for after in link.then[:1])", ())),
    (statuses_and_routes, Line(UC, "a level takes its neighbours as they come", "safety_status",
     "enumerate(sorted(over)) if x < k", "enumerate(over) if x < k", ())),
    (statuses_and_routes, Line(UC, "of equal levels the lowest bit", "routing_rules",
     "max(_good_bits(cube, u, mask), key=lambda bit: status.shown_level(u ^ bit)",
     "max(_good_bits(cube, u, mask), key=lambda bit: (status.shown_level(u ^ bit), -bit)", ())),
    (statuses_and_routes, Line(UC, "vectors do not know of links", "safety_status",
     "cut = self._cut_links(part)", "cut = None", ())),
    (statuses_and_routes, Line(UC, "ends of faulty links have bit 1", "safety_status",
     "out[:, 0] &= ~ends", "out[:, 0] &= nonfaulty", ())),
    (statuses_and_routes, Line(UC, "a level of 1 promises the neighbour over a faulty link", "routing_rules",
     "(h == 1 or status.level(s) < h)", "status.level(s) < h", ())),
    (statuses_and_routes, Line(UC, "A1's spare link need not be good", "routing_rules",
     "next(_good_bits(cube, u, _all_dimensions(cube) & ~tag), None)",
     "next(descending_bits(_all_dimensions(cube) & ~tag), None)", ())),
    (statuses_and_routes, Line(UC, "A1's spare bit comes first", "routing_rules",
     "left.append(bit)", "left.insert(0, bit)", ())),
    (statuses_and_routes, Line(UC, "DFS forgets what it saw", "routing_rules",
     "seen.add(u ^ bit)", "seen.add(u)", ())),
]
# fmt: on


@pytest.mark.parametrize(
    "line", [*LINES, *(line for _, line in MISREAD)], ids=lambda line: f"{line.paper}: {line.description}"
)
def test_a_changed_line_is_found_once(line):
    """Most of the changes are slow tests: an edit of the library must not take their lines away unseen."""
    assert read_module(line)[1].count(line.old) == 1


@functools.cache
def sound(both):
    """What the library and the twin say as they are; of each once."""
    return both()


@pytest.mark.parametrize(
    ("both", "line"), mark_others_slow(MISREAD, default=5), ids=[line.description for _, line in MISREAD]
)
def test_a_misread_line_parts_the_library_from_its_twin(both, line, monkeypatch):
    library, twin = sound(both)
    assert library == twin
    change(monkeypatch, line)
    library, twin = both()
    assert library != twin
