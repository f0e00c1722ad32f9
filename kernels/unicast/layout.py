"""The tallies of the unicast kernels by name: what is counted of each rule, of what is possible, and of the nodes' words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..tally.layout import Counter, Extreme, Layout, Moments

#: Places of the axes of ``rivals`` and ``rivals-status`` among a point's parameters.
N, F, LINKS = range(3)
#: Place of the rate among those of ``rivals-rate``; N is as above.
RATE = 1
#: Behind the parameters of a kernel of all fault sets: the first of the set's numbers.
FIRST_NUMBER = 3

#: The rules of study ``rivals`` in the order of its table, as they are called in counters.
NAMES = ("route", "route1", "route3", "levels", "vectors", "a1", "dfs", "sidetrack")
#: Those that walk without any node's word.
BLIND_RULES = ("route", "route1", "a1", "dfs", "sidetrack")
#: Whose words promise a path: among what they accept nothing may go wrong.  Lanes take that from Wu's theorem; `single` walks.
PROMISING_RULES = ("levels", "vectors")
#: Who may leave the nearer neighbours though one of them is nonfaulty.
WANDERING_RULES = ("route3", "sidetrack")
#: Compared with LEVELS, trial by trial.
COMPARED_RULES = ("route3", "vectors", "a1")
#: The words of study ``rivals-status``.
STATUS_NAMES = ("unsafe", "wu_fernandez", "levels", "vectors")


def fallback_of(rule: Any) -> Any:
    """Of a rule that ``first_path`` made the block that it made it of; None for any other."""
    return getattr(getattr(rule, "py_func", rule), "_first_path_of", None)


def compared_rules(names: Sequence[str]) -> tuple[str, ...]:
    """Those of the rules that are compared with LEVELS, where that is among them."""
    return tuple(name for name in names if name in COMPARED_RULES and "levels" in names)


def promising_rules(names: Sequence[str]) -> tuple[str, ...]:
    """Those of the rules whose words promise a path."""
    return tuple(name for name in names if name in PROMISING_RULES)


def _route_counters(name: str) -> tuple[Counter | Moments, ...]:
    """What is counted of one rule's ways."""
    rule = name.upper()
    return (
        Counter(f"{name}_delivered", f"{rule}'s messages delivered"),
        Counter(f"{name}_minimal", f"{rule}'s messages delivered over the Hamming distance"),
        Moments(
            f"{name}_extra_links",
            f"links beyond the Hamming distance on {rule}'s delivered ways",
            squared=f"{name}_extra_squares",
            nonzero=f"{name}_detours",
        ),
        Counter(f"{name}_limit", f"{rule}'s messages cut off at its most hops"),
    )


def _rule_counters(name: str) -> tuple[Counter | Moments, ...]:
    """What is counted of one rule."""
    rule = name.upper()
    return (
        *_route_counters(name),
        Counter(f"{name}_refused", f"messages that {rule} refuses"),
        Counter(f"{name}_unknown", f"messages of which {rule}'s words are not computed"),
        Counter(f"{name}_loss", f"trials with a feasible path in which {rule} does not deliver (n <= 12)"),
    )


def make_layout(names: Sequence[str]) -> Layout:
    """The tally of a table of rules on f faulty nodes and K faulty links."""
    return Layout(
        *(counter for name in names for counter in _rule_counters(name)),
        *(
            Counter(f"{name}_gain", f"deliveries of {name.upper()} less those of LEVELS")
            for name in compared_rules(names)
        ),
        *(
            Counter(f"{name}_apart", f"trials in which one of {name.upper()} and LEVELS delivers")
            for name in compared_rules(names)
        ),
        Counter("reachable", "trials with a feasible path (n <= 12)"),
        Counter("minimal_exists", "trials with a feasible path over the Hamming distance"),
        Counter("minimal_known", "trials in which that is known: fewer than H faults between, or H <= 24"),
        *(
            Extreme(f"{name}_most", f"most links beyond the Hamming distance on a delivered way of {name.upper()}")
            for name in names
        ),
        *(
            Extreme(
                f"{name}_wrong", f"1 where {name.upper()} accepts and does not deliver over H or H + 2 links: never"
            )
            for name in promising_rules(names)
        ),
    )


#: Study ``rivals``.
RIVALS = make_layout(NAMES)


#: Study ``rivals-rate``.
RIVALS_RATE = Layout(
    Counter("valid", "trials with two nonfaulty ends; the others are void"),
    *(counter for name in BLIND_RULES for counter in _route_counters(name)),
    *(
        Extreme(f"{name}_most", f"most links beyond the Hamming distance on a delivered way of {name.upper()}")
        for name in BLIND_RULES
    ),
)

#: Study ``rivals-status``.  Sums of up to 2^62 nodes a trial have digits.
RIVALS_STATUS = Layout(
    *(
        counter
        for word in STATUS_NAMES
        for counter in (
            Moments(f"{word}_nodes", f"nodes that {word} calls safe", 2, 4, f"{word}_squares", f"{word}_some"),
            Moments(f"{word}_steps", f"rounds of {word}", 1, 1, f"{word}_steps_squares", f"{word}_steps_some"),
        )
    ),
    Counter("known", "trials whose words are computed: no unsafe subcube has more than 20 dimensions"),
    *(Extreme(f"{word}_most_rounds", f"most rounds of {word}") for word in STATUS_NAMES),
)
