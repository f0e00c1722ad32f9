"""Draw a sheet per figure: each cached result light, dark, grey, for a column of 3.3 inches and with a single point.

    python docs/sheets.py FOLDER [NAME ...]      # NAME.png in FOLDER; all of docs/results, or those named

Prints the faults that a program can find (letters too small or over one another, legends on panels, points cut off) and exits
with 1 if there are any.  People look at the sheets for all other faults.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import fastcube as fc
from fastcube.plot.style import SMALLEST

RESULTS_FOLDER = Path(__file__).parent / "results"

#: Inches of a column of a journal of two.
COLUMN_WIDTH = "3.3in"

#: Dots of an inch of each form on a sheet, and between two forms.
_DOTS, _GAP = {"light": 100, "dark": 60, COLUMN_WIDTH: 120, "one point": 60}, 20

#: Dots by which boxes may overlap, because letters do not fill their boxes.
_SLACK = 2.0


def load_results(name: str) -> fc.Results:
    """Return the cached results of a name."""
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "kept.h5")
        whole.write_bytes(gzip.decompress((RESULTS_FOLDER / f"{name}.h5.gz").read_bytes()))
        return fc.open_results(whole)


def select_middle_point(results: fc.Results) -> fc.Results:
    """Return the results of the middle point among the points with trials."""
    done = [key for key, tally in results.tallies.items() if tally.trials]
    middle = done[len(done) // 2]
    return replace(results, tallies={middle: results.tallies[middle]})


def figure_variants(results: fc.Results) -> Iterator[tuple[str, Any]]:
    """Yield the forms of a figure; ``grey`` is the light form in print."""
    yield "light", results.plot()
    yield "dark", results.plot(style="dark")
    yield COLUMN_WIDTH, results.plot(width=COLUMN_WIDTH)
    yield "one point", select_middle_point(results).plot()


# ---------------------------------------------------------------- what a program can see


def visible_texts(figure: Any) -> list[Any]:
    """Return all visible texts."""
    import matplotlib.text

    def iterate_texts(artist: Any) -> Iterator[Any]:
        if not artist.get_visible():
            return
        if isinstance(artist, matplotlib.text.Text) and artist.get_text().strip():
            yield artist
        for child in artist.get_children():
            yield from iterate_texts(child)

    found = list(iterate_texts(figure))
    unseen = {id(label) for axes in figure.axes for label in _labels_beyond_axis(axes)}
    return [text for text in found if id(text) not in unseen]


def _labels_beyond_axis(axes: Any) -> Iterator[Any]:
    """Yield the labels of ticks outside of the limits, which matplotlib stores but does not draw."""
    for axis, (low, high) in ((axes.xaxis, sorted(axes.get_xlim())), (axes.yaxis, sorted(axes.get_ylim()))):
        for tick in axis.get_major_ticks() + axis.get_minor_ticks():
            if not low <= tick.get_loc() <= high:
                yield from (tick.label1, tick.label2)


def find_figure_faults(figure: Any) -> Iterator[str]:
    """Yield the faults of a figure as text."""
    yield from _check_letters(figure)
    panels = [axes.get_window_extent() for axes in figure.axes]
    if len({round(box.x0) for box in panels}) > (1 if figure.get_size_inches()[0] < 4 else 2):
        yield f"{len(panels)} panels are more in a row than the width has room for"
    for axes in figure.axes:
        yield from _check_points(axes)
    legends = [legend for holder in (figure, *figure.axes) for legend in _check_legends(holder)]
    for legend in legends:
        box = legend.get_window_extent().padded(-_SLACK)
        if any(box.overlaps(panel) for panel in panels):
            yield f"the legend of {legend.get_texts()[0].get_text()!r} stands on a panel"


def _check_legends(holder: Any) -> list[Any]:
    return holder.legends if hasattr(holder, "legends") else [holder.get_legend()] if holder.get_legend() else []


def _check_letters(figure: Any) -> Iterator[str]:
    found = [(text, text.get_window_extent().padded(-_SLACK)) for text in visible_texts(figure)]
    whole = figure.bbox.padded(_SLACK)
    for text, box in found:
        if text.get_fontsize() < SMALLEST:
            yield f"{text.get_text()!r} has letters of {text.get_fontsize():.1f} points"
        if not (whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1):
            yield f"{text.get_text()!r} reaches out of the figure"
    for (one, box), (other, beside) in combinations(found, 2):
        turned = one.get_rotation() % 90 and other.get_rotation() % 90  # whose boxes overlap where they do not
        if box.overlaps(beside) and not turned:
            yield f"{one.get_text()!r} and {other.get_text()!r} are over one another"


def _check_points(axes: Any) -> Iterator[str]:
    """Yield the number of points and limits that the axes cut off."""
    frame = axes.get_window_extent()
    for line in axes.lines:
        data = np.asarray(line.get_xydata(), float)
        pixels = line.get_transform().transform(data[np.isfinite(data).all(axis=1)])
        if line.get_gid() in ("line", "limit"):
            outside = (pixels < (frame.x0 - 1, frame.y0 - 1)) | (pixels > (frame.x1 + 1, frame.y1 + 1))
            if outside.any():
                yield f"{int(outside.any(axis=1).sum())} points or limits are cut off"


# ---------------------------------------------------------------- the sheet


def render_image(figure: Any, dots: int) -> Any:
    """Return the figure as an image with this number of dots per inch."""
    from PIL import Image

    figure.set_dpi(dots)
    figure.canvas.draw()
    return Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")


def write_sheet(name: str, path: Path) -> list[str]:
    """Write the sheet of a cached result, and return the faults of its figures."""
    from PIL import Image

    found, drawn = [], {}
    for form, figure in figure_variants(load_results(name)):
        found += [f"{name}, {form}: {fault}" for fault in find_figure_faults(figure)]
        drawn[form] = render_image(figure, _DOTS[form])
    drawn["grey"] = drawn["light"].convert("L").convert("RGB").resize(drawn["dark"].size)
    rows = [[drawn[form] for form in row] for row in (("light", COLUMN_WIDTH), ("dark", "grey", "one point"))]
    wide = max(sum(image.width + _GAP for image in row) for row in rows)
    whole = Image.new("RGB", (wide, sum(max(image.height for image in row) + _GAP for row in rows)), "#cccccc")
    y = 0
    for row in rows:
        x = 0
        for image in row:
            whole.paste(image, (x, y))
            x += image.width + _GAP
        y += max(image.height for image in row) + _GAP
    whole.save(path)
    return found


def main(folder: str, *names: str) -> int:
    (to := Path(folder)).mkdir(parents=True, exist_ok=True)
    found: list[str] = []
    for name in names or sorted(path.name.removesuffix(".h5.gz") for path in RESULTS_FOLDER.glob("*.h5.gz")):
        found += write_sheet(name, to / f"{name}.png")
    print("\n".join(found) or "nothing that a program sees is wrong")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
