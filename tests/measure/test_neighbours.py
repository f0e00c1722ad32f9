"""A study's file imports the files next to it, from whatever folder the command is called."""

import subprocess
import sys

from helpers.processes import TOY_FILE, run_fastcube

STUDY = f"""
import sys
sys.path.append({str(TOY_FILE.rpartition("/")[0])!r})
import dataclasses
from aside import NAME
from parts.inner import TITLE
import toy
sys.path.pop()
STUDY = dataclasses.replace(toy.TOY, name=NAME, title=TITLE)
"""


def write_study(folder, name="near"):
    folder.mkdir()
    (folder / "mine.py").write_text(STUDY)
    (folder / "aside.py").write_text(f"NAME = {name!r}\n")
    (folder / "parts").mkdir()
    (folder / "parts" / "__init__.py").write_text("")
    (folder / "parts" / "inner.py").write_text("TITLE = 'of the neighbour'\n")
    return folder / "mine.py"


def test_a_study_imports_the_files_next_to_it(tmp_path):
    file = write_study(tmp_path / "a")
    code = f"import fastcube as fc; print(*sorted(fc.study({str(file)!r}).code))"
    for folder, name in ((tmp_path, "a/mine.py"), (tmp_path / "a", "mine.py")):
        done = run_fastcube("list", name, cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
        assert "near" in done.stdout and "of the neighbour" in done.stdout
    (tmp_path / "names.py").write_text(code)
    said = subprocess.run([sys.executable, "-P", tmp_path / "names.py"], capture_output=True, text=True, check=True)
    assert {"aside.py", "mine.py", "parts/inner.py"} <= set(said.stdout.split())


def test_a_file_next_to_a_study_hides_no_installed_module(tmp_path):
    file = write_study(tmp_path / "a")
    for name in ("numpy", "json", "click"):
        (tmp_path / "a" / f"{name}.py").write_text("raise RuntimeError\n")
    done = run_fastcube("list", file)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_missing_module_is_one_line_with_the_remedy(tmp_path):
    (tmp_path / "mine.py").write_text("import no_such_module\n")
    done = run_fastcube("list", "mine.py", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.endswith("No module named 'no_such_module'; pip install it, or put its file next to this one\n")


def test_files_of_one_name_next_to_two_studies_are_not_confused(tmp_path):
    """The second study would otherwise count with the first one's file."""
    for name in ("a", "b"):
        write_study(tmp_path / name, name)
    tables = "".join(f'[[run]]\nstudy = "{name}/mine.py"\noutput = "{name}.h5"\n' for name in ("a", "b"))
    (tmp_path / "s.toml").write_text(tables)
    done = run_fastcube("run", "s.toml", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "which another study imports: use a process for each" in done.stderr
