"""Claims of Lee & Hayes (1988) about ROUTE3(1): section 3.2, and its extension to faulty links in section 5."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from fastcube.exact.enumeration import exact_routing
from fastcube.exact.unsafe import mean_close_pairs
from fastcube.measure.estimate import proportion
from fastcube.measure.inventory import inventory
from fastcube.networks.network import descending_bits

from ...claims import Counterexample, Effort, Verdict
from . import small_cubes
from .registry import registry
from .routing import MESSAGES, ROUTE_FORM, message_counterexample, outcome_text, route_expression
from .searches import Attained, Search
from .worlds import SAFE, World, worlds_of_two_squares

#: Messages in cubes with an active node.
IN_SAFE_CUBES = replace(MESSAGES, within=SAFE)

_TWO_SQUARES = ", and of Q_5 and Q_6 with two unsafe squares and no other unsafe node"


def _check_length(world: World, s: int, t: int, beyond: int) -> Counterexample | None:
    """Check that ROUTE3's path has at most ``beyond`` links more than a shortest feasible path."""
    found = world.route3(s, t)
    if not world.is_too_long(found, s, t, beyond):
        return None
    description = f"ROUTE3: {outcome_text(found)}, the shortest path has {world.distance(s, t)}"
    call = route_expression("ROUTE3", s, t)
    python = f"[{call}.outcome, {call}.path, fc.distance(c, {s}, {t})]"
    return message_counterexample(world, s, t, description, python, ROUTE_FORM)


def _check_active_between(world: World, s: int, t: int) -> Counterexample | None:
    """Check that all nodes of ROUTE3's path between its ends are active."""
    if all(map(world.is_active, world.route3(s, t).path[1:-1])):
        return None
    python = f"{route_expression('ROUTE3', s, t)}.path"
    return message_counterexample(world, s, t, "unsafe nodes between the ends", python)


def _claim_optimal_between(
    name: str,
    states: str,
    are_ends: Callable[[int | None, int | None], bool],
    by_active: bool = False,
    messages: Search = IN_SAFE_CUBES,
) -> None:
    """Register that ROUTE3 is optimal, ``by_active`` nodes, between ends with these subcubes of unsafe nodes (None: active)."""

    def applies(world: World, s: int, t: int) -> bool:
        return are_ends(world.subcube_of(s), world.subcube_of(t))

    @registry.forall(name, replace(messages, applies=applies), where="section 3.2", states=states)
    def check_optimal(world: World, s: int, t: int) -> Counterexample | None:
        """Check that ROUTE3 takes a shortest feasible path between ends of these kinds, if some node is active."""
        found = _check_length(world, s, t, 0)
        return _check_active_between(world, s, t) if by_active and found is None else found


_claim_optimal_between(
    "route3-active",
    "Where Q_n is not unsafe, n >= 1, ROUTE3(1) takes a shortest feasible path between any two active nodes.",
    lambda a, b: a is None and b is None,
)
_claim_optimal_between(
    "route3-to-unsafe",
    "Where Q_n is not unsafe, n >= 1, ROUTE3(1) takes a shortest feasible path from any active node to any unsafe one, through "
    "active nodes alone.",
    lambda a, b: a is None and b is not None,
    by_active=True,
)
_claim_optimal_between(
    "route3-from-unsafe",
    "Where Q_n is not unsafe, n >= 1, ROUTE3(1) takes a shortest feasible path from any unsafe node to any active one.",
    lambda a, b: a is not None and b is None,
)
_claim_optimal_between(
    "route3-different-subcubes",
    "Where Q_n is not unsafe, n >= 1, ROUTE3(1) takes a shortest feasible path, through active nodes alone, between unsafe nodes "
    "of different maximal unsafe subcubes.",
    lambda a, b: a is not None and b is not None and a != b,
    by_active=True,
    messages=replace(IN_SAFE_CUBES, more=lambda effort: (_TWO_SQUARES, worlds_of_two_squares())),
)


def _is_within_two(_: int, counts: Mapping[str, int], most: Mapping[str, int]) -> bool:
    return counts["route3_delivered"] == counts["some_active"] and most["route3_excess"] <= 2


@registry.forall(
    "theorem-4",
    replace(IN_SAFE_CUBES, more=lambda effort: small_cubes.messages(effort, _is_within_two, "some_active")),
    where="section 3.2, Theorem 4",
    states=(
        "Where Q_n is not unsafe, n >= 1, ROUTE3(1) delivers every message over at most two links more than a shortest feasible "
        "path has."
    ),
)
def theorem_4(world: World, s: int, t: int) -> Counterexample | None:
    """Check that ROUTE3 takes at most two links more than a shortest feasible path."""
    return _check_length(world, s, t, 2)


@registry.forall(
    "theorem-4-attained",
    Attained(IN_SAFE_CUBES, "in the order of n and of the number of faults"),
    where="section 3.2, Theorem 4",
    states="[Where Q_n is not unsafe some message of ROUTE3(1) takes two links more than a shortest feasible path.]",
    added=True,
)
def theorem_4_attained(world: World, s: int, t: int) -> Counterexample | None:
    """Find the first route that is longer than a shortest feasible path."""
    return _check_length(world, s, t, 0)


@registry.claim(
    "fifteen-percent-messages",
    where="section 3.2",
    states=(
        "Fewer than 15% of the messages between random nonfaulty nodes take two links more than they need by ROUTE3(1) [on "
        "average over the fault sets of f <= floor(n/2) nodes, n >= 5]."
    ),
    method="random",
)
def fifteen_percent_messages(effort: Effort) -> Verdict:
    """Find the fraction exactly, or bound it by the mean number of close pairs, or by Monte Carlo at level 1e-6."""
    from fastcube.studies.lee_hayes.routing import ROUTING

    limit = inventory("lee_hayes").value("fifteen-percent-messages")
    exact, sampled, largest = [], [], 0.0
    for n in range(5, 63):
        for f in range(1, n // 2 + 1):
            effort.count_if_applicable()
            if mean_close_pairs(n, f) < limit:  # without a close pair every message takes its Hamming distance
                continue
            effort.step(f"n={n}, f={f}")
            if n == 5 or (n == 6 and f == 3 and not effort.quick):
                fraction = exact_routing(n, f)["route3_above_hamming"]
                exact.append(f"({n}, {f})")
                value = high = float(fraction or 0)
            else:
                tally = ROUTING.count({"n": n, "f": f, "links": 0, "k": 1}, effort.by_effort(10**6, 10**5))
                e = proportion(tally.counts["route3_above_hamming"], tally.counts["route3_delivered"], 1e-6)
                sampled.append(f"({n}, {f})")
                value, high = e.value, e.high
            if high >= limit:
                python = f"float(fc.exact_routing({n}, {f})['route3_above_hamming'])"
                if value >= limit and exact and exact[-1] == f"({n}, {f})":
                    return Verdict(
                        "refuted", f"n={n}, f={f}", Counterexample.of("fraction of messages", python, {"n": n, "f": f})
                    )
                return Verdict("undecided", f"n={n}, f={f}: {value:.4f}, at most {high:.4f}")
            largest = max(largest, high)
    return Verdict(
        "holds",
        f"n = 5, ..., 62, f <= floor(n/2): exactly at (n, f) = {', '.join(exact)}; by Monte Carlo at level 1e-6 at "
        f"{', '.join(sampled)}; elsewhere the mean number of pairs of faults within distance 2 is below {limit:.0%}; "
        f"largest limit {largest:.5f}",
    )


@registry.forall(
    "two-comparisons",
    replace(IN_SAFE_CUBES, applies=lambda world, s, t: world.is_active(s)),
    where="section 3.2",
    states=(
        "Where Q_n is not unsafe, n >= 1, an active node looks at two of its neighbours at most before ROUTE3(1) sends a "
        "message on."
    ),
)
def two_comparisons(world: World, s: int, t: int) -> Counterexample | None:
    """Count the neighbours that ROUTE3 tests at an active node, the source of a message."""
    looked = 0
    for bit in descending_bits(s ^ t):
        looked += 1
        if world.is_active(s ^ bit):
            break
    if looked <= 2:
        return None
    python = f"{route_expression('ROUTE3', s, t)}.path"
    return message_counterexample(world, s, t, f"ROUTE3 looks at {looked} neighbours", python)


registry.forall(
    "theorem-4-links",
    replace(IN_SAFE_CUBES, links=True),
    where="section 5",
    states=(
        "Theorem 4 holds with faulty links too, whose ends are unsafe, when ROUTE3(1) sends nothing over them; n >= 1."
    ),
)(theorem_4)
registry.forall(
    "floor-half-faults-routing",
    replace(MESSAGES, within=lambda world: world.f <= world.cube.n // 2),
    where="section 3.2",
    states="At most floor(n/2) faulty nodes are enough for the bound of Theorem 4, n >= 1.",
)(theorem_4)
registry.forall(
    "ceil-half-faults-routing",
    replace(MESSAGES, within=lambda world: world.f <= -(-world.cube.n // 2)),
    where="section 5",
    states="At most ceil(n/2) faulty nodes are enough for the bound of Theorem 4, n >= 1.",
)(theorem_4)
