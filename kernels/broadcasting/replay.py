"""What trial t draws, for replay: one function a study."""

from __future__ import annotations

from ..draws.faults import trial_faults


def broadcast(key, trial, n, f, links):
    """Faulty nodes (uint64), faulty links as rows (lower end, upper end), and the source in an array."""
    return trial_faults(key, trial, n, f, links, 1)
