"""A matplotlib figure as SVG for a page: ids of its own, no style of its own, and its ink the page's.

Text stays text, in the page's own font: it can be searched, and takes a quarter of the outlines' bytes.
A page that forbids styles it does not know by hash (Content-Security-Policy) ignores ``style="..."``: the properties become
attributes.  Black becomes ``currentColor`` and white grounds go, so that the plot follows dark mode.  Points that are read
by name carry a ``<title>``, which browsers show without any script.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"

#: What a glyph or a marker is set at has digits that no screen shows.
_NUMBER = re.compile(r"-?\d+\.\d+")

#: ``font`` as matplotlib writes it: style, size, families.
_FONT = re.compile(r"^(.*?)([\d.]+px)")

#: What a style may set that is also an attribute.
_PROPERTIES = {
    "clip-path", "fill", "fill-opacity", "fill-rule", "font-size", "font-style", "opacity", "stroke", "stroke-dasharray",
    "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "stroke-opacity", "stroke-width",
    "text-anchor",
}  # fmt: skip

#: Ids that artists share: they are kinds, so classes.
_KINDS = {
    "line",
    "bar",
    "leader",
    "reference",
    "zero",
    "statement",
    "statement-label",
    "upper-limit",
    "upper-limit-marker",
}


def _style(text: str) -> dict[str, str]:
    """The properties of a ``style``, as attributes; ink and ground as the page has them."""
    pairs = (part.split(":", 1) for part in text.split(";") if ":" in part)
    found = {name.strip(): value.strip() for name, value in pairs}
    for name in ("fill", "stroke"):
        if found.get(name) in ("#000000", "black"):
            found[name] = "currentColor"
        elif found.get(name) in ("#ffffff", "white"):
            found[name] = "none"
    if found.get("stroke-dashoffset") == "0":
        del found["stroke-dashoffset"]
    if match := _FONT.search(found.pop("font", "")):  # the family is the page's
        found["font-size"] = match[2]
        if "italic" in match[1] or "oblique" in match[1]:
            found["font-style"] = "italic"
    return {name: value for name, value in found.items() if name in _PROPERTIES}


def _rounded(text: str, digits: int) -> str:
    def short(match: re.Match[str]) -> str:
        number = f"{float(match[0]):.{digits}f}".rstrip("0").rstrip(".")
        return "0" if number in ("-0", "") else number

    return _NUMBER.sub(short, " ".join(text.split()))


def _without(root: ET.Element, names: Sequence[str]) -> None:
    for parent in root.iter():
        for child in list(parent):
            if child.tag.rpartition("}")[2] in names:
                parent.remove(child)


def _renamed(root: ET.Element, prefix: str) -> None:
    """Ids that something refers to, prefixed; kinds as classes; no others."""
    used = {e.get(_LINK, "")[1:] for e in root.iter()} | {
        e.get("clip-path", "")[5:-1] for e in root.iter() if e.get("clip-path", "").startswith("url(#")
    }
    names: dict[str, str] = {}
    for element in root.iter():
        old = element.attrib.pop("id", None)
        if old is None:
            continue
        if old in used:
            names.setdefault(old, f"{prefix}{len(names)}")
            element.set("id", names[old])
        elif old.partition(" ")[0] in _KINDS:
            kind, _, number = old.partition(" ")
            element.set("class", kind)
            if number:
                element.set("data-line", number)
    for element in root.iter():
        target = element.attrib.pop(_LINK, None)
        if target is not None:
            element.set("href", f"#{names[target[1:]]}")
        clip = element.get("clip-path")
        if clip is not None:
            element.set("clip-path", f"url(#{names[clip[5:-1]]})")


def _named(root: ET.Element, titles: Mapping[str, Sequence[str]]) -> None:
    """A title for each marker of each line, where there are as many."""
    for group in root.iter(f"{_SVG}g"):
        texts = titles.get(group.get("data-line", ""))
        if texts is None or group.get("class") != "line":
            continue
        marks = list(group.iter(f"{_SVG}use"))
        if len(marks) == len(texts):
            for mark, text in zip(marks, texts, strict=True):
                ET.SubElement(mark, f"{_SVG}title").text = text
    for group in root.iter(f"{_SVG}g"):
        group.attrib.pop("data-line", None)


def _pruned(root: ET.Element) -> None:
    """Drop grounds that show nothing, and groups and definitions that hold nothing."""
    for _ in range(3):
        for parent in root.iter():
            for child in list(parent):
                empty = child.tag in (f"{_SVG}g", f"{_SVG}defs") and not len(child)
                unseen = child.tag == f"{_SVG}path" and child.get("fill") == "none" and "stroke" not in child.attrib
                if empty or (unseen and "id" not in child.attrib):
                    parent.remove(child)


def _shifted(path: str, x: float, y: float) -> str:
    """The outline of a mark (``M``, ``L`` and ``z`` only) moved to where it is set."""
    out = []
    steps = itertools.cycle((x, y))
    for token in path.split():
        out.append(token if token.isalpha() else _rounded(f"{float(token) + next(steps):.1f}", 1))
    return " ".join(out)


def _merged(root: ET.Element) -> None:
    """Bars and arrows of one colour as one path: there may be hundreds of each, and none is read by itself."""
    marks = {e.get("id"): e for e in root.iter(f"{_SVG}path") if "id" in e.attrib}
    for parent in list(root.iter(f"{_SVG}g")):
        found: dict[tuple[str, ...], ET.Element] = {}
        for group in list(parent):
            if group.get("class") not in ("bar", "upper-limit"):
                continue
            for drawn in list(group.iter()):
                if drawn.tag == f"{_SVG}use":
                    mark = marks[drawn.get("href", "")[1:]]
                    way = _shifted(mark.get("d", ""), float(drawn.get("x", 0)), float(drawn.get("y", 0)))
                elif drawn.tag == f"{_SVG}path" and "id" not in drawn.attrib:
                    mark, way = drawn, drawn.get("d", "")
                else:
                    continue
                key = (group.get("class", ""), mark.get("stroke", ""))
                if key not in found:
                    clip = next((e.get("clip-path") for e in group.iter() if e.get("clip-path")), None)
                    look = {
                        "class": key[0],
                        "stroke": key[1],
                        "fill": "none",
                        "d": "",
                        **({"clip-path": clip} if clip else {}),
                    }
                    for name in ("stroke-opacity", "stroke-width"):
                        look |= {name: mark.get(name, "")} if name in mark.attrib else {}
                    found[key] = ET.Element(f"{_SVG}path", look)
                    parent.insert(list(parent).index(group), found[key])
                found[key].set("d", f"{found[key].get('d')} {way}".strip())
            parent.remove(group)
            for mark in group.iter(f"{_SVG}path"):  # what others of its colour refer to
                marks.setdefault(mark.get("id"), mark)


def _text(root: ET.Element) -> None:
    """Mathematics comes letter by letter: join those that stand beside each other, and drop turns by nothing."""
    for text in root.iter(f"{_SVG}text"):
        if text.get("transform", "").startswith("rotate(-0 "):
            del text.attrib["transform"]
        letters = sorted(text.findall(f"{_SVG}tspan"), key=lambda t: float(t.get("x", "0").split()[0]))
        last: ET.Element | None = None
        at = 0.0
        for letter in letters:
            x = float(letter.get("x", "0").split()[0])
            size = float(letter.get("font-size", "10px")[:-2])
            looks = ("y", "font-size", "font-style")
            wide = "×" in (letter.text or "") or "×" in (
                (last is not None and last.text) or ""
            )  # with thin spaces beside it
            if (
                last is not None
                and not wide
                and x - at < 1.05 * size
                and all(last.get(k) == letter.get(k) for k in looks)
            ):
                last.text = (last.text or "") + (letter.text or "")
                text.remove(letter)
            else:
                last = letter
            at = x
        for letter in sorted(text.findall(f"{_SVG}tspan"), key=lambda t: float(t.get("x", "0").split()[0])):
            text.remove(letter)
            text.append(letter)


def _flat(parent: ET.Element) -> None:
    """Groups that say nothing give way to what they hold."""
    children = []
    for child in parent:
        _flat(child)
        children += list(child) if child.tag == f"{_SVG}g" and not child.attrib else [child]
    parent[:] = children


def _hoisted(root: ET.Element) -> None:
    """Say once what all marks of a line look like: markers repeat their colours at each point."""
    for group in root.iter(f"{_SVG}g"):
        uses = [child for child in group if child.tag == f"{_SVG}use"]
        if len(uses) < 2 or len(uses) < len(group):
            continue
        for name, value in list(uses[0].attrib.items()):
            if name not in ("x", "y", "href", "id", "transform") and all(use.get(name) == value for use in uses):
                group.attrib.setdefault(name, value)
                if group.get(name) == value:
                    for use in uses:
                        del use.attrib[name]


def _ruled(root: ET.Element) -> None:
    """Ticks, and the lines of a grid, of one look as one path: a figure has hundreds."""
    marks = {e.get("id"): e for e in root.iter(f"{_SVG}path") if "id" in e.attrib}
    for parent in list(root.iter()):
        found: dict[tuple[tuple[str, str], ...], ET.Element] = {}
        for child in list(parent):
            look, way = dict(child.attrib), child.get("d", "")
            if child.tag == f"{_SVG}use" and not len(child):
                mark = marks[look.pop("href")[1:]]
                if not set(mark.get("d", "")) <= set("ML -.0123456789") or "transform" in look:
                    continue
                way = _shifted(mark.get("d", ""), float(look.pop("x", 0)), float(look.pop("y", 0)))
                look = {name: value for name, value in mark.attrib.items() if name not in ("id", "d")} | look
            elif child.tag != f"{_SVG}path" or look.get("stroke") != "#777777" or {"id", "class"} & set(look):
                continue
            look.pop("d", None)
            key = tuple(sorted(look.items()))
            if key in found:
                found[key].set("d", f"{found[key].get('d')} {way}")
                parent.remove(child)
            else:
                child.tag = f"{_SVG}path"
                child.attrib.clear()
                child.attrib.update(look, d=way)
                found[key] = child


def _gathered(root: ET.Element) -> None:
    """Marks of upper limits come one by one: those of one look that follow each other in one group."""
    for parent in root.iter():
        last: ET.Element | None = None
        for group in list(parent):
            uses = list(group.iter(f"{_SVG}use"))
            if group.get("class") != "upper-limit-marker" or len(uses) != 1:
                last = None
                continue
            holder = next(e for e in group.iter() if uses[0] in list(e))
            if last is not None and (holder.attrib, uses[0].get("href")) == (last.attrib, last[-1].get("href")):
                last.append(uses[0])
                parent.remove(group)
            else:
                last = holder


def _shared(root: ET.Element) -> None:
    """One outline for marks of one form, whatever their colour: where it is set says the colour."""
    uses = [
        (use, use.get("stroke", group.get("stroke"))) for group in root.iter() for use in group.findall(f"{_SVG}use")
    ]
    forms: dict[str | None, str] = {}
    for holder in list(root.iter(f"{_SVG}defs")):
        for mark in holder.findall(f"{_SVG}path"):
            name = mark.get("id", "")
            mine = [(use, stroke) for use, stroke in uses if use.get("href") == f"#{name}"]
            if not mine or set(mark.attrib) - {"id", "d", "stroke"} or any(s != mark.get("stroke") for _, s in mine):
                continue
            mark.attrib.pop("stroke", None)
            first = forms.setdefault(mark.get("d"), name)
            if first != name:
                for use, _ in mine:
                    use.set("href", f"#{first}")
                holder.remove(mark)


def page_svg(figure: Any, prefix: str, words: str, salt: str, titles: Mapping[str, Sequence[str]]) -> str:
    """The figure as an ``<svg>`` element for a page.

    Parameters
    ----------
    figure : matplotlib figure
        Whose lines have the gid ``"line NUMBER"`` where their points have titles.
    prefix : str
        Of its ids: another one for each figure of a page.
    words : str
        The id of its text alternative.
    salt : str
        What ids inside are made from, so that the same content gives the same bytes.
    titles : dict
        Words for each point of a line, by the line's number.
    """
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    root = ET.fromstring(text.getvalue())
    _without(root, ("metadata", "style"))
    for element in root.iter():
        for name, value in _style(element.attrib.pop("style", "")).items():
            element.set(name, value)
        for name, digits in (("d", 1), ("x", 1), ("y", 1), ("transform", 3)):
            if name in element.attrib:
                element.set(name, _rounded(element.get(name, ""), digits))
    _renamed(root, prefix)
    _pruned(root)
    _gathered(root)
    _hoisted(root)
    _merged(root)
    _shared(root)
    _pruned(root)
    _text(root)
    _named(root, titles)
    _flat(root)
    _ruled(root)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("fill", "currentColor")
    root.set("role", "img")
    root.set("aria-labelledby", words)
    return _serial(root)


def _tenths(text: str) -> str:
    """A number of tenths in as few characters as SVG takes: ``-35`` as ``-3.5``, ``6`` as ``.6``."""
    whole, tenth = divmod(abs(int(text)), 10)
    return ("-" if text[0] == "-" else "") + (str(whole) if whole or not tenth else "") + (f".{tenth}" if tenth else "")


def _terse(path: str) -> str:
    """The same outline in fewer characters: lines by their steps from point to point, exact to the tenth."""
    if not set(path) <= set("MLz -.0123456789"):
        return re.sub(r" ?([A-Za-z]) ?", r"\1", path)
    out, here, start, pending = "", (0, 0), (0, 0), "M"
    tokens = iter(path.split())
    for token in tokens:
        if token.isalpha():
            pending = token
            if token == "z":
                out, here = out + "z", start
            continue
        x, y = (round(10 * float(number)) for number in (token, next(tokens)))
        step = [_tenths(str(x - here[0])), _tenths(str(y - here[1]))]
        letter = "m" if pending == "M" else "l" if pending == "L" and out.endswith("z") else ""
        start = (x, y) if letter == "m" else start
        pending, here = "", (x, y)
        for i, number in enumerate(step):
            parted = number[0] == "-" or (
                number[0] == "." and "." in out[-2:]
            )  # no blank where a sign or a point tells
            between = letter if i == 0 and letter else "" if parted else " "
            out += between + number
    return out


#: What an SVG has where nothing is said, or what the page's root says for all.
_USUAL = {("stroke-linejoin", "miter"), ("stroke-linecap", "square"), ("font-size", "10px")}


def _serial(root: ET.Element) -> str:
    """As HTML takes it: without namespaces, empty elements closed."""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if element.tag not in ("text", "tspan", "title"):
            element.text = None
        for name, _ in _USUAL & set(element.attrib.items()):
            del element.attrib[name]
        if "d" in element.attrib:
            element.set("d", _terse(element.get("d", "")))
        element.tail = None
    root.set("font-size", "10px")
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")
