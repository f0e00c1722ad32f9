"""The statistics of a table of routing rules, and the notes that compare its rules with the reference rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..kernels.routing_rules.layout import NAMES, PROMISING_RULES, compared_rules
from .asymptotic import NormalMean
from .random_messages import is_searched
from .standing import describe_standing
from .statistics import PairedDifference, Proportion, Statistic

#: The number of hops after which a rule gives a message up, in descriptions.
_MOST_HOPS = {"dfs": "2^16", "sidetrack": "8n"}
#: Why a rule refuses a message, in descriptions.
_REFUSALS = {
    "route3": ", because no node is active",
    **dict.fromkeys(("levels", "vectors"), ", because its statuses promise no path"),
}


def _title_of(name: str) -> str:
    """Return a rule's name in capital letters, with its radius if it has one: these studies have no axis for it."""
    return name.upper() + ("(1)" if name in ("route1", "route3") else "")


def make_rule_statistics(
    name: str, condition: str | None = None, can_refuse: bool = False, can_give_up: bool = False
) -> list[Statistic]:
    """Return the statistics of a rule: fractions delivered and delivered over the Hamming distance, and extra links.

    A rule that ``can_refuse`` messages also has the fraction refused, and a rule that ``can_give_up`` the fraction given up after
    its largest number of hops.
    """
    rule = _title_of(name)

    def make_proportion(outcome: str, description: str, shown: bool = False) -> Proportion:
        return Proportion(name=f"{name}_{outcome}", description=description, condition=condition, shown=shown)

    out: list[Statistic] = [
        make_proportion(
            "delivered",
            f"fraction of all messages, each between two random nonfaulty nodes, that {rule} delivers",
            shown=True,
        ),
        make_proportion(
            "at_hamming", f"fraction of all messages that {rule} delivers in as many links as the Hamming distance"
        ),
        NormalMean(
            name=f"{name}_extra_links",
            description="mean number of hops, steps back included, minus the Hamming distance, among messages that "
            f"{rule} delivers",
            total=f"{name}_extra_links",
            squares=f"{name}_extra_squares",
            nonzero=f"{name}_above_hamming",
            condition=f"{name}_delivered",
            shown=False,
        ),
    ]
    if can_refuse:
        reason = _REFUSALS.get(name, "")
        out.append(make_proportion("refused", f"fraction of all messages that {rule} refuses to send{reason}"))
    if can_give_up:
        hops = _MOST_HOPS.get(name, "its largest number of")
        out.append(make_proportion("limit", f"fraction of all messages that {rule} gives up after {hops} hops"))
    return out


def make_table_statistics(names: Sequence[str], reference: str) -> tuple[Statistic, ...]:
    """Return the statistics of a table: of each rule, the losses, the differences from the reference rule, and two of paths."""
    out: list[Statistic] = []
    for name in names:
        is_users = name not in NAMES
        can_refuse = is_users or name in (*PROMISING_RULES, "route3")
        out += make_rule_statistics(name, None, can_refuse, can_give_up=is_users or name in _MOST_HOPS)
    out += [_make_loss(name) for name in names]
    out += [_make_difference(name, reference) for name in compared_rules(names, reference)]
    reachable = Proportion(
        name="reachable",
        description="fraction of all messages whose source and destination a nonfaulty path joins (n <= 12)",
        defined=is_searched,
        shown=False,
    )
    minimal = Proportion(
        name="hamming_path_exists",
        description="fraction of messages with a nonfaulty path as long as the Hamming distance H, among messages with "
        "H <= 24 or fewer than H faults between the ends",
        condition="hamming_path_known",
        shown=False,
    )
    return *out, reachable, minimal


def _make_loss(name: str) -> PairedDifference:
    """Return the fraction of messages that a rule loses compared with the reachable messages."""
    return PairedDifference(
        name=f"{name}_loss",
        description=f"fraction of all messages that {_title_of(name)} does not deliver though a nonfaulty path exists (n <= 12)",
        total=f"{name}_loss",
        nonzero=f"{name}_loss",
        defined=is_searched,
        shown=False,
    )


def _make_difference(name: str, reference: str) -> PairedDifference:
    """Return the fraction that a rule delivers minus the fraction that the reference rule delivers."""
    return PairedDifference(
        name=_name_difference(name, reference),
        description=f"fraction of all messages that {_title_of(name)} delivers minus fraction that {_title_of(reference)} "
        "delivers",
        total=f"{name}_diff",
        nonzero=f"{name}_differs",
        shown=False,
    )


def _name_difference(name: str, reference: str) -> str:
    """Return the name of the statistic that compares a rule with the reference rule."""
    return f"{name}_minus_{reference}"


def make_table_notes(names: Sequence[str], reference: str) -> Callable[[Any], list[str]]:
    """Return the notes of a table: where each rule is ahead of the reference rule, behind it, or within some distance."""

    def compare_rules(results: Any) -> list[str]:
        lines = []
        for name in compared_rules(names, reference):
            difference = _name_difference(name, reference)
            found = ((point, results.estimates(point)[difference]) for point, tally in results if tally.trials)
            if standing := describe_standing(found):
                lines.append(f"  {name}: {standing}")
        heading = (
            f"fraction delivered minus that of {reference.upper() if reference in NAMES else reference} on the same faults and "
            "messages, exact 95% intervals:"
        )
        return [heading, *lines] if lines else []

    return compare_rules
