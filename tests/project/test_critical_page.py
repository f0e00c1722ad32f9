"""The columns of docs/critical.md that follow from n and p_1/2 are what the formulas of the page give."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs/critical.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("| ").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and line[2].isdigit()
]


def leading_form(n: int) -> float:
    """(16 lambda / n^2) 2^(-2 sqrt n), lambda the smallest positive root of the page's series."""
    low, high = 1.0, 1.3
    for _ in range(60):
        middle = (low + high) / 2
        value = sum((-1) ** k * middle**k / (2 ** (k * k - k) * math.factorial(k)) for k in range(12))
        low, high = (middle, high) if value > 0 else (low, middle)
    return 16 * low / n**2 * 2 ** (-2 * math.sqrt(n))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_columns_that_follow_from_p(row):
    n, p = int(row[0]), float(row[1])
    ratio = p / leading_form(n)
    log, root = math.log(n), math.sqrt(n)
    expected = (leading_form(n), ratio, (ratio - 1) * root / log, (ratio - 1) * root / log**2)
    for shown, value in zip((row[6], row[7], row[9], row[10]), expected, strict=True):
        assert float(shown) == pytest.approx(value, rel=6e-4), (n, shown, value)
    proved = (1 + log / root, 1 + 5 * log**2 / root)
    for shown, value in zip(row[8].split(", "), proved, strict=True):
        assert float(shown) == pytest.approx(value, abs=0.06 if value > 2 else 0.006)
    assert proved[0] < ratio < proved[1]  # the page: p_1/2 lies between the two bounds at every n of the table
    assert 3 < ratio < 5
