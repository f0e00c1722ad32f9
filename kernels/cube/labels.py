"""Sets of labels: open addressing in a table of a power of two places.

For what is too many to be searched one after another (about 32 labels; below that a scan of a list is faster).
``find_slot`` works on any part of any ``uint64`` array, for those who keep their entries among other things; a ``LabelSet`` is
a set by itself, which a trial fills with ``add_label`` and empties with ``clear_labels`` in time proportional to its labels:

    seen = label_set(1000)              # in a @scratch: once a call
    if add(seen, label): ...            # True when it was not there
    if contains(seen, label): ...
    clear(seen)                         # before the next trial

Lanes keep sets as bitmasks or look at all earlier rows (a vector comparison a pair); what they leave over comes here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine.array_types import I64, Ints, Words
from ..machine.bits import GOLDEN, ONE, ZERO
from ..machine.jit import block, scratch

# Bits 40 and up of the product: with tables of up to 2^24 places they hang on all lower bits of a label.
_40 = np.uint64(40)


class LabelSet(NamedTuple):
    """A set of labels below 2^63, made by :func:`label_set`."""

    table: Words  #: label + 1, or 0 where nothing is; at most half of it is filled
    places: Ints  #: the filled places, in the order of entry
    counts: Ints  #: two entries: number of labels, and 1 once a label found no space
    capacity: I64  #: most labels


@block(always=True)
def find_slot(table, base, slots, entry):
    """Place of ``entry`` (uint64, not 0) among ``slots`` places of ``table`` from ``base``, or the empty one where it belongs."""
    place = np.int64((entry * GOLDEN) >> _40) & (slots - 1)
    while table[base + place] != ZERO and table[base + place] != entry:
        place = (place + 1) & (slots - 1)
    return base + place


@scratch
def label_set(capacity):
    """An empty set with room for ``capacity`` <= 2^23 labels, or the next power of two (and for none when 0)."""
    size = np.int64(2)
    while size < 2 * capacity:
        size *= 2
    return LabelSet(np.zeros(size, np.uint64), np.empty(size >> 1, np.int64), np.zeros(2, np.int64), size >> 1)


@block
def add_label(labels, label):
    """Enter a label; whether it is new.  Without room nothing is entered, the answer is True and ``counts[1]`` becomes 1."""
    at = find_slot(labels.table, np.int64(0), 2 * labels.capacity, label + ONE)
    if labels.table[at] != ZERO:
        return False
    if labels.counts[0] == labels.capacity:
        labels.counts[1] = 1
        return True
    labels.table[at] = label + ONE
    labels.places[labels.counts[0]] = at
    labels.counts[0] += 1
    return True


@block
def has_label(labels, label):
    """Whether a label is in the set."""
    return labels.table[find_slot(labels.table, np.int64(0), 2 * labels.capacity, label + ONE)] != ZERO


@block
def clear_labels(labels):
    """Empty the set."""
    for i in range(labels.counts[0]):
        labels.table[labels.places[i]] = ZERO
    labels.counts[0] = 0
    labels.counts[1] = 0
