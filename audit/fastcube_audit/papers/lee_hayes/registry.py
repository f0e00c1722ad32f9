"""The registry of the claims of Lee & Hayes, and the counterexamples about unsafe nodes."""

from fastcube.algorithms.unsafe import find_unsafe
from fastcube.networks.hypercube import Hypercube

from ...claims import ClaimRegistry, Counterexample
from ...cubes import cube_data

registry = ClaimRegistry("lee_hayes")


def unsafe_counterexample(description: str, cube: Hypercube, python: str) -> Counterexample:
    """Return an example or counterexample on one hypercube.

    ``python`` is an expression of the result ``u`` of ``find_unsafe`` for this cube, which readers can run; its value is shown.
    """
    value = eval(python, {"u": find_unsafe(cube)})  # noqa: S307  (a line of our own)
    return Counterexample(description, f"u = fc.find_unsafe(fc.{cube.source()})\n{python}", value, cube_data(cube))
