"""Claims of Lee & Hayes (1988), section 3.1, about the limits of optimality of ROUTE1(k) and ROUTE2(k).

The conventions are those of ``routing``.  An algorithm is optimal under a fault set if it delivers every message that has
a nonfaulty path, over a shortest one.
"""

import itertools
from dataclasses import replace

from fastcube.algorithms.paths import route
from fastcube.networks.hypercube import Hypercube

from ...claims import Counterexample, Effort, Verdict
from .registry import registry
from .routing import MESSAGES, message_counterexample, route_expression
from .searches import Attained
from .worlds import World


def _is_hypothesis_met(world: World, s: int, t: int) -> bool:
    """Whether n >= 3, at most 3 faulty nodes are within distance 3 of each nonfaulty node, and a minimal path is free."""
    return world.cube.n >= 3 and not world.is_crowded(3, 3) and world.distance(s, t) == (s ^ t).bit_count()


@registry.forall(
    "route1-3",
    Attained(replace(MESSAGES, applies=_is_hypothesis_met), MESSAGES.order),
    where="section 3.1",
    states=(
        "From k = 3 on ROUTE1(k) can miss a shortest feasible path [k = 3, n >= 3, at most 3 faulty nodes within distance 3 of "
        "every nonfaulty node, a path over the Hamming distance being free]."
    ),
)
def route1_3(world: World, s: int, t: int) -> Counterexample | None:
    """Find the first message with a minimal path that ROUTE1(3) does not deliver over a minimal path."""
    if not world.is_too_long(route(world.cube, s, t, "ROUTE1", k=3), s, t):
        return None
    description = "the outcome of ROUTE1(3), and the length of a shortest path"
    python = f"[{route_expression('ROUTE1', s, t, 3)}.outcome, fc.distance(c, {s}, {t})]"
    return message_counterexample(world, s, t, description, python)


@registry.claim(
    "conditions-needed",
    where="section 3.1, before section 3.2",
    states=(
        "ROUTE2(1) is no longer optimal in Q_n, n >= 2, once a nonfaulty node has two faulty neighbours [for some such fault "
        "sets, or for each one; fault sets that leave the nonfaulty nodes joined]."
    ),
    correction="Optimality is lost for some such fault sets and not for others.",
)
def conditions_needed(effort: Effort) -> Verdict:
    """Find a fault set of each kind, in order of n and size, in which some nonfaulty node has two faulty neighbours."""
    checked = "fault sets of Q_2, Q_3 in the order of n and then of their size, until there is one of each kind"
    by_loss: dict[bool, Counterexample] = {}  # whether some message is not routed over a shortest path
    for n in (2, 3):
        for faults in effort.each(itertools.chain(*(itertools.combinations(range(2**n), f) for f in range(2**n - 1)))):
            world = World(Hypercube(n, faults))
            nodes = [v for v in range(2**n) if not world.cube.is_faulty(v)]
            pairs = list(itertools.permutations(nodes, 2))
            joined = all(world.distance(s, t) is not None for s, t in pairs)
            if not effort.count_if_applicable(joined and world.is_crowded(1, 1)):
                continue
            lost = [(s, t) for s, t in pairs if world.is_too_long(route(world.cube, s, t, "ROUTE2", k=1), s, t)]
            is_optimal = "fc.route(c, s, t, algorithm='ROUTE2', k=1).length == fc.distance(c, s, t)"
            python = f"all({is_optimal} for s in {nodes} for t in {nodes})"
            description = (
                "whether ROUTE2(1) takes a shortest path for every message, though a nonfaulty node has "
                "two faulty neighbours"
            )
            s, t = (lost or pairs)[0]
            by_loss.setdefault(bool(lost), message_counterexample(world, s, t, description, python))
            if len(by_loss) == 2:
                return Verdict("depends", checked, by_loss[False], (by_loss[True],))
    return Verdict("refuted" if False in by_loss else "holds", checked, by_loss.get(False))
