"""Sets of labels: hash tables with open addressing and a power of two of slots.

They serve sets of more than about 32 labels, below which a scan of a list is faster.  ``find_slot`` works on a section of any
``uint64`` array, for tables stored among other data.  A ``LabelSet`` is a set by itself.  A trial fills it with ``add_label`` and
empties it with ``clear_labels``, in time proportional to its labels::

    seen = label_set(1000)                    # in a @scratch, once per call
    if add_label(seen, label): ...            # True if it was not there
    if has_label(seen, label): ...
    clear_labels(seen)                        # before the next trial

Lane kernels use bitmasks or compare all earlier rows (one vector comparison per pair); the trials they leave over use this
module.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine.array_types import I64, Ints, Words
from ..machine.bits import GOLDEN, ONE, ZERO
from ..machine.jit import block, scratch

#: Bits 40 and up of the product: in tables of up to 2^24 slots they depend on all lower bits of a label.
_40 = np.uint64(40)

#: Indices of ``LabelSet.counts``: number of labels, and 1 once a label found the set full.
STORED_LABELS, IS_FULL = np.int64(0), np.int64(1)


class LabelSet(NamedTuple):
    """A set of labels below 2^63, or of other such numbers, made by ``label_set``."""

    table: Words  #: label + 1, or 0 for an empty slot; at most half of the slots are filled
    places: Ints  #: the filled slots, in the order of insertion
    counts: Ints  #: STORED_LABELS and IS_FULL
    capacity: I64  #: largest number of labels


@block(always=True)
def find_slot(table, base, slots, entry):
    """Return the slot of ``entry`` (uint64, not 0) among ``slots`` slots of ``table`` from ``base``, or its empty slot."""
    place = np.int64((entry * GOLDEN) >> _40) & (slots - 1)
    while table[base + place] != ZERO and table[base + place] != entry:
        place = (place + 1) & (slots - 1)
    return base + place


@scratch
def label_set(capacity):
    """Return an empty set for ``capacity`` <= 2^23 labels, rounded up to a power of two; 0 makes the smallest, of capacity 1."""
    size = np.int64(2)
    while size < 2 * capacity:
        size *= 2
    return LabelSet(
        np.zeros(size, np.uint64), np.empty(size >> 1, np.int64), np.zeros(IS_FULL + 1, np.int64), size >> 1
    )


@block
def add_label(labels, label):
    """Add a label; return whether it is new.  In a full set nothing is added, True is returned and IS_FULL becomes 1."""
    at = find_slot(labels.table, np.int64(0), 2 * labels.capacity, label + ONE)
    if labels.table[at] != ZERO:
        return False
    if labels.counts[STORED_LABELS] == labels.capacity:
        labels.counts[IS_FULL] = 1
        return True
    labels.table[at] = label + ONE
    labels.places[labels.counts[STORED_LABELS]] = at
    labels.counts[STORED_LABELS] += 1
    return True


@block
def has_label(labels, label):
    """Whether a label is in the set."""
    return labels.table[find_slot(labels.table, np.int64(0), 2 * labels.capacity, label + ONE)] != ZERO


@block
def clear_labels(labels):
    """Empty the set."""
    for i in range(labels.counts[STORED_LABELS]):
        labels.table[labels.places[i]] = ZERO
    labels.counts[STORED_LABELS] = 0
    labels.counts[IS_FULL] = 0
