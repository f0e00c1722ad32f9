"""The loop of the lane kernels: sample vectors of trials, record easy trials, and queue the others until they fill a vector.

Most trials under few faults are decided by one test of their labels.  ``make_sieve`` samples four vectors of trials at a time and
passes each to the subject's ``inspect``, which records the trials that labels alone decide and queues the others
(``append_trials``).  Whenever a queue holds a full vector, the subject's ``work_off`` decides its trials together.

A vector has a trial in each of its ``lanes``, a literal for which the blocks that take it are specialised.  Labels are rows of
vectors (``fastcube.kernels.draws.lanes``, which explains ``parts``).

A queue has rows of two vectors and a trial in each column (``_cell_index``).  Rows 0, 1, ... hold the trial's labels, and may be
followed by rows of the subject.  The last rows identify the trial: its lane, and its *group*, the index of its vector counted
from the first sampled trial on, in digits of the width of a lane, least significant first.  New columns are appended after the
filled ones.  Once a vector is full its columns are decided and the rest moves down.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..machine import bits, simd
from ..machine.array_types import I64, U64, Cells, Ints
from ..machine.jit import block, scratch
from .lanes import draw_four_vectors, lane_pattern, redraw_repeats, valid_lanes


class Samples(NamedTuple):
    """Four sampled vectors of trials; made by ``make_samples``."""

    n: I64
    count: Any  #: int64: number of labels of a trial
    #: ``count + 1`` rows for each of the 4 vectors, or 8 if each has two parts; row k has label k, and the last is spare
    labels: Cells


class TrialVector(NamedTuple):
    """One vector of sampled trials: lane i is trial ``start + parts i``."""

    key: U64  #: key of the point
    start: I64  #: trial in lane 0
    parts: I64  #: see ``count_parts``
    at: I64  #: index in ``Samples.labels`` of lane 0 of its row 0; row k begins ``lanes * k`` entries later
    first: I64  #: first wanted trial
    stop: I64  #: trial after the last wanted one


class Queue(NamedTuple):
    """Trials to be decided one vector at a time, one trial per column; made by ``make_queue``."""

    cells: Cells  #: rows of two vectors: labels, rows of the subject, lane, digits of the group
    rows: I64  #: number of rows
    parts: I64  #: see ``count_parts``
    origin: I64  #: the trial from which groups are counted
    filled: Ints  #: (1): columns in use


@block(always=True)
def group_index_rows(lanes):
    """Return the number of rows that hold a group, which is below 2^32: 4 with lanes of 8 bits, otherwise 2."""
    return np.int64(4 if lanes == 64 else 2)


@block(always=True)
def count_parts(n, lanes):
    """Return into how many vectors a vector of words is split: 2 in lanes of 16 bits for n <= 8 (eight trials per word)."""
    return np.int64(2 if lanes == 32 and n <= 8 else 1)


@block(always=True)
def first_sampled_trial(first, n, lanes):
    """Return the first trial of the four vectors that contain trial ``first``."""
    return first - first % (4 * lanes * count_parts(n, lanes))


@scratch(stored=True)
def make_samples(n, count, lanes, word):
    """Return ``Samples`` for ``count`` labels per trial, in lanes of the type ``word``."""
    return Samples(n, count, np.zeros(4 * count_parts(n, lanes) * (count + 1) * lanes, word))


@scratch(stored=True)
def make_queue(n, count, first, lanes, word):
    """Return a queue for trials from ``first`` on, with ``count`` rows before the rows that identify the trial."""
    rows = count + 1 + group_index_rows(lanes)
    cells, origin = np.zeros(rows * 2 * lanes, word), first_sampled_trial(first, n, lanes)
    return Queue(cells, rows, count_parts(n, lanes), origin, np.zeros(1, np.int64))


# ---------------------------------------------------------------- a vector of trials


@block(always=True)
def wanted_lanes(trials, lanes):
    """Return the lanes with a wanted trial, as bits."""
    return valid_lanes(trials.start, trials.parts, lanes, trials.first, trials.stop)


@block(always=True)
def trial_in_lane(trials, i):
    """Return the index of the trial in lane i."""
    return trials.start + trials.parts * i


@block(always=True)
def redraw_lane(samples, trials, i, lanes):
    """Replace the repeated labels of the trial in lane i, for n <= 32; return whether two labels are within distance 2."""
    t = trial_in_lane(trials, i)
    return redraw_repeats(trials.key, t, samples.n, samples.count, samples.labels, trials.at + i, lanes)


# ---------------------------------------------------------------- queues
#
# The blocks that append write behind the filled columns.  The number of filled columns is raised once all rows are written, by
# ``append_trials`` or by the subject.


@block(always=True)
def _cell_index(lanes, row, column):
    """Return the index in ``Queue.cells`` of a row and column."""
    return 2 * lanes * row + column


@block
def append_lanes(queue, lanes, rows, chosen, source, at, row_length):
    """Append the chosen lanes of ``rows`` rows, compacted, to the queue's first rows.

    In ``source`` row 0 begins at index ``at``, and each other row ``row_length`` entries after the one before.
    """
    filled = queue.filled[0]  # loaded once, because the compiler assumes that every store might change it
    for k in range(rows):
        row = simd.load(source, at + k * row_length)
        simd.store_compressed(queue.cells, _cell_index(lanes, k, filled), chosen, row)


@block
def append_row(queue, lanes, k, row):
    """Write a vector after the filled columns of row ``k``."""
    simd.store(queue.cells, _cell_index(lanes, k, queue.filled[0]), row)


@block
def append_compressed(queue, lanes, k, chosen, row):
    """Write the chosen lanes of a vector, compacted, after the filled columns of row ``k``."""
    simd.store_compressed(queue.cells, _cell_index(lanes, k, queue.filled[0]), chosen, row)


@block(always=True)
def append_trials(queue, samples, trials, chosen, lanes):
    """Append the chosen trials of a vector to a queue: their labels, their lanes and the digits of their group."""
    append_lanes(queue, lanes, samples.count, chosen, samples.labels, trials.at, lanes)
    kind = simd.load(samples.labels, trials.at)  # only its type matters
    row = queue.rows - 1 - group_index_rows(lanes)
    append_compressed(queue, lanes, row, chosen, simd.iota(kind))
    # With two parts, 2 * lanes trials are sampled together and make two groups: the even trials, then the odd ones.
    group = (trials.start - queue.origin) // lanes + (trials.start & (trials.parts - 1))
    for i in range(group_index_rows(lanes)):
        append_row(queue, lanes, row + 1 + i, simd.splat_like(kind, np.uint64(group >> (512 // lanes * i))))
    queue.filled[0] += bits.popcount(chosen)


@block(always=True, stored=True)
def queue_trials(queue, samples, trials, chosen, repeated, lanes):
    """Append the chosen trials of a vector to a queue; trials with ``repeated`` labels (n <= 32) sample further labels first."""
    repeated &= chosen
    while repeated:
        redraw_lane(samples, trials, bits.lowest(repeated), lanes)
        repeated &= repeated - bits.ONE
    append_trials(queue, samples, trials, chosen, lanes)


@block
def decode_trial(queue, lanes, column):
    """Return the index of the trial in a column of the queue, from the last rows of the column: its lane and its group."""
    row = queue.rows - 1 - group_index_rows(lanes)
    lane = np.int64(queue.cells[_cell_index(lanes, row, column)])
    group = np.int64(0)
    for i in range(group_index_rows(lanes)):
        group |= np.int64(queue.cells[_cell_index(lanes, row + 1 + i, column)]) << (512 // lanes * i)
    part = group & (queue.parts - 1)
    return queue.origin + (group - part) * lanes + lane * queue.parts + part


@block
def drop_first_vector(queue, lanes):
    """Drop the first vector of columns, and move the rest down."""
    for k in range(queue.rows):
        simd.store(queue.cells, _cell_index(lanes, k, 0), simd.load(queue.cells, _cell_index(lanes, k, lanes)))
    queue.filled[0] = max(queue.filled[0] - lanes, np.int64(0))


# ---------------------------------------------------------------- the loop


@block
def queue_nothing(work, least, lanes, tally):
    """Return False: ``work_off`` of a subject without a queue."""
    return False


def make_sieve(inspect: Any, work_off: Any = queue_nothing, small: bool = False) -> Any:
    """Return the block ``sift_trials(key, first, stop, work, lanes, tally)``, which counts trials first .. stop - 1.

    ``work`` is the subject's workspace, with ``Samples`` in ``work.samples``.

    Parameters
    ----------
    inspect : block
        ``inspect(work, trials, lanes, tally)`` records the wanted trials of a ``TrialVector`` or queues them; it
        returns whether it queued any.
    work_off : block
        ``work_off(work, least, lanes, tally)`` decides the first vector of each queue with ``least`` columns or more; it
        returns whether trials are left in a queue.
    small : bool
        Whether n <= 8 is served in lanes of 16 bits.  If not, the compiler knows that vectors have one part, which saves 3% of
        the time of quick filters.
    """

    @block
    def sift_trials(key, first, stop, work, lanes, tally):
        samples = work.samples
        parts = count_parts(samples.n, lanes) if small else np.int64(1)
        words = samples.labels.view(np.uint64)
        pattern = lane_pattern(samples.n, lanes)
        start = first_sampled_trial(first, samples.n, lanes)
        vector = np.int64(0)  # which of the 4 sampled vectors, or 8 with two parts, is inspected next
        waiting = False
        while start < stop or waiting:
            draining = start >= stop
            queued = False
            if not draining:
                if vector == 0:
                    first_block = np.uint64(8 * (start // (lanes * parts)))
                    draw_four_vectors(key, first_block, samples.count, parts, pattern, words)
                part = vector & (parts - 1)
                at = vector * (samples.count + 1) * lanes
                queued = inspect(work, TrialVector(key, start + part, parts, at, first, stop), lanes, tally)
                vector = (vector + 1) & (4 * parts - 1)
                if part == parts - 1:
                    start += lanes * parts
            if draining or queued:
                waiting = work_off(work, 1 if draining else lanes, lanes, tally)

    return sift_trials
