"""Finding what is claimed: the ledgers of installed packages, one's own by file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..errors import ParameterError, command_line_text, join_alternatives, plain_text, suggest_name
from ..measure.paper import installed_papers
from ..measure.registry import module_of_file
from .claims import Claim, ClaimRegistry


def claim_registries() -> dict[str, ClaimRegistry]:
    """The ledgers of all installed papers and questions that claim something, by name."""
    return {name: paper.ledger() for name, paper in installed_papers().items() if paper.claims}


def claims(paper: str | None = None, name: str | None = None) -> list[Claim]:
    """The claims of all ledgers, of one paper's (or of a Python file that holds a Ledger), or the one called ``name``.

    Raises ParameterError, with the nearest name, where there is no such paper or claim.
    """
    if paper is not None and paper.endswith(".py"):
        ledger = _registry_of_file(paper)
        return [replace(claim, file=paper) for claim in (ledger if name is None else [ledger[name]])]
    known = claim_registries()
    if paper is None:
        return [claim for ledger in known.values() for claim in ledger]
    if paper not in known:
        raise ParameterError(
            f"paper must be {join_alternatives([*known, 'a Python file'])}, "
            f"got {command_line_text(paper)}{suggest_name(paper, known)}"
        )
    return list(known[paper]) if name is None else [known[paper][name]]


def _registry_of_file(path: str) -> ClaimRegistry:
    if not Path(path).is_file():
        raise ParameterError(f"{plain_text(path)} does not exist")
    found = [
        value for value in vars(module_of_file(str(Path(path).resolve()))).values() if isinstance(value, ClaimRegistry)
    ]
    if len(found) != 1:
        raise ParameterError(f"{path} must hold one Ledger, it holds {len(found)}")
    return found[0]
