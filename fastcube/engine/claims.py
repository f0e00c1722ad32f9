"""The ledger's entries: what a paper states, how code decides it, and what shows a refutation.

A study module lists its paper's claims in its attribute ``CLAIMS``; ``registry.claims()`` gathers those of all
installed studies.  A verdict is *holds* (with the range that was checked), *refuted* (with a witness that anyone
can replay) or *undecided*; nothing is ever decided by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Outcome = Literal["holds", "refuted", "undecided"]


@dataclass(frozen=True)
class Witness:
    """A case that shows a verdict, in a form that can be replayed.

    Parameters
    ----------
    words : str
        What it shows, in one line.
    python : str
        A Python expression in the names of ``import fastcube as fc``; its value is ``value``.
    value : JSON-able
        What the expression gives (lists for tuples).
    data : dict
        The network and its faults, as labels, for programs.
    """

    words: str
    python: str
    value: Any
    data: dict[str, Any]

    def replay(self) -> bool:
        """Evaluate ``python`` afresh and tell whether it still gives ``value``."""
        import fastcube

        return bool(eval(self.python, {"fc": fastcube}) == self.value)


@dataclass(frozen=True)
class Verdict:
    """What deciding a claim gave.

    Parameters
    ----------
    outcome : "holds", "refuted" or "undecided"
    checked : str
        The range and the method: ``"all 2^16 fault sets of Q_4"``.
    witness : Witness, optional
        The smallest one of a refuted claim; of a claim that something can be attained, a case that attains it.
    """

    outcome: Outcome
    checked: str
    witness: Witness | None = None

    def __post_init__(self) -> None:
        if self.outcome == "refuted" and self.witness is None:
            raise ValueError("a refuted claim needs a witness")


@dataclass(frozen=True)
class Claim:
    """A statement of a paper and the function that decides it.

    Parameters
    ----------
    paper : str
        The study module's short name, such as ``lee_hayes``.
    id : str
        Name within the paper, such as ``theorem-3``.
    statement : str
        As printed; a reading of it is marked as such.
    where : str
        Section, theorem or page.
    decide : callable
        Takes nothing, gives a :class:`Verdict`; some seconds at most.
    """

    paper: str
    id: str
    statement: str
    where: str
    decide: Callable[[], Verdict]

    def report(self) -> dict[str, Any]:
        """Decide, and give claim and verdict as data that ``json`` can write."""
        verdict = self.decide()
        return {
            "paper": self.paper,
            "id": self.id,
            "statement": self.statement,
            "where": self.where,
            "outcome": verdict.outcome,
            "checked": verdict.checked,
            "witness": None if verdict.witness is None else asdict(verdict.witness),
        }
