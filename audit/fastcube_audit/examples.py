"""Worked examples: computations that a paper carries out by hand, repeated here by one line of Python and drawn if small.

A paper's package defines one function per example in ``examples.py``.  Its name is the example's name in the inventory::

    def figure_3() -> Example:
        \"\"\"Three faulty nodes of Q_4.\"\"\"
        return Example(
            "a message from 1110 to 0100 avoids 0110",
            "fc.route(fc.Hypercube(4, [0, 5, 6]), 14, 4).path",
            [14, 12, 4],
        )


    EXAMPLES = examples_of(globals())

Its ``__init__.py`` names the file, ``Paper(__name__, examples="examples", ...)``, and the file is imported on demand.
The value is written down, not computed, so that a test can compare the line with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from fastcube.plot.network_drawing import Drawing

from .claims import Line


@dataclass(frozen=True)
class Example(Line):
    """A worked example.

    Parameters
    ----------
    words, python, value, form
        As in ``Line``.
    cubes : tuple of Drawing
    """

    cubes: tuple[Drawing, ...] = ()


def examples_of(module: Mapping[str, Any]) -> dict[str, Callable[[], Example]]:
    """Return the public functions that a module defines, in their order, by their names with hyphens for underscores."""
    functions = [value for name, value in module.items() if isinstance(value, FunctionType) and name[0] != "_"]
    return {f.__name__.replace("_", "-"): f for f in functions if f.__module__ == module["__name__"]}
