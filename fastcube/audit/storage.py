"""Reading back what a report's folder and the cache keep: only as it was written, of the shape asked for, and harmless in HTML.

Each file ends in the SHA-256 of its other fields; that finds damage and edits.  Whoever wants harm can recompute it, so shapes
and texts are checked besides.  A figure stands in the page as an image, which runs nothing and fetches nothing.
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

from ..results.hdf5 import replace_file
from .claims import OUTCOMES

#: Bytes of the largest file that is read; those of the papers have at most 0.3 MB.
LARGEST = 2**26

_SUM = "sha256"

#: Control characters, lone surrogates, and what turns the direction of text.
_UNCLEAN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def is_clean(value: Any) -> bool:
    """Whether it is text that prints; line ends and tabs do."""
    return isinstance(value, str) and not _UNCLEAN.search(value)


def matches_shape(value: Any, shape: Any) -> bool:
    """Whether parsed JSON has a shape.

    A dict names the fields that must be there, or by the one key ``str`` what all values are; a list holds the shape of its
    elements, or those of a row of several; a tuple holds alternatives; a range or frozenset what it must be in; a function
    decides; a type is the type.
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
    """Whether it is a number that a float can hold."""
    return type(value) is float or (type(value) is int and abs(value) < 2**1000)


def _cube(n: int) -> dict[str, Any]:
    """The shape of a Q_n that is drawn, with labels of its own."""
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
    """The shape of a DC(m) that is drawn, with labels of its own."""
    label = range(2 << 2 * m)
    return {"m": range(m, m + 1), "faulty_nodes": [label], "inside": [[label, str]], "paths": [[label]]}


_CUBES, _DUALS = tuple(map(_cube, range(1, 7))), tuple(map(_dual, (1, 2)))


def _is_drawable_cube(cube: Any) -> bool:
    """Whether it is a hypercube that is drawn, with nothing that leads from a node to itself."""
    return matches_shape(cube, _CUBES) and all(u != v for u, v, *_ in cube["faulty_links"] + cube["arrows"])


def _is_drawable_dual(dual: Any) -> bool:
    """Whether it is a dual-cube that is drawn."""
    return matches_shape(dual, _DUALS) and all(u != v for path in dual["paths"] for u, v in pairwise(path))


_WITNESS_DRAWING = (
    lambda told: told == {},
    {"drawings": [_is_drawable_cube]},
    {"dual": _is_drawable_dual},
    {"lines": [str]},
)

#: What the page takes of a run or merge.
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
    """Whether a table of a figure has a cell for each place."""
    return matches_shape(table, _TABLE) and all(len(column["cells"]) == len(table["at"]) for column in table["columns"])


_ESTIMATE = {"point": {str: is_number}, "statistic": str, "eligible": int} | dict.fromkeys(
    ("value", "stderr", "low", "high"), (is_number, lambda number: number is None)
)

_POSITIONED_TEXT = {"at": str, "text": str}

STUDY_PAGE = {
    "stamp": str,
    "svg": str,
    "words": str,
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

#: What is kept of a witness' line.
_LINE = {"words": str, "python": str, "value": lambda value: is_clean(str(value)), "text": str}

#: What :meth:`~fastcube.audit.claims.Claim.report` gives.
REPORT = {
    "paper": str,
    "id": str,
    "statement": str,
    "where": str,
    "ours": bool,
    "fact": str,
    "definition": bool,
    "slip": str,
    "effort": frozenset({"full", "quick"}),
    "outcome": frozenset(OUTCOMES),
    "checked": str,
    "applied": range(2**62),
    "correction": str,
    "witnesses": [_LINE | {"data": dict}],
}

#: A report with where it was decided, and each witness as the page tells it.
VERDICT = REPORT | {"sources": str, "witnesses": [_LINE | {"told": _WITNESS_DRAWING}]}

EXAMPLE = {"sources": str, "gave": str, "same": bool, "failed": str}


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_entry(path: Path, shape: Any) -> dict[str, Any] | None:
    """What a file keeps; None where there is none, or it is not as it was written."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return None
        held = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(held, dict) and held.pop(_SUM, None) == _checksum(held) and matches_shape(held, shape):
            return held
    return None


def write_entry(path: Path, content: Mapping[str, Any]) -> None:
    """Replace the file."""
    same = json.loads(json.dumps(content))  # as it will be read
    replace_file(path, json.dumps({**same, _SUM: _checksum(same)}, indent=1, sort_keys=True).encode())
