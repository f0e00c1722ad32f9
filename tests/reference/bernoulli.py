"""The fault set of a trial in which every node is faulty with probability p, in plain Python and NumPy.

Written from the law in ``docs/random.md`` and from nothing else; slow, and the judge of the compiled samplers.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np

LABELS, COUNTS, NODE_DIGITS, NODE_TAILS = 0, 7, 8, 9


def philox_word(key, block, j, purpose):
    """Word j of a block of Philox4x32-10; ``block`` and ``j`` may be arrays.  uint64."""
    low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
    block, j, key = np.asarray(block, np.uint64), np.asarray(j, np.uint64), int(key)
    a, b, c, d = block & low, block >> high, j >> np.uint64(1), np.uint64(purpose)
    x, y = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p, q = a * np.uint64(0xD2511F53), c * np.uint64(0xCD9E8D57)
        a, b, c, d = (q >> high) ^ b ^ np.uint64(x), q & low, (p >> high) ^ d ^ np.uint64(y), p & low
        x, y = (x + 0x9E3779B9) & 0xFFFFFFFF, (y + 0xBB67AE85) & 0xFFFFFFFF
    return np.where(j & np.uint64(1), c | (d << high), a | (b << high))


def number_of_faults(u, n, p):
    """Inversion of Binomial(2^n, p): how many k have u >= 2^64 P(at most k faults), to 60 decimal digits."""
    with localcontext() as context:
        context.prec = 60
        nodes, p = 2**n, Decimal(p)
        weight = total = (1 - p) ** nodes
        k = 0
        while u >= 2**64 * total and k < nodes:
            k += 1
            weight *= (nodes - k + 1) * p / (k * (1 - p))
            total += weight
        return k


def distinct_labels(key, t, n, count):
    """The first ``count`` distinct labels of trial t's sequence."""
    width = 8 if n <= 8 else 16 if n <= 16 else 32
    block, field = divmod(t, 64 // width)
    labels = philox_word(key, block, np.arange(3 * count + 64), LABELS) >> np.uint64(width * field)
    found = list(dict.fromkeys(int(x) & (2**n - 1) for x in labels))
    assert len(found) >= count
    return found[:count]


def faulty_nodes(key, t, n, p):
    """The faulty nodes of trial t, as a boolean array of 2^n."""
    nodes = 2**n
    v = np.arange(nodes, dtype=np.uint64)
    if p >= 1 / 64:
        head = np.zeros(nodes, np.uint64)
        blocks = np.uint64(t * max(nodes // 64, 1)) + (v >> np.uint64(6))
        for i in range(8):
            digit = philox_word(key, blocks, i, NODE_DIGITS) >> (v & np.uint64(63)) & np.uint64(1)
            head = 2 * head + digit
        tail = philox_word(key, t, v, NODE_TAILS)
        limit = int(Decimal(p) * 2**72)
        return np.array([(int(h) << 64) + int(w) < limit for h, w in zip(head, tail, strict=True)])
    k = number_of_faults(int(philox_word(key, t, 0, COUNTS)), n, p)
    faulty = np.zeros(nodes, bool)
    if k <= nodes // 2:
        faulty[distinct_labels(key, t, n, k)] = True
    else:
        faulty[:] = True
        faulty[distinct_labels(key, t, n, nodes - k)] = False
    return faulty


def close(faulty, n, forced=None):
    """FIND_UNSAFE on a boolean array of 2^n (R1), ``forced`` nodes being marked in step 1 (R2): (rounds, final state)."""
    state, rounds = faulty.copy(), 0
    v = np.arange(2**n)
    while True:
        new = state | (sum(state[v ^ (1 << i)].astype(int) for i in range(n)) >= 2)
        if rounds == 0 and forced is not None:
            new |= forced
        if (new == state).all():
            return rounds, state
        state, rounds = new, rounds + 1
