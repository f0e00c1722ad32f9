"""What to cite: the software, and the papers that a study is about, as BibTeX.

``CITATION.cff`` says the same of the software, in another form; a test compares them.
"""

from __future__ import annotations

from ..measure.inventory import Inventory
from ..resources import read_json
from ..results.provenance import package_version

TITLE = "fastcube: reproducible Monte Carlo for fault-tolerant communication in hypercube networks"
AUTHORS = "The fastcube developers"
YEAR = 2026


def software() -> str:
    """The entry of this version of fastcube."""
    return _entry(
        "software",
        "fastcube",
        {
            "title": f"{{{TITLE}}}",
            "author": f"{{{AUTHORS}}}",  # a name of its own, of which "fastcube" is no part
            "version": package_version(),
            "year": str(YEAR),
            "license": "Apache-2.0",
        },
    )


def paper(inventory: Inventory) -> str:
    """The entry of a paper, as far as its text tells where it appeared."""
    if given := package_entries(inventory.paper):
        return "\n".join(given)
    return _entry(
        "misc",
        inventory.paper,
        {
            "title": f"{{{inventory.title}}}",
            "author": " and ".join(inventory.authors),
            "howpublished": inventory.published,
            **({"year": str(inventory.year)} if inventory.year else {}),
        },
    )


def package_entries(name: str) -> list[str]:
    """The entries of ``data/citations.json`` for a package of studies: one for each network or routing rule."""
    entries = read_json("citations").get(name, ())
    return [_entry(kind, key, fields | {"title": f"{{{fields['title']}}}"}) for kind, key, fields in entries]


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = (f"  {name:<12} = {{{value.replace('&', chr(92) + '&')}}}" for name, value in fields.items())
    return f"@{kind}{{{key},\n" + ",\n".join(lines) + "\n}"
