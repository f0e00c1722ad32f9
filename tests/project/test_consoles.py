"""Every console example in the documents runs, block by block in one folder a document, and prints what is shown.

A block starts with three backquotes and ``console``; lines after ``$`` are commands, the rest is what they print on both
streams.  Times, rates and seconds may differ; a line of three dots matches any lines, three dots in a line match any
text.  A comment ``<!-- needs: mpi -->`` above a block says what it takes, ``<!-- not run -->`` that it is only shown.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.processes import CLEAN_ENVIRONMENT, STUCK_SECONDS

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(?:^<!-- (?P<note>[^>]*) -->\n)?^```console\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
MADE = {"gallery", "_build"}  # by Sphinx
PAGES = sorted(p for p in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")) if not MADE & set(p.parts))
SHOWN_FILE = re.compile(r"^<!-- code ([^\s:]+) -->$", re.MULTILINE)  # a file that the reader saves
DOCUMENTS = [path for path in PAGES if BLOCK.search(path.read_text())]
# printed on a cold cache, and every 30 s by a run that takes so long: not at the end, where "elapsed" stands
PASSING = re.compile(
    r"(?:fastcube: )?(?:compiling|waiting for process)|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?!.*elapsed$).* trials/s  "
)
VARYING = [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "TIME"),
    (r" +[\d.]+%  [\d.]+(e[+-]?\d+)? trials/s", " RATE"),
    (r"\d\d:\d\d:\d\d (left|elapsed)", "DURATION"),
    (r"\b[\d.]+ s\b", "SECONDS"),
]

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="times compiled kernels")


def commands(text):
    """Pairs of a command and the lines it should print."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *output = part.splitlines()
        yield command, output


def same(line):
    for pattern, name in VARYING:
        line = re.sub(pattern, name, line)
    return line.rstrip()


def pattern_of(lines):
    """Return a regular expression for the expected output."""
    parts = [
        r"(?:.*\n)*?" if line == "..." else ".*?".join(map(re.escape, same(line).split("..."))) + r"\n"
        for line in lines
    ]
    return "".join(parts)


def run(text, folder):
    """Run a block in one shell, so that jobs in the background last as long as it; gives the output of each command."""
    script = ["exec 2>&1"]
    for command, _ in commands(text):
        script += ["echo '@@@'", command]
    path = os.pathsep.join([str(Path(sys.executable).parent), CLEAN_ENVIRONMENT["PATH"]])
    with (folder / "printed").open("w+") as printed:
        environment = {**CLEAN_ENVIRONMENT, "PATH": path}
        shell = subprocess.Popen(
            ["bash", "-c", "\n".join(script)], cwd=folder, env=environment, stdout=printed, start_new_session=True
        )
        try:
            shell.wait(timeout=STUCK_SECONDS)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
        printed.seek(0)
        return printed.read().split("@@@\n")[1:]


def examples(wanted):
    return [
        pytest.param(path, wanted, id=str(path.relative_to(ROOT)))
        for path in DOCUMENTS
        if f"needs: {wanted}" in path.read_text()
    ]


def check(path, folder, wanted=None):
    text = path.read_text()
    for file in SHOWN_FILE.findall(text):
        shutil.copy(path.parent / file, folder)
    for block in BLOCK.finditer(text):
        note = block["note"] or ""
        need = note.removeprefix("needs: ") if note.startswith("needs: ") else None
        if note == "not run" or need != wanted:
            continue
        for (command, expected), printed in zip(commands(block["text"]), run(block["text"], folder), strict=True):
            said = [line for line in printed.splitlines() if not PASSING.match(line)]
            actual = "".join(same(line) + "\n" for line in said)
            assert re.fullmatch(pattern_of(expected), actual), f"{path.name}: $ {command}\n{printed}"


@pytest.mark.slow
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_console_examples_print_what_is_shown(path, tmp_path):
    check(path, tmp_path)


@pytest.mark.mpi
@pytest.mark.parametrize(("path", "wanted"), examples("mpi"))
def test_examples_with_mpi(path, wanted, tmp_path):
    pytest.importorskip("mpi4py", reason="mpi4py is not installed: pip install mpi4py")
    check(path, tmp_path, wanted)


@pytest.mark.dask
@pytest.mark.parametrize(("path", "wanted"), examples("dask"))
def test_examples_with_dask(path, wanted, tmp_path):
    pytest.importorskip("distributed", reason="distributed is not installed: pip install distributed")
    check(path, tmp_path, wanted)


def test_what_is_shown_is_compared():
    lines = ["a 3.5 s", "...", "b ... c"]
    assert re.fullmatch(pattern_of(lines), "a SECONDS\nx\ny\nb 1 2 c\n")
    assert not re.fullmatch(pattern_of(lines), "a SECONDS\nx\nb 1 2 d\n")
