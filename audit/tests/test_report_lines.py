"""Every line that a report prints is run as it is printed, and what it gives is compared."""

import json
import shlex

import pytest
from audit_helpers import report_page
from helpers.processes import run_fastcube

import fastcube as fc

pytest.importorskip("jinja2")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return report_page.report_folder(tmp_path_factory.mktemp("made"))


def test_every_python_line_runs_as_it_stands_and_prints_what_is_told(folder):
    lines = {(text, gives) for kind, text, gives in report_page.code_lines(folder / "report.html") if kind == "python"}
    assert lines
    assert report_page.misprinted_lines(lines) == []


def test_every_counterexample_is_written_or_drawn(folder):
    held = [json.loads(path.read_text()) for path in (folder / "claims").glob("*.json")]
    lost = [
        (report["id"], counterexample["words"])
        for report in held
        for counterexample in report["counterexamples"]
        if not counterexample["text"] and not any(cube["arrows"] for cube in counterexample["told"].get("drawings", ()))
    ]
    assert held
    assert lost == []


def test_no_words_of_the_page_look_like_python(folder):
    prose = report_page.prose_blocks(folder / "report.html")
    assert [
        (block, report_page.python_fragments(block)) for block in prose if report_page.python_fragments(block)
    ] == []


def test_every_shell_line_runs_and_agrees(folder, tmp_path):
    lines = sorted({text for kind, text, _ in report_page.code_lines(folder / "report.html") if kind == "shell"})
    assert lines
    differ = []
    for text in lines:
        program, command, *rest = shlex.split(text)
        assert program == "fastcube"
        if command == "claims":
            run = run_fastcube(command, *rest, "--format", "json")
            (report,) = json.loads(run.stdout)
            held = json.loads((folder / "claims" / f"{rest[0]}-{rest[1]}.json").read_text())
            agrees = all(report[name] == held[name] for name in ("outcome", "checked", "effort"))
        else:
            assert command == "run"
            run = run_fastcube(command, *rest, cwd=tmp_path)
            file = rest[rest.index("-o") + 1]
            agrees = fc.open_results(tmp_path / file).digest() == fc.open_results(folder / file).digest()
        if run.returncode or not agrees:
            differ.append((text, run.returncode, run.stderr))
    assert differ == []
