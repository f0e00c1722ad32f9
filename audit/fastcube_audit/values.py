"""Format values for readers: a node as a bit string, a path with arrows, a set in braces, "yes" and "no"."""

from __future__ import annotations

import ast
import string
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Word = Callable[[Any], str]


def _hops(pairs: Iterable[Sequence[Any]], word: Word) -> str:
    """Join directed links into paths, if a link begins where the previous link ended: ``00 → 10 → 11, 00 → 01``."""
    walks: list[list[Any]] = []
    for u, v in pairs:
        if walks and walks[-1][-1] == u:
            walks[-1].append(v)
        else:
            walks.append([u, v])
    return ", ".join(" → ".join(map(word, walk)) for walk in walks)


#: Formats of values with nodes, by the name behind the colon of a template.  Digits after the name are the bits of a node.
KINDS: dict[str, Callable[[Any, Word], str]] = {
    "node": lambda v, word: word(v),
    "row": lambda some, word: ", ".join(map(word, some)) or "none",
    "nodes": lambda some, word: f"{{{', '.join(map(word, some))}}}",
    "set": lambda some, _: f"{{{format_value(some)}}}",
    "path": lambda some, word: " → ".join(map(word, some)),
    "hops": _hops,
    "edges": lambda pairs, word: ", ".join(f"({word(u)} : {word(v)})" for u, v in pairs),
    "marks": lambda pairs, word: ", ".join(f"{word(v)}: {format_value(mark)}" for v, mark in pairs),
    "grid": lambda rows, word: "; ".join(", ".join(map(word, row)) for row in rows),
}


class _Form(string.Formatter):
    """Formatter of templates: a field with a name of ``KINDS`` by that format, any other field by ``format_value``."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def format_field(self, value: Any, format_spec: str) -> str:
        kind = format_spec.rstrip(string.digits)
        bits = int(format_spec[len(kind) :] or self.bits)
        return KINDS[kind](value, lambda v: format(v, f"0{bits}b")) if kind else format_value(value)


def bits_of(python: str) -> int:
    """Return the number of label bits of the first network in lines of Python; 1 if no network size is written out."""
    for node in ast.walk(ast.parse(python)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, int):
                if node.func.attr == "Hypercube":
                    return first.value
                if node.func.attr == "DualCube":
                    return 2 * first.value + 1
    return 1


def format_value(value: Any) -> str:
    """Return a number, text, "yes" or "no", or a flat list of them as text.  Raises ValueError for a list of lists."""
    match value:
        case None:
            text = "none"
        case bool():
            text = "yes" if value else "no"
        case int():
            text = f"{value:,}"
        case float():
            text = f"{value:.4g}"
        case dict():
            text = ", ".join(f"{name}: {format_value(v)}" for name, v in value.items()) or "none"
        case list() | tuple() | set() | frozenset():
            if any(isinstance(v, (list, tuple, set, frozenset, dict)) and v for v in value):
                raise ValueError(f"a form must say how {value!r} is written")
            text = ", ".join(map(format_value, value)) or "none"
        case _:
            text = str(value)
    return text


def value_text(value: Any, python: str = "", form: str = "") -> str:
    """Return the value of an expression as text, by the template ``form``.

    The text is empty for a list of lists without a template, which only a drawing shows.  It is also empty if the value does
    not have the shape that the template needs, as when a replay gives another value than the stored one.
    """
    if not form and python.endswith(".path") and isinstance(value, (list, tuple)):
        form = "{value:path}"
    parts = value if isinstance(value, (list, tuple)) else [value]
    try:
        return _Form(bits_of(python)).format(form, *parts, value=value) if form else format_value(value)
    except (ValueError, TypeError, LookupError):
        return ""
