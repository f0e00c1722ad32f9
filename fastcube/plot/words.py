"""Text of tables as text of figures: Q_n, 2^n and floor(n/2) set as mathematics."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

_RULES = (
    (r"floor\(([^()]*)\)", r"$\\lfloor{}\1\\rfloor$"),
    (r"ceil\(([^()]*)\)", r"$\\lceil{}\1\\rceil$"),
    (r"(?<![\w$])([A-Za-z])_(1/2|\.\d|[A-Za-z0-9]+)(?![\w$])", r"$\1_{\2}$"),
    (r"(?<![\w$])([A-Za-z0-9])\^\(([^()]*)\)", r"$\1^{\2}$"),
    (r"(?<![\w$])([A-Za-z0-9])\^(-?[A-Za-z0-9]+)(?![\w$])", r"$\1^{\2}$"),
    (r"(?<![\w$])([A-Za-z] = -?\d+(?:\.\d+)?)(?![\w$.])", r"$\1$"),
    (r"^([A-Za-z])(?=, )", r"$\1$"),
    (r"(?<![\w$'’-])(\d*)([fHKnpmkMNPdst])(?![\w'’-])", r"\1$\2$"),
    (r"(?<![\w$])([a-z])(?= (?:<=|>=|<|>|=) )", r"$\1$"),
    (r"<=", "≤"),
    (r">=", "≥"),
)


def mathtext(text: str) -> str:
    """The text with what tables write in plain characters set as mathematics; what stands between ``$`` is left alone.

    Text that matplotlib cannot set as mathematics (a results file may hold any) comes as plain characters.
    """
    plain = text
    for pattern, replacement in _RULES:
        parts = re.split(r"(\$[^$]*\$)", text)  # what is set already stays
        text = "".join(p if p.startswith("$") else re.sub(pattern, replacement, p) for p in parts)
    parts = re.split(r"(\$[^$]*\$)", text)
    kept = (p if p.startswith("$") else re.sub(r" ([≤≥<>=]) ", "\u00a0\\1\u00a0", p) for p in parts)
    text = "".join(kept)  # a relation stays in one line
    return text if _is_valid_mathtext(text) else plain.replace("\\$", "$").replace("$", "\\$")


def _is_valid_mathtext(text: str) -> bool:
    if "$" not in text:
        return True
    from matplotlib.mathtext import MathTextParser

    try:
        for line in text.splitlines():
            MathTextParser("path").parse(line)
    except ValueError:
        return False
    return True


def visible_length(text: str) -> int:
    """About how many characters are seen of a text with mathematics."""
    return len(re.sub(r"[${}]", "", re.sub(r"\\[A-Za-z]+", "x", text)))


def wrap_mathtext(text: str, width: int) -> str:
    """The text set as :func:`mathtext` in lines of at most about ``width`` characters, all about as long.

    Broken at spaces outside mathematics.
    """
    words = re.split(r" (?=(?:[^$]*\$[^$]*\$)*[^$]*$)", mathtext(text))
    lines = _fill_lines(words, width := max(20, width))
    tried = (_fill_lines(words, narrower) for narrower in range(width, 0, -1))
    *_, balanced = itertools.takewhile(lambda narrower: len(narrower) == len(lines), tried)
    return "\n".join(balanced)


def _fill_lines(words: list[str], width: int) -> list[str]:
    lines = [""]
    for word in words:
        if lines[-1] and visible_length(lines[-1]) + 1 + visible_length(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def value_text(name: str, value: object) -> str:
    """``n = 5`` for a legend; a value that is a name alone."""
    if isinstance(value, str):
        return value
    return f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"


def axis_text(name: str, description: str) -> str:
    """The label of an axis: ``n, dimension of the hypercube``; a name that is a word says less than its description."""
    return f"{name}, {description}" if len(name) == 1 else description or name


def key_text(key: Mapping[str, object]) -> str:
    """What tells a line from others, for the legend."""
    return ", ".join(value_text(name, value) for name, value in key.items())
