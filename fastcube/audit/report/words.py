"""Convert text to HTML for the page: formulas, and the Markdown of the interpretations."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

#: A group in round brackets, with at most one nested level, or in braces.
_GROUP = r"\((?:[^()]|\([^()]*\))*\)|\{[^{}]*\}"

#: A subscript or superscript: a group, a fraction, or letters and digits, perhaps with a further power.
_SCRIPT = rf"(?:{_GROUP}|1/2|[-−]?[A-Za-z0-9]+(?:\^(?:{_GROUP}|[A-Za-z0-9]+))?)"

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

_SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "...": "…", "+-": "±", "lambda": "λ", "delta": "δ"}
_BRACKETS = {"floor": ("⌊", "⌋"), "ceil": ("⌈", "⌉")}


def _strip_brackets(script: str) -> str:
    """Return a subscript or superscript without the brackets around it, and with minus signs in place of hyphens."""
    inner = script[1:-1] if script[0] in "({" and script[-1] in ")}" else script
    return inner.replace("-", "−")


def formula(text: str) -> Markup:
    """Return text as HTML in which ``Q_n``, ``2^(n-1)``, ``floor(n/2)`` and ``<=`` are typeset."""
    text = _POINT.sub(lambda at: f"{', ' if at[1] else ''}{at[2]} = ", _TRIVIAL_RANGE.sub(r"\1", text))
    out, at = [], 0
    for found in _FORMULA.finditer(text):
        out.append(escape(text[at : found.start()]))
        at = found.end()
        if found["name"]:
            name = found["name"][:-1]
            shown = escape(name) if len(name) > 2 else Markup("<i>{}</i>").format(name)
            out.append(Markup("{}<sub>{}</sub>").format(shown, formula(_strip_brackets(found["sub"]))))
        elif found["power"]:
            out.append(Markup("<sup>{}</sup>").format(formula(_strip_brackets(found["power"]))))
        elif found["open"]:
            left, right = _BRACKETS.get(found["open"], ("√(", ")"))
            out.append(Markup("{}{}{}").format(left, formula(found["inner"]), right))
        elif found["minus"]:
            out.append(Markup("{}−").format(formula(found["minus"][:-1])))
        elif found["mantissa"]:
            power = Markup("10<sup>{}</sup>").format(str(int(found["ten"])).replace("-", "−"))
            out.append(power if found["mantissa"] == "1" else Markup("{} × {}").format(found["mantissa"], power))
        elif found["space"]:
            out.append(Markup(" − "))
        elif found["sign"]:
            out.append(Markup(_SIGNS[found["sign"]]))  # noqa: S704  (one of our own signs)
        else:
            out.append(Markup("<i>{}</i>").format(found["letter"]))
    out.append(escape(text[at:]))
    return Markup("").join(out)


_MARKS = re.compile(r"\*\*(?P<bold>[^*]+)\*\*|`(?P<code>[^`]+)`|(?<![\w*])\*(?P<stress>[^*\s][^*\n]*)\*(?![\w*])")


def _convert_markup(text: str) -> Markup:
    out, at = [], 0
    for found in _MARKS.finditer(text):
        out.append(formula(text[at : found.start()]))
        at = found.end()
        tag = "b" if found["bold"] else "code" if found["code"] else "em"
        inner = escape(found["code"]) if found["code"] else formula(found["bold"] or found["stress"])
        out.append(Markup("<{0}>{1}</{0}>").format(tag, inner))
    out.append(formula(text[at:]))
    return Markup("").join(out)


def markdown(text: str) -> Markup:
    """Return an interpretation as HTML: paragraphs, code blocks, and list items on separate lines."""
    parts = []
    for i, block in enumerate(re.split(r"^```.*$", text, flags=re.MULTILINE)):
        if i % 2:
            parts.append(Markup('<pre tabindex="0">{}</pre>').format(block.strip("\n")))
            continue
        for paragraph in filter(None, (p.strip() for p in re.split(r"\n\s*\n", block))):
            lines = re.sub(r"\n(?!\s*(?:[-*] |\d+\. |`\w+`))\s*", " ", paragraph).splitlines()
            parts.append(
                Markup("<p>{}</p>").format(Markup("<br>").join(_convert_markup(line.strip()) for line in lines))
            )
    return Markup("").join(parts)
