"""The registry of the claims of Li, Peng & Chu, and the counterexamples on a dual-cube."""

from fastcube.networks.dualcube import DualCube

from ...claims import ClaimRegistry, Counterexample

registry = ClaimRegistry("li_peng_chu")


def dual_counterexample(
    description: str, dual: DualCube, python: str, name: str = "", **data: object
) -> Counterexample:
    """Return a counterexample on one dual-cube, called ``name`` in the expression if it has a name.

    If ``data`` has an end ``t``, the message goes from 0 to ``t``.
    """
    faults = sorted(dual.faulty_nodes)  # type: ignore[arg-type]
    ends = {"s": 0} if "t" in data else {}
    network = {"network": "DualCube", "m": dual.m, "faulty_nodes": faults}
    lines = f"{name} = fc.{dual.source()}\n{python}" if name else python
    return Counterexample.of(description, lines, {**network, **ends, **data})
