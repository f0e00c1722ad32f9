"""How lines are told apart: colours that stand 3:1 on white and on dark ground, and markers and dashes for grey print."""

from __future__ import annotations

from typing import Any

#: Contrast (WCAG 2) of each is at least 3.2:1 with white and with #111111, so a figure stands on either; hues far apart.
COLOURS = ("#2b6cb0", "#d9541e", "#1f8a4c", "#8f5bc9", "#a87400", "#1590a0", "#cf4a8c", "#6f8000", "#a0522d")

#: What is not measured: the papers' statements, closed forms, bounds.
GREY = "#777777"

#: Points below which no letter of a figure is set.
SMALLEST = 7.0

#: Ends and turns of the colours for more lines than COLOURS has; everything between them keeps the contrast too.
_RAMP = ("#5b6bd5", "#1590a0", "#1f8a4c", "#7d7d00", "#b56a00", "#d9541e", "#cf4a8c", "#8f5bc9")

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p")
#: Dotted is kept for closed forms.
_DASHES = ("-", "--", "-.", (0, (8, 2.5)), (0, (6, 1.5, 1, 1.5, 1, 1.5)))


def _ramp_colour(share: float) -> str:
    at = share * (len(_RAMP) - 1)
    i = min(int(at), len(_RAMP) - 2)
    pairs = [(int(_RAMP[i][k : k + 2], 16), int(_RAMP[i + 1][k : k + 2], 16)) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * (at - i)):02x}" for a, b in pairs)


def line_style(i: int, lines: int = 1) -> dict[str, Any]:
    """Keyword arguments of matplotlib for line i of ``lines``: no two of the first 55 have both marker and dashes alike."""
    colour = COLOURS[i % len(COLOURS)] if lines <= len(COLOURS) else _ramp_colour((i % lines) / (lines - 1))
    kinds = {"color": colour, "marker": _MARKERS[i % len(_MARKERS)], "linestyle": _DASHES[i % len(_DASHES)]}
    return {**kinds, "markersize": 4.5 if lines <= 12 else 3.5, "linewidth": 1.3 if lines <= 12 else 1.0}
