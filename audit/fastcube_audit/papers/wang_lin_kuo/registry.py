"""The registry of the claims of Wang, Lin & Kuo, and a helper that decides claims by examples."""

from ...claims import ClaimRegistry, Effort, Verdict, Witness

registry = ClaimRegistry("wang_lin_kuo")


def example_verdict(effort: Effort, found: Witness, wanted: object, checked: str) -> Verdict:
    """Return the verdict on a worked example: "holds" if the found value is the printed one, else "refuted"."""
    effort.count_if_applicable()
    return Verdict("holds" if found.value == wanted else "refuted", checked, found)
