"""Claims of papers: their statements, the code that decides them, and the counterexamples of the verdicts.

A paper's package has its registry in ``registry.py`` and its claims in modules of the same folder.  A claim about all
cases of a range names the range, and its function checks one case::

    FEW_FAULTS = Cases("all sets of at most ceil(n/2) faults of Q_1, ..., Q_{}", few_faults, full=6, quick=5)


    @registry.forall("half-faults", FEW_FAULTS, where="section 3.2", states="No set of at most ceil(n/2) faults ...")
    def half_faults(cube: Hypercube) -> Counterexample | None:
        \"\"\"Check that some node is active.\"\"\"
        return unsafe_counterexample("no node is active", cube) if find_unsafe(cube).all_unsafe else None

A check returns the counterexample, or None where the statement is true.

Any other claim takes an effort and returns its verdict itself::

    @registry.claim("n-cubed", where="appendix", states="FIND_UNSAFE takes O(n^3) units of communication ...")
    def n_cubed(effort: Effort) -> Verdict: ...

``PAPER`` in the package's ``__init__.py`` lists the modules.  Claims are ordered by these modules, whichever is imported first,
and by their lines in a module.  A verdict is one of ``OUTCOMES``.  Code decides every claim, never a person.  ``checked``
names the checked cases and nothing more.  A statement names the smallest n that it is meant for, and no smaller case refutes it.

``effort`` chooses the range of cases and counts them.  ``effort.by_effort(full, quick)`` chooses a range,
``effort.each(cases)`` yields the cases and shows progress, and ``effort.count_if_applicable(hypothesis)`` counts the cases in
which the hypothesis of a statement is true.  Full effort takes about a minute per claim at most, quick effort half a minute per
paper.  The two efforts differ only in the range, and a claim that one effort refutes is refuted by the other.  Deciders use no
``assert``, because ``python -O`` removes it.  A verdict shows a ``Counterexample``, or an example where the claim holds.  Two
computations of the same quantity are compared by ``check_agreement``.  If they differ, it stops the decider.

``METHODS`` are the ways in which a claim is decided.  A claim names its own, or has that of its ``Cases``.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Protocol, Self, TypeVar

from fastcube.errors import ParameterError, suggest_name

from .values import value_text

Outcome = Literal["holds", "refuted", "misprint", "depends", "unreproduced", "undecided"]
T = TypeVar("T")
C = TypeVar("C", bound=Callable[..., Any])

#: Names of the outcomes for readers.  *Misprint*: false as printed, but the paper itself, or the proof next to the statement, has
#: it right.  *Depends*: true under one admissible interpretation and false under another.  *Unreproduced*: a number from a
#: simulation that disagrees with the measured value.
OUTCOMES = {
    "holds": "holds",
    "refuted": "refuted",
    "misprint": "misprint",
    "depends": "depends on the interpretation",
    "unreproduced": "not reproduced",
    "undecided": "not decided",
}

#: Least number of cases that a verdict shows, by outcome: a counterexample, and if a claim depends an example that holds.
_CASES_NEEDED: Mapping[Outcome, int] = {"refuted": 1, "misprint": 1, "depends": 2}

#: How the cases of a claim that holds were checked.  *Proved*: a proof, which the text of the range names, covers all cases, and
#: some are tested besides.  *Random*: cases of the range were sampled at random, and no proof covers the rest.
METHODS = {
    "exhaustive": "exhaustively",
    "random": "at random",
    "proved": "by proof",
}
Method = Literal["exhaustive", "random", "proved"]

#: Seconds between two progress reports of an effort, frequent enough for a moving line on a terminal.
_PROGRESS_INTERVAL = 0.2


class DisagreementError(Exception):
    """Two computations of the same quantity gave different results, so the claim cannot be decided."""


def check_agreement(one: object, other: object, what: str) -> None:
    """Raise ``DisagreementError`` if two computations of ``what`` differ."""
    if one != other:
        raise DisagreementError(f"{what}: {one!r} one way, {other!r} the other")


class Effort:
    """The effort with which a claim is decided: it chooses the range of cases, counts the cases and reports progress.

    Parameters
    ----------
    quick : bool
        Whether to check a small range within seconds, rather than the widest range.
    report_progress : callable, optional
        Called now and then with the number of cases checked so far and a short text about the current case.
    """

    def __init__(self, quick: bool = False, report_progress: Callable[[int, str], None] | None = None) -> None:
        self.quick = quick
        self.cases = 0
        self.applied = 0
        self.report_progress = report_progress
        self._last_report = time.monotonic()

    def by_effort(self, full: T, quick: T) -> T:
        """Return ``full`` for full effort, ``quick`` for quick effort."""
        return quick if self.quick else full

    def step(self, where: str = "") -> None:
        """Count one case; ``where`` describes it in a few words."""
        self.cases += 1
        if self.report_progress is not None and time.monotonic() - self._last_report >= _PROGRESS_INTERVAL:
            self._last_report = time.monotonic()
            self.report_progress(self.cases, where)

    def each(self, cases: Iterable[T], where: str = "") -> Iterator[T]:
        """Yield the cases, and count each before it is yielded."""
        for case in cases:
            self.step(where)
            yield case

    def count_if_applicable(self, hypothesis: bool = True) -> bool:
        """Return ``hypothesis``, and if it is true count the case as one that the statement applies to."""
        self.applied += hypothesis
        return hypothesis

    def find_first(
        self, cases: Iterable[T], check: Callable[[T], Counterexample | None], where: str = ""
    ) -> Counterexample | None:
        """Return the first counterexample that ``check`` finds in ``cases``, or None.  The statement applies to all of them."""
        for case in self.each(cases, where):
            self.count_if_applicable()
            if (found := check(case)) is not None:
                return found
        return None


@dataclass(frozen=True)
class Line:
    """A fact and the lines of Python that show it, with their value.

    Parameters
    ----------
    description : str
        One line of text: the fact that the lines show.
    python : str
        An expression in the names of ``import fastcube as fc``, after lines that each assign one of its names; ``value`` is the
        value of the expression.
    value : JSON-able
        The value of the expression (lists for tuples).
    form : str
        How to print the value for a reader, a template as of ``str.format``: ``{0}`` and ``{1[0]}`` are parts of a list,
        ``{value}`` is the whole value, and ``{0[1]:path}`` formats a part with nodes by a kind of ``values.py``.  A flat list
        needs no template.  A list of lists without a template is shown only as a drawing.
    """

    description: str
    python: str
    value: Any
    form: str = field(default="", kw_only=True)

    @property
    def value_text(self) -> str:
        """The value as text for a reader."""
        return value_text(self.value, self.python, self.form)

    def with_form(self, form: str) -> Self:
        """Return a copy of the line with another template."""
        return replace(self, form=form)

    def is_reproduced(self) -> bool:
        """Evaluate ``python`` again and return whether it still gives ``value``."""
        return bool(evaluate(self.python) == self.value)


@dataclass(frozen=True)
class Counterexample(Line):
    """A case that contradicts a claim, or an example where the claim holds, with the lines of Python that replay it.

    Parameters
    ----------
    description, python, value, form
        As in ``Line``.
    data : dict
        The network and its faults, as labels, for programs.
    """

    data: dict[str, Any]

    def report(self) -> dict[str, Any]:
        """Return the fields as data for ``json``; the value as text replaces its template."""
        data = asdict(self)
        del data["form"]
        return data | {"value_text": self.value_text}

    @classmethod
    def of(cls, description: str, python: str, data: Mapping[str, Any], form: str = "") -> Counterexample:
        """Return the case whose value is the present value of ``python``."""
        return cls(description, python, evaluate(python), dict(data), form=form)


def evaluate(python: str) -> Any:
    """Return the value of the last line, an expression in the names of ``import fastcube as fc`` and of the lines before it."""
    import fastcube

    *assignments, expression = python.split("\n")
    names = {"fc": fastcube}
    exec("\n".join(assignments), names)  # noqa: S102  (lines of our own claims)
    return eval(expression, names)  # noqa: S307


@dataclass(frozen=True)
class Verdict:
    """The result of deciding a claim.

    Parameters
    ----------
    outcome : one of ``OUTCOMES``
    checked : str
        The checked range: ``"all 2^16 fault sets of Q_4"``.
    counterexample : Counterexample, optional
        The smallest counterexample of a refuted claim; for a claim that something can be attained, a case that attains it.
    more : tuple of Counterexample
        Further cases, such as the smallest counterexample under a stricter interpretation.  If a claim depends on the
        interpretation, the last one is an example under which it holds.
    correction : str
        The true statement, if the decider finds it; by default the claim's ``correction``.
    """

    outcome: Outcome
    checked: str
    counterexample: Counterexample | None = None
    more: tuple[Counterexample, ...] = ()
    correction: str = ""

    def __post_init__(self) -> None:
        needed = _CASES_NEEDED.get(self.outcome, 0)
        if len(self.counterexamples) < needed:
            raise ValueError(
                f"a claim that is {OUTCOMES[self.outcome]} needs a counterexample{' and an example' if needed > 1 else ''}"
            )

    @classmethod
    def refuted_if(cls, found: Counterexample | None, checked: str) -> Verdict:
        """Return "refuted" with the counterexample ``found``; if it is None, "holds" in the range ``checked``."""
        return cls("holds", checked) if found is None else cls("refuted", f"in this order: {checked}", found)

    @property
    def counterexamples(self) -> tuple[Counterexample, ...]:
        """All cases: ``counterexample`` and ``more``."""
        return self.more if self.counterexample is None else (self.counterexample, *self.more)


class Domain(Protocol):
    """All cases that a statement is about.  It decides a claim, given a function that checks one case."""

    @property
    def method(self) -> Method:
        """How the cases are checked, one of ``METHODS``."""

    def decide(self, effort: Effort, check: Any) -> Verdict:
        """Return the verdict on a claim whose cases ``check`` checks one by one."""


@dataclass(frozen=True)
class Cases:
    """A range of cases in a fixed order, with its description.

    Parameters
    ----------
    text : str
        The range; ``{}`` stands for the value that the effort chooses, and ``{0[1]}`` for a part of it.
    make : callable
        Takes the value that the effort chooses and returns the cases, each as the tuple of the arguments of a check.
    full, quick : object
        The value for each effort, usually the largest size.
    where : str
        A few words on the cases, for the progress display.
    method : one of ``METHODS``
    """

    text: str
    make: Callable[[Any], Iterable[tuple[Any, ...]]]
    full: Any = None
    quick: Any = None
    where: str = ""
    method: Method = "exhaustive"

    def with_proof(self, proof: str) -> Self:
        """Return the same cases, as tests of a statement that ``proof``, the beginning of their description, proves."""
        return replace(self, text=proof + self.text, method="proved")

    def text_for(self, effort: Effort) -> str:
        """Return the description of the range that an effort checks."""
        return self.text.format(effort.by_effort(self.full, self.quick))

    def make_for(self, effort: Effort) -> Iterable[tuple[Any, ...]]:
        """Return the cases that an effort checks."""
        return self.make(effort.by_effort(self.full, self.quick))

    def decide(self, effort: Effort, check: Callable[..., Counterexample | None]) -> Verdict:
        """Return "refuted" with the first counterexample that ``check`` finds; without one "holds" in the range."""
        found = effort.find_first(self.make_for(effort), lambda case: check(*case), self.where)
        return Verdict.refuted_if(found, self.text_for(effort))


def sizes(least: int, full: int, quick: int, text: str, method: Method = "exhaustive") -> Cases:
    """Return as cases the sizes n from ``least`` to the largest size of the effort, ``full`` or ``quick``."""
    return Cases(text, lambda most: ((n,) for n in range(least, most + 1)), full, quick, method=method)


@dataclass(frozen=True)
class Claim:
    """A statement of a paper and the function that decides it; made by ``ClaimRegistry.claim``.

    Parameters
    ----------
    paper, id : str
        The paper's short name, such as ``lee_hayes``, and the claim's name within the paper, such as ``theorem-3``.
    where : str
        Section, theorem or page.
    statement : str
        The claim in fastcube's words, with its quantifiers and the smallest n that it is meant for.  Additions by an
        interpretation are in square brackets.
    decider : callable
        Takes an ``Effort`` and returns a ``Verdict``.
    added : bool
        Whether the statement, or its subject, is fastcube's own: a correction, a case of a vague remark, an algorithm that the
        paper does not give.  Such claims are counted separately.
    correction : str
        The true statement, if the claim is refuted; empty if unknown.
    group : str
        Claims of one group share cached work, so one process decides them one after another.
    fact : str
        The fact that the claim is about, by default its ``id``: several refuted claims of one fact count as one refutation.
    misprint_reason : str
        Why a counterexample makes the claim a misprint: where the paper itself, or the proof next to the statement, has it
        right, or that the statement depends on a single character of the transcription.
    definition : bool
        Whether the claim can only hold, by definition or by the way it is computed here; counted separately.
    method : one of ``METHODS``
        How the claim is decided.  What holds by proof, or for cases that were sampled at random, says so.
    file : str
        The Python file with the claim, if it is not in an installed package.
    """

    paper: str
    id: str
    where: str
    statement: str
    decider: Callable[[Effort], Verdict]
    added: bool = False
    correction: str = ""
    group: str = ""
    fact: str = ""
    misprint_reason: str = ""
    definition: bool = False
    method: Method = "exhaustive"
    file: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Paper and id, which identify the claim among all papers."""
        return self.paper, self.id

    @property
    def together(self) -> tuple[str, str]:
        """Key of the claims that one process must decide together: the claim's group, or the claim alone."""
        return self.paper, f"group {self.group}" if self.group else self.id

    def decide(self, effort: Effort | None = None) -> Verdict:
        """Return the verdict, by default with full effort."""
        verdict = self.decider(effort or Effort())
        if self.misprint_reason and verdict.outcome == "refuted":
            return replace(verdict, outcome="misprint")
        return verdict

    def report_header(self, effort: Effort) -> dict[str, Any]:
        """Return the fields of a report that do not depend on the verdict."""
        return {
            "paper": self.paper,
            "id": self.id,
            "statement": self.statement,
            "where": self.where,
            "added": self.added,
            "fact": self.fact or self.id,
            "definition": self.definition,
            "method": self.method,
            "misprint_reason": self.misprint_reason,
            "effort": "quick" if effort.quick else "full",
        }

    def report(self, effort: Effort | None = None) -> dict[str, Any]:
        """Decide the claim, and return claim and verdict as data for ``json``."""
        effort = effort or Effort()
        verdict = self.decide(effort)
        return self.report_header(effort) | {
            "outcome": verdict.outcome,
            "checked": verdict.checked,
            "applied": effort.applied,
            "correction": "" if verdict.outcome == "holds" else verdict.correction or self.correction,
            "counterexamples": [counterexample.report() for counterexample in verdict.counterexamples],
        }


class ClaimRegistry:
    """The claims of one paper, in the order in which they were registered; iterates over them.

    Parameters
    ----------
    paper : str
        The paper's short name, which is the name of its package of studies.
    """

    def __init__(self, paper: str) -> None:
        self.paper = paper
        self._claims: dict[str, Claim] = {}

    def claim(
        self, name: str, *, where: str, states: str, **more: Any
    ) -> Callable[[Callable[[Effort], Verdict]], Callable[[Effort], Verdict]]:
        """Return a decorator that registers the decider of claim ``name``.  The other parameters are as in ``Claim``."""

        def register_claim(decider: Callable[[Effort], Verdict]) -> Callable[[Effort], Verdict]:
            if name in self._claims:
                raise ValueError(f"{self.paper} has two claims {name}")
            self._claims[name] = Claim(self.paper, name, where, states, decider, **more)
            return decider

        return register_claim

    def forall(self, name: str, domain: Domain, *, where: str, states: str, **more: Any) -> Callable[[C], C]:
        """Return a decorator that registers a claim whose cases the decorated function checks; the rest as in ``claim``."""

        def register_check(check: C) -> C:
            @functools.wraps(check)
            def decide_cases(effort: Effort) -> Verdict:
                return domain.decide(effort, check)

            self.claim(name, where=where, states=states, method=domain.method, **more)(decide_cases)
            return check

        return register_check

    def sort_by_modules(self, modules: Sequence[str]) -> None:
        """Sort the claims by the order of the modules that declare them, whose full names are ``modules``."""
        ordered = sorted(self._claims.values(), key=lambda claim: modules.index(claim.decider.__module__))
        self._claims = {claim.id: claim for claim in ordered}

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._claims.values())

    def __len__(self) -> int:
        return len(self._claims)

    def __getitem__(self, name: str) -> Claim:
        """Return the claim ``name``.  Raises ParameterError, with the most similar name, if there is no such claim."""
        if name not in self._claims:
            known = dict.fromkeys([*self._claims, *(claim.fact for claim in self if claim.fact)])
            hint = suggest_name(name, known) or f"; it has {', '.join(self._claims) or 'none'}"
            raise ParameterError(f"claim must be one of {self.paper}'s, got {name}{hint}")
        return self._claims[name]

    def named(self, name: str) -> list[Claim]:
        """Return the claim ``name``, or else all claims of the fact ``name``.  Raises ParameterError if there are none."""
        if name not in self._claims:
            claims_of_fact = [claim for claim in self if claim.fact == name]
            if claims_of_fact:
                return claims_of_fact
        return [self[name]]
