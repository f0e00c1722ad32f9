"""Sample the two ends of a trial's message: different, nonfaulty, uniform (``docs/random.md``).

Node statuses are computed on demand.  Hundreds of trials are processed at a time.  Candidate pairs (s, t) of a trial are tested
until both nodes are nonfaulty and different.  If a point's source has ``new_statuses``, each candidate has statuses of its own,
so that given s and t all other nodes are faulty independently.  Else all candidates of a trial have the same statuses.

The ends of trials with f listed faults are sampled in ``faults.draw``.  In lanes of trials they need no code of their own: rows
f and f + 1 of the labels are s and t if the f + 2 labels differ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine import simd
from ..machine.array_types import I64, U64, Words
from ..machine.bits import ONE, ZERO, first_lanes, lowest, popcount
from ..machine.jit import block, scratch
from . import philox
from .lanes import valid_lanes
from .statuses import status_lanes

#: Number of trials in a batch.
BATCH = 512
#: Up to this number of label bits, a trial without a pair is tested for having two nonfaulty nodes at all, unless each candidate
#: has new statuses.
SEARCHED_BITS = 19

#: Number of candidates after which a waiting trial is processed by itself, and that test is made.
_FEW_PAIRS = 2**10
#: Number of candidates after which a trial is discarded.
_MOST_PAIRS = 2**20
#: With this number of trials, a vector of trials wastes as many lanes as a vector of candidates of one trial.
_FEW_WAITING = 2


class Pairs(NamedTuple):
    """A batch of trials with their ends, made by ``pair_arrays``.

    The arrays have BATCH + 16 entries, because vectors are stored whole.
    """

    keys: Words  #: status keys of the valid pairs
    sources: Words  #: s
    targets: Words  #: t
    trials: Words  #: indices of their trials
    waiting_keys: Words  #: status keys of trials still without a pair
    waiting_trials: Words  #: indices of these trials
    row: Words  #: scratch memory for users


class PairSource(NamedTuple):
    """The source of candidate pairs."""

    key: U64  #: key of the point
    limit: U64  #: ``nodes.threshold`` of the rate
    bits: I64  #: nodes are the labels of this number of bits
    new_statuses: bool  #: whether each candidate pair has a status key of its own


@scratch
def pair_arrays():
    """Return scratch memory for a batch of trials."""
    rows = np.zeros((7, BATCH + 16), np.uint64)
    return Pairs(rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6])


@block(always=True)
def _label_mask(source):
    """Return the vector of masks of a label's bits."""
    return simd.splat((ONE << np.uint64(source.bits)) - ONE)


@block
def _too_few_nonfaulty(status, source):
    """Whether fewer than two of all nodes are nonfaulty."""
    lanes = simd.iota(simd.splat(status))
    count = 0
    for node in range(0, np.int64(1) << source.bits, 8):
        found = status_lanes(simd.splat(status), simd.splat(np.uint64(node)) + lanes)
        inside = (simd.splat(np.uint64(node)) + lanes) <= _label_mask(source)
        count += popcount(simd.bits(inside & (simd.splat(source.limit) <= found)))
        if count >= 2:
            return False
    return True


@block(always=True)
def _valid_pairs(keys, limit, s, t):
    """Return the lanes in which s and t are nonfaulty and different, as bits."""
    least = simd.splat(limit)
    s_nonfaulty = least <= status_lanes(keys, s)
    t_nonfaulty = least <= status_lanes(keys, t)
    return simd.bits(s_nonfaulty & t_nonfaulty & (s != t))


@block(always=True)
def _draw_candidates(source, trials, i):
    """Return candidate pair number ``i`` of trial ``trials``, lane by lane: of eight trials, or eight pairs of one trial."""
    s, t = philox.mixed_lanes(source.key, trials, i, simd.splat(philox.PAIRS))
    return s & _label_mask(source), t & _label_mask(source)


@block(always=True)
def _status_keys(source, trials, i, status):
    """Return the status keys of candidates number ``i``: ``status``, or with ``new_statuses`` word i of each trial's block."""
    if not source.new_statuses:
        return status
    one = simd.splat(ONE)
    even, odd = philox.mixed_lanes(source.key, trials, i >> one, simd.splat(philox.STATUS_KEYS))
    return simd.select((i & one) == one, odd, even)


@block
def _find_valid_pair(first, at, found, source, pairs):
    """Make the first valid candidate of the waiting trial ``at`` pair number ``found``; return False if there is none.

    Candidates are tested from number ``first`` on, up to _MOST_PAIRS.
    """
    is_unchecked = source.bits <= SEARCHED_BITS and not source.new_statuses
    trial = simd.splat(pairs.waiting_trials[at])
    status = simd.splat(pairs.waiting_keys[at])
    for i in range(first, _MOST_PAIRS, 8):
        if is_unchecked and i > _FEW_PAIRS:
            if _too_few_nonfaulty(pairs.waiting_keys[at], source):
                return False
            is_unchecked = False
        numbers = simd.splat(np.uint64(i)) + simd.iota(status)
        s, t = _draw_candidates(source, trial, numbers)
        status = _status_keys(source, trial, numbers, status)
        valid = _valid_pairs(status, source.limit, s, t)
        if i + 8 > _MOST_PAIRS:
            valid &= first_lanes(np.int64(_MOST_PAIRS - i))
        if valid:
            lane = lowest(valid)
            _append_pairs(found, ONE << np.uint64(lane), status, s, t, trial, pairs)
            return True
    return False


@block(always=True)
def _append_pairs(found, valid, status, s, t, trial, pairs):
    """Append the lanes ``valid`` to the ``found`` pairs; return the new number."""
    simd.store_compressed(pairs.keys, found, valid, status)
    simd.store_compressed(pairs.sources, found, valid, s)
    simd.store_compressed(pairs.targets, found, valid, t)
    simd.store_compressed(pairs.trials, found, valid, trial)
    return found + popcount(valid)


@block(always=True)
def _append_waiting(waiting, invalid, status, trial, pairs):
    """Append the lanes ``invalid`` to the ``waiting`` trials; return the new number."""
    simd.store_compressed(pairs.waiting_keys, waiting, invalid, status)
    simd.store_compressed(pairs.waiting_trials, waiting, invalid, trial)
    return waiting + popcount(invalid)


@block(always=True)
def _draw_waiting(found, waiting, source, pairs):
    """Sample pairs of the trials whose first candidate was not valid, and return the number of pairs.

    One candidate of eight trials at a time is tested while many trials wait, then eight candidates of one trial.
    """
    i = np.int64(1)
    while waiting > _FEW_WAITING and i < _FEW_PAIRS:
        still_waiting = np.int64(0)  # the trials that wait are moved to the front, into places that have been read
        for v in range(0, waiting, 8):
            active = first_lanes(waiting - v)
            status, trial = simd.load(pairs.waiting_keys, v), simd.load(pairs.waiting_trials, v)
            number = simd.splat(np.uint64(i))
            s, t = _draw_candidates(source, trial, number)
            status = _status_keys(source, trial, number, status)
            valid = _valid_pairs(status, source.limit, s, t) & active
            found = _append_pairs(found, valid, status, s, t, trial, pairs)
            still_waiting = _append_waiting(still_waiting, active & ~valid, status, trial, pairs)
        waiting = still_waiting
        i += 1
    for v in range(waiting):
        found += np.int64(_find_valid_pair(i, v, found, source, pairs))
    return found


@block(always=True)
def _split_trials(start, wanted, candidates, found, waiting, source, pairs):
    """Append the wanted trials among eight: valid ones to the pairs, invalid ones to the waiting trials; return both numbers."""
    status, s, t = candidates
    s = s & _label_mask(source)
    t = t & _label_mask(source)
    trial = simd.splat(np.uint64(start)) + simd.iota(status)
    valid = _valid_pairs(status, source.limit, s, t) & wanted
    return _append_pairs(found, valid, status, s, t, trial, pairs), _append_waiting(
        waiting, wanted & ~valid, status, trial, pairs
    )


@block(always=True)
def draw_pairs(first, stop, source, pairs):
    """Sample trials first .. stop - 1, at most BATCH of them, into ``pairs``, in no particular order.

    Parameters
    ----------
    first, stop : int64
    source : PairSource
        2 <= bits <= 62, not checked.
    pairs : Pairs
        From ``pair_arrays``.

    Returns
    -------
    int64
        Number of trials with a valid pair among their first 2^20 candidates.  Without ``new_statuses`` and up to 2^19 labels, a
        trial with fewer than two nonfaulty nodes is discarded earlier.
    """
    found = np.int64(0)
    waiting = np.int64(0)
    of_status, of_pair = philox.STATUS_KEYS, philox.PAIRS
    for start in range(first - first % 16, stop, 16):
        # Word 0 for STATUS_KEYS is the trial's status key; words 0 and 1 for PAIRS are s and t of its first candidate.
        now, later = np.uint64(start), np.uint64(start + 8)
        status = philox.prepare_lanes(source.key, now, of_status), philox.prepare_lanes(source.key, later, of_status)
        ends = philox.prepare_lanes(source.key, now, of_pair), philox.prepare_lanes(source.key, later, of_pair)
        four = philox.four_word_lanes(source.key, (status[0], status[1], ends[0], ends[1]), (ZERO, ZERO, ZERO, ZERO))
        even, odd = simd.quarters(four[0]), simd.quarters(four[1])
        wanted, wanted_later = valid_lanes(start, 1, 8, first, stop), valid_lanes(start + 8, 1, 8, first, stop)
        found, waiting = _split_trials(start, wanted, (even[0], even[2], odd[2]), found, waiting, source, pairs)
        found, waiting = _split_trials(
            start + 8, wanted_later, (even[1], even[3], odd[3]), found, waiting, source, pairs
        )
    return _draw_waiting(found, waiting, source, pairs)
