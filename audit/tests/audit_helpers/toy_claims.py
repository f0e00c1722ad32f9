"""Claims of a user's own, in one file: they hold, fail, break, die, print and never end."""

import itertools
import os
import time

from fastcube_audit.claims import ClaimRegistry, Counterexample, Effort, Verdict

registry = ClaimRegistry("toy")
SHARED = []


@registry.claim("slowest-first", where="section 1", states="Reports come in order, whichever is ready first.")
def slowest_first(effort: Effort) -> Verdict:
    time.sleep(effort.by_effort(full=0.5, quick=0.1))
    print("talk of a deciding function")
    return Verdict("holds", f"{sum(effort.each(range(10)))} is the sum of 0, ..., 9")


@registry.claim("false", where="section 2", states="All cubes have 8 nodes.", correction="Q_n has 2^n nodes.")
def false(_: Effort) -> Verdict:
    small = Counterexample.of("a cube of another size", "2 ** fc.Hypercube(2).n", {"n": 2})
    large = Counterexample.of("and a larger one", "n = fc.Hypercube(4).n\nn", {"n": 4})
    return Verdict("refuted", "Q_1 and Q_2", small, (large,))


@registry.claim("corrected", where="section 2", states="[All 3-cubes have 8 nodes.]", added=True, group="shared")
def corrected(_: Effort) -> Verdict:
    SHARED.append(os.getpid())
    return Verdict("holds", "Q_3")


@registry.claim("again", where="section 2", states="[A group is decided by one process.]", added=True, group="shared")
def again(_: Effort) -> Verdict:
    return Verdict("holds" if [os.getpid()] == SHARED else "undecided", "this process")


@registry.claim("breaks", where="nowhere", states="One that breaks costs no other.")
def breaks(_: Effort) -> Verdict:
    raise AssertionError("not\nlike this")


@registry.claim("dies", where="nowhere", states="A process that dies costs no other.")
def dies(_: Effort) -> Verdict:
    os._exit(9)


@registry.claim("last", where="nowhere", states="There is an end.")
def last(_: Effort) -> Verdict:
    return Verdict("undecided", "nothing")


if os.environ.get("TOY_FOREVER"):

    @registry.claim("forever", where="nowhere", states="There is none.")
    def forever(effort: Effort) -> Verdict:
        for _ in effort.each(itertools.count(), "numbers"):
            time.sleep(0.001)
        return Verdict("undecided", "never said")
