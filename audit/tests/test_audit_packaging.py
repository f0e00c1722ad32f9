"""What the wheel of the audit holds, that the engine's wheel holds nothing of it, and that both are one version."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENGINE, AUDIT = (tomllib.loads((ROOT / place).read_text()) for place in ("pyproject.toml", "audit/pyproject.toml"))


def tracked(*folders):
    """Files that git tracks, below the folders."""
    return subprocess.run(
        ["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()


def test_the_audit_is_of_the_engines_version():
    version = ENGINE["project"]["version"]
    assert AUDIT["project"]["version"] == version
    assert AUDIT["project"]["dependencies"] == [f"fastcube=={version}"]
    for field in ("requires-python", "license", "authors", "classifiers", "urls"):
        assert AUDIT["project"][field] == ENGINE["project"][field]
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / "audit/README.md").read_text())
    assert all(link.startswith("https://") for link in links)  # a package index shows the file as it is
    assert (ROOT / "audit/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_nothing_of_the_engines_project_names_the_audit():
    """Neither a dependency nor an entry point nor a package."""
    project = {name: value for name, value in ENGINE["project"].items() if name != "description"}
    assert "fastcube_audit" not in str(project) and "fastcube-audit" not in str(project)


@pytest.mark.slow
def test_contents_of_both_archives(tmp_path):
    """Built from copies of the tracked files, whose links are left out."""
    for name in tracked():
        source, target = ROOT / name, tmp_path / "copy" / name
        if source.is_file() and not source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    for place in ("copy", "copy/audit"):
        build = "import sys, setuptools.build_meta as b; to = sys.argv[1]; b.build_wheel(to); b.build_sdist(to)"
        command = [sys.executable, "-c", build, tmp_path]
        subprocess.run(command, cwd=tmp_path / place, capture_output=True, check=True)
    (engine,), (audit,) = tmp_path.glob("fastcube-*.whl"), tmp_path.glob("fastcube_audit-*.whl")
    assert not [name for name in zipfile.ZipFile(engine).namelist() if "audit" in name or "claims" in name]
    inside = {name for name in zipfile.ZipFile(audit).namelist() if ".dist-info/" not in name}
    assert inside == {name.removeprefix("audit/") for name in tracked("audit/fastcube_audit")}
    with tarfile.open(next(tmp_path.glob("fastcube_audit-*.tar.gz"))) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert inside <= names and {"LICENSE", "README.md", "pyproject.toml"} <= names
