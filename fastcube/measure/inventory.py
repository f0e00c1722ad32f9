"""The inventories of the papers: every figure, table, theorem and number that they print, and what shows each.

``data/PAPER.json`` is the inventory of the paper whose studies are the package ``studies/PAPER``; ``data/papers.json`` lists the
papers in the order in which they are told.  An item is stated in our own words, with its printed values and their digits; it is
shown by studies, claims or worked examples, or is a concept with a reason.  ``tests/audit/test_inventory.py`` holds every
item to its form, and every name to what there is.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from .. import resources
from ..errors import ParameterError, join_alternatives, suggest_name

EntryType = TypeVar("EntryType")


@dataclass(frozen=True)
class PrintedNumber:
    """A number as printed.

    Parameters
    ----------
    name : str
        What it is of: ``"N, row 3"``.
    value : int, float or str
        Text where it is a formula.
    digits : int, optional
        Digits after the point, as printed; None for text.
    point : dict
        The point of a study that it is a value at, as far as the paper tells; None elsewhere.
    statistic : str
        The statistic whose value it is; empty where there is none.
    unit : float
        What it is printed in, of the statistic's own: 102.4 for a percentage of 10,240 channels.
    claim : str
        The claim that decides this number by itself; empty where the item's verdict is its own.
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
    """What shows an item: a claim, an example, or a study with a grid (its first if empty) and a statistic.

    A claim that stands at the ``side`` is about a part or a neighbour of what the item states: the item's verdict is not its.
    """

    study: str = ""
    grid: str = ""
    statistic: str = ""
    claim: str = ""
    example: str = ""
    side: bool = False


@dataclass(frozen=True)
class PublishedResult:
    """One thing that a paper prints.

    Parameters
    ----------
    id, kind : str
        Its name in the paper's inventory, such as ``figure-8``, and what it is: figure, table, theorem, statement, ...
    place : str
        Where in the paper it stands.
    stated : str
        What it says, in our own words: the papers' sentences are theirs.
    number : str
        Of a figure, a theorem, ...; empty for a statement.
    reading : str
        The codes of the readings that are used: ``"R5, R6"``.
    printed : tuple of Printed
    shown_by : tuple of Shown
    concept : str
        Why there is no data in it, where nothing shows it.
    drawing : str
        What is lacking of a figure's drawing.
    title : str
        What a statement is called, where its id in words reads badly.
    """

    id: str
    kind: str
    place: str
    stated: str
    number: str = ""
    reading: str = ""
    printed: tuple[PrintedNumber, ...] = ()
    shown_by: tuple[Evidence, ...] = ()
    concept: str = ""
    drawing: str = ""
    title: str = ""


@dataclass(frozen=True)
class Misprint:
    """Words that a reading takes for a slip: where, as printed, what is read instead and by which reading."""

    id: str
    place: str
    printed: str
    instead: str
    reading: str = ""


@dataclass(frozen=True)
class Inventory:
    """All items of one paper, in its order; ``beyond`` is what is measured besides, ``tables`` further data as they stand."""

    paper: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    published: str
    short: str
    items: tuple[PublishedResult, ...]
    beyond: tuple[PublishedResult, ...]
    misprints: tuple[Misprint, ...]
    tables: Mapping[str, Any]

    @property
    def all(self) -> tuple[PublishedResult, ...]:
        """Every item, those beyond the paper last."""
        return (*self.items, *self.beyond)

    def item(self, name: str) -> PublishedResult:
        """The item of that id.  Raises ParameterError with the nearest one where there is none."""
        known = {item.id: item for item in self.all}
        if name not in known:
            raise ParameterError(f"item must be one of {self.paper}'s, got {name}{suggest_name(name, known)}")
        return known[name]

    def value(self, name: str, which: str | None = None) -> float:
        """A printed number of an item: its only one, or the one of that name.  Raises ParameterError elsewhere."""
        found = [p for p in self.item(name).printed if which in (None, p.name)]
        if len(found) != 1 or isinstance(found[0].value, str):
            raise ParameterError(f"{self.paper} {name} has {len(found)} printed numbers {which or ''}")
        return found[0].value

    def evidence_by_item(self) -> Iterator[tuple[PublishedResult, Evidence]]:
        """Every item with each thing that shows it."""
        return ((item, shown) for item in self.all for shown in item.shown_by)


# ---------------------------------------------------------------- reading


def papers() -> tuple[str, ...]:
    """The papers in the order in which they are told.  Raises ParameterError where the package's data are damaged."""
    names = resources.read_json("papers")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise ParameterError("data/papers.json of this installation is damaged: it is no list of names")
    return tuple(names)


@functools.cache
def inventory(paper: str) -> Inventory:
    """The inventory of a paper.  Raises ParameterError, one line, for another name or where its data are malformed."""
    if paper not in papers():
        raise ParameterError(f"paper must be {join_alternatives(papers())}, got {paper}{suggest_name(paper, papers())}")
    with resources.wrap_damage_errors(paper):
        return parse_inventory(resources.read_json(paper))


def parse_inventory(data: Mapping[str, Any]) -> Inventory:
    """The inventory that parsed JSON holds.  Raises ParameterError, one line, where it is malformed."""
    names = {field.name for field in fields(Inventory)} - {"tables"}
    where = f"data/{data.get('paper', '?')}.json"
    if lacking := names - data.keys():
        raise ParameterError(f"{where} lacks {', '.join(sorted(lacking))}")
    items, beyond = (
        tuple(_parse_item(e, f"{where}: {e.get('id', '?')}") for e in data[name]) for name in ("items", "beyond")
    )
    misprints = tuple(_parse_entry(Misprint, e, f"{where}: {e.get('id', '?')}") for e in data["misprints"])
    found = [thing.id for thing in (*items, *beyond)] + [f"misprint {slip.id}" for slip in misprints]
    if twice := sorted({name for name in found if found.count(name) > 1}):
        raise ParameterError(f"{where} has two items {', '.join(twice)}")
    return Inventory(
        **{name: data[name] for name in ("paper", "title", "year", "published", "short")},
        authors=tuple(data["authors"]),
        tables={name: value for name, value in data.items() if name not in names},
        items=items,
        beyond=beyond,
        misprints=misprints,
    )


def _parse_entry(kind: type[EntryType], entry: Mapping[str, Any], where: str) -> EntryType:
    """A dataclass of an entry's values; an entry that it does not know is an error."""
    if unknown := entry.keys() - {field.name for field in fields(kind)}:  # type: ignore[arg-type]
        raise ParameterError(f"{where} has {', '.join(sorted(unknown))}, which {kind.__name__} does not")
    try:
        return kind(**entry)
    except TypeError as error:
        raise ParameterError(f"{where}: {error}") from None


def _parse_item(entry: Mapping[str, Any], where: str) -> PublishedResult:
    printed = tuple(_parse_entry(PrintedNumber, p, f"{where}, printed") for p in entry.get("printed", ()))
    shown = tuple(_parse_entry(Evidence, s, f"{where}, shown_by") for s in entry.get("shown_by", ()))
    return _parse_entry(PublishedResult, {**entry, "printed": printed, "shown_by": shown}, where)
