"""Claims of Lee & Hayes (1988), "Routing and Broadcasting in Faulty Hypercube Computers", about unsafe nodes.

Statements are as printed, ceilings and floors included; where a claim is decided under a reading of the text its
statement says so in square brackets.  "Q_n is unsafe" means that no node is active.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from fastcube.algorithms.unsafe import find_unsafe
from fastcube.engine.claims import Claim, Verdict, Witness
from fastcube.exact.unsafe import enumerated, exact_unsafe, family_counts, merging_pairs
from fastcube.networks.hypercube import Hypercube

from .closed_sets import closed_sets, parts_of

#: Fault sets that FIND_UNSAFE marks slowly: floor(n^2/3) rounds, the most there can be (Przykucki 2012, on
#: 2-neighbour bootstrap percolation).  Found by adding one fault at a time at distance 1 or 2 from the subcube that
#: the others span, next to the nodes marked last.
SLOW = {
    2: (0, 3),
    3: (0, 1, 6),
    4: (0, 3, 13),
    5: (0, 1, 6, 31),
    6: (0, 1, 6, 31, 56),
    7: (0, 3, 13, 62, 113),
    8: (0, 1, 6, 31, 120, 231),
    9: (0, 1, 6, 31, 56, 231, 472),
    10: (0, 3, 13, 62, 113, 462, 945),
    11: (0, 1, 6, 31, 120, 231, 920, 1895),
    12: (0, 1, 6, 31, 56, 231, 472, 1831, 3800),
}


def paper_bound(n: int) -> int:
    """The appendix's B_n, n >= 2: n^2/4 + n/2 - 1 when n is even, n^2/4 + n - 9/4 when n is odd."""
    return (n * n + 2 * n - 4) // 4 if n % 2 == 0 else (n * n + 4 * n - 9) // 4


def _witness(words: str, cube: Hypercube, python: str) -> Witness:
    """A witness on one hypercube: what ``python`` gives, where ``u`` stands for its unsafe nodes."""
    data = {
        "n": cube.n,
        "faulty_nodes": [v for v in range(2**cube.n) if cube.is_faulty(v)],
        "faulty_links": sorted(list(link) for link in cube.faulty_links),
    }
    value = eval(python, {"u": find_unsafe(cube)})
    return Witness(words, f"(lambda u: {python})(fc.find_unsafe(fc.{cube.source()}))", value, data)


# ---------------------------------------------------------------- the shape of the unsafe nodes


def _decide_shape(least_dimension: int) -> Verdict:
    """Whether the closed sets are families of subcubes of at least this dimension, at distance at least three."""
    for n in range(1, 6):
        for nodes in closed_sets(n):
            parts = parts_of(nodes, n)
            words = ""
            if parts is None or any(a.distance(b) < 3 for a in parts for b in parts if a is not b):
                words = "the faulty nodes mark no other, and are no subcubes at distance at least three"
            elif any(part.dimension < least_dimension for part in parts):
                words = f"the faulty nodes mark no other, and lie in no subcube of dimension {least_dimension} or more"
            if words:
                cube = Hypercube(n, [v for v in range(2**n) if nodes >> v & 1])
                checked = (
                    f"fault sets of Q_{n} in the order of their size" if n == 1 else f"all fault sets up to Q_{n - 1}"
                )
                return Verdict("refuted", checked, _witness(words, cube, "[str(part) for part in u.subcubes]"))
    if len(closed_sets(6)) == sum(family_counts(6).values()) + 1:  # the families are closed sets, and so all of them
        return Verdict("holds", "all fault sets of Q_1, ..., Q_6, by all sets of nodes that are closed under the rule")
    return Verdict("undecided", "holds for all fault sets of Q_1, ..., Q_5; Q_6 has closed sets of another kind")


def _small_cases_with_links() -> Iterator[Hypercube]:
    """All faulty nodes and links of Q_1 and Q_2; all faulty nodes and at most one faulty link of Q_3."""
    for n, most in ((1, 1), (2, 4), (3, 1)):
        links = [(x, x ^ 1 << i) for x in range(2**n) for i in range(n) if not x >> i & 1]
        some = [chosen for k in range(most + 1) for chosen in itertools.combinations(links, k)]
        for word in range(2**2**n):
            for chosen in some:
                yield Hypercube(n, [v for v in range(2**n) if word >> v & 1], chosen)


def _decide_shape_with_links() -> Verdict:
    """The closed sets are the same with link faults, so that only their being closed needs another look."""
    verdict = _decide_shape(0)
    closed = {n: set(closed_sets(n)) for n in (1, 2, 3)}
    for cube in _small_cases_with_links():
        unsafe = find_unsafe(cube)
        nodes = sum(1 << v for v in range(2**cube.n) if v in unsafe.nodes or cube.is_faulty(v))
        alone = [part for part in unsafe.subcubes if not part.dimension and not cube.is_faulty(part.base)]
        if nodes not in closed[cube.n] or alone:
            words = "the faulty and unsafe nodes are not closed under the rule, or an unsafe node stands alone"
            return Verdict(
                "refuted", "small cases by size", _witness(words, cube, "[str(part) for part in u.subcubes]")
            )
    return Verdict(
        verdict.outcome,
        f"{verdict.checked}; that faults of nodes and links end in one, on all faults of Q_1 and Q_2 and on all of Q_3 with "
        "at most one faulty link",
        verdict.witness,
    )


def _decide_active_neighbour() -> Verdict:
    for n in range(1, 6):
        for nodes in closed_sets(n)[:-1]:  # the last one is all of Q_n
            inside = [v for v in range(2**n) if nodes >> v & 1]
            if any(all(nodes >> (v ^ 1 << i) & 1 for i in range(n)) for v in inside):
                words = "a faulty or unsafe node without an active neighbour"
                cube = Hypercube(n, inside)
                return Verdict(
                    "refuted", f"fault sets of Q_{n}", _witness(words, cube, "[str(part) for part in u.subcubes]")
                )
    return Verdict("holds", "all fault sets of Q_1, ..., Q_5, by all sets of nodes that are closed under the rule")


# ---------------------------------------------------------------- how many faults


def few_spanning_faults(n: int) -> list[int]:
    """ceil(n/2) + 1 faults that make Q_n unsafe: each is within distance two of what those before it span."""
    faults, spanned = [0], 0
    while spanned < n:
        more = min(spanned + 2, n)
        faults.append((1 << more) - (1 << spanned))
        spanned = more
    return faults


def _few_faults(most: dict[int, int]) -> Iterator[Hypercube]:
    """For each n, all sets of 1 to ``most[n]`` faulty nodes up to translation: those with node 0 in them."""
    for n, f in most.items():
        for k in range(f):
            for others in itertools.combinations(range(1, 2**n), k):
                yield Hypercube(n, (0, *others))


def _decide_few_faults_are_safe() -> Verdict:
    for cube in _few_faults({n: math.ceil(n / 2) for n in range(1, 7)}):
        if find_unsafe(cube).all_unsafe:
            words = "no node is active"
            return Verdict("refuted", f"fault sets up to Q_{cube.n}", _witness(words, cube, "u.all_unsafe"))
    return Verdict(
        "holds",
        "all sets of at most ceil(n/2) faults of Q_1, ..., Q_6; for every n, two subcubes at distance at most two merge "
        "into one with at most two free dimensions more than both have together, so that f faults span at most 2(f-1)",
    )


def _decide_least_faults() -> Verdict:
    verdict = _decide_few_faults_are_safe()
    for n in range(1, 63):
        faults = few_spanning_faults(n)
        if len(faults) != math.ceil(n / 2 + 1) or not find_unsafe(Hypercube(n, faults)).all_unsafe:
            return Verdict("undecided", f"no fault set of that size found that makes Q_{n} unsafe")
    return Verdict(
        verdict.outcome,
        f"{verdict.checked}; attained for n = 1, ..., 62",
        verdict.witness
        or _witness(
            "3 faults make Q_4 unsafe", Hypercube(4, few_spanning_faults(4)), "[str(part) for part in u.subcubes]"
        ),
    )


def _decide_few_links_are_safe() -> Verdict:
    for n in range(1, 5):
        links = [(x, x ^ 1 << i) for x in range(2**n) for i in range(n) if not x >> i & 1]
        for k in range(1, math.ceil(n / 2) + 1):
            for chosen in itertools.combinations(links, k):
                cube = Hypercube(n, (), chosen)
                if find_unsafe(cube).all_unsafe:
                    words = f"no node is active: {k} faulty link{'s' * (k > 1)}, and ceil(n/2) is {math.ceil(n / 2)}"
                    return Verdict(
                        "refuted",
                        f"sets of faulty links of Q_{n}; k faulty links span up to 3k - 2 dimensions, so that for n = 4, too, "
                        "two are enough: 000* and 11*0",
                        _witness(words, cube, "u.all_unsafe"),
                    )
    return Verdict("holds", "all sets of at most ceil(n/2) faulty links of Q_1, ..., Q_4")


# ---------------------------------------------------------------- how many unsafe nodes


def mean_fraction_at_most(n: int, f: int) -> Fraction:
    """Upper bound on the mean fraction of unsafe nodes, for every n and f.

    There is none unless two faults are within distance two, whose probability is at most the mean number of such
    pairs; and f faults close at most 4^(f-1) nodes, because they span at most 2(f-1) dimensions.
    """
    return min(Fraction(1), merging_pairs(n, f)) * min(Fraction(1), Fraction(4 ** max(f - 1, 0), 2**n))


def _decide_fifteen_percent() -> Verdict:
    limit, largest, where = Fraction(15, 100), Fraction(0), ""
    for n in range(5, 63):
        for f in range(n // 2 + 1):
            if mean_fraction_at_most(n, f) < limit:
                continue
            mean = exact_unsafe(n, f).mean_fraction
            if mean >= limit:
                python = f"float(fc.exact_unsafe({n}, {f}).mean_fraction)"
                witness = Witness(f"mean fraction at n={n}, f={f}", python, float(mean), {"n": n, "f": f})
                return Verdict("refuted", f"all f <= floor(n/2) for n from 5 to {n - 1}", witness)
            if mean > largest:
                largest, where = mean, f"n={n}, f={f}"
    return Verdict(
        "holds",
        "n = 5, ..., 62 and all f <= floor(n/2): exact means over all fault sets where the bound (expected number of close "
        f"pairs) * 4^(f-1)/2^n does not do; largest exact mean needed: {float(largest):.4f} at {where}",
    )


def _decide_fifteen_percent_always() -> Verdict:
    for cube in _few_faults({n: n // 2 for n in (5, 6, 7)}):
        unsafe = find_unsafe(cube)
        if unsafe.count >= Fraction(15, 100) * 2**cube.n:
            words = f"{unsafe.count} of {2**cube.n} nodes are unsafe: {100 * unsafe.fraction:.1f}%"
            return Verdict(
                "refuted", f"all f <= {cube.n // 2 - 1} up to n = {cube.n}", _witness(words, cube, "u.fraction")
            )
    return Verdict("undecided", "all f <= floor(n/2) for n = 5, 6, 7")


# ---------------------------------------------------------------- how many rounds


def _most_rounds(n: int) -> int:
    """The most rounds over all fault sets of nodes of Q_n, n <= 5."""
    return max(rounds or 0 for sets in enumerated(n) for _, rounds in sets)


def _slow_witness(n: int, words: str, python: str = "u.rounds") -> Witness:
    return _witness(words, Hypercube(n, SLOW[n]), python)


def _decide_bound() -> Verdict:
    for n in range(2, 13):
        if n <= 5 and _most_rounds(n) <= paper_bound(n):
            continue
        rounds = find_unsafe(Hypercube(n, SLOW[n])).rounds
        if rounds > paper_bound(n):
            fits = n == 6 and all((exact_unsafe(n, f).max_rounds or 0) <= paper_bound(n) for f in range(5))
            fewer = " and for all of Q_6 with at most 4 faults" if fits else ""
            above = [m for m in SLOW if find_unsafe(Hypercube(m, SLOW[m])).rounds > paper_bound(m)]
            return Verdict(
                "refuted",
                f"holds for all fault sets of Q_2, ..., Q_5{fewer}; exceeded in Q_n for n = {', '.join(map(str, above))}. "
                "The most rounds there can be are floor(n^2/3) (Przykucki 2012), attained here for n = 2, ..., 12",
                _slow_witness(n, f"{rounds} rounds, and B_{n} = {paper_bound(n)}"),
            )
    return Verdict("undecided", "holds for all fault sets of Q_2, ..., Q_5; no slower set found up to Q_12")


def _decide_enough_steps() -> Verdict:
    verdict = _decide_bound()
    if verdict.outcome != "refuted" or verdict.witness is None:
        return verdict
    n = verdict.witness.data["n"]
    bound = paper_bound(n)
    python = f"[label for label, step in zip(u.nodes.tolist(), u.round_of.tolist()) if step > {bound}]"
    cube = Hypercube(n, SLOW[n])
    unsafe = find_unsafe(cube)
    late = unsafe.nodes[unsafe.round_of > bound].tolist()
    words = f"unsafe nodes that are not marked after B_{n} = {bound} steps: {', '.join(map(cube.label, late))}"
    return Verdict("refuted", verdict.checked, _slow_witness(n, words, python))


def _decide_tight(parity: int) -> Verdict:
    """Whether B_n is attained for every n of a parity (even), or for none (odd)."""
    tight = {n: _most_rounds(n) == paper_bound(n) for n in range(2, 6)}
    checked = "; ".join(f"most rounds in Q_{n}: {_most_rounds(n)}, B_{n} = {paper_bound(n)}" for n in tight)
    for n in range(2, 13):
        rounds, bound = find_unsafe(Hypercube(n, SLOW[n])).rounds, paper_bound(n)
        if n % 2 != parity:
            continue
        if parity == 0 and (rounds > bound or (n in tight and not tight[n])):
            return Verdict("refuted", checked, _slow_witness(n, f"B_{n} = {bound} is no bound: {rounds} rounds"))
        if parity == 1 and rounds == bound:
            return Verdict("refuted", checked, _slow_witness(n, f"B_{n} = {bound} is attained: {rounds} rounds"))
    return Verdict("undecided", checked)


# ---------------------------------------------------------------- worked examples


_STEPS = "[list(pair) for pair in zip(u.nodes.tolist(), u.round_of.tolist())]"


def _decide_figure_3() -> Verdict:
    cube = Hypercube(4, [0b0110, 0b0101, 0b0000])
    python = f"[[str(part) for part in u.subcubes], {_STEPS}]"
    witness = _witness("the maximal unsafe subcube, and the step that marks each node", cube, python)
    subcubes, steps = witness.value[0], dict(witness.value[1])
    as_told = (
        subcubes == ["0***"] and steps.keys() == {1, 2, 3, 4, 7} and steps[0b0010] == steps[0b0001] == 1 < steps[0b0011]
    )
    return Verdict("holds" if as_told else "refuted", "the figure's fault set", witness)


def _decide_figure_12() -> Verdict:
    cube = Hypercube(4, [0b0000, 0b0110, 0b1101])
    witness = _witness("the step that marks each node", cube, _STEPS)
    steps = dict(witness.value)
    first, second = ({label for label, step in steps.items() if step == t} for t in (1, 2))
    as_told = first == {0b0100, 0b0010} and {0b1100, 0b0101} <= second and len(steps) == 13
    return Verdict("holds" if as_told else "refuted", "the figure's fault set", witness)


# ---------------------------------------------------------------- the ledger


def _claim(name: str, statement: str, where: str, decide: Callable[[], Verdict]) -> Claim:
    return Claim("lee_hayes", name, statement, where, decide)


CLAIMS = (
    _claim(
        "theorem-3-printed",
        "The unsafe and faulty nodes of a hypercube form a set of maximal unsafe subcubes such that the distance between any "
        'two of them is at least three; "a subcube of dimension 1 or more is an unsafe subcube if it contains only unsafe or '
        'faulty nodes".',
        "section 3.2, Theorem 3 with its definition",
        lambda: _decide_shape(1),
    ),
    _claim(
        "theorem-3",
        "The unsafe and faulty nodes of a hypercube form a set of maximal unsafe subcubes such that the distance between any "
        "two of them is at least three [an isolated faulty node counts as a subcube of dimension 0].",
        "section 3.2, Theorem 3",
        lambda: _decide_shape(0),
    ),
    _claim(
        "theorem-3-links",
        "A non-faulty node is unsafe if it either has at least two faulty or unsafe nearest neighbors or is an end-node of a "
        "faulty link. The newly defined unsafe nodes still form a set of disjoint unsafe subcubes [with the faulty nodes, "
        "an isolated one as a subcube of dimension 0].",
        "section 5",
        _decide_shape_with_links,
    ),
    _claim(
        "active-neighbour",
        "Since Q_n is not unsafe, each unsafe node in Q_n must have at least one active nearest neighbor.",
        "section 3.2",
        _decide_active_neighbour,
    ),
    _claim(
        "least-faults",
        "The least number of faults needed to make an Q_n unsafe is ceil(n/2 + 1).",
        "appendix; section 3.2 for a k-subcube",
        _decide_least_faults,
    ),
    _claim(
        "half-faults",
        "If the number of faulty nodes in Q_n is no more than ceil(n/2), Q_n can not be unsafe.",
        "section 3.2; with floor(n/2), which is weaker, at its end",
        _decide_few_faults_are_safe,
    ),
    _claim(
        "half-faults-links",
        "The foregoing results can be readily extended to accommodate link failures [here: at most ceil(n/2) faults, faulty "
        "links counted, cannot make Q_n unsafe].",
        "section 5",
        _decide_few_links_are_safe,
    ),
    _claim(
        "fifteen-percent",
        "As long as the number of faulty nodes is no more than floor(n/2), the percentage of the unsafe nodes present in the "
        "system is less than 15% for n >= 5 [on average over fault sets].",
        "section 3.2, Figure 8",
        _decide_fifteen_percent,
    ),
    _claim(
        "fifteen-percent-always",
        "As long as the number of faulty nodes is no more than floor(n/2), the percentage of the unsafe nodes present in the "
        "system is less than 15% for n >= 5 [for every fault set].",
        "section 3.2, Figure 8, which shows averages",
        _decide_fifteen_percent_always,
    ),
    _claim(
        "rounds-bound",
        "FIND_UNSAFE marks all unsafe nodes within B_n = n^2/4 + n/2 - 1 steps when n is even, and B_n = n^2/4 + n - 9/4 "
        "when n is odd.",
        "appendix",
        _decide_bound,
    ),
    _claim(
        "rounds-enough",
        "FIND_UNSAFE, whose loop runs for i = 1 to B_n, identifies the unsafe nodes in Q_n.",
        "Figure 5",
        _decide_enough_steps,
    ),
    _claim("rounds-tight-even", "B_n is a tight bound when n is even.", "appendix", lambda: _decide_tight(0)),
    _claim("rounds-not-tight-odd", "B_n is not a tight bound when n is odd.", "appendix", lambda: _decide_tight(1)),
    _claim(
        "figure-3",
        "Nodes 0010 and 0001 are unsafe, next to two faulty nodes; 0011 next to them is unsafe too, and so on; 0*** is a "
        "maximal unsafe subcube.",
        "section 3.2, Figure 3 (faults 0110, 0101, 0000)",
        _decide_figure_3,
    ),
    _claim(
        "figure-12",
        "Nodes 0100 and 0010 become unsafe at t = 1, nodes 1100 and 0101 at t = 2, and so on until all of Q_4 is unsafe.",
        "appendix, Figure 12 (faults 0000, 0110, 1101)",
        _decide_figure_12,
    ),
)
