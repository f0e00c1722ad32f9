"""A paper, or a question that does not come from one: the content of a package of studies, ``PAPER`` in its ``__init__``.

The entry points of the group ``fastcube.papers`` name one each.  Studies, claims, examples and baselines are imported when
they are asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, command_line_text, join_alternatives, plain_text, suggest_name
from .installed import Installed

if TYPE_CHECKING:
    from .inventory import Inventory


@dataclass(frozen=True)
class Paper:
    """One package of studies.

    Parameters
    ----------
    package : str
        Its ``__name__``; the last part of it is the paper's short name.
    studies : tuple of str
        Names of its studies, in the order of ``fastcube list``.
    claims : tuple of str, optional
        Modules that enter claims, in the order in which they are told; the first imports the registry of claims as ``registry``.
    examples : str, optional
        The module with the worked examples, ``EXAMPLES``.
    baselines : tuple of str, optional
        Modules whose ``benchmarks()`` give what ``fastcube bench`` compares.
    """

    package: str
    studies: tuple[str, ...]
    claims: tuple[str, ...] = ()
    examples: str = ""
    baselines: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The paper's short name."""
        return self.package.rpartition(".")[2]

    @property
    def inventory(self) -> Inventory:
        """What the paper prints.  Raises ParameterError for a question that is no paper."""
        from .inventory import inventory

        return inventory(self.name)

    def import_module(self, name: str) -> Any:
        """A module of the package by its name in it.  Raises ParameterError."""
        try:
            return importlib.import_module(f"{self.package}.{name}")
        except (Exception, SystemExit) as error:
            why = plain_text(f"{type(error).__name__}: {error}")
            raise ParameterError(f"{self.package}.{name} cannot be loaded: {why}") from error

    def benchmarks(self) -> list[Any]:
        """What ``fastcube bench`` compares."""
        return [benchmark for name in self.baselines for benchmark in self.import_module(name).benchmarks()]


#: The papers and questions of installed packages.
PAPERS = Installed("fastcube.papers", Paper, "paper")


def installed_papers() -> dict[str, Paper]:
    """All installed papers and questions by name."""
    return PAPERS.all()


def installed_paper(name: str) -> Paper:
    """The installed paper or question of that name; nothing else is imported.  Raises ParameterError, with the nearest name."""
    if name not in PAPERS.points:
        raise ParameterError(
            f"paper must be {join_alternatives([*PAPERS.points, 'a Python file'])}, "
            f"got {command_line_text(name)}{suggest_name(name, PAPERS.points)}"
        )
    return PAPERS.load(PAPERS.point(name))


def papers_with_inventory(names: Sequence[str] | None = None) -> tuple[Paper, ...]:
    """The papers with an inventory, of those names or all, in the order in which they are told.  Raises ParameterError."""
    from .inventory import papers

    known = papers()
    for name in names or ():
        if not isinstance(name, str) or name not in known:
            raise ParameterError(
                f"paper must be {join_alternatives(known)}, got {command_line_text(name)}{suggest_name(name, known)}"
            )
    chosen = [name for name in known if not names or name in names]
    return tuple(installed_paper(name) if name in PAPERS.points else Paper(name, ()) for name in chosen)


def installed_benchmarks() -> list[Any]:
    """The comparisons of all installed packages."""
    return [benchmark for paper in installed_papers().values() for benchmark in paper.benchmarks()]
