"""The registry of the claims of Leu & Kuo, and helpers that make counterexamples and verdicts."""

import functools

from fastcube.algorithms.trees import CommunicationTree

from ...claims import ClaimRegistry, Counterexample, Verdict
from ...cubes import cube_counterexample

registry = ClaimRegistry("leu_kuo")


#: Return an example or counterexample on one cube, called ``cube`` in the expression.
counterexample = functools.partial(cube_counterexample, name="cube")


def example_verdict(found: Counterexample, wanted: object, checked: str = "the example itself") -> Verdict:
    """Return "holds" if the value of a worked example is the printed one."""
    return Verdict("holds" if found.value == wanted else "refuted", checked, found)


def tree_counterexample(words: str, tree: CommunicationTree, python: str) -> Counterexample:
    """Return an example or counterexample on one tree: the value of ``python``, in which ``tree`` is the tree."""
    made = f"fc.CommunicationTree(cube, {tree.sink}, {tree.order})"
    return counterexample(words, tree.cube, f"(lambda tree: {python})({made})")
