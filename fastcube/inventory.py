"""The inventories of the papers: every figure, table, theorem and number that they print, and what shows each.

``data/PAPER.json`` is the inventory of the paper whose studies are the package ``studies/PAPER``; ``data/papers.json`` lists the
papers in the order in which they are told.  An item is quoted as printed, with its printed values and their digits; it is
shown by studies, claims or worked examples, or is a concept with a reason.  Reading checks the form of every item;
:func:`missing` looks up the names, which loads the studies.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from . import packaged
from .errors import ParameterError, listed, nearest

if TYPE_CHECKING:
    from .engine.study import Study

#: What an item can be; each but a statement has a number.
KINDS = (
    "figure", "table", "theorem", "lemma", "corollary", "property", "algorithm", "equation", "example", "statement",
)  # fmt: skip

Made = TypeVar("Made")


@dataclass(frozen=True)
class Printed:
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
class Shown:
    """What shows an item: a claim, an example, or a study with a grid (its first if empty) and a statistic."""

    study: str = ""
    grid: str = ""
    statistic: str = ""
    claim: str = ""
    example: str = ""


@dataclass(frozen=True)
class Item:
    """One thing that a paper prints.

    Parameters
    ----------
    id, kind : str
        Its name in the paper's inventory, such as ``figure-8``, and one of :data:`KINDS`.
    place : str
        Where in the paper it stands.
    quote : str
        Its words as printed; what a reading adds stands in square brackets.
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
    quote: str
    number: str = ""
    reading: str = ""
    printed: tuple[Printed, ...] = ()
    shown_by: tuple[Shown, ...] = ()
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
    items: tuple[Item, ...]
    beyond: tuple[Item, ...]
    misprints: tuple[Misprint, ...]
    tables: Mapping[str, Any]

    def item(self, name: str) -> Item:
        """The item of that id.  Raises ParameterError with the nearest one where there is none."""
        known = {item.id: item for item in (*self.items, *self.beyond)}
        if name not in known:
            raise ParameterError(f"item must be one of {self.paper}'s, got {name}{nearest(name, known)}")
        return known[name]

    def value(self, name: str, which: str | None = None) -> float:
        """A printed number of an item: its only one, or the one of that name.  Raises ParameterError elsewhere."""
        found = [p for p in self.item(name).printed if which in (None, p.name)]
        if len(found) != 1 or isinstance(found[0].value, str):
            raise ParameterError(f"{self.paper} {name} has {len(found)} printed numbers {which or ''}")
        return found[0].value

    def shown(self) -> Iterator[tuple[Item, Shown]]:
        """Every item, those beyond the paper too, with each thing that shows it."""
        return ((item, shown) for item in (*self.items, *self.beyond) for shown in item.shown_by)


# ---------------------------------------------------------------- reading


def papers() -> tuple[str, ...]:
    """The papers in the order in which they are told.  Raises ParameterError where the package's data are damaged."""
    names = packaged.read("papers")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise ParameterError("data/papers.json of this installation is damaged: it is no list of names")
    return tuple(names)


@functools.cache
def inventory(paper: str) -> Inventory:
    """The inventory of a paper.  Raises ParameterError, one line, for another name or where its data are malformed."""
    if paper not in papers():
        raise ParameterError(f"paper must be {listed(papers())}, got {paper}{nearest(paper, papers())}")
    with packaged.data_of(paper):
        return of_data(packaged.read(paper))


def of_data(data: Mapping[str, Any]) -> Inventory:
    """The inventory that parsed JSON holds.  Raises ParameterError, one line, where it is malformed."""
    names = {field.name for field in fields(Inventory)} - {"tables"}
    where = f"data/{data.get('paper', '?')}.json"
    if lacking := names - data.keys():
        raise ParameterError(f"{where} lacks {', '.join(sorted(lacking))}")
    items, beyond = (
        tuple(_item(e, f"{where}: {e.get('id', '?')}") for e in data[name]) for name in ("items", "beyond")
    )
    misprints = tuple(_made(Misprint, e, f"{where}: {e.get('id', '?')}") for e in data["misprints"])
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


def _made(kind: type[Made], entry: Mapping[str, Any], where: str) -> Made:
    """A dataclass of an entry's values; an entry that it does not know is an error."""
    if unknown := entry.keys() - {field.name for field in fields(kind)}:  # type: ignore[arg-type]
        raise ParameterError(f"{where} has {', '.join(sorted(unknown))}, which {kind.__name__} does not")
    try:
        return kind(**entry)
    except TypeError as error:
        raise ParameterError(f"{where}: {error}") from None


def _item(entry: Mapping[str, Any], where: str) -> Item:
    printed = tuple(_made(Printed, p, f"{where}, printed") for p in entry.get("printed", ()))
    shown = tuple(_made(Shown, s, f"{where}, shown_by") for s in entry.get("shown_by", ()))
    item = _made(Item, {**entry, "printed": printed, "shown_by": shown}, where)
    if wrong := _wrong(item):
        raise ParameterError(f"{where} {wrong}")
    return item


def _wrong(item: Item) -> str:
    """What an item breaks of the rules of the form, the first of it; empty where it breaks none."""
    rules = {
        f"has the kind {item.kind}, which must be {listed(KINDS)}": item.kind not in KINDS,
        "is a statement with a number": item.kind == "statement" and bool(item.number),
        f"is a {item.kind} without a number": item.kind != "statement" and not item.number,
        "has no words or no place": not item.quote or not item.place,
        "must either be shown by something or be a concept": bool(item.shown_by) == bool(item.concept),
        "is shown by something that is not exactly one study, claim or example": any(
            sum(map(bool, (shown.study, shown.claim, shown.example))) != 1 for shown in item.shown_by
        ),
        "is shown by a study without a statistic, or by a grid or statistic without a study": any(
            bool(shown.study) != bool(shown.statistic) or (shown.grid and not shown.study) for shown in item.shown_by
        ),
    }
    rules |= {f"prints {p.name} with other digits than it has": _misfit(p) for p in item.printed}
    return next((rule for rule, broken in rules.items() if broken), "")


def _misfit(p: Printed) -> bool:
    """Whether digits are given for a text, none for a number, or fewer than it has."""
    if isinstance(p.value, str) or p.digits is None:
        return isinstance(p.value, str) != (p.digits is None)
    return round(p.value, p.digits) != p.value


# ---------------------------------------------------------------- names


def missing(found: Inventory) -> list[str]:
    """What an inventory names and is not there, and which of the paper's studies and claims it does not name; one line each.

    Loads the studies.
    """
    from .engine import registry

    module = next((m for m in registry.modules() if m.__name__.rpartition(".")[2] == found.paper), None)
    if module is None:
        return [f"{found.paper} has no package of studies"]
    every = registry.studies()
    claims = {claim.id for claim in module.ledger()}
    examples = registry.examples(found.paper)
    out = []
    for item, shown in found.shown():
        if shown.study:
            out += [f"{found.paper} {item.id}: {line}" for line in _of_study(shown, every)]
        if shown.claim and shown.claim not in claims:
            out.append(f"{found.paper} {item.id}: there is no claim {shown.claim}")
        if shown.example and shown.example not in examples:
            out.append(f"{found.paper} {item.id}: there is no example {shown.example}")
    out += [
        f"{found.paper} {item.id}: there is no claim {printed.claim}"
        for item in found.items
        for printed in item.printed
        if printed.claim and printed.claim not in claims
    ]
    named = {kind: {getattr(shown, kind) for _, shown in found.shown()} for kind in ("study", "claim", "example")}
    own = {"study": {study.name for study in module.STUDIES}, "claim": claims, "example": set(examples)}
    out += [
        f"{found.paper} {kind} {name} is not in its inventory"
        for kind in own
        for name in sorted(own[kind] - named[kind])
    ]
    return out


def _of_study(shown: Shown, every: Mapping[str, Study]) -> Iterator[str]:
    if shown.study not in every:
        yield f"there is no study {shown.study}"
        return
    study = every[shown.study]
    if shown.grid and shown.grid not in {grid.name for grid in study.grids}:
        yield f"{study.name} has no grid {shown.grid}"
    if shown.statistic not in {statistic.name for statistic in study.statistics}:
        yield f"{study.name} has no statistic {shown.statistic}"
