"""Markers that matplotlib lacks, and the number of markers on a line."""

from __future__ import annotations

from typing import Any

#: Largest number of markers on a line.
_MARKERS = 40


def limit_marker(up: bool) -> Any:
    """Return the marker of a limit: a bar at the limit, and an arrow to the side of the value."""
    from matplotlib.path import Path

    m, k = Path.MOVETO, Path.LINETO
    points = [(-0.3, 0.0), (0.3, 0.0), (0.0, 0.0), (0.0, -1.0), (-0.25, -0.65), (0.0, -1.0), (0.25, -0.65)]
    return Path([(x, -y if up else y) for x, y in points], [m, k, m, k, m, k, k])


def dashed_bar(pieces: int) -> Any:
    """Return the marker of a level at a single x: a bar of ``pieces`` dashes."""
    from matplotlib.path import Path

    ends = [(2 * k + end) / (2 * pieces - 1) - 0.5 for k in range(pieces) for end in (0, 1)]
    return Path([(x, 0.0) for x in ends], [Path.MOVETO, Path.LINETO] * pieces)


def marker_step(points: int) -> int:
    """Return the step between the points of a line that have a marker."""
    return -(-points // _MARKERS)
