"""Figures as SVG for pages: small, without a ground of their own, on light and dark pages, whole and panel by panel."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from . import study_figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..results.results import Results

#: Inches of a panel in a narrow window: 326 px, with letters of 8.5 points, which are 11 px.
NARROW = 3.4

#: Invisible parts of matplotlib's SVG: provenance, comments, line ends and indentation.
_INVISIBLE_SVG = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|<!--.*?-->|\s*\n\s*(?=<)", re.DOTALL)

#: Coordinates of paths, texts and translations, in 1/72 inch.  Definitions of marker shapes do not match.
_SVG_COORDINATES = re.compile(r'(?<= d=")[^"]*|(?<= [xy]=")[^"]*|(?<=translate\()[^)]*')

#: Matplotlib's list of fonts in the style of a text, the markers of a line, and a turn by no angle.
_FONTS = re.compile(r"font-family: 'DejaVu Sans', [^;\"]*?sans-serif(; )?")
_MARKERS = re.compile(r'<g([^>]*)>((?:<use xlink:href="#m\w+" x="[^"]*" y="[^"]*" style="[^"]*"/>){2,})</g>')
_NO_TURN = re.compile(r' transform="rotate\(-?0 [^)]*\)"')

#: CSS rules for a dark page: letters, which have no colour of their own, and frames become light, white becomes dark.
DARK_RULES = (
    'svg{fill:#ddd}[style*="stroke: #000000"]{stroke:#ddd!important}[style*="fill: #000000"]{fill:#ddd!important}'
    '[style*="fill: #ffffff"]{fill:#131416!important}[style*="stroke: #ffffff"]{stroke:#131416!important}'
)


def figure_svg(figure: Any, salt: str, area: Any = None, outlines: bool = True) -> str:
    """Return the figure, or an ``area`` of it in inches, as SVG without a ground.

    Coordinates are rounded to 0.01.  The same ``salt`` gives the same text.  Without ``outlines`` letters stay text in a font of
    the reader, which is as wide as matplotlib's or narrower, and the SVG has less than half the size.
    """
    import matplotlib as mpl

    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": salt, "svg.fonttype": "path" if outlines else "none"}):
        figure.savefig(out, format="svg", transparent=True, bbox_inches=area, metadata={"Date": None})
    svg = _NO_TURN.sub("", _FONTS.sub("", _INVISIBLE_SVG.sub("", out.getvalue())))
    if not outlines:
        svg = svg.replace("<svg ", '<svg font-family="DejaVu Sans,Verdana,sans-serif" ', 1)
    return _SVG_COORDINATES.sub(_round_coordinates, _remove_repetition(svg)).strip()


def _remove_repetition(svg: str) -> str:
    """Remove the names that nothing refers to, and state the style of a line's markers once."""
    used = set(re.findall(r"#([\w-]+)", svg))
    named = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in used else "", svg)
    return _MARKERS.sub(_hoist_style, named)


def _hoist_style(group: re.Match[str]) -> str:
    styles = set(re.findall(r' style="[^"]*"', group[2]))
    if len(styles) > 1 or "style=" in group[1]:
        return group[0]
    (style,) = styles
    return f"<g{group[1]}{style}>{group[2].replace(style, '')}</g>"


def _round_coordinates(places: re.Match[str]) -> str:
    rounded = re.sub(r"\d+\.\d{3,}", lambda n: f"{float(n[0]):.2f}".rstrip("0").rstrip("."), places[0])
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", " ".join(rounded.split()))


def narrow_panels(results: Results) -> Iterator[tuple[int, Any]]:
    """Yield each panel of the study's whole figure: its number, from 1, and a figure of it for a narrow window."""
    from .sheet import Sheet

    sheet = Sheet()
    study_figure(results, sheet)
    for number in sheet.drop_panels():
        yield number, results.plot(panels=(number,), width=NARROW, style="screen")
