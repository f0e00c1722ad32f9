"""``fastcube cite``: one entry of the software, as CITATION.cff has it, and one of a study's paper."""

from __future__ import annotations

import re
import runpy
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import fastcube as fc
from fastcube.cli import main
from fastcube.measure.inventory import inventory, papers
from fastcube.resources import read_json
from fastcube.results import citing

DOCS = Path(__file__).parents[2] / "docs"
MADE = runpy.run_path(str(DOCS / "references.py"))
CFF = (Path(__file__).parents[2] / "CITATION.cff").read_text()


def field(name, text):
    return re.search(rf"^  {name} += {{(.*)}},?$", text, re.MULTILINE)[1]


def test_the_software_is_that_of_the_citation_file():
    for name, key in (("title", "title"), ("author", "  - name"), ("version", "version"), ("license", "license")):
        cited = re.search(rf"^{key}: \"?([^\"\n]*)", CFF, re.MULTILINE)[1]
        assert field(name, citing.software()).strip("{}") == cited
    assert field("year", citing.software()) == re.search(r"^date-released: (\d+)", CFF, re.MULTILINE)[1]


def test_the_software_has_the_address_of_the_repository(monkeypatch):
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]
    assert field("url", citing.software()) == project["urls"]["Repository"]
    assert f"\n{citing.software()}\n```\n" in (DOCS / "references.md").read_text()

    def is_missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "metadata", is_missing)
    assert "url" not in citing.software()


@pytest.mark.parametrize("name", papers())
def test_every_paper_has_an_entry_that_braces_close(name):
    text = citing.paper(inventory(name))
    assert text.startswith(f"@{'inproceedings' if name == 'lee_hayes' else 'misc'}{{{name.replace('_', '-')}-")
    assert text.count("{") == text.count("}")
    assert field("title", text).strip("{}") in CFF
    assert not re.search(r"(?<!\\)[&%$#_]", "".join(text.partition(",")[1:]))  # characters with a meaning in LaTeX
    assert len(field("author", text).split(" and ")) == len(inventory(name).authors)


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    reported = capsys.readouterr()
    return ended.value.code, reported.out, reported.err


@pytest.mark.parametrize("study", fc.study_names())
def test_every_study(study, capsys):
    code, out, said = call(capsys, "cite", study)
    assert code == 0
    assert not said
    assert out.startswith(citing.software() + "\n@")


def test_an_unknown_study_prints_no_entry(capsys):
    code, out, said = call(capsys, "cite", "nobody")
    assert (code, out) == (2, "")
    assert "got nobody" in said


def test_a_paper_names_a_study_to_cite(capsys):
    code, out, said = call(capsys, "cite", "lee_hayes")
    assert (code, out) == (2, "")
    assert said == "fastcube: study must be the name of a study, such as unsafe-fraction, got the paper lee_hayes\n"


def test_every_network_and_rule_is_cited(capsys):
    for study, names in (
        ("survival", fc.network_families()),
        ("routing-rules", ("route1", "levels", "vectors", "a1", "dfs", "sidetrack")),
    ):
        out = call(capsys, "cite", study)[1]
        cited = ", ".join(re.findall(r"^  keywords += {(.*)},?$", out, re.MULTILINE)).split(", ")
        assert set(names) <= set(cited) and out.count("{") == out.count("}")


def test_the_page_names_all_that_is_cited():
    entries = [
        entry for name in ("networks", "routing_rules", "methods", "lee_hayes") for entry in citing.listed_entries(name)
    ]
    shown = "\n".join(" ".join(row) for make in MADE["TABLES"].values() for row in make()[1])
    for _, key, fields in entries:
        assert MADE["reference_text"](fields) in shown, key
    assert all(inventory(name).title in shown for name in papers())
    assert not re.search(r"[{}\\$]", shown)


def test_every_entry_says_how_it_was_checked():
    citations = read_json("citations")
    listed = {
        key
        for name in ("lee_hayes", "networks", "routing_rules", "methods", "background")
        for _, key, _ in citations[name]
    }
    checked = [key for keys in citations["agreement"].values() for key in keys]
    assert sorted(checked) == sorted(listed - {"route+route1+route3"})
    assert {key for keys in citations["sections"].values() for key in keys} >= {
        key for _, key, _ in citations["methods"]
    }
    assert set(citations["used for"]) <= listed


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Steele, Jr., Guy L.", "G. L. Steele"),
        ("Jan L. A. van de Snepscheut", "J. L. A. van de Snepscheut"),
        ("Isaac Yi-Yuan Lee", "I. Y.-Y. Lee"),
        ("Micha{\\l} Przykucki", "M. Przykucki"),
    ],
)
def test_authors_are_shown_by_initials(written, shown):
    assert MADE["author_text"]([written]) == shown


def test_methods_are_those_of_studies():
    citations = read_json("citations")
    used = citations["methods of studies"]
    assert set(used) - {"*"} <= set(fc.study_names())
    assert {key for keys in used.values() for key in keys} == {key for _, key, _ in citations["methods"]}


def test_a_study_cites_its_methods(capsys):
    out = call(capsys, "cite", "unsafe-rare")[1]
    assert re.findall(r"^@\w+{(.*),$", out, re.MULTILINE) == [
        *("fastcube-software", "lee-hayes-1988-routing"),
        *("karp-luby-1983-monte-carlo", "karp-luby-madras-1989-monte-carlo"),
        *("salmon-moraes-dror-et-al-2011-parallel", "clopper-pearson-1934-confidence", "maurer-pontil-2009-empirical"),
    ]


def test_keys_are_of_authors_and_years_and_differ():
    """One key stands for one entry, whichever study cites it, and none is a bare name such as ``a1``."""
    lists = ("lee_hayes", "networks", "routing_rules", "methods", "background")
    fields = [fields for name in lists for _, _, fields in citing.listed_entries(name)]
    keys = {citing.citation_key(some): some["title"] for some in fields}
    assert len(keys) == len({some["title"] for some in fields})
    for some in fields:
        key = citing.citation_key(some)
        assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)+", key) and some.get("year", "") in key, key
