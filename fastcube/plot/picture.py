"""Pictures of a small network as SVG that stands alone: for slides, exercises, bug reports and notebooks.

A picture has its own ground and, on a screen with dark colours, dark ones.  Colour never carries a meaning alone, so it can be
printed in grey.  Several drawings of one trial, such as the paths of several algorithms, are panels, one below the other.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from . import check_picture_target, save_picture
from .network_drawing import DARK, LIGHT, Drawing, describe_drawing, drawing_elements

# Lengths of the text around a drawing, in the drawing's units.

#: Least width of a picture, so that a legend fits.
_LEAST_WIDTH = 300.0

#: Distance of two lines of text, and sizes of the letters of texts and of the title.
_LINE, _LETTERS, _TITLE_LETTERS = 17.0, 12.0, 13.0

#: Distance of texts from the left and the right edge.
_EDGE = 8.0

#: Distance from a sign to its words, and gap between two entries of a legend.
_SIGN, _GAP = 30.0, 14.0

#: The mean width of a sans-serif letter, as a fraction of its size; wide enough for every common font.
_LETTER_WIDTH = 0.56


class Picture:
    """A picture as SVG text, made by ``fastcube.draw``.

    A notebook shows it, ``str`` returns the text, and ``save`` writes a file.
    """

    __slots__ = ("_svg",)

    def __init__(self, svg: str) -> None:
        self._svg = svg

    def __str__(self) -> str:
        return self._svg

    def __repr__(self) -> str:
        width, height = re.findall(r' (?:width|height)="(\d+)"', self._svg)[:2]
        return f"Picture({width} x {height})"

    def _repr_svg_(self) -> str:
        return self._svg

    def save(self, path: str) -> None:
        """Write the picture to a file whose name ends in ``.svg``.

        Raises ParameterError for another name, and ResultFileError if the file cannot be written or is not a picture.
        """
        save_picture("path", check_picture_target("path", path, (".svg",)), self._svg.encode())


class Sign(NamedTuple):
    """An entry of the legend below a drawing."""

    #: ``faulty``, ``unsafe``, ``broken``, ``within``, ``sent``, ``blocked``, a text in a node, or empty for words alone
    symbol: str
    meaning: str


@dataclass(frozen=True)
class PicturePanel:
    """One drawing with a line above it, and the signs of its marks below it."""

    drawing: Drawing
    signs: tuple[Sign, ...] = ()
    heading: str = ""


def compose_picture(title: str, panels: Sequence[PicturePanel]) -> Picture:
    """Return the panels, one below the other, each with its heading and its signs in words; ``title`` is above all of them."""
    drawn = [(panel, *drawing_elements(panel.drawing, LIGHT)) for panel in panels]
    width = max(_LEAST_WIDTH, *(box[2] for _, _, box in drawn)) + _EDGE
    parts, y = [], 6.0
    for line in _wrap(title, width - 2 * _EDGE, _TITLE_LETTERS):
        y += _LINE
        parts.append(_write(_EDGE, y, line, "heading", _TITLE_LETTERS, "700"))
    for panel, elements, (left, top, drawing_width, drawing_height) in drawn:
        for line in _wrap(panel.heading, width - 2 * _EDGE, _LETTERS):
            y += _LINE
            parts.append(_write(_EDGE, y, line, "heading", _LETTERS))
        y += 4
        move = f"translate({(width - drawing_width) / 2 - left:.1f} {y - top:.1f})"
        parts.append(f'<g transform="{move}">{elements}</g>')
        y += drawing_height + 2
        legend, y = _write_signs(panel.signs, width, y)
        parts.append(legend)
        y += 8
    texts = (f"{panel.heading}: {describe_drawing(panel.drawing)}".removeprefix(": ") for panel in panels)
    description = ". ".join(filter(None, texts))
    return Picture(_write_document(f"{width:.0f}", f"{y:.0f}", title, description, "".join(parts)))


def _write_document(width: str, height: str, title: str, description: str, content: str) -> str:
    """Return a whole SVG document with its own ground, and dark colours for dark screens."""
    dark = "".join(
        f'.fastcube-drawing [{key}="{light}"]{{{key}:{dark}}}'
        for light, dark in DARK.items()
        for key in ("fill", "stroke")
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="fastcube-drawing" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" font-family="ui-monospace,DejaVu Sans Mono,Consolas,monospace">'
        f"<title>{html.escape(title)}</title><desc>{html.escape(description)}</desc>"
        f"<style>@media (prefers-color-scheme:dark){{{dark}}}</style>"
        f'<rect class="ground" width="{width}" height="{height}" fill="{LIGHT["ground"]["fill"]}"/>'
        f"{content}</svg>\n"
    )


def _wrap(text: str, width: float, letters: float) -> list[str]:
    """Return a text as lines that fit into ``width`` with letters of this size."""
    return textwrap.wrap(text, int(width / (letters * _LETTER_WIDTH)))


def _write(x: float, y: float, text: str, name: str, letters: float, weight: str = "400") -> str:
    """Return a text of the class ``name`` as SVG, with letters of this size."""
    style = f'font-family="Helvetica,Arial,DejaVu Sans,sans-serif" font-size="{letters:g}" font-weight="{weight}"'
    fill = LIGHT[name]["fill"]
    return f'<text class="{name}" x="{x:.0f}" y="{y:.0f}" fill="{fill}" {style}>{html.escape(text)}</text>'


def _write_signs(signs: Sequence[Sign], width: float, y: float) -> tuple[str, float]:
    """Return the signs with their words, as many in a line as there is space for, and the bottom of the last line."""
    parts, x = [], width
    for symbol, meaning in signs:
        indent = _SIGN * bool(symbol)
        lines = _wrap(meaning, width - indent - 2 * _EDGE, _LETTERS)
        length = indent + max(map(len, lines)) * _LETTERS * _LETTER_WIDTH + _GAP
        if x + length - _GAP > width - _EDGE:
            x, y = _EDGE, y + _LINE
        parts.append(_draw_symbol(symbol, x, y - 4))
        for i, line in enumerate(lines):
            y += _LINE * bool(i)
            parts.append(_write(x + indent, y, line, "legend", _LETTERS))
        x += length
    return "".join(parts), y


def _draw_symbol(symbol: str, x: float, y: float) -> str:
    """Return the symbol of a sign: a node, a line, an arrow, a node with a text in it, or nothing."""
    if not symbol:
        return ""
    if symbol in ("broken", "within", "sent", "blocked"):
        line = f'<path class="sign" {_look_attributes(symbol)} d="M{x:.0f} {y:.0f}h24"/>'
        head = f'<path class="sign" {_look_attributes("head")} d="M{x + 26:.0f} {y:.0f}l-8 -4v8z"/>'
        return line + head * (symbol in ("sent", "blocked"))
    kind = symbol if symbol in ("faulty", "unsafe") else "plain"
    text = {"faulty": "\N{MULTIPLICATION SIGN}", "unsafe": "1"}.get(symbol, symbol)
    look = _look_attributes("inside faulty" if kind == "faulty" else "inside")
    return (
        f'<circle class="sign" cx="{x + 12:.0f}" cy="{y:.0f}" r="7.5" {_look_attributes(kind)}/>'
        f'<text class="sign" x="{x + 12:.0f}" y="{y + 4:.0f}" {look} font-size="11" text-anchor="middle">{text}</text>'
    )


def _look_attributes(kind: str) -> str:
    """Return the attributes of a class on light ground."""
    return " ".join(f'{key}="{value}"' for key, value in LIGHT[kind].items())
