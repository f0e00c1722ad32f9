"""Figures as SVG for pages: small, without a ground of their own, on light and dark pages, whole and panel by panel."""

from __future__ import annotations

import io
import re
import unicodedata
from itertools import groupby
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from . import study_figure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from ..results.results import Results

#: Inches of a panel in a narrow window: 326 px, with letters of 8.5 points, which are 11 px.
NARROW = 3.4

#: Declarations of namespaces, and the old prefix of ``href``.
_NAMESPACES = re.compile(r' xmlns(?::xlink)?="[^"]*"|(?<= )xlink:(?=href=)')

#: Matplotlib's default font with its list of replacements, and colours of six digits that three can say.
_DEFAULT_FONT = re.compile(r"font-family:'DejaVu Sans'(?:,[^;]*)?(?:;|$)")
_LONG_COLOUR = re.compile(r"#(\w)\1(\w)\2(\w)\3\b")

#: The colours of a dark page in place of black and white.
_DARK_COLOURS = {"#000": "#ddd", "#fff": "#131416"}

#: The rules of a picture.
_RULES = re.compile(r"(?<=<style>)[^<]*")


def figure_svg(figure: Any, area: Any = None, outlines: bool = True) -> str:
    """Return the figure, or an ``area`` of it in inches, as SVG for a light page, without a ground.

    Coordinates are rounded to 0.1, and below 10 to 0.01.  The same figure gives the same text.  Its names and classes are
    letters, so it must be an image of its own and not a part of a page.  Without ``outlines`` letters stay text in a font of the
    reader, which is as wide as matplotlib's or narrower.
    """
    import matplotlib as mpl

    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "", "svg.fonttype": "path" if outlines else "none"}):
        figure.savefig(out, format="svg", transparent=True, bbox_inches=area, metadata={"Date": None})
    root = ElementTree.fromstring(_NAMESPACES.sub("", out.getvalue()))  # noqa: S314  matplotlib wrote it
    shared = "".join(_shorten_style(style.text or "") for style in root.iter("style"))
    root[:] = _shorten_children(root)
    size = {name: root.attrib[name] for name in ("width", "height", "viewBox")}
    root.attrib = {"xmlns": "http://www.w3.org/2000/svg", **size}
    if not outlines:
        root.set("font-family", "DejaVu Sans,Verdana,sans-serif")
    _shorten_names(root)
    style = ElementTree.Element("style")
    style.text = shared.replace("*", "svg") + _move_styles_to_classes(root)
    root.insert(0, style)
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def dark_svg(svg: str) -> str:
    """Return a picture of ``figure_svg`` for a dark page: black lines and letters become light, and white becomes dark."""
    return _RULES.sub(lambda rules: f"svg{{fill:#ddd}}{_darken(rules[0])}", svg, count=1)


def adaptive_svg(svg: str) -> str:
    """Return a picture of ``figure_svg`` that is light or dark as its reader prefers."""

    def add_dark_rules(rules: re.Match[str]) -> str:
        changed = "".join(_darken(rule) for rule in re.findall(r"[^}]*}", rules[0]) if _darken(rule) != rule)
        return f"{rules[0]}@media (prefers-color-scheme:dark){{svg{{fill:#ddd}}{changed}}}"

    return _RULES.sub(add_dark_rules, svg, count=1)


def _darken(rules: str) -> str:
    """Return style rules with the colours of a dark page."""
    return re.sub(r"#(?:000|fff)\b", lambda colour: _DARK_COLOURS[colour[0]], rules)


def _shorten_children(element: Element) -> list[Element]:
    """Return the elements that replace the children of an element."""
    return [short for child in element for short in _shorten_element(child)]


def _shorten_element(element: Element) -> list[Element]:
    """Return the elements that replace one: itself, nothing if it shows nothing, or the content of a group without attributes."""
    if element.tag in ("metadata", "style") or element.get("style") == "fill: none":
        return []
    element.tail = None
    if len(element):
        element.text = None
    element[:] = _shorten_children(element)
    for name, value in [*element.attrib.items()]:
        if name in ("d", "x", "y"):
            element.set(name, _round_numbers(value))
        elif name == "style":
            element.set(name, _shorten_style(value))
        elif name == "transform":
            moves = re.sub(r"rotate\(-?0 [^)]*\)", "", value)  # a rotation by nothing
            element.set(
                name, re.sub(r"(?:translate|rotate)\([^)]*\)", lambda move: _round_numbers(move[0]), moves).strip()
            )
    element.attrib = {name: value for name, value in element.items() if value}
    if element.tag == "text":
        _join_characters(element)
        if len(element) == 1:
            element.text, element.attrib = element[0].text, {**element.attrib, **element[0].attrib}
            element[:] = []
    if element.tag in ("g", "defs"):
        _move_style_to_group(element)
        if element.tag == "g" and not element.attrib:
            return [*element]
        only_moves = element.tag == "g" and [*element.keys()] == ["transform"]
        if only_moves and len(element) == 1 and "transform" not in element[0].attrib:
            element[0].attrib |= element.attrib
            return [*element]
        return [element] if len(element) else []
    return [element]


def _round_numbers(places: str) -> str:
    """Return coordinates, rounded and without needless spaces."""
    rounded = re.sub(r"\d+\.\d+", lambda n: _round_number(float(n[0])), places)
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", " ".join(rounded.split()))


def _round_number(number: float) -> str:
    return f"{number:.{1 if number >= 10 else 2}f}".rstrip("0").rstrip(".")


def _shorten_style(style: str) -> str:
    """Return a style without spaces, the default font and long colours."""
    short = re.sub(r"\s*([:;,{}])\s*", r"\1", style.strip())
    return _LONG_COLOUR.sub(r"#\1\2\3", _DEFAULT_FONT.sub("", short)).rstrip(";")


def _join_characters(text: Element) -> None:
    """Join the characters of mathematics, each of which has its place, if they are on one line and have one style.

    Spaces go, because they show nothing.  A character that could form a cluster with the one before it stays alone.
    """

    def kind(at: tuple[int, Element]) -> tuple[Any, ...]:
        number, character = at
        sign = character.text or ""  # matplotlib before 3.10 writes several into one text
        joins = len(sign) == 1 and "!" <= sign <= "\uffff" and not unicodedata.combining(sign)
        return character.get("y"), character.get("style"), None if joins else number

    visible = [character for character in text if (character.text or "").strip()]
    runs = [[character for _, character in run] for _, run in groupby(enumerate(visible), key=kind)]
    text[:] = [run[0] for run in runs]
    for first, *others in runs:
        first.set("x", " ".join(character.get("x", "") for character in (first, *others)))
        first.text = "".join(character.text or "" for character in (first, *others))


def _move_style_to_group(group: Element) -> None:
    """State a style that all children of a group have only once, unless it is not inherited."""
    styles = {child.get("style") for child in group}
    style = next(iter(styles), None)
    if (
        len(group) > 1
        and len(styles) == 1
        and style
        and not re.search(r"(?<!-)opacity", style)
        and "style" not in group.attrib
    ):
        group.set("style", style)
        for child in group:
            del child.attrib["style"]


def _shorten_names(root: Element) -> None:
    """Give letters to the names that something refers to, and remove the others."""
    texts = (value for element in root.iter() for value in element.attrib.values())
    names = {name: _letters(i) for i, name in enumerate(dict.fromkeys(re.findall(r"#([\w-]+)", " ".join(texts))))}
    for element in root.iter():
        for name, value in [*element.attrib.items()]:
            if name == "id" and value not in names:
                del element.attrib[name]
            elif name == "id":
                element.set(name, names[value])
            elif name in ("href", "clip-path"):
                element.set(name, re.sub(r"#([\w-]+)", lambda used: f"#{names[used[1]]}", value))


def _move_styles_to_classes(root: Element) -> str:
    """Replace each style by a class, and return the rules of the classes."""
    classes: dict[str, str] = {}
    for element in root.iter():
        if style := element.attrib.pop("style", ""):
            element.set("class", classes.setdefault(style, _letters(len(classes))))
    return "".join(f".{name}{{{style}}}" for style, name in classes.items())


def _letters(number: int) -> str:
    """Return the name of a number: a to z, then ba, bb, ..."""
    return (_letters(number // 26) if number >= 26 else "") + chr(ord("a") + number % 26)


def narrow_panels(results: Results) -> Iterator[tuple[int, Any]]:
    """Yield each panel of the study's whole figure: its number, from 1, and a figure of it for a narrow window."""
    from .sheet import Sheet

    sheet = Sheet()
    study_figure(results, sheet)
    for number in sheet.drop_panels():
        yield number, results.plot(panels=(number,), width=NARROW, style="screen")
