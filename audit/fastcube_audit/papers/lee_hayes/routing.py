"""Claims of Lee & Hayes (1988), section 3.1, about ROUTE1(k) and ROUTE2(k), and how claims about messages are decided.

Each claim is checked on all small cases in the order of n and then of the number of faults, so a counterexample is the smallest
in that order.  If the claim holds there, larger cases are searched (``small_cubes.py``).
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from fastcube.algorithms.paths import Route, route
from fastcube.networks.hypercube import Hypercube

from ... import cubes
from ...claims import Cases, Counterexample, Effort, Verdict
from . import small_cubes
from .registry import registry
from .searches import Check, Search
from .small_cubes import MessageClass
from .worlds import Objective, World


def message_counterexample(
    world: World, s: int, t: int, description: str, python: str, form: str = ""
) -> Counterexample:
    """Return a counterexample on one message, with an expression in which ``c`` is the cube."""
    return cubes.cube_counterexample(description, world.cube, python, form=form, s=s, t=t)


def excess_links(algorithm: str, k: int = 1) -> Objective:
    """Return the objective of a search: links of a message beyond its Hamming distance, delivered or not."""

    def count_excess(world: World, s: int, t: int) -> int:
        is_route3 = algorithm == "ROUTE3"
        found = world.route3(s, t) if is_route3 else route(world.cube, s, t, algorithm, k=min(k, world.cube.n))
        return len(found.path) - 1 - world.cube.intact_distance(s, t)

    return count_excess


def _messages_to_nonfaulty(world: World) -> Iterator[tuple[int, int]]:
    return ((0, t) for t in range(1, 2**world.cube.n) if not world.cube.is_faulty(t))


#: Messages from node 0; the search goes toward messages of ROUTE3 far beyond the Hamming distance.
MESSAGES = Search(
    "messages",
    "in the order of n and then of the number of faults",
    _messages_to_nonfaulty,
    excess_links("ROUTE3"),
)


def route_expression(algorithm: str, s: int, t: int, k: int = 0) -> str:
    """Return the Python expression of a message's route under the faults of ``c``."""
    return f"fc.route(c, {s}, {t}, algorithm='{algorithm}'{f', k={k}' if k else ''})"


#: Format of the outcome and the path, or the length of a shortest path.
ROUTE_FORM = "{0}, {1:path}"


def outcome_text(found: Route) -> str:
    """Return the outcome of a message as text."""
    return found.outcome if found.length is None else f"{found.length} links"


def _check_optimal(world: World, algorithm: str, s: int, t: int, k: int) -> Counterexample | None:
    found = route(world.cube, s, t, algorithm, k=k)
    if not world.is_too_long(found, s, t):
        return None
    description = f"{algorithm}({k}): {outcome_text(found)}, the shortest path has {world.distance(s, t)}"
    call = route_expression(algorithm, s, t, k)
    python = f"[{call}.outcome, {call}.path, fc.distance(c, {s}, {t})]"
    return message_counterexample(world, s, t, description, python, ROUTE_FORM)


# ---------------------------------------------------------------- section 3.1


#: The values of k for which a theorem promises optimal routes between two nodes of a world.
PromisedValues = Callable[[World, int, int], Iterable[int]]


def _search_promised(search: Search, promised: PromisedValues) -> Search:
    """Return the search of messages for which a theorem promises optimal routes by some k."""
    return replace(search, applies=lambda world, s, t: any(True for _ in promised(world, s, t)))


def _check_promised(algorithm: str, promised: PromisedValues, world: World, s: int, t: int) -> Counterexample | None:
    """Check that an algorithm is optimal for all promised k."""
    found = (_check_optimal(world, algorithm, s, t, k) for k in promised(world, s, t))
    return next((counterexample for counterexample in found if counterexample is not None), None)


#: Description of the counted messages of Q_5 and Q_6 for a claim that bounds the faults around each node.
_HYPOTHESIS_MET = " where its hypothesis is met"


def _search_rule(
    name: str, k: int, classes: Callable[[int, int], Iterable[MessageClass]], condition: str = _HYPOTHESIS_MET
) -> Search:
    """Return a search toward messages that a rule sends far beyond the Hamming distance, with counted messages of Q_5 and Q_6.

    Each message must be delivered over a shortest path if there is one.
    """
    rule = name.lower()

    def is_sound(_: int, counts: Mapping[str, int], __: Mapping[str, int]) -> bool:
        return counts[f"{rule}_delivered"] == counts["reachable"] and counts[f"{rule}_above_shortest"] == 0

    return replace(
        MESSAGES,
        objective=excess_links(name, k),
        more=lambda effort: small_cubes.count_messages(effort, is_sound, "reachable", classes, condition),
    )


def _promised_1(world: World, s: int, t: int) -> Iterator[int]:
    return (k for k in range(1, (s ^ t).bit_count()) if not world.is_crowded(k, k))


@registry.forall(
    "theorem-1",
    _search_promised(
        _search_rule("ROUTE1", 1, lambda n, f: [MessageClass(k, k, k + 1) for k in range(1, n)]), _promised_1
    ),
    where="section 3.1, Theorem 1",
    states=(
        "Where every nonfaulty node of Q_n has at most k faulty nodes within distance k, ROUTE1(k) takes a shortest feasible "
        "path between any two nonfaulty nodes at Hamming distance r > k, k >= 1."
    ),
)
def theorem_1(world: World, s: int, t: int) -> Counterexample | None:
    """Check that ROUTE1(k) takes a shortest feasible path, for all k < r."""
    return _check_promised("ROUTE1", _promised_1, world, s, t)


def _promised_corollary_1_printed(world: World, s: int, t: int) -> Iterator[int]:
    return (k for k in (1, 2) if k <= world.cube.n and not world.is_crowded(k, 1))


@registry.forall(
    "corollary-1-printed",
    _search_promised(replace(MESSAGES, objective=excess_links("ROUTE1", 2)), _promised_corollary_1_printed),
    where="section 3.1, Corollary 1",
    states=(
        "Where no nonfaulty node of Q_n has more than k faulty neighbours, k = 1 or 2, ROUTE1(k) takes a shortest feasible path "
        "for every message that has one."
    ),
    correction="As far as checked, it holds with at most k faulty nodes within distance k, as it is argued (corollary-1).",
    misprint_reason=("Theorem 1, from which it follows, has the k-neighborhood, and so has Theorem 2."),
)
def corollary_1_printed(world: World, s: int, t: int) -> Counterexample | None:
    """Check that ROUTE1(k) takes a shortest feasible path, k = 1, 2."""
    return _check_promised("ROUTE1", _promised_corollary_1_printed, world, s, t)


def _promised_corollary_1(world: World, s: int, t: int) -> Iterator[int]:
    return (k for k in (1, 2) if k <= world.cube.n and not world.is_crowded(k, k))


@registry.forall(
    "corollary-1",
    _search_promised(
        _search_rule("ROUTE1", 2, lambda n, f: [MessageClass(1, 1), MessageClass(2, 2)]), _promised_corollary_1
    ),
    where="section 3.1, Corollary 1",
    states=(
        "Where no nonfaulty node of Q_n has more than k faulty nodes within distance [k], k = 1 or 2, ROUTE1(k) takes a shortest "
        "feasible path for every message that has one."
    ),
)
def corollary_1(world: World, s: int, t: int) -> Counterexample | None:
    """Check that ROUTE1(k) takes a shortest feasible path, k = 1, 2."""
    return _check_promised("ROUTE1", _promised_corollary_1, world, s, t)


def _promised_2(world: World, s: int, t: int) -> Iterator[int]:
    return (k for k in range(1, world.cube.n) if not world.is_crowded(k, k))


@registry.forall(
    "theorem-2",
    _search_promised(_search_rule("ROUTE2", 1, lambda n, f: [MessageClass(k, k) for k in range(1, n)]), _promised_2),
    where="section 3.1, Theorem 2",
    states=(
        "Where every nonfaulty node of Q_n has at most k faulty nodes within distance k, 1 <= k <= n - 1, ROUTE2(k) takes a "
        "shortest feasible path for every message that has one."
    ),
)
def theorem_2(world: World, s: int, t: int) -> Counterexample | None:
    """Check that ROUTE2(k) takes a shortest feasible path, k = 1, ..., n - 1."""
    return _check_promised("ROUTE2", _promised_2, world, s, t)


@registry.forall(
    "route2-n",
    replace(
        _search_rule("ROUTE2", 62, lambda n, f: [MessageClass(n)] if f < n else [], ", fewer than n"),
        within=lambda world: world.f < world.cube.n,
    ),
    where="section 3.1",
    states="With fewer than n faulty nodes in Q_n, n >= 1, ROUTE2(n) takes a shortest feasible path for every message.",
)
def route2_n(world: World, s: int, t: int) -> Counterexample | None:
    """Check that ROUTE2(n) takes a shortest feasible path."""
    return _check_optimal(world, "ROUTE2", s, t, world.cube.n)


def _check_same_route(k: int, what: str) -> Check:
    """Return the check that ROUTE1(k) and ROUTE2(k) take the same path, or have equal outcomes and lengths (``what``)."""

    def check(world: World, s: int, t: int) -> Counterexample | None:
        one, two = (route(world.cube, s, t, name, k=k) for name in ("ROUTE1", "ROUTE2"))
        if (one.path == two.path) if what == "path" else (one.outcome, one.length) == (two.outcome, two.length):
            return None
        description = f"ROUTE1({k}) {one.outcome}, ROUTE2({k}) {two.outcome}, over different {what}s"
        return message_counterexample(world, s, t, description, *_two_routes_expression(k, what, s, t))

    return check


def _two_routes_expression(k: int, what: str, s: int, t: int) -> tuple[str, str]:
    calls = [route_expression(name, s, t, k) for name in ("ROUTE1", "ROUTE2")]
    kind = ":path" if what == "path" else ""
    form = f"ROUTE1({k}) {{0[0]}}, {what} {{0[1]{kind}}}; ROUTE2({k}) {{1[0]}}, {what} {{1[1]{kind}}}"
    return f"[[r.outcome, r.{what}] for r in ({calls[0]}, {calls[1]})]", form


@registry.forall(
    "route2-1",
    replace(MESSAGES, objective=excess_links("ROUTE2", 1)),
    where="section 3.1",
    states="ROUTE2(1) is ROUTE1(1): the same path for every message of Q_n, n >= 1.",
)
def route2_1(world: World, s: int, t: int) -> Counterexample | None:
    """Compare the paths of ROUTE1(1) and ROUTE2(1) for the same messages."""
    return _check_same_route(1, "path")(world, s, t)


@registry.claim(
    "route2-2",
    where="section 3.1",
    states="ROUTE2(2) is ROUTE1(2) in Q_n, n >= 2 [the same outcome over as many links].",
    correction=(
        "It holds where no nonfaulty node has more than 2 faulty nodes within distance 2, as the theorems around it assume."
        " Elsewhere ROUTE2(2) tries minimal paths that ROUTE1(2) does not try, and delivers messages that ROUTE1(2) cannot."
    ),
)
def route2_2(effort: Effort) -> Verdict:
    """Compare all messages, and those that satisfy the hypothesis of the theorems; paths may differ even there."""
    messages = replace(MESSAGES, objective=excess_links("ROUTE2", 2), applies=lambda world, s, t: world.cube.n >= 2)
    uncrowded = replace(messages, applies=lambda world, s, t: world.cube.n >= 2 and not world.is_crowded(2, 2))
    check = _check_same_route(2, "length")
    anywhere = messages.decide(effort, check)
    if anywhere.counterexample is None:
        return anywhere
    within = uncrowded.decide(effort, check)
    if within.counterexample is not None:
        return within
    world = World(Hypercube(3, [0b011]))
    description = "under the hypothesis of Theorem 2: the same outcome and length, over two paths or one"
    alike = message_counterexample(world, 0, 0b111, description, *_two_routes_expression(2, "length", 0, 0b111))
    return Verdict(
        "depends",
        f"{anywhere.checked}; under the hypothesis of Theorem 2 it holds: {within.checked}",
        anywhere.counterexample,
        (alike,),
    )


@registry.forall(
    "cyclic-shifts",
    Cases(
        "proved: the bits crossed before an inner node are an arc of the cyclic order that begins where the shift does; "
        "all orders, r <= {}",
        lambda most: ((order,) for r in range(1, most + 1) for order in itertools.permutations(range(r))),
        full=7,
        quick=6,
        method="proved",
    ),
    where="section 3.1",
    states=(
        "The r cyclic shifts of a minimal path between nodes of Q_n at distance r, 1 <= r <= n, have no node but their ends "
        "in common."
    ),
)
def cyclic_shifts(order: tuple[int, ...]) -> Counterexample | None:
    """Check that the cyclic shifts of an order of dimensions, as paths from node 0, have no common inner node."""
    between: list[int] = []
    for i in range(len(order)):
        shifted = order[i:] + order[:i]
        between += [sum(1 << d for d in shifted[:j]) for j in range(1, len(order))]
    if len(between) == len(set(between)):
        return None
    nodes = "[sum(1 << d for d in (a[i:] + a[:i])[:j]) for i in range(len(a)) for j in range(1, len(a))]"
    python = f"a = {order}\n{nodes}"
    return Counterexample.of("nodes between the ends, shift by shift", python, {"n": len(order), "order": list(order)})


def _is_hamming_distance_blocked(world: World, s: int, t: int) -> bool:
    return world.distance(s, t) not in (None, world.cube.intact_distance(s, t))


@registry.forall(
    "two-more-is-minimal",
    replace(MESSAGES, applies=_is_hamming_distance_blocked),
    where="section 3.1, after Corollary 1",
    states=(
        "Where all paths of Q_n, n >= 1, over the Hamming distance are blocked, a feasible path with two links more is a "
        "shortest one."
    ),
    definition=True,
)
def two_more_is_minimal(world: World, s: int, t: int) -> Counterexample | None:
    """Check that the lengths of all paths between two nodes have the same parity."""
    shortest = world.distance(s, t)
    if shortest is not None and shortest >= world.cube.intact_distance(s, t) + 2:
        return None
    return message_counterexample(world, s, t, "a shortest path", f"fc.distance(c, {s}, {t})")
