"""The figures of pages: plots of cached results, written as small PNG files that a forge shows too.

A line ``![alternative text](figures/NAME.png)`` of a page is the place of a figure. The site shows the same plot there as SVG.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sheets

import fastcube as fc

FOLDER = Path(__file__).resolve().parent / "figures"

#: The place of a figure on a page, with its alternative text and its name.
PLACE = re.compile(r"^!\[(.+)\]\((?:\.\./|docs/)*figures/([\w-]+)\.png\)$", re.MULTILINE)

#: Bytes of a file, so that a page opens at once and the repository stays small.
LARGEST = 60_000

#: Sizes other than the usual: on the front page the figure, the sentence and the command share the first screen.
LAYOUTS: dict[str, dict[str, Any]] = {"unsafe-fraction": {"width": 8.8, "height": 4.2, "style": "screen"}}


def load_lifetimes() -> fc.Results:
    """Return the results of which ``lifetime`` is a plot."""
    return sheets.load_results("survival-curve-links").sel(network="hypercube", failing="links", n=8)


def _draw_lifetimes() -> Any:
    """Plot the survival of Q_8 against time for three Weibull distributions of a link's life."""
    from matplotlib.figure import Figure
    from scipy import stats

    results, times = load_lifetimes(), np.linspace(0, 2, 41)
    axes = (figure := Figure(figsize=(6.6, 4), layout="constrained")).subplots()
    for shape, dashes in ((0.7, "-"), (1, "--"), (2, ":")):
        life = fc.lifetime(results, stats.weibull_min(shape, scale=1 / math.gamma(1 + 1 / shape)))
        estimates = [life.survival(time) for time in times]
        axes.plot(times, [e.value for e in estimates], dashes, label=f"Weibull shape {shape}")
        axes.fill_between(times, [e.low for e in estimates], [e.high for e in estimates], alpha=0.3)
    axes.set(xlabel="time in mean lives of a link", ylabel="P(no disconnection until then)")
    axes.legend()
    return figure


#: Figures other than the plot of the cached results of their name.
DRAWN: dict[str, tuple[Callable[[], fc.Results], Callable[[], Any]]] = {"lifetime": (load_lifetimes, _draw_lifetimes)}


def load_source(name: str) -> fc.Results:
    """Return the results of which the figure is a plot."""
    return DRAWN[name][0]() if name in DRAWN else sheets.load_results(name)


def draw_figure(name: str) -> Any:
    """Plot the figure of a name."""
    return DRAWN[name][1]() if name in DRAWN else load_source(name).plot(**LAYOUTS.get(name, {}))


def describe_source(name: str) -> str:
    """Return the text inside the file of a figure, which names its results and its layout."""
    return f"{load_source(name).digest()} {LAYOUTS.get(name, {})}"


def read_source(path: Path) -> str:
    """Return that text of a file; empty if there is no file."""
    from PIL import Image

    if not path.exists():
        return ""
    with Image.open(path) as image:
        return str(image.info.get("Source", ""))


def write_figures(names: set[str]) -> None:
    """Write the figures whose results have changed, and remove the files of other names."""
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.png"):
        if path.stem not in names:
            path.unlink()
    for name in sorted(names):
        path, source = FOLDER / f"{name}.png", describe_source(name)
        if read_source(path) != source:
            path.write_bytes(_encode_png(draw_figure(name), source))


def _encode_png(figure: Any, source: str) -> bytes:
    """Return the figure with 64 colours, at the highest resolution that is small enough."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    (about := PngInfo()).add_text("Source", source)
    for dots in (120, 110, 100, 90, 80):
        figure.savefig(drawn := io.BytesIO(), format="png", dpi=dots, facecolor="white")
        Image.open(drawn).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(
            written := io.BytesIO(), "png", optimize=True, pnginfo=about
        )
        if written.tell() <= LARGEST:
            return written.getvalue()
    raise ValueError(f"a figure must fit into {LARGEST:,} bytes, got {written.tell():,} at {dots} dots per inch")
