"""Claims of Lee & Hayes (1988) about the rounds of FIND_UNSAFE, and its worked examples; ledger and style as in ``claims``."""

from __future__ import annotations

from fastcube.algorithms.unsafe import find_unsafe
from fastcube.engine.claims import Effort, Verdict, Witness
from fastcube.exact.unsafe import enumerated, exact_unsafe
from fastcube.networks.hypercube import Hypercube

from .claims import ledger, witness

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


def _most_rounds(n: int) -> int:
    """The most rounds over all fault sets of nodes of Q_n, n <= 5."""
    return max(rounds or 0 for sets in enumerated(n) for _, rounds in sets)


def _slow_witness(n: int, words: str, python: str = "u.rounds") -> Witness:
    return witness(words, Hypercube(n, SLOW[n]), python)


@ledger.claim(
    "rounds-bound",
    where="appendix",
    states=(
        "FIND_UNSAFE marks all unsafe nodes within B_n = n^2/4 + n/2 - 1 steps when n is even, and B_n = n^2/4 + n - 9/4 "
        "when n is odd."
    ),
    correction="Within floor(n^2/3) steps (Przykucki 2012); some fault sets of Q_2, ..., Q_12 need as many.",
    group="rounds",
)
def rounds_bound(effort: Effort) -> Verdict:
    """All fault sets of small cubes, and the slow ones known."""
    for n in range(2, 13):
        if n <= 5 and _most_rounds(n) <= paper_bound(n):
            continue
        rounds = find_unsafe(Hypercube(n, SLOW[n])).rounds
        if rounds > paper_bound(n):
            most = effort.pick(full=4, quick=3)
            fits = n == 6 and all((exact_unsafe(n, f).max_rounds or 0) <= paper_bound(n) for f in range(most + 1))
            fewer = f" and for all of Q_6 with at most {most} faults" if fits else ""
            above = [m for m in SLOW if find_unsafe(Hypercube(m, SLOW[m])).rounds > paper_bound(m)]
            return Verdict(
                "refuted",
                f"holds for all fault sets of Q_2, ..., Q_5{fewer}; exceeded in Q_n for n = {', '.join(map(str, above))}",
                _slow_witness(n, f"{rounds} rounds, and B_{n} = {paper_bound(n)}"),
            )
    return Verdict("undecided", "holds for all fault sets of Q_2, ..., Q_5; no slower set found up to Q_12")


@ledger.claim(
    "rounds-enough",
    where="Figure 5",
    states="FIND_UNSAFE, whose loop runs for i = 1 to B_n, identifies the unsafe nodes in Q_n.",
    correction="Within floor(n^2/3) steps (Przykucki 2012); some fault sets of Q_2, ..., Q_12 need as many.",
    group="rounds",
)
def rounds_enough(effort: Effort) -> Verdict:
    """The witness of rounds-bound has nodes that are marked too late."""
    verdict = rounds_bound(effort)
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


def _tight(parity: int) -> Verdict:
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


@ledger.claim(
    "rounds-tight-even",
    where="appendix",
    states="B_n is a tight bound when n is even.",
    correction="So for n = 2 and 4; from n = 6 on it is exceeded, the most steps being floor(n^2/3) (Przykucki 2012).",
    group="rounds",
)
def rounds_tight_even(_: Effort) -> Verdict:
    """Most rounds of small cubes, and the slow sets known."""
    return _tight(0)


@ledger.claim(
    "rounds-not-tight-odd",
    where="appendix",
    states="B_n is not a tight bound when n is odd.",
    correction="It is attained for n = 3 and 9 and exceeded from n = 11 on, the most steps being floor(n^2/3) (Przykucki 2012).",
    group="rounds",
)
def rounds_not_tight_odd(_: Effort) -> Verdict:
    """Most rounds of small cubes, and the slow sets known."""
    return _tight(1)


@ledger.claim(
    "rounds-recursion",
    where="appendix",
    states=(
        "B_n = B_(n-2) + n, which holds for even n, where n >= 4, and B_2 = 1. B_n can be further rewritten in the closed form "
        "B_n = n^2/4 + n/2 - 1. [When n is odd] B_n = (n-1)^2/4 + (n-1)/2 - 1 + (n-1) = n^2/4 + n - 9/4."
    ),
)
def rounds_recursion(_: Effort) -> Verdict:
    """The recursion is run; both sides are of degree two, so that three values are enough for each parity."""
    even = {2: 1}
    for n in range(4, 63, 2):
        even[n] = even[n - 2] + n
    wrong = [n for n in even if even[n] != paper_bound(n)]
    wrong += [n for n in range(3, 62, 2) if even[n - 1] + n - 1 != paper_bound(n)]
    if wrong:
        return Verdict("undecided", f"differs at n = {', '.join(map(str, wrong))}")
    return Verdict(
        "holds", "n = 2, ..., 62, and so for all n: differences of polynomials of degree two with more than three zeros"
    )


@ledger.claim(
    "n-cubed",
    where="appendix",
    states="The communication complexity of FIND_UNSAFE is O(n^3) [n time units a step].",
    group="rounds",
)
def n_cubed(_: Effort) -> Verdict:
    """The loop of Figure 5, and the steps that there can be."""
    if any(2 * paper_bound(n) > n * n for n in range(4, 63)):
        return Verdict("undecided", "B_n > n^2/2 for some n >= 4")
    most = {n: _most_rounds(n) for n in range(2, 6)} | {
        n: find_unsafe(Hypercube(n, SLOW[n])).rounds for n in range(6, 13)
    }
    if any(rounds > n * n // 3 for n, rounds in most.items()):
        return Verdict("undecided", "more than floor(n^2/3) steps")
    return Verdict(
        "holds",
        "as the loop of Figure 5 runs, n B_n <= n^3/2 for n >= 4; until all are marked, n floor(n^2/3) <= n^3/3, by a cited "
        "theorem (Przykucki 2012): no fault set of Q_2, ..., Q_5 takes more, and the slowest known up to Q_12 as many",
    )


# ---------------------------------------------------------------- worked examples


_STEPS = "[list(pair) for pair in zip(u.nodes.tolist(), u.round_of.tolist())]"


@ledger.claim(
    "figure-3",
    where="section 3.2, Figure 3 (faults 0110, 0101, 0000)",
    states=(
        "Nodes 0010 and 0001 are unsafe, next to two faulty nodes; 0011 next to them is unsafe too, and so on; 0*** is a "
        "maximal unsafe subcube."
    ),
)
def figure_3(_: Effort) -> Verdict:
    """The figure's fault set."""
    cube = Hypercube(4, [0b0110, 0b0101, 0b0000])
    python = f"[[str(part) for part in u.subcubes], {_STEPS}]"
    told = witness("the maximal unsafe subcube, and the step that marks each node", cube, python)
    subcubes, steps = told.value[0], dict(told.value[1])
    as_told = (
        subcubes == ["0***"] and steps.keys() == {1, 2, 3, 4, 7} and steps[0b0010] == steps[0b0001] == 1 < steps[0b0011]
    )
    return Verdict("holds" if as_told else "refuted", "the figure's fault set", told)


@ledger.claim(
    "figure-12",
    where="appendix, Figure 12 (faults 0000, 0110, 1101)",
    states="Nodes 0100 and 0010 become unsafe at t = 1, nodes 1100 and 0101 at t = 2, and so on until all of Q_4 is unsafe.",
)
def figure_12(_: Effort) -> Verdict:
    """The figure's fault set."""
    cube = Hypercube(4, [0b0000, 0b0110, 0b1101])
    told = witness("the step that marks each node", cube, _STEPS)
    steps = dict(told.value)
    first, second = ({label for label, step in steps.items() if step == t} for t in (1, 2))
    as_told = first == {0b0100, 0b0010} and {0b1100, 0b0101} <= second and len(steps) == 13
    return Verdict("holds" if as_told else "refuted", "the figure's fault set", told)
