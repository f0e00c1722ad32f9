"""Claims of Lee & Hayes (1988) about routing: section 3, and its extension to faulty links in section 5.

Each is decided on all small cases in the order of n and then of the number of faults, so that a witness is smallest in that
order, and where it holds there hunted above (``cases.py``).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from fastcube.algorithms.paths import Route, route
from fastcube.algorithms.routing import bits_down
from fastcube.algorithms.shortest import distance
from fastcube.engine.claims import Effort, Verdict, Witness
from fastcube.engine.estimate import proportion
from fastcube.exact.routing import exact_routing
from fastcube.exact.unsafe import merging_pairs
from fastcube.inventory import inventory

from .cases import Toward, World, checked_range, climbed, hunted, hunted_range, worlds
from .claims import ledger

#: What is wrong with a message: (words, the call that shows it); None when nothing is.
Wrong = tuple[str, str] | None
Check = Callable[[World, int, int], Wrong]


def witness(world: World, s: int, t: int, wrong: tuple[str, str]) -> Witness:
    """A witness on one message: ``wrong`` has words, and a Python expression in which ``c`` is the cube."""
    cube = world.cube
    data = {
        "n": cube.n,
        "faulty_nodes": sorted(int(x) for x in cube.faulty_nodes),  # type: ignore[union-attr]
        "faulty_links": sorted(list(link) for link in cube.faulty_links),
        "s": s,
        "t": t,
    }
    return Witness.of(wrong[0], f"(lambda c: {wrong[1]})(fc.{cube.source()})", data)


def beyond(algorithm: str, k: int = 1) -> Toward:
    """Links that a message goes beyond its Hamming distance, delivered or not."""

    def links(world: World, s: int, t: int) -> int:
        aware = algorithm == "ROUTE3"
        found = world.route3(s, t) if aware else route(world.cube, s, t, algorithm, k=min(k, world.cube.n))
        return len(found.path) - 1 - world.cube.metric(s, t)

    return links


_BEYOND3 = beyond("ROUTE3")


def decide(
    effort: Effort,
    check: Check,
    applies: Callable[[World], bool] = lambda _: True,
    links: bool = False,
    toward: Toward = _BEYOND3,
) -> Verdict:
    """Refuted by the first message that ``check`` finds wrong in a world that the claim ``applies`` to; ``toward`` is climbed."""
    where = checked_range(effort, links)
    for world in effort.each(worlds(effort, links)):
        if applies(world):
            for t in range(1, 2**world.cube.n):
                if not world.cube.is_faulty(t) and (wrong := check(world, 0, t)):
                    found = f"in the order of n and then of the number of faults; {where}"
                    return Verdict("refuted", found, witness(world, 0, t, wrong))
    if not links:
        cases = itertools.chain(hunted(effort), climbed(effort, applies, toward))
        for world, s, t in effort.each(cases, "hunting"):
            if applies(world) and (wrong := check(world, s, t)):
                return Verdict("refuted", f"holds for {where}; hunted above", witness(world, s, t, wrong))
        where += f"; {hunted_range(effort, 'messages')}"
    return Verdict("holds", where)


def _call(algorithm: str, s: int, t: int, k: int = 0) -> str:
    return f"fc.route(c, {s}, {t}, algorithm='{algorithm}'{f', k={k}' if k else ''})"


def _ended(found: Route) -> str:
    return found.outcome if found.length is None else f"{found.length} links"


def _not_optimal(world: World, algorithm: str, s: int, t: int, k: int) -> Wrong:
    found = route(world.cube, s, t, algorithm, k=k)
    if not world.too_long(found, s, t):
        return None
    words = f"{algorithm}({k}): {_ended(found)}, the shortest path has {distance(world.cube, s, t)}"
    call = _call(algorithm, s, t, k)
    return words, f"[{call}.outcome, {call}.path, fc.distance(c, {s}, {t})]"


# ---------------------------------------------------------------- section 3.1


def _some_k(algorithm: str, ks: Callable[[World, int], range], crowded: Callable[[World, int], bool]) -> Check:
    """Check that an algorithm is optimal for those k for which the world is not crowded."""

    def check(world: World, s: int, t: int) -> Wrong:
        for k in ks(world, (s ^ t).bit_count()):
            if not crowded(world, k) and (wrong := _not_optimal(world, algorithm, s, t, k)):
                return wrong
        return None

    return check


@ledger.claim(
    "theorem-1",
    where="section 3.1, Theorem 1",
    states=(
        "Suppose that a message is to be passed between two nodes separated by Hamming distance r. Algorithm ROUTE1(k) finds a "
        "minimal feasible path for the message if each non-faulty node in the system has no more than k faulty nodes in its "
        "k-neighborhood and k < r."
    ),
)
def theorem_1(effort: Effort) -> Verdict:
    """All k < r."""
    return decide(
        effort, _some_k("ROUTE1", lambda w, r: range(1, r), lambda w, k: w.crowded(k, k)), toward=beyond("ROUTE1")
    )


@ledger.claim(
    "corollary-1-printed",
    where="section 3.1, Corollary 1",
    states=(
        "If k <= 2 and no non-faulty node has more than k faulty nodes in its 1-neighborhood, then ROUTE1(k) is optimal."
    ),
    correction="As far as checked, it holds with at most k faulty nodes in the k-neighborhood, as it is argued (corollary-1).",
)
def corollary_1_printed(effort: Effort) -> Verdict:
    """k = 1, 2."""
    return decide(
        effort,
        _some_k("ROUTE1", lambda w, r: range(1, min(2, w.cube.n) + 1), lambda w, k: w.crowded(k, 1)),
        toward=beyond("ROUTE1", 2),
    )


@ledger.claim(
    "corollary-1",
    where="section 3.1, Corollary 1",
    states="If k <= 2 and no non-faulty node has more than k faulty nodes in its [k]-neighborhood, then ROUTE1(k) is optimal.",
)
def corollary_1(effort: Effort) -> Verdict:
    """k = 1, 2."""
    return decide(
        effort,
        _some_k("ROUTE1", lambda w, r: range(1, min(2, w.cube.n) + 1), lambda w, k: w.crowded(k, k)),
        toward=beyond("ROUTE1", 2),
    )


@ledger.claim(
    "theorem-2",
    where="section 3.1, Theorem 2",
    states=(
        "ROUTE2(k) is optimal for k <= n-1, provided that there are no more than k faulty nodes in the k-neighborhood of each "
        "non-faulty node."
    ),
)
def theorem_2(effort: Effort) -> Verdict:
    """k = 1, ..., n - 1."""
    return decide(
        effort,
        _some_k("ROUTE2", lambda w, r: range(1, w.cube.n), lambda w, k: w.crowded(k, k)),
        toward=beyond("ROUTE2"),
    )


@ledger.claim(
    "route2-n",
    where="section 3.1",
    states="ROUTE2(n) is optimal provided that there are fewer than n faults in the system.",
)
def route2_n(effort: Effort) -> Verdict:
    """k = n."""
    few = lambda world: len(world.cube.faulty_nodes) < world.cube.n  # noqa: E731  (a condition in one line)
    return decide(effort, lambda w, s, t: _not_optimal(w, "ROUTE2", s, t, w.cube.n), few, toward=beyond("ROUTE2", 62))


def _differ(k: int, path: bool) -> Check:
    def check(world: World, s: int, t: int) -> Wrong:
        if k > world.cube.n:
            return None
        one, two = (route(world.cube, s, t, name, k=k) for name in ("ROUTE1", "ROUTE2"))
        if (one.path == two.path) if path else (one.outcome, one.length) == (two.outcome, two.length):
            return None
        what = "path" if path else "length"
        calls = [_call(name, s, t, k) for name in ("ROUTE1", "ROUTE2")]
        python = f"[[r.outcome, r.{what}] for r in ({calls[0]}, {calls[1]})]"
        return f"ROUTE1({k}) {one.outcome}, ROUTE2({k}) {two.outcome}, over different {what}s", python

    return check


_EQUAL_LENGTHS = (
    "Both are optimal, and so of one length, where no nonfaulty node has more than 2 faulty nodes in its 2-neighborhood "
    "(corollary-1 and theorem-2, in their ranges); elsewhere ROUTE2(2) tries minimal paths that ROUTE1(2) does not."
)


def _equal(k: int, path: bool) -> None:
    what = "path" if path else "outcome"

    @ledger.claim(
        f"route2-{k}-{what}",
        where="section 3.1",
        states=f"One can easily see that ROUTE2({k}) = ROUTE1({k}) [{'same path' if path else 'same outcome and length'}].",
        correction=_EQUAL_LENGTHS if k > 1 else "",
    )
    def equal(effort: Effort) -> Verdict:
        """Both algorithms on the same messages."""
        return decide(effort, _differ(k, path), toward=beyond("ROUTE2", k))


_equal(1, False)
_equal(1, True)
_equal(2, False)
_equal(2, True)


# ---------------------------------------------------------------- section 3.2


def _route3_wrong(world: World, s: int, t: int, beyond: int) -> Wrong:
    found = world.route3(s, t)
    if not world.too_long(found, s, t, beyond):
        return None
    words = f"ROUTE3: {_ended(found)}, the shortest path has {distance(world.cube, s, t)}"
    call = _call("ROUTE3", s, t)
    return words, f"[{call}.outcome, {call}.path, fc.distance(c, {s}, {t})]"


def _safe(world: World) -> bool:
    return world.safe


def _by_unsafe(world: World, s: int, t: int) -> Wrong:
    """A message of ROUTE3 that passes through an unsafe node on its way."""
    between = [v for v in world.route3(s, t).path[1:-1] if world.part(v) is not None]
    return ("unsafe nodes between the ends", f"{_call('ROUTE3', s, t)}.path") if between else None


def _optimal_between(
    ident: str, states: str, between: Callable[[int | None, int | None], bool], by_active: bool = False
) -> None:
    @ledger.claim(ident, where="section 3.2", states=states)
    def optimal(effort: Effort) -> Verdict:
        """ROUTE3 between ends of these kinds, where Q_n is not unsafe."""

        def check(world: World, s: int, t: int) -> Wrong:
            if not between(world.part(s), world.part(t)):
                return None
            return _route3_wrong(world, s, t, 0) or (_by_unsafe(world, s, t) if by_active else None)

        return decide(effort, check, _safe)


_optimal_between(
    "route3-active",
    "If only the active nodes communicate with one another, algorithm ROUTE3(1) always finds a minimal feasible path for "
    "every message [Q_n is not unsafe].",
    lambda a, b: a is None and b is None,
)
_optimal_between(
    "route3-to-unsafe",
    "When the source node is active and the destination is unsafe, ROUTE3(1) forwards the message to the destination via a "
    "minimal feasible path in which all intermediate nodes are active [Q_n is not unsafe].",
    lambda a, b: a is None and b is not None,
    by_active=True,
)
_optimal_between(
    "route3-from-unsafe",
    "When the source node is unsafe and the destination is active, ROUTE3(1) also forwards the message via a minimal path "
    "[Q_n is not unsafe].",
    lambda a, b: a is not None and b is None,
)
_optimal_between(
    "route3-different-subcubes",
    "If both are unsafe in different maximal unsafe subcubes, ROUTE3(1) forwards the message through one of the minimal paths "
    "with all intermediate nodes active [Q_n is not unsafe].",
    lambda a, b: a is not None and b is not None and a != b,
    by_active=True,
)


@ledger.claim(
    "theorem-4",
    where="section 3.2, Theorem 4",
    states=(
        "If Q_n is not unsafe, then ROUTE3(1) routes messages from source to destination via a path of length no more than the "
        "minimal path length plus two [of a feasible path; and every message is delivered that can be]."
    ),
)
def theorem_4(effort: Effort) -> Verdict:
    """The excess over the shortest feasible path."""
    return decide(effort, lambda w, s, t: _route3_wrong(w, s, t, 2), _safe)


@ledger.claim(
    "theorem-4-attained",
    where="section 3.2, Theorem 4",
    states="[Some message of ROUTE3(1) takes two links more than the shortest feasible path, Q_n being not unsafe.]",
    ours=True,
)
def theorem_4_attained(effort: Effort) -> Verdict:
    """The first route that is longer than the shortest feasible path."""
    for world in effort.each(worlds(effort)):
        if world.safe:
            for t in range(1, 2**world.cube.n):
                if not world.cube.is_faulty(t) and (longer := _route3_wrong(world, 0, t, 0)):
                    return Verdict(
                        "holds", "the first in the order of n and of the number of faults", witness(world, 0, t, longer)
                    )
    return Verdict("undecided", f"none in {checked_range(effort)}")


@ledger.claim(
    "fifteen-percent-messages",
    where="section 3.2",
    states=(
        "If each node has equal probability of communicating with any other node, the percentage of messages which can have the "
        "extra delay of two is less than 15% [on average over fault sets, for f <= floor(n/2), n >= 5]."
    ),
)
def fifteen_percent_messages(effort: Effort) -> Verdict:
    """Exactly, or bounded by the mean number of close pairs, or by Monte Carlo at level 1e-6."""
    from .routing import ROUTING

    limit = inventory("lee_hayes").value("fifteen-percent-messages")
    exact, sampled, largest = [], [], 0.0
    for n in range(5, 63):
        for f in range(1, n // 2 + 1):
            if merging_pairs(n, f) < limit:  # without a close pair every message takes its Hamming distance
                continue
            effort.step(f"n={n}, f={f}")
            if n == 5 or (n == 6 and f == 3 and not effort.quick):
                share = exact_routing(n, f)["route3_detour"]
                exact.append(f"({n}, {f})")
                value = high = float(share or 0)
            else:
                tally = ROUTING.count({"n": n, "f": f, "links": 0, "k": 1}, effort.pick(10**6, 10**5))
                e = proportion(tally.counts["route3_detours"], tally.counts["route3_delivered"], 1e-6)
                sampled.append(f"({n}, {f})")
                value, high = e.value, e.high
            if high >= limit:
                python = f"float(fc.exact_routing({n}, {f})['route3_detour'])"
                if value >= limit and exact and exact[-1] == f"({n}, {f})":
                    return Verdict(
                        "refuted", f"n={n}, f={f}", Witness.of("share of messages", python, {"n": n, "f": f})
                    )
                return Verdict("undecided", f"n={n}, f={f}: {value:.4f}, at most {high:.4f}")
            largest = max(largest, high)
    return Verdict(
        "holds",
        f"n = 5, ..., 62, f <= floor(n/2): exactly at (n, f) = {', '.join(exact)}; by Monte Carlo at level 1e-6 at "
        f"{', '.join(sampled)}; elsewhere the mean number of pairs of faults within distance 2 is below {limit:.0%}; "
        f"largest limit {largest:.5f}",
    )


@ledger.claim(
    "two-comparisons",
    where="section 3.2",
    states=(
        "Since there is at most one unsafe or faulty neighbor in its 1-neighborhood, each active node does no more than two "
        "label comparisons before it forwards a message [looks at no more than two neighbours]."
    ),
)
def two_comparisons(effort: Effort) -> Verdict:
    """The neighbours that ROUTE3 looks at on each active node, the source of a message."""

    def check(world: World, s: int, t: int) -> Wrong:
        if world.part(s) is not None:
            return None
        looked = 0
        for bit in bits_down(s ^ t):
            looked += 1
            if world.part(s ^ bit) is None:
                break
        if looked <= 2:
            return None
        return f"ROUTE3 looks at {looked} neighbours", f"{_call('ROUTE3', s, t)}.path"

    return decide(effort, check, _safe)


@ledger.claim(
    "theorem-4-links",
    where="section 5",
    states=(
        "If ROUTE3(1) is modified such that no message is passed through faulty links, then Theorem 4 holds for hypercubes with "
        "faulty links."
    ),
)
def theorem_4_links(effort: Effort) -> Verdict:
    """The excess over the shortest feasible path."""
    return decide(effort, lambda w, s, t: _route3_wrong(w, s, t, 2), _safe, links=True)


def _sufficient(ident: str, where: str, states: str, most: Callable[[int], int]) -> None:
    @ledger.claim(ident, where=where, states=states)
    def sufficient(effort: Effort) -> Verdict:
        """All messages with so few faults, whether Q_n is unsafe or not."""
        few = lambda world: len(world.cube.faulty_nodes) <= most(world.cube.n)  # noqa: E731
        return decide(effort, lambda w, s, t: _route3_wrong(w, s, t, 2), few)


_sufficient(
    "floor-half-faults-routing",
    "section 3.2",
    "A sufficient condition guaranteeing this efficient routing is that the number of faulty nodes be no more than floor(n/2).",
    lambda n: n // 2,
)
_sufficient(
    "ceil-half-faults-routing",
    "section 5",
    "When the number of faulty nodes in Q_n is no greater than ceil(n/2), the ROUTE3(1) algorithm can transmit messages via a "
    "path of length no greater than the minimal path length plus two.",
    lambda n: -(-n // 2),
)
