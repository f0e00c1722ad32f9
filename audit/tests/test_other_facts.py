"""Facts that other authors published, as `fastcube claims others` decides them."""

from __future__ import annotations

import pytest

from fastcube_audit import registries
from fastcube_audit.claims import Effort
from fastcube_audit.papers.others.facts import compare_values

#: Decided in about a second of CPU each; the others take longer, or compile kernels.
QUICK = {"oeis-a369605-4", "latifi", "oeis-a290757", "oeis-a006237", "oeis-a001187", "esfahanian"}


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(claim, id=claim.id, marks=() if claim.id in QUICK else (pytest.mark.slow, pytest.mark.kernels))
        for claim in registries.claims("others")
    ],
)
def test_the_fact_holds(claim):
    verdict = claim.decide(Effort(quick=True))
    assert verdict.outcome == "holds" and verdict.checked


def test_another_value_refutes():
    verdict = compare_values(5, "fc.exact_survival('hypercube', 2).nodes[1]", "Q_2")
    assert verdict.outcome == "refuted" and verdict.counterexample.value == 4


def test_each_source_says_what_was_read():
    for claim in registries.claims("others"):
        assert claim.where.endswith(("(the entry)", "(the file)", "(an abstract)", "not read)"))
