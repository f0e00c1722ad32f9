"""The registry of the claims of Wang, Lin & Kuo, and the verdict on a worked example."""

from ...claims import ClaimRegistry, Counterexample, Effort, Verdict

registry = ClaimRegistry("wang_lin_kuo")


def example_verdict(effort: Effort, found: Counterexample, wanted: object, checked: str) -> Verdict:
    """Return the verdict on a worked example: "holds" if the found value is the printed one, else "refuted"."""
    effort.count_if_applicable()
    return Verdict("holds" if found.value == wanted else "refuted", checked, found)
