"""The content of a package of studies, for a paper or a question beyond the papers: ``PAPER`` in its ``__init__``.

Each entry point of the group ``fastcube.papers`` names one.  Studies and baselines are imported on demand.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, command_line_text, join_alternatives, suggest_name
from .installed import Installed, load_or_refuse

if TYPE_CHECKING:
    from .inventory import Inventory


@dataclass(frozen=True)
class Paper:
    """One package of studies, for a paper or for a question beyond the papers.

    Parameters
    ----------
    package : str
        The package's ``__name__``, whose last part is the paper's short name.
    studies : tuple of str
        Names of the studies, in the order of ``fastcube list``.
    baselines : tuple of str, optional
        Modules whose ``benchmarks()`` return the comparisons of ``fastcube bench``.
    """

    package: str
    studies: tuple[str, ...]
    baselines: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The paper's short name."""
        return self.package.rpartition(".")[2]

    @property
    def inventory(self) -> Inventory:
        """The inventory of the paper.  Raises ParameterError for a question beyond the papers."""
        from .inventory import inventory

        return inventory(self.name)

    def import_module(self, name: str) -> Any:
        """Import a module of the package by its name in the package.  Raises ParameterError if this fails."""
        module = f"{self.package}.{name}"
        return load_or_refuse(lambda: module, lambda: importlib.import_module(module))

    def benchmarks(self) -> list[Any]:
        """Return the comparisons of ``fastcube bench``."""
        return [benchmark for name in self.baselines for benchmark in self.import_module(name).benchmarks()]


#: The papers and questions of installed packages.
PAPERS = Installed("fastcube.papers", Paper, "paper")


def installed_papers() -> dict[str, Paper]:
    """Return all installed papers and questions by name."""
    return PAPERS.all()


def installed_paper(name: str) -> Paper:
    """Return the installed paper or question ``name``, and import nothing else.  Raises ParameterError if it is unknown."""
    if name not in PAPERS.points:
        raise ParameterError(
            f"paper must be {join_alternatives([*PAPERS.points, 'a Python file'])}, "
            f"got {command_line_text(name)}{suggest_name(name, PAPERS.points)}"
        )
    return PAPERS.load(PAPERS.point(name))


def papers_with_inventory(names: Sequence[str] | None = None) -> tuple[Paper, ...]:
    """Return the papers with an inventory, of ``names`` or all, in their order.  Raises ParameterError for unknown names.

    A paper whose package is not installed has no studies here.
    """
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
    """Return the comparisons of all installed packages."""
    return [benchmark for paper in installed_papers().values() for benchmark in paper.benchmarks()]
