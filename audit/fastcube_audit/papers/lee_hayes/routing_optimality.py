"""Claims of Lee & Hayes (1988), section 3.1, about the limits of optimality of ROUTE1(k) and ROUTE2(k).

The conventions are those of ``routing``.  An algorithm is optimal under a fault set if it delivers every message that has
a nonfaulty path, over a shortest one.
"""

import itertools

from fastcube.algorithms.paths import route
from fastcube.algorithms.shortest import distance
from fastcube.networks.hypercube import Hypercube

from ...claims import Effort, Verdict, Witness
from .cases import Attained, CheckResult, World
from .registry import registry
from .routing import MESSAGES, route_expression, witness


@registry.forall(
    "route1-3",
    Attained(MESSAGES, MESSAGES.order),
    where="section 3.1",
    states=(
        "From k = 3 on ROUTE1(k) can miss a shortest feasible path [k = 3, n >= 3, at most 3 faulty nodes within distance 3 of "
        "every nonfaulty node, a path over the Hamming distance being free]."
    ),
)
def route1_3(world: World, s: int, t: int) -> CheckResult:
    """Find the first message with a minimal path that ROUTE1(3) does not deliver over a minimal path."""
    if world.cube.n < 3 or world.is_crowded(3, 3) or distance(world.cube, s, t) != (s ^ t).bit_count():
        return False
    if not world.is_too_long(route(world.cube, s, t, "ROUTE1", k=3), s, t):
        return True
    words = "the outcome of ROUTE1(3), and the length of a shortest path"
    return words, f"[{route_expression('ROUTE1', s, t, 3)}.outcome, fc.distance(c, {s}, {t})]"


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
    shown: dict[bool, Witness] = {}
    for n in (2, 3):
        for faults in effort.each(itertools.chain(*(itertools.combinations(range(2**n), f) for f in range(2**n - 1)))):
            world = World(Hypercube(n, faults))
            nodes = [v for v in range(2**n) if not world.cube.is_faulty(v)]
            pairs = list(itertools.permutations(nodes, 2))
            joined = all(distance(world.cube, s, t) is not None for s, t in pairs)
            if not effort.count_if_applicable(joined and world.is_crowded(1, 1)):
                continue
            lost = [(s, t) for s, t in pairs if world.is_too_long(route(world.cube, s, t, "ROUTE2", k=1), s, t)]
            same = "fc.route(c, s, t, algorithm='ROUTE2', k=1).length == fc.distance(c, s, t)"
            python = f"all({same} for s in {nodes} for t in {nodes})"
            words = "whether ROUTE2(1) takes a shortest path for every message, though a nonfaulty node has two faulty neighbours"
            shown.setdefault(bool(lost), witness(world, *(lost or pairs)[0], (words, python)))
            if len(shown) == 2:
                return Verdict("depends", checked, shown[False], (shown[True],))
    return Verdict("refuted" if False in shown else "holds", checked, shown.get(False))
