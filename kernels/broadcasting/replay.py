"""Sample the faults and the source of trial t for replay."""

from __future__ import annotations

from ..draws.faults import trial_faults


def broadcast(key, trial, n, f, links):
    """Return faulty nodes (uint64), faulty links as rows (lower end, upper end), and an array with the source."""
    return trial_faults(key, trial, n, f, links, 1)
