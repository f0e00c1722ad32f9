"""Convert text to HTML for the page: formulas, and the Markdown of the interpretations."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from fastcube.plot.formula import formula_html


def formula(text: str) -> Markup:
    """Return text as HTML in which ``Q_n``, ``2^(n-1)``, ``floor(n/2)`` and ``<=`` are typeset."""
    return Markup(formula_html(text))  # noqa: S704  (which escapes the text)


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
