"""Plots on pages: vector pictures on the page's own ground, in light and dark, panel by panel in a narrow window.

A comment ``<!-- drawn NAME: alternative text -->`` becomes the figure of the kept results ``NAME.h5``.
"""

import html
import re
from pathlib import Path

from fastcube.audit.report.figures import DARK_RULES, figure_svg

DRAWING_MARK = re.compile(r"<!-- drawn ([\w-]+): (.*?) -->")

#: Inches of a panel in a narrow window: 326 px, with letters of 7 points, which is more than 9 px.
NARROW = 3.4


def dark_twin(svg):
    """The same picture for a dark page."""
    return re.sub(r"(<svg\b[^>]*>)", rf"\1<style>{DARK_RULES}</style>", svg, count=1)


def write_twins(figure, path):
    """Write a figure for light and for dark pages: ``path`` ends in ``.svg``, its twin in ``-dark.svg``."""
    svg = figure_svg(figure, path.stem)
    path.write_text(svg)
    path.with_name(f"{path.stem}-dark.svg").write_text(dark_twin(svg))


def write_first_panel(figure, path):
    """Write the first panel alone, for a card: its legend and the title over all panels would lie on it."""
    for beside in (*figure.legends, *figure.texts):
        beside.set_visible(False)
    for other in figure.axes[1:]:  # a title of the next row may reach into the area
        other.title.set_alpha(0)
    area = figure.axes[0].get_tightbbox().transformed(figure.dpi_scale_trans.inverted()).padded(0.05)
    path.write_text(figure_svg(figure, path.stem, area))


def draw_results(results, path):
    """Write the whole figure of results, then each of its panels by itself as ``STEM-1.svg``, ``STEM-2.svg``, ...

    Nothing is drawn anew where the results and the package's drawing code are as they were.
    """
    from fastcube.errors import ParameterError
    from fastcube.results.provenance import hash_sources

    stamp, now = path.with_suffix(".stamp"), f"{results.digest()} {hash_sources(looks=True)}"
    if stamp.exists() and stamp.read_text() == now:
        return
    write_twins(results.plot(), path)
    for i in range(1, 100):
        try:
            panel = results.plot(panels=(i,), width=NARROW, style="screen")
        except ParameterError:
            break
        write_twins(panel, path.with_name(f"{path.stem}-{i}.svg"))
    stamp.write_text(now)


def _twins_html(address, alternative):
    text = html.escape(alternative)
    return "".join(
        f'<img class="only-{ground}" src="{address}{end}.svg" alt="{text}" loading="lazy">'
        for ground, end in (("light", ""), ("dark", "-dark"))
    )


def figure_html(pictures, name, alternative, folder):
    """A figure of ``folder`` as a page shows it; ``pictures`` leads to it from the page."""
    panels = sorted(path.stem for path in folder.glob(f"{name}-*.svg") if re.fullmatch(r"-\d+", path.stem[len(name) :]))
    narrow = "".join(
        _twins_html(f"{pictures}{panel}", f"{alternative}, panel {panel[len(name) + 1 :]}") for panel in panels
    )
    stacked = f'<div class="stacked">{narrow}</div>' if narrow else ""
    return f'<figure class="plot"><div class="whole">{_twins_html(f"{pictures}{name}", alternative)}</div>{stacked}</figure>'


def show_figures(page, text, folder):
    """A page's Markdown with its marks replaced by figures."""
    pictures = "../" * page.count("/") + "_static/"

    def shown(mark):
        return f"```{{raw}} html\n{figure_html(pictures, mark[1], mark[2], Path(folder))}\n```"

    return DRAWING_MARK.sub(shown, text)
