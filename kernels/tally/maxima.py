"""Blocks that update and read a maximum of a tally: the largest value over the trials, and the smallest trial that attains it.

The slot that a :class:`~fastcube.kernels.tally.layout.Layout` gives for a maximum holds the value, and the next slot the trial.
"""

from __future__ import annotations

from ..machine.jit import block


@block
def offer(tally, slot, value, trial):
    """Update a maximum with the value of one trial; among equal values the smallest trial wins."""
    if value > tally[slot] or (value == tally[slot] and trial < tally[slot + 1]):
        tally[slot] = value
        tally[slot + 1] = trial


@block
def read_maximum(tally, slot):
    """Return the value and the trial of a maximum."""
    return tally[slot], tally[slot + 1]
