"""Group lines that coincide within their intervals under one look and one entry of the legend."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..networks.family import network_families
from .lines import Line, is_drawable
from .panel import Panel
from .style import COLOURS, line_style
from .text import fill_lines

#: Numbers in words.
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

#: Width of the lines of an entry, in characters.
_NAMES_WIDTH = 34

#: Lines that are nowhere farther apart than this fraction of a panel's height hide one another.
_HIDDEN = 0.01


def _is_coinciding(one: Line, other: Line, log: bool) -> bool:
    """Whether two lines with several points have the same x values, and overlapping intervals or equal values at each.

    On a logarithmic scale a point without events is a limit, which does not coincide with a point that is drawn.
    """
    if one.x != other.x or len(one.x) < 2:
        return False
    pairs = [*zip(one.estimates, other.estimates, strict=True)]
    if log and any(is_drawable(a, log) != is_drawable(b, log) for a, b in pairs):
        return False
    return all(a.value == b.value or (a.low <= b.high and b.low <= a.high) for a, b in pairs)


def _is_hidden(one: Line, other: Line, panel: Panel) -> bool:
    """Whether two lines that coincide lie on one another in a panel, so that only one of them can be seen."""

    def height(value: float) -> float:
        if not panel.log:
            return value
        return math.log10(value) if value > 0 else -math.inf

    heights = [h for e in panel.estimates if math.isfinite(h := height(e.value))]
    tolerance = _HIDDEN * (max(heights, default=0.0) - min(heights, default=0.0))
    pairs = zip(one.estimates, other.estimates, strict=True)
    return all(a.value == b.value or abs(height(a.value) - height(b.value)) <= tolerance for a, b in pairs)


def group_lines(panels: Sequence[Panel], shown: Sequence[Panel]) -> None:
    """Group coinciding lines: all if the panels of a legend have more lines than colours, else those that hide one another.

    Lines hide one another if they are in the same panels and lie on one another in all.  ``panels`` are those of the whole
    figure, so that a line looks the same in a figure of some of its panels.  The entries name the lines of the panels ``shown``.
    """
    found: dict[str, dict[int, Line]] = {}
    for i, panel in enumerate(panels):
        for line in panel.measured_lines:
            if line.label is not None:
                found.setdefault(line.label, {})[i] = line
    enough_colours = len(found) <= len(COLOURS)
    groups: list[list[str]] = []
    for label, lines in found.items():
        for group in groups:
            pairs = [
                (one, found[other][i], panels[i]) for other in group for i, one in lines.items() if i in found[other]
            ]
            if len(pairs) < len(group) or not all(_is_coinciding(one, other, panel.log) for one, other, panel in pairs):
                continue
            same_panels = all(lines.keys() == found[other].keys() for other in group)
            if not enough_colours or (same_panels and all(_is_hidden(*pair) for pair in pairs)):
                group.append(label)
                break
        else:
            groups.append([label])
    if enough_colours and len(groups) == len(found):
        return
    shown_labels = {line.label for panel in shown for line in panel.measured_lines}
    for i, group in enumerate(groups):
        lines_of_group = [line for label in group for line in found[label].values()]
        named = [label for label in group if label in shown_labels]
        entry = _entry_text(named, [next(iter(found[label].values())) for label in named])
        for line in lines_of_group:
            line.look = lines_of_group[0].look if enough_colours else line.look | line_style(i, len(groups))
            line.entry = entry


def _entry_text(labels: list[str], lines: list[Line]) -> str | None:
    """Return a group's entry in the legend, ``five of degree 8 that coincide:`` then the names; None for one line or none."""
    if len(labels) < 2:
        return None
    known, degrees, networks = network_families(), set(), set()
    for line in lines:
        for point in line.points:
            name = None if point is None else str(point.get("network"))
            networks.add(name)
            degrees.add(known[name].degree(int(point["n"])) if point and name in known else None)
    number = _NUMBERS[len(labels)] if len(labels) < len(_NUMBERS) else len(labels)
    degree, *other_degrees = degrees
    differ = len(networks) == len(labels)  # lines of one network, such as two of its statistics, are not of a degree
    is_of_degree = differ and degree is not None and not other_degrees
    kind = f"of degree {degree} that coincide" if is_of_degree else "that coincide"
    end = ";" if any("," in label for label in labels) else ","
    names = fill_lines([*(label + end for label in labels[:-1]), labels[-1]], _NAMES_WIDTH)
    return "\n".join([f"{number} {kind}:", *names])
