"""How lines are told apart: seven colours for any sight, on white and on dark ground, and markers and dashes for grey print."""

from __future__ import annotations

from typing import Any

#: Contrast (WCAG 2) of each is at least 3:1 with white and with #111111, so a figure stands on either.  Any two differ by 27 or
#: more (CIE 1976) for normal sight, protanopia, deuteranopia and tritanopia (Machado, Oliveira & Fernandes 2009).
COLOURS = ("#5a53c8", "#cf7d04", "#1e9cd0", "#c01f29", "#81976d", "#8a5173", "#8f08ff")

#: What is not measured: the papers' statements, closed forms, bounds.
GREY = "#777777"

#: Points below which no letter of a figure is set.
SMALLEST = 7.0

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p")
#: Dotted is kept for closed forms.
_DASHES = ("-", "--", "-.", (0, (8, 2.5)), (0, (6, 1.5, 1, 1.5, 1, 1.5)))


def line_style(i: int, lines: int = 1) -> dict[str, Any]:
    """Keyword arguments of matplotlib for line i of ``lines``: no two of the first 55 have both marker and dashes alike."""
    kinds = {
        "color": COLOURS[i % len(COLOURS)],
        "marker": _MARKERS[i % len(_MARKERS)],
        "linestyle": _DASHES[i % len(_DASHES)],
    }
    return {**kinds, "markersize": 4.5 if lines <= 12 else 3.5, "linewidth": 1.3 if lines <= 12 else 1.0}
