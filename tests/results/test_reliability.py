"""The reliability polynomial of a survival file: against exact counts, and its message about missing points."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import comb, log

import pytest
from helpers.curve_trials import make_order, reference_counts
from reference.survival import probability
from scipy.special import betaincinv

import fastcube as fc
from fastcube.cli import main
from fastcube.measure.goal import Goal
from fastcube.measure.tally import Tally
from fastcube.results.failure_curves import chernoff_interval
from fastcube.results.proved_values import connectivity
from fastcube.results.reliability import find_crossing
from fastcube.results.results import Results


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("reliability") / "polynomial.h5"
    points = {"network": ["hypercube", "moebius1"], "n": 4, "f": range(17), "links": 0}
    return fc.run("survival", **points, trials=20_000, seed=2, output=path), path


def exact_results(name, n):
    """Results whose tallies are the exact counts of all fault sets."""
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
    assert find_crossing(exact_results("moebius1", 4)).rate == pytest.approx(0.102939, abs=1e-5)


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
    separate = [fc.reliability(results.sel(network=name), 0.4).stderr for name in ("moebius1", "hypercube")]
    assert paired.stderr < sum(x * x for x in separate) ** 0.5


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
        (
            lambda r: fc.reliability(r.sel(network="moebius1"), 1.5),
            r"rate must be a number in \[0, 1\], or several, got 1.5",
        ),
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
    from fastcube.cli.reliability import _format_reading
    from fastcube.measure.estimate import Estimate
    from fastcube.results.failure_curves import Reading

    assert _format_reading(Reading(Estimate(0.5, 0.0, 0.0, 1.0), 1.0, 0.0, 1.0)) == "not known"
    assert _format_reading(Reading(Estimate(0.0, 0.0, -1.0, 1.0), 2.0, -1.0, 1.0)) == "not known"
    assert _format_reading(Reading(Estimate(0.51, 0.0, 0.02, 1.0), 0.98, 0.0, 1.0)) == "[0.0200, 1.0000]"


# ---------------------------------------------------------------- every statistic


def average_over_fault_sets(name, what, n, p):
    """Every statistic of survival-curve with each component failed with probability p, by all sets and NetworkX; 0 of no node."""
    components = make_order(name, what, n, 0)
    total = Counter()
    for size in range(len(components) + 1):
        weight = p**size * (1 - p) ** (len(components) - size)
        for failed in itertools.combinations(components, size):
            counts = reference_counts(name, what, n, list(failed), size)
            survivors = max(2**n - (size if what == "nodes" else 0), 1)
            values = {
                event: float(counts[event]) for event in ("connected", "disconnected", "no_isolated_node", "extra_1")
            }
            values["largest_component"] = counts["largest"] / survivors
            values["second_largest_component"] = counts["second"] / survivors
            values["susceptibility"] = counts["others"] / survivors
            values["mean_component"] = (counts["others"] + counts["largest_squares"]) / survivors
            for stat, value in values.items():
                total[stat] += weight * value
    return total


@pytest.mark.kernels
@pytest.mark.parametrize("what", ["nodes", "links"])
def test_every_statistic_of_a_curve_beside_all_fault_sets(what):
    """At level 1e-6: the standard error is an upper bound."""
    results = run_curve(what, 3, trials=40_000)
    for p in (0.03, 0.25, 0.6, 0.9):
        truth = average_over_fault_sets("moebius1", what, 3, p)
        assert truth.keys() == {s.name for s in CURVE.statistics}
        for stat, value in truth.items():
            e = fc.reliability(results, p, stat=stat)
            assert e.low <= value <= e.high and abs(e.value - value) <= 4.9 * e.stderr, (stat, p)


@pytest.mark.kernels
@pytest.mark.parametrize("stat", ["connected", "no_isolated_node", "extra_1"])
def test_a_curve_at_a_rate_is_survival_rate(stat):
    curve = run_curve("nodes", 6, trials=20_000)
    for p in (0.2, 0.5):
        other = fc.run("survival-rate", network="moebius1", n=6, rate=p, link_rate=0, trials=20_000).estimate(stat)
        e = fc.reliability(curve, p, stat=stat)
        assert abs(e.value - other.value) < 4.9 * (e.stderr**2 + other.stderr**2 + 1e-8) ** 0.5


@pytest.mark.kernels
def test_a_mean_of_small_deviation_has_a_narrow_interval():
    """The largest component of 256 nodes with links failing half the time: Bernoulli limits alone are .01 wide."""
    results = run_curve("links", 8, network="hypercube", trials=20_000)
    e = fc.reliability(results, 0.75, stat="largest_component")
    bernoulli = chernoff_interval(e.value, 20_000, 0.05)
    assert e.high - e.low < 0.5 * (bernoulli[1] - bernoulli[0])
    assert (
        fc.reliability(results, 0.75, stat="mean_component").low
        < 172.9
        < fc.reliability(results, 0.75, stat="mean_component").high
    )


@pytest.mark.kernels
def test_missing_numbers_widen_a_mean_by_its_range():
    results = run_curve("nodes", 4)
    part, p = results.sel(failed=[f for f in range(17) if f != 8]), 0.4
    hole = comb(16, 8) * p**8 * (1 - p) ** 8 * 7  # mean_component of 8 survivors is in [1, 8]
    e, whole = (fc.reliability(r, p, stat="mean_component") for r in (part, results))
    assert e.low <= whole.low and whole.high <= e.high
    assert e.high - e.low == pytest.approx(hole + whole.high - whole.low, rel=0.1)


@pytest.mark.kernels
def test_several_rates_are_a_dataset():
    results, rates = run_curve("nodes", 3, trials=1000), [0.1, 0.5]
    found = fc.reliability(results, rates, stat="susceptibility")
    for p in rates:
        e, at = fc.reliability(results, p, stat="susceptibility"), found.sel(rate=p)
        assert (at["susceptibility"], at["susceptibility_stderr"]) == (e.value, e.stderr)
        assert (at["susceptibility_low"], at["susceptibility_high"]) == (e.low, e.high)


def test_exact_values_have_no_interval():
    for what in ("nodes", "links"):
        exact = fc.exact_survival("folded", 3)
        many = 8 if what == "nodes" else 16
        e = fc.reliability(exact.probabilities(what), 0.3)
        assert (
            e.low == e.high == e.value == pytest.approx(float(probability(getattr(exact, what), many, Fraction(3, 10))))
        )
    with pytest.raises(fc.ParameterError, match="stat must be one of connected, disconnected, first, got 'extra_1'"):
        exact.probabilities("links", "extra_1")
    with pytest.raises(fc.ParameterError, match="results must be Results, or two exact values or more"):
        fc.reliability([1], 0.3)


@pytest.mark.kernels
def test_other_statistics_of_survival(run):
    results, _ = run
    exact = fc.exact_survival("moebius1", 4)
    own = results.sel(network="moebius1")
    e = fc.reliability(own, 0.4, stat="extra_1")
    truth = fc.reliability(exact.probabilities("nodes", "extra_1"), 0.4).value
    assert truth == pytest.approx(float(probability(exact.extra_1, 16, Fraction(2, 5))))
    assert abs(e.value - truth) < 4.9 * e.stderr
    assert fc.reliability(own, 0.4, stat="extra_1", against="hypercube").stderr > 0
    for stat in ("st_connected", "connected_diff", "connectd"):
        with pytest.raises(
            fc.ParameterError, match="stat must be one of disconnected, connected, no_isolated_node, extra_1"
        ):
            fc.reliability(own, 0.4, stat=stat)


def run_command(capsys, *line):
    with pytest.raises(SystemExit) as ended:
        main([*map(str, line)])
    assert ended.value.code == 0
    return capsys.readouterr()


@pytest.mark.kernels
@pytest.mark.parametrize(("stat", "width"), [("connected", 0.1), ("mean_component", 1.5)])
def test_a_planned_run_has_the_width(stat, width, tmp_path, capsys):
    where = ["--n", 5, "--fail", "links", "--rate", "0.2,0.5", "--stat", stat]
    line = run_command(capsys, "reliability", "crossed", *where, "--plan", width).out
    run_command(capsys, *line.split()[1:], "-o", tmp_path / "planned.h5", "--progress", "none")
    results = fc.open_results(tmp_path / "planned.h5")
    assert len(results) < 70  # of 81
    for p in (0.2, 0.5):
        e = fc.reliability(results, p, stat=stat)
        assert e.high - e.low <= width


@pytest.mark.parametrize(
    ("where", "width", "said"),
    [
        ("--n 4", "1e-300", "plan must be a width that 2^60 trials reach"),
        ("--n 4", "1e-10", "plan must be a width that 2^60 trials reach"),
        ("--n 17", "0.1", "n must be in [2, 16]"),
        ("--n 40", "0.1", "n must be in [2, 16]"),
        ("--n 17 --fail links", "0.1", "n must be in [2, 16]"),
    ],
)
def test_a_plan_that_cannot_be_run_is_refused_at_once(where, width, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["reliability", "hypercube", *where.split(), "--rate", "0.1", "--plan", width])
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out, shown.err.count("\n")) == (2, "", 1)
    assert said in shown.err


@pytest.mark.parametrize("more", [["reliability", "--rate", ".1"], ["lifetime", "--distribution", "exponential"]])
def test_a_file_without_trials_is_one_line(tmp_path, capsys, more):
    study = fc.study("survival-curve")
    point = study.point({"network": "hypercube", "failing": "links", "n": 3, "failed": 2})
    Results(study, 0, {tuple(point.values()): Tally.empty(study.tally)}, Goal(10)).save(tmp_path / "r.h5")
    with pytest.raises(SystemExit) as ended:
        main([more[0], str(tmp_path / "r.h5"), *more[1:]])
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out) == (2, "")
    assert shown.err == f"fastcube: {tmp_path / 'r.h5'} must have trials of at least one network, got none\n"


def test_the_command_takes_a_network(capsys):
    shown = run_command(capsys, "reliability", "hypercube", "--n", 2, "--fail", "links", "--rate", "0.5").out
    assert shown.splitlines()[1].split() == ["hypercube", "links", "2", "0.5", "0.3125"]
    with pytest.raises(SystemExit):
        main(["reliability", "hypercube", "--rate", "0.5"])
    assert "n must be given for a network, such as hypercube --n 4" in capsys.readouterr().err


def folded_step(v, d, n):
    return v ^ (1 << d) if d < n else v ^ ((1 << n) - 1)


@pytest.mark.kernels
@pytest.mark.parametrize("what", ["nodes", "links"])
def test_a_network_of_ones_own_has_its_curve(what, tmp_path):
    """The folded hypercube as a user writes it: the nodes fail in the order of the built-in one, the links in another."""
    mine = fc.custom_network("mine", "folded again", step=folded_step, slots=lambda n: n + 1, sizes=lambda n: n >= 3)
    own = fc.survival_curve_study(mine)
    many = 16 if what == "nodes" else 40
    results = fc.run(own, failing=what, n=4, failed=range(many + 1), trials=5000, seed=3, output=tmp_path / "mine.h5")
    named = fc.run(CURVE, network="folded", failing=what, n=4, failed=range(many + 1), trials=5000, seed=3)
    for stat in (s.name for s in CURVE.statistics):
        e, other = (fc.reliability(r, 0.4, stat=stat) for r in (results, named))
        assert (e.value == pytest.approx(other.value)) or what == "links"
        assert abs(e.value - other.value) <= 4.9 * (e.stderr + other.stderr)
        assert fc.reliability(fc.open_results(tmp_path / "mine.h5"), 0.4, stat=stat) == e
    key = own.key(3, own.point({"network": "mine", "failing": what, "n": 4, "failed": 9}))
    drawn = [own.explain({"network": "mine", "failing": what, "n": 4, "failed": 9}, key, t).data for t in range(50)]
    few = own.count({"network": "mine", "failing": what, "n": 4, "failed": 9}, 50, seed=3).counts
    assert few["connected"] == sum(d["connected"] for d in drawn)
    assert few["connected_pairs"] == sum(comb(size, 2) for d in drawn for size in d["components"])
    with pytest.raises(
        fc.ParameterError, match=r"family must be a network of your own, made by fc\.custom_network, got 'folded'"
    ):
        fc.survival_curve_study("folded")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "reliability hypercube --n 40 --fail links --rate .4",
            "n must be at most 4 for exact values of hypercube from all sets of faulty links",
        ),
        ("reliability hypercube --n 5 --fail links --rate .4", "n must be at most 4 "),
        (
            "reliability hypercube --n 40 --rate .4",
            "n must be at most 5 for exact values of hypercube from all sets of faulty nodes",
        ),
        (
            "lifetime hypercube --n 40",
            "n must be at most 4 for exact values of hypercube from all orders of failing nodes",
        ),
        ("lifetime torus-8 --n 6 --fail links", "n must be at most 3 "),
    ],
)
def test_the_range_of_exact_values_is_that_in_which_there_are_some(capsys, line, said):
    """The largest n of a message is computed, and the next larger one is refused by the same message."""
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    text = capsys.readouterr().err
    assert ended.value.code == 2 and text.startswith(f"fastcube: {said}") and "isolated_node_bounds" in text
