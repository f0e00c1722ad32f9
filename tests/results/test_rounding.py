"""Estimates as text: read back they say what is known, to a tenth of the half-width."""

import itertools
import math
import random
import re

import pytest
from helpers.printed_estimates import NUMBER, check_printed

from fastcube.measure.estimate import UNDEFINED, Estimate, OrderEstimate, proportion
from fastcube.results.rounding import estimate_text, estimate_texts


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (UNDEFINED, "-"),
        (proportion(0, 10**6), "< 3.7e-06"),
        (proportion(10**3, 10**3), "> 0.9963"),
        (proportion(300, 1000), "0.300 ± 0.029"),
        (proportion(30, 1000), "0.030 [0.020, 0.043]"),
        (proportion(2, 1000), "0.0020 [0.0002, 0.0072]"),
        (Estimate(2.0, 0.0, 2.0, 2.0), "2"),
        (Estimate(1 - 2**-53, 0.0, 1 - 2**-53, 1 - 2**-53), "0.9999999999999999"),
        (Estimate(999.9999999999998, 0.0, 999.9999999999998, 999.9999999999998), "999.9999999999998"),
        (Estimate(1.0, 0.0, math.nan, math.nan), "1"),
        (Estimate(1 / 3, 0.0, math.nan, math.nan), "0.333333"),
        (Estimate(0.0, 0.0, 0.0, 0.0), "0"),
        (Estimate(-0.1, 0.01, -0.12, -0.08), "-0.100 ± 0.020"),
        (Estimate(12.5, 1.0, 10.5, 14.5), "12.5 ± 2.0"),
        (Estimate(1.0, 0.0, 0.9, 1.0), "> 0.900"),
        (Estimate(12.0, 0.0, 11.2, 12.0), "12.00 [11.20, 12.00]"),
        (Estimate(0.001, 0.0005, 0.0, 0.01), "0.0010 [0, 0.0100]"),
        (Estimate(4.1e-15, 4e-15, 0.0, 1.02e-5), "4e-15 [0, 1.02e-05]"),
        (Estimate(4.35789e-4, 0.0, 4.35752e-4, 4.35826e-4), "4.35789e-04 ± 3.7e-08"),
        (Estimate(6.905e-13, 0.0, 6.904e-13, 6.905e-13), "6.90500e-13 [6.90400e-13, 6.90500e-13]"),
        (Estimate(6.8e-8, 3e-8, 6.5e-8, 4.9e-7), "6.8e-08 [6.5e-08, 4.9e-07]"),
        (Estimate(1 - 1.26e-8, 1e-6, 0.999956, 1.0), "0.999999987 [0.999956, 1.000000000]"),
        (Estimate(0.0161, 0.008, 0.0004, 0.0318), "0.016 [0.0004, 0.032]"),
        (Estimate(0.0159, 0.008, -0.0001, 0.0319), "0.016 [-0.0001, 0.032]"),
        (OrderEstimate(14.0, math.nan, 12.0, 17.0), "14 [12, 17]"),
        (OrderEstimate(12.0, math.nan, 12.0, math.inf), "12 [12, inf]"),
        (OrderEstimate(0.0, math.nan, 0.0, 3.0), "0 [0, 3]"),  # no event that no trial had
        (OrderEstimate(1.0, math.nan, 0.0, 1.0), "1 [0, 1]"),
        (OrderEstimate(1_234_567.0, math.nan, 1_234_567.0, 1_234_567.0), "1234567 [1234567, 1234567]"),
    ],
)
def test_estimates_as_text(estimate, text):
    assert estimate_text(estimate) == text


def test_a_column_has_one_notation():
    some = [proportion(0, 10**6), proportion(300, 1000), proportion(10, 10)]
    assert estimate_texts(some) == ["< 0.0000037", "0.300 ± 0.029", "> 0.69"]
    assert estimate_texts([*some, proportion(0, 10**9)])[1:3] == ["3.00e-01 ± 2.9e-02", "> 6.9e-01"]


def estimates():
    """Values 1e-18 .. 1e6, half-widths 1e-12 .. 1e2 of them; even, skewed and one-sided, at 0 and at the bound, of no width."""
    rng = random.Random(1)
    for power, relative in itertools.product(range(-18, 7), range(-12, 3)):
        for _ in range(3):
            value = rng.uniform(1, 10) * 10.0**power
            width = value * rng.uniform(1, 10) * 10.0**relative
            skew = rng.uniform(-0.98, 0.98)
            for low, high in (
                (width, width),
                (width * (1 + skew), width * (1 - skew)),
                (0, 2 * width),
                (2 * width, 0),
                (0, 0),
                (min(value, width), width),
            ):
                yield Estimate(value, width, value - low, value + high)
            yield Estimate(-value, width, -value - width, -value + width)
            yield Estimate(0.0, 0.0, 0.0, value)
            yield Estimate(value, 0.0, math.nan, math.nan)
    for power in range(-15, 0):
        yield Estimate(1.0, 0.0, 1 - rng.uniform(1, 9) * 10.0**power, 1.0)
    yield UNDEFINED


def test_what_is_printed_says_what_is_known():
    for e in estimates():
        check_printed(e, estimate_text(e))


def test_what_is_printed_in_a_column_says_what_is_known_in_one_notation():
    rng, every = random.Random(2), list(estimates())
    for _ in range(500):
        some = rng.sample(every, 6)
        texts = estimate_texts(some)
        for e, text in zip(some, texts, strict=True):
            check_printed(e, text)
        numbers = [x for text in texts for x in re.findall(NUMBER, text) if text != "-" and float(x)]
        assert len({"e" in x for x in numbers}) < 2, texts
