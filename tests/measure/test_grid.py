"""Points and numbers as a user writes them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.processes import run_in_process

import fastcube as fc
from fastcube.errors import parse_count
from fastcube.measure import grid
from fastcube.measure.study import Axis, point_text

N = Axis("n", "dimension", int, 1, 62)
P = Axis("p", "probability", float, 0, 1, open_above=True)


@pytest.mark.parametrize(
    ("study", "given", "message"),
    [
        ("safety-status", {"n": 2, "f": 2**16}, "f must be in [0, 2] for n=2, which leaves two nonfaulty nodes, got 65536"),
        ("survival", {"network": "hypercube", "n": 4, "links": 100}, "links must be in [0, 32] for hypercube at n=4, got 100"),
        ("survival", {"n": 4, "links": 99}, "links must be in [0, 32] for hypercube at n=4, got 99"),
        ("survival", {"network": "hyperx-8", "links": 10**6}, "links must be in [0, 573440] for hyperx-8 at n=15, got 1000000"),
        ("survival", {"network": "balanced", "n": 9}, "n must be one of 2, 4, 6, 8, ... for balanced, got 9"),
        ("survival", {"n": 4, "f": 20, "links": 50}, "f must be in [0, 16] for n=4, got 20"),
        ("hitting", {"network": "twisted", "n": 8}, "n must be one of 1, 3, 5, 7, ... for twisted, got 8"),
        (
            "survival",
            {"network": "twisted,hypercube", "n": 8, "links": 2000},
            "n must be one of 1, 3, 5, 7, ... for twisted, got 8; links must be in [0, 1024] for hypercube at n=8, got 2000",
        ),
        ("survival-curve", {"n": 8, "failed": 300}, None),
        ("survival", {"links": 9999}, None),
    ],
)  # a table, row by row # fmt: skip
def test_impossible_axes_say_why_or_which_others_to_set(study, given, message):
    with pytest.raises(fc.ParameterError) as error:
        grid.build_points(fc.study(study), given)
    some = ",".join(f"{axis}={value}" for axis, value in given.items())
    start = f"no point of the grid of {study} is possible with {some}"
    advice = {"survival-curve": "; set failing too", "survival": "; set n too"}
    assert str(error.value) == start + (f": {message}" if message else advice[study])


def test_other_values_that_are_advised_are_possible():
    given = {"network": "twisted", "f": 4}
    with pytest.raises(fc.ParameterError, match=r"for twisted, got 8; set n too$"):
        grid.build_points(fc.study("survival"), given)
    assert grid.build_points(fc.study("survival"), {**given, "n": 9})
    with pytest.raises(fc.ParameterError, match=r"possible with n=4,links=\[\]$"):
        grid.build_points(fc.study("survival"), {"n": 4, "links": []})


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
        (N, "0:1e999999:1e-999999", "n range must be lo:hi"),
        (N, "-9e999999:9e999999", "n range must be lo:hi"),
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
    assert parse_count("trials", text) == count


@pytest.mark.parametrize("text", ["1.5", "x", "", "1e", "inf", "nan"])
def test_bad_counts(text):
    with pytest.raises(fc.ParameterError, match="trials must be a whole number"):
        parse_count("trials", text)


def test_shares():
    assert grid.parse_probability("relative", "1%") == 0.01
    assert grid.parse_probability("relative", "0.02") == 0.02
    with pytest.raises(fc.ParameterError, match="relative must be a number or a percentage, got x%"):
        grid.parse_probability("relative", "x%")


RATES = fc.study("routing-rate")


def test_a_key_depends_on_values_alone():
    """Pinned: the text hashed is ``generator|study|seed|n=10|f=5``; changing it would change every number ever published."""
    assert fc.study("unsafe-fraction").key(0, {"n": 10, "f": 5}) == 5919727640356095070
    assert RATES.key(1, {"n": 6, "rate": 0.1, "k": 1}) != RATES.key(1, {"n": 6, "rate": 0.10000000000000002, "k": 1})
    assert point_text({"n": 10, "p": 0.25}) == "n=10,p=0.25"


@pytest.mark.parametrize("given", [1e4, np.float64(1e4), np.float32(1e4), Fraction(10**4), np.int16(10**4), "1e4"])
def test_a_count_may_be_of_any_type(given):
    assert parse_count("trials", given) == 10**4 and type(parse_count("trials", given)) is int


@pytest.mark.parametrize("given", [0.5, math.inf, math.nan, Fraction(1, 2), True, 1 + 0j, None])
def test_what_is_no_whole_number(given):
    with pytest.raises(fc.ParameterError, match=r"^trials must be a whole number \(1e6 is one\), got "):
        parse_count("trials", given)


def test_a_rate_may_be_a_percentage_wherever_it_is_read():
    axis = Axis("rate", "failure rate", float, 0, 1)
    assert grid.parse_values(axis, "2%,0.5,7 %") == [0.02, 0.5, 0.07] and grid.parse_values(axis, "1%:3%:1%") == [
        0.01,
        0.02,
        0.03,
    ]
    assert axis.check("2%") == 0.02 and fc.random_faults("2%", seed=1).rate == 0.02
    results = fc.Results(fc.study("survival-curve"), 0)
    for call in (
        lambda rate: grid.parse_values(axis, rate),
        lambda rate: fc.random_faults(rate, seed=1),
        lambda rate: fc.reliability(results, rate),
        lambda rate: fc.isolated_node_bounds("hypercube", 4, rate=rate),
        lambda rate: fc.isolated_node_bounds("hypercube", 4, link_rate=rate),
    ):
        for bad in ("x%", "%", "-1%", "101%"):
            with pytest.raises(fc.ParameterError, match="rate must be"):
                call(bad)
    with pytest.raises(fc.ParameterError, match="n must be"):
        grid.parse_values(Axis("n", "dimension", int, 0, 9), "2%")


def test_one_value_with_two_roundings_is_said_in_one_line(tmp_path, capsys, monkeypatch):
    """In a run, also of a file that has the other value, and in a merge; values that differ by more are two points in silence."""
    (tmp_path / "own.py").write_text(
        "import fastcube as fc\n\n\n@fc.trial\ndef trial(key, t, params, out):\n    out[0] = t % 2\n\n\n"
        'STUDY = fc.trial_study("own", "t", [fc.Axis("p", "p", float, 0, 1)], [fc.Output("odd", "odd")], trial, [{"p": 0.3}])\n'
    )
    monkeypatch.chdir(tmp_path)
    said = "p has the values 0.3 and 0.30000000000000004, which differ by rounding only and are two points: use one"
    for line, near in (
        ("run own.py --trials 10 --progress none -o a.h5", False),
        ("run own.py --trials 10 --progress none -o a.h5 --set p=0.30000000000000004", True),
        ("run own.py --trials 10 --progress none -o b.h5 --set p=0.30000000000000004,0.3000001", False),
        ("run own.py --trials 10 --progress none -o c.h5 --set p=0.3", False),
        ("merge b.h5 c.h5 -o d.h5", True),
    ):
        code, _, errors = run_in_process(capsys, *line.split())
        assert code == 0 and (said in errors) == near, (line, errors)
