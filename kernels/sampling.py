"""Fault sets as a pure function of (key, trial): distinct nodes, distinct links, and lazy node statuses.

Every sampler reads words of :mod:`philox` by their place, so trial ``t`` can be drawn alone; the lane kernels
read the same words many trials at a time and must agree with these functions bit for bit.
``docs/random.md`` restates the laws and regenerates a fault set in plain NumPy.
"""

from __future__ import annotations

import numpy as np

from . import philox, simd
from .jit import block, kernel, scratch

_ONE = np.uint64(1)
_LOW32 = np.uint64(0xFFFFFFFF)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_27 = np.uint64(27)
_30 = np.uint64(30)
_31 = np.uint64(31)
_TWO64 = 18446744073709551616.0


# ---------------------------------------------------------------- lazy faults


@block
def status_key(key, t):
    """Key of trial ``t``'s lazy statuses, a uint64: word 0 of block ``t`` for STATUS_KEYS (arguments uint64)."""
    return philox.word(key, t, np.uint64(0), philox.STATUS_KEYS)


@block
def status(key, label):
    """Status of one label under a trial's status key: uniform on [0, 2^64), faulty iff below the threshold.

    The finaliser of SplitMix64 (Steele, Lea & Flood 2014; Stafford's variant 13) applied to
    ``key + label * 0x9E3779B97F4A7C15 mod 2^64``.  Neighbouring labels differ in one bit, so the label is spread by a
    multiplication before it is mixed: ``label ^ key`` instead leaves neighbours visibly dependent.  About 5 ns when
    each look-up depends on the last, 0.3 ns in lanes.
    """
    z = key + label * _GOLDEN
    z = (z ^ (z >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


@block
def status_lanes(keys, labels):
    """:func:`status` of eight (key, label) at once, as vectors of uint64."""
    z = simd.add(keys, simd.mul(labels, simd.splat(_GOLDEN)))
    z = simd.mul(simd.xor(z, simd.shift_right(z, simd.splat(_30))), simd.splat(_MIX1))
    z = simd.mul(simd.xor(z, simd.shift_right(z, simd.splat(_27))), simd.splat(_MIX2))
    return simd.xor(z, simd.shift_right(z, simd.splat(_31)))


@block
def threshold(rate):
    """Threshold of a fault rate, ``floor(rate * 2^64)`` as a uint64, for a float64 rate in [0, 1)."""
    return np.uint64(rate * _TWO64)


# ---------------------------------------------------------------- f distinct nodes


@block
def field_width(n):
    """Bits of the field that holds a label: 8, 16 or 32 for n <= 8, n <= 16 and above; an int64."""
    if n <= 8:
        return np.int64(8)
    if n <= 16:
        return np.int64(16)
    return np.int64(32)


@block
def _place(t, n):
    """Block and shift of trial ``t``'s field in each word of the block, as two uint64."""
    width = field_width(n)
    per_word = 64 // width
    return np.uint64(t // per_word), np.uint64(width * (t % per_word))


@block
def _label(key, block, shift, j, n, low_purpose, high_purpose):
    x = philox.word(key, block, j, low_purpose) >> shift
    if n > 32:
        x &= _LOW32
        x |= (philox.word(key, block, j, high_purpose) >> shift) << np.uint64(32)
    return x & ((_ONE << np.uint64(n)) - _ONE)


@block
def node_label(key, t, j, n):
    """Label ``j`` of trial ``t``'s sequence for the n-cube, a uint64 below 2^n; labels may repeat.

    The low n bits of field ``t mod (64 / w)``, of w = 8, 16 or 32 bits, of word ``j`` of block ``t div (64 / w)`` for
    LABELS; for n > 32 the bits from 32 up are the same field of word ``j`` for HIGH_LABELS.  Trials share
    words so that no bit of the generator is wasted in the lane kernels.

    Parameters
    ----------
    key : uint64
    t, j, n : int64
        Trial and place, from 0; 1 <= n <= 62.  Not checked.
    """
    block, shift = _place(t, n)
    return _label(key, block, shift, np.uint64(j), n, philox.LABELS, philox.HIGH_LABELS)


@block
def table_size(count):
    """Length of the scratch table for ``count`` distinct items: 0 up to 32 (a linear search is faster), else a power of two."""
    if count <= 32:
        return np.int64(0)
    size = np.int64(64)
    while size < 2 * count:
        size *= 2
    return size


@block
def _is_new_node(x, out, taken, table, size):
    """Whether ``x`` is not among ``out[:taken]``; enters it in the table as number ``taken`` if so."""
    if size == 0:
        i = np.int64(0)
        while i < taken and out[i] != x:
            i += 1
        return i == taken
    at = np.int64(x) & (size - 1)
    while table[at] >= 0:
        if out[table[at]] == x:
            return False
        at = (at + 1) & (size - 1)
    table[at] = taken
    return True


@block
def next_labels(key, block, shift, n, halves, words):
    """Labels of sixteen places at once: those of words 2 h and 2 h + 1 for the h in the lanes of ``halves``.

    Written in order to ``words[:16]``; the rest of its 32 places is scratch.
    """
    even, odd = philox.mixed_lanes(key, simd.splat(block), halves, philox.LABELS)
    by = simd.splat(shift)
    even = simd.shift_right(even, by)
    odd = simd.shift_right(odd, by)
    if n > 32:
        low = simd.splat(_LOW32)
        up = simd.splat(np.uint64(32))
        high_even, high_odd = philox.mixed_lanes(key, simd.splat(block), halves, philox.HIGH_LABELS)
        even = simd.either(simd.both(even, low), simd.shift_left(simd.shift_right(high_even, by), up))
        odd = simd.either(simd.both(odd, low), simd.shift_left(simd.shift_right(high_odd, by), up))
    mask = simd.splat((_ONE << np.uint64(n)) - _ONE)
    simd.store(words, 16, simd.both(even, mask))
    simd.store(words, 24, simd.both(odd, mask))
    for i in range(8):
        words[2 * i] = words[16 + i]
        words[2 * i + 1] = words[24 + i]


@block
def distinct_nodes(key, t, n, count, out, table, size, words):
    """Write the first ``count`` distinct labels of trial ``t``'s sequence to ``out``, in the order of the draws.

    Parameters
    ----------
    key : uint64
    t, n, count : int64
        1 <= n <= 62, 0 <= count <= 2^n; not checked.  The law of fault sets never asks for more than half of the
        nodes, which bounds the expected number of draws by 1.4 count.
    out : uint64 array of at least ``count``
    table : int64 array of ``size``
        Scratch, with ``size = table_size(count)``.
    words : uint64 array of 32
        Scratch.
    """
    block, shift = _place(t, n)
    for i in range(size):
        table[i] = -1
    halves = simd.iota(simd.splat(np.uint64(0)))
    taken = np.int64(0)
    while taken < count:
        next_labels(key, block, shift, n, halves, words)
        for i in range(16):
            x = words[i]
            if taken < count and _is_new_node(x, out, taken, table, size):
                out[taken] = x
                taken += 1
        halves = simd.add(halves, simd.splat(np.uint64(8)))


@block
def mark_distinct_nodes(key, t, n, count, state, words):
    """Set the first ``count`` distinct labels of trial ``t``'s sequence in a bitmask that is clear, n <= 32.

    The nodes of :func:`distinct_nodes`, without a table; ``words`` is scratch of 32 uint64.
    """
    block, shift = _place(t, n)
    halves = simd.iota(simd.splat(np.uint64(0)))
    taken = np.int64(0)
    while taken < count:
        next_labels(key, block, shift, n, halves, words)
        for i in range(16):
            word = np.int64(words[i] >> np.uint64(6))
            bit = _ONE << (words[i] & np.uint64(63))
            if taken < count and (state[word] & bit) == np.uint64(0):
                state[word] |= bit
                taken += 1
        halves = simd.add(halves, simd.splat(np.uint64(8)))


@block
def drawn(n, f):
    """How many distinct labels are drawn for f faults: f, or the 2^n - f healthy nodes where those are fewer."""
    if n < 62 and 2 * f > np.int64(1) << n:
        return (np.int64(1) << n) - f
    return f


@scratch
def draw_faults(key, t, n, f, out, table, size, words):
    """Write the faulty nodes of trial ``t`` to ``out``: f distinct labels, uniform over all sets of that size.

    For f <= 2^(n-1) the first f distinct labels of the trial's sequence, in that order; for more, every node but the
    first 2^n - f distinct labels, ascending (O(2^n) time and memory).

    Parameters
    ----------
    key : uint64
    t, n, f : int64
        1 <= n <= 62, 0 <= f <= 2^n; not checked.
    out : uint64 array of at least f and at least ``drawn(n, f)``
    table, size, words
        Scratch of :func:`distinct_nodes`, with ``size = table_size(drawn(n, f))``.
    """
    count = drawn(n, f)
    distinct_nodes(key, t, n, count, out, table, size, words)
    if f > count:
        healthy = np.zeros(1 << n, np.bool_)
        for i in range(count):
            healthy[out[i]] = True
        at = np.int64(0)
        for x in range(1 << n):
            if not healthy[x]:
                out[at] = x
                at += 1


@kernel("uint64[::1](uint64, int64, int64, int64)")
def fault_set(key, t, n, f):
    """The faulty nodes of trial ``t``, as :func:`draw_faults` writes them."""
    count = drawn(n, f)
    size = table_size(count)
    out = np.empty(f if f > count else count, np.uint64)
    draw_faults(key, t, n, f, out, np.empty(size, np.int64), size, np.empty(32, np.uint64))
    return out[:f]


# ---------------------------------------------------------------- K distinct links


@block
def _dimension(key, block, shift, j, n):
    """Dimension that place ``j`` proposes: the low bits of its field that can hold n - 1; may be n or more."""
    top = np.uint64(n - 1)
    mask = np.uint64(0)
    while mask < top:
        mask = mask << _ONE | _ONE
    return (philox.word(key, block, j, philox.DIMENSIONS) >> shift) & mask


@block
def _is_new_link(x, k, lower, dims, taken, table, size):
    if size == 0:
        i = np.int64(0)
        while i < taken and (lower[i] != x or dims[i] != k):
            i += 1
        return i == taken
    at = np.int64(x ^ k * _GOLDEN) & (size - 1)
    while table[at] >= 0:
        i = table[at]
        if lower[i] == x and dims[i] == k:
            return False
        at = (at + 1) & (size - 1)
    table[at] = taken
    return True


@block
def distinct_links(key, t, n, count, lower, dims, table, size):
    """Write the first ``count`` distinct links of trial ``t``'s sequence, uniform over all sets of that size.

    Place j proposes the link of node x in dimension k, where x is drawn as :func:`node_label` does but for LINKS and
    HIGH_LINKS, and k is the low ceil(log2 n) bits of the same field of word j for DIMENSIONS; a place with
    k >= n is skipped.  Both ends of a link propose it equally often.

    Parameters
    ----------
    key : uint64
    t, n, count : int64
        1 <= n <= 62, 0 <= count <= n 2^(n-1); not checked.
    lower, dims : uint64 arrays of at least ``count``
        Link i joins ``lower[i]``, whose bit ``dims[i]`` is clear, to ``lower[i] | 1 << dims[i]``.
    table : int64 array of ``size``
        Scratch, with ``size = table_size(count)``.
    """
    block, shift = _place(t, n)
    for i in range(size):
        table[i] = -1
    taken = np.int64(0)
    j = np.uint64(0)
    while taken < count:
        k = _dimension(key, block, shift, j, n)
        if k < np.uint64(n):
            x = _label(key, block, shift, j, n, philox.LINKS, philox.HIGH_LINKS) & ~(_ONE << k)
            if _is_new_link(x, k, lower, dims, taken, table, size):
                lower[taken] = x
                dims[taken] = k
                taken += 1
        j += _ONE


@kernel("uint64[:, ::1](uint64, int64, int64, int64)")
def link_set(key, t, n, count):
    """The faulty links of trial ``t`` as rows (lower end, dimension); see :func:`distinct_links`."""
    lower = np.empty(count, np.uint64)
    dims = np.empty(count, np.uint64)
    size = table_size(count)
    distinct_links(key, t, n, count, lower, dims, np.empty(size, np.int64), size)
    out = np.empty((count, 2), np.uint64)
    for i in range(count):
        out[i, 0] = lower[i]
        out[i, 1] = dims[i]
    return out
