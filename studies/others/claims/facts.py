"""Facts that other authors published about small cubes, each beside the value that fastcube computes.

A source says in brackets what was read of it: an entry of a database, an abstract, a file of a repository, or nothing, where
the fact is text not read.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcube.algorithms.paths import route
from fastcube.algorithms.survival import diameter, survival
from fastcube.audit.claims import Effort, Verdict, Witness, evaluate
from fastcube.networks.family import families, network
from fastcube.networks.hypercube import Hypercube

from .registry import registry


@dataclass(frozen=True)
class PublishedValue:
    """A value that a text prints, and what gives it here: an expression in ``fc``, or a function without arguments.

    Parameters
    ----------
    printed : JSON-able
        The value, as lists and integers.
    computed : str or callable
        A Python expression in the names of ``import fastcube as fc``, or a function.
    checked : str
        What is counted, and over which range.
    """

    printed: Any
    computed: str | Callable[[], Any]
    checked: str

    def decide(self, effort: Effort) -> Verdict:
        """Holds where the computed value is the printed one."""
        found = evaluate(self.computed) if isinstance(self.computed, str) else self.computed()
        if found == self.printed:
            return Verdict("holds", self.checked)
        python = self.computed if isinstance(self.computed, str) else repr(found)
        return Verdict("refuted", self.checked, Witness.of(f"printed is {self.printed}", python, {}))


def count_connected_classes() -> list[int]:
    """Connected sets of k = 1 .. 16 nodes of Q_4, up to its 384 symmetries."""
    masks = np.arange(1 << 16, dtype=np.uint32)
    connected = [bool(mask) and _is_connected(mask) for mask in range(1 << 16)]
    least = masks.copy()
    for order, flip in itertools.product(itertools.permutations(range(4)), range(16)):
        image = np.zeros_like(masks)
        for v in range(16):
            w = flip ^ sum((v >> i & 1) << order[i] for i in range(4))
            image |= (masks >> np.uint32(v) & np.uint32(1)) << np.uint32(w)
        np.minimum(least, image, out=least)
    chosen: NDArray[np.bool_] = np.array(connected) & (least == masks)
    found: list[int] = np.bincount(np.bitwise_count(masks[chosen]), minlength=17)[1:].tolist()
    return found


def _is_connected(mask: int) -> bool:
    """Whether the nodes of Q_4 whose bits are set are connected."""
    reached, edge = 0, mask & -mask
    while edge:
        reached |= edge
        spread = 0
        for i, half in enumerate((0x5555, 0x3333, 0x0F0F, 0x00FF)):
            spread |= (edge & half) << (1 << i) | (edge >> (1 << i)) & half
        edge = spread & mask & ~reached
    return reached == mask


def largest_diameters() -> list[int]:
    """Largest diameter at n = 4 of hypercube, crossed cube (3 faulty nodes) and folded cube (4 faulty nodes)."""
    chosen = (("hypercube", 3), ("crossed", 3), ("folded", 4))
    return [
        max(diameter(network(name, 4, faulty)) or 0 for faulty in itertools.combinations(range(16), f))
        for name, f in chosen
    ]


def least_links_for_components() -> list[int]:
    """Fewest faulty links of Q_3 that leave at least 2, 3 and 4 components."""
    links = [(v, int(v) ^ 1 << i) for v in range(8) for i in range(3) if not v >> i & 1]
    least: dict[int, int] = {}
    for k in range(8):
        for faulty in itertools.combinations(links, k):
            parts = len(survival(Hypercube(3, faulty_links=faulty)).components)
            for r in range(2, parts + 1):
                least.setdefault(r, k)
    return [least[r] for r in (2, 3, 4)]


def count_lost_greedy_messages() -> list[int]:
    """Messages of ROUTE1(1) from node 0 of Q_4 with one faulty node and one faulty link: lost, and all."""
    links = [(v, v ^ 1 << i) for v in range(16) for i in range(4) if not v >> i & 1]
    outcomes = [
        route(Hypercube(4, [x], [link]), 0, t, "ROUTE1", k=1).outcome
        for x in range(1, 16)
        for link in links
        for t in range(1, 16)
        if t != x
    ]
    return [len(outcomes) - outcomes.count("delivered"), len(outcomes)]


def least_extra_faults() -> dict[str, int]:
    """Fewest faulty nodes at n = 4 that disconnect a network and isolate nobody."""
    from fastcube.exact.survival import exact_survival

    names = [name for name in families() if name in _EXTRA_CONNECTIVITY]
    return {name: next(f for f, sets in enumerate(exact_survival(name, 4).extra_1) if sets) for name in names}


_EXTRA_CONNECTIVITY = {
    "crossed": 6,
    "locally-twisted": 6,
    "moebius0": 6,
    "moebius1": 6,
    "folded": 8,
    "augmented": 8,
    "balanced": 4,
}

_FIRST_EXTRA = "[next(f for f, x in enumerate(fc.exact_survival('hypercube', n).extra_1) if x) for n in (3, 4, 5)]"

#: Each fact: id, source, statement, value.
_FACTS = (
    ("oeis-a369605-4", "OEIS A369605, row 4 (the entry)",
     "Up to symmetry Q_4 has 1 1 1 3 5 11 19 36 37 41 24 18 6 4 1 1 connected induced subgraphs of 1 to 16 nodes.",
     PublishedValue([1, 1, 1, 3, 5, 11, 19, 36, 37, 41, 24, 18, 6, 4, 1, 1], count_connected_classes,
                    "all 65,535 sets of nodes of Q_4, up to 384 symmetries")),
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
    ("extra-connectivity", "papers on variants of the hypercube (texts not read)",
     ("2n - 2 (crossed, locally twisted and Moebius cubes), 2n (folded), 4n - 8 (augmented) and 2n - 4 (balanced) faulty nodes "
     "are the fewest that disconnect the network and isolate nobody."),
     PublishedValue(_EXTRA_CONNECTIVITY, least_extra_faults, "all fault sets at n = 4")),
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
