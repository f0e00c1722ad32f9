"""Every Python example in the documents runs, in order, in an empty folder; every link to a file leads somewhere."""

import re
import shutil
from pathlib import Path

import pytest

import fastcube as fc

ROOT = Path(__file__).resolve().parents[2]
MADE = {"gallery", "_build"}  # by Sphinx
DOCUMENTS = sorted(p for p in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")) if not MADE & set(p.parts))

SHOWN_FILE = re.compile(r"^<!-- code ([^\s:]+)(?::\w+)? -->$", re.MULTILINE)  # a file that the reader saves


@pytest.mark.kernels
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_examples_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names = {"__name__": "__main__"}
    text = path.read_text()
    for file in set(SHOWN_FILE.findall(text)):
        shutil.copy(path.parent / file, tmp_path)
    for block in re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        line = text.count("\n", 0, block.start()) + 1
        exec(compile("\n" * line + block[1], str(path), "exec"), names)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    text = path.read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target:
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("study", fc.study_names())
def test_every_study_has_its_page(study):
    """The page describes the measurement, so pages that only list all studies do not count."""
    reported = [p for p in DOCUMENTS if p.parent in (ROOT / "docs", ROOT / "docs" / "papers") and p.stem != "speed"]
    assert any(re.search(rf"(`|fastcube run ){study}\b(?!-)", path.read_text()) for path in reported), study
