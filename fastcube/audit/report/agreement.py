"""What is printed beside what is measured: verdicts on numbers and on items.

A printed number was rounded: it stands for all within half a unit of its last digit.  It agrees where that and the measured
95% interval meet.  Where the paper averaged a few runs only, its number scatters too: it also agrees within two standard
deviations of such a mean, does not beyond six, and in between is not decided.  Nothing here is tuned to what is printed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...measure.estimate import Estimate
from ...measure.inventory import Evidence, PrintedNumber, PublishedResult
from ...results.rounding import estimate_text

#: Verdicts whose items are named at the top of the page, and all, worst first.
HEADLINE_VERDICTS = ("refuted", "unreproduced", "depends", "misprint", "undecided")
ORDER = (*HEADLINE_VERDICTS, "missing", "holds", "shown", "concept")

#: What they are called, in the order in which they are counted, and a mark that tells them apart without colour.
VERDICT_LABELS = {
    "holds": ("holds", "✓"),
    "refuted": ("refuted", "✗"),
    "misprint": ("misprint", "¶"),
    "depends": ("depends on the reading", "±"),
    "unreproduced": ("not reproduced", "≠"),
    "undecided": ("not decided", "?"),
    "shown": ("shown", "●"),
    "concept": ("no data in it", "–"),
    "missing": ("not computed yet", "…"),
}

#: Standard deviations of a mean of the paper's few runs: up to here it agrees, from there it does not.
NEAR, FAR = 2.0, 6.0


@dataclass(frozen=True)
class Comparison:
    """A printed number beside one statistic: ``key`` is a verdict of :data:`WORDS`, ``words`` says by how much it differs."""

    statistic: str
    measured: str
    key: str
    words: str = ""


def printed_text(printed: PrintedNumber) -> str:
    """The number with the digits that the paper gives it."""
    return printed.value if isinstance(printed.value, str) else f"{printed.value:.{printed.digits or 0}f}"


def averaged_runs(item: PublishedResult, tables: Mapping[str, Any]) -> int | None:
    """How many runs the paper averaged in a table, where its inventory says so."""
    table = tables.get(item.id.replace("-", ""), {})
    runs = table.get("averaged_over") if isinstance(table, Mapping) else None
    return runs if isinstance(runs, int) else None


def comparable_numbers(items: Iterable[PublishedResult]) -> Iterable[tuple[PrintedNumber, Evidence]]:
    """The printed numbers that have a point and a statistic, with each statistic that they are compared with.

    A statistic whose name goes on (``channels_hamilton`` beside ``channels``) counts by another reading of the same words.
    """
    for item in items:
        for printed in item.printed:
            if printed.point and printed.statistic and not isinstance(printed.value, str):
                for shown in item.shown_by:
                    if shown.study and f"{shown.statistic}_".startswith(f"{printed.statistic}_"):
                        yield printed, shown


def compare_printed(printed: PrintedNumber, statistic: str, e: Estimate, eligible: int, runs: int | None) -> Comparison:
    """A printed number beside an estimate in its unit, over ``eligible`` trials; the paper averaged ``runs``, if it says."""
    value = float(printed.value)
    half = 0.5 * 10.0 ** -(printed.digits or 0)
    measured = estimate_text(e)
    if math.isnan(e.value):
        return Comparison(statistic, measured, "missing")
    gap = value - e.value
    share = f"{100 * gap / e.value:+.{1 if abs(gap) < 0.1 * abs(e.value) else 0}f}%" if e.value else f"{gap:+.3g}"
    if e.low <= value + half and value - half <= e.high:
        return Comparison(statistic, measured, "holds", "agrees")
    if runs is None:
        return Comparison(statistic, measured, "unreproduced", f"printed is {share} away")
    scatter = e.stderr * math.sqrt(eligible / runs)
    away = gap / scatter if scatter > 0 else math.inf
    words = f"printed is {share} away, {away:+.1f} standard deviations of a mean of {runs}"
    key = "holds" if abs(away) <= NEAR else "undecided" if abs(away) < FAR else "unreproduced"
    return Comparison(statistic, measured, key, words)


@dataclass(frozen=True)
class ClaimOutcome:
    """A claim's verdict among those of an item: whether the claim is ours, and whether it stands aside."""

    key: str
    ours: bool
    side: bool


def claim_verdicts(every: Iterable[ClaimOutcome], printed: bool) -> list[str]:
    """What claims say of an item that the paper ``printed``, or of one beyond it.

    Those that carry the item come first: what is said of one aside does not count against it.  Then the paper's own: that a
    statement of ours is false says nothing against what the paper prints.
    """
    every = list(every)
    carrying = [claim for claim in every if not claim.side] or every
    theirs = [claim.key for claim in carrying if not claim.ours]
    if theirs or not printed:
        return theirs or [claim.key for claim in carrying]
    return ["shown" if claim.key == "refuted" else claim.key for claim in carrying]


def item_verdict(claims: list[str], numbers: list[str], shown: list[str], concept: bool) -> str:
    """The worst of the verdicts on an item's claims and its printed numbers, or else on its plots and examples.

    A number that is not reproduced is that, even where a claim restates it.
    """
    if concept:
        return "concept"
    if "unreproduced" in numbers:
        return "unreproduced"
    decided = {*claims, *numbers}
    found = decided if decided and "missing" not in shown else decided | {*shown}
    return next((key for key in ORDER if key in found), "missing")
