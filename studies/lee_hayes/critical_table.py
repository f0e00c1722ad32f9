"""The table of p_1/2 in the notes of ``unsafe-critical``'s grids ``fine`` and ``fine-28`` (``critical_grid.py`` defines p_q)."""

from fastcube.results.results import Results

from .critical_grid import sharp_values, target_half_width
from .threshold import Sharpness, corrections, leading_order

#: An n is listed as too far from the curve if a chi-square as large as its own or larger has a smaller probability.
_UNLIKELY = 1e-3

#: The heading of the table in the notes.
_HEADER = (
    f"{'n':>2}  {'p_1/2':>12}  {'95% limits':>24}  {'+- rel.':>7}  {'p_.8/p_.2':>9}  {'95% limits':>18}"
    f"  {'leading':>9}  {'ratio':>7}  {'proved factors':>14}"
)


def notes(results: Results) -> list[str]:
    """Return the lines of the table of p_1/2."""
    # The fit has degree threshold.DEGREE, 5, and is compared with the fit of degree 3; lambda is threshold.LAMBDA.
    lines = [
        "p_q is where Q_n is unsafe with probability q: logistic regression on a quintic in log p, 95% limits by the delta",
        "method (asymptotic), widened by the distance to the cubic's p_q.  +- rel.: half-width over p_1/2.",
        "leading: (16 lambda / n^2) 2^(-2 sqrt n), lambda = 1.16577; ratio: p_1/2 over it, which for n large enough lies between",
        "the proved factors 1 + log n / sqrt n and 1 + 5 (log n)^2 / sqrt n (Balogh, Bollobas & Morris 2010).",
        "",
        _HEADER,
    ]
    too_wide, too_far = [], []
    for n, known in sharp_values(results).items():
        if known is None:
            lines.append(f"{n:>2}  too few points or trials")
            continue
        lines.append(_table_row(n, known))
        if _relative_half_width(known) > target_half_width(n):
            too_wide.append(n)
        if known.chance < _UNLIKELY:
            too_far.append(n)
    if too_wide:  # the numbers are from target_half_width
        lines.append(
            f"wider than the trials were chosen for (1e-4 up to n = 16, 1e-3 above): n = {', '.join(map(str, too_wide))}"
        )
    if too_far:
        lines.append(
            f"counts farther from the curve than all but one sample in {1 / _UNLIKELY:,.0f}: n = {', '.join(map(str, too_far))}"
        )
    return lines


def _relative_half_width(known: Sharpness) -> float:
    p, low, high = known.half
    return (high - low) / 2 / p


def _table_row(n: int, known: Sharpness) -> str:
    """Return the row of one n, in the columns of ``_HEADER``."""
    p, low, high = known.half
    ratio, ratio_low, ratio_high = known.ratio
    leading, (least_factor, largest_factor) = leading_order(n), corrections(n)
    return (
        f"{n:>2}  {p:>12.7g}  {f'[{low:.7g}, {high:.7g}]':>24}  {_relative_half_width(known):>7.2g}  {ratio:>9.5f}"
        f"  {f'[{ratio_low:.5f}, {ratio_high:.5f}]':>18}  {leading:>9.4g}  {p / leading:>7.5f}"
        f"  {f'{least_factor:.3f}, {largest_factor:.1f}':>14}"
    )
