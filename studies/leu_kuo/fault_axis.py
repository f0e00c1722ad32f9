"""The horizontal axis of the tree studies' figures: a number of faults."""

from typing import Any

from fastcube.results.results import Results


def axis_of_faults(results: Results) -> str:
    """Return ``links`` if any point has faulty links, else ``f``."""
    return "links" if any(point["links"] for point, _ in results) else "f"


def set_log_axis(panel: Any) -> None:
    """Make the axis of the numbers of faults logarithmic, because the grids double them."""
    panel.axes.set_xscale("log")
