"""The look of lines: seven colours for any sight, on white and on dark background, and markers and dashes for grey print."""

from __future__ import annotations

from typing import Any

#: Contrast (WCAG 2) of each is at least 3:1 with white and with #111111, so a figure works on both.  Any two differ by 27 or
#: more (CIE 1976) for normal sight, protanopia, deuteranopia and tritanopia (Machado, Oliveira & Fernandes 2009).
COLOURS = ("#5a53c8", "#cf7d04", "#1e9cd0", "#c01f29", "#81976d", "#8a5173", "#8f08ff")

#: The colour of everything that is not measured: the papers' statements, closed forms, bounds.
GREY = "#777777"

#: Smallest letter size in a figure, in points.
SMALLEST = 7.0

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p")
#: Dash patterns of lines; dotted lines are reserved for closed forms.
_DASHES = ("-", "--", "-.", (0, (8, 2.5)), (0, (6, 1.5, 1, 1.5, 1, 1.5)))


def line_style(i: int, lines: int = 1) -> dict[str, Any]:
    """Return matplotlib's arguments for line i of ``lines``; no two of the first 55 lines share both marker and dashes.

    The markers of lines 7 to 13, whose colours are those of lines 0 to 6, are half filled, and so on by turns.
    """
    kinds = {
        "color": COLOURS[i % len(COLOURS)],
        "marker": _MARKERS[i % len(_MARKERS)],
        "linestyle": _DASHES[i % len(_DASHES)],
        "fillstyle": "bottom" if i // len(COLOURS) % 2 else "full",
    }
    return {**kinds, "markersize": 4.5 if lines <= 12 else 3.5, "linewidth": 1.3 if lines <= 12 else 1.0}
