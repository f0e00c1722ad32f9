"""``fastcube new``: its refusals, its files, and that these run unchanged."""

import ast
import os
import resource
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

from fastcube.cli import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def new(tmp_path, monkeypatch):
    """Calls the command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as left:
            main(["new", *arguments])
        return left.value.code

    return call


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        (
            "my-study",
            "at most 60 ASCII characters, no keyword, got my-study; my_study is one",
        ),
        ("class", "got class"),
        ("1st", "got 1st"),
        ("a" * 61, "of at most 60 ASCII characters"),
        ("été", "got été"),
        ("../x", "; x is one"),
        ("numpy", "name must be one that no module has, got numpy: a file of that name would hide it"),
        ("__main__", "name must be one that no module has, got __main__"),
        ("routing", "name must be one that no study has, got routing"),
    ],
)
def test_names_that_would_not_do(new, name, reported, tmp_path, capsys):
    assert new(name) == 2
    said = capsys.readouterr().err
    assert reported in said
    assert said.count("\n") == 1
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("arguments", [["mine"], ["mine", "--package"]])
@pytest.mark.parametrize("size", [0, 1500])
def test_nothing_is_left_where_the_disk_is_full(new, arguments, size, tmp_path, capsys):
    """The limit of a file's size stands for the disk: no file, or only smaller files, can be written."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        assert new(*arguments) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "cannot be written: File too large" in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]
    assert new(*arguments) == 0


def test_a_file_with_its_test(new, tmp_path, capsys):
    assert new("mine") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.py", "test_mine.py"]
    assert "python test_mine.py && fastcube run mine.py --trials 1e4" in capsys.readouterr().err
    before = {path: path.read_text() for path in tmp_path.iterdir()}
    for path, text in before.items():
        ast.parse(text)
        assert not {"NAME", "MODULE", "RUN", "PATH"} & set(text.replace("`", " ").replace('"', " ").split()), path
    assert new("mine") == 2
    assert "mine.py exists and is not overwritten" in capsys.readouterr().err
    (tmp_path / "mine.py").unlink()
    assert new("mine") == 2
    assert "test_mine.py exists and is not overwritten" in capsys.readouterr().err
    assert not (tmp_path / "mine.py").exists()


def test_a_name_that_begins_like_a_test(new, capsys):
    assert new("test_mine") == 0
    assert "python test_test_mine.py && fastcube run test_mine.py" in capsys.readouterr().err


def test_a_package(new, tmp_path, capsys):
    assert new("pack", "--package") == 0
    project = tomllib.loads((tmp_path / "pack/pyproject.toml").read_text())
    assert project["project"]["entry-points"]["fastcube.studies"] == {"pack": "pack.study:STUDY"}
    assert "from pack.study import STUDY" in (tmp_path / "pack/tests/test_pack.py").read_text()
    assert new("pack", "--package") == 2
    assert "pack exists and is not overwritten" in capsys.readouterr().err


def call(*arguments, path="", cwd):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), path])}
    done = subprocess.run([*map(str, arguments)], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_what_is_written_runs(new, tmp_path):
    new("written")  # a name that no other test of this process loads
    assert "both tests pass" in call(sys.executable, "test_written.py", cwd=tmp_path)
    command = (sys.executable, "-m", "fastcube", "run", "written.py", "--trials", "1e4", "--progress", "none")
    assert len(call(*command, cwd=tmp_path).splitlines()) == 18
    new("pack", "--package")
    venv.create(tmp_path / "env", with_pip=True)
    site = next(path for path in sys.path if path.endswith("site-packages") and (Path(path) / "numba").exists())
    python = tmp_path / "env/bin/python"
    install = ("-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "./pack")
    call(python, *install, path=site, cwd=tmp_path)
    (tmp_path / "elsewhere").mkdir()
    listed = call(python, "-m", "fastcube", "list", path=site, cwd=tmp_path / "elsewhere")
    assert any(line.startswith("pack ") for line in listed.splitlines())
    assert "both tests pass" in call(python, "pack/tests/test_pack.py", path=site, cwd=tmp_path)


@pytest.mark.parametrize("name", ["_", "__", "_1", "__main__"])
def test_names_without_a_letter_and_names_of_modules_without_a_specification_are_one_line(cli, name):
    code, out, said = cli("new", name)
    assert (code, out, said.count("\n")) == (2, "", 1)
    assert said.startswith("fastcube: name must be ")
