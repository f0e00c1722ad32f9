"""Claims are decided by the code of the installed package alone, and by the same code in every process."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.planted_modules import plant_modules
from helpers.processes import run_fastcube

from fastcube.errors import EngineError
from fastcube.results import worker_process
from fastcube_audit import deciding, registries

CLAIMS = str(Path(__file__).parent / "audit_helpers/toy_claims.py")


def test_nothing_in_the_working_folder_is_run(tmp_path):
    done = run_fastcube("claims", CLAIMS, "false", "--quick", cwd=plant_modules(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "refuted" in done.stdout
    assert not (tmp_path / "ran").exists()


def test_a_worker_of_another_package_gets_no_work(monkeypatch):
    monkeypatch.setattr(deciding, "hash_sources", lambda looks: "edited-meanwhile")
    taken = []
    with pytest.raises(
        EngineError, match=r"a worker of the claims runs the package \S+ \w{16}-\w{16}, this process .*-meanwhile"
    ):
        deciding.decide_claims(registries.claims(CLAIMS, "last"), taken.append)
    assert taken == []


def test_a_worker_that_cannot_begin_ends_the_deciding(monkeypatch):
    monkeypatch.setattr(worker_process, "_START", "raise SystemExit(3)")
    with pytest.raises(EngineError, match="a worker of the claims ended with status 3 before it began"):
        deciding.decide_claims(registries.claims(CLAIMS, "last"), [].append, workers=1)
