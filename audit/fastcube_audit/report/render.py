"""Write the page: a single HTML file that loads nothing, with a policy that allows only its own style and script (by hash)."""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.resources
import re
from typing import Any

from fastcube.results.provenance import package_version

from .agreement import HEADLINE_VERDICTS, VERDICT_LABELS
from .content import collect_content
from .folder import Folder
from .plan import Plan
from .text import formula, markdown

#: End tags that HTML allows to omit, because a cell, a row or the end of the table follows: a tenth of the tables' bytes.
_OPTIONAL = re.compile(r"</t[dhr]>\s*(?=</?t[dhr]\b|</t(?:body|head)>)")


def _text(name: str) -> str:
    return (importlib.resources.files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@functools.cache
def _environment() -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters |= {"formula": formula, "markdown": markdown}
    environment.globals |= {"labels": VERDICT_LABELS, "named": HEADLINE_VERDICTS}
    return environment


def render(plan: Plan, folder: Folder) -> str:
    """Return the whole page from the content of the folder."""
    style, script = _text("style.css"), _text("script.js")
    allowed = {
        "img-src": "data:",
        "style-src": _hash(style),
        "script-src": _hash(script),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    policy = "; ".join(["default-src 'none'", *(f"{kind} {source}" for kind, source in allowed.items())])
    template = _environment().get_template("report.html")
    page: str = template.render(
        collect_content(plan, folder), style=style, script=script, policy=policy, version=package_version()
    )
    # in text, and between the double quotes of the templates' attributes, an apostrophe needs no escaping
    return _OPTIONAL.sub("", page).replace("&#39;", "'")
