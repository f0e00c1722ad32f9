"""Exact values for routing: all fault sets and messages of small cubes, and closed forms under a failure rate."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..errors import ParameterError, check_integer, check_range

#: Messages that an enumeration may take, some ten seconds.
MOST_MESSAGES = 10**7

#: Statistics that are shares: the counter of their events, and that of what they are among (None: all messages).
_SHARES: dict[str, tuple[str, str | None]] = {
    "route3_detour": ("route3_detours", "route3_delivered"),
    "route3_delivered": ("route3_delivered", "not_unsafe"),
    "route_delivered": ("route_delivered", None),
    "route1_delivered": ("route1_delivered", None),
    "route2_delivered": ("route2_delivered", None),
    "not_unsafe": ("not_unsafe", None),
    "route1_livelock": ("route1_livelock", None),
    "route2_livelock": ("route2_livelock", None),
    "route1_stuck": ("route1_stuck", None),
    "route2_stuck": ("route2_stuck", None),
    "route3_livelock": ("route3_livelock", "not_unsafe"),
    "route3_stuck": ("route3_stuck", "not_unsafe"),
    "route1_detour": ("route1_detours", "route1_delivered"),
    "route2_detour": ("route2_detours", "route2_delivered"),
    "route1_length": ("route1_links", "route1_distance"),
    "route2_length": ("route2_links", "route2_distance"),
    "route3_length": ("route3_links", "route3_distance"),
    "same_subcube": ("same_subcube", "not_unsafe"),
    "route3_better": ("route3_better", "not_unsafe"),
    "route1_better": ("route1_better", "not_unsafe"),
    "route1_longer": ("route1_longer", "route1_delivered"),
    "route2_longer": ("route2_longer", "route2_delivered"),
    "route3_longer": ("route3_longer", "route3_delivered"),
    "reachable": ("reachable", None),
}


def share_of(events: int, among: int) -> Fraction | None:
    """Their quotient; None where there is nothing to be among."""
    return Fraction(events, among) if among else None


def exact_routing(n: int, f: int, k: int = 1) -> dict[str, Fraction | None]:
    """The statistics of the study ``routing`` over all sets of f faulty nodes and all messages of Q_n.

    Parameters
    ----------
    n, f : int
        So small that there are at most 10^7 messages from one node: all f for n <= 4, f <= 4 for n = 5.
    k : int
        As in ROUTE1(k) and ROUTE2(k), 1 <= k <= n.

    Returns
    -------
    dict
        Statistic to Fraction; None where nothing is conditioned on, such as ROUTE3's when every fault set leaves no
        active node.

    Notes
    -----
    By enumeration of the fault sets without node 0 and of all destinations: routing knows no translation from another,
    but it does know the order of the dimensions.
    """
    n = check_integer("n", n, 1, 62)
    f = check_integer("f", f, 0, 2**n - 2, f"for n={n}")
    k = check_integer("k", k, 1, n, f"for n={n}")
    messages = math.comb(2**n - 1, f) * (2**n - 1 - f)
    if messages > MOST_MESSAGES:
        raise ParameterError(
            f"n and f must have at most {MOST_MESSAGES} messages to enumerate, got {messages} at n={n}, f={f}"
        )
    from ..kernels.routing.enumeration import all_messages
    from ..kernels.routing.layout import TALLY

    slots = TALLY.fresh()
    trials = int(all_messages(np.array([n, f, 0, k], np.float64), slots))
    counts, _ = TALLY.read(slots)
    return {
        name: share_of(int(counts[events]), trials if among is None else int(counts[among]))  # type: ignore[arg-type]
        for name, (events, among) in _SHARES.items()
    }


def _over_distances(n: int, share: list[Fraction]) -> Fraction:
    """Mean of ``share[h]`` over the Hamming distance h of two different random nodes."""
    total = sum((math.comb(n, h) * share[h] for h in range(1, n + 1)), Fraction(0))
    return total / Fraction(2**n - 1)


def minimal_share(n: int, rate: float) -> Fraction:
    """Share of messages that ROUTE1(1) delivers over the Hamming distance, every other node faulty with a rate.

    At distance m the message goes on over a nearer neighbour unless all m are faulty, and from m = 1 in any case:
    sum_h C(n, h)/(2^n - 1) prod_{m=2}^{h} (1 - p^m), exact for the float ``rate``.
    """
    check_range("rate", rate, 0, 1, open_above=True)
    p = Fraction(rate)
    share = [Fraction(1), Fraction(1)]
    for m in range(2, n + 1):
        share.append(share[-1] * (1 - p**m))
    return _over_distances(n, share)


def plain_share(n: int, rate: float) -> Fraction:
    """Share of messages that ROUTE delivers, every other node faulty with a rate: sum_h C(n, h)/(2^n - 1) (1 - p)^(h - 1)."""
    check_range("rate", rate, 0, 1, open_above=True)
    p = Fraction(rate)
    return _over_distances(n, [(1 - p) ** max(h - 1, 0) for h in range(n + 1)])
