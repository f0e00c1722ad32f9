"""The registry of the claims of Wang, Lin & Kuo, and helpers that make counterexamples and verdicts."""

from __future__ import annotations

from fastcube.audit.claims import ClaimRegistry, Effort, Verdict, Witness

registry = ClaimRegistry("wang_lin_kuo")


def example_verdict(effort: Effort, found: Witness, wanted: object, checked: str) -> Verdict:
    """Whether what a worked example's line gives is what is printed; the example is the one case."""
    effort.count_if_applicable()
    return Verdict("holds" if found.value == wanted else "refuted", checked, found)
