"""Upper bounds on the probability of large unsafe subcubes, by which intervals allow for events that no trial had.

``docs/proofs.md`` (rare unsafe nodes) has the statements and their proofs.  Numbers are float64 sums of positive terms,
rounded up by a relative 10^-9.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

#: Largest size of a spanning set of faults that is counted by its size; larger sets are bounded together.
_MAX_FOLLOWED = 48

#: At least the relative rounding error of sums of fewer than 10^5 positive terms.
_ROUNDING_FACTOR = 1 + 1e-9

#: At least the sum of the terms that float64 rounds to zero: fewer than 10^9 terms below 10^-320, times at most 2^120.
_UNDERFLOW = 1e-270


def max_unsafe(n: int, f: int, d: int) -> int:
    """Return an upper bound on the unsafe nodes of f faults in Q_n without a subcube of more than d dimensions, 1 <= d <= n.

    Put h = ceil(d/2) + 1 faults into each of m = floor(f / h) subcubes of d dimensions, and the other r = f - m h faults into a
    subcube of 2(r - 1) dimensions.  The bound is the number of their other nodes, at most 2^n - f.
    """
    h = (d + 1) // 2 + 1
    m, r = divmod(f, h)
    return min(m * ((1 << d) - h) + (4 ** (r - 1) - r if r else 0), (1 << n) - f)


def min_unsafe(f: int, d: int) -> int:
    """Return a lower bound on the unsafe nodes of f faults with a subcube of at least d dimensions: 2^d - f, at least 0."""
    return max(0, (1 << d) - f)


def count_merging_pairs(j: int, a: int, b: int) -> int:
    """Return the number of ordered pairs of subcubes of a and b dimensions at distance <= 2 whose enclosing subcube is Q_j."""
    total = 0
    for distance in range(3):
        shared = a + b + distance - j
        if 0 <= shared <= min(a, b):
            ways = math.factorial(j) // math.factorial(shared) // math.factorial(a - shared)
            total += ways // math.factorial(b - shared) // math.factorial(distance) << (j - shared)
    return total


@functools.cache
def _halve_merging_pairs(j: int, size: int) -> NDArray[np.float64]:
    """Return half of ``count_merging_pairs`` for all a, b < size <= j, with one row per a."""
    return np.array([[count_merging_pairs(j, a, b) / 2 for b in range(size)] for a in range(size)], np.float64)


def _set_weights(j: int, p: float, most: int) -> NDArray[np.float64]:
    """Return C(2^j, k) p^k for k = 0, ..., most: the number of sets of k nodes of Q_j, times p^k."""
    terms = [1.0]
    for k in range(most):
        terms.append(terms[-1] * max(0.0, 2.0**j - k) * p / (k + 1))
    return np.array(terms)


def _spanning_bound(j: int, size: int, products: NDArray[np.float64], p: float, most: int) -> NDArray[np.float64]:
    """Bound the number of sets of k = 0, ..., most nodes that merge smaller subcubes (below ``size``) into Q_j, times p^k."""
    bound = np.tensordot(_halve_merging_pairs(j, size), products[:size, :size], 2)
    bound = np.minimum(bound * _ROUNDING_FACTOR, _set_weights(j, p, most) * _ROUNDING_FACTOR)
    bound[: (j + 1) // 2 + 1] = 0.0
    return bound


@functools.cache
def large_subcube_bounds(n: int, f: int, classes: tuple[int, ...]) -> tuple[float, ...]:
    """Return for each D of ``classes`` a bound on the probability that f faults in Q_n make a subcube of at least D dimensions.

    ``classes`` are ascending, each at least 1.  The bound is 0.0 for D above n.
    """
    p, most = f / 2.0**n, min(f, _MAX_FOLLOWED)
    highest = min(max(classes), n)
    exact = np.ones(most + 2)  # (probability that k given nodes are faulty) / p^k, at most 1
    for k in range(1, most + 2):
        exact[k] = exact[k - 1] * max(0.0, 1 - (k - 1) / f) / (1 - (k - 1) / 2.0**n) if k <= f else 0.0
    products = np.zeros((highest, highest, most + 1))
    sets: list[NDArray[np.float64]] = []
    for j in range(highest):
        weights = np.zeros(most + 1)
        weights[1] = p * (j == 0)
        sets.append(weights if j == 0 else _spanning_bound(j, j, products, p, most))
        for a in range(j + 1):
            products[a, j] = products[j, a] = np.convolve(sets[a], sets[j])[: most + 1]
    out: list[float] = []
    for least in classes:
        total = 0.0
        for j in range(least, min(2 * least, n) + 1):
            followed = _spanning_bound(j, least, products, p, most)
            larger_sets = _set_weights(j, p, most + 1)[-1] * exact[most + 1]
            total += math.comb(n, j) * 2.0 ** (n - j) * (float(followed @ exact[:-1]) + larger_sets)
        out.append(
            min([1.0, *out, total * _ROUNDING_FACTOR + _UNDERFLOW]) if n >= least else 0.0
        )  # the probability decreases with D, so each bound is at most the bounds before it
    return tuple(out)
