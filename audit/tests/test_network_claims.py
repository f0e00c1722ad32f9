"""Claims about the survival of networks."""

from __future__ import annotations

import pytest

from fastcube_audit import registries
from fastcube_audit.claims import Effort


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["ten-cube", "large-cubes", "moebius-links", "nodes-nobody"])
def test_claims(name):
    (claim,) = registries.claims("networks", name)
    verdict = claim.decide(Effort(quick=True))
    assert verdict.outcome == ("refuted" if name == "nodes-nobody" else "holds")
    if verdict.counterexample:
        assert verdict.counterexample.is_reproduced() and verdict.counterexample.value == [7120, 7136]
