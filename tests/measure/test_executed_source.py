"""The fingerprint of a user's study is of the text that was executed, whatever happens to the file meanwhile."""

import ast
import hashlib
import subprocess
import sys
from importlib.util import find_spec

import pytest
from helpers.compiled import mark_others_slow
from helpers.processes import CLEAN_ENVIRONMENT

import fastcube as fc
from fastcube.measure.fingerprint import check_unchanged

STUDY = '''"""Heads."""
import pathlib
{more}
import fastcube as fc
from fastcube.blocks import random_word

{rewrite}

@fc.trial
def trial(key, t, params, out):
    out[0] = random_word(key, t, 0) % 4 {sign} 1


STUDY = fc.trial_study("heads", "Heads", [fc.Axis("a", "any", int, 0, 1)], [fc.Output("heads", "heads")], trial, [{{"a": 0}}])
'''

#: A file that is saved with other code while it is being imported.
SAVED = """file = pathlib.Path(__file__)
file.write_text(file.read_text().replace(" < 1\\n", " >= 1\\n").replace("= 1  #", "= 2  #"))"""


def write(folder, *, more="", rewrite=""):
    file = folder / "s.py"
    file.write_text(STUDY.format(more=more, rewrite=rewrite, sign="<"))
    return file


def run(folder, code=2):
    command = [
        sys.executable,
        "-P",
        "-m",
        "fastcube",
        "run",
        "s.py",
        "--trials",
        "1000",
        "--progress",
        "none",
        "-o",
        "r.h5",
    ]
    variables = {"PYTHONPATH": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env={**CLEAN_ENVIRONMENT, **variables}, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    return done.stderr


def test_a_file_saved_during_its_own_import_is_refused(tmp_path):
    file = write(tmp_path, rewrite=SAVED)
    said = run(tmp_path)
    assert ">= 1" in file.read_text()
    assert said == f"fastcube: {file} has changed since it was loaded: start again\n"
    assert not (tmp_path / "r.h5").exists()


def test_a_module_beside_it_saved_during_its_import_is_refused(tmp_path):
    write(tmp_path, more="from beside import WANT")
    beside = tmp_path / "beside.py"
    beside.write_text(f"import pathlib\nWANT = 1  # of four\n{SAVED}\n")
    assert run(tmp_path) == f"fastcube: {beside} has changed since it was loaded: start again\n"


RUN = """
from helper import {name}
{rewrite}
study = fc.trial_study("heads", "Heads", [fc.Axis("a", "any", int, 0, 1)], [fc.Output("heads", "heads")], {name}, [{{"a": 0}}])
print(study.code["{file}"])
"""


@pytest.mark.parametrize("name", mark_others_slow(["trial", "beside"]))
def test_a_script_saved_while_it_runs_is_refused(tmp_path, name):
    """Python reads a script and its imports once; the disk may have another text when the study is made."""
    text, _, _ = STUDY.format(more="", rewrite="", sign="<").partition("STUDY")
    file = "s.py" if name == "trial" else "helper.py"
    (tmp_path / "helper.py").write_text(text.replace("def trial", "def beside"))

    def run_script(change):
        script = text + RUN.format(name=name, file=file, rewrite=change).replace("from helper import trial", "")
        (tmp_path / "s.py").write_text(script)
        command = [sys.executable, "s.py"]
        return subprocess.run(command, cwd=tmp_path, env=CLEAN_ENVIRONMENT, capture_output=True, text=True, check=False)

    def save(before, after):
        return f"f = pathlib.Path('{file}'); f.write_text(f.read_text().replace({before!r}, {after!r}))"

    plain, noted = run_script(""), run_script(save("t, 0) %", "t, 0)  %"))
    assert (plain.returncode, noted.returncode, len(plain.stdout)) == (0, 0, 17), plain.stderr + noted.stderr
    said = run_script(save("% 4 " + "< 1", "% 4 " + ">= 1")).stderr
    assert said.endswith(f"ParameterError: {tmp_path / file} has changed since it was loaded: start again\n"), said


def test_a_file_beside_a_study_does_not_hide_a_built_in_module(tmp_path, monkeypatch):
    """Python takes built-in modules before any file, so the finder for users' files leaves them alone."""
    name = next(name for name in sys.builtin_module_names if name not in sys.modules)
    for module in (name, "beside"):
        (tmp_path / f"{module}.py").write_text("")
    fc.study(str(write(tmp_path)))
    monkeypatch.syspath_prepend(tmp_path)
    assert [find_spec(module).origin for module in (name, "beside")] == ["built-in", str(tmp_path / "beside.py")]


def test_the_fingerprint_is_of_the_executed_text(tmp_path):
    file = write(tmp_path)
    before = file.read_text()
    study = fc.study(str(file))
    file.write_text(before.replace(" < 1", " >= 1"))
    tree = ast.parse(before)
    tree.body = tree.body[1:]  # the docstring
    assert study.code["s.py"] == hashlib.sha256(ast.unparse(tree).encode()).hexdigest()[:16]
    with pytest.raises(fc.ParameterError, match="has changed since it was loaded: start again"):
        fc.run(study, trials=10)
    file.write_text(before.replace("Heads.", "Heads, one in four.").replace("\n\n\n", "\n# a comment\n\n"))
    check_unchanged(str(file), study.code)  # a docstring and a comment change no trial
