"""The ledger: what a paper states, how code decides it, and what shows a refutation.

A paper's package of studies keeps its claims in ``claims.py``, beside the code that decides them::

    ledger = Ledger("lee_hayes")


    @ledger.claim("least-faults", where="appendix", states="The least number of faults needed is ...")
    def least_faults(effort: Effort) -> Verdict:
        \"\"\"All fault sets of at most ceil(n/2) faults, and one of ceil(n/2) + 1 for each n.\"\"\"
        largest = effort.pick(full=6, quick=5)
        for cube in effort.each(few_faults(largest)):
            if find_unsafe(cube).all_unsafe:
                return Verdict("refuted", f"fault sets up to Q_{cube.n}", witness(cube))
        return Verdict("holds", f"all sets of at most ceil(n/2) faults of Q_1, ..., Q_{largest}")

and its ``__init__.py`` a function that gives the ledger, so that the claims are imported when they are asked for::

    def ledger() -> Ledger:
        from . import claims_routing  # noqa: F401  (a second file, which imports the ledger from the first)
        from .claims import ledger

        return ledger

``registry.ledgers()`` gathers those of all installed studies; claims stand in the order in which they are made.  A
verdict is *holds* (with the range that was checked), *refuted* (with a witness that anyone can replay) or
*undecided*; nothing is ever decided by hand, and ``checked`` names what was looked at and no more.

``effort`` tells how much to look at and is told how far deciding has come: ``effort.pick(full, quick)`` chooses a
range, ``effort.each(cases)`` passes cases on and shows progress.  Full is at most a minute or so a claim, quick half a
minute for a whole paper; only the range may differ, and a claim that is refuted by one effort is refuted by the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar

from ..errors import ParameterError, nearest

Outcome = Literal["holds", "refuted", "undecided"]
T = TypeVar("T")

#: Seconds between two reports of an effort's cases.
_TOLD_EVERY = 0.2


class Effort:
    """How much a deciding function should look at, and where it says how far it has come.

    Parameters
    ----------
    quick : bool
        Whether seconds are what is wanted, rather than the widest range.
    tell : callable, optional
        Takes the number of cases looked at so far and what is being looked at.
    """

    def __init__(self, quick: bool = False, tell: Callable[[int, str], None] | None = None) -> None:
        self.quick = quick
        self.cases = 0
        self.tell = tell
        self._told = time.monotonic()

    def pick(self, full: T, quick: T) -> T:
        """The first with full effort, the second with quick."""
        return quick if self.quick else full

    def step(self, where: str = "") -> None:
        """Count one case; ``where`` says in a few words what is being looked at."""
        self.cases += 1
        if self.tell is not None and time.monotonic() - self._told >= _TOLD_EVERY:
            self._told = time.monotonic()
            self.tell(self.cases, where)

    def each(self, cases: Iterable[T], where: str = "") -> Iterator[T]:
        """The cases, each counted before it is passed on."""
        for case in cases:
            self.step(where)
            yield case


@dataclass(frozen=True)
class Line:
    """A line of Python that shows something, and what it gives.

    Parameters
    ----------
    words : str
        What it shows, in one line.
    python : str
        A Python expression in the names of ``import fastcube as fc``; its value is ``value``.
    value : JSON-able
        What the expression gives (lists for tuples).
    """

    words: str
    python: str
    value: Any

    def replay(self) -> bool:
        """Evaluate ``python`` afresh and tell whether it still gives ``value``."""
        return bool(evaluated(self.python) == self.value)


@dataclass(frozen=True)
class Witness(Line):
    """A case that shows a verdict, in a form that can be replayed.

    Parameters
    ----------
    words, python, value
        As of :class:`Line`.
    data : dict
        The network and its faults, as labels, for programs.
    """

    data: dict[str, Any]

    @classmethod
    def of(cls, words: str, python: str, data: Mapping[str, Any]) -> Witness:
        """The witness with the value that its expression gives now."""
        return cls(words, python, evaluated(python), dict(data))


def evaluated(python: str) -> Any:
    """The value of a Python expression in the names of ``import fastcube as fc``."""
    import fastcube

    return eval(python, {"fc": fastcube})


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
    more : tuple of Witness
        Further ones, such as the smallest under a stricter reading.
    """

    outcome: Outcome
    checked: str
    witness: Witness | None = None
    more: tuple[Witness, ...] = ()

    def __post_init__(self) -> None:
        if self.outcome == "refuted" and self.witness is None:
            raise ValueError("a refuted claim needs a witness")

    @property
    def witnesses(self) -> tuple[Witness, ...]:
        """The first witness and the further ones."""
        return self.more if self.witness is None else (self.witness, *self.more)


@dataclass(frozen=True)
class Claim:
    """A statement of a paper and the function that decides it; made by :meth:`Ledger.claim`.

    Parameters
    ----------
    paper, id : str
        The paper's short name, such as ``lee_hayes``, and the claim's within it, such as ``theorem-3``.
    where : str
        Section, theorem or page.
    statement : str
        As printed; what a reading adds stands in square brackets.
    decider : callable
        Takes an :class:`Effort`, gives a :class:`Verdict`.
    ours : bool
        Whether the statement, or what it is about, is ours: a repair, a case of a vague remark, an algorithm that the
        paper does not give.  Counted apart from what the paper states itself.
    correction : str
        What is true instead, where the claim is refuted; empty where it is not known.
    group : str
        Claims of one group share cached work: one process decides them in turn.
    """

    paper: str
    id: str
    where: str
    statement: str
    decider: Callable[[Effort], Verdict]
    ours: bool = False
    correction: str = ""
    group: str = ""

    def decide(self, effort: Effort | None = None) -> Verdict:
        """The verdict, with full effort unless another is given."""
        return self.decider(effort or Effort())

    def report(self, effort: Effort | None = None) -> dict[str, Any]:
        """Decide, and give claim and verdict as data that ``json`` can write."""
        effort = effort or Effort()
        verdict = self.decide(effort)
        return {
            "paper": self.paper,
            "id": self.id,
            "statement": self.statement,
            "where": self.where,
            "ours": self.ours,
            "effort": "quick" if effort.quick else "full",
            "outcome": verdict.outcome,
            "checked": verdict.checked,
            "correction": self.correction if verdict.outcome == "refuted" else "",
            "witnesses": [asdict(witness) for witness in verdict.witnesses],
        }


class Ledger:
    """The claims of one paper, in the order in which they are made; iterates over them.

    Parameters
    ----------
    paper : str
        Its short name: the package of its studies.
    """

    def __init__(self, paper: str) -> None:
        self.paper = paper
        self._claims: dict[str, Claim] = {}

    def claim(
        self, name: str, *, where: str, states: str, ours: bool = False, correction: str = "", group: str = ""
    ) -> Callable[[Callable[[Effort], Verdict]], Callable[[Effort], Verdict]]:
        """Enter the claim that the decorated function decides; ``name`` is its id, the rest as of :class:`Claim`."""

        def enter(decider: Callable[[Effort], Verdict]) -> Callable[[Effort], Verdict]:
            if name in self._claims:
                raise ValueError(f"{self.paper} has two claims {name}")
            self._claims[name] = Claim(self.paper, name, where, states, decider, ours, correction, group)
            return decider

        return enter

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._claims.values())

    def __len__(self) -> int:
        return len(self._claims)

    def __getitem__(self, name: str) -> Claim:
        """The claim of that name.  Raises ParameterError with the nearest one where there is none."""
        if name not in self._claims:
            hint = nearest(name, self._claims) or f"; it has {', '.join(self._claims) or 'none'}"
            raise ParameterError(f"claim must be one of {self.paper}'s, got {name}{hint}")
        return self._claims[name]
