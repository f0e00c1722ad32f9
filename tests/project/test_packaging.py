"""What the sdist and the wheel hold, that the wheel works from an empty folder, and what an editable install can import."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
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
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    inside = [name for name in tracked("fastcube") if not (ROOT / name).is_symlink()]
    inside += [f"fastcube/{name}" for name in tracked("kernels", "studies", "data")]
    inside += [f"fastcube/{name.removeprefix('docs/')}" for name in tracked("docs/readings")]
    assert names == set(inside)


def test_the_readme_of_a_package_index_has_absolute_links_to_tracked_files(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        head, _, readme = archive.read(name).decode().partition("\n\n")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "Description-Content-Type: text/markdown" in head
    assert all(f"Project-URL: {label}, {address}" in head for label, address in project["urls"].items())
    written = re.findall(r"(!?)\[[^]]*\]\(([^)#]+)\)", (ROOT / "README.md").read_text())
    shown = re.findall(r"(!?)\[[^]]*\]\(([^)#]+)\)", readme)
    at = f"{project['urls']['Repository']}/{{}}/v{project['version']}/"
    assert shown == [
        (mark, target if "://" in target else at.format("raw" if mark else "blob") + target) for mark, target in written
    ]
    assert {target for _, target in written if "://" not in target} <= {
        *tracked(),
        "examples",
        "docs/readings",
        "audit",
    }


def test_sdist_holds_tracked_files_alone(tmp_path):
    checkout, target = copy_without_links(tmp_path / "checkout"), tmp_path / "dist"
    for command in (["git", "init", "-q"], ["git", "add", "--all"]):
        subprocess.run(command, cwd=checkout, check=True)
    for name in ("docs/.env", "tests/private_key.pem", "kernels/untracked.py", "data/untracked.json"):
        (checkout / name).write_text("untracked = 1\n")
    build = "import sys, setuptools.build_meta as backend; backend.build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, target], cwd=checkout, capture_output=True, check=True)
    with tarfile.open(next(target.glob("fastcube-*.tar.gz"))) as sdist:
        names = {member.name.split("/", 1)[1] for member in sdist.getmembers() if member.isfile()}
    expected = {
        name for name in tracked(":!audit") if (ROOT / name).is_file()
    }  # a link is no file: each leads to a folder
    assert names == expected | {"PKG-INFO", "setup.cfg"}


def test_editable_install_adds_one_name(tmp_path):
    """From a checkout without links too.  Our top-level folders shadow no module of a user's."""
    checkout, home = copy_without_links(tmp_path / "checkout"), tmp_path / "env"
    venv.create(home, with_pip=True)
    subprocess.run([home / "bin/pip", "install", "-q", "--no-deps", "-e", checkout], check=True)
    find = "import importlib.util as u; print([n for n in {} if u.find_spec(n)])"
    names = ["data", "docs", "examples", "kernels", "setup", "studies", "tests", "fastcube", "fastcube.kernels.draws"]
    done = subprocess.run(
        [home / "bin/python", "-c", find.format(names)], cwd=home, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['fastcube', 'fastcube.kernels.draws']"


def test_wheel_works_from_an_empty_folder(wheel, tmp_path):
    """In an environment that borrows the dependencies of this one but not its fastcube."""
    home = tmp_path / "env"
    venv.create(home, with_pip=True)
    subprocess.run([home / "bin/pip", "install", "-q", "--no-deps", wheel], check=True)
    sites = [p for p in sys.path if p.endswith("site-packages")]
    # after our own site-packages, so that fastcube comes from the wheel
    next((home / "lib").glob("python*/site-packages")).joinpath("borrowed.pth").write_text("\n".join(sites))
    empty = tmp_path / "empty"
    empty.mkdir()
    done = subprocess.run([home / "bin/python", "-c", USE], cwd=empty, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["5", "True"]
    assert (
        "kernels"
        not in subprocess.run([home / "bin/pip", "list"], capture_output=True, text=True, check=True).stdout.split()
    )
