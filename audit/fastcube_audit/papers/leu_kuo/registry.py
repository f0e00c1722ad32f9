"""The registry of the claims of Leu & Kuo, and helpers that make counterexamples and verdicts."""

import functools

from fastcube.algorithms.trees import CommunicationTree

from ...claims import ClaimRegistry, Verdict, Witness
from ...cubes import cube_witness

registry = ClaimRegistry("leu_kuo")


#: Return an example or counterexample on one cube, called ``cube`` in the expression.
witness = functools.partial(cube_witness, name="cube")


def example_verdict(found: Witness, wanted: object, checked: str = "the example itself") -> Verdict:
    """Return "holds" if the value of a worked example is the printed one."""
    return Verdict("holds" if found.value == wanted else "refuted", checked, found)


def tree_witness(words: str, tree: CommunicationTree, python: str) -> Witness:
    """Return an example or counterexample on one tree: the value of ``python``, in which ``tree`` is the tree."""
    made = f"fc.CommunicationTree(cube, {tree.sink}, {tree.order})"
    return witness(words, tree.cube, f"(lambda tree: {python})({made})")
