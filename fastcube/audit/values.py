"""Values as a person writes them: a node as its binary word, a path with arrows, a set in braces, yes and no."""

from __future__ import annotations

import ast
import string
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Word = Callable[[Any], str]


def _hops(pairs: Iterable[Sequence[Any]], word: Word) -> str:
    """Directed links, one that begins where the last one ended behind it: ``00 → 10 → 11, 00 → 01``."""
    walks: list[list[Any]] = []
    for u, v in pairs:
        if walks and walks[-1][-1] == u:
            walks[-1].append(v)
        else:
            walks.append([u, v])
    return ", ".join(" → ".join(map(word, walk)) for walk in walks)


#: How a form writes what holds nodes, by the word behind its colon; digits behind that are the bits of a node.
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
    """Fields as :data:`KINDS` write them; one without a kind as :func:`format_value` does."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def format_field(self, value: Any, format_spec: str) -> str:
        kind = format_spec.rstrip(string.digits)
        bits = int(format_spec[len(kind) :] or self.bits)
        return KINDS[kind](value, lambda v: format(v, f"0{bits}b")) if kind else format_value(value)


def bits_of(python: str) -> int:
    """How many bits the labels of the first network of an expression have; 1 where it has none that is written out."""
    for node in ast.walk(ast.parse(python, mode="eval")):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, int):
                if node.func.attr == "Hypercube":
                    return first.value
                if node.func.attr == "DualCube":
                    return 2 * first.value + 1
    return 1


def format_value(value: Any) -> str:
    """A number, a word, yes or no, or a row of such; what is in another list has no writing of its own: ValueError."""
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
    """What an expression gives, by its line's ``form``.

    Empty for lists of lists without one, which only a drawing shows, and for a value of another shape than its form has:
    that of a witness against what was expected.
    """
    if not form and python.endswith(".path") and isinstance(value, (list, tuple)):
        form = "{value:path}"
    parts = value if isinstance(value, (list, tuple)) else [value]
    try:
        return _Form(bits_of(python)).format(form, *parts, value=value) if form else format_value(value)
    except (ValueError, TypeError, LookupError):
        return ""
