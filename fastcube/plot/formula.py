"""Typeset formulas in a text as HTML, for pages: ``Q_10``, ``2^n`` and ``<=`` look like what they mean."""

from __future__ import annotations

import re
from html import escape

#: A group in round brackets, with at most one nested level, or in braces.
_GROUP = r"\((?:[^()]|\([^()]*\))*\)|\{[^{}]*\}"

#: A subscript or superscript: a group, a fraction, or letters and digits, perhaps with a further power.
_SCRIPT = rf"(?:{_GROUP}|1/2|[-−]?[A-Za-z0-9]+(?:\^(?:{_GROUP}|[A-Za-z0-9]+))?)"

#: The parts of formulas.  The names of the groups say what each alternative finds; ``open`` and ``inner`` are a function and its
#: argument, ``mantissa`` and ``ten`` a number with a power of ten, ``letter`` a variable alone.
_FORMULA = re.compile(
    rf"(?P<name>(?<![A-Za-z0-9_`'])(?:[A-Za-z]|VH|AN|log)(?P<prime>'?)_)(?P<sub>{_SCRIPT})(?![A-Za-z0-9_])"
    rf"|(?<=[A-Za-z0-9)\]'])\^(?P<power>{_SCRIPT})"
    r"|(?P<open>\b(?:floor|ceil|sqrt))\((?P<inner>(?:[^()]|\([^()]*\))*)\)"
    r"|(?<![A-Za-z0-9])(?P<minus>(?:[A-Za-z]|\d+|\))-)(?=\d|[a-z]\b(?!-))"
    r"|(?P<space> - )(?=[\w(⌊⌈])"
    r"|(?P<mantissa>(?<![\w.])\d(?:\.\d+)?)e(?P<ten>[+-]?\d+)(?![\w.]\d)"
    r"|(?P<sign><=|>=|!=|->|\.\.\.|\+-|\b(?:lambda|delta)\b)"
    r"|(?P<letter>(?<![A-Za-z0-9_.'’-])(?!(?<=\d )s)[b-hj-z](?![A-Za-z0-9_'’>-]|\.[a-z]))"  # but for seconds
)

#: A range whose two ends are equal, such as ``Q_4, ..., Q_4``.
_TRIVIAL_RANGE = re.compile(r"(?<![\w^])(\w+(?:\(\w+\))?), \.\.\., \1(?![\w^])")

#: A point as the command line writes it: ``n=5,f=2``.
_POINT = re.compile(r"(?:(?<=\d)(,))?\b([A-Za-z]+)=(?=\d)")

#: Signs and Greek letters by their names in plain characters.
_SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "...": "…", "+-": "±", "lambda": "λ", "delta": "δ"}

#: The brackets of functions that have some of their own; a root has a sign.
_BRACKETS = {"floor": ("⌊", "⌋"), "ceil": ("⌈", "⌉")}


def _strip_brackets(script: str) -> str:
    """Return a subscript or superscript without the brackets around it, and with minus signs in place of hyphens."""
    inner = script[1:-1] if script[0] in "({" and script[-1] in ")}" else script
    return inner.replace("-", "−")


def formula_html(text: str) -> str:
    """Return text as HTML in which ``Q_n``, ``2^(n-1)``, ``floor(n/2)`` and ``<=`` are typeset."""
    text = _POINT.sub(lambda at: f"{', ' if at[1] else ''}{at[2]} = ", _TRIVIAL_RANGE.sub(r"\1", text))
    out: list[str] = []
    at = 0
    for found in _FORMULA.finditer(text):
        out.append(escape(text[at : found.start()]))
        at = found.end()
        if found["name"]:
            name = found["name"][:-1]
            shown = name if len(name) > 2 else f"<i>{name}</i>"
            out.append(f"{shown}<sub>{formula_html(_strip_brackets(found['sub']))}</sub>")
        elif found["power"]:
            out.append(f"<sup>{formula_html(_strip_brackets(found['power']))}</sup>")
        elif found["open"]:
            left, right = _BRACKETS.get(found["open"], ("√(", ")"))
            out.append(f"{left}{formula_html(found['inner'])}{right}")
        elif found["minus"]:
            out.append(f"{formula_html(found['minus'][:-1])}−")
        elif found["mantissa"]:
            power = f"10<sup>{int(found['ten'])}</sup>".replace("-", "−")
            out.append(power if found["mantissa"] == "1" else f"{found['mantissa']} × {power}")
        elif found["space"]:
            out.append(" − ")
        elif found["sign"]:
            out.append(_SIGNS[found["sign"]])
        else:
            out.append(f"<i>{found['letter']}</i>")
    out.append(escape(text[at:]))
    return "".join(out)
