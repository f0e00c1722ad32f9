"""BibTeX entries for ``fastcube cite``: the software, and the papers that a study implements.

``CITATION.cff`` holds the same facts about the software in another format.  A test compares the two.
"""

from __future__ import annotations

import re
from importlib import metadata
from typing import Any

from ..measure.inventory import Inventory
from ..resources import read_json
from .provenance import package_version

TITLE = "fastcube: reproducible Monte Carlo for fault-tolerant communication in hypercube networks"
AUTHORS = "The fastcube developers"
YEAR = 2026


def software() -> str:
    """Return the BibTeX entry of this version of fastcube."""
    return _entry(
        "software",
        "fastcube-software",
        {
            "title": TITLE,
            "author": f"{{{AUTHORS}}}",  # double braces: BibTeX must not take the group's name for first and last names
            "version": package_version(),
            "year": str(YEAR),
            "license": "Apache-2.0",
            **_repository_field(),
        },
    )


def _repository_field() -> dict[str, str]:
    """Return the address of the repository, which the package's metadata have; empty if it is not installed."""
    try:
        lines = metadata.metadata("fastcube").get_all("Project-URL") or ()
    except metadata.PackageNotFoundError:
        return {}
    addresses = dict(line.split(", ", 1) for line in lines)
    return {"url": addresses["Repository"]} if "Repository" in addresses else {}


def paper(inventory: Inventory) -> str:
    """Return the BibTeX entry of a paper, with the fields that its inventory knows."""
    if given := package_entries(inventory.paper):
        return "\n".join(given)
    return _cited(
        "misc",
        {
            "title": inventory.title,
            "author": " and ".join(inventory.authors),
            "howpublished": inventory.published,
            **({"year": str(inventory.year)} if inventory.year else {}),
        },
    )


def package_entries(name: str) -> list[str]:
    """Return the entries that ``data/citations.json`` lists for a package of studies, one per network or routing rule.

    The field ``keywords`` names the networks or rules.
    """
    return [
        _cited(kind, fields | ({} if listed == name else {"keywords": listed.replace("+", ", ")}))
        for kind, listed, fields in listed_entries(name)
    ]


def method_entries(study: str) -> list[str]:
    """Return the entries of the methods that a study uses: its own, then those of all studies."""
    used, entries = (
        read_json("citations")["methods of studies"],
        {entry[1]: entry for entry in listed_entries("methods")},
    )
    return [_cited(kind, fields) for kind, _, fields in (entries[key] for key in (*used.get(study, ()), *used["*"]))]


def listed_entries(name: str) -> list[tuple[str, str, dict[str, str]]]:
    """Return the kind, key and fields of each entry of a list; an entry may name the paper whose fields it has."""
    citations: dict[str, Any] = read_json("citations")
    return [
        (kind, key, citations[fields][0][2] if isinstance(fields, str) else fields)
        for kind, key, fields in citations.get(name, ())
    ]


#: Largest number of authors in a key, and least number of letters of the word of the title in it.
_AUTHORS, _LETTERS = 3, 4


def citation_key(fields: dict[str, str]) -> str:
    """Return a key by authors, year and first long word of the title: ``chen-shin-1990-adaptive``.

    A reader's own file hardly has such a key.
    """
    names = [name.split(", ")[0] if ", " in name else name.split()[-1] for name in fields["author"].split(" and ")]
    title = re.sub(r"\$[^$]*\$", "", fields["title"]).split()
    word = next(word for word in title if len(word.strip("{},:")) >= _LETTERS)
    parts = [*names[:_AUTHORS], *(["et-al"] if len(names) > _AUTHORS else []), fields.get("year", ""), word]
    return "-".join(re.sub(r"[^a-z0-9-]", "", part.lower()) for part in parts if part)


def _cited(kind: str, fields: dict[str, str]) -> str:
    return _entry(kind, citation_key(fields), fields)


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    fields = fields | {"title": f"{{{fields['title']}}}"}  # the braces keep the case of the title
    lines = (f"  {name:<12} = {{{value.replace('&', chr(92) + '&')}}}" for name, value in fields.items())
    return f"@{kind}{{{key},\n" + ",\n".join(lines) + "\n}"
