"""The reliability polynomial of a survival file: against exact counts, and what it says of what the file lacks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb, log

import pytest
from reference.survival import probability
from scipy.special import betaincinv

import fastcube as fc
from fastcube.cli import main
from fastcube.results.reliability import chernoff_interval, connectivity, crossing


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("reliability") / "polynomial.h5"
    points = {"network": ["hypercube", "moebius1"], "n": 4, "f": range(17), "links": 0}
    return fc.run("survival", **points, trials=20_000, seed=2, output=path), path


def exact_results(name, n):
    """Results whose tallies say exactly what all fault sets do."""
    study = fc.study("survival")
    counts, cube = (fc.exact_survival(which, n).nodes for which in (name, "hypercube"))
    results = fc.run("survival", network=name, n=n, f=range(2**n + 1), links=0, trials=1)
    for key, tally in results.tallies.items():
        f = key[2]
        many = 10**12  # times all sets
        total = comb(2**n, f) * many
        a, b = (c[f] * many if f < 2**n else 0 for c in (counts, cube))
        known = dict.fromkeys(tally.counts, 0) | {
            "connected": a,
            "connected_diff": a - b,
            "connected_differs": abs(a - b),
        }
        results.tallies[key] = replace(tally, ranges=((0, total),), counts=known)
    return replace(results, study=study)


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["hypercube", "moebius1", "augmented", "exchanged"])
def test_of_all_fault_sets_it_is_the_polynomial(name):
    results = exact_results(name, 4)
    counts, cube = fc.exact_survival(name, 4).nodes, fc.exact_survival("hypercube", 4).nodes
    for p in (0, 0.05, 0.3, 0.9, 1):
        assert fc.reliability(results, p).value == pytest.approx(float(probability(counts, 16, Fraction(p))))
        wanted = probability(counts, 16, Fraction(p)) - probability(cube, 16, Fraction(p))
        assert fc.reliability(results, p, against="hypercube").value == pytest.approx(float(wanted), abs=1e-12)


@pytest.mark.kernels
def test_the_exact_crossing_at_four():
    """.102939 (N12, C3)."""
    assert crossing(exact_results("moebius1", 4)).rate == pytest.approx(0.102939, abs=1e-5)


@pytest.mark.kernels
def test_intervals_of_a_run_hold_the_exact_values(run):
    results, path = run
    for name in ("hypercube", "moebius1"):
        own, counts = results.sel(network=name), fc.exact_survival(name, 4).nodes
        for p in (0.1, 0.3, 0.5):
            e = fc.reliability(own, p)
            assert abs(e.value - float(probability(counts, 16, p))) < 6 * e.stderr
            assert e.low < e.value < e.high
    again = fc.open_results(path)
    assert fc.reliability(again.sel(network="moebius1"), 0.2) == fc.reliability(results.sel(network="moebius1"), 0.2)


@pytest.mark.kernels
def test_pairing_makes_the_difference_narrower(run):
    results, _ = run
    paired = fc.reliability(results.sel(network="moebius1"), 0.4, against="hypercube")
    apart = [fc.reliability(results.sel(network=name), 0.4).stderr for name in ("moebius1", "hypercube")]
    assert paired.stderr < sum(x * x for x in apart) ** 0.5


@pytest.mark.kernels
def test_what_the_file_lacks_is_between_nothing_and_all(run):
    results, _ = run
    some = results.sel(network="moebius1", f=[4, 5, 7, 8])
    p = 0.3
    whole, part = fc.reliability(results.sel(network="moebius1"), p), fc.reliability(some, p)
    mass = sum(comb(16, f) * p**f * (1 - p) ** (16 - f) for f in (6, *range(9, 15)))
    assert part.high - part.low == pytest.approx(mass + 2 * 1.959964 * part.stderr)
    assert part.low < whole.value < part.high


@pytest.mark.kernels
def test_the_command_prints_limits_where_the_file_lacks_most(run, tmp_path, capsys):
    results, _ = run
    results.sel(network="moebius1", f=[4, 5]).save(tmp_path / "few.h5")
    with pytest.raises(SystemExit):
        main(["reliability", str(tmp_path / "few.h5"), "--rate", "0.5"])
    shown = capsys.readouterr()
    assert "[0." in shown.out and "±" not in shown.out
    # f = 0 .. 3, 15 and 16 are known, 4 and 5 sampled
    assert "moebius1, n=4: 8 of 17 numbers of faulty nodes are known or in the file" in shown.err
    assert "--set f=0:16" in shown.err


@pytest.mark.parametrize("name", fc.network_families())
def test_the_connectivity_is_what_all_fault_sets_say(name):
    for n in (n for n in range(2, 5) if fc.network_families()[name].sizes(n)):
        counts = fc.exact_survival(name, n).nodes
        sure = connectivity(name, n)
        assert counts[:sure] == [comb(2**n, f) for f in range(sure)]


@pytest.mark.kernels
def test_the_command(run, tmp_path, capsys):
    _, path = run
    with pytest.raises(SystemExit) as ended:
        main(["reliability", str(path), "--rate", "0.1,0.5", "--plot", str(tmp_path / "r.png")])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["network", "n", "rate", "connected", "less", "the", "hypercube"]
    assert len(lines) == 6 and lines[-1].startswith("moebius1 and hypercube, n=4: ")
    assert (tmp_path / "r.png").exists()


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: fc.reliability(r, 0.1), "results must be of one network at one n"),
        (lambda r: fc.reliability(r.sel(network="moebius1"), 1.5), r"rate must be a number in \[0, 1\], got 1.5"),
        (
            lambda r: fc.reliability(r.sel(network="moebius1"), 0.1, against="crossed"),
            "against must be hypercube or None",
        ),
        (lambda r: fc.reliability("file", 0.1), "results must be Results"),
        (lambda r: fc.reliability(fc.run("unsafe-fraction", n=5, f=2, trials=10), 0.1), "results must be of survival"),
    ],
)
def test_bad_input_is_one_line(run, call, message):
    with pytest.raises(fc.ParameterError, match=message) as caught:
        call(run[0])
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------- from one order of failures per trial


CURVE = fc.study("survival-curve")


def run_curve(what, n, network="moebius1", trials=20_000, **more):
    many = 2**n if what == "nodes" else fc.network_families()[network].links(n)
    return fc.run(CURVE, network=network, failing=what, n=n, failed=range(many + 1), trials=trials, **more)


@pytest.mark.kernels
@pytest.mark.parametrize("what", ["nodes", "links"])
def test_a_curve_has_the_exact_polynomial_in_its_interval(what):
    exact = getattr(fc.exact_survival("moebius1", 4), what)
    results = run_curve(what, 4)
    many = 16 if what == "nodes" else 32
    doubtful = [f for f in range(many + 1) if exact[f : f + 1] not in ([comb(many, f)], [0], [])]
    for p in (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.99):
        e, truth = fc.reliability(results, p), float(probability(exact, many, Fraction(str(p))))
        assert e.low < truth < e.high and abs(e.value - truth) < 5 * e.stderr
        unknown = sum(comb(many, f) * p**f * (1 - p) ** (many - f) for f in doubtful)
        assert e.high - e.low < unknown  # the limits of a mean in [0, 1] alone are 2e-4 apart or more
    assert fc.reliability(results, 0).value == 1 and fc.reliability(results, 1).value == 0


@pytest.mark.kernels
def test_a_curve_lacks_what_is_not_known():
    """f = 0 .. 3, 15 and 16 of 16 nodes are known; another hole widens the interval by its probability."""
    results = run_curve("nodes", 4)
    part = results.sel(failed=[f for f in range(4, 15) if f != 8])
    p, whole = 0.4, fc.reliability(results, 0.4)
    e, hole = fc.reliability(part, p), comb(16, 8) * p**8 * (1 - p) ** 8
    assert e.low <= whole.value <= e.high and e.high - e.low == pytest.approx(hole + whole.high - whole.low, rel=0.05)


@pytest.mark.kernels
def test_a_curve_of_different_trials_is_refused():
    results = run_curve("nodes", 3, trials=100)
    key = ("moebius1", "nodes", 3, 5)
    results.tallies[key] = CURVE.count(
        CURVE.point(dict(zip(("network", "failing", "n", "failed"), key, strict=True))), 50
    )
    with pytest.raises(fc.ParameterError, match=r"must have the same trials at all .*failed=5 than at failed=0"):
        fc.reliability(results, 0.1)
    with pytest.raises(fc.ParameterError, match="against must be left out for survival-curve"):
        fc.reliability(run_curve("nodes", 3, trials=10), 0.1, against="hypercube")


def test_the_chernoff_interval():
    """By hand: at mean 1 the lower limit is (level / 2)^(1 / T); it holds the Clopper-Pearson interval of 0/1 outcomes."""
    low, high = chernoff_interval(1.0, 50)
    assert low == pytest.approx(0.025 ** (1 / 50)) and high == 1
    assert chernoff_interval(0.0, 50) == pytest.approx((0.0, 1 - 0.025 ** (1 / 50)))
    low, high = chernoff_interval(0.3, 400)
    for q in (low, high):
        assert 400 * (0.3 * log(0.3 / q) + 0.7 * log(0.7 / (1 - q))) == pytest.approx(log(40))
    assert betaincinv(120, 281, 0.025) > low and betaincinv(121, 280, 0.975) < high


@pytest.mark.kernels
def test_the_command_reads_a_curve(tmp_path, capsys):
    run_curve("links", 3, trials=500, output=tmp_path / "c.h5")
    with pytest.raises(SystemExit) as ended:
        main(["reliability", str(tmp_path / "c.h5"), "--rate", "0.1,0.5", "--plot", str(tmp_path / "r.png")])
    assert ended.value.code == 0 and (tmp_path / "r.png").exists()
    head, *rows = (line.split() for line in capsys.readouterr().out.splitlines())
    assert head == ["network", "n", "rate", "connected"]
    assert [row[:4] for row in rows] == [["moebius1", "links", "3", "0.1"], ["moebius1", "links", "3", "0.5"]]


def test_limits_that_say_nothing_are_not_printed():
    from fastcube.cli.reliability import _format_reliability
    from fastcube.measure.estimate import Estimate

    assert _format_reliability(Estimate(0.5, 0.0, 0.0, 1.0), 0.0) == "not known"
    assert _format_reliability(Estimate(0.0, 0.0, -1.0, 1.0), -1.0) == "not known"
    assert _format_reliability(Estimate(0.51, 0.0, 0.02, 1.0), 0.0) == "[0.0200, 1.0000]"
