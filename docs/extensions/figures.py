"""Plots on pages: vector pictures on the page's own ground, in light and dark, panel by panel in a narrow window.

A comment ``<!-- drawn NAME: alternative text -->`` becomes the figure of the kept results ``NAME.h5``.
"""

import html
import re

from fastcube.plot.svg import DARK_RULES, figure_svg, narrow_panels

DRAWING_MARK = re.compile(r"<!-- drawn ([\w-]+): (.*?) -->")

#: Figures with a size of their own: on the front page the picture, the sentence and the command are the first screen.
LAYOUTS = {"unsafe-fraction": {"width": 8.8, "height": 4.2, "style": "screen"}}


def dark_twin(svg):
    """The same picture for a dark page."""
    return re.sub(r"(<svg\b[^>]*>)", rf"\1<style>{DARK_RULES}</style>", svg, count=1)


def write_twins(figure, path):
    """Write a figure for light and for dark pages: ``path`` ends in ``.svg``, its twin in ``-dark.svg``."""
    svg = figure_svg(figure, path.stem)
    path.write_text(svg)
    path.with_name(f"{path.stem}-dark.svg").write_text(dark_twin(svg))


def write_card(figure, path):
    """Write the lines of the first panel alone, for a card: letters would be too small to read there."""
    figure.set_layout_engine("none")  # the axes stay where they were drawn
    for beside in (*figure.legends, *figure.texts):
        beside.set_visible(False)
    first, *others = figure.axes
    for axes in others:  # they may reach into the area
        axes.set_visible(False)
    first.set(title="", xlabel="", ylabel="")
    first.tick_params(which="both", labelleft=False, labelbottom=False)
    for text in (*first.texts, *([first.get_legend()] if first.get_legend() else [])):
        text.set_visible(False)
    area = first.get_window_extent().transformed(figure.dpi_scale_trans.inverted()).padded(0.08)
    path.write_text(figure_svg(figure, path.stem, area))


def write_whole(figure, path):
    """Write a figure for light and for dark pages, and its card."""
    write_twins(figure, path)
    write_card(figure, path.with_name(f"{path.stem}-card.svg"))


def draw_results(results, path, whole=None):
    """Write the whole figure of results, each of its panels as ``STEM-1.svg``, ``STEM-2.svg``, ..., and ``STEM-card.svg``.

    ``whole`` is their figure where it is there already.  Nothing is drawn anew where the results and the package's drawing
    code are as they were.
    """
    from fastcube.results.sources import ENGINE

    layout = LAYOUTS.get(path.stem, {})
    stamp, now = path.with_suffix(".stamp"), f"{results.digest()} {layout} {ENGINE.hash(looks=True)}"
    if stamp.exists() and stamp.read_text() == now:
        return
    whole = whole or results.plot(**layout)
    for number, panel in narrow_panels(results):
        write_twins(panel, path.with_name(f"{path.stem}-{number}.svg"))
    write_whole(whole, path)
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


def show_figures(page, text, folders):
    """A page's Markdown with its marks replaced by figures, which are in one of the folders."""
    pictures = "../" * page.count("/") + "_static/"

    def shown(mark):
        folder = next(folder for folder in folders if (folder / f"{mark[1]}.svg").exists())
        return f"```{{raw}} html\n{figure_html(pictures, mark[1], mark[2], folder)}\n```"

    return DRAWING_MARK.sub(shown, text)
