"""Closed forms, exact at every n: routing at a failure rate, BROADCAST's reach, a bound for 2-partitions, fault-free subcubes."""

from __future__ import annotations

import math
from fractions import Fraction

from ..errors import check_range


def _mean_over_distances(n: int, values: list[Fraction]) -> Fraction:
    """Return the mean of ``values[h]`` over the Hamming distance h of two different random nodes."""
    total = sum((math.comb(n, h) * values[h] for h in range(1, n + 1)), Fraction(0))
    return total / Fraction(2**n - 1)


def minimal_fraction(n: int, rate: float) -> Fraction:
    """Return the fraction of messages that ROUTE1(1) delivers over the Hamming distance, every other node faulty at a rate.

    At distance m the message goes to a nearer neighbour unless all m are faulty; at m = 1 it always arrives.  The fraction is
    sum_h C(n, h)/(2^n - 1) prod_{m=2}^{h} (1 - p^m), exact for the float ``rate``.
    """
    check_range("rate", rate, 0, 1, open_above=True)
    p = Fraction(rate)
    fraction = [Fraction(1), Fraction(1)]
    for m in range(2, n + 1):
        fraction.append(fraction[-1] * (1 - p**m))
    return _mean_over_distances(n, fraction)


def basic_fraction(n: int, rate: float) -> Fraction:
    """Return the fraction of messages that ROUTE delivers at a failure rate p: sum_h C(n, h)/(2^n - 1) (1 - p)^(h - 1)."""
    check_range("rate", rate, 0, 1, open_above=True)
    p = Fraction(rate)
    return _mean_over_distances(n, [(1 - p) ** max(h - 1, 0) for h in range(n + 1)])


def mean_reached(n: int, f: int, links: int = 0) -> Fraction:
    """Return the mean number of nodes that BROADCAST reaches from a nonfaulty source, including the source.

    The copy for a node at distance h passes h - 1 nodes over h links of its own tree.  All these nodes and links, and the node
    itself, must be nonfaulty.  f faulty nodes are sampled from the 2^n - 1 others, and faulty links from all n 2^(n-1).  So the
    mean is the sum over h = 0 .. n of
    C(n, h) C(2^n - 1 - h, f) / C(2^n - 1, f) C(n 2^(n-1) - h, links) / C(n 2^(n-1), links).
    """
    other_nodes, all_links = 2**n - 1, n * 2 ** (n - 1)
    total, fraction = Fraction(1), Fraction(1)
    for h in range(1, n + 1):
        if f + h > other_nodes or links + h > all_links:
            break
        fraction *= Fraction(other_nodes - f - h + 1, other_nodes - h + 1)
        fraction *= Fraction(all_links - links - h + 1, all_links - h + 1)
        total += math.comb(n, h) * fraction
    return total


def mean_tolerant_pairs(n: int, f: int) -> Fraction:
    """Return the mean number of fault-tolerant pairs of dimensions: C(n, 2) C(2^(n-2), f) 4^f / C(2^n, f).

    A pair is fault-tolerant if the faults are in f different 2-cubes, at any of the four nodes in each.  The mean is an upper
    bound on the probability that there is such a pair.
    """
    if n < 2:
        return Fraction(0)
    cubes, fraction = 2 ** (n - 2), Fraction(math.comb(n, 2))
    for i in range(f):
        fraction *= Fraction(4 * (cubes - i), 4 * cubes - i)
    return fraction


def _empty_fraction(nodes: int, others: int, f: int) -> Fraction:
    """Return C(``others``, f) / C(``nodes``, f), the probability that f random faulty nodes are all among ``others``."""
    return Fraction(math.perm(others, f), math.perm(nodes, f)) if f <= others else Fraction(0)


def fault_free_half(n: int, f: int) -> Fraction:
    """Return the probability that some (n-1)-subcube of Q_n has none of f random faulty nodes, f >= 1 (N9).

    It is the sum over k = 1 .. n of (-1)^(k+1) C(n, k) 2^k C(2^(n-k), f) / C(2^n, f).
    """
    terms = ((-1) ** (k + 1) * math.comb(n, k) * 2**k * _empty_fraction(2**n, 2 ** (n - k), f) for k in range(1, n + 1))
    return sum(terms, Fraction(0)) if f else Fraction(1)


def fault_free_block(n: int, m: int, f: int) -> Fraction:
    """Return the probability that one of the 2^m blocks of 2^(n-m) consecutive labels has none of f random faulty nodes, m <= n.

    It is the sum over k = 1 .. 2^m of (-1)^(k+1) C(2^m, k) C(2^n - k 2^(n-m), f) / C(2^n, f).
    """
    blocks, size = 2**m, 2 ** (n - m)
    return sum(
        (
            (-1) ** (k + 1) * math.comb(blocks, k) * _empty_fraction(2**n, 2**n - k * size, f)
            for k in range(1, blocks + 1)
        ),
        Fraction(0),
    )
