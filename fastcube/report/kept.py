"""Reading back what a report's folder keeps: only as it was written, in the shape that the page takes, and harmless in HTML.

Each file ends in the SHA-256 of its other fields; that finds damage and edits.  Whoever wants harm can recompute it, so shapes
and texts are checked besides, and of a figure every element and attribute: it stands in the page as it is.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from ..engine.hdf5 import replace_whole

#: Bytes of the largest file that is read; those of the papers have at most 0.3 MB.
LARGEST = 2**26

_SUM = "sha256"

#: Control characters, lone surrogates, and what turns the direction of text.
_UNCLEAN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_ELEMENTS = frozenset(
    re.findall(r"\w+", "svg g defs clipPath path rect circle ellipse line polyline polygon text title tspan use")
)
_ATTRIBUTES = frozenset(
    re.findall(
        r"[\w-]+",
        """aria-labelledby class clip-path cx cy d fill fill-opacity fill-rule font-family font-size font-style
        font-weight height href id opacity points r role rx ry stroke stroke-dasharray stroke-dashoffset stroke-linecap
        stroke-linejoin stroke-miterlimit stroke-opacity stroke-width text-anchor transform viewBox width x x1 x2 y y1 y2""",
    )
)


def is_clean(value: Any) -> bool:
    """Whether it is text that prints; line ends and tabs do."""
    return isinstance(value, str) and not _UNCLEAN.search(value)


def is_figure(value: Any) -> bool:
    """Whether it is an ``<svg>`` element that draws, and neither runs, styles nor fetches anything."""
    if not is_clean(value) or "<!" in value or "<?" in value:  # no entities, comments or instructions
        return False
    try:
        root = ET.fromstring(value)
    except ET.ParseError:
        return False
    return root.tag == "svg" and all(
        e.tag in _ELEMENTS and all(_harmless(name, v) for name, v in e.items()) for e in root.iter()
    )


def _harmless(name: str, value: str) -> bool:
    """Whether an attribute only draws; what it refers to is in the page."""
    inside = value.startswith("#") if name == "href" else "url(" not in value or value.startswith("url(#")
    return name in _ATTRIBUTES and inside


def fits(value: Any, shape: Any) -> bool:
    """Whether parsed JSON has a shape.

    A dict names the fields that must be there, or by the one key ``str`` what all values are; a list holds the shape of its
    elements; a tuple holds alternatives; a range or frozenset what it must be in; a function decides; a type is the type.
    """
    match shape:
        case dict() if str in shape:
            does = isinstance(value, dict) and all(is_clean(k) and fits(v, shape[str]) for k, v in value.items())
        case dict():
            does = isinstance(value, dict) and all(k in value and fits(value[k], s) for k, s in shape.items())
        case list():
            does = isinstance(value, list) and all(fits(v, shape[0]) for v in value)
        case tuple():
            does = any(fits(value, s) for s in shape)
        case range() | frozenset():
            does = (
                type(value) is (int if isinstance(shape, range) else str) and value in shape
            )  # text would be sought in vain
        case type():
            does = is_clean(value) if shape is str else type(value) is shape
        case _:
            does = bool(shape(value))
    return does


def is_number(value: Any) -> bool:
    """Whether it is a number that a float can hold."""
    return type(value) is float or (type(value) is int and abs(value) < 2**1000)


_DRAWING = {
    "n": range(1, 5),
    "faulty_nodes": [range(16)],
    "faulty_links": [lambda link: fits(link, [range(16)]) and len(link) == 2],
    "inside": [lambda pair: fits(pair, list) and len(pair) == 2 and fits(pair[0], range(16)) and is_clean(pair[1])],
}


def _whole_dual(dual: Any) -> bool:
    """Whether it is a dual-cube that is drawn, with labels of its own."""
    if not fits(dual, {"m": range(1, 3), "faulty_nodes": list, "inside": list}):
        return False
    labels = range(2 << 2 * dual["m"])
    pairs = all(fits(p, list) and len(p) == 2 and fits(p[0], labels) and is_clean(p[1]) for p in dual["inside"])
    return pairs and fits(dual["faulty_nodes"], [labels])


_TOLD = (lambda told: told == {}, {"drawing": _DRAWING}, {"dual": _whole_dual}, {"lines": [str]})

#: What the page takes of a run or merge.
RUN = {
    "environment": {"libraries": {str: str}, "python": str, "cpu": str, "cpus": int, "os": str},
    "software": {"version": str},
    "resources": {"written": str},
    "parameters": {"command": [str]},
}

_TABLE = {
    "at": [str], "rows": [[str]], "title": str, "x": str, "y": str, "columns": [{"label": str, "cells": [str]}],
}  # fmt: skip


def _whole(table: Any) -> bool:
    """Whether a table of a figure has a cell for each place."""
    return (
        fits(table, _TABLE)
        and all(len(row) == 3 for row in table["rows"])
        and all(len(column["cells"]) == len(table["at"]) for column in table["columns"])
    )


_ESTIMATE = {"point": {str: is_number}, "statistic": str, "among": int} | dict.fromkeys(
    ("value", "stderr", "low", "high"), (is_number, lambda number: number is None)
)

DRAWN = {
    "stamp": str, "svg": is_figure, "words": str, "have": lambda have: bool(have) and fits(have, {str: range(2**62)}),
    "trials": range(2**62), "seed": range(2**63), "digest": str, "notes": [str], "estimates": [_ESTIMATE],
    "history": [dict], "tables": [_whole],
}  # fmt: skip

VERDICT = {
    "sources": str, "paper": str, "id": str, "outcome": frozenset({"holds", "refuted", "undecided"}),
    "effort": frozenset({"full", "quick"}), "checked": str, "correction": str,
    "witnesses": [{"words": str, "python": str, "value": lambda value: is_clean(repr(value)), "told": _TOLD}],
}  # fmt: skip

EXAMPLE = {"sources": str, "gave": str, "same": bool, "failed": str}


def _sum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read(path: Path, shape: Any) -> dict[str, Any] | None:
    """What a file keeps; None where there is none, or it is not as it was written."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return None
        held = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(held, dict) and held.pop(_SUM, None) == _sum(held) and fits(held, shape):
            return held
    return None


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Replace the file."""
    same = json.loads(json.dumps(content))  # as it will be read
    replace_whole(path, json.dumps({**same, _SUM: _sum(same)}, indent=1, sort_keys=True).encode())
