"""The registry of the claims of Li, Peng & Chu, and helpers that make counterexamples and verdicts."""

from fastcube.networks.dualcube import DualCube

from ...claims import ClaimRegistry, Witness

registry = ClaimRegistry("li_peng_chu")


def dual_witness(words: str, dual: DualCube, python: str, **data: object) -> Witness:
    """Return a counterexample on one dual-cube; if ``data`` has an end ``t``, the message goes from 0 to ``t``."""
    faults = sorted(dual.faulty_nodes)  # type: ignore[arg-type]
    ends = {"s": 0} if "t" in data else {}
    return Witness.of(words, python, {"network": "DualCube", "m": dual.m, "faulty_nodes": faults, **ends, **data})
