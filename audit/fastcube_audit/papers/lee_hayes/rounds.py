"""Claims of Lee & Hayes (1988) about the rounds of FIND_UNSAFE, and its worked examples; conventions as in ``unsafe``.

In each *round*, which the paper calls a step, or a pass of the loop in Figure 5, all nodes are marked that have two or more
neighbours marked or faulty.  B_n is the paper's bound on the rounds.  All fault sets of Q_2 to Q_5 are enumerated; in larger
cubes the most rounds are known only from the theorem of Przykucki, and from the fault sets in ``SLOW``, which attain it.  In the
Python code of a counterexample ``u`` is the result of ``fc.find_unsafe``.  ``effort`` counts the cases that a check looks at,
and says how many it may look at.
"""

import math

from fastcube.algorithms.unsafe import find_unsafe
from fastcube.exact.unsafe import enumerate_fault_sets, exact_unsafe
from fastcube.networks.hypercube import Hypercube

from ...claims import Counterexample, Effort, Verdict, check_agreement
from .registry import registry, unsafe_counterexample

#: Fault sets that FIND_UNSAFE marks slowly, in floor(n^2/3) rounds, the largest possible number (Przykucki 2012, on 2-neighbour
#: bootstrap percolation).  They were found by adding one fault at a time at distance 1 or 2 from the subcube that the others
#: span, next to the nodes marked last.
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


#: Python expression for the most rounds of all fault sets of Q_n.
_MOST = "max(fc.exact_unsafe({n}, f).max_rounds or 0 for f in range(2**{n}))"


def paper_bound(n: int) -> int:
    """Return the appendix's B_n, n >= 2: n^2/4 + n/2 - 1 for even n, n^2/4 + n - 9/4 for odd n."""
    return (n * n + 2 * n - 4) // 4 if n % 2 == 0 else (n * n + 4 * n - 9) // 4


def _most_rounds(effort: Effort, n: int) -> int:
    """Return the most rounds over all fault sets of Q_n, n <= 5; each counts as a case."""
    effort.applied += 2**2**n
    return max(rounds or 0 for sets in enumerate_fault_sets(n) for _, rounds in sets)


def _slow_rounds(effort: Effort, n: int) -> int:
    """Return the rounds of the slow fault set of Q_n, which counts as a case."""
    effort.count_if_applicable()
    return find_unsafe(Hypercube(n, SLOW[n])).rounds


def _is_bound_for_all(effort: Effort, n: int, most: int) -> bool:
    """Whether B_n bounds the rounds of all sets of at most ``most`` faults of Q_n, n <= 8; each counts as a case."""
    effort.applied += sum(math.comb(2**n, f) for f in range(most + 1))
    return all((exact_unsafe(n, f).max_rounds or 0) <= paper_bound(n) for f in range(most + 1))


def _slow_counterexample(n: int, description: str, python: str = "u.rounds") -> Counterexample:
    return unsafe_counterexample(description, Hypercube(n, SLOW[n]), python)


@registry.claim(
    "rounds-bound",
    where="appendix",
    states=(
        "After B_n synchronous steps FIND_UNSAFE has marked every unsafe node of Q_n, B_n being n^2/4 + n/2 - 1 for even n and "
        "n^2/4 + n - 9/4 for odd n, n >= 2."
    ),
    correction="Within floor(n^2/3) steps (Przykucki 2012), which some fault sets of Q_2, ..., Q_12 need.",
    group="rounds",
)
def rounds_bound(effort: Effort) -> Verdict:
    """Compare the rounds with B_n for all fault sets of Q_2 to Q_5, then for the slow sets up to the first that exceeds B_n."""
    for n in range(2, 6):
        if _most_rounds(effort, n) > paper_bound(n):
            most_rounds = Counterexample.of(
                f"the most rounds there are; B_{n} = {paper_bound(n)}", _MOST.format(n=n), {"n": n}
            )
            return Verdict("refuted", f"all fault sets of Q_2, ..., Q_{n}", most_rounds)
    for n in range(6, 13):
        rounds = _slow_rounds(effort, n)
        if rounds > paper_bound(n):
            most = effort.by_effort(full=4, quick=3)
            fewer = (
                f" and for all of Q_6 with at most {most} faults"
                if n == 6 and _is_bound_for_all(effort, n, most)
                else ""
            )
            slowest = {m: _slow_rounds(effort, m) for m in effort.each(SLOW)}
            check_agreement(slowest, {m: m * m // 3 for m in SLOW}, "rounds of the slow fault sets and floor(n^2/3)")
            above = [m for m in SLOW if slowest[m] > paper_bound(m)]
            return Verdict(
                "refuted",
                f"holds for all fault sets of Q_2, ..., Q_5{fewer}; exceeded in Q_n for n = {', '.join(map(str, above))}",
                _slow_counterexample(n, f"{rounds} rounds, and B_{n} = {paper_bound(n)}"),
            )
    return Verdict("undecided", "holds for all fault sets of Q_2, ..., Q_5; no slower set found up to Q_12")


@registry.claim(
    "rounds-enough",
    where="Figure 5",
    states="FIND_UNSAFE, whose loop ends after B_n passes, has then marked all unsafe nodes of Q_n, n >= 2.",
    correction="floor(n^2/3) passes are enough (Przykucki 2012), and some fault sets of Q_2, ..., Q_12 need them all.",
    fact="rounds-bound",
    group="rounds",
)
def rounds_enough(effort: Effort) -> Verdict:
    """Show that the counterexample to ``rounds-bound`` has nodes that are marked too late."""
    verdict = rounds_bound(effort)
    if verdict.outcome != "refuted" or verdict.counterexample is None:
        return verdict
    n = verdict.counterexample.data["n"]
    bound = paper_bound(n)
    python = f"[label for label, step in zip(u.nodes.tolist(), u.round_of.tolist()) if step > {bound}]"
    cube = Hypercube(n, SLOW[n])
    unsafe = find_unsafe(cube)
    late = unsafe.nodes[unsafe.round_of > bound].tolist()
    description = f"unsafe nodes that are not marked after B_{n} = {bound} steps: {', '.join(map(cube.label, late))}"
    return Verdict("refuted", verdict.checked, _slow_counterexample(n, description, python).with_form("{value:row}"))


def _rounds_text(most: dict[int, int]) -> str:
    """Return a text that compares the most rounds of cubes with all fault sets known to the bound."""
    return "; ".join(f"most rounds in Q_{n}: {rounds}, B_{n} = {paper_bound(n)}" for n, rounds in most.items())


@registry.claim(
    "rounds-tight-even",
    where="appendix",
    states="For even n, n >= 2, B_n bounds the steps of FIND_UNSAFE and some fault set takes as many.",
    correction=(
        "The bound is attained for n = 2 and 4. From n = 6 on B_n is exceeded: the most steps are floor(n^2/3) (Przykucki "
        "2012)."
    ),
    fact="rounds-bound",
    group="rounds",
)
def rounds_tight_even(effort: Effort) -> Verdict:
    """Compare the most rounds with B_n for all fault sets of Q_2 to Q_5, odd n as well for the text, and the known slow sets."""
    most = {n: _most_rounds(effort, n) for n in range(2, 6)}
    checked = _rounds_text(most)
    for n in effort.each(range(2, 13, 2)):
        rounds, bound = _slow_rounds(effort, n), paper_bound(n)
        if rounds > bound:
            return Verdict("refuted", checked, _slow_counterexample(n, f"B_{n} = {bound} is no bound: {rounds} rounds"))
        if most.get(n, bound) < bound:
            most_rounds = Counterexample.of(f"the most rounds there are; B_{n} = {bound}", _MOST.format(n=n), {"n": n})
            return Verdict("refuted", checked, most_rounds)
    return Verdict("undecided", f"{checked}; no slower set found up to Q_12")


@registry.claim(
    "rounds-not-tight-odd",
    where="appendix",
    states="For odd n, n >= 3, B_n is not tight [never attained, or: not always].",
    correction=(
        "Attained for n = 3 and 9, not for n = 5 and 7, where the most steps are floor(n^2/3) (Przykucki 2012); from n = 11 on "
        "B_n is no bound at all (rounds-bound)."
    ),
    group="rounds",
)
def rounds_not_tight_odd(effort: Effort) -> Verdict:
    """Test whether the bound is attained for some n but not for others: then "never" is false and "not always" is true."""
    most = {n: _most_rounds(effort, n) for n in effort.each((3, 5))}
    checked = _rounds_text(most)
    attained = [n for n in most if most[n] == paper_bound(n)]
    missed = [n for n in most if most[n] != paper_bound(n)]
    if not attained:
        return Verdict("holds", checked)
    n = attained[0]
    never = _slow_counterexample(n, f"B_{n} = {paper_bound(n)} is attained: false if it says never")
    if not missed:
        return Verdict("refuted", checked, never)
    n = missed[0]
    description = f"the most rounds of all fault sets of Q_{n}, and B_{n}, which is more: true if it says not always"
    not_always = Counterexample.of(description, f"[{_MOST.format(n=n)}, {paper_bound(n)}]", {"n": n})
    return Verdict("depends", checked, never, (not_always,))


@registry.claim(
    "rounds-recursion",
    where="appendix",
    states=(
        "B_2 = 1 and B_n = B_(n-2) + n for even n >= 4 give n^2/4 + n/2 - 1. For odd n >= 3 the bound of n - 1 and n - 1 "
        "more steps are n^2/4 + n - 9/4."
    ),
    definition=True,
    method="proved",
)
def rounds_recursion(effort: Effort) -> Verdict:
    """Run the recursion; both sides have degree two, so three values are enough for each parity."""
    bounds = {2: 1}
    for n in range(3, 63):
        bounds[n] = bounds[n - 1] + n - 1 if n % 2 else bounds[n - 2] + n
    effort.applied += len(bounds)
    check_agreement(bounds, {n: paper_bound(n) for n in bounds}, "B_n by its recursion and by its polynomials")
    return Verdict(
        "holds", "n = 2, ..., 62, and so for all n: differences of polynomials of degree two with more than three zeros"
    )


@registry.claim(
    "n-cubed",
    where="appendix",
    states="FIND_UNSAFE takes O(n^3) units of communication, n >= 2 [n units per step, n^3 / 3 until all are marked].",
    method="proved",
    group="rounds",
)
def n_cubed(effort: Effort) -> Verdict:
    """Check that n times the rounds is at most n^3 / 3, for all fault sets up to Q_5 and the known slow sets."""

    def check(n: int) -> Counterexample | None:
        if n <= 5 and 3 * _most_rounds(effort, n) > n * n:
            description = f"units until all are marked in Q_{n}, and n^3 / 3"
            return Counterexample.of(description, f"[{n} * {_MOST.format(n=n)}, {n}**3 / 3]", {"n": n})
        if 3 * _slow_rounds(effort, n) > n * n:
            return _slow_counterexample(
                n, f"units until all are marked in Q_{n}, and n^3 / 3", f"[{n} * u.rounds, {n}**3 / 3]"
            )
        return None

    return Verdict.refuted_if(
        effort.find_first(SLOW, check),
        "until all are marked n floor(n^2/3) at the most, by a cited theorem (Przykucki 2012): no fault set of Q_2, ..., Q_5 "
        "takes more, nor do the slowest known up to Q_12; as the loop of Figure 5 runs, n B_n <= n^3/2",
    )


# ---------------------------------------------------------------- worked examples


_STEPS = "[list(pair) for pair in zip(u.nodes.tolist(), u.round_of.tolist())]"


@registry.claim(
    "figure-3",
    where="section 3.2, Figure 3 (faults 0110, 0101, 0000)",
    states=(
        "Two faulty neighbours make 0010 unsafe, and 0001; these two make 0011 unsafe, and so on: 0*** is a maximal unsafe "
        "subcube."
    ),
)
def figure_3(effort: Effort) -> Verdict:
    """Find the unsafe nodes of the figure's fault set, and their steps."""
    effort.count_if_applicable()
    cube = Hypercube(4, [0b0110, 0b0101, 0b0000])
    python = f"[[str(part) for part in u.subcubes], {_STEPS}]"
    description = "the maximal unsafe subcube, and the step that marks each node"
    found = unsafe_counterexample(description, cube, python).with_form("{0[0]}; {1:marks}")
    subcubes, steps = found.value[0], dict(found.value[1])
    is_marked_as_printed = steps.keys() == {1, 2, 3, 4, 7} and steps[0b0010] == steps[0b0001] == 1 < steps[0b0011]
    is_as_printed = subcubes == ["0***"] and is_marked_as_printed
    return Verdict("holds" if is_as_printed else "refuted", "the figure's fault set", found)


@registry.claim(
    "figure-12",
    where="appendix, Figure 12 (faults 0000, 0110, 1101)",
    states="Step 1 marks 0100 and 0010, step 2 marks 1100 and 0101 among others, and in the end no node of Q_4 is active.",
)
def figure_12(effort: Effort) -> Verdict:
    """Find the unsafe nodes of the figure's fault set, and their steps."""
    effort.count_if_applicable()
    cube = Hypercube(4, [0b0000, 0b0110, 0b1101])
    found = unsafe_counterexample("the step that marks each node", cube, _STEPS).with_form("{value:marks}")
    steps = dict(found.value)
    first, second = ({label for label, step in steps.items() if step == t} for t in (1, 2))
    is_as_printed = first == {0b0100, 0b0010} and {0b1100, 0b0101} <= second and len(steps) == 13
    return Verdict("holds" if is_as_printed else "refuted", "the figure's fault set", found)
