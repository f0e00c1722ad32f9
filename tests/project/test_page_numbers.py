"""Numbers in sentences of the documentation come from cached results, records or the code."""

from __future__ import annotations

import importlib
import math
import re
import sys
from pathlib import Path

import pytest

import fastcube as fc
from fastcube.exact import bounds
from fastcube.exact.bounds import max_unsafe
from fastcube.kernels.unsafe import layout
from fastcube.measure import grid, inventory
from fastcube.measure.asymptotic import MIN_NONZERO_TRIALS
from fastcube.measure.estimate import bounded_mean, paired_difference
from fastcube.measure.goal import FEW_EVENTS
from fastcube.measure.paper import installed_benchmarks
from fastcube.plot import sheet, sheet_options, style
from fastcube.results import hdf5, size, writing
from fastcube.running import checkpoints
from fastcube.running.point_work import PointWork
from fastcube.studies.lee_hayes.unsafe import _RARE_CLASS

DOCS = Path(__file__).resolve().parents[2] / "docs"
README = (DOCS.parent / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import tables

    yield tables
    for name in ("tables", "sheets"):
        sys.modules.pop(name, None)


def read_page(name: str) -> str:
    """A page with all its words on one line."""
    return " ".join((DOCS / f"{name}.md").read_text(encoding="utf-8").split())


def scientific(x: float, digits: int) -> str:
    """A number as pages write it: 2.70 · 10⁻⁷."""
    head, power = f"{x:.{digits}e}".split("e")
    return f"{head} · 10{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def leading_form(n: int) -> float:
    """(16 lambda / n^2) 2^(-2 sqrt n), lambda the smallest positive root of the page's series."""
    low, high = 1.0, 1.3
    for _ in range(60):
        middle = (low + high) / 2
        value = sum((-1) ** k * middle**k / (2 ** (k * k - k) * math.factorial(k)) for k in range(12))
        low, high = (middle, high) if value > 0 else (low, middle)
    return 16 * low / n**2 * 2 ** (-2 * math.sqrt(n))


def test_critical(tables):
    page, excess, sharpness = read_page("critical"), {}, {}
    for n, cells in tables.critical_rows().items():
        p, _, sharpness[n], _, factor, proved, *units = cells
        ratio, log, root = float(p) / leading_form(n), math.log(n), math.sqrt(n)
        excess[n] = (ratio - 1) * root / log, (ratio - 1) * root / log**2
        assert float(factor) == pytest.approx(ratio, rel=6e-4)
        assert [float(x) for x in units] == pytest.approx(excess[n], abs=2e-3)
        bounds = 1 + log / root, 1 + 5 * log**2 / root
        assert [float(x) for x in proved.split(", ")] == pytest.approx(bounds, abs=0.06)
        assert bounds[0] < ratio < bounds[1] and 3 < ratio < 5 and 3 < excess[n][0] < 5
    assert (
        f"falls from {excess[7][0]:.1f} at n = 7 to {excess[17][0]:.1f} at n = 17 and {excess[24][0]:.1f} at n = 24"
        in page
    )
    assert f"from n = 7 on, from {excess[7][1]:.2f} to {excess[24][1]:.2f}" in page
    assert all(excess[n][i] > excess[n + 1][i] for n in range(7, 24) for i in (0, 1))
    assert f"falls from {float(sharpness[7]):.2f} at n = 7 to {float(sharpness[24]):.2f} at n = 24" in page
    assert f"is {math.log(24) / math.sqrt(24):.2f} at n = 24 and falls below 0.1 only from n = 8,100 on" in page
    assert math.log(8100) / math.sqrt(8100) < 0.1 < math.log(8099) / math.sqrt(8099)
    assert f"only from {math.log(7):.1f} to {math.log(24):.1f}," in page


def test_percolation(tables):
    results, page = tables.load_results("survival-curve-percolation"), read_page("percolation")
    assert {tally.trials for _, tally in results} == {10**4} and "10^4 orders each" in page
    assert f"{len({p['failed'] for p, _ in results if p['n'] == 8})} values of c from 0 to 4" in page
    *rows, limit = [line.strip("| ").split(" | ") for line in tables.TABLES["percolation"]().splitlines()[2:]]
    numbers = [[float(cell.split()[0]) for cell in row] for row in rows]
    assert [row[0] for row in numbers] == list(range(8, 15))
    for n, *fractions, peak, critical in numbers:
        assert critical == pytest.approx(n * (1 / n + 1 / n**2 + 7 / (2 * n**3)), abs=6e-4)
        assert critical < peak < critical + 0.14  # above, closer with n
        sides = [float(y) - x for y, x in zip(limit[1:5], fractions, strict=True)]
        assert sides[1] > 0 > max(sides[0], sides[2], sides[3])
    for c, cell in zip((1.5, 2, 3), limit[2:5], strict=True):
        y = float(cell)
        assert y == pytest.approx(1 - math.exp(-c * y), abs=1e-4) and y > 0.5
    for name in range(1, 5):
        distances = [abs(row[name] - float(limit[name])) for row in numbers]
        assert distances == sorted(distances, reverse=True)
    gaps = [row[5] - row[6] for row in numbers]
    assert gaps[-1] < gaps[0] / 1.9


def test_critical_grid(tables):
    from fastcube.studies.lee_hayes import critical_grid

    page, record = read_page("critical"), tables.load_record("critical")
    assert (
        f"chi-square is {record['chi_square']['18']} with one degree of freedom, the largest of {len(record['rows'])}"
        in page
    )
    (trials,) = {tally.trials for _, tally in tables.load_results("unsafe-critical-fine")}
    most = max(place.trials for place in critical_grid.PLACES.values())
    assert f"from {trials:,} trials at each point, the table from up to {most // 10**6} million" in page
    for n, (_, low, high, *_) in ((int(n), row) for n, row in record["rows"].items()):
        half = (float(high) - float(low)) / (float(high) + float(low))
        assert half < 1.001 * critical_grid.target_half_width(n) == 1.001 * (1e-4 if n <= 16 else 1e-3)
        near = [p / critical_grid.PLACES[n].half for p in (q["p"] for q in critical_grid.points([n]))]
        assert len(near) == 7 and sum(abs(x - 1) < (0.0101 if n <= 16 else 0.0201) for x in near) == 3
        for place in (
            q / critical_grid.PLACES[n].half for q in (critical_grid.PLACES[n].low, critical_grid.PLACES[n].high)
        ):
            assert sum(abs(x / place - 1) < 0.0201 for x in near) == 2


def test_speed(tables):
    known = {(benchmark.name, benchmark.baseline) for benchmark in installed_benchmarks()}
    assert {(name, baseline) for name, baseline, *_ in tables.load_record("speed")["rows"]} <= known


def test_statistics(tables):
    close = tables.load_results("unsafe-rare").estimate("close_pair", n=20, f=10)
    assert f"only {close.value:.1%} of the fault sets have two faults within distance 2" in read_page("statistics")


def test_networks(tables):
    page = read_page("networks")
    assert {tally.trials for _, tally in tables.load_results("hitting")} == {10**4} and "from 10⁴ orders" in page
    isolated = [
        tables.load_results("survival").estimate("no_isolated_node", network=name, n=8, f=128).low
        for name in ("balanced", "hypercube")
    ]
    assert isolated[0] > isolated[1] + 0.05  # fewer fault sets isolate a node of a balanced hypercube
    unpaired = tables.load_results("survival-links")
    assert {t.trials for p, t in unpaired if p["network"] == "balanced"} == {10**5} and "from 10⁵ trials" in page


def test_which_networks_exist():
    page, families = read_page("networks"), fc.network_families()
    numbers = {n: sum(family.sizes(n) for family in families.values()) for n in range(2, 13)}
    assert len(families) == 15 > max(numbers.values()) and "fifteen networks, but no n has all of them" in page
    assert numbers[8] == numbers[9] == 12 and "For example, twelve exist at n = 8, and twelve at n = 9." in page
    assert numbers[12] == 14 and "Fourteen of the fifteen networks exist at n = 12, but only these five" in page
    needs = {
        "twisted": (2, 1),
        "balanced": (2, 0),
        "hyperx-4": (2, 0),
        "torus-8": (3, 0),
        "hyperx-8": (3, 0),
        "torus-16": (4, 0),
    }
    assert (
        "twisted needs an odd n, balanced and hyperx-4 need an even n, torus-8 and hyperx-8 a multiple of 3, and torus-16"
        in page
    )
    for name, family in families.items():
        step, left = needs.get(name, (1, 0))
        assert {n for n in range(5, 13) if family.sizes(n)} == {n for n in range(5, 13) if n % step == left}, name
    absent = {n: {name for name, family in families.items() if not family.sizes(n)} for n in (8, 9)}
    assert absent == {8: {"twisted", "torus-8", "hyperx-8"}, 9: {"balanced", "torus-16", "hyperx-4"}}
    assert "Balanced, torus-16 and hyperx-4 do not, but twisted, torus-8 and hyperx-8 do." in page


def test_networks_with_many_links(tables):
    """The augmented cube beside HyperX networks: the same faults, of which one of the two survives all."""
    page, nine = read_page("networks"), tables.load_results("survival-nine")
    tallies = {(name, f): nine.tallies[name, 9, f, 0] for name in ("augmented", "hyperx-8") for f in (64, 128, 192)}
    assert len({tally.ranges for tally in tallies.values()}) == 1
    lost = {place: tally.trials - tally.counts["connected"] for place, tally in tallies.items()}
    more = lost.pop(("augmented", 192))
    assert not any(lost.values())
    e = paired_difference(more, more, tallies["augmented", 192].trials)
    width = max(e.high - e.value, e.value - e.low)
    assert f"disconnected in {more}, so hyperx-8 is ahead by {e.value:.6f} ± {width:.6f}." in page
    nodes = tables.load_results("hitting-nodes")
    names = dict.fromkeys(str(point["network"]) for point, _ in nodes)
    for n in range(4, 9):
        have = [x for x in names if x != "hypercube" and fc.network_families()[x].sizes(n)]
        lives = {x: nodes.estimate("lifetime_diff", network=x, failing="nodes", n=n) for x in have}
        best, second = sorted(have, key=lambda x: lives[x].value)[:-3:-1]
        assert (
            best == max(have, key=lambda x: fc.network_families()[x].degree(n)) and lives[best].low > lives[second].high
        )
        assert best == ("hyperx-8" if n == 6 else "augmented")
        if n == 6:
            gain, least = lives[best].value - lives[second].value, lives[best].low - lives[second].high
            assert f"by {gain:.4f}, and by at least {least:.4f} if both intervals hold" in page
    assert {point["n"] for point, _ in nodes} == {4, 5, 6, 7, 8} and "No lifetimes were sampled for n > 8" in page


def test_subtracted_rows_differ_from_the_differences(tables):
    page, eight = read_page("networks"), tables.load_results("survival")
    (own, its) = (eight.tallies[name, 8, 128, 0].trials for name in ("crossed", "hypercube"))
    assert f"in all {own:,} trials of its own row, but the row of the hypercube has only the first {its:,}" in page
    values = [
        eight.estimate(x, network=name, n=8, f=128).value
        for x, name in (("connected", "crossed"), ("connected", "hypercube"), ("connected_diff", "crossed"))
    ]
    assert abs(values[0] - values[1] - values[2]) > 0.0005


def test_failure_domains(tables):
    page = read_page("failure-domains")
    boards, switches = (tables.load_results(f"survival-domains{x}") for x in ("", "-switches"))
    assert {tally.trials for results in (boards, switches) for _, tally in results} == {10**6} and "10⁶ trials" in page
    at = {"network": "hypercube", "domain": "board-8"}
    few = {name: boards.estimate(name, **at, domains=12) for name in ("connected", "single_connected", "st_connected")}
    assert f"connected with probability {few['connected'].value:.3f}, whereas 96 single" in page
    assert f"leave them connected with {few['single_connected'].value:.3f}" in page
    assert f"12 failed boards in {few['st_connected'].value:.1%} of the trials" in page
    differences = {
        (domain, many): boards.estimate("connected_diff", network="hypercube", domain=domain, domains=many)
        for _, _, _, domain, many in boards.tallies
    }
    for many in (12, 20):
        e = differences["board-8", many]
        assert f"{e.value:+.4f} ± {max(e.high - e.value, e.value - e.low):.4f}" in page
    assert min(differences, key=lambda place: differences[place].value) == ("board-8", 12)
    assert boards.estimate("no_isolated_node", **at, domains=20).value == 1
    cut = {
        name: switches.estimate(name, f=0, domains=16) for name in ("disconnected", "no_isolated_node", "st_connected")
    }
    assert f"cut off in {cut['disconnected'].value:.1%} of the trials" in page
    assert cut["disconnected"].value == pytest.approx(1 - cut["no_isolated_node"].value)
    assert f"connected in {cut['st_connected'].value:.2%}" in page
    lines = (DOCS / "failure-domains.md").read_text(encoding="utf-8").splitlines()
    assert sum(len(line.split()) for line in lines if not line.startswith("|")) <= 500
    assert all(word in page for word in ("board", "rack", "switch", "BCube"))


def test_reliability_of_small_networks():
    page = read_page("networks")
    for n, shown in ((4, "p = .1029 for n = 4"), (5, "p = .3542 for n = 5")):
        mine, theirs = (fc.exact_survival(name, n).nodes for name in ("moebius1", "hypercube"))
        signs = [
            sum((a - b) * p**f * (1 - p) ** (2**n - f) for f, (a, b) in enumerate(zip(mine, theirs, strict=True))) > 0
            for p in (float(shown[4:9]) - 5e-5, float(shown[4:9]) + 5e-5)
        ]
        assert shown in page and signs == [False, True]
    above = [fc.exact_survival(name, 4).nodes[9] for name in ("moebius1", "hypercube")]
    points = 100 * (above[0] - above[1]) / math.comb(16, 9)
    assert f"At n = 4 with f = 9 moebius1 is {points:.1f} percentage points above the hypercube" in page


def test_a_risk_of_disconnection():
    below, above = (fc.isolated_node_bounds("hypercube", 10, f=f) for f in (339, 340))
    assert below.high < 0.01 < above.low
    assert "in Q_10 this probability passes 1% between f = 339 and f = 340" in read_page("networks")


def test_rules(tables):
    page = read_page("rules")
    assert {tally.trials for point, tally in tables.load_results("routing-rules") if point["f"] <= 100} == {100_000}
    assert "100,000 messages at each f" in page
    for point, tally in tables.load_results("routing-rules"):
        assert point["f"] > 100 or tally.maxima["levels_wrong"][0] == tally.maxima["vectors_wrong"][0] == 0


def test_gains_of_common_random_numbers(tables):
    """Standard error of the difference of two independent runs over that of the paired difference."""
    page, networks, rules = read_page("concepts"), tables.load_results("survival"), tables.load_results("routing-rules")
    trials = {tuple(point.values()): tally.trials for point, tally in networks}

    def deviation(statistic, point):
        """Of one trial, because points have different numbers of trials."""
        return networks.estimate(statistic, **point).stderr * math.sqrt(trials[tuple(point.values())])

    gains = []
    for point, _ in networks:
        paired = deviation("connected_diff", point) if point["network"] != "hypercube" else 0.0
        if paired:
            two = [deviation("connected", {**point, "network": x}) for x in (point["network"], "hypercube")]
            gains.append(math.hypot(*two) / paired)
    assert f"by a factor of {min(gains):.1f} to {max(gains):.1f} for the networks at n = 8" in page and len(gains) > 40
    two = [rules.estimate(f"{name}_delivered", n=10, f=150).stderr for name in ("vectors", "levels")]
    gain = math.hypot(*two) / rules.estimate("vectors_minus_levels", n=10, f=150).stderr
    assert f"and of {gain:.1f} for the rules VECTORS and LEVELS in Q_10 with 150 faulty nodes" in page


def test_widths_of_bounded_means(tables):
    results, page = tables.load_results("survival-components"), read_page("networks")
    assert {tally.trials for _, tally in results} == {10**4}
    some = [results.estimate("largest_component", **point) for point, _ in results]
    wider = sorted(e.half_width / (1.96 * e.stderr) for e in some if e.stderr)
    least, median, most = round(wider[0]), round(wider[len(wider) // 2]), round(wider[-1], -1)
    assert f"{least} to {most:.0f} times as wide as normal intervals, {median} times at the median" in page


def test_numbers_in_words():
    numerals = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    rules = sum(name.endswith("_delivered") for name in (s.name for s in fc.study("routing-rules").statistics))
    networks, papers = len(fc.network_families()), len(inventory.papers())
    assert (
        networks == 15 and "Fifteen networks, or eight rules on the hypercube" in README and numerals[rules] == "eight"
    )
    assert f"gives all {numerals[rules]} rules the faults" in read_page("rules")
    assert f"## Results on {numerals[papers]} papers" in README


def test_rounds_of_rules(tables):
    """Levels and vectors are stable after n - 1 rounds, the unsafe nodes after floor(n^2 / 3)."""
    page = read_page("rules")
    assert page.count("at most n - 1 rounds") == 2 and "at most floor(n²/3) rounds" in page
    for point, tally in tables.load_results("safety-status-ten"):
        for name, most in (
            ("levels", point["n"] - 1),
            ("vectors", point["n"] - 1),
            ("lee_hayes", point["n"] ** 2 // 3),
        ):
            assert tally.maxima[f"{name}_most_rounds"][0] <= most


def test_gathering(tables):
    results = tables.load_results("gather")
    few, many = (results.estimate("deadlocked_as_printed", n=8, links=k, f=0).value for k in (32, 64))
    assert f"at n = 8 in {few:.1%} of the fault sets with 32 faulty links and in {many:.1%} with 64" in read_page(
        "papers/leu_kuo"
    )


def test_dual_cubes(tables):
    """More than 90% below 30% at each published m; more than 50% at a rate of 50% at most of them."""
    results = tables.load_results("dualcube-routing")
    points = {(p["m"], p["rate"]): results.estimate("delivered", **p).value for p, _ in results}
    assert all(value > 0.9 for (_, rate), value in points.items() if rate < 0.3)
    assert sum(points[m, 0.5] > 0.5 for m in range(5, 10)) > 2


def test_rare_events():
    """Plain trials for the half-widths that the page shows: of a probability, of a normal interval, of empirical Bernstein."""
    page = read_page("rare")
    (half,) = {float(shown) for shown in re.findall(r"± (6\.\de-10) ", page)}
    close, low, high = map(float, re.search(r"(\d\.\d+e-07) \[(\d\.\d+e-07), (\d\.\d+e-07)\]", page).groups())
    mean = math.comb(20, 2) * math.comb(40, 2) * 2 / (2**40 - 1)  # two unsafe nodes per pair of faults at distance 2
    assert f"and {scientific(mean, 2)} nodes are unsafe on average" in page
    assert f"with probability {scientific(close, 3)}" in page
    plain = 1.96**2 * close / ((high - low) / 2) ** 2, 1.96**2 * 2 * mean / half**2
    assert f"about {scientific(plain[0], 0)} trials for the probability" in page
    assert f"about {scientific(plain[1], 0)} for the mean with a normal interval" in page
    assert 1e21 < 7 * math.log(4 / 0.05) * max_unsafe(40, 20, 40) / (3 * half) < 1e22 and "need more than 10²¹." in page
    mean = fc.isolated_node_bounds("hypercube", 12, f=40, links=25).mean
    assert f"# about {float(mean):.2e}" in page


def test_format():
    page, units = read_page("format"), (f"{size.MOST_BYTES >> 20} MiB", f"{grid.MOST_POINTS:,} points")
    limits = *units, f"{size.MOST_NUMBERS // 10**6} million numbers", f"{size.MOST_CELLS // 10**6} million estimates"
    assert all(
        text in page for text in (*limits, f"{size.MOST_PARTS} counters", f"{size.MOST_TEXT >> 20} Mi characters")
    )
    assert f"follow {hdf5.TRAILER_SIZE} bytes" in page
    assert f"# The results file, format {'.'.join(map(str, writing.FORMAT_VERSION))}" in page


def test_lanes(tables):
    close = tables.load_results("unsafe-rare").estimate("close_pair", n=16, f=8)
    assert f"At n = 16 and f = 8 about {close.value:.0%} of the trials pass" in read_page("lanes")


def test_routes_among_faults_at_distance_three():
    """ROUTE1(k) takes a shortest path for k <= 3; for k = 5 it can be stuck, although no node is unsafe."""
    faults = [4, 9, 19, 30, 34, 47, 53, 56, 71, 74, 80, 93, 97, 108, 118, 123]
    assert min((a ^ b).bit_count() for a in faults for b in faults if a != b) == 3
    cube = fc.Hypercube(7, faulty_nodes=faults)
    routes = {k: fc.route(cube, 55, 72, algorithm="ROUTE1", k=k) for k in (1, 2, 3, 5)}
    assert fc.find_unsafe(cube).fraction == 0 and routes.pop(5).outcome == "stuck"
    assert {len(route.path) for route in routes.values()} == {8} and "ROUTE2(k) for k ≤ 3, deliver" in read_page(
        "lanes"
    )


def test_kernels_of_pages():
    """Each name in code font of the table of kernels is defined in ``kernels/``."""
    text = (DOCS / "speed.md").read_text(encoding="utf-8")
    rows = text.partition("| kernels | studies |")[2].partition("\n\n")[0].splitlines()[2:]
    names = {name for row in rows for name in re.findall(r"`(\w+)`", row.split(" | ")[0])}
    code = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS.parent / "kernels").rglob("*.py"))
    assert len(names) > 25 and {name for name in names if not re.search(rf"\b{name}\b", code)} == set()


def test_blocks_of_the_table_of_instructions(monkeypatch):
    """The page, the benchmark that prints its table, and the kernels name the same blocks."""
    monkeypatch.syspath_prepend(DOCS.parent / "benchmarks")
    names = [block for *_, block in importlib.import_module("instructions").BLOCKS]
    rows = read_page("speed").partition("| block |")[2].partition("\n\n")[0]
    assert re.findall(r"\(`(\w+)`\)", rows) == names
    code = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS.parent / "kernels").rglob("*.py"))
    assert [name for name in names if f"def {name}(" not in code] == []


def test_widths_of_paired_differences():
    """Empirical Bernstein of differences in [-1, 1], over the exact interval of paired outcomes."""
    ratios = []
    for ups, downs in ((0, 0), (1, 0), (2, 0), (1, 1)):
        paired = paired_difference(ups - downs, ups + downs, 10**7)
        bounded = bounded_mean(ups - downs, ups + downs, 10**7, most=1.0, least=-1.0)
        ratios.append(bounded.half_width / paired.half_width)
    assert f"by a factor of {min(ratios):.1f} to {max(ratios):.1f} where at most two of 10⁷ do" in read_page(
        "statistics"
    )


def test_range_of_isolated_node_bounds():
    assert "in the hypercube for every n, in other networks up to n = 16" in read_page("rare")
    fc.isolated_node_bounds("hypercube", 17, f=40)
    with pytest.raises(fc.ParameterError, match="n must be in"):
        fc.isolated_node_bounds("crossed", 17, f=40)


def test_constants_of_statistics(benchmark_constants):
    page, (events, large, proportions) = read_page("statistics"), benchmark_constants
    assert f"({', '.join(map(str, (1, *layout.CLASSES[:4])))}, ... or more)" in page
    assert _RARE_CLASS == 1e-6 and "rarer than one trial in 10⁶" in page
    assert f"stops on fewer than {FEW_EVENTS} events" in page
    assert f"before {MIN_NONZERO_TRIALS} trials differ" in page
    assert f"one of {1 / events:,.0f} trials, of which a fraction has the value {large} and" in page
    assert proportions == (0.5, 1e-2, 1e-3, 1e-4, 1e-5, 3e-6) and "0.5, 10⁻², 10⁻³, 10⁻⁴, 10⁻⁵ and 3 · 10⁻⁶" in page


@pytest.fixture
def benchmark_constants(monkeypatch):
    monkeypatch.syspath_prepend(DOCS.parent / "benchmarks")
    import interval_stopping

    return interval_stopping.EVENTS, interval_stopping.LARGE, interval_stopping.FRACTIONS


def test_constants_of_proofs():
    page = read_page("proofs")
    assert f"K = min(f, {bounds._MAX_FOLLOWED})" in page
    assert f"the last class D of {', '.join(map(str, layout.DIMENSIONS))} that" in page
    assert f"1 to 7, 8 to 31, ..., from {layout.CLASSES[-1]:,} on" in page and layout.CLASSES[:2] == (8, 32)


def test_columns_of_figures():
    page = read_page("format")
    assert f"letters of {style.SMALLEST:g} to {sheet_options.STYLES['paper'].letters:g} points" in page
    assert f"at most {sheet._COLUMN_HEIGHT} inches in a column" in fc.Results.plot.__doc__


def test_moebius_cubes():
    page = read_page("networks")
    counts = [fc.exact_survival(name, 4).nodes[6] for name in ("moebius1", "hypercube")]
    assert f"where {counts[0]} fault sets leave moebius1 connected and {counts[1]} the hypercube" in page
    links = [fc.exact_survival(name, 3).links for name in ("crossed", "locally-twisted", "moebius0", "moebius1")]
    assert all(some == links[0] for some in links)  # at n = 3 the four twisted cubes are equal


def test_two_faulty_links():
    """In Q_3 LEVELS and VECTORS refuse a message that a path of 3 links could carry."""
    cube = fc.Hypercube(3, faulty_links=[(0b000, 0b001), (0b010, 0b110)])
    assert fc.distance(cube, 0, 1) == 3
    assert {fc.route(cube, 0, 1, algorithm=rule).outcome for rule in ("LEVELS", "VECTORS")} == {"refused"}


def test_grids_of_networks():
    """Compare the remarks next to the commands of the page."""
    text = (DOCS / "networks.md").read_text(encoding="utf-8")
    remarks = dict(re.findall(r"^fastcube run (\S+(?: --grid \S+)?) .*?# (.*)$", text, re.MULTILINE))
    points = {name: fc.study(name.split()[0]).grid(*name.split()[2:]).points for name in remarks if "--set" not in name}
    sizes = {name: sorted({p["n"] for p in some}) for name, some in points.items()}
    networks = {name: len({p["network"] for p in some}) for name, some in points.items()}
    assert (
        networks["survival"] == 12 and sizes["survival"] == [8] and "n = 8, the twelve networks" in remarks["survival"]
    )
    assert sizes["survival --grid links"] == [7, 8, 9] and "n = 7, 8, 9" in remarks["survival --grid links"]
    assert (
        sizes["survival-rate --grid half"] == [*range(3, 13)] and "n = 3 .. 12" in remarks["survival-rate --grid half"]
    )
    assert networks["survival-curve"] == 6 and "n = 8, all f, six networks, 10^5 orders" in remarks["survival-curve"]
    assert fc.study("survival-curve").grid().trials == 10**5
    large = points["survival-curve --grid large"]
    assert len({p["failed"] for p in large if p["n"] == 14}) == 129 and sizes["survival-curve --grid large"] == [
        10,
        12,
        14,
    ]
    assert "n = 10, 12, 14, 129 values of f" in remarks["survival-curve --grid large"]
    assert sizes["hitting"] == [*range(2, 15)] and "n = 2 .. 14" in remarks["hitting"]
    assert sizes["hitting --grid ranking"] == [*range(4, 9)] and "n = 4 .. 8" in remarks["hitting --grid ranking"]


def test_batch():
    page = read_page("costs")
    engines = (DOCS.parent / "fastcube/running/engines.py").read_text(encoding="utf-8")
    assert [*re.findall(r"unit_seconds=(\S+),", engines)] == ["0.2", "1.0", "2.0"]
    assert "0.1 to 0.2 s on threads, 0.5 to 1 s on MPI and 1 to 2 s on Dask" in page
    assert f"Checkpoints take at most {checkpoints.TIME_FRACTION:.0%} of the run time" in page


def test_lengths_of_work_units():
    """Units begin with one trial and grow to half the engine's duration at least, as their ends are round numbers."""
    for speed in (1e3, 1.7e5, 3.3e8):
        work, lengths = PointWork(fc.study("two-partition").tally, [{}], []), []
        work.todo.append((0, 2**40))
        for _ in range(60):
            first, stop = work.take(0.2)
            lengths.append(stop - first)
            work.timed, work.seconds, work.largest = stop, stop / speed, max(work.largest, stop - first)
        assert lengths[0] == 1 and all(0.099 < many / speed < 0.201 for many in lengths[20:])


def test_columns_of_evaluate():
    """A study of messages has two columns per rule, of which the page names ROUTE1's."""
    from fastcube.measure.evaluations import EVALUATIONS

    table = (
        (DOCS / "faults.md").read_text(encoding="utf-8").partition("| study | column | content |\n|---|---|---|\n")[2]
    )
    rows = [line.split(" | ") for line in table.partition("\n\n")[0].splitlines()]
    present: list[str] = []
    columns: dict[str, list[str]] = {}
    for studies, names, _ in rows:
        for name in re.findall(r"`([\w-]+)`", studies) or present:
            columns.setdefault(name, []).extend(re.findall(r"`(\w+)`", names))
        present = re.findall(r"`([\w-]+)`", studies) or present
    assert columns.keys() == EVALUATIONS.keys()
    for name, (_, _, found) in EVALUATIONS.items():
        if columns[name] == ["route1", "route1_links"]:
            assert [f"{outcome}_links" for outcome in found[::2]] == [*found[1::2]]
        else:
            assert columns[name] == [*found]


def test_lifetimes():
    page = read_page("lifetime")
    times = re.findall(r"quantile 0\.[15]\s+([\d.]+) ±", page)
    assert len(times) == 2 and all(f"after {float(t):.2f} years" in page for t in times)
    (fraction,) = re.findall(r"hypercube links\s+8\s+0\.5\s+([\d.]+) ±", page)
    assert f"the largest component has {float(fraction):.2%} of the nodes" in page


@pytest.mark.kernels
def test_tolerances_of_rules():
    page = read_page("rules")
    assert fc.tolerance("ROUTE", 5).faults == 0 and "ROUTE tolerates no faulty node" in page
    assert [fc.tolerance(rule, 5).faults for rule in ("ROUTE1", "ROUTE3", "A1", "LEVELS", "VECTORS")] == [1, 3, 4, 4, 4]
    assert "At n = 5 ROUTE1(1) tolerates 1, ROUTE3(1) 3, and A1, LEVELS and VECTORS n - 1 = 4." in page
    assert fc.tolerance("DFS", 4).cube is None and fc.tolerance("DFS", 5, most=6).cube is None
    assert str(fc.tolerance("A1", 4)) in page


def test_free_subcubes():
    page = read_page("free-subcube")
    number = r"(> 0\.9\d+|[\d.]+) (?:± ([\d.]+) )?"
    rows = {f: re.search(rf"10 {f} 0 1,000,000 {number}{number}{number}", page).groups() for f in (16, 32)}
    free, _, aligned, _, missed, width = rows[16]
    assert free.startswith(">") and "had no fault in each of 10⁶ sets of 16 faulty nodes" in page
    limits = [f"{100 * (float(missed) + sign * float(width)):.1f}" for sign in (-1, 1)]
    assert f"was left in {float(aligned):.1%} of the same sets" in page
    assert f"in {float(missed):.1%} (95% interval {limits[0]} to {limits[1]}%)" in page
    assert f"probabilities are {100 * float(rows[32][0]):.1f} and {float(rows[32][2]):.1%}" in page
    assert (
        f"in all of 10⁶ trials, but an aligned block, as a buddy system gives it, in {float(aligned):.0%}."
        in read_page("../README")
    )
    exact = [fc.study("free-subcube").exact({"n": n, "f": 4, "links": 0})["fault_free_quarter"] for n in (3, 4)]
    assert exact[0] < exact[1] == 1 and "four faults can hit every quarter of Q_3, but Q_4 needs five" in page
