"""The claims about routing rules and about networks, which are no paper's: each verdict, its cases, and its counterexample."""

from __future__ import annotations

import numba
import pytest
from audit_helpers.decided import decide_claims

from fastcube_audit import registries
from fastcube_audit.claims import Effort

OUTCOMES = {
    "routing_rules": {
        "level-path": "holds",
        "vector-path": "holds",
        "levels-rounds": "holds",
        "levels-unique": "holds",
        "levels-near": "holds",
        "words-chain": "holds",
        "unsafe-near": "refuted",
        "marking-rounds": "refuted",
        "accepted-delivered": "holds",
        "nothing-refused": "holds",
        "nothing-refused-links": "refuted",
        "a1-delivers": "holds",
        "dfs-connected": "holds",
        "gu-peng-4": "holds",
        "gu-peng-6": "holds",
        "gu-peng-connected": "holds",
        "sidetrack-rates": "undecided",
        "sidetrack-arrives": "refuted",
    },
    "networks": {"ten-cube": "holds", "large-cubes": "holds", "moebius-links": "holds", "nodes-nobody": "refuted"},
}


@pytest.mark.kernels
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="counts over all messages need compiled code")
@pytest.mark.parametrize("name", OUTCOMES)
def test_every_claim_is_decided_as_known(name):
    verdicts = decide_claims(registries.claim_registries()[name])
    assert {claim: verdict.outcome for claim, verdict in verdicts.items()} == OUTCOMES[name]
    for verdict in verdicts.values():
        assert all(counterexample.is_reproduced() for counterexample in verdict.counterexamples)


def test_a_verdict_names_the_sets_that_the_claim_is_about():
    near, far = (
        registries.claims("routing_rules", name)[0].decide(Effort(quick=True)).checked
        for name in ("levels-near", "gu-peng-4")
    )
    assert "up to 0 in Q_1, 1 in Q_2, 2 in Q_3, 3 in Q_4, 4 in Q_5: 37,067 sets" in near
    assert far.endswith("of these sets meet the hypothesis")
