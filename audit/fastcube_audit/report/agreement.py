"""Compare printed with measured values: verdicts on printed numbers and on published results.

A printed number was rounded, so it stands for the interval within half a unit of its last digit.  It agrees if this interval
overlaps the measured 95% interval.  If the paper averaged a few runs only, its number scatters too.  Such a number also agrees
within two standard deviations of the paper's mean, disagrees beyond six, and is not decided in between.  None of these limits is
tuned to the printed numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fastcube.measure.estimate import Estimate
from fastcube.measure.inventory import Evidence, PrintedNumber, PublishedResult
from fastcube.results.rounding import estimate_text

#: Verdicts whose results are named at the top of the page; and all verdicts, worst first.
HEADLINE_VERDICTS = ("refuted", "unreproduced", "depends", "misprint", "undecided")
ORDER = (*HEADLINE_VERDICTS, "missing", "holds", "shown", "concept")

#: Names of the verdicts in the order of the counts, each with a mark that distinguishes it without colour.
VERDICT_LABELS = {
    "holds": ("holds", "✓"),
    "refuted": ("refuted", "✗"),
    "misprint": ("misprint", "¶"),
    "depends": ("depends on the interpretation", "±"),
    "unreproduced": ("not reproduced", "≠"),
    "undecided": ("not decided", "?"),
    "shown": ("shown", "●"),
    "concept": ("no data in it", "–"),
    "missing": ("not computed yet", "…"),
}

#: In standard deviations of the mean of the paper's few runs: a number agrees up to NEAR and disagrees from FAR on.
NEAR, FAR = 2.0, 6.0


@dataclass(frozen=True)
class Comparison:
    """A printed number compared with one statistic.  ``key`` is a verdict of ``VERDICT_LABELS``, ``text`` the difference."""

    statistic: str
    measured: str
    key: str
    text: str = ""


def printed_text(printed: PrintedNumber) -> str:
    """Return a printed number with the paper's number of digits."""
    return printed.value if isinstance(printed.value, str) else f"{printed.value:.{printed.digits or 0}f}"


def averaged_runs(item: PublishedResult, tables: Mapping[str, Any]) -> int | None:
    """Return the number of runs that the paper averaged in a table, or None if its inventory does not say."""
    table = tables.get(item.id.replace("-", ""), {})
    runs = table.get("averaged_over") if isinstance(table, Mapping) else None
    return runs if isinstance(runs, int) else None


def comparable_numbers(items: Iterable[PublishedResult]) -> Iterable[tuple[PrintedNumber, Evidence]]:
    """Yield each printed number that has a point and a statistic, with each statistic that it is compared with.

    A longer name, as ``channels_hamilton`` for ``channels``, is the same quantity under another interpretation of the paper.
    """
    for item in items:
        for printed in item.printed:
            if printed.point and printed.statistic and not isinstance(printed.value, str):
                for evidence in item.shown_by:
                    if evidence.study and f"{evidence.statistic}_".startswith(f"{printed.statistic}_"):
                        yield printed, evidence


def compare_printed(printed: PrintedNumber, statistic: str, e: Estimate, eligible: int, runs: int | None) -> Comparison:
    """Compare a printed number with an estimate in its unit from ``eligible`` trials; the paper averaged ``runs``, or None."""
    value = float(printed.value)
    half = 0.5 * 10.0 ** -(printed.digits or 0)
    measured = estimate_text(e)
    if math.isnan(e.value):
        return Comparison(statistic, measured, "missing")
    gap = value - e.value
    fraction = f"{100 * gap / e.value:+.{1 if abs(gap) < 0.1 * abs(e.value) else 0}f}%" if e.value else f"{gap:+.3g}"
    if e.low <= value + half and value - half <= e.high:
        return Comparison(statistic, measured, "holds", "agrees")
    if runs is None:
        return Comparison(statistic, measured, "unreproduced", f"the printed number is off by {fraction}")
    scatter = e.stderr * math.sqrt(eligible / runs)
    away = gap / scatter if scatter > 0 else math.inf
    text = f"the printed number is off by {fraction}, {away:+.1f} standard deviations of a mean of {runs}"
    key = "holds" if abs(away) <= NEAR else "undecided" if abs(away) < FAR else "unreproduced"
    return Comparison(statistic, measured, key, text)


@dataclass(frozen=True)
class ClaimOutcome:
    """A claim's verdict as part of a published result: whether the claim is fastcube's, and whether it is a side claim."""

    key: str
    added: bool
    side: bool


def claim_verdicts(every: Iterable[ClaimOutcome], printed: bool) -> list[str]:
    """Return the verdicts of claims that count for a result that the paper ``printed``, or that goes beyond the paper.

    Side claims do not count if there are others.  If the paper itself makes some of the claims, only these count.  If none is
    the paper's own, a refuted claim of fastcube's does not count against a printed result.
    """
    every = list(every)
    carrying = [claim for claim in every if not claim.side] or every
    of_paper = [claim.key for claim in carrying if not claim.added]
    if of_paper or not printed:
        return of_paper or [claim.key for claim in carrying]
    return ["shown" if claim.key == "refuted" else claim.key for claim in carrying]


def item_verdict(claims: list[str], numbers: list[str], evidence: list[str], concept: bool) -> str:
    """Return the worst verdict on a result's claims and printed numbers; without these, on its plots and examples.

    A number that is not reproduced makes the result "not reproduced", even if a claim restates the number.
    """
    if concept:
        return "concept"
    if "unreproduced" in numbers:
        return "unreproduced"
    decided = {*claims, *numbers}
    found = decided if decided and "missing" not in evidence else decided | {*evidence}
    return next((key for key in ORDER if key in found), "missing")
