"""Worked examples: what a paper carries out by hand, run here, told by one line of Python and drawn where the cube is small.

A paper's package keeps its own in ``examples.py``, a function each, by the names that its inventory gives them::

    def figure_3() -> Example:
        \"\"\"Three faulty nodes of Q_4.\"\"\"
        return Example(
            "a message from 1110 to 0100 avoids 0110",
            "fc.route(fc.Hypercube(4, [0, 5, 6]), 14, 4).path",
            [14, 12, 4],
        )


    EXAMPLES = examples_of(globals())

and its ``__init__.py`` names the file, ``Paper(__name__, examples="examples", ...)``, imported when asked for.
The value is written down, not computed, so that the line can be held to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from .claims import Line


@dataclass(frozen=True)
class Drawing:
    """A small cube as the papers draw it.

    Parameters
    ----------
    n : int
        Its dimension, at most 4.
    faulty_nodes, grey : tuple of int
        Nodes drawn black, and those drawn grey (unsafe ones).
    faulty_links : tuple of (int, int)
    inside : dict
        What stands inside of nodes, text by label: times, labels of supernodes.
    arrows : tuple of (int, int, str)
        Links passed, from and to, with a word beside each: a time, a number.
    caption : str
    """

    n: int
    faulty_nodes: tuple[int, ...] = ()
    grey: tuple[int, ...] = ()
    faulty_links: tuple[tuple[int, int], ...] = ()
    inside: dict[int, str] = field(default_factory=dict)
    arrows: tuple[tuple[int, int, str], ...] = ()
    caption: str = ""


@dataclass(frozen=True)
class Example(Line):
    """A worked example.

    Parameters
    ----------
    words, python, value, form
        As of :class:`~fastcube.audit.claims.Line`.
    cubes : tuple of Drawing
    """

    cubes: tuple[Drawing, ...] = ()


def examples_of(module: Mapping[str, Any]) -> dict[str, Callable[[], Example]]:
    """The public functions that a module defines, in their order, by their names with hyphens."""
    own = {name: made for name, made in module.items() if isinstance(made, FunctionType) and name[0] != "_"}
    return {name.replace("_", "-"): made for name, made in own.items() if made.__module__ == module["__name__"]}
