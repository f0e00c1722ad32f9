"""Cached verdicts are used again by the same code, and by no other code."""

from __future__ import annotations

import dataclasses
import json
import os

import pytest
from helpers.processes import run_in_process

from fastcube.results.sources import ENGINE, SourceTree
from fastcube_audit import cache, registries, sources
from fastcube_audit.claims import Effort
from fastcube_audit.deciding import decide_claims

WRONG = (None, True, -1, "\x1b[2J", [], {"a": 1})


@pytest.fixture
def claim(tmp_path, monkeypatch):
    """A claim that is decided in no time, and a cache of its own."""
    monkeypatch.setenv("FASTCUBE_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    cache._cache_folder.cache_clear()
    cache._code_fingerprint.cache_clear()
    (found,) = registries.claims("wang_lin_kuo", "still-minimal")
    yield found
    cache._cache_folder.cache_clear()


@pytest.fixture
def entry(claim, tmp_path):
    """The file of its quick verdict."""
    cache.store_verdict(claim, claim.report(Effort(quick=True)))
    (file,) = (tmp_path / "verdicts").iterdir()
    return file


def test_a_verdict_is_kept_by_effort_and_claim(claim, entry):
    held = cache.load_verdict(claim, quick=True)
    assert held is not None
    assert {**held, "counterexamples": []} == {**claim.report(Effort(quick=True)), "counterexamples": []}
    assert cache.load_verdict(claim, quick=False) is None
    assert cache.load_verdict(dataclasses.replace(claim, id="another"), quick=True) is None
    assert cache.load_verdict(dataclasses.replace(claim, statement="another"), quick=True) is None


def test_other_sources_and_other_libraries_have_other_verdicts(claim, entry, monkeypatch):
    for name, other in (("hash_sources", lambda *, looks: "others"), ("library_versions", lambda: {"numpy": "0"})):
        with monkeypatch.context() as patch:
            patch.setattr(cache, name, other)
            cache._code_fingerprint.cache_clear()
            assert cache.load_verdict(claim, quick=True) is None
    cache._code_fingerprint.cache_clear()
    assert cache.load_verdict(claim, quick=True) is not None


@pytest.fixture(params=["engine", "audit"])
def edited(request, tmp_path, monkeypatch):
    """The one source of a package that takes the place of the engine or of the audit, and what a new process would know."""
    file = tmp_path / "package" / "decider.py"
    file.parent.mkdir()
    file.write_text("one")

    def begin_process():
        tree = SourceTree(file.parent)
        trees = (tree, sources.AUDIT) if request.param == "engine" else (ENGINE, tree)
        monkeypatch.setattr(sources, "_TREES", trees)
        cache._code_fingerprint.cache_clear()

    begin_process()
    yield file, begin_process
    cache._code_fingerprint.cache_clear()


def test_a_verdict_during_which_a_source_was_edited_is_not_stored(claim, tmp_path, edited):
    source, _ = edited
    report = claim.report(Effort(quick=True))
    assert cache.load_verdict(claim, quick=True) is None
    source.write_text("two")
    source.write_text("one")  # undone: a worker may have imported it in between
    os.utime(source, ns=(1, 1))  # the clock may be too coarse to show a difference
    cache.store_verdict(claim, report)
    assert list(tmp_path.glob("verdicts/*")) == []


def test_a_verdict_after_an_edit_has_another_name(claim, edited):
    source, begin_process = edited
    report = claim.report(Effort(quick=True))
    cache.store_verdict(claim, report)
    assert cache.load_verdict(claim, quick=True) is not None
    source.write_text("two")
    begin_process()
    assert cache.load_verdict(claim, quick=True) is None


def test_code_from_elsewhere_is_not_kept(claim, tmp_path):
    theirs = dataclasses.replace(claim, decider=lambda _: claim.decide())
    cache.store_verdict(theirs, claim.report(Effort(quick=True)))
    assert list(tmp_path.glob("verdicts/*")) == []


def test_a_damaged_or_hostile_entry_is_none(claim, entry):
    whole = json.loads(entry.read_text())
    for name in [*whole, *whole]:
        for wrong in WRONG:
            cache.storage.write_entry(entry, {k: v for k, v in whole.items() if k != "sha256"} | {name: wrong})
            held = cache.load_verdict(claim, quick=True)
            assert held is None or (held["outcome"], "\x1b" in str(held)) == (whole["outcome"], False)
    for text in ("", "{", "[" * 100_000, "\udc80", json.dumps(whole | {"outcome": "refuted"})):
        entry.write_text(text, errors="surrogateescape")
        assert cache.load_verdict(claim, quick=True) is None
    entry.unlink()
    entry.symlink_to("/dev/zero")
    assert cache.load_verdict(claim, quick=True) is None


def test_a_folder_that_others_can_write_to_is_not_read(claim, entry, tmp_path):
    (tmp_path / "verdicts").chmod(0o777)
    cache._cache_folder.cache_clear()
    assert cache.load_verdict(claim, quick=True) is None
    cache.store_verdict(claim, claim.report(Effort(quick=True)))


def test_what_is_kept_is_decided_by_no_worker(claim, entry, monkeypatch):
    def started(*_):
        raise AssertionError("a worker was started")

    monkeypatch.setattr("fastcube_audit.deciding._Worker", started)
    reports = []
    assert decide_claims([claim], reports.append, quick=True) == 0
    assert [report["id"] for report in reports] == ["still-minimal"]
    with pytest.raises(AssertionError, match="a worker was started"):
        decide_claims([claim], reports.append, quick=True, anew=True)


def test_without_a_paper_claims_are_listed(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    code, out, said = run_in_process(capsys, "claims")
    assert (code, said) == (0, "")
    names = [line.split()[0] for line in out.splitlines() if line]
    assert names[0] == "paper"
    assert {"lee_hayes", "wang_lin_kuo", "all"} <= set(names)
    for option in (["--quick"], ["--only", "refuted"], ["--format", "markdown"]):
        said = "fastcube: without a paper claims are listed: to decide them name one, or all\n"
        assert run_in_process(capsys, "claims", *option) == (2, "", said)
