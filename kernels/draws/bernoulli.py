"""Fault sets in which every node is faulty with probability p, independently, as a pure function of (key, trial).

There are two sampling schemes, depending on p; ``docs/random.md`` describes them and repeats them in plain NumPy.

*Few faults*, p < 1/64.  The number of faults K ~ Binomial(2^n, p) is found by inversion of ``u``, word 0 of block t for COUNTS: K
is the number of k with ``u >= 2^64 P(Binomial <= k)``.  The fault set is then that of ``nodes`` for f = K: the first K distinct
labels of the trial's sequence (or all but the first 2^n - K).

*Many faults*, p >= 1/64.  Node v has the 72-bit number ``head * 2^64 + tail`` and is faulty if it is below ``p * 2^72``.  This is
an integer for every float64 p >= 1/64, so the probability is exactly p.  Digit i of ``head``, most significant first, is bit
``v & 63`` of word i of block ``t * 2^max(n-6, 0) + (v >> 6)`` for NODE_DIGITS.  ``tail`` is word v of block t for NODE_TAILS, and
is needed by one node in 256.
"""

from __future__ import annotations

import numpy as np

from ..cube.bitmask import set_node, word_mask
from ..machine import bits, simd
from ..machine.jit import block, scratch
from . import philox

#: From this probability on every node is sampled by itself; below it K distinct labels are sampled.
MIN_DIGIT_RATE = 1.0 / 64.0

_TWO64 = 18446744073709551616.0  # 2^64

#: 2^27 + 1: its product with a float64 splits the 53 bits of that number into two halves (Dekker 1971).
_SPLITTER = 134217729.0


# ---------------------------------------------------------------- the number of faults
# Double-double arithmetic (Dekker 1971; Knuth): a number is an unevaluated sum of two float64, high and low.  It uses only IEEE
# additions, multiplications and divisions, which every machine rounds alike, and no logarithm or gamma function.


@block
def _multiply_exact(a, b):
    """Return the exact product of two float64 as a high and a low part."""
    p = a * b
    t = _SPLITTER * a
    ah = t - (t - a)
    al = a - ah
    t = _SPLITTER * b
    bh = t - (t - b)
    bl = b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


@block
def _normalize_double(high, low):
    """Return an equal double-double with the low part below half a unit of the high part, for ``abs(high) >= abs(low)``."""
    s = high + low
    return s, low - (s - high)


@block
def _add_doubles(ah, al, bh, bl):
    """Return the sum of two double-doubles, each given as its high and low part."""
    s = ah + bh
    t = s - ah
    e = (ah - (s - t)) + (bh - t)
    return _normalize_double(s, e + (al + bl))


@block
def _multiply_doubles(ah, al, bh, bl):
    """Return the product of two double-doubles."""
    p, e = _multiply_exact(ah, bh)
    return _normalize_double(p, e + (ah * bl + al * bh))


@block
def _divide_doubles(ah, al, bh, bl):
    """Return the quotient of two double-doubles."""
    q = ah / bh
    p, e = _multiply_exact(q, bh)
    return _normalize_double(q, ((ah - p) - e + al - q * bl) / bh)


@block
def _weight_ratio(k, nodes, p, qh, ql):
    """Return P(K = k) / P(K = k - 1) as a double-double; (qh, ql) is 1 - p."""
    ah, al = _multiply_exact(np.float64(nodes - k + 1), p)
    bh, bl = _multiply_doubles(qh, ql, np.float64(k), 0.0)
    return _divide_doubles(ah, al, bh, bl)


@block
def _find_support(nodes, p, qh, ql):
    """Return the mode of Binomial(nodes, p), and the smallest and largest k whose weights are summed.

    These are on either side the first k with a weight of at most 2^-110 times the mode's; 0 and ``nodes`` if there is none.
    """
    tiny = 2.0**-110
    mode = min(np.int64((nodes + 1) * p), nodes)
    first = mode
    weight = 1.0
    while first > 0 and weight > tiny:
        weight /= _weight_ratio(first, nodes, p, qh, ql)[0]
        first -= 1
    last = mode
    weight = 1.0
    while last < nodes and weight > tiny:
        last += 1
        weight *= _weight_ratio(last, nodes, p, qh, ql)[0]
    return mode, first, last


@scratch
def _summed_weights(nodes, p):
    """Return the smallest k, and the cumulative weights from it on as double-doubles; the mode has weight 1."""
    qh = 1.0 - p
    ql = (1.0 - qh) - p
    mode, first, last = _find_support(nodes, p, qh, ql)
    high = np.zeros(last - first + 1, np.float64)
    low = np.zeros(last - first + 1, np.float64)
    high[mode - first] = 1.0
    for k in range(mode, first, -1):
        rh, rl = _weight_ratio(k, nodes, p, qh, ql)
        high[k - 1 - first], low[k - 1 - first] = _divide_doubles(high[k - first], low[k - first], rh, rl)
    for k in range(mode + 1, last + 1):
        rh, rl = _weight_ratio(k, nodes, p, qh, ql)
        high[k - first], low[k - first] = _multiply_doubles(high[k - 1 - first], low[k - 1 - first], rh, rl)
    for i in range(1, high.size):
        high[i], low[i] = _add_doubles(high[i - 1], low[i - 1], high[i], low[i])
    return first, high, low


@scratch
def _thresholds(high, low):
    """Return the cumulative weights divided by their total, times 2^64, rounded up, as far as they are below 2^64."""
    out = np.empty(high.size, np.uint64)
    size = np.int64(0)
    for i in range(high.size):
        h, m = _divide_doubles(high[i], low[i], high[high.size - 1], low[high.size - 1])
        whole = np.floor(h * _TWO64)
        rest = np.ceil(h * _TWO64 - whole + m * _TWO64)
        if whole >= _TWO64 and rest >= 0.0:
            break
        # 2^64 itself is 0 modulo 2^64, and a negative rest is subtracted from it.
        out[size] = (np.uint64(0) if whole >= _TWO64 else np.uint64(whole)) + np.uint64(np.int64(rest))
        size += 1
    return out[:size]


@scratch
def binomial_table(many, p):
    """Return the distribution function of Binomial(many, p) as thresholds for a 64-bit uniform number.

    Parameters
    ----------
    many : int64
        1 .. 2^30.
    p : float64
        0 <= p < 1/64.

    Returns
    -------
    first : int64
        K is ``first`` plus the number of thresholds that are <= u.
    thresholds : uint64 array
        ``ceil(2^64 P(K <= first + i))``, ascending, as far as they are below 2^64.
    guide : int64 array of 256
        Number of thresholds <= b 2^56.

    Notes
    -----
    Weights are computed from the mode outwards up to the first of at most 2^-110 times the mode's, in double-double arithmetic.
    These are about 10^5 steps of relative error 2^-102 at most, so a threshold is off by less than 2^-80 of 2^64 before it
    is rounded up, and a trial's K differs from the exact inversion with probability below 2^-60.  Time with p near 1/64, on an
    AMD EPYC (Zen 4): 5.2 ms for 2^30 nodes, 33 us for 2^16.
    """
    first, high, low = _summed_weights(np.int64(many), p)
    thresholds = _thresholds(high, low)
    guide = np.zeros(256, np.int64)
    i = np.int64(0)
    for b in range(256):
        while i < thresholds.size and thresholds[i] <= np.uint64(b) << np.uint64(56):
            i += 1
        guide[b] = i
    return first, thresholds, guide


@block
def sample_fault_count(key, t, first, thresholds, guide, purpose=philox.COUNTS):
    """Return K of trial ``t``, from the table of ``binomial_table``."""
    u = philox.random_word(key, t, np.uint64(0), purpose)
    i = guide[np.int64(u >> np.uint64(56))]
    while i < thresholds.size and thresholds[i] <= u:
        i += 1
    return first + i


# ---------------------------------------------------------------- many faults: node by node


@block
def digit_threshold(p):
    """Return ``p * 2^72`` for 1/64 <= p <= 1 as (head, tail): the part above 2^64 (256 for p = 1) and the low 64 bits."""
    head = np.floor(p * 256.0)
    return np.uint64(head), np.uint64((p * 256.0 - head) * _TWO64)


@block(always=True)
def _compare_digit(faulty, undecided, rate, word):
    """Return the vectors (faulty, undecided) after one more binary digit of the nodes' uniform numbers.

    ``word`` holds these digits.  They are compared with the lowest bit of ``rate``.  A node whose number is below the
    rate is faulty.
    """
    digit = simd.splat(bits.ZERO - (rate & np.uint64(1)))
    differs = undecided & (digit ^ word)
    return faulty | (differs & digit), undecided & ~differs


@block
def compare_digits(key, block, head, tail, purpose):
    """Return vectors (certainly faulty, undecided) of 512 numbers, from eight leading digits.

    ``block`` is the first of eight blocks of random words, a multiple of 8; each has the digits of 64 numbers.
    """
    prepared = philox.prepare_lanes(key, block, purpose)
    halves = (np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3))
    evens, odds = philox.four_word_lanes(key, (prepared, prepared, prepared, prepared), halves)
    even, odd = simd.quarters(evens), simd.quarters(odds)
    faulty, undecided = simd.splat(bits.ZERO), simd.splat(bits.ALL_BITS)
    faulty, undecided = _compare_digit(faulty, undecided, head >> np.uint64(7), even[0])
    faulty, undecided = _compare_digit(faulty, undecided, head >> np.uint64(6), odd[0])
    faulty, undecided = _compare_digit(faulty, undecided, head >> np.uint64(5), even[1])
    faulty, undecided = _compare_digit(faulty, undecided, head >> np.uint64(4), odd[1])
    faulty, undecided = _compare_digit(faulty, undecided, head >> np.uint64(3), even[2])
    faulty, undecided = _compare_digit(faulty, undecided, head >> np.uint64(2), odd[2])
    faulty, undecided = _compare_digit(faulty, undecided, head >> np.uint64(1), even[3])
    faulty, undecided = _compare_digit(faulty, undecided, head, odd[3])
    return faulty, undecided if tail != np.uint64(0) else simd.splat(bits.ZERO)


@block
def _decide_tails(key, t, tail, nodes, count, state):
    """Set each of ``count`` undecided ``nodes`` whose tail is below ``tail`` (> 0); ``nodes`` has 7 words to spare."""
    one = simd.splat(bits.ONE)
    limit = simd.splat(tail - bits.ONE)
    for i in range(0, count, 8):
        v = simd.load(nodes, i)
        even, odd = philox.mixed_lanes(key, simd.splat(t), v >> one, simd.splat(philox.NODE_TAILS))
        drawn = simd.select((v & one) == one, odd, even)
        faulty = simd.bits(drawn <= limit) & bits.first_lanes(count - i)
        while faulty:
            set_node(state, nodes[i + bits.lowest(faulty)])
            faulty &= faulty - bits.ONE


#: Number of vectors whose undecided nodes are collected before their tails are sampled.
_TAIL_BATCH = 64

#: Number of scratch words that ``digit_state`` needs: undecided words, their indices, and undecided nodes, up to 512 per vector.
#: Each of these three parts has a vector of 8 words to spare, because vectors are stored and loaded whole.
DIGIT_SCRATCH = 2 * 8 * (_TAIL_BATCH + 1) + 512 * _TAIL_BATCH + 8


@block
def digit_state(key, t, head, tail, n, state, scratch):
    """Write the bitmask of trial ``t``'s faulty nodes to ``state`` of max(8, 2^(n-6)) words; scratch has DIGIT_SCRATCH words.

    ``scratch`` holds the words with undecided nodes, from ``index_start`` on the indices of these words in ``state``, and at last
    the undecided nodes.
    """
    if head == np.uint64(256):
        for w in range(state.size):
            state[w] = word_mask(n) if w < 1 << max(n - 6, 0) else np.uint64(0)
        return
    per_trial = np.int64(1) << max(n - 6, 0)
    base = t * np.uint64(per_trial)
    index_start = 8 * (_TAIL_BATCH + 1)
    nodes = scratch[2 * index_start :]
    vectors = state.size >> 3
    for start in range(0, vectors, _TAIL_BATCH):
        size = np.int64(0)
        for v in range(start, min(start + _TAIL_BATCH, vectors)):
            faulty, undecided = compare_digits(
                key, (base + np.uint64(v << 3)) & ~np.uint64(7), head, tail, philox.NODE_DIGITS
            )
            if n < 9:
                faulty = _extract_trial_words(faulty, base, n, scratch)
                undecided = _extract_trial_words(undecided, base, n, scratch)
            simd.store(state, v << 3, faulty)
            if tail != np.uint64(0):
                chosen = simd.bits(undecided != simd.splat(bits.ZERO))
                index = simd.splat(np.uint64(v << 3)) + simd.iota(undecided)
                simd.store_compressed(scratch, size, chosen, undecided)
                simd.store_compressed(scratch, index_start + size, chosen, index)
                size += bits.popcount(chosen)
        count = np.int64(0)
        for i in range(size):
            rest = scratch[i]
            while rest:
                nodes[count] = (scratch[index_start + i] << np.uint64(6)) | np.uint64(bits.lowest(rest))
                count += 1
                rest &= rest - bits.ONE
        _decide_tails(key, t, tail, nodes, count, state)


@block
def _extract_trial_words(x, base, n, scratch):
    """Return, for n < 9, the words of one trial of a vector of 8 / 2^max(n-6, 0) trials, moved to the front, the rest cleared.

    The first 16 words of ``scratch`` are overwritten.  They are free, because ``digit_state`` collects undecided words there only
    after these calls: for n < 9 it has a single vector.
    """
    simd.store(scratch, 0, x)
    simd.store(scratch, 8, simd.splat(bits.ZERO))
    first = np.int64(base & np.uint64(7))
    for w in range(np.int64(1) << max(n - 6, 0)):
        scratch[8 + w] = scratch[first + w] & word_mask(n)
    return simd.load(scratch, 8)
