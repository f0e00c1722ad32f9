"""The report of a toy paper: what is made when, what is said of it, and that the same folder gives the same page."""

from __future__ import annotations

import base64
import hashlib
import html
import html.parser
import json
import os
import re
import signal
import time
from urllib.parse import unquote

import pytest
from audit_helpers import report_page
from audit_helpers.toy_paper import paper
from helpers.compiled import mark_others_slow

import fastcube as fc
import fastcube_audit
from fastcube.errors import ParameterError, ResultFileError
from fastcube.measure import registry
from fastcube.measure.estimate import Estimate
from fastcube.measure.inventory import Evidence, PrintedNumber, PublishedResult
from fastcube.measure.paper import papers_with_inventory
from fastcube.plot.panel import Panel
from fastcube.running import signals
from fastcube.running.signals import INTERRUPTED, TERMINATED, WORK_REMAINS
from fastcube_audit import registries
from fastcube_audit.report import build_maker, running
from fastcube_audit.report import plan as planning
from fastcube_audit.report.agreement import (
    ClaimOutcome,
    claim_verdicts,
    comparable_numbers,
    compare_printed,
    item_verdict,
)
from fastcube_audit.report.counterexamples import drawings_of, render_counterexample
from fastcube_audit.report.figures import _table, figure_of, lines_text
from fastcube_audit.report.folder import Folder
from fastcube_audit.report.plan import budget, plan_of

CLAIMS = ("false", "corrected", "last")

pytest.importorskip("jinja2")


@pytest.fixture(autouse=True)
def few_trials(monkeypatch):
    """A budget for the toy study."""
    grids = {"default": {"quick": 2000, "full": 5000, "seconds": [0.1, 0.2]}}
    monkeypatch.setattr(planning, "budget", lambda: {"studies": {"toy": grids}, "claims": {}})


def make_report(folder, quick=True, claims=CLAIMS, **how):
    maker = build_maker(
        folder,
        plan_of([paper(*claims)], quick),
        how.get("workers", 1),
        how.get("max_seconds"),
        "none",
        how.get("force", False),
    )
    return maker, maker.run()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a quick report."""
    with pytest.MonkeyPatch.context() as patch:
        grids = {"default": {"quick": 2000, "full": 5000, "seconds": [0.1, 0.2]}}
        patch.setattr(planning, "budget", lambda: {"studies": {"toy": grids}, "claims": {}})
        place = tmp_path_factory.mktemp("report")
        _, code = make_report(place)
    assert code == 0
    return place


def files(folder):
    return {
        str(p.relative_to(folder)): (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.rglob("*") if p.is_file()
    }


class Page(html.parser.HTMLParser):
    """The text of the page by the id of the item, and everything on it that could load a resource."""

    def __init__(self, text):
        super().__init__()
        self.at, self.text, self.asks, self.ids, self.styles = "", {}, [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        if tag == "article":
            self.at = named["id"]
        self.ids += [named["id"]] if "id" in named else []
        self.styles += "style" in named or any(name.startswith("on") for name in named)
        self.asks += [v for k, v in attrs if k in ("src", "href", "action", "data") and not v.startswith("#")]

    def handle_endtag(self, tag):
        if tag == "article":
            self.at = ""

    def handle_data(self, data):
        self.text[self.at] = " ".join(f"{self.text.get(self.at, '')} {data}".split())


def page(folder):
    return Page((folder / "report.html").read_text())


# ---------------------------------------------------------------- what it says


def test_every_item_has_its_words_numbers_and_verdict(folder):
    text = page(folder).text
    assert "Bits & <b>bytes</b>." in text["toy-figure-1"]
    assert "the drawing lacking" in text["toy-figure-1"]
    assert "2 points of 2,000 trials, seed 0" in text["toy-figure-1"]
    assert re.search(r"near 0\.5 0\.\d+ ± 0\.0\d+ ✓ holds agrees", text["toy-table-1"])
    assert re.search(
        r"far 0\.75 0\.\d+ ± 0\.0\d+ ≠ not reproduced the printed number is off by \+\d+%", text["toy-table-1"]
    )
    assert "nowhere 0.5 - … not computed yet" in text["toy-table-1"]
    assert re.search(r"percent 50 (49|50)\.\d+ ± \d\.\d+ ✓ holds agrees", text["toy-table-1"])
    assert "nodes 8 claim false ✗ refuted" in text["toy-sizes"]
    assert "Every size" in text[""]
    assert text["toy-sizes"].startswith("section 2")
    assert "python import fastcube as fc print(2 ** fc.Hypercube(3).n) prints 8" in text["toy-three"]
    assert "refuted" in text["toy-sizes"]
    assert "correct statement Q n has 2 n nodes." in text["toy-sizes"]
    assert "counterexample a cube of another size" in text["toy-sizes"]
    assert "python import fastcube as fc print(2 ** fc.Hypercube(2).n)" in text["toy-sizes"]
    assert "prints 4" in text["toy-sizes"]
    assert "Q 3 has 8 nodes" in text["toy-three"]
    assert "no data in it a drawing of a word" in text["toy-figure-2"]
    assert "not decided" in text["toy-end"]


def test_no_words_of_the_page_look_like_python(folder):
    prose = report_page.prose_blocks(folder / "report.html")
    assert "Numbers printed in Table 1" in prose  # the blocks are those of the page
    assert [
        (block, report_page.python_fragments(block)) for block in prose if report_page.python_fragments(block)
    ] == []


def test_its_lines_of_python_run_as_they_stand(folder):
    lines = [(text, gives) for kind, text, gives in report_page.code_lines(folder / "report.html") if kind == "python"]
    lines = [line for line in lines if "fc.run(" not in line[0]]  # the toy study has no name that fc.run knows
    assert len(lines) >= 3
    assert report_page.misprinted_lines(lines) == []


def test_raw_values_are_seen():
    raw = (
        "gives [[1, 2]]",
        "no, None",
        "((1, 2), 3)",
        "at n=4",
        "['01**']",
        "{'a': 1}",
        "as fc.route does",
        "(lambda u: 1)",
    )
    assert all(report_page.python_fragments(text) for text in raw)
    fine = (
        "True under one reading; 0.5 [0.4, 0.6]; P = {0, 1}; (u : v); 2(n - 1); the order (2, 0, 1); f(g(x)) at n = 4"
    )
    assert report_page.python_fragments(fine) == []


def test_the_page_asks_for_nothing_and_allows_only_its_own_style_and_script(folder):
    parsed = page(folder)
    assert all(asked.startswith("data:image/svg+xml,") for asked in parsed.asks)
    assert parsed.styles == 0
    assert len(set(parsed.ids)) == len(parsed.ids)
    text = (folder / "report.html").read_text()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    policy = policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; img-src data:;")
    for tag in ("style", "script"):
        ((inside),) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
        assert tag != "script" or inside.count("\n") < 200


def test_no_name_of_the_script_is_declared_twice(folder):
    """A browser would refuse the whole script."""
    ((script),) = re.findall(r"<script>(.*?)</script>", (folder / "report.html").read_text(), re.S)
    names = re.findall(r"^  (?:const|let) (\w+)", script, re.MULTILINE)
    assert len(names) > 5
    assert len(set(names)) == len(names)


def test_every_point_that_is_drawn_stands_in_the_table(folder):
    drawn = json.loads((folder / "drawn" / "toy.json").read_text())
    cells = [cell for t in drawn["tables"] for c in t["columns"] for cell in c["cells"]]
    text = (folder / "report.html").read_text()
    assert len(cells) >= 2
    assert all(html.escape(cell) in text for cell in cells)


def test_a_figure_stands_in_the_page_as_an_image_that_is_told(folder):
    text = (folder / "report.html").read_text()
    drawn = json.loads((folder / "drawn" / "toy.json").read_text())
    pictures = re.findall(r'<img [^>]*src="data:image/svg\+xml,([^"]*)" alt="([^"]*)">', text)
    assert [unquote(encoded) for encoded, _ in pictures] == [s.replace('"', "'") for s in drawn["panels"]]
    # the first panel has the description of all of them
    others = [""] * (len(drawn["panels"]) - 1)
    assert [html.unescape(alt) for _, alt in pictures] == [drawn["description"], *others]
    assert re.search(r"against .*line.*, values from [0-9.e-]+ to [0-9.e-]+", drawn["description"])
    assert all("<text" in svg and "dc:date" not in svg for svg in drawn["panels"])
    again = figure_of(fc.open_results(folder / "toy.h5"))
    assert again["panels"] == drawn["panels"]


# ---------------------------------------------------------------- what is made when


def test_a_second_run_makes_nothing_and_a_full_one_goes_on(folder, tmp_path):
    before = files(folder)
    maker, code = make_report(folder)
    assert code == 0
    assert files(folder) == before
    assert maker.progress.computed == 0.0
    _, code = make_report(folder, quick=False)
    after = files(folder)
    assert {name for name in before if after[name] != before[name]} == {
        "toy.h5",
        "drawn/toy.json",
        "report.html",
        *(f"claims/toy-{name}.json" for name in CLAIMS),
    }
    assert "2 points of 5,000 trials" in page(folder).text["toy-figure-1"]
    make_report(folder)  # quick is less than what there is
    assert files(folder) == after


@pytest.mark.slow
def test_verdicts_of_other_sources_are_decided_anew(tmp_path):
    make_report(tmp_path, claims=("last",))
    verdict = tmp_path / "claims" / "toy-last.json"
    held = json.loads(verdict.read_text())
    verdict.write_text(json.dumps(held | {"sources": "others", "checked": "elsewhere"}))
    make_report(tmp_path, claims=("last",))
    assert json.loads(verdict.read_text()) == held
    verdict.write_text("{")
    make_report(tmp_path, claims=("last",))
    assert json.loads(verdict.read_text()) == held


@pytest.mark.slow
def test_what_is_missing_is_said_and_made_the_next_time(tmp_path):
    _, code = make_report(tmp_path, max_seconds=1e-6)
    assert code == WORK_REMAINS
    text = page(tmp_path).text
    assert "not computed yet" in text["toy-sizes"]
    _, code = make_report(tmp_path)
    assert code == 0
    assert "refuted" in page(tmp_path).text["toy-sizes"]


@pytest.mark.slow
def test_a_claim_that_breaks_is_told_and_tried_again(tmp_path):
    maker, code = make_report(tmp_path, claims=("breaks", "corrected"))
    assert (code, maker.failed) == (0, 1)
    maker, _ = make_report(tmp_path, claims=("breaks", "corrected"))
    assert maker.failed == 1
    assert "deciding failed: AssertionError" in (tmp_path / "report.html").read_text()


# ---------------------------------------------------------------- signals

CODES = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED, signal.SIGUSR1: WORK_REMAINS}


def then_signal(function, number, before=0.0):
    """The function, which signals this process when it has run."""

    def wrapped(*arguments, **named):
        out = function(*arguments, **named)
        time.sleep(before)
        os.kill(os.getpid(), number)
        return out

    return wrapped


@pytest.mark.parametrize("number", mark_others_slow(CODES, default=0), ids=lambda n: n.name)
def test_a_signal_stops_it_with_what_is_done_kept(tmp_path, monkeypatch, number):
    with monkeypatch.context() as patch:
        patch.setattr(running, "figure_of", then_signal(running.figure_of, number))
        assert make_report(tmp_path, claims=())[1] == CODES[number]
    assert "not computed yet" in page(tmp_path).text["toy-figure-1"]
    results = (tmp_path / "toy.h5").read_bytes()
    assert make_report(tmp_path, claims=())[1] == 0
    assert (tmp_path / "toy.h5").read_bytes() == results
    assert "2 points of 2,000 trials" in page(tmp_path).text["toy-figure-1"]


@pytest.mark.slow
def test_a_signal_among_claims_keeps_the_verdicts_given(tmp_path, monkeypatch):
    make_report(tmp_path, claims=())  # so that the next stored entry is a verdict
    monkeypatch.setattr(Folder, "write_entry", then_signal(Folder.write_entry, signal.SIGUSR1))
    assert make_report(tmp_path, claims=("corrected", "last"))[1] == WORK_REMAINS
    assert "added" in page(tmp_path).text["toy-three"]
    assert "3-cubes have 8 nodes" in page(tmp_path).text["toy-three"]


@pytest.mark.slow
def test_a_second_signal_ends_it_at_once(tmp_path, monkeypatch):
    class Exited(BaseException):
        pass

    def leave(code):
        raise Exited(code)

    monkeypatch.setattr(running, "figure_of", then_signal(running.figure_of, signal.SIGTERM))
    first = running.render
    calls = []
    monkeypatch.setattr(
        running,
        "render",
        lambda *a: then_signal(first, signal.SIGINT, 0.3)(*a) if calls else calls.append(1) or first(*a),
    )
    monkeypatch.setattr(os, "_exit", leave)
    with signals.own_process(), pytest.raises(Exited) as left:
        make_report(tmp_path, claims=())
    assert left.value.args == (INTERRUPTED,)


def test_a_second_interrupt_in_a_python_session_raises_while_a_file_is_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "_exit", lambda code: pytest.fail("the interpreter ended"))
    monkeypatch.setattr(signals, "REPEAT_SECONDS", 0.0)
    monkeypatch.setattr("fastcube_audit.report.prepare", lambda names, quick: plan_of([paper()], quick))

    def interrupt_twice(*arguments):
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
        pytest.fail("nobody interrupted")

    with monkeypatch.context() as patch:
        patch.setattr("fastcube.results.output.OutputFile.save", interrupt_twice)
        with pytest.raises(KeyboardInterrupt):
            fastcube_audit.reproduce(tmp_path, quick=True)
    assert fastcube_audit.reproduce(tmp_path, quick=True) == tmp_path / "report.html"
    assert "2 points of 2,000 trials" in page(tmp_path).text["toy-figure-1"]


def test_figures_of_the_report_do_not_depend_on_the_users_settings(folder, tmp_path):
    import matplotlib as mpl

    with mpl.rc_context({"text.usetex": True, "lines.linewidth": 0, "font.size": 30, "axes.facecolor": "black"}):
        assert make_report(tmp_path)[1] == 0
    drawn, plain = (
        re.findall(r"<svg.*?</svg>", (place / "report.html").read_text(), re.DOTALL) for place in (tmp_path, folder)
    )
    assert drawn == plain != []


# ---------------------------------------------------------------- judging


@pytest.mark.parametrize(
    ("value", "digits", "runs", "key"),
    [
        (0.52, 2, None, "holds"),
        (0.6, 1, None, "unreproduced"),
        (0.5, 1, None, "holds"),
        (0.6, 1, 10, "holds"),
        (0.9, 1, 10, "undecided"),
        (2.0, 1, 10, "unreproduced"),
    ],
)
def test_printed_numbers_are_judged_by_their_digits_and_their_own_scatter(value, digits, runs, key):
    # the standard deviation of one trial is 0.316, of a mean of 10 it is 0.1
    estimate = Estimate(0.52, 0.00316, 0.51, 0.53)
    assert compare_printed(PrintedNumber("x", value, digits), "bit", estimate, 10_000, runs).key == key


def test_an_item_takes_the_worst_of_its_parts():
    assert item_verdict(["holds", "refuted"], [], ["shown"], False) == "refuted"
    assert item_verdict(["refuted"], ["unreproduced"], [], False) == "unreproduced"
    assert item_verdict(["holds"], ["undecided"], ["shown"], False) == "undecided"
    assert item_verdict(["holds"], [], ["missing"], False) == "missing"
    assert item_verdict([], [], ["shown"], False) == "shown"
    assert item_verdict([], [], [], False) == "missing"
    assert item_verdict([], [], [], True) == "concept"


def test_numbers_are_compared_with_their_statistic_by_every_reading_of_it():
    def shown_by(*statistics):
        return tuple(Evidence(study="multicast", statistic=name) for name in statistics)

    printed = (
        PrintedNumber("N", 135, 0, {"f": 0}, "channels"),
        PrintedNumber("percent", 1.3, 1, {"f": 0}),
        PrintedNumber("all", 5, 0, None, "channels"),
    )
    item = PublishedResult(
        "table-3",
        "table",
        "here",
        "Table",
        "3",
        printed=printed,
        shown_by=shown_by("channels", "channels_hamilton", "depth"),
    )
    assert [(p.name, s.statistic) for p, s in comparable_numbers([item])] == [
        ("N", "channels"),
        ("N", "channels_hamilton"),
    ]


def test_a_false_statement_of_ours_says_nothing_against_the_paper():
    holds, theirs, added = (
        ClaimOutcome("holds", False, False),
        ClaimOutcome("refuted", False, True),
        ClaimOutcome("refuted", True, False),
    )
    assert claim_verdicts([holds, added], printed=True) == ["holds"]
    assert claim_verdicts([added, ClaimOutcome("holds", True, False)], printed=True) == ["shown", "holds"]
    assert claim_verdicts([added], printed=False) == ["refuted"]
    assert claim_verdicts([holds, theirs], printed=True) == ["holds"]  # a pedantic claim at the side
    assert claim_verdicts([theirs], printed=True) == ["refuted"]


def test_a_line_without_a_legend_is_named_in_its_table():
    panel = Panel(None)
    panel.series(None, [(1.0, Estimate(0.5, 0.1, 0.3, 0.7))], table_label="n = 6, marks")
    assert [c["label"] for c in _table(panel)["columns"]] == ["n = 6, marks"]


def test_a_caption_counts_the_lines_that_are_seen():
    def column(label, seen):
        return {"label": label, "cells": ["0"], "drawn": seen}

    def panel(*columns, stated=(), others=()):
        return {"columns": columns, "stated": stated, "others": others}

    one = panel(column("f = 1", False), column("f = 2", True), column("f = 3", True))
    arrows = panel(column("all", True), stated=["paper: 4"], others=["closed form", "none seen: upper limit"])
    assert lines_text([one]) == "2 lines; nothing that its scale shows: f = 1"
    assert lines_text([arrows]) == "1 line, besides: paper: 4; closed form"
    assert lines_text([one, panel(column("all", True))]).startswith("2 and 1 lines in its 2 panels;")
    off = panel(column("all", True), stated=["paper: 4"], others=["paper: 4: off the scale"])
    assert lines_text([off]) == "1 line"


def test_a_line_of_zeros_is_not_seen_on_a_logarithmic_axis():
    plt = pytest.importorskip("matplotlib.pyplot")
    axes = plt.figure().add_subplot()
    axes.set_yscale("log")
    panel = Panel(axes)
    for label, value in (("none", 0.0), ("some", 0.5)):
        panel.series(label, [(1.0, Estimate(value, 0.0, value, value))])
    plt.close("all")
    assert [(c["label"], c["drawn"]) for c in _table(panel)["columns"]] == [("none", False), ("some", True)]


# ---------------------------------------------------------------- drawings


def test_counterexamples_are_drawn_or_written_as_ternary_strings():
    small = render_counterexample({"n": 3, "faulty_nodes": [0, 3], "faulty_links": []}, None, unsafe=True)
    assert small["drawings"][0]["inside"] == [[1, "1"], [2, "1"]]
    large = render_counterexample({"n": 7, "faulty_nodes": [0, 3], "faulty_links": [[16, 20]]}, None, unsafe=True)
    assert large["lines"][:2] == ["faulty nodes 0000000, 0000011", "faulty link 0010*00"]
    assert large["lines"][2].startswith("unsafe subcube ")
    for network in ({"network": "moebius1", "n": 3, "faulty_nodes": []}, {"n": 3}, {"network": "DualCube", "m": 31}):
        assert render_counterexample(network, None, unsafe=True) == {}


def test_dual_cubes_of_counterexamples_are_drawn_or_written():
    def render(**data):
        return render_counterexample({"network": "DualCube", **data}, None, unsafe=True)

    drawn = render(m=2, faulty_nodes=[1], s=0, k=1, paths=[[0, 16, 20]])
    assert drawn == {"dual": {"m": 2, "faulty_nodes": [1], "inside": [[0, "s"]], "paths": [[0, 16, 20]]}}
    (drawing,) = drawings_of(drawn)
    assert drawing.caption == "DC(2); faulty node 00001; s = 00000; path 00000, 10000, 10100"
    assert drawing.arrows == ((0, 16, ""), (16, 20, ""))
    cluster = render(m=6, faulty_nodes=[8, 16, 56], k=3)["drawings"][0]
    assert (cluster["n"], len(cluster["inside"])) == (6, 8)
    assert render(m=3, faulty_nodes=[1]) == {"lines": ["faulty node 0000001"]}


def test_a_value_that_is_links_or_trees_is_drawn_as_arrows_and_messages_name_their_ends():
    def drawings(value, **data):
        return render_counterexample({"n": 2, "faulty_nodes": [], **data}, value, unsafe=False)["drawings"]

    assert [d["arrows"] for d in drawings([[0, 1], [3, 2]])] == [[(0, 1, ""), (3, 2, "")]]
    assert [d["arrows"] for d in drawings([[-1, 0, 0, 1], [1, -1, 3, 1]])] == [
        [(0, 1, ""), (0, 2, ""), (1, 3, "")],
        [(1, 0, ""), (3, 2, ""), (1, 3, "")],
    ]
    assert drawings([2], trees=[[-1, 0, 0, 1]])[0]["arrows"] == [(0, 1, ""), (0, 2, ""), (1, 3, "")]
    for other in (3, [], [[0, 3]], [[0, 1], 2], {"a": 1}):
        assert [d["arrows"] for d in drawings(other)] == [[]]
    assert drawings(True, messages=[[2, [0, 1]], [3, [1]]])[0]["inside"] == [
        [0, "t1"],
        [1, "t1,t2"],
        [2, "s1"],
        [3, "s2"],
    ]


# ---------------------------------------------------------------- the plan of the papers


def test_the_budget_knows_what_there_is():
    studies = [registry.study(name) for p in papers_with_inventory() for name in p.studies]
    grids = {(study.name, grid.name) for study in studies for grid in study.grids}
    claims = {(p.name, claim.id) for p in papers_with_inventory() for claim in registries.audited_paper(p).claims}
    assert {(study, grid) for study, held in budget.__wrapped__()["studies"].items() for grid in held} == grids
    assert {(p, claim) for p, held in budget.__wrapped__()["claims"].items() for claim in held} <= claims


def test_bad_arguments_are_one_line_before_anything_is_made(tmp_path):
    with pytest.raises(ParameterError, match=r"paper must be lee_hayes, .*, got lee_haye; did you mean lee_hayes\?"):
        papers_with_inventory(["lee_haye"])
    for bad in ({"workers": 0}, {"max_seconds": -1}):
        with pytest.raises(ParameterError, match="must be"):
            make_report(tmp_path / "none", **bad)
    assert not (tmp_path / "none").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultFileError, match=r"output .*file is not a folder"):
        make_report(tmp_path / "file")
