"""Deciding claims in this process, each by an effort of its own: whatever is found, the cases that it applied to are counted."""

from __future__ import annotations

from collections.abc import Iterable

from fastcube_audit.claims import Claim, Effort, Verdict


def decide_claims(claims: Iterable[Claim], quick: bool = True) -> dict[str, Verdict]:
    """The verdicts by id; a claim that counts no case is an error."""
    out = {}
    for claim in claims:
        effort = Effort(quick=quick)
        out[claim.id] = claim.decide(effort)
        assert effort.applied > 0, f"{claim.paper} {claim.id} is {out[claim.id].outcome} of no case"
    return out
