"""Registries of claims: how claims are entered, decided side by side, stopped, shown and counted."""

from __future__ import annotations

import ast
import json
import re
import signal
import subprocess
import sys
import time
import typing
from pathlib import Path

import pytest
from helpers.compiled import mark_others_slow
from helpers.processes import CLEAN_ENVIRONMENT, STUCK_SECONDS, BackgroundRun, run_fastcube, run_in_process

import fastcube as fc
from fastcube_audit import registries
from fastcube_audit.claims import (
    Cases,
    ClaimRegistry,
    Counterexample,
    DisagreementError,
    Effort,
    Verdict,
    check_agreement,
    sizes,
)
from fastcube_audit.deciding import decide_claims
from fastcube_audit.papers.routing_rules import exhaustive
from fastcube_audit.verdicts import fold_python, markdown, summary

TOY = str(Path(__file__).parent / "audit_helpers/toy_claims.py")
NAMES = ["slowest-first", "false", "corrected", "again", "breaks", "dies", "last"]


# ---------------------------------------------------------------- entering and deciding


@pytest.mark.parametrize("outcome", ["refuted", "misprint"])
def test_a_refutation_needs_a_counterexample(outcome):
    with pytest.raises(ValueError, match=f"a claim that is {outcome} needs a counterexample"):
        Verdict(outcome, "everything")


def test_what_depends_on_the_reading_shows_both():
    one = Counterexample("", "3", 3, {})
    with pytest.raises(
        ValueError, match="a claim that is depends on the interpretation needs a counterexample and an example"
    ):
        Verdict("depends", "everything", one)
    assert Verdict("depends", "everything", one, (one,)).counterexamples == (one, one)


def test_a_reason_makes_a_refutation_a_misprint():
    registry = ClaimRegistry("paper")

    @registry.claim(
        "line",
        where="",
        states="",
        misprint_reason="the next line has it right",
        correction="so",
        fact="line",
    )
    def decide(_: Effort) -> Verdict:
        return Verdict("refuted", "", Counterexample("", "3", 3, {}))

    report = registry["line"].report()
    assert (report["outcome"], report["correction"], report["fact"]) == ("misprint", "so", "line")
    assert summary([report]) == "1 claim of the papers: 1 misprint"


def test_several_claims_of_one_fact_are_one_refutation():
    report = {"paper": "toy", "added": False, "outcome": "refuted", "fact": "one", "definition": False}
    some = [report, report, {**report, "paper": "other"}, {**report, "fact": "two"}, {**report, "added": True}]
    assert (
        summary(some)
        == "4 claims of the papers: 4 refuted (3 facts)\n1 statement added by fastcube: 1 refuted (1 fact)"
    )


def test_two_computations_that_differ_stop_the_decider():
    check_agreement((1, 2), (1, 2), "pairs")
    with pytest.raises(DisagreementError, match="pairs: 1 one way, 2 the other"):
        check_agreement(1, 2, "pairs")


def test_effort_counts_what_a_statement_applies_to():
    effort = Effort()
    assert [effort.count_if_applicable(x > 1) for x in range(4)] == [False, False, True, True]
    counterexample = Counterexample("", "3", 3, {})
    assert effort.find_first(range(5), lambda x: counterexample if x == 2 else None) is counterexample
    assert (effort.applied, effort.cases) == (5, 3)
    assert effort.find_first(range(5), lambda _: None) is None
    assert Verdict.refuted_if(None, "all") == Verdict("holds", "all")
    assert Verdict.refuted_if(counterexample, "all") == Verdict("refuted", "in this order: all", counterexample)


def _evens(most):
    return ((n, n + 1) for n in range(0, most + 1, 2))


def test_a_claim_for_all_cases_says_its_range_and_counts_them():
    registry = ClaimRegistry("paper")
    evens = Cases("even numbers up to {}", _evens, full=8, quick=4)

    @registry.forall(
        "few", evens.with_proof("tried: "), where="here", states="All are less than 6.", correction="Some are not."
    )
    def is_few(n, following):
        """Looked at one by one."""
        return Counterexample("the number after", str(following), following, {}) if n >= 6 else None

    claim, effort = registry["few"], Effort()
    assert (claim.where, claim.statement, claim.correction) == ("here", "All are less than 6.", "Some are not.")
    assert (claim.decider.__doc__, claim.decider.__module__) == ("Looked at one by one.", __name__)
    assert claim.method == "proved"
    assert claim.decide(effort) == Verdict(
        "refuted", "in this order: tried: even numbers up to 8", Counterexample("the number after", "7", 7, {})
    )
    assert (effort.applied, effort.cases) == (4, 4)
    quick = Effort(quick=True)
    assert claim.decide(quick) == Verdict("holds", "tried: even numbers up to 4")
    assert quick.applied == 3
    assert is_few(2, 3) is None


def test_sizes_name_their_largest():
    judged = []
    verdict = sizes(2, full=5, quick=3, text="n = 2, ..., {}").decide(Effort(quick=True), judged.append)
    assert (verdict, judged) == (Verdict("holds", "n = 2, ..., 3"), [2, 3])


def test_another_domain_decides_by_itself():
    class Alone:
        method = "exhaustive"

        def decide(self, effort, check):
            return Verdict("holds" if effort.count_if_applicable(check(7)) else "refuted", "7")

    registry = ClaimRegistry("paper")
    registry.forall("odd", Alone(), where="", states="")(lambda n: n % 2 == 1)
    assert registry["odd"].report()["outcome"] == "holds"
    assert registry["odd"].report()["applied"] == 1


def test_a_wrong_value_does_not_replay():
    assert not Counterexample("", "fc.Hypercube(3).n", 4, {}).is_reproduced()
    assert Counterexample.of("", "fc.Hypercube(3).n", {}) == Counterexample("", "fc.Hypercube(3).n", 3, {})
    assert Counterexample.of("", "fc.Hypercube(3).n", {}).is_reproduced()
    assert Counterexample.of("", "c = fc.Hypercube(3)\nn = c.n\n[k + n for k in range(2)]", {}).value == [3, 4]


def test_claims_keep_their_order_and_names_are_taken_once():
    claims = registries.claims(TOY)
    assert [claim.id for claim in claims] == NAMES
    registry = ClaimRegistry("paper")
    for name in ("b", "a"):
        registry.claim(name, where="", states="")(lambda effort: Verdict("undecided", f"{effort.quick}"))
    assert [claim.id for claim in registry] == ["b", "a"]
    assert len(registry) == 2
    assert registry["a"].decide().checked == "False"
    assert registry["a"].decide(Effort(quick=True)).checked == "True"
    with pytest.raises(ValueError, match="paper has two claims a"):
        registry.claim("a", where="", states="")(lambda _: Verdict("undecided", ""))


def test_a_report_is_json():
    (claim,) = registries.claims(TOY, "false")
    report = claim.report(Effort(quick=True))
    assert json.loads(json.dumps(report)) == report
    assert report["correction"] == "Q_n has 2^n nodes."
    assert (report["effort"], report["added"], report["outcome"]) == ("quick", False, "refuted")
    assert [w["value"] for w in report["counterexamples"]] == [4, 4]
    (last,) = registries.claims(TOY, "last")
    assert last.report()["counterexamples"] == []


def test_effort_counts_cases_and_reports_progress_now_and_then():
    reported = []
    effort = Effort(report_progress=lambda cases, where: reported.append((cases, where)))
    assert list(effort.each("abc", "letters")) == ["a", "b", "c"]
    assert effort.cases == 3
    assert reported == []
    effort._last_report -= 1
    effort.step("one")
    assert reported == [(4, "one")]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("lee_hays",), "got lee_hays; did you mean lee_hayes?"),
        (("zzz",), "paper must be lee_hayes, "),
        (("lee_hayes", "theorm-3"), "claim must be one of lee_hayes's, got theorm-3; did you mean theorem-3?"),
        (("lee_hayes", "zzz"), "claim must be one of lee_hayes's, got zzz; it has theorem-3-printed, "),
        (("none.py",), "none.py does not exist"),
        ((__file__,), "must hold one ClaimRegistry, it holds 0"),
    ],
)
def test_unknown_papers_and_claims(asked, message):
    with pytest.raises(fc.ParameterError) as error:
        registries.claims(*asked)
    assert message in str(error.value)


# ---------------------------------------------------------------- side by side


@pytest.mark.parametrize("workers", mark_others_slow([3, 1]))
def test_reports_come_in_order_and_nothing_that_breaks_costs_another(workers):
    reports = []
    assert decide_claims(registries.claims(TOY), reports.append, quick=True, workers=workers) == 0
    assert [report["id"] for report in reports] == NAMES
    outcomes = {report["id"]: report["outcome"] for report in reports}
    assert outcomes["slowest-first"] == outcomes["again"] == outcomes["corrected"] == "holds"
    assert {report["id"]: report["failed"] for report in reports if "failed" in report} == {
        "breaks": "AssertionError: not like this",
        "dies": "its process ended with status 9",
    }
    assert outcomes["breaks"] == outcomes["dies"] == "undecided"


def test_the_command_prints_claims_and_counts_added_ones_apart():
    done = run_fastcube("claims", TOY, "--quick", env={"COLUMNS": "60"})
    assert done.returncode == 1
    assert "talk of a deciding function" not in done.stdout
    assert "fastcube: deciding toy breaks failed: AssertionError: not like this\n" in done.stderr
    assert done.stdout.endswith(
        "5 claims of the papers: 1 holds, 1 refuted (1 fact), 3 not decided\n2 statements added by fastcube: 2 hold\n"
    )
    assert all(len(line) <= 60 for line in done.stdout.splitlines()[:-2])
    assert "toy corrected [added] (section 2): holds\n" in done.stdout
    assert "    checked           exhaustively: Q_3\n" in done.stdout
    assert "    correct statement Q_n has 2^n nodes.\n" in done.stdout
    assert "    counterexample    a cube of another size\n    replay            2 ** fc.Hypercube(2).n\n" in done.stdout
    assert (
        f"    further case      and a larger one\n    replay            n = fc.Hypercube(4).n\n{' ' * 22}n\n"
        in done.stdout
    )
    assert "    gives             4\n" in done.stdout


def test_one_claim_as_json(capsys):
    code, out, _ = run_in_process(capsys, "claims", TOY, "false", "--format", "json")
    assert (code, [report["id"] for report in json.loads(out)]) == (0, ["false"])


def test_claims_as_markdown_read_as_they_are_printed():
    statement = "|N(T)| >= 2^k * [k] " + "of n " * 13 + "so - 1 < 2"
    reports = [registries.claims(TOY, name)[0].report(Effort(quick=True)) for name in ("false", "corrected")]
    page = markdown([{**reports[0], "statement": statement}, reports[1]], "refuted")
    entry = page.partition("### toy `false`: refuted\n\n")[2]
    assert entry.startswith(
        "**Refuted.** The statement is false: a counterexample contradicts it.\n\n**Statement** (section 2). "
    )
    assert "\n**Statement** (section 2). \\|N(T)\\| >= 2^k \\* \\[k\\] of n" in page
    assert "\n\\- 1 \\< 2\n" in page
    assert "**Correct statement.** Q_n has 2^n nodes." in page
    assert "```py\n2 ** fc.Hypercube(2).n\n# gives 4\n```" in page
    assert "1 claim of the papers: 1 refuted (1 fact). Also 1 statement added by fastcube: 1 holds" in page
    assert "corrected" not in page
    assert "`fastcube claims toy --quick --only refuted --format markdown`" in flat(page)


def test_several_claims_of_a_fact_are_one_entry():
    report = registries.claims(TOY, "false")[0].report(Effort(quick=True))
    other = {
        **report,
        "id": "other",
        "fact": "false",
        "added": True,
        "statement": "Nor [8].",
        "correction": "It is - 9.",
    }
    page = markdown([report, {**other, "id": "same", "correction": report["correction"]}, other])
    assert re.findall("^### (.*)", page, re.MULTILINE) == ["toy `false`: refuted"]
    assert page.count("**Counterexample:**") == 1
    assert "\n- `same`, refuted, added (section 2). Nor \\[8\\].\n- `other`, refuted" in page
    assert "`other`, refuted, added (section 2). Nor \\[8\\]. **Correct statement.** It is - 9." in page


def flat(page):
    return " ".join(page.split())


def test_only_one_outcome_is_shown_and_all_are_counted(capsys):
    assert (
        run_in_process(capsys, "claims", TOY, "false", "--only", "holds")[1]
        == "1 claim of the papers: 1 refuted (1 fact)\n"
    )
    for option, message in (
        ("--only", "only must be holds, refuted, misprint, depends, unreproduced or undecided"),
        ("--format", "format must be text, json or"),
    ):
        code, out, said = run_in_process(capsys, "claims", TOY, option, "html")
        assert (code, out) == (2, "")
        assert message in said


def test_claims_are_searched_by_words_without_deciding_them(capsys):
    code, out, _ = run_in_process(capsys, "claims", TOY, "--search", "CUBES nodes")
    names = ["false", "corrected"]
    assert code == 0
    assert [line.split()[1] for line in out.splitlines() if line.startswith("toy ")] == names
    assert "toy corrected [added] (section 2)\n    [All 3-cubes have 8 nodes.]\n" in out
    assert out.endswith("\n2 claims. Decide one with fastcube claims PAPER ID.\n")
    found = json.loads(run_in_process(capsys, "claims", TOY, "--search", "cubes", "--format", "json")[1])
    assert [claim["id"] for claim in found] == names
    assert "outcome" not in found[0]


def test_a_search_finds_places_and_corrections_of_all_papers(capsys):
    out = run_in_process(capsys, "claims", "--search", "przykucki 2012")[1]
    assert "lee_hayes rounds-bound (appendix)\n" in out
    assert "theorem-7 " not in out


def test_a_search_finds_the_words_of_the_paper(capsys):
    """Theorem 2 is about deadlock, which the claims say as waiting for one another, or as a cycle of channels."""
    out = run_in_process(capsys, "claims", "--search", "deadlock")[1]
    found = {line.split()[1] for line in out.splitlines() if line.startswith("wang_lin_kuo ")}
    assert {"theorem-2-unicast", "theorem-2-graph", "theorem-2-replication"} <= found


@pytest.mark.parametrize(
    "text", ["lin kuo deadlock", "wormhole routed deadlock", "wang_lin_kuo theorem-2", "theorem-2-graph"]
)
def test_a_search_finds_papers_and_names(capsys, text):
    assert "wang_lin_kuo theorem-2-graph (" in run_in_process(capsys, "claims", "--search", text)[1]


def test_the_name_of_a_fact_stands_for_its_claims():
    assert [claim.id for claim in registries.claims("wang_lin_kuo", "theorem-2")] == [
        "theorem-2-unicast",
        "theorem-2-graph",
    ]
    assert [claim.id for claim in registries.claims("leu_kuo", "theorem-7")] == ["theorem-7"]
    with pytest.raises(fc.ParameterError, match="got theorem-22; did you mean theorem-2"):
        registries.claims("wang_lin_kuo", "theorem-22")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--search", "no such words"), "search must be words of a claim, got 'no such words', which no claim has"),
        (("--search", ""), "search must be words of a claim, got ''"),
        (("--search", "cubes", "--quick"), "search lists claims and decides none"),
    ],
)
def test_a_search_without_result_is_one_line(capsys, options, message):
    code, out, said = run_in_process(capsys, "claims", TOY, *options)
    assert (code, out) == (2, "")
    assert message in said
    assert len(said.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_it_in_one_line_and_its_workers_with_it(number, code):
    with BackgroundRun("claims", TOY, "--workers", "2", env={"TOY_FOREVER": "1"}) as run:
        run.wait_for(r"7 of 8 claims .* forever \([\d,]+ cases")
        children = _children(run.process.pid)
        assert children
        got, lines = run.end(number)
    assert got == code
    assert lines[-1] == "fastcube: interrupted after 7 of 8 claims"
    assert _gone(children)


@pytest.mark.slow
def test_what_was_decided_is_said_when_stopped(tmp_path):
    text = Path(TOY).read_text()
    first = text.index("@registry.claim")
    file = tmp_path / "forever_first.py"
    file.write_text(
        text[:first] + text[text.index('    @registry.claim("forever"') :].replace("\n    ", "\n")[4:] + text[first:]
    )
    with BackgroundRun("claims", file, "--workers", "2") as run:
        run.wait_for(r"7 of 8 claims .* forever \([\d,]+ cases")
        children = _children(run.process.pid)
        code, lines = run.end(signal.SIGINT)
        said = run.process.stdout.read().decode()
    assert (code, lines[-1]) == (130, "fastcube: interrupted after 7 of 8 claims")
    assert [line.split()[1] for line in said.splitlines() if line.startswith("toy ")] == NAMES
    assert children and _gone(children)


@pytest.mark.slow
def test_workers_end_with_the_one_that_asked():
    with BackgroundRun("claims", TOY, "--workers", "2", env={"TOY_FOREVER": "1"}) as run:
        run.wait_for("7 of 8 claims")
        children = _children(run.process.pid)
        run.end(signal.SIGKILL)
    assert _gone(children)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _gone(pids: list[int]) -> bool:
    """Whether the processes end; whatever the machine is busy with."""
    end = time.monotonic() + STUCK_SECONDS
    while any(_runs(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


# ---------------------------------------------------------------- the registries there are


@pytest.mark.parametrize("claim", registries.claims(), ids=lambda claim: f"{claim.paper} {claim.id}")
def test_claims_say_where_and_what(claim):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", claim.id)
    assert claim.where
    assert claim.statement
    assert claim.statement.count("[") == claim.statement.count("]")
    assert (claim.decider.__doc__ or "").strip()


def test_registered_checks_return_a_counterexample_or_none():
    """No check returns a truth value, a text or a pair; a function of rows of fault sets returns rows."""
    checks = [claim.decider.__wrapped__ for claim in registries.claims() if hasattr(claim.decider, "__wrapped__")]
    assert len(checks) > 90
    kinds = {check.__qualname__: typing.get_type_hints(check)["return"] for check in checks}
    assert {name for name, kind in kinds.items() if kind not in (Counterexample | None, exhaustive.Bools)} == set()


def _trees_of(pattern):
    files = sorted(Path(registries.__file__).parent.glob(pattern))
    assert len(files) >= 10
    return {f"{file.parent.name}/{file.name}": ast.parse(file.read_text()) for file in files}


def test_checks_inside_of_deciders_return_a_counterexample_or_none():
    found = {
        name: ast.unparse(node.returns)
        for name, tree in _trees_of("papers/*/*.py").items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == "check"
    }
    assert len(found) > 5
    assert set(found.values()) == {"Counterexample | None"}, found


#: Names that say nothing, or that the style has another word for.
AVOIDED = {
    "told",
    "shown",
    "made",
    "wrong",
    "as_told",
    "slip",
    "witness",
    "instead",
    "words",
    "ours",
    "mine",
    "theirs",
}


def test_names_in_papers_and_report_are_nouns_and_verbs_of_the_style():
    named = {
        (file, name)
        for file, tree in (_trees_of("papers/*/*.py") | _trees_of("report/*.py")).items()
        for node in ast.walk(tree)
        for name in (getattr(node, "id", None), getattr(node, "arg", None), getattr(node, "name", None))
        if name in AVOIDED
    }
    assert named == set()


@pytest.mark.parametrize("source", ["", "registry = 3\n"])
def test_a_package_without_a_registry_loses_its_claims_alone(tmp_path, monkeypatch, source):
    (tmp_path / "empty_claims").mkdir()
    (tmp_path / "empty_claims" / "__init__.py").write_text("")
    (tmp_path / "empty_claims" / "theorems.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    for modules in (("theorems",), ()):
        with pytest.raises(fc.ParameterError, match="of the claims of empty_claims must have a ClaimRegistry"):
            registries.PaperClaims("empty_claims", modules).registry()
    sys.modules.pop("empty_claims.theorems", None)


def test_a_package_adds_claims(tmp_path):
    """As its wheel would be installed; no other paper is imported for them."""
    package = tmp_path / "theirs"
    package.mkdir()
    (package / "__init__.py").write_text(
        'from fastcube_audit import PaperClaims\n\nCLAIMS = PaperClaims(__name__, ("theorems",))\n'
    )
    text = Path(TOY).read_text()
    start, stop = text.index('@registry.claim("false"'), text.index('@registry.claim("corrected"')
    (package / "theorems.py").write_text(
        "import fastcube_audit\nfrom fastcube_audit import Counterexample, Effort, Verdict\n\n"
        f'registry = fastcube_audit.ClaimRegistry("theirs")\n\n\n{text[start:stop]}'
    )
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[fastcube.claims]\ntheirs = theirs:CLAIMS\n")
    done = run_fastcube("claims", "theirs", "--quick", env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("theirs false (section 2): refuted\n")
    code = (
        "import sys; from fastcube_audit import registries; registries.claims('theirs'); "
        "print([m for m in sys.modules if m.startswith('fastcube_audit.papers')])"
    )
    env = {**CLEAN_ENVIRONMENT, "PYTHONPATH": str(tmp_path)}
    loaded = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert loaded.stdout == "[]\n"


# ---------------------------------------------------------------- lines


def test_an_expression_is_broken_at_commas_outside_of_strings():
    python = "f(fc.Hypercube(4, faulty_nodes=[0b0000, 0b0001]), 'a, b', \"c, d\", g(1,2))"
    for width in (20, 30, 60, 200):
        lines = fold_python(python, width)
        assert " ".join(lines) == python
        assert eval("\n".join(lines), {"f": lambda *a: a, "fc": fc, "g": lambda *a: a})[1:] == ("a, b", "c, d", (1, 2))
    assert len(fold_python(python, 200)) == 1
    assert fold_python("c = f(1, 2)\nc.n", 9) == ["c = f(1,", "2)", "c.n"]
    assert max(map(len, fold_python(python, 40))) <= 40


def test_summary_of_no_claim_of_ours():
    report = {"paper": "toy", "added": False, "outcome": "holds", "fact": "one", "definition": True}
    assert summary([report]) == "1 claim of the papers: 1 holds (1 by definition)"
