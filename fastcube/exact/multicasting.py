"""Exact means of study ``multicast``, by enumeration of all fault sets, sources and destination sets of a small cube."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction

from ..algorithms.multicasting import Multicast, multicast
from ..algorithms.partition import two_partition
from ..errors import ParameterError, check_integer
from ..networks.hypercube import Hypercube

#: Most multicasts that are enumerated, a few seconds.
MOST = 100_000

_COUNTS = ("channels", "channels_hamilton", "free", "depth", "detours", "channels_separate")


@functools.cache
def totals(n: int, f: int, destinations: int) -> tuple[int, dict[str, int]]:
    """Number of multicasts with a fault-tolerant 2-partition (A13), and each count summed over them."""
    many, sums = 0, dict.fromkeys(_COUNTS, 0)
    for faults in itertools.combinations(range(2**n), f):
        cube = Hypercube(n, faults)
        pair = two_partition(cube, exhaustive=True)
        if pair is None:
            continue
        nonfaulty = [v for v in range(2**n) if v not in faults]
        for s in nonfaulty:
            others = [v for v in nonfaulty if v != s]
            alone = {d: multicast(cube, s, [d], pair).N for d in others}
            for wanted in itertools.combinations(others, destinations):
                m = multicast(cube, s, wanted, pair)
                many += 1
                sums["channels"] += m.N
                sums["channels_hamilton"] += multicast(cube, s, wanted, pair, "hamilton").N
                sums["free"] += _free(n, s, wanted).N
                sums["depth"] += m.depth
                sums["detours"] += m.detours
                sums["channels_separate"] += sum(alone[d] for d in wanted)
    return many, sums


@functools.lru_cache(2**16)
def _free(n: int, s: int, wanted: tuple[int, ...]) -> Multicast:
    return multicast(Hypercube(n), s, wanted)


def exact_multicast(n: int, f: int, destinations: int) -> dict[str, Fraction | None]:
    """The statistics of study ``multicast``, exactly; None for means over no multicast.

    Parameters
    ----------
    n, f, destinations : int
        A point of the study with at most 100,000 multicasts: C(2^n, f) (2^n - f) C(2^n - f - 1, destinations).
    """
    n = check_integer("n", n, 3, 20)
    f = check_integer("f", f, 0, 2 ** (n - 2), f"for n={n}")
    destinations = check_integer("destinations", destinations, 1, 2**n - f - 1, f"for n={n}, f={f}")
    every = math.comb(2**n, f) * (2**n - f) * math.comb(2**n - f - 1, destinations)
    if every > MOST:
        raise ParameterError(f"n, f and destinations must leave at most {MOST} multicasts to enumerate, got {every}")
    many, sums = totals(n, f, destinations)
    out: dict[str, Fraction | None] = {name: Fraction(sums[name], many) if many else None for name in _COUNTS}
    free = out.pop("free")
    out["fault_ratio"] = None if free is None else Fraction(sums["channels"], sums["free"])
    out["partitioned"] = Fraction(many, every)
    return out
