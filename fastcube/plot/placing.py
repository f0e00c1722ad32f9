"""Where things go in a panel: its scale and limits, its ticks, and labels that keep clear of the lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from .words import broken

#: Data that span this factor are drawn on a logarithmic axis.
DECADES = 100.0

#: Pixels of a leader that are as bad as a label on 3 pixels of a line.
_NEAR = 30.0

#: Most ticks that are set one by one.
_TICKS = 14


def limits(values: Iterable[float], log: bool, below: float) -> tuple[float, float]:
    """Limits of an axis around the values, with ``below`` of its length left free under them.

    Linear axes of values that are never negative start at 0 unless all values are far from it; logarithmic ones show
    at least a decade.
    """
    inside = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
    if not inside:
        return (0.1, 1.0) if log else (0.0, 1.0)
    low, high = min(inside), max(inside)
    if log:
        a, b = math.log10(low), math.log10(high)
        if b - a < 1:
            a, b = (a + b - 1) / 2, (a + b + 1) / 2
        return float(10 ** (a - below * (b - a))), float(10 ** (b + 0.06 * (b - a)))
    if low >= 0 and low < 0.6 * high:
        return (-below * high if low < 0.05 * high else 0.0), high + 0.05 * high
    span = high - low or abs(high) or 1.0
    return low - max(below, 0.05) * span, high + 0.05 * span


def _gap(at: Sequence[float]) -> float:
    """The smallest distance between neighbours, as a share of the whole."""
    return min((b - a for a, b in pairwise(at)), default=math.inf) / (at[-1] - at[0] or 1.0)


def _geometric(at: Sequence[float]) -> bool:
    """Whether ascending values are spread better on a logarithmic axis: powers of two, say."""
    if len(at) < 4 or at[0] <= 0 or at[-1] < 8 * at[0]:
        return False
    return _gap([math.log(x) for x in at]) > 2 * _gap(at)


def _ticks(at: Sequence[float], along: Sequence[float], share: float) -> list[float]:
    """The data's values, and where there is no room for the labels of all, as many as keep ``share`` of the axis apart."""
    whole = along[-1] - along[0] or 1.0
    kept: list[int] = []
    for i, x in enumerate(along):
        if not kept or x - along[kept[-1]] >= share * whole:
            kept.append(i)
    return [at[i] for i in kept]


def set_x(axes: Any, values: Sequence[float], integer: bool, letters: float) -> None:
    """Scale, limits and ticks of the horizontal axis: ticks where the data are, as far as there is room for their labels.

    Round numbers instead for values evenly spaced of which only some have room, and for values of many digits.  ``letters``
    is the labels' size in points.
    """
    from matplotlib.ticker import FixedLocator, FormatStrFormatter, MaxNLocator, NullFormatter

    at = sorted(set(values))
    if log := _geometric(at) or (axes.get_xscale() == "log" and at[0] > 0):
        axes.set_xscale("log")
    along = [math.log(x) for x in at] if log else at
    low, high = along[0], along[-1]
    pad = 0.04 * (high - low) or (1.0 if integer and not log else 0.1 * abs(high) or 0.1)
    axes.set_xlim(*(math.exp(x) if log else x for x in (low - pad, high + pad)))
    wide = axes.get_window_extent().width / axes.figure.dpi * 72
    room = (0.6 * letters * max(len(f"{x:g}") for x in at) + 0.5 * letters) / wide
    even = not log and len(at) > 2 and at[-1] - at[0] < 1.01 * (len(at) - 1) * _gap(at) * (at[-1] - at[0])
    short = len(at) == 1 or all(float(f"{x:.3g}") == x or float(x).is_integer() for x in at)
    if not log and (not short or (even and (len(at) > _TICKS or _gap(along) < room))):
        most = max(3, min(10, int(1 / room)))
        axes.xaxis.set_major_locator(MaxNLocator(most, integer=integer, steps=[1, 2, 5, 10]))
    else:
        axes.xaxis.set_major_locator(FixedLocator(_ticks(at, along, room)))
        axes.xaxis.set_major_formatter(FormatStrFormatter("%d" if integer else "%g"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.minorticks_off()


def _covered(axes: Any) -> Any:
    """Pixels that lines, markers and bars of the panel pass through, at most 3 pixels apart along them: shape (k, 2)."""
    import numpy as np

    paths = [(line.get_xydata(), line.get_transform()) for line in axes.lines]
    for collection in axes.collections:
        paths += [(path.vertices, collection.get_transform()) for path in collection.get_paths()]
    out = [np.empty((0, 2))]
    for data, transform in paths:
        pixels = transform.transform(np.asarray(data, float).reshape(-1, 2))
        out.append(pixels)
        for (x, y), (u, v) in pairwise(pixels):
            length = math.hypot(u - x, v - y)
            if math.isfinite(length) and length > 3:
                steps = min(2000, int(length / 3) + 1)
                out.append(np.linspace((x, y), (u, v), steps))
    found = np.concatenate(out)
    return found[np.isfinite(found).all(axis=1)]


def _hidden(box: Any, covered: Any, taken: list[Any], frame: Any) -> float:
    """How much of what is drawn the box would cover; infinite outside the frame."""
    if box.x0 < frame.x0 or box.x1 > frame.x1 or box.y0 < frame.y0 or box.y1 > frame.y1:
        return math.inf
    x, y = covered.T
    hits = int(((box.x0 <= x) & (x <= box.x1) & (box.y0 <= y) & (y <= box.y1)).sum())
    return float(hits) + 1000.0 * sum(1 for other in taken if box.overlaps(other))


def _spots(path: Any, size: tuple[float, float], frame: Any) -> list[tuple[float, float, float, Any]]:
    """Places (cost, x, y, nearest point of the path) in pixels for a box: along the path first, then ever farther."""
    import numpy as np

    width, height = size
    gap = 5.0
    out = []
    for order, share in enumerate((1.0, 0.0, 0.5, 0.75, 0.25, 0.9, 0.1) if path[-1][0] > path[0][0] else (0.5,)):
        at = path[round(share * (len(path) - 1))]
        x = at[0] - width * share
        out += [(order / 100, x, at[1] + gap, at), (order / 100, x, at[1] - gap - height, at)]
    out.append((0.5, frame.x1 - width, path[-1][1] + gap, path[-1]))
    columns, rows = 12, int(2 * frame.height / height)
    for i in range(columns + 1):
        for k in range(rows):
            x, y = frame.x0 + (frame.width - width) * i / columns, frame.y0 + height * k / 2
            corner = np.clip(path, (x, y), (x + width, y + height))
            far = np.hypot(*(path - corner).T)
            out.append((1.0 + float(far.min()) / _NEAR, x, y, path[int(far.argmin())]))
    return out


def place(axes: Any, text: Any, line: Sequence[tuple[float, float]], taken: list[Any]) -> None:
    """Move the text to where it covers least: along the line (points in data), else nearby with a leader.

    Broken in two lines where only that fits along the line.  ``taken`` are boxes of labels placed before, in pixels; the
    text's own is added.  The figure must be laid out.
    """
    import numpy as np
    from matplotlib.transforms import Bbox

    frame = axes.get_window_extent().padded(-3)
    corners = axes.transData.transform(np.array(line, float))
    steps = np.linspace(0, len(line) - 1, 60)
    path = np.column_stack([np.interp(steps, range(len(line)), corners[:, i]) for i in (0, 1)])
    covered = _covered(axes)
    whole = text.get_text()
    found = []
    for tried, words in enumerate(dict.fromkeys([whole, broken(whole)])):
        text.set_text(words)
        extent = text.get_window_extent()
        for cost, x, y, end in _spots(path, (extent.width, extent.height), frame):
            box = Bbox.from_bounds(x, y, extent.width, extent.height)
            total = cost + tried / 4 + _hidden(box.padded(2), covered, taken, frame)
            begin = np.clip(end, (box.x0, box.y0), (box.x1, box.y1))
            if cost >= 1 and math.isfinite(total):  # a leader that crosses lines is nearly as bad as a label on them
                away = np.hypot(*(covered[:, None, :] - np.linspace(begin, end, 12)[None, 1:-2, :]).T)
                total += 0.2 * int((away.min(axis=0) < 3).sum())
            found.append((total, words, box, begin, end, cost >= 1))
    total, words, box, begin, end, led = min(found, key=lambda f: f[0])
    text.set_text(words)
    if not math.isfinite(total):  # the text is larger than the panel
        return
    text.set_position(axes.transAxes.inverted().transform((box.x0, box.y0)))
    taken.append(box)
    if led:
        (a, c), (b, d) = axes.transAxes.inverted().transform([begin, end])
        axes.plot([a, b], [c, d], transform=axes.transAxes, color=text.get_color(), linewidth=0.6, gid="leader")
