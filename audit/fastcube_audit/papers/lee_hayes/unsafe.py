"""Claims of Lee & Hayes (1988), "Routing and Broadcasting in Faulty Hypercube Computers", about unsafe nodes.

Claims are in our words, with ceilings and floors as printed.  Additions of an interpretation are in square brackets.  "Q_n is
unsafe" means that no node is active.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from fastcube.algorithms.unsafe import find_unsafe
from fastcube.exact.unsafe import exact_unsafe, family_counts, mean_close_pairs
from fastcube.measure.inventory import inventory
from fastcube.networks.hypercube import Hypercube

from ...claims import Cases, Counterexample, Effort, Verdict, check_agreement
from ...cubes import enumerate_cubes, links_of
from .closed_sets import closed_sets, connected_subcubes
from .registry import registry, unsafe_counterexample

#: Python expression for the maximal subcubes of faulty and unsafe nodes.
_SUBCUBES = "[str(part) for part in u.subcubes]"

_CLOSED_RANGE = "all fault sets of Q_1, ..., Q_5, by all sets of nodes that are closed under the rule"


#: Check of a closed set of nodes of Q_n, bit v for node v.
ClosedSetCheck = Callable[[int, int], Counterexample | None]


def _closed_counterexample(description: str, n: int, nodes: int) -> Counterexample:
    """Return a closed set of nodes of Q_n, as faulty nodes, as a counterexample."""
    cube = Hypercube(n, [v for v in range(2**n) if nodes >> v & 1])
    return unsafe_counterexample(description, cube, _SUBCUBES)


def _first_closed(effort: Effort, check: ClosedSetCheck, with_whole_cubes: bool = True) -> Verdict:
    """Return "refuted" with the first counterexample that ``check`` finds in the closed sets of Q_1, ..., Q_5."""
    for n in range(1, 6):
        sets = closed_sets(n)  # the last one is all of Q_n
        chosen = sets if with_whole_cubes else sets[:-1]
        found = effort.find_first(chosen, functools.partial(check, n), f"Q_{n}")
        if found is not None:
            before = f"all fault sets up to Q_{n - 1}" if n > 1 else "fault sets of Q_1 in the order of their size"
            return Verdict("refuted", before, found)
    return Verdict("holds", _CLOSED_RANGE)


# ---------------------------------------------------------------- the shape of the unsafe nodes


def _decide_closed_shape(effort: Effort, least_dimension: int) -> Verdict:
    """Decide whether all closed sets are families of subcubes of at least this dimension, at distance at least three."""

    def check(n: int, nodes: int) -> Counterexample | None:
        subcubes = connected_subcubes(nodes, n)
        if subcubes is None or any(a.distance(b) < 3 for a in subcubes for b in subcubes if a is not b):
            description = "the faulty nodes mark no other, and are no subcubes at distance at least three"
        elif any(subcube.dimension < least_dimension for subcube in subcubes):
            description = (
                f"the faulty nodes mark no other, and lie in no subcube of dimension {least_dimension} or more"
            )
        else:
            return None
        return _closed_counterexample(description, n, nodes)

    verdict = _first_closed(effort, check)
    if effort.quick or verdict.outcome == "refuted":
        return verdict
    if len(closed_sets(6)) == sum(family_counts(6).values()) + 1:  # so there are no others
        return Verdict("holds", _CLOSED_RANGE.replace("Q_5", "Q_6"))
    return Verdict("undecided", "holds for all fault sets of Q_1, ..., Q_5; Q_6 has closed sets of another kind")


@registry.claim(
    "theorem-3-printed",
    where="section 3.2, Theorem 3 with its definition",
    states=(
        "For every set of faulty nodes of Q_n, n >= 1, the faulty and unsafe nodes together are a family of maximal unsafe "
        "subcubes, any two of them at distance 3 or more, where an unsafe subcube has dimension 1 at the least."
    ),
    correction="It holds with an isolated faulty node as a subcube of dimension 0 (theorem-3).",
    misprint_reason=(
        "The lines beneath the theorem merge single nodes as they merge subcubes: an isolated faulty node is meant to be one."
    ),
    group="closed sets",
)
def theorem_3_printed(effort: Effort) -> Verdict:
    """Check that closed sets are families of subcubes of dimension 1 or more at distance 3 or more, in order of n."""
    return _decide_closed_shape(effort, 1)


@registry.claim(
    "theorem-3",
    where="section 3.2, Theorem 3",
    states=(
        "For every set of faulty nodes of Q_n, n >= 1, the faulty and unsafe nodes together are a family of maximal subcubes, "
        "any two of them at distance 3 or more [an isolated faulty node is a subcube of dimension 0]."
    ),
    group="closed sets",
)
def theorem_3(effort: Effort) -> Verdict:
    """Check closed sets in order of n, and that FIND_UNSAFE ends in the sets that the rule leads to."""
    for cube in effort.each(_small_cases(((1, 0), (2, 0), (3, 0))), "unsafe nodes"):
        _mark_by_rule(cube)
    return _decide_closed_shape(effort, 0)


def _mark_by_rule(cube: Hypercube) -> int:
    """Return the faulty and unsafe nodes by the rule applied node by node (bit v for node v); must agree with FIND_UNSAFE."""
    nodes = {v for v in range(2**cube.n) if cube.is_faulty(v)}.union(*cube.faulty_links)
    marked = nodes
    while marked:
        marked = {v for v in range(2**cube.n) if v not in nodes and sum(v ^ 1 << i in nodes for i in range(cube.n)) > 1}
        nodes |= marked
    found = find_unsafe(cube).subcubes
    inside = {v for v in range(2**cube.n) if any(v in part for part in found)}
    check_agreement(inside, nodes, f"faulty and unsafe nodes of {cube!r}, by subcubes and by the rule")
    return sum(1 << v for v in nodes)


def _small_cases(sizes: Iterable[tuple[int, int]] = ((1, 1), (2, 4), (3, 1))) -> Iterator[Hypercube]:
    """Yield all sets of faulty nodes of Q_n with at most the given number of faulty links, by n."""
    for n, most in sizes:
        link_sets = [chosen for k in range(most + 1) for chosen in itertools.combinations(links_of(n), k)]
        for nodes in range(2**2**n):
            for links in link_sets:
                yield Hypercube(n, [v for v in range(2**n) if nodes >> v & 1], links)


@registry.claim(
    "theorem-3-links",
    where="section 5",
    states=(
        "Where a nonfaulty node is also unsafe when one of its links is faulty, the faulty and unsafe nodes of Q_n, n >= 1, are "
        "disjoint subcubes as before [3 or more apart; an isolated faulty node is one of dimension 0]."
    ),
    group="closed sets",
)
def theorem_3_links(effort: Effort) -> Verdict:
    """Check only that faults of nodes and links end in closed sets, because the closed sets are the same with link faults."""
    verdict = _decide_closed_shape(effort, 0)
    closed = {n: set(closed_sets(n)) for n in (1, 2, 3)}
    for cube in effort.each(_small_cases(), "faulty links"):
        effort.count_if_applicable()
        nodes = _mark_by_rule(cube)
        alone = [part for part in find_unsafe(cube).subcubes if not part.dimension and not cube.is_faulty(part.base)]
        if nodes not in closed[cube.n] or alone:
            description = "the faulty and unsafe nodes are not closed under the rule, or an unsafe node stands alone"
            return Verdict("refuted", "small cases by size", unsafe_counterexample(description, cube, _SUBCUBES))
    return Verdict(
        verdict.outcome,
        f"{verdict.checked}; that faults of nodes and links end in one, on all faults of Q_1 and Q_2 and on all of Q_3 with "
        "at most one faulty link",
        verdict.counterexample,
    )


@registry.claim(
    "active-neighbour",
    where="section 3.2",
    states="Where Q_n, n >= 1, is not unsafe, some neighbour of every unsafe node is active.",
    group="closed sets",
)
def active_neighbour(effort: Effort) -> Verdict:
    """Look for a node without a neighbour outside, in all closed sets of Q_1, ..., Q_5 except whole cubes."""

    def check(n: int, nodes: int) -> Counterexample | None:
        inside = (v for v in range(2**n) if nodes >> v & 1)
        if not any(all(nodes >> (v ^ 1 << i) & 1 for i in range(n)) for v in inside):
            return None
        return _closed_counterexample("a faulty or unsafe node without an active neighbour", n, nodes)

    return _first_closed(effort, check, with_whole_cubes=False)


@registry.claim(
    "one-bad-neighbour",
    where="section 3.2",
    states="Once all unsafe nodes of Q_n, n >= 1, are marked, no active node has two neighbours that are faulty or unsafe.",
    definition=True,
    group="closed sets",
)
def one_bad_neighbour(effort: Effort) -> Verdict:
    """Check all closed sets of Q_1, ..., Q_5: one more neighbour would make the node unsafe."""

    def check(n: int, nodes: int) -> Counterexample | None:
        outside = (v for v in range(2**n) if not nodes >> v & 1)
        if not any(sum(nodes >> (v ^ 1 << i) & 1 for i in range(n)) > 1 for v in outside):
            return None
        return _closed_counterexample("an active node with two such neighbours", n, nodes)

    return _first_closed(effort, check)


# ---------------------------------------------------------------- the number of faults


def few_spanning_faults(n: int) -> list[int]:
    """Return ceil(n/2) + 1 faults that make Q_n unsafe: each is within distance two of the subcube spanned by those before it."""
    faults, spanned = [0], 0
    while spanned < n:
        grown = min(spanned + 2, n)
        faults.append((1 << grown) - (1 << spanned))
        spanned = grown
    return faults


def _small_fault_sets(most: dict[int, int]) -> Iterator[Hypercube]:
    """Yield for each n all sets of 1 to ``most[n]`` faulty nodes up to translation: the sets with node 0."""
    for n, f in most.items():
        for k in range(f):
            for others in itertools.combinations(range(1, 2**n), k):
                yield Hypercube(n, (0, *others))


@registry.forall(
    "half-faults",
    Cases(
        "proved for all n: two subcubes at distance at most two merge into one with at most two free dimensions more than both "
        "have together, so that f faults span at most 2(f-1); besides, all sets of at most ceil(n/2) faults of Q_1, ..., Q_{}",
        lambda most: ((cube,) for cube in _small_fault_sets({n: math.ceil(n / 2) for n in range(1, most + 1)})),
        full=6,
        quick=5,
        method="proved",
    ),
    where="section 3.2; with floor(n/2), which is weaker, at its end",
    states="No set of at most ceil(n/2) faulty nodes makes Q_n unsafe, n >= 1.",
    fact="least-faults",
)
def half_faults(cube: Hypercube) -> Counterexample | None:
    """Run FIND_UNSAFE on all sets of at most ceil(n/2) faults of small cubes; a proof covers the rest."""
    return unsafe_counterexample("no node is active", cube, "u.all_unsafe") if find_unsafe(cube).all_unsafe else None


@registry.claim(
    "least-faults",
    where="appendix; section 3.2 for a k-subcube",
    states="The fewest faulty nodes that make Q_n unsafe are ceil(n/2 + 1), n >= 1.",
    method="proved",
)
def least_faults(effort: Effort) -> Verdict:
    """Check smaller sets as in ``half-faults``, and construct a set of that size for every n."""
    verdict = registry["half-faults"].decide(effort)
    for n in range(1, 63):
        faults = few_spanning_faults(n)
        if len(faults) != math.ceil(n / 2 + 1) or not find_unsafe(Hypercube(n, faults)).all_unsafe:
            description = f"these {math.ceil(n / 2 + 1)} faults leave Q_{n} an active node, and no other set is known"
            example = unsafe_counterexample(description, Hypercube(n, faults), "u.all_unsafe")
            return Verdict("undecided", f"no fault set of that size found that makes Q_{n} unsafe", example)
    return Verdict(
        verdict.outcome,
        f"{verdict.checked}; attained for n = 1, ..., 62",
        verdict.counterexample
        or unsafe_counterexample("3 faults make Q_4 unsafe", Hypercube(4, few_spanning_faults(4)), _SUBCUBES),
    )


#: Two faulty links that make Q_4 unsafe: 000* and 11*0.
_TWO_LINKS = Hypercube(4, (), [(0b0000, 0b0001), (0b1100, 0b1110)])


@registry.claim(
    "half-faults-links",
    where="section 5",
    states="[Nor do at most ceil(n/2) faults make Q_n unsafe when faulty links are among them, n >= 1.]",
    added=True,
    correction=(
        "K faulty links and f faulty nodes cannot while 3K + 2f < n + 2. A link spans one dimension, and merging adds at "
        "most two (proved as half-faults). One faulty link of Q_1, and two of Q_4, have 3K + 2f = n + 2 and do."
    ),
)
def half_faults_links(effort: Effort) -> Verdict:
    """Search for faulty links that make Q_n unsafe, in order of n and size."""
    for n in range(1, 5):
        for k in range(1, math.ceil(n / 2) + 1):
            for cube in enumerate_cubes(n, links=k):
                effort.count_if_applicable()
                if find_unsafe(cube).all_unsafe:
                    description = (
                        f"no node is active: {k} faulty link{'s' * (k > 1)}, and ceil(n/2) is {math.ceil(n / 2)}"
                    )
                    return Verdict(
                        "refuted",
                        f"sets of faulty links of Q_{n} in the order of their size",
                        unsafe_counterexample(description, cube, "u.all_unsafe"),
                        (unsafe_counterexample("nor with 2 faulty links in Q_4", _TWO_LINKS, "u.all_unsafe"),),
                    )
    return Verdict("holds", "all sets of at most ceil(n/2) faulty links of Q_1, ..., Q_4")


# ---------------------------------------------------------------- the number of unsafe nodes


def mean_fraction_at_most(n: int, f: int) -> Fraction:
    """Return an upper bound on the mean fraction of unsafe nodes, for every n and f.

    There are none unless two faults are within distance two, whose probability is at most the mean number of such pairs.  f
    faults close at most 4^(f-1) nodes, because they span at most 2(f-1) dimensions.
    """
    return min(Fraction(1), mean_close_pairs(n, f)) * min(Fraction(1), Fraction(4 ** max(f - 1, 0), 2**n))


def _stated_fraction() -> Fraction:
    """Return the printed fraction, exactly."""
    return Fraction(str(inventory("lee_hayes").value("fifteen-percent")))


@registry.claim(
    "fifteen-percent",
    where="section 3.2, Figure 8",
    states=(
        "With at most floor(n/2) faulty nodes fewer than 15% of the nodes of Q_n are unsafe, n >= 5 [on average over the fault "
        "sets, as Figure 8 draws it]."
    ),
)
def fifteen_percent(effort: Effort) -> Verdict:
    """Compute exact means where an upper bound is not small enough."""
    limit, largest, where = _stated_fraction(), Fraction(0), ""
    for n in range(5, 63):
        for f in range(n // 2 + 1):
            effort.count_if_applicable()
            if mean_fraction_at_most(n, f) < limit:
                continue
            mean = exact_unsafe(n, f).mean_fraction
            if mean >= limit:
                python = f"float(fc.exact_unsafe({n}, {f}).mean_fraction)"
                found = Counterexample(f"mean fraction at n={n}, f={f}", python, float(mean), {"n": n, "f": f})
                return Verdict("refuted", f"all f <= floor(n/2) for n from 5 to {n - 1}", found)
            if mean > largest:
                largest, where = mean, f"n={n}, f={f}"
    return Verdict(
        "holds",
        "n = 5, ..., 62 and all f <= floor(n/2): exact means over all fault sets where the bound (expected number of close "
        f"pairs) * 4^(f-1)/2^n does not do; largest exact mean needed: {float(largest):.4f} at {where}",
    )


@registry.claim(
    "fifteen-percent-always",
    where="section 3.2, Figure 8, which shows averages",
    states=(
        "[With at most floor(n/2) faulty nodes fewer than 15% of the nodes of Q_n are unsafe, n >= 5, whatever the fault set.]"
    ),
    added=True,
    correction="It holds on average over fault sets (fifteen-percent).",
)
def fifteen_percent_always(effort: Effort) -> Verdict:
    """Search for a fault set with more unsafe nodes, in order of n and size."""
    for cube in effort.each(_small_fault_sets({n: n // 2 for n in (5, 6, 7)})):
        effort.count_if_applicable()
        unsafe = find_unsafe(cube)
        if unsafe.count >= _stated_fraction() * 2**cube.n:
            description = f"{unsafe.count} of {2**cube.n} nodes are unsafe: {100 * unsafe.fraction:.1f}%"
            return Verdict(
                "refuted",
                f"fault sets of Q_5 to Q_{cube.n} in the order of n and size",
                unsafe_counterexample(description, cube, "u.fraction"),
            )
    return Verdict("undecided", "all f <= floor(n/2) for n = 5, 6, 7")
