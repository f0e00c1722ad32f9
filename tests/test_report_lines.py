"""Every line that a report prints is run as it is printed, and what it gives is compared."""

import ast
import contextlib
import io
import itertools
import json
import shlex

import pytest
import report_page
from processes import fastcube

import fastcube as fc
from fastcube.papers.claims import evaluated

pytest.importorskip("jinja2")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return report_page.folder(tmp_path_factory.mktemp("made"))


def test_every_python_line_gives_what_is_printed(folder):
    lines = {(text, gives) for kind, text, gives in report_page.lines(folder / "report.html") if kind == "python"}
    assert lines
    wrong = []
    for text, gives in sorted(lines, key=str):
        value = evaluated(text)
        if gives is None or repr(value) == gives:
            continue
        if json.loads(json.dumps(value)) != ast.literal_eval(gives):  # verdicts are kept as JSON: lists for tuples
            wrong.append((text, gives, value))
    assert wrong == []


def test_every_shell_line_of_python_prints_what_is_given(folder):
    lines = report_page.lines(folder / "report.html")
    wrong, seen = [], 0
    for (kind, python, gives), (_, text, _) in itertools.pairwise(lines):
        if kind == "python" and text.startswith("python3 "):
            _, option, code = shlex.split(text)
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, {})
            seen += 1
            if option != "-c" or out.getvalue() not in (f"{gives}\n", f"{ast.literal_eval(gives)}\n"):
                wrong.append((python, text, gives, out.getvalue()))
    assert seen
    assert wrong == []


def test_every_shell_line_runs_and_agrees(folder, tmp_path):
    lines = sorted({text for kind, text, _ in report_page.lines(folder / "report.html") if kind == "shell"})
    assert lines
    wrong = []
    for text in lines:
        program, command, *rest = shlex.split(text)
        if program == "python3":
            continue
        assert program == "fastcube"
        if command == "claims":
            run = fastcube(command, *rest, "--format", "json")
            (report,) = json.loads(run.stdout)
            held = json.loads((folder / "claims" / f"{rest[0]}-{rest[1]}.json").read_text())
            agrees = all(report[name] == held[name] for name in ("outcome", "checked", "effort"))
        else:
            assert command == "run"
            run = fastcube(command, *rest, cwd=tmp_path)
            file = rest[rest.index("-o") + 1]
            agrees = fc.open_results(tmp_path / file).digest() == fc.open_results(folder / file).digest()
        if run.returncode or not agrees:
            wrong.append((text, run.returncode, run.stderr))
    assert wrong == []
