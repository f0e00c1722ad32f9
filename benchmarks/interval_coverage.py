"""Print how often intervals hold the true value, and how wide they are: the table of ``docs/statistics.md``.

The coverage of proportions and quantiles is a sum over the binomial distribution.  The coverage of means and ratios is
measured on samples of distributions with a known mean, and compared with the normal interval of a textbook.  The samples have
a seed, so the table is the same everywhere.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtr, bdtrc, gammaln, xlog1py, xlogy

from fastcube.measure.estimate import bounded_mean, normal_mean, paired_difference, proportion, quantile_ranks, ratio

SAMPLES = 4_000

#: Shares of +1 and -1, and trials, of paired differences.
DIFFERENCES = (
    (0.3, 0.3, 1_000),
    (0.01, 0.01, 10_000),
    (1e-3, 1e-3, 100_000),
    (3e-5, 1e-5, 100_000),
    (1e-5, 0.0, 100_000),
    (1e-4, 1e-4, 10_000),
)

#: Percentages and trials of quantiles.
QUANTILES = ((50, 100), (95, 100), (95, 10_000), (99, 10_000))


def proportion_coverage(p: float, trials: int) -> tuple[float, float, float]:
    """Return the coverage of Clopper-Pearson, the coverage of the normal interval, and the ratio of their mean widths."""
    held = normal = width = narrow = 0.0
    spread = 12 * math.sqrt(trials * p * (1 - p)) + 30
    for k in range(max(0, int(trials * p - spread)), min(trials, int(trials * p + spread)) + 1):
        log_probability = (
            gammaln(trials + 1) - gammaln(k + 1) - gammaln(trials - k + 1) + xlogy(k, p) + xlog1py(trials - k, -p)
        )
        chance = math.exp(log_probability)
        e = proportion(k, trials)
        held += chance * (e.low <= p <= e.high)
        normal += chance * (abs(e.value - p) <= 1.96 * e.stderr)
        width += chance * e.half_width
        narrow += chance * 1.96 * e.stderr
    return held, normal, width / narrow


def mean_coverage(values: np.ndarray, most: int, mean: float) -> tuple[float, float, float]:
    """Return coverages and ratio of widths of empirical Bernstein and the normal interval, for rows of values in 0 .. most."""
    held = normal = width = narrow = 0.0
    for row in values:
        total, squares = int(row.sum()), int((row.astype(object) ** 2).sum())
        ours, plain = bounded_mean(total, squares, len(row), 1.0, float(most)), normal_mean(total, squares, len(row))
        held += ours.low <= mean <= ours.high
        normal += abs(plain.value - mean) <= 1.96 * plain.stderr  # of equal values it is a point
        width += ours.half_width
        narrow += 1.96 * plain.stderr
    return held / len(values), normal / len(values), width / narrow


def difference_coverage(above: float, below: float, trials: int) -> tuple[float, float, float]:
    """Return the coverage of the paired difference, the coverage of empirical Bernstein, and the ratio of their mean widths."""
    rng, held, bernstein, width, wide = np.random.default_rng(1), 0, 0, 0.0, 0.0
    for a, b, _ in rng.multinomial(trials, (above, below, 1 - above - below), SAMPLES).tolist():
        ours, theirs = paired_difference(a - b, a + b, trials), bounded_mean(a - b, a + b, trials, 1.0, 1.0, -1.0)
        held += ours.low <= above - below <= ours.high
        bernstein += theirs.low <= above - below <= theirs.high
        width += ours.half_width
        wide += theirs.half_width
    return held / SAMPLES, bernstein / SAMPLES, width / wide


def quantile_coverage(percent: int, trials: int, below: float, reached: float) -> float:
    """Return the coverage of a quantile, if a value is below it with probability ``below``, and up to it with ``reached``."""
    low, high = quantile_ranks(trials, percent)
    return float(1 - (bdtr(low - 1, trials, reached) if low else 0) - bdtrc(high - 1, trials, below))


def ratio_coverage(numerators: np.ndarray, denominators: np.ndarray, truth: float) -> float:
    """Return the coverage of the delta method."""
    held = 0
    for a, b in zip(numerators, denominators, strict=True):
        e = ratio(int(a.sum()), int(b.sum()), int(a @ a), int(a @ b), int(b @ b), len(a))
        held += e.low <= truth <= e.high
    return held / len(numerators)


def main() -> None:
    """Print the table."""
    print(f"{'quantity':58}{'ours':>8}{'normal':>9}{'width':>8}")
    for p, trials in ((0.5, 100), (0.01, 100), (0.01, 10_000), (1e-4, 10_000), (1e-4, 1_000_000)):
        held, normal, width = proportion_coverage(p, trials)
        print(f"{f'proportion {p:g}, {trials:,} trials':58}{held:8.2%}{normal:9.2%}{width:8.2f}")
    rng = np.random.default_rng(0)
    for trials in (1_000, 100_000):
        count = SAMPLES if trials < 10_000 else SAMPLES // 10
        even = rng.integers(0, 101, (count, trials))
        held, normal, width = mean_coverage(even, 100, 50.0)
        print(f"{f'mean of values 0 .. 100, equally likely, {trials:,} trials':58}{held:8.2%}{normal:9.2%}{width:8.2f}")
        seldom = (
            rng.random((count, trials)) < 1 / trials
        )  # one trial of a sample on average, of 100 where the bound is 100
        held, normal, width = mean_coverage(seldom * 100, 100, 100 / trials)
        print(f"{f'mean of 0, but 100 once in {trials:,}, {trials:,} trials':58}{held:8.2%}{normal:9.2%}{width:8.2f}")
    for trials in (30, 300, 3_000):
        lengths = rng.integers(1, 11, (SAMPLES, trials))
        detours = 2 * (rng.random((SAMPLES, trials)) < 0.1)
        held = ratio_coverage(lengths + detours, lengths, 1 + 0.2 / 5.5)
        print(f"{f'ratio of lengths, {trials:,} trials':58}{held:8.2%}{'':>9}{'':>8}")
    print(f"\n{'paired difference':58}{'ours':>8}{'Bernst.':>9}{'width':>8}")
    for above, below, trials in DIFFERENCES:
        held, bernstein, width = difference_coverage(above, below, trials)
        text = f"{above:g} of +1, {below:g} of -1, {trials:,} trials"
        print(f"{text:58}{held:8.2%}{bernstein:9.2%}{width:8.2f}")
    print(f"\n{'quantile':58}{'no ties':>8}{'10 values':>17}")
    for percent, trials in QUANTILES:
        fraction, tenth = (
            percent / 100,
            math.ceil(percent / 10),
        )  # of ten equally frequent values, the tenth-th is the quantile
        held = quantile_coverage(percent, trials, fraction, fraction)
        tied = quantile_coverage(percent, trials, (tenth - 1) / 10, tenth / 10)
        print(f"{f'{percent}% quantile, {trials:,} trials':58}{held:8.2%}{tied:17.2%}")


if __name__ == "__main__":
    main()
