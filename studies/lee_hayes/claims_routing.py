"""Claims of Lee & Hayes (1988) about routing: section 3, and its extension to faulty links in section 5.

Each is decided on all small cases in the order of n and then of the number of faults, so that a witness is smallest in that
order, and where it holds there hunted above (``cases.py``).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping

from fastcube.algorithms.paths import Route, route
from fastcube.algorithms.shortest import distance
from fastcube.exact.enumeration import exact_routing
from fastcube.exact.unsafe import merging_pairs
from fastcube.measure.estimate import proportion
from fastcube.networks.hypercube import Hypercube
from fastcube.networks.network import bits_down
from fastcube.papers.claims import Effort, Verdict, Witness
from fastcube.papers.inventory import inventory

from . import small_cubes
from .cases import Toward, World, checked_range, climbed, hunted, hunted_range, two_squares, worlds
from .claims import ledger
from .small_cubes import Asked

#: What a claim says of a message: False where its hypothesis does not apply, True where it is as stated, else what is wrong
#: with it: words, and the call that shows it, in which ``c`` is the cube.
Judged = bool | tuple[str, ...]
Check = Callable[[World, int, int], Judged]


def witness(world: World, s: int, t: int, wrong: tuple[str, ...]) -> Witness:
    """A witness on one message: ``wrong`` has words, a Python expression in which ``c`` is the cube, and perhaps a form."""
    cube = world.cube
    data = {
        "n": cube.n,
        "faulty_nodes": sorted(int(x) for x in cube.faulty_nodes),  # type: ignore[union-attr]
        "faulty_links": sorted(list(link) for link in cube.faulty_links),
        "s": s,
        "t": t,
    }
    words, python, *form = wrong
    return Witness.of(words, f"(lambda c: {python})(fc.{cube.source()})", data).written("".join(form))


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
    links: bool = False,
    toward: Toward = _BEYOND3,
    within: Callable[[World], bool] | None = None,
    more: tuple[str, Iterable[World]] = ("", ()),
) -> Verdict:
    """Refuted by the first message that ``check`` finds wrong; where it applied to none nothing is decided.

    Climbs go ``toward`` what the claim bounds, in worlds that it may apply to (``within``; by default all); ``more`` worlds, with
    what they are, come after the small ones.
    """
    where = checked_range(effort, links) + more[0]

    def wrong(world: World, s: int, t: int) -> Witness | None:
        found = check(world, s, t)
        effort.applies(found is not False)
        return witness(world, s, t, found) if isinstance(found, tuple) else None

    for world in effort.each(itertools.chain(worlds(effort, links), more[1])):
        if within is None or within(world):
            for t in range(1, 2**world.cube.n):
                if not world.cube.is_faulty(t) and (shown := wrong(world, 0, t)):
                    return Verdict("refuted", f"in the order of n and then of the number of faults; {where}", shown)
    if not links:
        before = effort.applied
        cases = itertools.chain(hunted(effort), climbed(effort, within or (lambda _: True), toward))
        for case in effort.each(cases, "hunting"):
            if shown := wrong(*case):
                return Verdict("refuted", f"holds for {where}; hunted above", shown)
        where += f"; {hunted_range(effort, 'messages')}, of which it applied to {effort.applied - before:,}"
    return Verdict("holds" if effort.applied else "undecided", where)


def _call(algorithm: str, s: int, t: int, k: int = 0) -> str:
    return f"fc.route(c, {s}, {t}, algorithm='{algorithm}'{f', k={k}' if k else ''})"


#: How the outcome, the path and the length of a shortest one are written.
_ROUTED = "{0}, {1:path}"


def _ended(found: Route) -> str:
    return found.outcome if found.length is None else f"{found.length} links"


def _not_optimal(world: World, algorithm: str, s: int, t: int, k: int) -> Judged:
    found = route(world.cube, s, t, algorithm, k=k)
    if not world.too_long(found, s, t):
        return True
    words = f"{algorithm}({k}): {_ended(found)}, the shortest path has {distance(world.cube, s, t)}"
    call = _call(algorithm, s, t, k)
    return words, f"[{call}.outcome, {call}.path, fc.distance(c, {s}, {t})]", _ROUTED


# ---------------------------------------------------------------- section 3.1


def _some_k(algorithm: str, ks: Callable[[World, int], range], crowded: Callable[[World, int], bool]) -> Check:
    """Check that an algorithm is optimal for those k for which the world is not crowded."""

    def check(world: World, s: int, t: int) -> Judged:
        judged: Judged = False
        for k in ks(world, (s ^ t).bit_count()):
            if not crowded(world, k):
                judged = _not_optimal(world, algorithm, s, t, k)
                if judged is not True:
                    return judged
        return judged

    return check


#: Of which messages of Q_5 and Q_6 a claim with a bound on the faults around each node was counted.
_MET = " where its hypothesis is met"


def _optimal(rule: str) -> small_cubes.Sound:
    """Whether a rule delivers whatever has a feasible path, over a shortest one."""

    def sound(_: int, counts: Mapping[str, int], __: Mapping[str, int]) -> bool:
        return counts[f"{rule}_delivered"] == counts["reachable"] and counts[f"{rule}_longer"] == 0

    return sound


@ledger.claim(
    "theorem-1",
    where="section 3.1, Theorem 1",
    states=(
        "Where every nonfaulty node of Q_n has at most k faulty nodes within distance k, ROUTE1(k) takes a shortest feasible "
        "path "
        "between any two nonfaulty nodes at Hamming distance r > k, k >= 1."
    ),
)
def theorem_1(effort: Effort) -> Verdict:
    """All k < r."""
    asked = lambda n, f: [Asked(k, k, k + 1) for k in range(1, n)]  # noqa: E731
    return decide(
        effort,
        _some_k("ROUTE1", lambda w, r: range(1, r), lambda w, k: w.crowded(k, k)),
        toward=beyond("ROUTE1"),
        more=small_cubes.messages(effort, _optimal("route1"), "reachable", asked, _MET),
    )


@ledger.claim(
    "corollary-1-printed",
    where="section 3.1, Corollary 1",
    states=(
        "Where no nonfaulty node of Q_n has more than k faulty neighbours, k = 1 or 2, ROUTE1(k) takes a shortest feasible path "
        "for every message that has one."
    ),
    correction="As far as checked, it holds with at most k faulty nodes within distance k, as it is argued (corollary-1).",
    slip="In the transcription we have; Theorem 1, from which it follows, has the k-neighborhood, and so has Theorem 2.",
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
    states=(
        "Where no nonfaulty node of Q_n has more than k faulty nodes within distance [k], k = 1 or 2, ROUTE1(k) takes a shortest "
        "feasible path for every message that has one."
    ),
)
def corollary_1(effort: Effort) -> Verdict:
    """k = 1, 2."""
    asked = lambda n, f: [Asked(1, 1), Asked(2, 2)]  # noqa: E731
    return decide(
        effort,
        _some_k("ROUTE1", lambda w, r: range(1, min(2, w.cube.n) + 1), lambda w, k: w.crowded(k, k)),
        toward=beyond("ROUTE1", 2),
        more=small_cubes.messages(effort, _optimal("route1"), "reachable", asked, _MET),
    )


@ledger.claim(
    "theorem-2",
    where="section 3.1, Theorem 2",
    states=(
        "Where every nonfaulty node of Q_n has at most k faulty nodes within distance k, 1 <= k <= n - 1, ROUTE2(k) takes a "
        "shortest "
        "feasible path for every message that has one."
    ),
)
def theorem_2(effort: Effort) -> Verdict:
    """k = 1, ..., n - 1."""
    asked = lambda n, f: [Asked(k, k) for k in range(1, n)]  # noqa: E731
    return decide(
        effort,
        _some_k("ROUTE2", lambda w, r: range(1, w.cube.n), lambda w, k: w.crowded(k, k)),
        toward=beyond("ROUTE2"),
        more=small_cubes.messages(effort, _optimal("route2"), "reachable", asked, _MET),
    )


@ledger.claim(
    "route2-n",
    where="section 3.1",
    states="With fewer than n faulty nodes in Q_n, n >= 1, ROUTE2(n) takes a shortest feasible path for every message.",
)
def route2_n(effort: Effort) -> Verdict:
    """k = n."""
    few = lambda world: len(world.cube.faulty_nodes) < world.cube.n  # noqa: E731  (a condition in one line)

    def check(world: World, s: int, t: int) -> Judged:
        return len(world.cube.faulty_nodes) < world.cube.n and _not_optimal(world, "ROUTE2", s, t, world.cube.n)  # type: ignore[arg-type]

    below = lambda n, f: (Asked(n),) if f < n else ()  # noqa: E731
    more = small_cubes.messages(effort, _optimal("route2"), "reachable", below, ", fewer than n")
    return decide(effort, check, toward=beyond("ROUTE2", 62), within=few, more=more)


def _same(k: int, path: bool, crowded: bool = True) -> Check:
    """Whether both algorithms take the same path, or end alike over as many links; ``crowded`` worlds too, or only others."""

    def check(world: World, s: int, t: int) -> Judged:
        if k > world.cube.n or (not crowded and world.crowded(k, k)):
            return False
        one, two = (route(world.cube, s, t, name, k=k) for name in ("ROUTE1", "ROUTE2"))
        what = "path" if path else "length"
        if (one.path == two.path) if path else (one.outcome, one.length) == (two.outcome, two.length):
            return True
        return f"ROUTE1({k}) {one.outcome}, ROUTE2({k}) {two.outcome}, over different {what}s", *_both(k, what, s, t)

    return check


def _both(k: int, what: str, s: int, t: int) -> tuple[str, str]:
    calls = [_call(name, s, t, k) for name in ("ROUTE1", "ROUTE2")]
    kind = ":path" if what == "path" else ""
    form = f"ROUTE1({k}) {{0[0]}}, {what} {{0[1]{kind}}}; ROUTE2({k}) {{1[0]}}, {what} {{1[1]{kind}}}"
    return f"[[r.outcome, r.{what}] for r in ({calls[0]}, {calls[1]})]", form


@ledger.claim(
    "route2-1",
    where="section 3.1",
    states="ROUTE2(1) is ROUTE1(1): the same path for every message of Q_n, n >= 1.",
)
def route2_1(effort: Effort) -> Verdict:
    """Both algorithms on the same messages."""
    return decide(effort, _same(1, True), toward=beyond("ROUTE2", 1))


@ledger.claim(
    "route2-2",
    where="section 3.1",
    states="ROUTE2(2) is ROUTE1(2) in Q_n, n >= 2 [the same outcome over as many links].",
    correction=(
        "So where no nonfaulty node has more than 2 faulty nodes within distance 2, as the theorems around it assume; elsewhere "
        "ROUTE2(2) tries minimal paths that ROUTE1(2) does not, and delivers what that cannot."
    ),
)
def route2_2(effort: Effort) -> Verdict:
    """All messages, and those under the hypothesis of the theorems around it: the paths may differ even there."""
    anywhere = decide(effort, _same(2, False), toward=beyond("ROUTE2", 2))
    if anywhere.witness is None:
        return anywhere
    within = decide(effort, _same(2, False, crowded=False), toward=beyond("ROUTE2", 2))
    if within.witness is not None:
        return within
    world = World(Hypercube(3, [0b011]))
    words = "under the hypothesis of Theorem 2: the same outcome and length, over two paths or one"
    alike = witness(world, 0, 0b111, (words, *_both(2, "length", 0, 0b111)))
    return Verdict(
        "depends",
        f"{anywhere.checked}; under the hypothesis of Theorem 2 it holds: {within.checked}",
        anywhere.witness,
        (alike,),
    )


@ledger.claim(
    "cyclic-shifts",
    where="section 3.1",
    states=(
        "The r cyclic shifts of a minimal path between nodes of Q_n at distance r, 1 <= r <= n, have no node but their ends "
        "in common."
    ),
)
def cyclic_shifts(effort: Effort) -> Verdict:
    """All orders of up to seven dimensions, from node 0; the numbers of the dimensions do not matter."""
    most = effort.pick(full=7, quick=6)

    def wrong(order: tuple[int, ...]) -> Witness | None:
        between: list[int] = []
        for i in range(len(order)):
            shifted = order[i:] + order[:i]
            between += [sum(1 << d for d in shifted[:j]) for j in range(1, len(order))]
        if len(between) == len(set(between)):
            return None
        nodes = "[sum(1 << d for d in (a[i:] + a[:i])[:j]) for i in range(len(a)) for j in range(1, len(a))]"
        python = f"(lambda a: {nodes})({order})"
        return Witness.of("nodes between the ends, shift by shift", python, {"n": len(order), "order": list(order)})

    orders = (order for r in range(1, most + 1) for order in itertools.permutations(range(r)))
    found = effort.first(orders, wrong)
    return Verdict.unless(
        found, f"proved: a node between names the bits crossed, an arc of the circle; all orders, r <= {most}"
    )


@ledger.claim(
    "two-more-is-minimal",
    where="section 3.1, after Corollary 1",
    states=(
        "Where all paths of Q_n, n >= 1, over the Hamming distance are blocked, a feasible path with two links more is a "
        "shortest one."
    ),
    definition=True,
)
def two_more_is_minimal(effort: Effort) -> Verdict:
    """Lengths of paths between two nodes are all even or all odd."""

    def check(world: World, s: int, t: int) -> Judged:
        shortest = distance(world.cube, s, t)
        if shortest is None or shortest == world.cube.metric(s, t):
            return False
        return shortest >= world.cube.metric(s, t) + 2 or ("a shortest path", f"fc.distance(c, {s}, {t})")

    return decide(effort, check)


# ---------------------------------------------------------------- section 3.2


def _route3(world: World, s: int, t: int, beyond: int) -> Judged:
    found = world.route3(s, t)
    if not world.too_long(found, s, t, beyond):
        return True
    words = f"ROUTE3: {_ended(found)}, the shortest path has {distance(world.cube, s, t)}"
    call = _call("ROUTE3", s, t)
    return words, f"[{call}.outcome, {call}.path, fc.distance(c, {s}, {t})]", _ROUTED


def _safe(world: World) -> bool:
    return world.safe


def _by_active(world: World, s: int, t: int) -> Judged:
    """Whether a message of ROUTE3 passes through active nodes alone on its way."""
    between = [v for v in world.route3(s, t).path[1:-1] if world.part(v) is not None]
    return ("unsafe nodes between the ends", f"{_call('ROUTE3', s, t)}.path") if between else True


def _optimal_between(
    ident: str,
    states: str,
    between: Callable[[int | None, int | None], bool],
    by_active: bool = False,
    more: tuple[str, Callable[[], Iterable[World]]] = ("", tuple),
) -> None:
    @ledger.claim(ident, where="section 3.2", states=states)
    def optimal(effort: Effort) -> Verdict:
        """ROUTE3 between ends of these kinds, where Q_n is not unsafe."""

        def check(world: World, s: int, t: int) -> Judged:
            if not world.safe or not between(world.part(s), world.part(t)):
                return False
            judged = _route3(world, s, t, 0)
            return _by_active(world, s, t) if by_active and judged is True else judged

        return decide(effort, check, within=_safe, more=(more[0], more[1]()))


def _within_two(applies: Callable[[World], bool] = _safe) -> Check:
    """That ROUTE3 takes at most two links more than a shortest feasible path, in worlds that the claim applies to."""
    return lambda world, s, t: applies(world) and _route3(world, s, t, 2)


_optimal_between(
    "route3-active",
    "Where Q_n is not unsafe, n >= 1, ROUTE3(1) takes a shortest feasible path between any two active nodes.",
    lambda a, b: a is None and b is None,
)
_optimal_between(
    "route3-to-unsafe",
    "Where Q_n is not unsafe, n >= 1, ROUTE3(1) takes a shortest feasible path from any active node to any unsafe one, through "
    "active nodes alone.",
    lambda a, b: a is None and b is not None,
    by_active=True,
)
_optimal_between(
    "route3-from-unsafe",
    "Where Q_n is not unsafe, n >= 1, ROUTE3(1) takes a shortest feasible path from any unsafe node to any active one.",
    lambda a, b: a is not None and b is None,
)
_optimal_between(
    "route3-different-subcubes",
    "Where Q_n is not unsafe, n >= 1, ROUTE3(1) takes a shortest feasible path, through active nodes alone, between unsafe nodes "
    "of different maximal unsafe subcubes.",
    lambda a, b: a is not None and b is not None and a != b,
    by_active=True,
    more=(", and of Q_5 and Q_6 with two unsafe squares and no other unsafe node", two_squares),
)


@ledger.claim(
    "theorem-4",
    where="section 3.2, Theorem 4",
    states=(
        "Where Q_n is not unsafe, n >= 1, ROUTE3(1) delivers every message over at most two links more than a shortest feasible "
        "path has."
    ),
)
def theorem_4(effort: Effort) -> Verdict:
    """The excess over the shortest feasible path."""

    def sound(_: int, counts: Mapping[str, int], most: Mapping[str, int]) -> bool:
        return counts["route3_delivered"] == counts["not_unsafe"] and most["route3_excess"] <= 2

    return decide(effort, _within_two(), within=_safe, more=small_cubes.messages(effort, sound, "not_unsafe"))


@ledger.claim(
    "theorem-4-attained",
    where="section 3.2, Theorem 4",
    states="[Where Q_n is not unsafe some message of ROUTE3(1) takes two links more than a shortest feasible path.]",
    ours=True,
)
def theorem_4_attained(effort: Effort) -> Verdict:
    """The first route that is longer than the shortest feasible path."""
    for world in effort.each(worlds(effort)):
        if world.safe:
            for t in range(1, 2**world.cube.n):
                longer = _route3(world, 0, t, 0) if effort.applies(not world.cube.is_faulty(t)) else True
                if isinstance(longer, tuple):
                    return Verdict(
                        "holds", "the first in the order of n and of the number of faults", witness(world, 0, t, longer)
                    )
    return Verdict("undecided", f"none in {checked_range(effort)}")


@ledger.claim(
    "fifteen-percent-messages",
    where="section 3.2",
    states=(
        "Fewer than 15% of the messages between random nonfaulty nodes take two links more than they need by ROUTE3(1) [on "
        "average "
        "over the fault sets of f <= floor(n/2) nodes, n >= 5]."
    ),
)
def fifteen_percent_messages(effort: Effort) -> Verdict:
    """Exactly, or bounded by the mean number of close pairs, or by Monte Carlo at level 1e-6."""
    from .routing import ROUTING

    limit = inventory("lee_hayes").value("fifteen-percent-messages")
    exact, sampled, largest = [], [], 0.0
    for n in range(5, 63):
        for f in range(1, n // 2 + 1):
            effort.applies()
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
        "Where Q_n is not unsafe, n >= 1, an active node looks at two of its neighbours at most before ROUTE3(1) sends a "
        "message on."
    ),
)
def two_comparisons(effort: Effort) -> Verdict:
    """The neighbours that ROUTE3 looks at on each active node, the source of a message."""

    def check(world: World, s: int, t: int) -> Judged:
        if not world.safe or world.part(s) is not None:
            return False
        looked = 0
        for bit in bits_down(s ^ t):
            looked += 1
            if world.part(s ^ bit) is None:
                break
        return looked <= 2 or (f"ROUTE3 looks at {looked} neighbours", f"{_call('ROUTE3', s, t)}.path")

    return decide(effort, check, within=_safe)


@ledger.claim(
    "theorem-4-links",
    where="section 5",
    states=(
        "Theorem 4 holds with faulty links too, whose ends are unsafe, when ROUTE3(1) sends nothing over them; n >= 1."
    ),
)
def theorem_4_links(effort: Effort) -> Verdict:
    """The excess over the shortest feasible path."""
    return decide(effort, _within_two(), links=True, within=_safe)


def _sufficient(ident: str, where: str, states: str, most: Callable[[int], int]) -> None:
    @ledger.claim(ident, where=where, states=states)
    def sufficient(effort: Effort) -> Verdict:
        """All messages with so few faults, whether Q_n is unsafe or not."""
        few = lambda world: len(world.cube.faulty_nodes) <= most(world.cube.n)  # noqa: E731
        return decide(effort, _within_two(few), within=few)


_sufficient(
    "floor-half-faults-routing",
    "section 3.2",
    "At most floor(n/2) faulty nodes are enough for the bound of Theorem 4, n >= 1.",
    lambda n: n // 2,
)
_sufficient(
    "ceil-half-faults-routing",
    "section 5",
    "At most ceil(n/2) faulty nodes are enough for the bound of Theorem 4, n >= 1.",
    lambda n: -(-n // 2),
)
