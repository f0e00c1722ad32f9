"""Facts that other authors published about small cubes, each compared with the value that fastcube computes.

A source gives in brackets the text that we read: an entry of a database, an abstract, a file of a repository, or nothing if we
did not read the fact's own text.
"""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcube.algorithms.paths import route
from fastcube.algorithms.survival import diameter, survival
from fastcube.exact.enumeration import exact_routing
from fastcube.exact.survival import exact_survival
from fastcube.networks.family import network
from fastcube.networks.hypercube import Hypercube
from fastcube.resources import read_json

from ...claims import Counterexample, Effort, Verdict, evaluate
from .registry import registry

#: Sets of nodes of Q_n, n <= 5: bit v of an integer is node v.
Masks = NDArray[np.uint32]


def compare_values(printed: Any, computed: str | Callable[[], Any], checked: str) -> Verdict:
    """Return "holds" if an expression in ``fc``, or a function without arguments, gives the printed value."""
    found = evaluate(computed) if isinstance(computed, str) else computed()
    if found == printed:
        return Verdict("holds", checked)
    python = computed if isinstance(computed, str) else repr(found)
    return Verdict("refuted", checked, Counterexample.of(f"printed is {printed}", python, {}))


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
    # Symmetries with equal cycle lengths of coordinates and equal parities of flips fix equally many sets.
    alike: dict[Any, list[list[int]]] = {}
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
    masks, faults, is_disconnected = _survivors()
    one, two = np.zeros_like(masks), np.zeros_like(masks)
    for i in range(4):
        two |= one & _across(masks, i)
        one |= _across(masks, i)
    return [int(faults[is_disconnected & (masks & ~enough == 0)].min()) for enough in (masks, one, two)]


def least_faulty_blocks() -> list[int]:
    """Return the fewest connected faulty nodes of Q_4 that leave several components, each of more than h = 0, 1, 2 nodes."""
    masks, faults, is_disconnected = _survivors()
    chosen = is_disconnected & are_connected(masks ^ np.uint32(0xFFFF), 4)
    smallest = [
        (int(f), min(survival(Hypercube(4, [v for v in range(16) if not mask >> v & 1])).components))
        for mask, f in zip(masks[chosen].tolist(), faults[chosen], strict=True)
    ]
    return [min(f for f, size in smallest if size > h) for h in range(3)]


def greedy_differences() -> list[Any]:
    """Return P(greedy routing in Q_3 is minimal) at 7 failure rates, minus the mean over targets of (1 - q^2) ... (1 - q^h)."""
    exact: list[Any] = [exact_routing(3, f) for f in range(7)]
    minimal = [x["route1_delivered"] * (1 - x["route1_above_hamming"]) for x in exact]
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


#: The functions that ``facts.json`` names.
_FUNCTIONS: tuple[Callable[..., Any], ...] = (
    count_connected_classes,
    least_conditional_faults,
    least_faulty_blocks,
    greedy_differences,
    largest_diameters,
    least_links_for_components,
    count_lost_greedy_messages,
)


def _register_facts() -> None:
    """Register a claim for each fact of ``facts.json``."""
    functions = {function.__name__: function for function in _FUNCTIONS}
    for fact in read_json("facts", __package__)["facts"]:
        if "function" in fact:
            computed = functools.partial(functions[fact["function"]], *fact.get("arguments", ()))
        else:
            computed = fact["computed"]

        def decide(effort: Effort, fact: Any = fact, computed: Any = computed) -> Verdict:
            """Compare the value that the fact prints with a computed value."""
            return compare_values(fact["printed"], computed, fact["checked"])

        registry.claim(fact["id"], where=fact["where"], states=fact["states"])(decide)


_register_facts()
