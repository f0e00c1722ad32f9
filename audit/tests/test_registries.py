"""Registries of claims: how claims are entered, decided side by side, stopped, shown and counted."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers.compiled import mark_others_slow
from helpers.processes import CLEAN_ENVIRONMENT, STUCK_SECONDS, BackgroundRun, run_fastcube, run_in_process

import fastcube as fc
from fastcube_audit import registries
from fastcube_audit.claims import (
    Cases,
    ClaimRegistry,
    DisagreementError,
    Effort,
    Verdict,
    Witness,
    check_agreement,
    sizes,
)
from fastcube_audit.deciding import decide_claims
from fastcube_audit.verdicts import fold_expression, markdown, summary

TOY = str(Path(__file__).parent / "audit_helpers/toy_claims.py")
NAMES = ["slowest-first", "false", "repaired", "again", "breaks", "dies", "last"]


# ---------------------------------------------------------------- entering and deciding


@pytest.mark.parametrize("outcome", ["refuted", "misprint"])
def test_a_refutation_needs_a_witness(outcome):
    with pytest.raises(ValueError, match=f"a claim that is {outcome} needs a witness"):
        Verdict(outcome, "everything")


def test_what_depends_on_the_reading_shows_both():
    one = Witness("", "3", 3, {})
    with pytest.raises(ValueError, match="a claim that is depends on the interpretation needs two witnesses"):
        Verdict("depends", "everything", one)
    assert Verdict("depends", "everything", one, (one,)).witnesses == (one, one)


def test_a_slip_is_a_misprint_and_no_refutation():
    registry = ClaimRegistry("paper")

    @registry.claim("slip", where="", states="", slip="the next line has it right", correction="so", fact="line")
    def decide(_: Effort) -> Verdict:
        return Verdict("refuted", "", Witness("", "3", 3, {}))

    report = registry["slip"].report()
    assert (report["outcome"], report["correction"], report["fact"]) == ("misprint", "so", "line")
    assert summary([report]) == "1 claim of the papers: 1 misprint"


def test_several_claims_of_one_fact_are_one_refutation():
    report = {"paper": "toy", "ours": False, "outcome": "refuted", "fact": "one", "definition": False}
    some = [report, report, {**report, "paper": "other"}, {**report, "fact": "two"}, {**report, "ours": True}]
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
    witness = Witness("", "3", 3, {})
    assert effort.first(range(5), lambda x: witness if x == 2 else None) is witness
    assert (effort.applied, effort.cases) == (5, 3)
    assert effort.first(range(5), lambda _: None) is None
    assert Verdict.refuted_if(None, "all") == Verdict("holds", "all")
    assert Verdict.refuted_if(witness, "all") == Verdict("refuted", "in this order: all", witness)


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
        return Witness("the number after", str(following), following, {}) if n >= 6 else None

    claim, effort = registry["few"], Effort()
    assert (claim.where, claim.statement, claim.correction) == ("here", "All are less than 6.", "Some are not.")
    assert (claim.decider.__doc__, claim.decider.__module__) == ("Looked at one by one.", __name__)
    assert claim.decide(effort) == Verdict(
        "refuted", "in this order: tried: even numbers up to 8", Witness("the number after", "7", 7, {})
    )
    assert (effort.applied, effort.cases) == (4, 4)
    quick = Effort(quick=True)
    assert claim.decide(quick) == Verdict("holds", "tried: even numbers up to 4")
    assert quick.applied == 3
    assert is_few(2, 3) is None


def test_sizes_tell_their_largest():
    judged = []
    verdict = sizes(2, full=5, quick=3, text="n = 2, ..., {}").decide(Effort(quick=True), judged.append)
    assert (verdict, judged) == (Verdict("holds", "n = 2, ..., 3"), [2, 3])


def test_another_domain_decides_by_itself():
    class Alone:
        def decide(self, effort, check):
            return Verdict("holds" if effort.count_if_applicable(check(7)) else "refuted", "7")

    registry = ClaimRegistry("paper")
    registry.forall("odd", Alone(), where="", states="")(lambda n: n % 2 == 1)
    assert registry["odd"].report()["outcome"] == "holds"
    assert registry["odd"].report()["applied"] == 1


def test_a_wrong_witness_does_not_replay():
    assert not Witness("", "fc.Hypercube(3).n", 4, {}).is_reproduced()
    assert Witness.of("", "fc.Hypercube(3).n", {}) == Witness("", "fc.Hypercube(3).n", 3, {})
    assert Witness.of("", "fc.Hypercube(3).n", {}).is_reproduced()


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
    assert (report["effort"], report["ours"], report["outcome"]) == ("quick", False, "refuted")
    assert [w["value"] for w in report["witnesses"]] == [4, 4]
    (last,) = registries.claims(TOY, "last")
    assert last.report()["witnesses"] == []


def test_effort_counts_cases_and_tells_now_and_then():
    told = []
    effort = Effort(tell=lambda cases, where: told.append((cases, where)))
    assert list(effort.each("abc", "letters")) == ["a", "b", "c"]
    assert effort.cases == 3
    assert told == []
    effort._told -= 1
    effort.step("one")
    assert told == [(4, "one")]


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
    assert outcomes["slowest-first"] == outcomes["again"] == outcomes["repaired"] == "holds"
    assert {report["id"]: report["failed"] for report in reports if "failed" in report} == {
        "breaks": "AssertionError: not like this",
        "dies": "its process ended with status 9",
    }
    assert outcomes["breaks"] == outcomes["dies"] == "undecided"


def test_the_command_prints_claims_and_counts_ours_apart():
    done = run_fastcube("claims", TOY, "--quick", env={"COLUMNS": "60"})
    assert done.returncode == 1
    assert "talk of a deciding function" not in done.stdout
    assert "fastcube: deciding toy breaks failed: AssertionError: not like this\n" in done.stderr
    assert done.stdout.endswith(
        "5 claims of the papers: 1 holds, 1 refuted (1 fact), 3 not decided\n2 statements added by fastcube: 2 hold\n"
    )
    assert all(len(line) <= 60 for line in done.stdout.splitlines()[:-2])
    assert "toy repaired [ours] (section 2): holds\n" in done.stdout
    assert "    instead  Q_n has 2^n nodes.\n" in done.stdout
    assert "    replay   2 ** fc.Hypercube(2).n\n    gives    4\n" in done.stdout


def test_one_claim_as_json(capsys):
    code, out, _ = run_in_process(capsys, "claims", TOY, "false", "--format", "json")
    assert (code, [report["id"] for report in json.loads(out)]) == (0, ["false"])


def test_claims_as_markdown_read_as_they_are_printed():
    words = "|N(T)| >= 2^k * [k] " + "of n " * 13 + "so and - 1 < 2"
    reports = [registries.claims(TOY, name)[0].report(Effort(quick=True)) for name in ("false", "repaired")]
    page = markdown([{**reports[0], "statement": words}, reports[1]], "refuted")
    assert "\n**Stated** (section 2). \\|N(T)\\| >= 2^k \\* \\[k\\] of n" in page
    assert "\n\\- 1 \\< 2\n" in page
    assert "**Instead.** Q_n has 2^n nodes." in page
    assert "```py\n2 ** fc.Hypercube(2).n\n# gives 4\n```" in page
    assert "1 claim of the papers: 1 refuted (1 fact). Also 1 statement added by fastcube: 1 holds" in page
    assert "repaired" not in page
    assert "`fastcube claims toy --quick --only refuted --format markdown`" in flat(page)


def test_several_claims_of_a_fact_are_one_entry():
    report = registries.claims(TOY, "false")[0].report(Effort(quick=True))
    other = {
        **report,
        "id": "other",
        "fact": "false",
        "ours": True,
        "statement": "Nor [8].",
        "correction": "It is - 9.",
    }
    page = markdown([report, {**other, "id": "same", "correction": report["correction"]}, other])
    assert re.findall("^### (.*)", page, re.MULTILINE) == ["toy `false`: refuted"]
    assert page.count("**Witness.**") == 1
    assert "\n- `same`, refuted, ours (section 2). Nor \\[8\\].\n- `other`, refuted" in page
    assert "`other`, refuted, ours (section 2). Nor \\[8\\]. **Instead.** It is - 9." in page


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


def test_a_package_adds_claims(tmp_path):
    """As its wheel would be installed; no other paper is imported for them."""
    package = tmp_path / "theirs"
    package.mkdir()
    (package / "__init__.py").write_text(
        'from fastcube_audit import PaperClaims\n\nCLAIMS = PaperClaims(__name__, ("theorems",))\n'
    )
    text = Path(TOY).read_text()
    start, stop = text.index('@registry.claim("false"'), text.index('@registry.claim("repaired"')
    (package / "theorems.py").write_text(
        "import fastcube_audit\nfrom fastcube_audit import Effort, Verdict, Witness\n\n"
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
        lines = fold_expression(python, width)
        assert " ".join(lines) == python
        assert eval("\n".join(lines), {"f": lambda *a: a, "fc": fc, "g": lambda *a: a})[1:] == ("a, b", "c, d", (1, 2))
    assert len(fold_expression(python, 200)) == 1
    assert max(map(len, fold_expression(python, 40))) <= 40


def test_summary_of_no_claim_of_ours():
    report = {"paper": "toy", "ours": False, "outcome": "holds", "fact": "one", "definition": True}
    assert summary([report]) == "1 claim of the papers: 1 holds (1 by definition)"
