"""Read and write the JSON files of a report folder and of the verdict cache.

Each file ends in the SHA-256 of its other fields, which detects damage and edits.  An attacker can recompute it, so a reader also
checks the shape of the data, and that texts are harmless in HTML.  The report page shows a figure as an image, which can
neither run code nor load anything.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import stat
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from fastcube.results.replacement import replace_file

from .claims import METHODS, OUTCOMES

#: Size in bytes of the largest file that is read.  Files of the built-in papers have at most 0.3 MB.
LARGEST = 2**26

_SUM = "sha256"

#: Control characters, lone surrogates, and characters that change the direction of text.
_UNCLEAN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def is_clean(value: Any) -> bool:
    """Whether ``value`` is text without control characters.  Line ends and tabs are allowed."""
    return isinstance(value, str) and not _UNCLEAN.search(value)


def matches_shape(value: Any, shape: Any) -> bool:
    """Whether parsed JSON has a shape.

    A dict names the required fields, or gives under the single key ``str`` the shape of all values.  A list holds the shape of
    its elements, or the shapes of several elements in order.  A tuple holds alternatives, a range or frozenset the allowed
    values.  A function decides by itself, and a type requires that type.
    """
    match shape:
        case dict() if str in shape:
            does = isinstance(value, dict) and all(
                is_clean(k) and matches_shape(v, shape[str]) for k, v in value.items()
            )
        case dict():
            does = isinstance(value, dict) and all(k in value and matches_shape(value[k], s) for k, s in shape.items())
        case list() if len(shape) == 1:
            does = isinstance(value, list) and all(matches_shape(v, shape[0]) for v in value)
        case list():
            does = isinstance(value, list) and len(value) == len(shape) and all(map(matches_shape, value, shape))
        case tuple():
            does = any(matches_shape(value, s) for s in shape)
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
    """Whether ``value`` is a number in the range of a float."""
    return type(value) is float or (type(value) is int and abs(value) < 2**1000)


def _cube(n: int) -> dict[str, Any]:
    """Return the shape of a drawing of Q_n, whose labels must be in [0, 2^n)."""
    label = range(2**n)
    return {
        "n": range(n, n + 1),
        "faulty_nodes": [label],
        "faulty_links": [[label, label]],
        "inside": [[label, str]],
        "arrows": [[label, label, str]],
        "unsafe": bool,
    }


def _dual(m: int) -> dict[str, Any]:
    """Return the shape of a drawing of DC(m), whose labels must be in [0, 2^(2m + 1))."""
    label = range(2 << 2 * m)
    return {"m": range(m, m + 1), "faulty_nodes": [label], "inside": [[label, str]], "paths": [[label]]}


_CUBES, _DUALS = tuple(map(_cube, range(1, 7))), tuple(map(_dual, (1, 2)))


def _is_drawable_cube(cube: Any) -> bool:
    """Whether ``cube`` describes a drawable hypercube whose links join neighbours and whose arrows join different nodes."""
    return matches_shape(cube, _CUBES) and (
        all((u ^ v).bit_count() == 1 for u, v in cube["faulty_links"]) and all(u != v for u, v, _ in cube["arrows"])
    )


def _is_drawable_dual(dual: Any) -> bool:
    """Whether ``dual`` describes a drawable dual-cube in which no path stays at a node."""
    return matches_shape(dual, _DUALS) and all(u != v for path in dual["paths"] for u, v in pairwise(path))


_DRAWING = (
    lambda drawing: drawing == {},
    {"drawings": [_is_drawable_cube]},
    {"dual": _is_drawable_dual},
    {"lines": [str]},
)

#: The provenance of a run or a merge that the report page shows.
RUN_PROVENANCE = {
    "environment": {"libraries": {str: str}, "python": str, "cpu": str, "cpus": int, "os": str},
    "software": {"version": str},
    "resources": {"written": str},
    "parameters": {"command": [str]},
}

_TABLE = {
    "at": [str],
    "rows": [[str, str, str]],
    "title": str,
    "x": str,
    "y": str,
    "columns": [{"label": str, "cells": [str], "drawn": bool}],
    "stated": [str],
    "others": [str],
}


def _is_complete_table(table: Any) -> bool:
    return matches_shape(table, _TABLE) and all(len(column["cells"]) == len(table["at"]) for column in table["columns"])


_ESTIMATE = {"point": {str: is_number}, "statistic": str, "eligible": int} | dict.fromkeys(
    ("value", "stderr", "low", "high"), (is_number, lambda number: number is None)
)

_POSITIONED_TEXT = {"at": str, "text": str}

STUDY_PAGE = {
    "stamp": str,
    "panels": [str],
    "description": str,
    "have": lambda have: bool(have) and matches_shape(have, {str: range(2**62)}),
    "trials": range(2**62),
    "seed": range(2**63),
    "digest": str,
    "notes": [str],
    "estimates": [_ESTIMATE],
    "history": [dict],
    "tables": [_is_complete_table],
    "spans": {str: {"least": _POSITIONED_TEXT, "most": _POSITIONED_TEXT}},
}

#: The stored fields of a counterexample.
_LINE = {"description": str, "python": str, "value": lambda value: is_clean(str(value)), "value_text": str}

#: The result of ``report``.
REPORT = {
    "paper": str,
    "id": str,
    "statement": str,
    "where": str,
    "added": bool,
    "fact": str,
    "definition": bool,
    "method": frozenset(METHODS),
    "misprint_reason": str,
    "effort": frozenset({"full", "quick"}),
    "outcome": frozenset(OUTCOMES),
    "checked": str,
    "applied": range(2**62),
    "correction": str,
    "counterexamples": [_LINE | {"data": dict}],
}

#: A report of a claim, with the hash of the deciding sources, and with the drawing of each counterexample.
VERDICT = REPORT | {"sources": str, "counterexamples": [_LINE | {"drawing": _DRAWING}]}

EXAMPLE = {"sources": str, "gave": str, "same": bool, "failed": str}


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_entry(path: Path, shape: Any) -> dict[str, Any] | None:
    """Return the content of a file, or None if there is no such file, its checksum is wrong or its shape is another."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return None
        held = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(held, dict) and held.pop(_SUM, None) == _checksum(held) and matches_shape(held, shape):
            return held
    return None


def write_entry(path: Path, content: Mapping[str, Any]) -> None:
    """Replace the file by ``content`` with its checksum."""
    same = json.loads(json.dumps(content))  # tuples become lists, as a reader will get them
    replace_file(path, json.dumps({**same, _SUM: _checksum(same)}, indent=1, sort_keys=True).encode())
