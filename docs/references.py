"""The tables of the page of references: a head and rows each, from ``data/citations.json`` and the papers' inventories."""

import re
from pathlib import Path

from fastcube.measure.inventory import inventory, papers
from fastcube.resources import read_json
from fastcube.results.citing import listed_entries

DOCS = Path(__file__).resolve().parent

#: Letters that BibTeX writes as commands; the braces that keep the case of letters are removed after these.
LETTERS = {'{M}{\\"o}': "Mö", "{\\'o}": "ó", "{\\'e}": "é", "{\\'a}": "á", "{\\l}": "ł", "{\\L}": "Ł", "--": "-"}

#: A code at the start of an entry of a paper's interpretation.
CODE = re.compile(r"^- \*\*([A-Z]\d+)\b", re.MULTILINE)


def plain_text(bibtex):
    """Return a value of a BibTeX field as text."""
    for written, shown in LETTERS.items():
        bibtex = bibtex.replace(written, shown)
    return re.sub(r"[{}$]", "", bibtex)


def split_name(name):
    """Return the initials and the surname of an author or editor."""
    if ", " in name:  # "Steele, Jr., Guy L."
        surname, *_, given = name.split(", ")
        pieces = given.split()
    else:
        *pieces, surname = name.split()
        while pieces and pieces[-1].islower():
            surname = f"{pieces.pop()} {surname}"
    return " ".join("-".join(f"{part[0]}." for part in piece.split("-")) for piece in pieces), surname


def author_text(names):
    """Return authors, of BibTeX or of an inventory, by initials and surnames."""
    *first, last = (" ".join(split_name(plain_text(name))) for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def reference_text(fields):
    """Return an entry as one line, from its BibTeX fields."""
    parts = [author_text(fields["author"].split(" and ")), f'"{plain_text(fields["title"])}"']
    if "journal" in fields:
        number = f"({fields['number']})" if "number" in fields else ""
        parts.append(f"{fields['journal']} {fields['volume']}{number}")
    elif "booktitle" in fields:
        editor = f" ({fields['editor']}, editor)" if "editor" in fields else ""
        parts += [fields["booktitle"] + editor, *(f"vol. {fields['volume']}" for _ in range("volume" in fields))]
    parts += [fields[name] for name in ("pages", "year", "note") if name in fields]
    return plain_text(", ".join(parts))


def papers_table():
    """A row per paper, with the codes of its interpretations."""
    rows = []
    for name in papers():
        paper, page = inventory(name), f"readings/{name.replace('_', '-')}.md"
        codes = CODE.findall((DOCS / page).read_text())
        year = [str(paper.year)] if paper.year else []
        text = ", ".join([author_text(paper.authors), f'"{paper.title}"', paper.published, *year])
        rows.append([f"`{name}`", text, f"[{codes[0]}-{codes[-1]}]({page})"])
    later = {key: fields for _, key, fields in listed_entries("background")}["wang-lin-kuo-1999"]
    rows.append(["not read", f"{reference_text(later)} (a later version of `wang_lin_kuo`)", ""])
    return ["name", "paper", "interpretations"], rows


def named_table(head, name):
    """A row per entry of a list whose keys are names of networks or rules."""
    rows = [[key.replace("+", ", "), reference_text(fields)] for _, key, fields in listed_entries(name)]
    return [head, "paper"], rows


def used_table(head, section):
    """A row per entry of a section, with its use: in words, or the studies that cite it."""
    citations = read_json("citations")
    found = {key: fields for name in ("methods", "background") for _, key, fields in listed_entries(name)}
    rows = []
    for key in citations["sections"][section]:
        studies = [f"`{study}`" for study, keys in citations["methods of studies"].items() if key in keys]
        rows.append([citations["used for"].get(key) or ", ".join(studies), reference_text(found[key])])
    return [head, "paper"], rows


def rules_table():
    """A row per rule, then the methods of the study that compares statuses."""
    head, rows = named_table("rule", "routing_rules")
    _, methods = used_table("", "methods of rules")
    return head, rows + methods


def entry_label(key, fields):
    """Return the name of an entry in sentences: its authors and year, or the networks or rules that it defines."""
    authors = [split_name(plain_text(name))[1] for name in fields["author"].split(" and ")]
    some = " & ".join(authors) if len(authors) < 3 else f"{authors[0]} et al."
    return f"{some} {fields['year']}" if "year" in fields else some


def agreement_table():
    """A row per kind of agreement with catalogues, with its entries."""
    named = {key for name in ("networks", "routing_rules") for _, key, _ in listed_entries(name)}
    found = {key: fields for name in ("methods", "background", "lee_hayes") for _, key, fields in listed_entries(name)}
    rows = []
    for kind, keys in read_json("citations")["agreement"].items():
        labels = [key.replace("+", ", ") if key in named else entry_label(key, found[key]) for key in keys]
        rows.append([kind, ", ".join(labels)])
    return ["agrees", "entries"], rows


#: The tables by name.
TABLES = {
    "papers": papers_table,
    "networks": lambda: named_table("network", "networks"),
    "rules": rules_table,
    "percolation": lambda: used_table("used by", "percolation"),
    "trees": lambda: used_table("used by", "trees"),
    "random": lambda: used_table("used for", "random"),
    "agreement": agreement_table,
}
