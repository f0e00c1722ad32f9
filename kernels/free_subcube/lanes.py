"""Fault-free subcubes under up to 64 faulty nodes, with one trial per lane in the loop of ``fastcube.kernels.draws.sieve``.

Entry points: ``FREE_SUBCUBE_LANES_8``, ``_16`` and ``_32``, by the ``width`` of a lane in bits; a vector has ``lanes`` = 512 //
``width`` of them.  They sample with the study's key a trial's sequence of labels (LABELS, and HIGH_LABELS for n > 32).

1. *labels*: some more labels than faults are sampled, so that nearly every trial has f distinct ones.  Further labels take the
   places of repeated ones.  A trial with too few is decided one at a time, and so is, for n > 32, one with two labels whose low
   32 bits are equal.  All labels are translated so that the first is 0, which changes no answer.
2. *columns*: the labels are transposed.  Bit j of column i is bit i of label j.
3. *halves and quarters*: one half of dimension i has no fault if column i is 0, and the quarters of two dimensions are the
   intersections of their columns and complements.  The intersection of two complements has the first fault.
4. *eighths*: blocks of consecutive labels are intersections of the three highest columns.  A trial that has no fault-free
   quarter or aligned eighth is searched alone, by its columns.

The transposed labels are in ``Columns.squares``.  A *digit* of a label is what one lane holds of it: digit 0 is its low 32 bits,
the whole label for n <= 32, and digit 1 the bits from 32 on.  A *group* is ``width`` labels, as many as a lane has bits; the
last group has the rest.  Each digit of each group has ``side`` rows of one vector.  In each lane these rows form squares of
``side`` by ``side`` bits next to each other, one in each *field* of ``side`` bits.  Each square is transposed by itself:

    before    row j is label j of the group, and field q of it the label's bits ``side q`` .. ``side q + side - 1``
    after     field q of row r is the group's part of column ``width * digit + side q + r``, bit j for label j

So ``side`` is at least the number of labels of a group, and one row has columns r, ``side + r``, ... of all trials of the vector.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..draws import philox, sieve
from ..draws.lanes import make_pair_scan
from ..machine import bits, simd
from ..machine.array_types import I64, Cells, Floats, Words
from ..machine.bits import ALL_BITS, ONE, ZERO
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from .columns import exchange_halves, transpose_eight
from .layout import F, N
from .scalar import Search, find_free_subcube, record_trials, run_trial, set_up

# Fraction of trials with too few distinct labels that costs less than a further label of all (measured).
_FEW_TRIALS = 0.005

# Number of dimensions, from 0 on, that are tested with all others in fields of lanes, before the pairs that this leaves out.
_MOST_PACKED = np.int64(4)


class Columns(NamedTuple):
    """Columns of the labels of a vector of trials; all arrays have rows of one vector."""

    n: I64
    side: I64  #: rows of a square: the least power of two, from 8 on, for the labels of a group
    groups: I64  #: number of groups of labels
    squares: Cells  #: (2, groups, side, lanes), flat: transposed labels by digit and group, see ``_square_row``
    unpacked: Cells  #: (groups, n, lanes), flat: the columns of each group, one by one; from ``_find_free_quarters`` on


class LaneWorkspace(NamedTuple):
    """Scratch memory of a kernel's call."""

    params: Floats  #: parameters of the point
    f: I64  #: number of faulty nodes
    samples: sieve.Samples  #: labels of four vectors of trials
    high: Cells  #: f + 1 rows, as labels are sampled in pairs: digit 1 of each label, for n > 32
    columns: Columns
    rows: Words  #: bit rows of one trial, as in ``scalar.Search``
    single: Search  #: for trials decided one at a time


@block
def _count_labels(n, f):
    """Return the number of labels to sample per trial.

    About f^2 / 2^(n+1) labels repeat earlier ones, with nearly a Poisson distribution.  So with s further labels a fraction of
    trials of at most ``repeats``^(s+1) / (s+1)! has too few distinct ones.
    """
    repeats = f * (f - 1) / 2.0 / 2.0**n
    count, fraction = np.int64(f), repeats
    while fraction > _FEW_TRIALS and count < 2 * f and n <= 32:
        count += 1
        fraction *= repeats / (count - f + 1)
    return count


# ---------------------------------------------------------------- 1. labels


@block(always=True)
def _draw_high_digits(work, trials, lanes):
    """Sample digit 1 of the labels of a vector of trials."""
    prepared = philox.prepare_lanes(trials.key, np.uint64(8 * (trials.start // lanes)), philox.HIGH_LABELS)
    words = work.high.view(np.uint64)
    for k in range(0, work.f, 2):
        even, odd = philox.word_lanes(trials.key, prepared, np.uint64(k >> 1))
        simd.store(words, 8 * k, even)
        simd.store(words, 8 * k + 8, odd)


@block
def _update_least_xor(least, x, y):
    return simd.minimum(least, x ^ y)


_least_xor = make_pair_scan(ALL_BITS, _update_least_xor)


@block(always=True)
def _find_least_xor(labels, at, x, start, rows, lanes):
    """Return the least of ``start`` and the xor of x with each of some rows, lane by lane."""
    for j in range(rows):
        start = simd.minimum(start, x ^ simd.load(labels, at + j * lanes))
    return start


@block
def _replace_repeats(labels, at, f, count, lanes):
    """Put further labels in place of repeated ones among the first f; return the lanes with too few labels, as bits.

    In rows 1 .. f - 1 the first label stands for a free place: it first replaces repeated labels, then further labels replace it.
    """
    first = simd.load(labels, at)
    with_repeats = simd.bits(_least_xor(labels, at, lanes, f) == 0)
    if with_repeats == ZERO or count == f:
        return with_repeats
    one, zero = simd.splat_like(first, ONE), first ^ first
    missing = zero  # the number of free places, lane by lane
    for r in range(1, f):
        x = simd.load(labels, at + r * lanes)
        new = _find_least_xor(labels, at, x, x ^ first, r, lanes) != 0
        simd.store(labels, at + r * lanes, simd.select(new, x, first))
        missing = missing + simd.select(new, zero, one)
    for r in range(f, count):
        x = simd.load(labels, at + r * lanes)
        new = (_find_least_xor(labels, at, x, x ^ first, f, lanes) != 0) & (missing != zero)
        missing = missing - simd.select(new, one, zero)
        j = 1
        while simd.bits(new):
            y = simd.load(labels, at + j * lanes)
            free = new & (y == first)
            simd.store(labels, at + j * lanes, simd.select(free, x, y))
            new = new & ~free
            j += 1
    return simd.bits(missing != zero)


# ---------------------------------------------------------------- 2. columns


@block(always=True)
def _square_row(columns, digit, g, r, lanes):
    """Return the index in ``squares`` of row r of a digit of group g."""
    return ((digit * columns.groups + g) * columns.side + r) * lanes


@block
def _transpose_group(labels, at, count, first, squares, to, side, lanes):
    """Transpose ``count`` labels, translated by ``first``, in squares of ``side`` bits; return the union of the labels.

    The labels are rows from index ``at`` on, and their squares rows from index ``to`` on.  Missing labels are 0.
    """
    union = first ^ first
    for r in range(side):
        x = first ^ first
        if r < count:
            x = simd.load(labels, at + r * lanes) ^ first
        union = union | x
        simd.store(squares, to + r * lanes, x)
    words, start = squares.view(np.uint64), 8 * (to // lanes)  # each row is eight words
    for r in range(0, side, 8):
        transpose_eight(words, start + 8 * r, 8, 0)
    for k in range(3, bits.lowest(np.uint64(side))):
        for r in range(side):
            if r & 1 << k == 0:
                exchange_halves(words, start + 8 * r, start + 8 * (r + (1 << k)), k)
    return union


@block(always=True)
def _transpose_labels(work, labels, at, digit, dims, lanes):
    """Transpose one digit of the labels; return the lanes in which some of its ``dims`` columns is 0, as bits."""
    f, columns, width = work.f, work.columns, 512 // lanes
    first = simd.load(labels, at)
    union = first ^ first
    for g in range(columns.groups):
        to = _square_row(columns, digit, g, 0, lanes)
        count = min(f - g * width, columns.side)
        union = union | _transpose_group(
            labels, at + g * width * lanes, count, first, columns.squares, to, columns.side, lanes
        )
    whole = simd.splat_like(first, ALL_BITS >> np.uint64(64 - dims))
    return simd.bits((union & whole) != whole)


@block(always=True)
def _load_column(columns, i, g, lanes):
    """Return column i of group g, bit j for label j of the group."""
    width, side = 512 // lanes, columns.side
    x = simd.load(columns.squares, _square_row(columns, i // width, g, i & (side - 1), lanes))
    if side == width:
        return x
    offset = i & (width - side)  # of the column's field in its lane
    return (x >> simd.splat_like(x, np.uint64(offset))) & simd.splat_like(x, ALL_BITS >> np.uint64(64 - side))


# ---------------------------------------------------------------- 3. halves and quarters, 4. eighths


@block(always=True)
def _find_packed_quarters(columns, halves, wanted, lanes):
    """Return the lanes with a fault-free half, or a quarter of one of the first dimensions and another, as bits.

    There must be one group, in squares smaller than a lane.  A row of a square has columns k, k + ``side``, ... in the fields of
    a lane, so one operation tests column i with all of them.  To find fields of 0, subtract 1 from each field: the highest bit
    of a field changes from 0 to 1 if the field is 0.  Other such changes are due to a borrow from a lower field, which is 0 then.
    """
    n, side, width = columns.n, columns.side, 512 // lanes
    row = simd.load(columns.squares, 0)
    zero = row ^ row
    lane_mask = ALL_BITS >> np.uint64(64 - width)
    ones = simd.splat_like(row, lane_mask // (ALL_BITS >> np.uint64(64 - side)))  # 1 in each field
    found = halves
    for i in range(min(side, _MOST_PACKED)):
        if wanted & ~found == ZERO:
            break
        a = _load_column(columns, i, 0, lanes) * ones  # column i in each field
        empty = zero  # its highest bit of a field is set where a quarter has no fault
        for start in range(0, n, width):  # the first dimension of each digit
            for k in range(0 if start else i + 1, side):
                b = simd.load(columns.squares, _square_row(columns, start // width, 0, k, lanes))
                fields = max((min(n - start, width) - k + side - 1) // side, 0)
                pad = simd.splat_like(row, ALL_BITS << np.uint64(fields * side))  # fields of no column must not be 0
                both, upper, lower = (a & b) | pad, (a & ~b) | pad, (b & ~a) | pad
                empty = empty | ((both - ones) & ~both) | ((upper - ones) & ~upper) | ((lower - ones) & ~lower)
        found |= simd.bits((empty & (ones << simd.splat_like(row, np.uint64(side - 1)))) != zero)
    return found


@block(alone=True)
def _find_free_quarters(columns, halves, wanted, lanes):
    """Return the lanes with a fault-free quarter as bits, given those with a fault-free half; only wanted lanes are searched.

    ``both``, ``upper`` and ``lower`` are the faults of three quarters; the fourth has the first fault.  Dimension i is tested
    with all lower ones, whose columns are unpacked by then.  Unless all wanted lanes are found, all columns are unpacked.
    """
    n, groups, unpacked = columns.n, columns.groups, columns.unpacked
    step = n * lanes  # from group to group of ``unpacked``
    found = halves
    if columns.side == 8 < 512 // lanes:
        found = _find_packed_quarters(columns, halves, wanted, lanes)
    for i in range(n):
        if wanted & ~found == ZERO:
            break
        a = _load_column(columns, i, 0, lanes)
        simd.store(unpacked, i * lanes, a)
        for g in range(1, groups):
            simd.store(unpacked, g * step + i * lanes, _load_column(columns, i, g, lanes))
        least = a | ~a  # not 0
        for j in range(i):
            b = simd.load(unpacked, j * lanes)
            both, upper, lower = a & b, a & ~b, b & ~a
            least_of_group = simd.minimum(simd.minimum(both, upper), lower)
            if groups == 1:
                least = simd.minimum(least, least_of_group)
            elif lanes > 16 or simd.bits(least_of_group == 0):  # a group of 32 labels seldom leaves a quarter empty
                for g in range(1, groups):
                    x, y = simd.load(unpacked, i * lanes + g * step), simd.load(unpacked, j * lanes + g * step)
                    both, upper, lower = both | (x & y), upper | (x & ~y), lower | (y & ~x)
                least = simd.minimum(least, simd.minimum(simd.minimum(both, upper), lower))
        found |= simd.bits(least == 0)
    return found


@block
def _find_free_blocks(columns, lanes):
    """Return the lanes with a fault-free half, quarter and eighth of consecutive labels, as bits.

    The cube has eight blocks by the three highest bits of a label.  ``b1`` .. ``b7`` are the faults in each but block 0, which
    has the first fault.  An aligned quarter is two blocks, and the half without the first fault is blocks 4 to 7.
    """
    n, zero = columns.n, simd.load(columns.squares, 0) ^ simd.load(columns.squares, 0)
    b1, b2, b3, b4, b5, b6, b7 = zero, zero, zero, zero, zero, zero, zero
    for g in range(columns.groups):
        x, y = _load_column(columns, n - 3, g, lanes), _load_column(columns, n - 2, g, lanes)
        z = _load_column(columns, n - 1, g, lanes)
        b1, b2, b3 = b1 | (x & ~y & ~z), b2 | (y & ~x & ~z), b3 | (x & y & ~z)
        b4, b5, b6, b7 = b4 | (z & ~x & ~y), b5 | (x & z & ~y), b6 | (y & z & ~x), b7 | (x & y & z)
    quarter1, quarter2, quarter3 = b2 | b3, b4 | b5, b6 | b7
    quarters = simd.minimum(quarter1, simd.minimum(quarter2, quarter3))
    eighths = simd.minimum(simd.minimum(simd.minimum(b1, b2), simd.minimum(b3, b4)), simd.minimum(b5, b6))
    half = quarter2 | quarter3
    return simd.bits(half == 0), simd.bits(quarters == 0), simd.bits(simd.minimum(eighths, b7) == 0)


@block
def _has_free_eighth(columns, f, rows, lane, lanes):
    """Whether the trial in a lane has a fault-free eighth.

    The trial must have been wanted by ``_find_free_quarters`` and not found, so that all columns are unpacked.
    """
    n, known = columns.n, ALL_BITS >> np.uint64(64 - f)
    for i in range(n):
        column, at = ZERO, np.uint64(i * lanes + lane)  # unsigned: Numba tests signed indices for being negative
        for g in range(columns.groups):
            column |= np.uint64(columns.unpacked[at]) << np.uint64(512 // lanes * g)
            at += np.uint64(n * lanes)
        rows[2 * i], rows[2 * i + 1] = column, column ^ known
    return find_free_subcube(rows, n, np.int64(3), np.int64(3)) == 3


@block(always=True)
def _decide_vector(work, trials, lanes, tally):
    """Tally the wanted trials of a vector; return False, because none is queued."""
    n, wanted = work.samples.n, sieve.wanted_lanes(trials, lanes)
    if n > 32:
        _draw_high_digits(work, trials, lanes)
    short = wanted & _replace_repeats(work.samples.labels, trials.at, work.f, work.samples.count, lanes)
    wanted ^= short
    while short:
        run_trial(trials.key, sieve.trial_in_lane(trials, bits.lowest(short)), work.params, work.single, tally)
        short &= short - ONE
    halves = _transpose_labels(work, work.samples.labels, trials.at, 0, min(n, 512 // lanes), lanes)
    if n > 32:
        halves |= _transpose_labels(work, work.high, 0, 1, n - 32, lanes)
    quarters = _find_free_quarters(work.columns, halves, wanted, lanes)
    aligned = _find_free_blocks(work.columns, lanes)
    eighths = quarters | aligned[2]
    undecided = wanted & ~eighths
    while undecided:
        if _has_free_eighth(work.columns, work.f, work.rows, bits.lowest(undecided), lanes):
            eighths |= undecided & (~undecided + ONE)
        undecided &= undecided - ONE
    record_trials(tally, (halves, quarters, eighths), aligned, wanted)
    return False


# ---------------------------------------------------------------- the kernels


_sift_trials = sieve.make_sieve(_decide_vector)


def _make_kernel(width: int, word: Any) -> Kernel:
    lanes = 512 // width  # a constant of the closure, for which all callees are specialised

    @scratch
    def workspace_for(params):
        n, f = np.int64(params[N]), np.int64(params[F])
        count = _count_labels(n, f)
        side, groups = np.int64(8), (f + width - 1) // width
        while side < f and side < width:
            side *= 2
        return LaneWorkspace(
            params,
            f,
            sieve.make_samples(n, count, lanes, word),
            np.zeros((f + 1) * lanes, word),
            Columns(n, side, groups, np.zeros(2 * groups * side * lanes, word), np.zeros(groups * n * lanes, word)),
            np.zeros(128, np.uint64),
            set_up(params),
        )

    @kernel(TRIALS_SIGNATURE, variant=f"{width}")
    def free_subcube_lanes(key, first, stop, params, tally):
        """Run trials at (n, f, 0) = params; 3 <= n <= 8, <= 16 or <= 62 by the lanes' width, 1 <= f <= min(64, 2^(n-1))."""
        _sift_trials(key, first, stop, workspace_for(params), lanes, tally)

    return free_subcube_lanes


#: Kernels for n <= 8, n <= 16 and n <= 62.
FREE_SUBCUBE_LANES_8 = _make_kernel(8, np.uint8)
FREE_SUBCUBE_LANES_16 = _make_kernel(16, np.uint16)
FREE_SUBCUBE_LANES_32 = _make_kernel(32, np.uint32)

#: Points (n, f, links) on both sides of each threshold inside these kernels, by the reason for the threshold.
EDGES = {
    "lanes of 8 and of 16 bits": ((8, 10, 0), (9, 10, 0)),
    "lanes of 16 and of 32 bits": ((16, 16, 0), (17, 16, 0)),
    "above n = 32 labels have two digits": ((32, 20, 0), (33, 20, 0)),
    "squares of 8, 16 and 32 labels": ((20, 8, 0), (20, 9, 0), (20, 16, 0), (20, 17, 0)),
    "one group of labels or more": ((7, 8, 0), (7, 9, 0), (12, 16, 0), (12, 17, 0), (40, 32, 0), (40, 33, 0)),
    "further labels, if repeats are not rare": ((16, 26, 0), (16, 27, 0)),
}
