"""Plots on pages: vector pictures on the page's own ground, in light and dark, panel by panel in a narrow window.

A line ``![alternative text](figures/NAME.png)`` of a page becomes the same figure as SVG.
"""

import html
import re

import drawings

from fastcube.plot.svg import dark_svg, figure_svg, narrow_panels


def write_twins(figure, path):
    """Write a figure for light and for dark pages: ``path`` ends in ``.svg``, its twin in ``-dark.svg``."""
    svg = figure_svg(figure)
    path.write_text(svg)
    path.with_name(f"{path.stem}-dark.svg").write_text(dark_svg(svg))


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
    path.write_text(figure_svg(figure, area))


def write_whole(figure, path):
    """Write a figure for light and for dark pages, and its card."""
    write_twins(figure, path)
    write_card(figure, path.with_name(f"{path.stem}-card.svg"))


def draw_results(results, path, whole=None):
    """Write the whole figure of results, each of its panels as ``STEM-1.svg``, ``STEM-2.svg``, ..., and ``STEM-card.svg``.

    ``whole`` is their figure if it has been plotted already.
    """
    for number, panel in narrow_panels(results):
        write_twins(panel, path.with_name(f"{path.stem}-{number}.svg"))
    write_whole(whole or results.plot(), path)


def draw_page_figure(name, folder):
    """Write a figure of a page, unless it, its results and the package's code for plots are as they were."""
    from fastcube.results.sources import ENGINE

    path = folder / f"{name}.svg"
    stamp, now = path.with_suffix(".stamp"), f"{drawings.describe_source(name)} {ENGINE.hash(looks=True)}"
    if stamp.exists() and stamp.read_text() == now:
        return
    if name in drawings.DRAWN:
        write_whole(drawings.draw_figure(name), path)
    else:
        draw_results(drawings.load_source(name), path, drawings.draw_figure(name))
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
    """A page's Markdown with the figures of the site in place of the PNG files."""
    pictures = "../" * page.count("/") + "_static/"

    def shown(place):
        return f"```{{raw}} html\n{figure_html(pictures, place[2], place[1], folder)}\n```"

    return drawings.PLACE.sub(shown, text)
