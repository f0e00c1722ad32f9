"""Words of the report's page: formulas, values, readings, and findings that the registries and README bear out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from audit_helpers import report_page

from fastcube import resources
from fastcube.measure import registry
from fastcube.measure.paper import papers_with_inventory
from fastcube_audit import registries
from fastcube_audit.readings import parse_readings, readings

pytest.importorskip("jinja2")

from fastcube_audit.report.text import formula, markdown
from fastcube_audit.values import format_value, value_text

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "Q_n, T_(k-1)(s), B_6",
            "<i>Q</i><sub><i>n</i></sub>, <i>T</i><sub><i>k</i>−1</sub>(<i>s</i>), <i>B</i><sub>6</sub>",
        ),
        ("2^(n-1) and 2^2^n", "2<sup><i>n</i>−1</sup> and 2<sup>2<sup><i>n</i></sup></sup>"),
        ("floor(n/2) <= f", "⌊<i>n</i>/2⌋ ≤ <i>f</i>"),
        ("FIND_UNSAFE in a fault-free 3-cube", "FIND_UNSAFE in a fault-free 3-cube"),
        ("at n=10,links=0: lambda < delta", "at <i>n</i> = 10, links = 0: λ &lt; δ"),
        ("4.36e-04 ± 3.7e-08, level 1e-6", "4.36 × 10<sup>−4</sup> ± 3.7 × 10<sup>−8</sup>, level 10<sup>−6</sup>"),
        ("Q_3, ..., Q_3", "<i>Q</i><sub>3</sub>"),
        ("<b> & 1 < n", "&lt;b&gt; &amp; 1 &lt; <i>n</i>"),
        ("x<script>alert(1)</script>_n", "<i>x</i>&lt;script&gt;alert(1)&lt;/script&gt;_n"),
    ],
)
def test_formulas_look_like_what_they_mean(text, html):
    assert str(formula(text)) == html


@pytest.mark.parametrize(
    ("value", "python", "text"),
    [
        ([14, 12, 4], "fc.route(fc.Hypercube(4, [0]), 14, 4).path", "1110 → 1100 → 0100"),
        ([0, 1], "fc.route(fc.DualCube(1), 0, 1).path", "000 → 001"),
        ([4, [], "lost"], "x", "4, none, lost"),
        ({"mutual": "1"}, "x", "mutual: 1"),
        (None, "x", "none"),
        (True, "x", "yes"),
        (12345, "x", "12,345"),
        ((0.123456, 3), "x", "0.1235, 3"),
    ],
)
def test_values_are_written_as_a_person_does(value, python, text):
    assert value_text(value, python) == text


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        ([1, [3, 5]], "{0:node} and {1:nodes}", "001 and {011, 101}"),
        ([[0, 1], True], "{0:set}; {1}", "{0, 1}; yes"),
        ([[0, 1], [1, 5], [0, 2]], "{value:hops}", "000 → 001 → 101, 000 → 010"),
        ([[0, 4]], "{value:edges}", "(000 : 100)"),
        ([[1, 2], [4, 1]], "{value:marks}", "001: 2, 100: 1"),
        ([[0, 1], [2, 3]], "{value:grid}", "000, 001; 010, 011"),
        ([["lost", [6]], []], "{0[0]} at {0[1]:path}, {1:row}", "lost at 110, none"),
        ([2, 1], "{value:row2}", "10, 01"),
    ],
)
def test_a_form_says_how_nodes_are_written(value, form, text):
    assert value_text(value, "fc.Hypercube(3).n", form) == text


def test_lists_of_lists_have_no_writing_of_their_own():
    assert value_text([[1, 2], [3]], "x") == ""
    assert value_text([[], None], "x", "{0[0]:node} to {1:row}") == ""  # not what the form expects
    with pytest.raises(ValueError, match="form"):
        format_value([[1, 2], [3]])


def test_every_example_is_written_as_a_person_does_or_drawn():
    for paper in papers_with_inventory():
        for name, make in registries.audited_paper(paper).examples.items():
            example = make()
            assert example.value_text or any(cube.arrows for cube in example.cubes), (paper.name, name)
            assert report_page.python_fragments(f"{example.description}: {example.value_text}") == [], (
                paper.name,
                name,
            )


def test_no_statement_caption_or_description_is_raw():
    for paper in papers_with_inventory():
        held = paper.inventory
        texts = [text for item in held.all_results for text in (item.stated, item.drawing, item.concept)]
        texts += [
            text
            for claim in registries.audited_paper(paper).claims
            for text in (claim.statement, claim.where, claim.correction, claim.misprint_reason)
        ]
        texts += [s.description for study in map(registry.study, paper.studies) for s in study.statistics]
        assert [(paper.name, text) for text in texts if report_page.python_fragments(str(formula(text)))] == []


def test_readings_are_found_whole():
    text = (
        "# Title\n\n- **R1 A rule.** One\n  more\n\n  - inner\n- **R2** `code`\n\n```\nfenced\n- **R9** no\n```\n\n"
        "- **R3 Last** x\n\nProse R4.\n"
    )
    found = parse_readings(text)
    assert list(found) == ["R1", "R2", "R3"]
    assert found["R1"] == "**R1 A rule.** One\nmore\n\n- inner"
    assert "- **R9** no" in found["R2"]
    assert str(markdown(found["R1"])) == "<p><b>R1 A rule.</b> One more</p><p>- inner</p>"
    assert '<pre tabindex="0">fenced' in markdown(found["R2"])


def test_every_reading_that_an_item_names_has_a_text():
    for paper in papers_with_inventory():
        named = {
            code.strip() for item in paper.inventory.results for code in item.interpretations.split(",") if code.strip()
        }
        assert named
        assert named <= set(readings(paper.name)), paper.name


def test_readme_says_what_the_page_says_was_found():
    table = {}
    for line in (ROOT / "README.md").read_text().splitlines():
        if row := re.match(r"\| \[[^]]*\]\(docs/papers/(\w+)\.md\)[^|]*\| ([^|]*) \| (.*) \|$", line):
            table[row[1]] = row[2].replace("`", "").split(", "), re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", row[3])
    studies = {paper.name: [*paper.studies] for paper in papers_with_inventory()}
    assert {
        line["paper"]: (studies[line["paper"]], line["text"])
        for line in resources.read_json("findings", "fastcube_audit.report")["found"]
    } == table


def test_the_weightiest_findings_are_the_facts_that_errata_refutes():
    facts = {
        (paper.name, claim.id): claim.fact or claim.id
        for paper in papers_with_inventory()
        for claim in registries.audited_paper(paper).claims
    }
    added = {
        (paper.name, claim.id)
        for paper in papers_with_inventory()
        for claim in registries.audited_paper(paper).claims
        if claim.added
    }
    listed = [(f["paper"], f["claim"]) for f in resources.read_json("findings", "fastcube_audit.report")["weightiest"]]
    assert len(listed) == 10
    assert not added & set(listed)
    assert len({(paper, facts[paper, claim]) for paper, claim in listed}) == 10
