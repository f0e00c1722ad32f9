"""Broken algorithms put in the place of sound ones, and the claims decided again."""

from __future__ import annotations

import pytest

from fastcube_audit import registries
from fastcube_audit.claims import DisagreementError, Effort
from fastcube_audit.papers.li_peng_chu import routing
from fastcube_audit.papers.sui_wang_lee import edmonds
from fastcube_audit.papers.sui_wang_lee import trees as sw

LH, LK, LP, SW, WL, UC = ("lee_hayes", "leu_kuo", "li_peng_chu", "sui_wang_lee", "wang_lin_kuo", "routing_rules")


_SHAPES = sw.shapes


def clear_caches() -> None:
    """Let deciders keep nothing for the next claim."""
    _SHAPES.cache_clear()
    edmonds._search_first_sets.cache_clear()
    routing._printed_results.cache_clear()


@pytest.fixture(autouse=True)
def isolated_caches():
    """Values that deciders cache for the next claim must not come from a mutant, or hide one."""
    clear_caches()
    yield
    clear_caches()


def decide_claim(paper: str, claim: str) -> tuple[str, str]:
    """What a claim's decider comes to: a verdict, or that two computations differed; and the first counterexample."""
    try:
        verdict = registries.claim_registries()[paper][claim].decide(Effort(quick=True))
    except DisagreementError:
        return "stopped", ""
    if verdict.outcome in ("refuted", "misprint"):
        assert verdict.counterexamples
    return verdict.outcome, verdict.counterexamples[0].python if verdict.counterexamples else ""
