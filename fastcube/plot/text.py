"""Convert the text of tables to the text of figures: Q_n, 2^n and floor(n/2) typeset as mathematics."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

#: What stands between parentheses.  Inner ones may group a term, but are not nested, and are no exponent and no arguments.
_INSIDE = r"((?:[^()]|(?<![\^A-Za-z])\([^()]*\))*)"

#: Pattern and replacement, in the order in which they are applied.  A rule does not see what an earlier one has put between $.
_RULES = (
    (rf"floor\({_INSIDE}\)", r"$\\lfloor{}\1\\rfloor$"),
    (rf"ceil\({_INSIDE}\)", r"$\\lceil{}\1\\rceil$"),
    (r"(?<![\w$])([A-Za-z])_(1/2|\.\d|[A-Za-z0-9]+)(?![\w$])", r"$\1_{\2}$"),  # Q_n
    (rf"(?<![\w$])([A-Za-z0-9])\^\({_INSIDE}\)", r"$\1^{\2}$"),  # 2^(n-1)
    (r"(?<![\w$])([A-Za-z0-9])\^(-?[A-Za-z0-9]+)(?![\w$])", r"$\1^{\2}$"),  # 2^n
    (r"(?<![\w$])([A-Za-z] = -?\d+(?:\.\d+)?)(?![\w$.])", r"$\1$"),  # K = 3
    (r"^([A-Za-z])(?=, )", r"$\1$"),  # the letter before the comma in the label of an axis
    # letters that stand for numbers in any description; a study with another letter adds it here
    (r"(?<![\w$'’-])(\d*)([fHKnpmkMNPdst])(?![\w'’-])", r"\1$\2$"),
    (r"(?<![\w$])([a-z])(?= (?:<=|>=|<|>|=) )", r"$\1$"),  # any other letter before a relation
    (r"<=", "≤"),
    (r">=", "≥"),
)


def mathtext(text: str) -> str:
    """Return the text with formulas in plain characters typeset as mathematics; parts between ``$`` are not changed.

    Text that matplotlib cannot typeset (a results file may hold any text) is returned as plain characters.
    """
    plain = text
    for pattern, replacement in _RULES:
        text = _replace_outside_mathematics(pattern, replacement, text)
    text = _replace_outside_mathematics(r" ([≤≥<>=]) ", "\u00a0\\1\u00a0", text)  # no line break around a relation
    return text if _is_valid_mathtext(text) else plain.replace("\\$", "$").replace("$", "\\$")


def _replace_outside_mathematics(pattern: str, replacement: str, text: str) -> str:
    """Return the text with replacements in the parts that are not between ``$``."""
    parts = re.split(r"(\$[^$]*\$)", text)
    return "".join(part if part.startswith("$") else re.sub(pattern, replacement, part) for part in parts)


def _is_valid_mathtext(text: str) -> bool:
    """Whether matplotlib can typeset each line."""
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
    """Return the approximate number of visible characters of a text with mathematics."""
    return len(re.sub(r"[${}]", "", re.sub(r"\\[A-Za-z]+", "x", text)))


def wrap_mathtext(text: str, width: int) -> str:
    """Return the text, typeset by ``mathtext``, in lines of similar length and at most about ``width`` characters.

    Lines are broken at spaces outside mathematics.
    """
    # spaces that an even number of $ follows
    pieces = re.split(r" (?=(?:[^$]*\$[^$]*\$)*[^$]*$)", mathtext(text))
    lines = fill_lines(pieces, width := max(20, width))
    # the narrowest width that needs no more lines makes them similar
    tried = (fill_lines(pieces, narrower) for narrower in range(width, 0, -1))
    *_, balanced = itertools.takewhile(lambda broken: len(broken) == len(lines), tried)
    return "\n".join(balanced)


def fill_lines(pieces: list[str], width: int) -> list[str]:
    """Return the pieces in lines of at most about ``width`` visible characters; a longer piece has a line of its own."""
    lines = [""]
    for piece in pieces:
        if lines[-1] and visible_length(lines[-1]) + 1 + visible_length(piece) > width:
            lines.append(piece)
        else:
            lines[-1] = f"{lines[-1]} {piece}".strip()
    return lines


def value_text(name: str, value: object) -> str:
    """Return ``n = 5`` for a legend, or the value alone if it is a name."""
    if isinstance(value, str):
        return value
    return f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"


def axis_text(name: str, description: str) -> str:
    """Return the label of an axis: ``n, dimension of the hypercube``; for a longer name only its description."""
    return f"{name}, {description}" if len(name) == 1 else description or name


def key_text(key: Mapping[str, object]) -> str:
    """Return the values that distinguish a line from the others, for the legend."""
    return ", ".join(value_text(name, value) for name, value in key.items())
