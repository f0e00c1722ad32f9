"""The tallies of the kernels of routing rules: counters of each rule, of existing paths, and of the nodes' safety statuses."""

from collections.abc import Sequence
from typing import Any

from ..tally.layout import Counter, Layout, Maximum, Moments

#: Indices in ``params`` of the axes of ``routing-rules`` and ``safety-status``.
N, F, LINKS = range(3)
#: Index in ``params`` of the rate of ``routing-rules-rate``; N is as above.
RATE = 1
#: Index in ``params`` of the first element of the fault set, for kernels of all fault sets.
FIRST_ELEMENT = 3

#: The rules of the study ``routing-rules`` in the order of its table, as counters name them.
NAMES = ("route", "route1", "route3", "levels", "vectors", "a1", "dfs", "sidetrack")
#: Rules that need no safety status.
BLIND_RULES = ("route", "route1", "a1", "dfs", "sidetrack")
#: Rules whose status promises a path for each accepted message.  Lanes rely on Wu's theorem for that; ``scalar`` simulates.
PROMISING_RULES = ("levels", "vectors")
#: Rules that may go to another nonfaulty preferred neighbour than the first one: to an active one, or to one at random.
WANDERING_RULES = ("route3", "sidetrack")
#: Rules of the study ``routing-rules`` that are compared with LEVELS, trial by trial.  In other tables all rules are compared
#: with the reference rule, if it is in the table.
COMPARED_RULES = ("route3", "vectors", "a1")
#: Largest number of rules in a table.
MOST_RULES = 64
#: The reference rule of a comparison, if it is not chosen.
REFERENCE = "levels"
#: The definitions of safe nodes that the study ``safety-status`` compares.
STATUS_NAMES = ("lee_hayes", "wu_fernandez", "levels", "vectors")


def fallback_of(rule: Any) -> Any:
    """Return the block that ``first_path`` wrapped to make ``rule``; None for any other rule."""
    return getattr(getattr(rule, "py_func", rule), "_first_path_of", None)


def compared_rules(names: Sequence[str], reference: str = REFERENCE) -> tuple[str, ...]:
    """Return the rules that are compared with the reference rule; none if it is not in ``names``."""
    if tuple(names) == NAMES and reference == REFERENCE:
        return COMPARED_RULES
    return tuple(name for name in names if name != reference and reference in names)


def promising_rules(names: Sequence[str]) -> tuple[str, ...]:
    """Return the rules whose safety statuses promise a path."""
    return tuple(name for name in names if name in PROMISING_RULES)


def _route_counters(name: str) -> tuple[Counter | Moments, ...]:
    """Return the counters of a rule's routes."""
    rule = name.upper()
    return (
        Counter(f"{name}_delivered", f"{rule}'s messages delivered"),
        Counter(f"{name}_at_hamming", f"{rule}'s messages delivered over the Hamming distance"),
        Moments(
            f"{name}_extra_links",
            f"links beyond the Hamming distance on {rule}'s delivered routes",
            squared=f"{name}_extra_squares",
            nonzero=f"{name}_above_hamming",
        ),
        Counter(f"{name}_limit", f"{rule}'s messages cut off at its most hops"),
    )


def _rule_counters(name: str) -> tuple[Counter | Moments, ...]:
    """Return the counters of a rule: of its routes, its refusals, and the paths that it misses."""
    rule = name.upper()
    return (
        *_route_counters(name),
        Counter(f"{name}_refused", f"messages that {rule} refuses"),
        Counter(f"{name}_unknown", f"messages of which {rule}'s statuses are not computed"),
        Counter(f"{name}_loss", f"trials with a feasible path in which {rule} does not deliver (n <= 12)"),
    )


def make_layout(names: Sequence[str], reference: str = REFERENCE) -> Layout:
    """Return the tally of a table of rules under f faulty nodes and K faulty links, each compared with the reference rule."""
    compared = compared_rules(names, reference)
    return Layout(
        *(counter for name in names for counter in _rule_counters(name)),
        *(
            Counter(f"{name}_diff", f"deliveries of {name.upper()} less those of {reference.upper()}")
            for name in compared
        ),
        *(  # trials in which exactly one of the two delivers
            Counter(f"{name}_differs", f"trials in which one of {name.upper()} and {reference.upper()} delivers")
            for name in compared
        ),
        Counter("reachable", "trials with a feasible path (n <= 12)"),
        Counter("hamming_path_exists", "trials with a feasible path over the Hamming distance"),
        Counter("hamming_path_known", "trials in which that is known: fewer than H faults between, or H <= 24"),
        *(
            Maximum(f"{name}_most", f"most links beyond the Hamming distance on a delivered route of {name.upper()}")
            for name in names
        ),
        *(
            Maximum(
                f"{name}_wrong", f"1 where {name.upper()} accepts and does not deliver over H or H + 2 links: never"
            )
            for name in promising_rules(names)
        ),
    )


#: Tally of the study ``routing-rules``.
ROUTING_RULES = make_layout(NAMES)


#: Tally of the study ``routing-rules-rate``.
ROUTING_RULES_RATE = Layout(
    Counter("valid", "trials with two nonfaulty ends; the others are discarded"),
    *(counter for name in BLIND_RULES for counter in _route_counters(name)),
    *(
        Maximum(f"{name}_most", f"most links beyond the Hamming distance on a delivered route of {name.upper()}")
        for name in BLIND_RULES
    ),
)

#: Tally of the study ``safety-status``.  Sums of up to 2^62 nodes per trial take several slots.
SAFETY_STATUS = Layout(
    *(
        counter
        for name in STATUS_NAMES
        for counter in (
            Moments(f"{name}_nodes", f"nodes that {name} calls safe", 2, 4, f"{name}_squares", f"{name}_some"),
            Moments(f"{name}_steps", f"rounds of {name}", 1, 1, f"{name}_steps_squares", f"{name}_steps_some"),
        )
    ),
    Counter("known", "trials whose statuses are computed: no unsafe subcube has more than 20 dimensions"),
    *(Maximum(f"{name}_most_rounds", f"most rounds of {name}") for name in STATUS_NAMES),
)
