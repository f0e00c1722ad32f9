"""What a report's folder keeps, damaged or made to harm: it counts as not there, and the page is made without it."""

from __future__ import annotations

import copy
import dataclasses
from urllib.parse import quote

import pytest
from audit_helpers.toy_paper import paper
from toy import TOY

from fastcube.errors import StudyMismatchError
from fastcube.results.results import Results
from fastcube_audit import storage
from fastcube_audit.report import build_maker
from fastcube_audit.report.folder import Folder
from fastcube_audit.report.plan import plan_of
from fastcube_audit.report.render import render

#: Found in the place of anything.
WRONG = (None, True, -1, 10**400, "\x1b[2J", "\ud800", "<script>alert(1)</script>", [], {}, [[]], {"a": 1})


def places(held, at=()):
    """Paths to all values of parsed JSON."""
    inner = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
    for key, value in inner:
        yield (*at, key)
        yield from places(value, (*at, key))


def changed(held, at, value):
    out = copy.deepcopy(held)
    inner = out
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    return out


FIGURE = '<svg viewBox="0 0 9 9"></svg>'

KEPT = {
    "drawn/toy.json": {
        "stamp": "s", "panels": [FIGURE], "description": "A figure.",
        "have": {"a=1,work=0.0": 200, "a=2,work=0.0": 200}, "trials": 400, "seed": 0, "digest": "d", "notes": ["a note"],
        "estimates": [{"point": {"a": a, "work": 0.0}, "statistic": "bit", "eligible": 200, "value": 0.5, "stderr": 0.03,
                       "low": 0.4, "high": None} for a in (1, 2)],
        "history": [{"environment": {"libraries": {"numpy": "2"}, "python": "3", "cpu": "c", "cpus": 2, "os": "o"},
                     "software": {"version": "1", "git_revision": None}, "resources": {"written": "now", "seconds": 1.5},
                     "parameters": {"command": ["fastcube", "run", "toy"]}}],
        "tables": [{"at": ["1", "2"], "rows": [], "title": "bit", "x": "a", "y": "one bit",
                    "columns": [{"label": "bit", "cells": ["0.5", "0.5"], "drawn": True}],
                    "stated": [], "others": []}],
        "spans": {"bit": {"least": {"at": "a = 1", "text": "0.5 ± 0.1"}, "most": {"at": "a = 2", "text": "0.6 ± 0.1"}}},
    },
    "claims/toy-false.json": {
        "sources": "s", "paper": "toy", "id": "false", "statement": "s", "where": "here", "added": False, "misprint_reason": "",
        "outcome": "refuted", "effort": "quick", "checked": "Q_1",
        "fact": "cubes", "definition": False, "method": "exhaustive", "applied": 3, "correction": "", "counterexamples": [
            {"description": "w", "python": "1", "value": [4], "value_text": "4", "drawing": {"drawings": [{
                "n": 2, "faulty_nodes": [1], "faulty_links": [[0, 1]], "inside": [[2, "1"]], "arrows": [[0, 2, "a"]],
                "unsafe": True}]}},
            {"description": "w", "python": "1", "value": 4, "value_text": "4", "drawing": {"dual": {
                "m": 1, "faulty_nodes": [7], "inside": [[0, "s"]], "paths": [[0, 1]]}}},
            {"description": "w", "python": "1", "value": 4, "value_text": "4", "drawing": {"lines": ["faulty nodes: 00000"]}}],
    },
    "examples/toy-three.json": {"sources": "s", "gave": "8", "same": True, "failed": ""},
}  # a table, row by row # fmt: skip


@pytest.fixture
def place(tmp_path):
    out = Folder(tmp_path)
    for name, held in KEPT.items():
        storage.write_entry(tmp_path / name, held)
    return out


@pytest.mark.parametrize("name", KEPT)
def test_an_edit_counts_as_not_there(name, place):
    file = place.path / name
    file.write_text(file.read_text().replace('": "', '": "2', 1))
    assert storage.read_entry(file, dict) is None


@pytest.mark.parametrize("name", KEPT)
def test_whatever_stands_in_a_sealed_file_the_page_is_made(name, place):
    """Every field in turn replaced by the wrong values and sealed again."""
    shape = {"drawn": storage.STUDY_PAGE, "claims": storage.VERDICT, "examples": storage.EXAMPLE}[
        name.partition("/")[0]
    ]
    file, plan = place.path / name, plan_of([paper("false")], True)
    held = storage.read_entry(file, shape)
    assert held == KEPT[name]
    page = render(plan, place)
    for i, at in enumerate(places(held)):
        for wrong in (WRONG[i % len(WRONG)],):
            storage.write_entry(file, changed(held, at, wrong))
            if storage.read_entry(file, shape) is not None:  # taken for what was written
                text = render(plan, place)
                text.encode()
                assert "<script>alert" not in text
                assert "\x1b" not in text
    storage.write_entry(file, held)
    assert render(plan, place) == page


def test_a_figure_of_whatever_text_is_an_image(place):
    harm = '</svg>"><script>alert(1)</script><svg onload="alert(1)">'
    held = KEPT["drawn/toy.json"]
    storage.write_entry(place.path / "drawn/toy.json", {**held, "panels": [harm, harm]})
    page = render(plan_of([paper("false")], True), place)
    assert harm not in page
    assert page.count(quote(harm.replace('"', "'"), safe=" '=/()")) == 2


def test_deep_large_and_irregular_files_count_as_not_there(tmp_path):
    deep, device, large = tmp_path / "deep", tmp_path / "device", tmp_path / "large"
    deep.write_text("[" * 100_000)
    device.symlink_to("/dev/zero")
    with large.open("wb") as file:
        file.truncate(storage.LARGEST + 1)
    assert [storage.read_entry(path, dict) for path in (deep, device, large, tmp_path / "none")] == [None] * 4


def test_a_verdict_on_another_claim_is_none(place):
    (piece,) = plan_of([paper("last")], True).claims
    (place.path / "claims" / "toy-last.json").write_text((place.path / "claims" / "toy-false.json").read_text())
    assert place.read_entry(piece) is None


def test_results_of_other_provenance_are_shown_without_it(place):
    held = KEPT["drawn/toy.json"]
    for history in ([], [{}], [{"environment": 3}]):
        storage.write_entry(place.path / "drawn" / "toy.json", held | {"history": history})
        assert "2 points of 200 trials" in render(plan_of([paper()], True), place)


def test_results_of_another_revision_are_refused(tmp_path):
    Results(dataclasses.replace(TOY, revision=77), 0).save(tmp_path / "toy.h5")
    before = (tmp_path / "toy.h5").read_bytes()
    maker = build_maker(tmp_path, plan_of([paper()], True), 1, None, "none", False)
    with pytest.raises(StudyMismatchError, match=r"the study here has revision 1, .*toy\.h5 has revision 77"):
        maker.run()
    assert (tmp_path / "toy.h5").read_bytes() == before
