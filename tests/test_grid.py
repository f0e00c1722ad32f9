"""Points and numbers as a user writes them."""

import pytest

import fastcube as fc
from fastcube.engine import grid
from fastcube.engine.estimate import Estimate
from fastcube.engine.study import Axis, point_key, point_text
from fastcube.table import estimate_text

N = Axis("n", "dimension", int, 1, 62)
P = Axis("p", "probability", float, 0, 1, open_above=True)


@pytest.mark.parametrize(
    ("axis", "text", "values"),
    [
        (N, "5", [5]),
        (N, "5,7,5", [5, 7]),
        (N, "5:8", [5, 6, 7, 8]),
        (N, "16:60:20", [16, 36, 56]),
        (N, "1e1", [10]),
        (P, "0:0.5:0.05", [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5]),
        (P, "1e-3", [0.001]),
    ],
)
def test_values(axis, text, values):
    assert grid.parse_values(axis, text) == values


@pytest.mark.parametrize(
    ("axis", "text", "message"),
    [
        (N, "63", r"n must be in \[1, 62\], got 63"),
        (N, "0", r"n must be in \[1, 62\], got 0"),
        (N, "2.5", r"n must be an integer in \[1, 62\], got 2.5"),
        (N, "x", r"n must be a value, a list a,b,c or a range lo:hi\[:step\], got x"),
        (N, "", "n must be a value"),
        (N, "8:5", "n range must be lo:hi"),
        (N, "1:5:0", "n range must be lo:hi"),
        (N, "1:2:3:4", "n must be a value"),
        (N, "nan", "n must be an integer"),
        (P, "1", r"p must be in \[0, 1\), got 1.0"),
        (P, "-0.1", r"p must be in \[0, 1\), got -0.1"),
        (P, "0:inf", "p must be a value"),
        (P, "0:0.9:1e-9", "p range must be"),
    ],
)
def test_bad_values_name_the_axis_the_range_and_the_value(axis, text, message):
    with pytest.raises(fc.ParameterError, match=message) as caught:
        grid.parse_values(axis, text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "count"), [("1000", 1000), ("1e6", 10**6), ("2.5e3", 2500), ("1E2", 100)])
def test_counts(text, count):
    assert grid.parse_count("trials", text) == count


@pytest.mark.parametrize("text", ["1.5", "x", "", "1e", "inf", "nan"])
def test_bad_counts(text):
    with pytest.raises(fc.ParameterError, match="trials must be a whole number"):
        grid.parse_count("trials", text)


def test_shares():
    assert grid.parse_share("relative", "1%") == 0.01
    assert grid.parse_share("relative", "0.02") == 0.02
    with pytest.raises(fc.ParameterError, match="relative must be a number or a percentage, got x%"):
        grid.parse_share("relative", "x%")


def test_a_key_depends_on_values_alone():
    """Pinned: the text hashed is ``generator|study|seed|n=10|f=5``; changing it would change every number ever published."""
    assert point_key("unsafe-fraction", 0, {"n": 10, "f": 5}) == 5919727640356095070
    assert point_key("s", 1, {"p": 0.1}) != point_key("s", 1, {"p": 0.10000000000000002})
    assert point_text({"n": 10, "p": 0.25}) == "n=10,p=0.25"


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(0.0123, 0.0002, 0.0119, 0.0127), "0.01230 ± 0.00040"),
        (Estimate(0.5, 0.1, 0.3, 0.7), "0.50 ± 0.20"),
        (Estimate(0.0, 0.0, 0.0, 3.7e-6), "< 3.7e-06"),
        (Estimate(0.001, 0.0005, 0.0, 0.01), "0.0010 [0, 0.0100]"),
        (Estimate(float("nan"), float("nan"), float("nan"), float("nan")), "-"),
        (Estimate(3e-11, 1e-11, 1e-12, 9e-11), "3.00e-11 [1.00e-12, 9.00e-11]"),
        (Estimate(1.0, 0.0, 1.0, 1.0), "1"),
        (Estimate(4.1e-15, 4e-15, 0.0, 1.02e-5), "4.1e-15 [0, 1e-05]"),
        (Estimate(12.5, 1.0, 10.5, 14.5), "12.5 ± 2.0"),
        (Estimate(1.0, 0.0, 0.9, 1.0), "> 0.900"),
        (Estimate(6.905e-13, 0.0, 6.904e-13, 6.905e-13), "6.91e-13 ± 1.00e-16"),
    ],
)
def test_estimate_text(estimate, text):
    assert estimate_text(estimate) == text
