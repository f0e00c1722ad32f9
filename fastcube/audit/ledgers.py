"""Finding what is claimed: the ledgers of installed packages, one's own by file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..errors import ParameterError, listed, nearest, plain_text, written
from ..measure.paper import installed
from ..measure.registry import module_of_file
from .claims import Claim, Ledger


def ledgers() -> dict[str, Ledger]:
    """The ledgers of all installed papers and questions that claim something, by name."""
    return {name: paper.ledger() for name, paper in installed().items() if paper.claims}


def claims(paper: str | None = None, name: str | None = None) -> list[Claim]:
    """The claims of all ledgers, of one paper's (or of a Python file that holds a Ledger), or the one called ``name``.

    Raises ParameterError, with the nearest name, where there is no such paper or claim.
    """
    if paper is not None and paper.endswith(".py"):
        ledger = _of_file(paper)
        return [replace(claim, file=paper) for claim in (ledger if name is None else [ledger[name]])]
    known = ledgers()
    if paper is None:
        return [claim for ledger in known.values() for claim in ledger]
    if paper not in known:
        raise ParameterError(
            f"paper must be {listed([*known, 'a Python file'])}, got {written(paper)}{nearest(paper, known)}"
        )
    return list(known[paper]) if name is None else [known[paper][name]]


def _of_file(path: str) -> Ledger:
    if not Path(path).is_file():
        raise ParameterError(f"{plain_text(path)} does not exist")
    found = [value for value in vars(module_of_file(str(Path(path).resolve()))).values() if isinstance(value, Ledger)]
    if len(found) != 1:
        raise ParameterError(f"{path} must hold one Ledger, it holds {len(found)}")
    return found[0]
