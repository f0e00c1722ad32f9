"""Inventories of the papers: every figure, table, theorem and number that a paper prints, with the evidence for each.

``data/PAPER.json`` is the inventory of the paper whose studies are the package ``studies/PAPER``.  ``data/papers.json`` lists the
papers in the order of all lists.  A published result has a statement in fastcube's words, and its printed values with
their digits.  Its evidence is studies, claims or worked examples; or it is a concept, with the reason why it has no data.
``audit/tests/test_inventory.py`` checks the form of every entry, and that all names exist.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from .. import resources
from ..errors import ParameterError, join_alternatives, short_repr, suggest_name

EntryType = TypeVar("EntryType")


@dataclass(frozen=True)
class PrintedNumber:
    """A number as printed.

    Parameters
    ----------
    name : str
        The quantity: ``"N, row 3"``.
    value : int, float or str
        Text for a formula.
    digits : int, optional
        Number of digits after the decimal point, as printed; None for text.
    point : dict
        The study's point of this value, as far as the paper gives it, or None.
    statistic : str
        The statistic of this value, or empty.
    unit : float
        The printed unit in units of the statistic: 102.4 for a percentage of 10,240 channels.
    claim : str
        The claim that decides this number separately; empty if the published result's verdict covers it.
    """

    name: str
    value: int | float | str
    digits: int | None = None
    point: Mapping[str, Any] | None = None
    statistic: str = ""
    unit: float = 1.0
    claim: str = ""


@dataclass(frozen=True)
class Evidence:
    """Evidence for a published result: a claim, an example, or a study with a grid (empty: its first) and a statistic.

    A claim with ``side`` is about a part of the statement or about a related one, so its verdict is not the result's verdict.
    """

    study: str = ""
    grid: str = ""
    statistic: str = ""
    claim: str = ""
    example: str = ""
    side: bool = False


@dataclass(frozen=True)
class PublishedResult:
    """A result that a paper prints: a figure, table, theorem or statement.

    Parameters
    ----------
    id : str
        Its name in the paper's inventory, such as ``figure-8``.
    kind : str
        Its kind: figure, table, theorem, statement, ...
    place : str
        The place in the paper.
    stated : str
        The statement, in fastcube's words because the paper's text is under copyright.
    number : str
        The number of the figure, theorem, ...; empty for a statement.
    interpretations : str
        The codes of the interpretations used, of which ``docs/readings/`` has the text: ``"R5, R6"``.
    printed : tuple of PrintedNumber
        The numbers that it prints.
    shown_by : tuple of Evidence
        Its evidence, the main piece first.
    concept : str
        Why the result has no data, if it has no evidence.
    drawing : str
        The part of a figure that fastcube's drawing lacks.
    title : str
        A title for a statement whose id reads badly.
    """

    id: str
    kind: str
    place: str
    stated: str
    number: str = ""
    interpretations: str = ""
    printed: tuple[PrintedNumber, ...] = ()
    shown_by: tuple[Evidence, ...] = ()
    concept: str = ""
    drawing: str = ""
    title: str = ""


@dataclass(frozen=True)
class Misprint:
    """A passage that an interpretation takes for a misprint: its place, the printed text, and the text to read instead."""

    id: str
    place: str
    printed: str
    instead: str
    interpretations: str = ""


@dataclass(frozen=True)
class Inventory:
    """The published results of one paper.

    Parameters
    ----------
    paper : str
        Its short name, the name of its package of studies.
    title : str
        Its title.
    authors : tuple of str
        Its authors.
    year : int or None
        The year of its publication, None if it is not known.
    published : str
        Where it appeared: a journal, a conference or a university.
    short : str
        The family names of its authors, by which texts name it.
    results : tuple of PublishedResult
        The results that the paper prints, in its order.
    beyond : tuple of PublishedResult
        Results beyond the paper.
    misprints : tuple of Misprint
        Its misprints.
    tables : dict
        Further data as printed, such as the rows of a table, by name.
    """

    paper: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    published: str
    short: str
    results: tuple[PublishedResult, ...]
    beyond: tuple[PublishedResult, ...]
    misprints: tuple[Misprint, ...]
    tables: Mapping[str, Any]

    @property
    def all_results(self) -> tuple[PublishedResult, ...]:
        """All published results, results beyond the paper last."""
        return (*self.results, *self.beyond)

    def result(self, name: str) -> PublishedResult:
        """Return the published result with this id.  Raises ParameterError, with the most similar id, if there is none."""
        known = {result.id: result for result in self.all_results}
        if name not in known:
            raise ParameterError(f"result must be one of {self.paper}'s, got {name}{suggest_name(name, known)}")
        return known[name]

    def value(self, name: str, which: str | None = None) -> float:
        """Return a printed number of a result: the number called ``which``, or its only number.

        Raises ParameterError if there is no such number or several numbers, or for a formula.
        """
        values = [number.value for number in self.result(name).printed if which in (None, number.name)]
        if len(values) != 1:
            called = f" called {which}" if which else ""
            raise ParameterError(f"{self.paper} {name} has {len(values)} printed numbers{called}")
        if isinstance(values[0], str):
            raise ParameterError(f"{self.paper} {name} has a formula in place of a number: {values[0]}")
        return values[0]

    def iter_evidence(self) -> Iterator[tuple[PublishedResult, Evidence]]:
        """Yield every published result with each piece of its evidence."""
        return ((result, evidence) for result in self.all_results for evidence in result.shown_by)


def papers() -> tuple[str, ...]:
    """Return the names of the papers in their order.  Raises ParameterError if the package's data are damaged."""
    names = resources.read_json("papers")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise ParameterError("data/papers.json of this installation is damaged: it must be a list of names")
    return tuple(names)


@functools.cache
def inventory(paper: str) -> Inventory:
    """Return the inventory of a paper.  Raises ParameterError if the name is unknown or the data are malformed."""
    if paper not in papers():
        raise ParameterError(f"paper must be {join_alternatives(papers())}, got {paper}{suggest_name(paper, papers())}")
    with resources.wrap_damage_errors(paper):
        return parse_inventory(resources.read_json(paper))


def parse_inventory(data: Mapping[str, Any]) -> Inventory:
    """Return the inventory in parsed JSON.

    Raises ParameterError for a missing, unknown or repeated name, or for entries that are not a list of objects.
    """
    names = {field.name for field in fields(Inventory)} - {"tables"}
    where = f"data/{data.get('paper', '?')}.json"
    if lacking := names - data.keys():
        raise ParameterError(f"{where} lacks {', '.join(sorted(lacking))}")
    results = _parse_list(_parse_result, data, "results", where)
    beyond = _parse_list(_parse_result, data, "beyond", where)
    misprints = _parse_list(_parse_misprint, data, "misprints", where)
    found = [result.id for result in (*results, *beyond)] + [f"misprint {misprint.id}" for misprint in misprints]
    if twice := sorted({name for name in found if found.count(name) > 1}):
        raise ParameterError(f"{where} must have one entry for each id, got two of {', '.join(twice)}")
    return Inventory(
        **{name: data[name] for name in ("paper", "title", "year", "published", "short")},
        authors=tuple(data["authors"]),
        tables={name: value for name, value in data.items() if name not in names},
        results=results,
        beyond=beyond,
        misprints=misprints,
    )


def _parse_list(
    parse: Callable[[Mapping[str, Any], str], EntryType], data: Mapping[str, Any], name: str, where: str
) -> tuple[EntryType, ...]:
    """Return the entries of the list ``name``, each parsed by ``parse(entry, where)``, where messages name the entry's id."""
    return tuple(parse(entry, f"{where}: {entry.get('id', '?')}") for entry in _list_entries(data, name, where))


def _list_entries(holder: Mapping[str, Any], name: str, where: str) -> Sequence[Mapping[str, Any]]:
    """Return the entries of the list ``name``, none if it is missing.  Raises ParameterError unless all are JSON objects."""
    entries = holder.get(name, ())
    if not isinstance(entries, (list, tuple)) or not all(isinstance(entry, dict) for entry in entries):
        raise ParameterError(f"{where}: {name} must be a list of objects, got {short_repr(entries)}")
    return entries


def _parse_entry(kind: type[EntryType], entry: Mapping[str, Any], where: str) -> EntryType:
    """Return an entry as an object of the dataclass ``kind``.  Raises ParameterError for unknown or missing fields."""
    if unknown := entry.keys() - {field.name for field in fields(kind)}:  # type: ignore[arg-type]
        raise ParameterError(f"{where} has {', '.join(sorted(unknown))}, which {kind.__name__} does not")
    try:
        return kind(**entry)
    except TypeError as error:
        raise ParameterError(f"{where}: {error}") from None


def _parse_result(entry: Mapping[str, Any], where: str) -> PublishedResult:
    """Return a published result with its printed numbers and its evidence.  Raises ParameterError as ``_parse_entry``."""
    nested = {
        name: tuple(_parse_entry(kind, part, f"{where}, {name}") for part in _list_entries(entry, name, where))
        for name, kind in (("printed", PrintedNumber), ("shown_by", Evidence))
    }
    return _parse_entry(PublishedResult, {**entry, **nested}, where)


def _parse_misprint(entry: Mapping[str, Any], where: str) -> Misprint:
    """Return a misprint.  Raises ParameterError as ``_parse_entry``."""
    return _parse_entry(Misprint, entry, where)
