"""What a run says of the code that made it."""

import json
import subprocess
from pathlib import Path

import pytest
from toy import TOY

import fastcube as fc
from fastcube.results.provenance import git_revision, provenance

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout")
def test_a_checkout_names_its_commit():
    head = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout
    revision = git_revision()
    assert revision is not None
    assert revision.removesuffix("+changes") == head.strip()


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        (["/home/me/bin/fastcube", "run", "toy", "-o", "/big/toy.h5"], ["fastcube", "run", "toy", "-o", "/big/toy.h5"]),
        (["/opt/fastcube/__main__.py", "run"], ["__main__.py", "run"]),
        (
            ["/opt/ipykernel_launcher.py", "-f", "/run/me/kernel-1.json"],
            ["ipykernel_launcher.py", "-f", "kernel-1.json"],
        ),
        ([""], [""]),
        ([], []),
    ],
)
def test_a_command_is_told_without_places_that_nobody_typed(monkeypatch, line, reported):
    monkeypatch.setattr("sys.argv", line)
    assert provenance()["parameters"]["command"] == reported


def test_settings_and_merged_files_are_told_by_name(monkeypatch, tmp_path):
    monkeypatch.setenv("FASTCUBE_CACHE_DIR", str(tmp_path / "cache"))
    for i in range(2):
        fc.run(TOY, trials=10, shard=(i, 2), output=tmp_path / f"{i}.h5")
    whole = fc.merge([tmp_path / "0.h5", tmp_path / "1.h5"])
    assert whole.history[0]["parameters"]["settings"]["FASTCUBE_CACHE_DIR"] == "cache"
    assert [part["file"] for part in whole.history[0]["resources"]["merged"]] == ["0.h5", "1.h5"]
    assert str(tmp_path) not in json.dumps(whole.history)
