"""Facts that other authors published about small cubes, each compared with the value that fastcube computes.

A source gives in brackets the text that we read: an entry of a database, an abstract, a file of a repository, or nothing if we
did not read the fact's own text.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcube.algorithms.paths import route
from fastcube.algorithms.survival import diameter, survival
from fastcube.audit.claims import Effort, Verdict, Witness, evaluate
from fastcube.exact.enumeration import exact_routing
from fastcube.exact.survival import exact_survival
from fastcube.networks.family import network
from fastcube.networks.hypercube import Hypercube

from .registry import registry

#: Sets of nodes of Q_n, n <= 5: bit v of an integer is node v.
Masks = NDArray[np.uint32]


@dataclass(frozen=True)
class PublishedValue:
    """A printed value, and its computation: an expression in ``fc``, or a function without arguments.

    Parameters
    ----------
    printed : JSON-able
        The value, as lists and integers.
    computed : str or callable
        A Python expression in the names of ``import fastcube as fc``, or a function.
    checked : str
        Description of the counted cases and their range.
    """

    printed: Any
    computed: str | Callable[[], Any]
    checked: str

    def decide(self, effort: Effort) -> Verdict:
        """Return "holds" if the computed value equals the printed one."""
        found = evaluate(self.computed) if isinstance(self.computed, str) else self.computed()
        if found == self.printed:
            return Verdict("holds", self.checked)
        python = self.computed if isinstance(self.computed, str) else repr(found)
        return Verdict("refuted", self.checked, Witness.of(f"printed is {self.printed}", python, {}))


def _across(masks: Masks, i: int) -> Masks:
    """Return sets of nodes of Q_n as bitmasks, n <= 5, with each node replaced by its neighbour across dimension i."""
    half = np.uint32((0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF, 0x0000FFFF)[i])
    shift = np.uint32(1 << i)
    return (masks & half) << shift | (masks >> shift) & half


def are_connected(masks: Masks, n: int) -> NDArray[np.bool_]:
    """Return whether each set of nodes of Q_n is connected; the empty set is not."""
    reached = masks & (~masks + np.uint32(1))
    while True:
        grown = reached
        for i in range(n):
            grown = grown | _across(grown, i) & masks
        if (grown == reached).all():
            return np.asarray((reached == masks) & (masks != 0))
        reached = grown


def _list_unions(masks: Sequence[int]) -> Masks:
    """Return all unions of the given disjoint sets."""
    unions = np.zeros(1, np.uint32)
    for mask in masks:
        unions = np.concatenate([unions, unions | np.uint32(mask)])
    return unions


def count_connected_classes(n: int) -> list[int]:
    """Return the numbers of connected sets of k = 1 .. 2^n nodes of Q_n up to symmetry, by Burnside's lemma, n <= 5."""
    nodes = range(1 << n)
    alike: dict[
        Any, list[list[int]]
    ] = {}  # symmetries by the cycles of their coordinates: lengths, and parity of the flips
    for order in itertools.permutations(range(n)):
        for flip in nodes:
            image = [flip ^ sum((v >> i & 1) << order[i] for i in range(n)) for v in nodes]
            kind = sorted((len(cycle), sum(flip >> i & 1 for i in cycle) % 2) for cycle in _list_cycles(order))
            alike.setdefault(tuple(kind), []).append(image)
    total = np.zeros((1 << n) + 1, object)
    for images in alike.values():
        cycles = [sum(1 << v for v in cycle) for cycle in _list_cycles(images[0])]
        if len(cycles) == 1 << n:  # the identity fixes every set
            found = np.array([0, *reversed(exact_survival("hypercube", n).nodes)])
        else:
            found = np.zeros((1 << n) + 1, int)
            few = _list_unions(cycles[:20])
            for rest in _list_unions(cycles[20:]):
                masks = few | rest
                found += np.bincount(np.bitwise_count(masks[are_connected(masks, n)]), minlength=(1 << n) + 1)
        total += len(images) * found.astype(object)
    return [int(sets) // (math.factorial(n) << n) for sets in total[1:]]


def _list_cycles(image: Sequence[int]) -> list[list[int]]:
    """Return the cycles of a permutation."""
    left, cycles = set(range(len(image))), []
    while left:
        cycle = [min(left)]
        while (after := image[cycle[-1]]) != cycle[0]:
            cycle.append(after)
        left -= set(cycle)
        cycles.append(cycle)
    return cycles


def _survivors() -> tuple[Masks, Masks, NDArray[np.bool_]]:
    """Return all nonempty sets of nonfaulty nodes of Q_4, their numbers of faulty nodes, and which sets are disconnected."""
    masks = np.arange(1, 1 << 16, dtype=np.uint32)
    return masks, 16 - np.bitwise_count(masks), ~are_connected(masks, 4)


def least_conditional_faults() -> list[int]:
    """Return the fewest faulty nodes that disconnect Q_4 and leave every nonfaulty node 0, 1 or 2 nonfaulty neighbours."""
    masks, faults, apart = _survivors()
    one, two = np.zeros_like(masks), np.zeros_like(masks)
    for i in range(4):
        two |= one & _across(masks, i)
        one |= _across(masks, i)
    return [int(faults[apart & (masks & ~enough == 0)].min()) for enough in (masks, one, two)]


def least_faulty_blocks() -> list[int]:
    """Return the fewest connected faulty nodes of Q_4 that leave several components, each of more than h = 0, 1, 2 nodes."""
    masks, faults, apart = _survivors()
    chosen = apart & are_connected(masks ^ np.uint32(0xFFFF), 4)
    smallest = [
        (int(f), min(survival(Hypercube(4, [v for v in range(16) if not mask >> v & 1])).components))
        for mask, f in zip(masks[chosen].tolist(), faults[chosen], strict=True)
    ]
    return [min(f for f, size in smallest if size > h) for h in range(3)]


def greedy_differences() -> list[Any]:
    """Return P(greedy routing in Q_3 is minimal) at 7 failure rates, minus the mean over targets of (1 - q^2) ... (1 - q^h)."""
    exact: list[Any] = [exact_routing(3, f) for f in range(7)]
    minimal = [x["route1_delivered"] * (1 - x["route1_detour"]) for x in exact]
    return [
        sum(math.comb(6, f) * q**f * (1 - q) ** (6 - f) * x for f, x in enumerate(minimal))
        - (3 + 3 * (1 - q**2) + (1 - q**2) * (1 - q**3)) / 7
        for q in (Fraction(i, 8) for i in range(7))
    ]


def largest_diameters() -> list[int]:
    """Return the largest diameters at n = 4 of hypercube, crossed cube (3 faulty nodes) and folded cube (4 faulty nodes)."""
    chosen = (("hypercube", 3), ("crossed", 3), ("folded", 4))
    return [
        max(diameter(network(name, 4, faulty)) or 0 for faulty in itertools.combinations(range(16), f))
        for name, f in chosen
    ]


def least_links_for_components() -> list[int]:
    """Return the fewest faulty links of Q_3 that leave at least 2, 3 and 4 components."""
    links = [(v, int(v) ^ 1 << i) for v in range(8) for i in range(3) if not v >> i & 1]
    least: dict[int, int] = {}
    for k in range(8):
        for faulty in itertools.combinations(links, k):
            parts = len(survival(Hypercube(3, faulty_links=faulty)).components)
            for r in range(2, parts + 1):
                least.setdefault(r, k)
    return [least[r] for r in (2, 3, 4)]


def count_lost_greedy_messages() -> list[int]:
    """Return lost and all messages of ROUTE1(1) from node 0 of Q_4 with one faulty node and one faulty link."""
    links = [(v, v ^ 1 << i) for v in range(16) for i in range(4) if not v >> i & 1]
    outcomes = [
        route(Hypercube(4, [x], [link]), 0, t, "ROUTE1", k=1).outcome
        for x in range(1, 16)
        for link in links
        for t in range(1, 16)
        if t != x
    ]
    return [len(outcomes) - outcomes.count("delivered"), len(outcomes)]


_EXTRA_NETWORKS = ["crossed", "locally-twisted", "moebius0", "moebius1", "folded", "augmented", "balanced"]
_FIRST_EXTRA = "[next(f for f, x in enumerate(fc.exact_survival('hypercube', n).extra_1) if x) for n in (3, 4, 5)]"

#: Each fact: id, source, statement, value.
_FACTS = (
    ("oeis-a369605-4", "OEIS A369605, row 4 (the entry)",
     "Up to symmetry Q_4 has 1 1 1 3 5 11 19 36 37 41 24 18 6 4 1 1 connected induced subgraphs of 1 to 16 nodes.",
     PublishedValue([1, 1, 1, 3, 5, 11, 19, 36, 37, 41, 24, 18, 6, 4, 1, 1], functools.partial(count_connected_classes, 4),
                    "all sets of nodes of Q_4, by Burnside's lemma over its 384 symmetries")),
    ("oeis-a369605-5", "OEIS A369605, row 5 (the entry)",
     "Up to symmetry Q_5 has 1 1 1 3 5 17 44 158 493 1628 ... 10 5 1 1 connected induced subgraphs of 1 to 32 nodes [32 terms].",
     PublishedValue([1, 1, 1, 3, 5, 17, 44, 158, 493, 1628, 4670, 12266, 27043, 51018, 79042, 103179, 112219, 105232, 84045,
                     59021, 35533, 19114, 8769, 3716, 1311, 468, 130, 47, 10, 5, 1, 1],
                    functools.partial(count_connected_classes, 5),
                    "all sets of nodes of Q_5, by Burnside's lemma over its 3,840 symmetries")),
    ("oeis-a290757", "OEIS A290757, the cube (the entry)",
     "The cube has 167 connected induced subgraphs.",
     PublishedValue(167, "sum(fc.exact_survival('hypercube', 3).nodes)", "all fault sets of Q_3")),
    ("oeis-a006237", "OEIS A006237 (the entry)",
     "Q_2, Q_3 and Q_4 have 4, 384 and 42,467,328 spanning trees.",
     PublishedValue([4, 384, 42467328],
                    "[[x for x in fc.exact_survival('hypercube', n).links if x][-1] for n in (2, 3, 4)]",
                    "the largest sets of faulty links that leave Q_2, Q_3 and Q_4 connected")),
    ("oeis-a001187", "OEIS A001187, four nodes (text not read)",
     "38 labelled graphs on four nodes are connected.",
     PublishedValue(38, "sum(fc.exact_survival('hyperx-4', 2).links)", "all sets of faulty links of hyperx-4 at n = 2")),
    ("wpr-two-nodes", "netscience/wpr-verify, two_failures.csv (the file)",
     "Greedy routing loses 16 of 2,730 messages of Q_4 with two faulty nodes.",
     PublishedValue("1357/1365", "str(fc.exact_routing(4, 2)['route1_delivered'])",
                    "all sets of two faulty nodes of Q_4: 1 - 16/2,730 = 1357/1365")),
    ("wpr-node-and-link", "netscience/wpr-verify, link_failures/two_failures.csv (the file)",
     "Greedy routing loses 210 messages of Q_4 with one faulty node and one faulty link [per source, over all links].",
     PublishedValue([210, 6720], count_lost_greedy_messages, "every node, link and destination from node 0 of Q_4")),
    ("esfahanian", "Esfahanian 1989 (text not read)",
     "2n - 2 faulty nodes are the fewest that disconnect Q_n and isolate nobody.",
     PublishedValue([4, 6, 8], _FIRST_EXTRA, "all fault sets of Q_3, Q_4 and Q_5")),
    ("latifi", "Latifi, Hegde and Naraghi-Pour 1994 (text not read)",
     "2^h (n - h) faulty nodes are the fewest that disconnect Q_n and leave each nonfaulty node h nonfaulty neighbours.",
     PublishedValue([4, 6, 8], least_conditional_faults, "all fault sets of Q_4, h = 0, 1, 2")),
    ("h-faulty-block", "h-faulty-block connectivity of the hypercube, Lin et al. 2020 (an abstract)",
     ("(h+2)n - 3h - 1 (h = 0, 1) and (h+2)n - 4h + 1 (h = 2) connected faulty nodes are the fewest that leave Q_n "
      "with several components, each of more than h nodes."),
     PublishedValue([7, 8, 9], least_faulty_blocks, "all connected sets of faulty nodes of Q_4")),
    ("kong-greedy", "reachable component method, Kong, Bridgewater and Roychowdhury 2006 (text not read)",
     ("Among nodes that fail at rate q greedy routing reaches a live destination at distance h, over h links, with probability "
      "(1 - q^2) (1 - q^3) ... (1 - q^h)."),
     PublishedValue([0] * 7, greedy_differences, "all fault sets of Q_3 at 7 failure rates, the mean over destinations")),
    ("extra-connectivity", "papers on variants of the hypercube (texts not read)",
     ("2n - 2 (crossed, locally twisted and Moebius cubes), 2n (folded), 4n - 8 (augmented) and 2n - 4 (balanced) faulty nodes "
     "are the fewest that disconnect the network and isolate nobody."),
     PublishedValue([6, 6, 6, 6, 8, 8, 4],
                    f"[next(f for f, x in enumerate(fc.exact_survival(name, 4).extra_1) if x) for name in {_EXTRA_NETWORKS}]",
                    "all fault sets at n = 4")),
    ("component-edge-connectivity", "component edge connectivity of the hypercube (an abstract)",
     "n, 2n - 1 and 3n - 2 faulty links are the fewest that leave Q_n with 2, 3 and 4 components.",
     PublishedValue([3, 5, 7], least_links_for_components, "all sets of up to 7 faulty links of Q_3")),
    ("fault-diameter", "papers on fault diameters (texts not read)",
     ("With one fault fewer than disconnects, the diameter is at most n + 1 (hypercube), ceil(n/2) + 2 (crossed) and "
     "ceil(n/2) + 1 (folded), and this is reached [n >= 4]."),
     PublishedValue([5, 4, 3], largest_diameters, "all such sets of faulty nodes at n = 4")),
    ("smallest-percolating", "Balogh & Bollobas (texts not read)",
     "ceil(n/2) + 1 faulty nodes are the fewest that make all of Q_n unsafe.",
     PublishedValue([2, 3, 3, 4],
                    "[next(f for f in range(2**n) if fc.exact_unsafe(n, f).all_unsafe) for n in (2, 3, 4, 5)]",
                    "all fault sets of Q_2 to Q_5 up to that size")),
)  # a table, row by row # fmt: skip

for _name, _where, _states, _value in _FACTS:
    registry.claim(_name, where=_where, states=_states)(_value.decide)
