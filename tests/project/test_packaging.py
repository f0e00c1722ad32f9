"""The wheel holds what it should and works from an empty folder; so does a checkout that lost its links."""

import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif((ROOT / "PKG-INFO").exists(), reason="an sdist does not know which files git tracks"),
]

USE = (
    "import fastcube, fastcube.kernels.machine.jit, fastcube.studies.lee_hayes, importlib.resources as r; "
    "print(fastcube.find_unsafe(fastcube.Hypercube(4, {0, 6, 13})).rounds, len(list(r.files('fastcube.data').iterdir())) > 1)"
)


def tracked(*folders):
    """Files that git tracks, below the folders."""
    return subprocess.run(
        ["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()


def copy_without_links(target):
    """What a zip download or a Windows checkout gives: the folders, not the links."""
    for name in tracked():
        source = ROOT / name
        if source.is_file() and not source.is_symlink():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target / name)
    return target


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy without links: the mapping alone must carry everything."""
    source = copy_without_links(tmp_path_factory.mktemp("source"))
    target = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(target), str(source)], check=True
    )
    return next(target.glob("fastcube-*.whl"))


def test_wheel_contents(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"fastcube", wheel.name.split("-py3")[0] + ".dist-info"}
    for path in tracked("kernels", "studies", "data"):
        assert f"fastcube/{path}" in names
    assert "fastcube/py.typed" in names


def test_wheel_works_from_an_empty_folder(wheel, tmp_path):
    """In an environment that borrows the dependencies of this one but not its fastcube."""
    home = tmp_path / "env"
    venv.create(home, with_pip=True)
    subprocess.run([home / "bin/pip", "install", "-q", "--no-deps", wheel], check=True)
    site = next(Path(p) for p in sys.path if p.endswith("site-packages"))
    # after our own site-packages, so that fastcube comes from the wheel
    next((home / "lib").glob("python*/site-packages")).joinpath("borrowed.pth").write_text(f"{site}\n")
    empty = tmp_path / "empty"
    empty.mkdir()
    done = subprocess.run([home / "bin/python", "-c", USE], cwd=empty, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["5", "True"]
    assert (
        "kernels"
        not in subprocess.run([home / "bin/pip", "list"], capture_output=True, text=True, check=True).stdout.split()
    )
