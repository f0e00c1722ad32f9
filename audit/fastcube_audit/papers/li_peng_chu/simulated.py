"""Claims of Li, Peng & Chu on the simulated algorithm, which the paper does not print: all assume interpretation B7."""

from collections.abc import Mapping, Sequence

from fastcube.measure.estimate import Estimate, proportion
from fastcube.studies.li_peng_chu.routing import DUALCUBE_ROUTING, printed_fraction

from ...claims import Effort, Verdict
from .registry import registry

SIZES = range(5, 10)


def _counts(m: int, rate: float, trials: int) -> Mapping[str, int]:
    """Return the counters of the first ``trials`` trials of a point with seed 0."""
    return DUALCUBE_ROUTING.count({"m": m, "rate": rate}, trials).counts


def _successes(effort: Effort, rates: Sequence[float]) -> tuple[int, dict[str, Estimate]]:
    """Return the trials of each point, and its success rate with a confidence interval of level 1e-6, for every published m."""
    trials = effort.by_effort(full=10_000, quick=2_000)
    found = {}
    for m in SIZES:
        for rate in effort.each(rates, f"DC({m})"):
            counts = _counts(m, rate, trials)
            effort.applied += int(counts["valid"])
            found[f"m={m},rate={rate}"] = proportion(counts["delivered"], counts["valid"], 1e-6)
    return trials, found


@registry.claim(
    "success-ninety",
    where="section 3, Figure 1",
    states="Below a node failure rate of 30% more than 90% of the routes succeed, m = 5, ..., 9 [interpretation B7].",
    added=True,
    method="random",
)
def success_ninety(effort: Effort) -> Verdict:
    """Check that confidence intervals of level 1e-6 lie above 0.9, for every published m and rates up to 0.299."""
    rates = [0.05, 0.1, 0.15, 0.2, 0.25, 0.29, 0.299]
    trials, found = _successes(effort, rates)
    above = [e for e in found.values() if e.low > printed_fraction("success-ninety", "percent delivered, above")]
    least = min(found, key=lambda point: found[point].value)
    return Verdict(
        "holds" if len(above) == len(found) else "undecided",
        f"{trials:,} trials each at m = 5..9, rates {', '.join(map(str, rates))}: above, at level 1e-6, at "
        f"{len(above)} of {len(found)} points; least {found[least].value:.4f} at {least}",
    )


@registry.claim(
    "success-fifty",
    where="section 3, Figure 1",
    states=(
        "Up to a node failure rate of 50% more than half of the routes succeed in most cases, m = 5, ..., 9 [interpretation "
        "B7; most: at more than half of the points from 30% on]."
    ),
    added=True,
    method="random",
)
def success_fifty(effort: Effort) -> Verdict:
    """Compare confidence intervals of level 1e-6 with 0.5, on the published grid from rate 0.3 on."""
    rates = [0.3, 0.35, 0.4, 0.45, 0.5]
    trials, found = _successes(effort, rates)
    half = printed_fraction("success-fifty", "percent delivered, above")
    above = [point for point, e in found.items() if e.low > half]
    below = [f"{e.value:.4f} at {point}" for point, e in found.items() if e.high < half]
    return Verdict(
        "holds" if len(above) > len(found) / 2 else "undecided",
        f"{trials:,} trials each at m = 5..9, rates {', '.join(map(str, rates))}: above, at level 1e-6, at "
        f"{len(above)} of {len(found)} points, below at {len(below)} ({'; '.join(below)})",
    )


@registry.claim(
    "success-drop",
    where="section 3, Figure 1",
    states=(
        "Beyond a node failure rate of 30% the fraction of routes that succeed falls faster [interpretation B7: more from 30% "
        "to 50% than from 10% to 30%, at every m = 5, ..., 9]."
    ),
    added=True,
    method="random",
)
def success_drop(effort: Effort) -> Verdict:
    """Compare the two decreases of the success rate by confidence intervals of level 1e-6, for every published m."""
    trials, found = _successes(effort, [0.1, 0.3, 0.5])
    falls, sure = [], 0
    for m in SIZES:
        few, some, many = (found[f"m={m},rate={rate}"] for rate in (0.1, 0.3, 0.5))
        falls.append(f"{few.value - some.value:.3f} and {some.value - many.value:.3f} at m = {m}")
        sure += some.low - many.high > few.high - some.low
    return Verdict(
        "holds" if sure == len(SIZES) else "undecided",
        f"{trials:,} trials each at rates 0.1, 0.3, 0.5: falls of {', '.join(falls)}; at level 1e-6 so at {sure} of {len(SIZES)}",
    )


@registry.claim(
    "paths-close",
    where="section 3, Figure 2",
    states="Most paths that are found are little longer than a shortest one, m = 5, ..., 9 [interpretation B7].",
    added=True,
    method="random",
)
def paths_close(effort: Effort) -> Verdict:
    """Report the measured path lengths; the paper prints no threshold."""
    trials = effort.by_effort(full=2000, quick=500)
    ratios, fractions = [], []
    for m in SIZES:
        for rate in effort.each((0.1, 0.3, 0.5), f"DC({m})"):
            counts = _counts(m, rate, trials)
            effort.applied += int(counts["delivered"])
            ratios.append(counts["length"] / counts["shortest"])
            fractions.append(counts["shortest_routes"] / counts["delivered"])
    return Verdict(
        "undecided",
        f"no threshold is printed; {trials:,} trials each at m = 5..9, rates 0.1, 0.3, 0.5: total length over total shortest "
        f"length {min(ratios):.3f} to {max(ratios):.3f}, fraction of shortest routes {max(fractions):.2f} down to "
        f"{min(fractions):.2f}",
    )
