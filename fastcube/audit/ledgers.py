"""Finding what is claimed: the ledgers of installed packages, one's own by file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..errors import ParameterError, plain_text
from ..measure.installed import warn_of_package
from ..measure.paper import PAPERS, installed_paper, installed_papers
from ..measure.registry import module_of_file
from .claims import Claim, ClaimRegistry


def claim_registries() -> dict[str, ClaimRegistry]:
    """The ledgers of all installed papers and questions that claim something, by name; broken ones are left out."""
    out = {}
    for name, paper in installed_papers().items():
        if paper.claims:
            try:
                out[name] = paper.ledger()
            except ParameterError as error:
                warn_of_package(PAPERS.points[name], str(error))
    return out


def claims(paper: str | None = None, name: str | None = None) -> list[Claim]:
    """The claims of all ledgers, of one paper's (or of a Python file that holds a Ledger), or the one called ``name``.

    Of one paper nothing else is imported.  Raises ParameterError, with the nearest name, where there is no such paper or claim.
    """
    if paper is None:
        return [claim for ledger in claim_registries().values() for claim in ledger]
    if paper.endswith(".py"):
        ledger = _registry_of_file(paper)
        return [replace(claim, file=paper) for claim in (ledger if name is None else [ledger[name]])]
    chosen = installed_paper(paper)
    if not chosen.claims:
        raise ParameterError(f"paper must be one with claims, got {paper}")
    return [*chosen.ledger()] if name is None else [chosen.ledger()[name]]


def _registry_of_file(path: str) -> ClaimRegistry:
    if not Path(path).is_file():
        raise ParameterError(f"{plain_text(path)} does not exist")
    found = [
        value for value in vars(module_of_file(str(Path(path).resolve()))).values() if isinstance(value, ClaimRegistry)
    ]
    if len(found) != 1:
        raise ParameterError(f"{path} must hold one Ledger, it holds {len(found)}")
    return found[0]
