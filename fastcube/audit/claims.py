"""The registry of claims: what a paper states, how code decides it, and what shows a refutation.

A paper's package keeps its registry in ``claims/registry.py`` and its claims in modules beside it.  A claim about all cases of
a range names the range, and its function judges one case::

    FEW_FAULTS = Cases("all sets of at most ceil(n/2) faults of Q_1, ..., Q_{}", few_faults, full=6, quick=5)


    @registry.forall("half-faults", FEW_FAULTS, where="section 3.2", states="No set of at most ceil(n/2) faults ...")
    def half_faults(cube: Hypercube) -> Witness | None:
        \"\"\"Whether some node is active.\"\"\"
        return witness("no node is active", cube) if find_unsafe(cube).all_unsafe else None

Any other claim takes an effort and gives its verdict itself::

    @registry.claim("n-cubed", where="appendix", states="FIND_UNSAFE takes O(n^3) units of communication ...")
    def n_cubed(effort: Effort) -> Verdict: ...

``PAPER`` in the package's ``__init__.py`` lists the modules.  Claims stand in the order of these modules, whichever is
imported first, and of their lines.  A verdict is one of :data:`OUTCOMES`.  Nothing is ever decided by hand, and ``checked``
names what was looked at and no more.  A statement begins at the smallest n for which it is meant, which stands in it: nothing
below refutes it.

``effort`` tells how much to look at and is told how far deciding has come.  ``effort.by_effort(full, quick)`` chooses a range,
``effort.each(cases)`` passes cases on and shows progress, and ``effort.count_if_applicable(hypothesis)`` counts the cases that
a statement is about.  Full is at most a minute or so a claim, quick half a minute for a whole paper; only the range may
differ, and a claim that is refuted by one effort is refuted by the other.  No ``assert`` decides: it is gone under
``python -O``.  What speaks against a claim is a witness; two computations of one thing that differ
:func:`check_agreement` not, and stop the decider.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Protocol, Self, TypeVar

from ..errors import ParameterError, suggest_name
from .values import value_text

Outcome = Literal["holds", "refuted", "misprint", "depends", "unreproduced", "undecided"]
T = TypeVar("T")
C = TypeVar("C", bound=Callable[..., Any])

#: What a verdict can be, and what it is called.  *Misprint*: false by the letter, and the paper itself, or the proof beside
#: it, has it right.  *Depends*: true under one admissible reading and false under another.  *Unreproduced*: a number of a
#: simulation that lies outside of what is measured.
OUTCOMES = {
    "holds": "holds",
    "refuted": "refuted",
    "misprint": "misprint",
    "depends": "depends on the reading",
    "unreproduced": "not reproduced",
    "undecided": "not decided",
}

#: Seconds between two reports of an effort's cases.
_PROGRESS_INTERVAL = 0.2


class DisagreementError(Exception):
    """Two computations of one thing gave different results: nothing is decided until it is known which is right."""


def check_agreement(one: object, other: object, what: str) -> None:
    """Raise :class:`DisagreementError` where two computations of ``what`` differ."""
    if one != other:
        raise DisagreementError(f"{what}: {one!r} one way, {other!r} the other")


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
        self.applied = 0
        self.tell = tell
        self._told = time.monotonic()

    def by_effort(self, full: T, quick: T) -> T:
        """The first with full effort, the second with quick."""
        return quick if self.quick else full

    def step(self, where: str = "") -> None:
        """Count one case; ``where`` says in a few words what is being looked at."""
        self.cases += 1
        if self.tell is not None and time.monotonic() - self._told >= _PROGRESS_INTERVAL:
            self._told = time.monotonic()
            self.tell(self.cases, where)

    def each(self, cases: Iterable[T], where: str = "") -> Iterator[T]:
        """The cases, each counted before it is passed on."""
        for case in cases:
            self.step(where)
            yield case

    def count_if_applicable(self, hypothesis: bool = True) -> bool:
        """The hypothesis of a statement in one case; where it is true the case is counted as one that it applied to."""
        self.applied += hypothesis
        return hypothesis

    def first(self, cases: Iterable[T], wrong: Callable[[T], Witness | None], where: str = "") -> Witness | None:
        """The first witness that ``wrong`` finds in cases that the statement applies to; None where it finds none."""
        for case in self.each(cases, where):
            self.count_if_applicable()
            if (found := wrong(case)) is not None:
                return found
        return None


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
    form : str
        How a person writes the value: fields as of :meth:`str.format`, ``{0}``, ``{1[0]}`` of a list's parts and ``{value}``
        of all, with a kind of ``values.py`` where they hold nodes: ``{0[1]:path}``.  A flat row needs none; a list of lists
        without one is shown by its drawing alone.
    """

    words: str
    python: str
    value: Any
    form: str = field(default="", kw_only=True)

    @property
    def text(self) -> str:
        """The value as a person writes it."""
        return value_text(self.value, self.python, self.form)

    def with_form(self, form: str) -> Self:
        """The same line with a form."""
        return replace(self, form=form)

    def is_reproduced(self) -> bool:
        """Evaluate ``python`` afresh and tell whether it still gives ``value``."""
        return bool(evaluate(self.python) == self.value)


@dataclass(frozen=True)
class Witness(Line):
    """A case that shows a verdict, in a form that can be replayed.

    Parameters
    ----------
    words, python, value, form
        As of :class:`Line`.
    data : dict
        The network and its faults, as labels, for programs.
    """

    data: dict[str, Any]

    def report(self) -> dict[str, Any]:
        """Its fields as data that ``json`` can write, with the value's text for its form."""
        fields = asdict(self)
        del fields["form"]
        return fields | {"text": self.text}

    @classmethod
    def of(cls, words: str, python: str, data: Mapping[str, Any], form: str = "") -> Witness:
        """The witness with the value that its expression gives now."""
        return cls(words, python, evaluate(python), dict(data), form=form)


def evaluate(python: str) -> Any:
    """The value of a Python expression in the names of ``import fastcube as fc``."""
    import fastcube

    return eval(python, {"fc": fastcube})


@dataclass(frozen=True)
class Verdict:
    """What deciding a claim gave.

    Parameters
    ----------
    outcome : one of :data:`OUTCOMES`
    checked : str
        The range and the method: ``"all 2^16 fault sets of Q_4"``.
    witness : Witness, optional
        The smallest one of a refuted claim; of a claim that something can be attained, a case that attains it.
    more : tuple of Witness
        Further ones, such as the smallest under a stricter reading; where a claim depends on the reading, one under which it
        holds is among them.
    instead : str
        What is true instead, where deciding finds it out; by default what the claim's ``correction`` says.
    """

    outcome: Outcome
    checked: str
    witness: Witness | None = None
    more: tuple[Witness, ...] = ()
    instead: str = ""

    def __post_init__(self) -> None:
        least = {"refuted": 1, "misprint": 1, "depends": 2}.get(self.outcome, 0)
        if len(self.witnesses) < least:
            raise ValueError(
                f"a claim that is {OUTCOMES[self.outcome]} needs {'two witnesses' if least > 1 else 'a witness'}"
            )

    @classmethod
    def refuted_if(cls, found: Witness | None, checked: str) -> Verdict:
        """Refuted by a witness; without one the claim holds in the range that was checked."""
        return cls("holds", checked) if found is None else cls("refuted", f"in this order: {checked}", found)

    @property
    def witnesses(self) -> tuple[Witness, ...]:
        """The first witness and the further ones."""
        return self.more if self.witness is None else (self.witness, *self.more)


class Domain(Protocol):
    """All cases that a statement is about: gives the verdict, where a function judges one case."""

    def decide(self, effort: Effort, check: Any) -> Verdict:
        """The verdict when ``check`` judges each case."""


@dataclass(frozen=True)
class Cases:
    """A range of cases, in its order, that says what it is.

    Parameters
    ----------
    text : str
        The range and the method; ``{}`` is what the effort chooses, and ``{0[1]}`` a part of it.
    make : callable
        Takes what the effort chooses, and gives the cases, each the tuple of the arguments of a check.
    full, quick : object
        What each effort chooses: as a rule the largest size.
    where : str
        In a few words, what is being looked at.
    """

    text: str
    make: Callable[[Any], Iterable[tuple[Any, ...]]]
    full: Any = None
    quick: Any = None
    where: str = ""

    def after(self, proof: str) -> Self:
        """The same cases, said after a proof or an explanation."""
        return replace(self, text=proof + self.text)

    def text_for(self, effort: Effort) -> str:
        """The range that an effort looks at."""
        return self.text.format(effort.by_effort(self.full, self.quick))

    def make_for(self, effort: Effort) -> Iterable[tuple[Any, ...]]:
        """The cases that an effort looks at."""
        return self.make(effort.by_effort(self.full, self.quick))

    def decide(self, effort: Effort, check: Callable[..., Witness | None]) -> Verdict:
        """Refuted by the first case in which ``check`` finds a witness; without one the claim holds in the range."""
        found = effort.first(self.make_for(effort), lambda case: check(*case), self.where)
        return Verdict.refuted_if(found, self.text_for(effort))


def sizes(least: int, full: int, quick: int, text: str, where: str = "") -> Cases:
    """The sizes from ``least`` to what the effort chooses."""
    return Cases(text, lambda most: ((n,) for n in range(least, most + 1)), full, quick, where)


@dataclass(frozen=True)
class Claim:
    """A statement of a paper and the function that decides it; made by :meth:`ClaimRegistry.claim`.

    Parameters
    ----------
    paper, id : str
        The paper's short name, such as ``lee_hayes``, and the claim's within it, such as ``theorem-3``.
    where : str
        Section, theorem or page.
    statement : str
        In our words, with its quantifiers and the smallest n that it is meant for; what a reading adds stands in square
        brackets.
    decider : callable
        Takes an :class:`Effort`, gives a :class:`Verdict`.
    ours : bool
        Whether the statement, or what it is about, is ours: a repair, a case of a vague remark, an algorithm that the
        paper does not give.  Counted apart from what the paper states itself.
    correction : str
        What is true instead, where the claim is refuted; empty where it is not known.
    group : str
        Claims of one group share cached work: one process decides them in turn.
    fact : str
        What it is a claim about, by default itself: several refuted claims of one fact are one refutation.
    slip : str
        Where the paper itself, or the proof beside it, has it right, or that one glyph of the transcription we have decides:
        what is found against such a claim makes it a misprint.
    definition : bool
        Whether it can only hold, being true by definition or by the way it is computed here; counted apart.
    file : str
        The Python file that holds it, where that is of no installed package.
    """

    paper: str
    id: str
    where: str
    statement: str
    decider: Callable[[Effort], Verdict]
    ours: bool = False
    correction: str = ""
    group: str = ""
    fact: str = ""
    slip: str = ""
    definition: bool = False
    file: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What it is called among the claims of all papers."""
        return self.paper, self.id

    @property
    def together(self) -> tuple[str, str]:
        """What it has in common with the claims that the same process decides."""
        return self.paper, f"group {self.group}" if self.group else self.id

    def decide(self, effort: Effort | None = None) -> Verdict:
        """The verdict, with full effort unless another is given."""
        verdict = self.decider(effort or Effort())
        return replace(verdict, outcome="misprint") if self.slip and verdict.outcome == "refuted" else verdict

    def report_header(self, effort: Effort) -> dict[str, Any]:
        """What a report says whatever is found."""
        return {
            "paper": self.paper,
            "id": self.id,
            "statement": self.statement,
            "where": self.where,
            "ours": self.ours,
            "fact": self.fact or self.id,
            "definition": self.definition,
            "slip": self.slip,
            "effort": "quick" if effort.quick else "full",
        }

    def report(self, effort: Effort | None = None) -> dict[str, Any]:
        """Decide, and give claim and verdict as data that ``json`` can write."""
        effort = effort or Effort()
        verdict = self.decide(effort)
        return self.report_header(effort) | {
            "outcome": verdict.outcome,
            "checked": verdict.checked,
            "applied": effort.applied,
            "correction": "" if verdict.outcome == "holds" else verdict.instead or self.correction,
            "witnesses": [witness.report() for witness in verdict.witnesses],
        }


class ClaimRegistry:
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
        self, name: str, *, where: str, states: str, **more: Any
    ) -> Callable[[Callable[[Effort], Verdict]], Callable[[Effort], Verdict]]:
        """Enter the claim that the decorated function decides; ``name`` is its id, the rest as of :class:`Claim`."""

        def register_claim(decider: Callable[[Effort], Verdict]) -> Callable[[Effort], Verdict]:
            if name in self._claims:
                raise ValueError(f"{self.paper} has two claims {name}")
            self._claims[name] = Claim(self.paper, name, where, states, decider, **more)
            return decider

        return register_claim

    def forall(self, name: str, domain: Domain, *, where: str, states: str, **more: Any) -> Callable[[C], C]:
        """Enter the claim that the decorated function judges in each case of a domain; the rest as of :meth:`claim`."""

        def register_check(check: C) -> C:
            @functools.wraps(check)
            def decide_cases(effort: Effort) -> Verdict:
                return domain.decide(effort, check)

            self.claim(name, where=where, states=states, **more)(decide_cases)
            return check

        return register_check

    def sort_by_modules(self, modules: Sequence[str]) -> None:
        """Put the claims in the order of the modules that declare them."""
        ordered = sorted(self._claims.items(), key=lambda item: modules.index(item[1].decider.__module__))
        self._claims = dict(ordered)

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._claims.values())

    def __len__(self) -> int:
        return len(self._claims)

    def __getitem__(self, name: str) -> Claim:
        """The claim of that name.  Raises ParameterError with the nearest one where there is none."""
        if name not in self._claims:
            hint = suggest_name(name, self._claims) or f"; it has {', '.join(self._claims) or 'none'}"
            raise ParameterError(f"claim must be one of {self.paper}'s, got {name}{hint}")
        return self._claims[name]
