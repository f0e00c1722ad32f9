"""Upper bounds on large subcubes among f random faults: what intervals allow for that no trial met.

The statements, with their proofs, are in ``docs/proofs.md`` (rare unsafe nodes).  Numbers are float64 sums of positive terms,
rounded up by a part in 10^9.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

#: Faults of a spanning set that are followed one by one; sets of more are bounded together.
_MAX_FOLLOWED = 48

#: Covers the rounding of sums of fewer than 10^5 positive terms.
_ROUNDING_FACTOR = 1 + 1e-9

#: Covers terms that float64 rounds to zero: fewer than 10^9 below 10^-320, times at most 2^120.
_UNDERFLOW = 1e-270


def max_unsafe(n: int, f: int, d: int) -> int:
    """No f faults of Q_n without a subcube of more than d dimensions have more unsafe nodes than this.

    The faults of m = floor(f / h) subcubes of d dimensions, h = ceil(d/2) + 1 in each, and the other r = f - m h in one of
    2(r - 1); at most 2^n - f.  1 <= d <= n.
    """
    h = (d + 1) // 2 + 1
    m, r = divmod(f, h)
    return min(m * ((1 << d) - h) + (4 ** (r - 1) - r if r else 0), (1 << n) - f)


def min_unsafe(f: int, d: int) -> int:
    """f faults with a subcube of d dimensions or more have at least so many unsafe nodes: 2^d - f, or none."""
    return max(0, (1 << d) - f)


def ways_to_merge(j: int, a: int, b: int) -> int:
    """Ordered pairs of subcubes of a and b dimensions within distance 2 whose enclosing subcube is Q_j."""
    total = 0
    for apart in range(3):
        shared = a + b + apart - j
        if 0 <= shared <= min(a, b):
            ways = math.factorial(j) // math.factorial(shared) // math.factorial(a - shared)
            total += ways // math.factorial(b - shared) // math.factorial(apart) << (j - shared)
    return total


@functools.cache
def _halved_ways(j: int, size: int) -> NDArray[np.float64]:
    """Half of :func:`ways_to_merge` for all a, b < size <= j; a row for each a."""
    return np.array([[ways_to_merge(j, a, b) / 2 for b in range(size)] for a in range(size)], np.float64)


def _set_weights(j: int, p: float, most: int) -> NDArray[np.float64]:
    """C(2^j, k) p^k for k = 0, ..., most."""
    terms = [1.0]
    for k in range(most):
        terms.append(terms[-1] * max(0.0, 2.0**j - k) * p / (k + 1))
    return np.array(terms)


def _spanning_bound(j: int, size: int, products: NDArray[np.float64], p: float, most: int) -> NDArray[np.float64]:
    """Bound on the sets of k = 0, ..., most nodes that make Q_j of subcubes of less than ``size`` dimensions, times p^k."""
    made = np.tensordot(_halved_ways(j, size), products[:size, :size], 2)
    made = np.minimum(made * _ROUNDING_FACTOR, _set_weights(j, p, most) * _ROUNDING_FACTOR)
    made[: (j + 1) // 2 + 1] = 0.0
    return made


@functools.cache
def large_subcube_bounds(n: int, f: int, classes: tuple[int, ...]) -> tuple[float, ...]:
    """For each D of ``classes`` a bound on the probability of a subcube of D dimensions or more, f faults in Q_n.

    ``classes`` ascending, each at least 1; 0.0 for those above n.
    """
    p, most = f / 2.0**n, min(f, _MAX_FOLLOWED)
    highest = min(max(classes), n)
    exact = np.ones(most + 2)  # (probability that k given nodes are faulty) / p^k, at most 1
    for k in range(1, most + 2):
        exact[k] = exact[k - 1] * max(0.0, 1 - (k - 1) / f) / (1 - (k - 1) / 2.0**n) if k <= f else 0.0
    products = np.zeros((highest, highest, most + 1))
    sets: list[NDArray[np.float64]] = []
    for j in range(highest):
        own = np.zeros(most + 1)
        own[1] = p * (j == 0)
        sets.append(own if j == 0 else _spanning_bound(j, j, products, p, most))
        for a in range(j + 1):
            products[a, j] = products[j, a] = np.convolve(sets[a], sets[j])[: most + 1]
    out: list[float] = []
    for low in classes:
        total = 0.0
        for j in range(low, min(2 * low, n) + 1):
            small = _spanning_bound(j, low, products, p, most)
            more = _set_weights(j, p, most + 1)[-1] * exact[most + 1]
            total += math.comb(n, j) * 2.0 ** (n - j) * (float(small @ exact[:-1]) + more)
        out.append(
            min([1.0, *out, total * _ROUNDING_FACTOR + _UNDERFLOW]) if n >= low else 0.0
        )  # what reaches it reached those below
    return tuple(out)
