"""The gallery's scripts as notebooks: cell by cell, in a folder with the files that a build copies, as Jupyter starts them."""

import gzip
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = [path for path in sorted((ROOT / "examples").glob("*.py")) if path.stem not in ("gathered", "isolated")]


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_notebook_runs_as_it_is(script, tmp_path, monkeypatch):
    text = script.read_text()
    shutil.copy(ROOT / "examples" / "gathered.py", tmp_path)
    for name in re.findall(r'output="([\w-]+\.h5)"', text):
        (tmp_path / name).write_bytes(gzip.decompress((ROOT / "docs" / "results" / f"{name}.gz").read_bytes()))
    before = {path: path.read_bytes() for path in tmp_path.glob("*.h5")}
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "argv", ["ipykernel_launcher.py", "-f", "kernel.json"])
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    names = {"__name__": "__main__", "__doc__": script.stem}
    begun = 0
    for cell in re.split(r"^(?=# %%$)", text, flags=re.MULTILINE):
        exec(compile("\n" * begun + cell, str(script), "exec"), names)
        begun += cell.count("\n")
    assert {path: path.read_bytes() for path in tmp_path.glob("*.h5")} == before  # nothing was sampled
