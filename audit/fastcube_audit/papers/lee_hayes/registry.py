"""The registry of the claims of Lee & Hayes, and helpers that make counterexamples and verdicts."""

from fastcube.algorithms.unsafe import find_unsafe
from fastcube.networks.hypercube import Hypercube

from ...claims import ClaimRegistry, Witness
from ...cubes import cube_data

registry = ClaimRegistry("lee_hayes")


def witness(words: str, cube: Hypercube, python: str) -> Witness:
    """Return an example or counterexample on one hypercube: the value of ``python``, where ``u`` is the cube's unsafe nodes."""
    value = eval(python, {"u": find_unsafe(cube)})  # noqa: S307  (a line of our own)
    return Witness(words, f"(lambda u: {python})(fc.find_unsafe(fc.{cube.source()}))", value, cube_data(cube))
