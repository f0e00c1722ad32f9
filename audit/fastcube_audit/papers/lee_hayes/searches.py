"""How claims about messages or broadcasts are decided: in all small cases, and in larger cases by randomised search."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...claims import Counterexample, Effort, Method, Verdict
from .worlds import (
    Objective,
    World,
    checked_range,
    climbing_messages,
    crowded_messages,
    searched_range,
    worlds,
)

#: Check of a case: the counterexample, or None.
Check = Callable[[World, int, int], Counterexample | None]


@dataclass(frozen=True)
class Search:
    """A search of all small cases and, except with faulty links, of random large cases; a check tests the case (s, t) of a world.

    If the claim applies to no case, the verdict is undecided.

    Parameters
    ----------
    kind : str
        Name of the cases, in the plural.
    order : str
        Description of the order of the small cases.
    ends : callable
        The (s, t) of a world.
    objective : callable
        The quantity that the claim bounds, which greedy climbs increase.
    links : bool
        Whether links are faulty, too.
    within : callable
        Whether the claim may apply in a world.
    applies : callable
        Whether the claim applies to a case of such a world.
    more : callable, optional
        From the effort, a text and worlds that are tried after the small ones.
    """

    kind: str
    order: str
    ends: Callable[[World], Iterable[tuple[int, int]]]
    objective: Objective
    links: bool = False
    within: Callable[[World], bool] = lambda world: True
    applies: Callable[[World, int, int], bool] = lambda world, s, t: True
    more: Callable[[Effort], tuple[str, Iterable[World]]] = lambda effort: ("", ())

    @property
    def method(self) -> Method:
        """Cases with faulty links are all tried, others are also sampled at random."""
        return "exhaustive" if self.links else "random"

    def decide(self, effort: Effort, check: Check) -> Verdict:
        """Return the verdict: refuted by the first counterexample that ``check`` finds."""
        text, more = self.more(effort)
        where = checked_range(effort, self.links, self.kind) + text
        for world in effort.each(itertools.chain(worlds(effort, self.links), more)):
            for s, t in self.ends(world):
                if (found := self.check_case(effort, check, world, s, t)) is not None:
                    return Verdict("refuted", f"{self.order}; {where}", found)
        if not self.links:
            before = effort.applied
            sampled = itertools.chain(crowded_messages(effort), climbing_messages(effort, self.within, self.objective))
            for case in effort.each(sampled, "random search"):
                if (found := self.check_case(effort, check, *case)) is not None:
                    return Verdict("refuted", f"holds for {where}; searched at random above", found)
            where += f"; {searched_range(effort, self.kind)}, of which it applied to {effort.applied - before:,}"
        return Verdict("holds" if effort.applied else "undecided", where)

    def check_case(self, effort: Effort, check: Check, world: World, s: int, t: int) -> Counterexample | None:
        """Return the result of ``check``, and count the case, if the claim applies to it; else None."""
        applies = self.within(world) and self.applies(world, s, t)
        return check(world, s, t) if effort.count_if_applicable(applies) else None


@dataclass(frozen=True)
class Attained:
    """An existence statement: a check returns some small case of a search as an example."""

    search: Search
    order: str
    method: Method = "exhaustive"

    def decide(self, effort: Effort, check: Check) -> Verdict:
        """Return "holds" with the first example that ``check`` finds, or "undecided" if there is none."""
        for world in effort.each(worlds(effort)):
            for s, t in self.search.ends(world):
                if (found := self.search.check_case(effort, check, world, s, t)) is not None:
                    return Verdict("holds", f"the first {self.order}", found)
        return Verdict("undecided", f"none in {checked_range(effort, what=self.search.kind)}")
