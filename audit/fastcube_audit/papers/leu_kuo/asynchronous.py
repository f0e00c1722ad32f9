"""FTTC without a clock: nodes run their programs in random order, and a node waits when it has to receive."""

import random
from fractions import Fraction

from fastcube.algorithms.gathering_run import GatheringRun


def node_programs(run: GatheringRun) -> dict[int, list[tuple[str, int, tuple[int, ...]]]]:
    """Return each node's program (Figure 13): ``("receive", stage, (sender,))`` and ``("send", stage, receivers)`` in turn."""
    out: dict[int, list[tuple[str, int, tuple[int, ...]]]] = {v: [] for v in run.holders}
    for i, d in enumerate(run.tree.order):
        for v in run.active_nodes(i):
            passive = v ^ 1 << d
            if run.holds[v]:
                plan = run.plans.get((i, v))
                if plan is None:
                    out[v] += [("receive", i, (w,)) for w in run.awaited_neighbours(i, v)] + [("send", i, (passive,))]
                else:
                    out[v].append(("send", i, plan.partners or ((plan.target,) if plan.target >= 0 else ())))
            if run.holds[passive] and run.is_receiving(i, passive):
                out[passive].append(("receive", i, (v,)))
    return out


def simulate_run(run: GatheringRun, rng: random.Random) -> Fraction:
    """Return the units at the sink when no node can proceed; each step is taken by a random node of those that can."""
    left = node_programs(run)
    held = dict.fromkeys(left, Fraction(1))
    mail: dict[tuple[int, int, int], Fraction] = {}

    def can_proceed(v: int) -> bool:
        kind, stage, others = left[v][0]
        return kind == "send" or (stage, others[0], v) in mail

    while ready := [v for v in left if left[v] and can_proceed(v)]:
        v = rng.choice(ready)
        kind, stage, others = left[v].pop(0)
        if kind == "receive":
            held[v] += mail.pop((stage, others[0], v))
        else:
            mail.update({(stage, v, w): held[v] / len(others) for w in others})
            held[v] = Fraction(0)
    return held.get(run.tree.sink, Fraction(0))
