"""The registry of the claims of Leu & Kuo, counterexamples on a cube or tree, and verdicts on examples."""

import functools

from fastcube.algorithms.trees import CommunicationTree

from ... import cubes
from ...claims import ClaimRegistry, Counterexample, Verdict

registry = ClaimRegistry("leu_kuo")

#: Return an example or counterexample on one hypercube, called ``cube`` in the expression.
cube_counterexample = functools.partial(cubes.cube_counterexample, name="cube")


def example_verdict(found: Counterexample, wanted: object, checked: str = "the example itself") -> Verdict:
    """Return "holds" if the value of a worked example is the printed one."""
    return Verdict("holds" if found.value == wanted else "refuted", checked, found)


def tree_counterexample(description: str, tree: CommunicationTree, python: str) -> Counterexample:
    """Return an example or counterexample on one tree, called ``tree`` in the expression."""
    line = f"tree = fc.CommunicationTree(cube, {tree.sink}, {tree.order})"
    return cube_counterexample(description, tree.cube, f"{line}\n{python}")
