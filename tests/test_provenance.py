"""What a run says of the code that made it."""

import subprocess
from pathlib import Path

import pytest

from fastcube.results.provenance import git_revision

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout")
def test_a_checkout_names_its_commit():
    head = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout
    revision = git_revision()
    assert revision is not None
    assert revision.removesuffix("+changes") == head.strip()
