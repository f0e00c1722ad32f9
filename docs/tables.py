"""The generated parts of pages: tables from cached results, records and references, figures, and the errata.

    python docs/tables.py          # writes them into the pages, where a test compares them

A table stands between the lines ``<!-- table NAME -->`` and ``<!-- end -->``, so a page is whole wherever it is read.  Likewise
``<!-- code FILE.py -->`` or ``<!-- code FILE.py:FUNCTION -->`` begins a part that shows a file of ``docs``, or a function of it.
"""

from __future__ import annotations

import ast
import functools
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations, takewhile
from pathlib import Path
from typing import Any

import references
import sheets

import fastcube as fc
from fastcube.exact.bounds import max_unsafe
from fastcube.exact.unsafe import all_unsafe_probability
from fastcube.measure.estimate import Estimate, bounded_mean
from fastcube.results.rounding import estimate_texts
from fastcube.studies.lee_hayes.threshold import corrections, leading_order
from fastcube.studies.networks.curve import degree_left, giant_fraction

#: The place of a table or of code on a page, with its content.
PLACE = re.compile(r"^<!-- (table|code) (\S+) -->\n(?:(?!<!-- ).*\n)*?<!-- end -->$", re.MULTILINE)

#: Each line that looks like the first or last one of a place, and must be one.
_MARK = re.compile(r"^.*<!-- *(?:table|code|end)\b.*$", re.MULTILINE | re.IGNORECASE)

DOCS = Path(__file__).resolve().parent

#: Several tables come from one file.
load_results = functools.cache(sheets.load_results)

#: Half-width that differences to the hypercube are sampled to (``results/sample``): P(connected), and lifetimes of failing nodes.
RESOLUTION = 0.0005

#: The rules of docs/rules.md, in its order.
RULES = ("route", "route1", "sidetrack", "a1", "dfs", "route3", "levels", "vectors")

#: Numbers of faulty nodes of docs/rules.md.
FAULTS = (5, 10, 20, 50, 100)


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    assert len(lines) > 2, f"no row under {head}"
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _networks(name: str, n: int, faults: dict[str, Callable[[fc.Family], dict[str, int]]], statistic: str) -> str:
    """A row for each network, by degree, and a column for each of ``faults``."""
    results = load_results(name)
    known = fc.network_families()
    names = list(dict.fromkeys(str(point["network"]) for point, _ in results if point["n"] == n))
    difference = statistic.endswith("_diff")
    if difference:
        names = [x for x in names if x != "hypercube" and (name != "survival-links" or known[x].is_compared(n))]
    columns = []
    for chosen in faults.values():
        found = [results.estimate(statistic, network=x, n=n, **chosen(known[x])) for x in names]
        texts = difference_texts(found) if difference else estimate_texts(found)
        columns.append(dict(zip(names, texts, strict=True)))
    order = sorted(names, key=lambda name: known[name].degree(n))
    rows = [[str(known[x].degree(n)), x, *(column[x] for column in columns)] for x in order]
    table = _markdown(["degree", "network", *faults], rows)
    if difference:
        return table + _expected_misses(len(rows) * len(columns))
    trials = {x: [_trials(results, network=x, n=n, **chosen(known[x])) for chosen in faults.values()] for x in order}
    return table + _trials_table(trials, faults)


def _trials(results: fc.Results, **point: Any) -> int:
    """Number of trials of the one point with these values."""
    (tally,) = (tally for _, tally in results.sel(**point))
    return tally.trials


def _trials_table(trials: dict[str, list[int]], faults: Iterable[str]) -> str:
    """A table below one whose rows have different numbers of trials: a row for all networks with the same numbers."""
    rows: dict[tuple[int, ...], list[str]] = {}
    for name, numbers in trials.items():
        rows.setdefault(tuple(numbers), []).append(name)
    cells = [[", ".join(names), *(f"{number:,}" for number in numbers)] for numbers, names in rows.items()]
    return "\nThe numbers of trials:\n\n" + _markdown(["network", *faults], cells)


def difference_texts(estimates: Sequence[Estimate]) -> list[str]:
    """Differences with their intervals; ``within 0.0005`` if the interval holds 0 and nothing farther away."""
    texts = estimate_texts(estimates)
    near = [e.low <= 0 <= e.high and max(-e.low, e.high) <= 1.2 * RESOLUTION for e in estimates]
    bounds = [max(RESOLUTION, math.ceil(1e4 * max(-e.low, e.high)) / 1e4) for e in estimates]
    return [f"within {bound}" if few else text for text, few, bound in zip(texts, near, bounds, strict=True)]


def _expected_misses(cells: int) -> str:
    """A line for a table of differences, each with an interval of its own."""
    return f"\nEach of the {cells} intervals has a level of 95%, so at most {cells / 20:.1f} misses are expected.\n"


def _nodes(*numbers: int) -> dict[str, Callable[[fc.Family], dict[str, int]]]:
    """Columns of these numbers of faulty nodes."""
    return {f"f = {f}": lambda family, f=f: {"f": f} for f in numbers}


def _links(n: int) -> dict[str, Callable[[fc.Family], dict[str, int]]]:
    """Columns of fractions of each network's links, of the grid ``links``."""
    return {f"{5 * i}%": lambda family, i=i: {"f": 0, "links": family.links(n) * i // 20} for i in (4, 6, 8, 10, 12)}


def _rules(statistic: str) -> str:
    """A row for each rule that has the statistic; empty where no message was delivered."""
    results = load_results("routing-rules")
    rows = []
    for rule in RULES:
        name = f"{rule}_{statistic}"
        if name in {s.name for s in results.study.statistics}:
            found = [results.estimate(name, n=10, f=f) for f in FAULTS]
            texts = estimate_texts(found)
            rows.append([rule.upper(), *(t if e.value == e.value else "" for t, e in zip(texts, found, strict=True))])
    return _markdown(["rule", *(f"f = {f}" for f in FAULTS)], rows)


def delivery_limits(rule: str, least: float = 0.99) -> tuple[int | None, int | None]:
    """In Q_10: the most faulty nodes up to which a rule surely delivers this fraction, and the fewest from which it does not.

    Both are among the measured numbers of faulty nodes; None where all of these, or none, deliver as much.
    """
    found = {}
    for name in ("routing-rules", "routing-rules-heavy"):
        results = load_results(name).sel(n=10)
        found |= {int(point["f"]): results.estimate(f"{rule}_delivered", **point) for point, _ in results}
    numbers = sorted(found)
    enough = list(takewhile(lambda f: found[f].low >= least, numbers))
    few = list(takewhile(lambda f: found[f].high < least, reversed(numbers)))
    return (enough[-1] if enough else None), (few[-1] if few else None)


def _delivery_limits() -> str:
    """A row for each rule: up to which number of faulty nodes it delivers 99%, and from which it does not."""
    rows = [
        [rule.upper(), *("none measured" if f is None else str(f) for f in delivery_limits(rule))] for rule in RULES
    ]
    return _markdown(["rule", "at least 99% arrive up to f =", "fewer than 99% arrive from f ="], rows)


def _status(statistic: str) -> str:
    """A row for each kind of status."""
    results = load_results("safety-status-ten")
    kinds = {
        "lee_hayes": "FIND_UNSAFE",
        "wu_fernandez": "marking of Wu & Fernandez",
        "levels": "safety levels",
        "vectors": "safety vectors",
    }
    rows = [
        [label, *estimate_texts([results.estimate(f"{kind}_{statistic}", n=10, f=f) for f in FAULTS])]
        for kind, label in kinds.items()
    ]
    return _markdown(["status", *(f"f = {f}" for f in FAULTS)], rows)


def _hitting() -> str:
    """A row for each n: how often the first disconnection of the hypercube isolates no node."""
    results = load_results("hitting")
    rows = [
        [
            str(n),
            *estimate_texts([results.estimate("isolation_not_first", n=n)]),
            *estimate_texts([results.estimate("lifetime", n=n)]),
        ]
        for n in range(2, 15)
    ]
    return _markdown(["n", "1 - P(isolation_first)", "lifetime"], rows)


def _boards() -> str:
    """A row for each number of failed nodes of Q_8: P(connected) if they fail one by one, and by boards of 2, 4 and 8."""
    results, numbers, sizes = load_results("survival-domains"), range(32, 161, 32), (2, 4, 8)

    def column(statistic: str, size: int) -> list[str]:
        points = [{"network": "hypercube", "domain": f"board-{size}", "domains": nodes // size} for nodes in numbers]
        return estimate_texts([results.estimate(statistic, **point) for point in points])

    columns = [column("single_connected", 8), *(column("connected", size) for size in sizes)]
    rows = [[str(nodes), *cells] for nodes, *cells in zip(numbers, *columns, strict=True)]
    return _markdown(["failed nodes", "one by one", *(f"boards of {size}" for size in sizes)], rows)


def _switches() -> str:
    """A row for each number of failed switches of BCube(8, 2): whether all servers, and two random servers, are connected."""
    results = load_results("survival-domains-switches")
    numbers = sorted({int(point["domains"]) for point, _ in results})
    columns = [
        estimate_texts([results.estimate(statistic, f=0, domains=many) for many in numbers])
        for statistic in ("connected", "st_connected")
    ]
    rows = [[str(many), *cells] for many, *cells in zip(numbers, *columns, strict=True)]
    return _markdown(["failed switches of 192", "all servers connected", "two servers connected"], rows)


def _lifetimes(name: str, what: str) -> str:
    """A row for each network and a column for each n: difference of lifetimes; empty where the network does not exist."""
    results = load_results(name)
    sizes = range(4, 9)
    names = list(dict.fromkeys(str(point["network"]) for point, _ in results if str(point["network"]) != "hypercube"))
    columns, cells = [], 0
    for n in sizes:
        have = [network for network in names if fc.network_families()[network].sizes(n)]
        found = [results.estimate("lifetime_diff", network=network, failing=what, n=n) for network in have]
        columns.append(dict(zip(have, difference_texts(found), strict=True)))
        cells += len(have)
    rows = [[network, *(column.get(network, "") for column in columns)] for network in names]
    return _markdown(["network", *(f"n = {n}" for n in sizes)], rows) + _expected_misses(cells)


#: The networks of docs/networks.md that have the hypercube's degree and half as many squares, or more.
TWISTED = ("crossed", "locally-twisted", "moebius0", "moebius1", "twisted")


@functools.cache
def count_four_cycles(name: str, n: int) -> int:
    """Number of cycles of four links of a network of the cube family."""
    network = fc.network(name, n)
    pairs = Counter(pair for v in range(2**n) for pair in combinations(sorted(map(int, network.neighbours(v))), 2))
    return sum(math.comb(common, 2) for common in pairs.values()) // 2


def missing_four_cycles(name: str, n: int) -> int:
    """Number of 4-cycles of the hypercube beyond those of a network."""
    return count_four_cycles("hypercube", n) - count_four_cycles(name, n)


def first_terms(missing: int, n: int, f: int) -> float:
    """First terms of P(connected) of a twisted cube minus the hypercube's, f faulty nodes, ``missing`` 4-cycles fewer."""

    def containing(size: int, boundary: int) -> Fraction:
        """The probability that all of ``size`` nodes are nonfaulty, and all of their ``boundary`` neighbours faulty."""
        if f < boundary:
            return Fraction(0)
        return Fraction(math.comb(2**n - size - boundary, f - boundary), math.comb(2**n, f))

    pairs = containing(2, 2 * n - 2) - 2 * containing(2, 2 * n - 1) + containing(2, 2 * n)
    paths = containing(3, 3 * n - 5) - containing(3, 3 * n - 4)
    isolated = float(2**n * containing(1, n))
    return math.exp(-isolated) * float(2 * missing * (2 * paths - pairs))


def _four_cycles() -> str:
    """A row for each n: 4-cycles of the hypercube, and how many fewer each twisted cube has; empty where there is none."""
    known = fc.network_families()
    rows = [
        [str(n), str(count_four_cycles("hypercube", n))]
        + [str(missing_four_cycles(x, n)) if known[x].sizes(n) else "" for x in TWISTED]
        for n in range(3, 11)
    ]
    return _markdown(["n", "hypercube", *(f"fewer in {x}" for x in TWISTED)], rows)


def twist_rows() -> list[tuple[str, str, int, int]]:
    """The kept results, network, n and f of the comparisons of twisted cubes under faulty nodes."""
    rows = [("survival", x, 8, f) for f in (64, 96, 112, 128, 144, 160) for x in TWISTED[:4]]
    rows += [("survival-nine", x, 9, f) for f in (128, 192, 256) for x in TWISTED]
    return rows


def _twists() -> str:
    """A row for each n and f, a column for each twisted cube: measured difference, and the first terms."""
    cells: dict[tuple[int, int], dict[str, str]] = {}
    for name, network, n, f in twist_rows():
        estimate = load_results(name).estimate("connected_diff", network=network, n=n, f=f)
        measured, terms = difference_texts([estimate])[0], first_terms(missing_four_cycles(network, n), n, f)
        cells.setdefault((n, f), {})[network] = f"{measured} ({terms:.4f})"
    rows = [[str(n), str(f), *(row.get(x, "") for x in TWISTED)] for (n, f), row in cells.items()]
    return _markdown(["n", "f", *TWISTED], rows) + _expected_misses(sum(map(len, cells.values())))


def half_faulty(network: str, n: int) -> Estimate:
    """P(connected) minus the hypercube's with half of the nodes faulty: sampled from n = 6 on, exact below."""
    f = 2 ** (n - 1)
    if n > 5:
        return load_results("survival-sizes").estimate("connected_diff", network=network, n=n, f=f)
    sets = [fc.exact_survival(x, n).nodes[f] for x in (network, "hypercube")]
    exact = (sets[0] - sets[1]) / math.comb(2**n, f)
    return Estimate(exact, 0.0, exact, exact)


def _half() -> str:
    """A row for each n: two twisted cubes with half of the nodes faulty, measured or exact, and by the first terms."""
    rows, networks, sampled = [], ("crossed", "moebius1"), 0
    for n in range(4, 13):
        row = [str(n)]
        for network in networks:
            estimate = half_faulty(network, n)
            text = f"{estimate.value:.4f}, exact" if estimate.low == estimate.high else difference_texts([estimate])[0]
            row.append(f"{text} ({first_terms(missing_four_cycles(network, n), n, 2 ** (n - 1)):.4f})")
            sampled += estimate.low < estimate.high
        rows.append(row)
    return _markdown(["n", *networks], rows) + _expected_misses(sampled)


def _percolation() -> str:
    """A row for each n: the largest component at some degrees c, and the c of the largest susceptibility; the limits last."""
    results = load_results("survival-curve-percolation")
    degrees, sizes = (1.0, 1.5, 2.0, 3.0), range(8, 15)
    columns = [
        estimate_texts([results.estimate("largest_component", n=n, failed=int((n - c) * 2 ** (n - 1))) for n in sizes])
        for c in degrees
    ]
    rows = []
    for n, *cells in zip(sizes, *columns, strict=True):
        points = [point for point, _ in results if point["n"] == n]
        peak = max(points, key=lambda point: results.estimates(point)["susceptibility"].value)
        rows.append([str(n), *cells, f"{degree_left(peak):.3f}", f"{1 + 1 / n + 3.5 / n**2:.3f}"])
    rows.append(["limit", *(f"{giant_fraction(c):.4f}" for c in degrees), "1", "1"])
    return _markdown(["n", *(f"c = {c:g}" for c in degrees), "c of the peak", "n p_c, three terms"], rows)


def load_record(name: str) -> Any:
    """The record of a long run: ``data/NAME.json``."""
    return json.loads((DOCS.parent / "data" / f"{name}.json").read_text())


def _speed() -> str:
    """A row for each benchmark, with the speed of fastcube and its ratio to each baseline."""
    record = load_record("speed")
    found: dict[str, list[tuple[str, int, int]]] = {}
    for name, baseline, ours, other in record["rows"]:
        found.setdefault(name, []).append((baseline, ours, other))
    rows = [
        [name, f"{_round(some[0][1]):,}", "; ".join(f"{base}: {_round(ours / other):,}" for base, ours, other in some)]
        for name, some in found.items()
    ]
    head = f"CPU time of one core of an {record['processor']}, {record['date']}, commit {record['commit']}, "
    head += "three significant figures:\n\n"
    return head + _markdown(["benchmark", "trials per second", "times as fast as"], rows)


def _round(value: float) -> float:
    """Three significant figures."""
    rounded = float(f"{value:.3g}")
    return int(rounded) if rounded == int(rounded) else rounded


def plain_trials(n: int, f: int) -> tuple[float, float]:
    """Relative half-width of the mean number of unsafe nodes in the cached run of ``unsafe-rare``, and plain trials for it."""
    estimate = load_results("unsafe-rare").estimate("unsafe_nodes", n=n, f=f)
    half = (estimate.high - estimate.low) / 2
    return half / estimate.value, 7 * math.log(4 / 0.05) * max_unsafe(n, f, n) / (3 * half)


def _rare() -> str:
    """A row for each point of ``unsafe-rare``."""
    rows = []
    for n, f in ((20, 10), (30, 15), (40, 20), (60, 30)):
        width, trials = plain_trials(n, f)
        rows.append([str(n), str(f), f"{width:.2%}", f"{trials:.0e}".replace("e+", "e")])
    return _markdown(["n", "f", "half-width of the mean number of unsafe nodes", "plain trials needed, at least"], rows)


def _split() -> str:
    """A row for each point of ``unsafe-fraction --grid large`` whose mean is split: half-widths over the estimate."""
    results = load_results("unsafe-fraction-large")
    statistic = next(s for s in results.study.statistics if s.name == "unsafe_fraction")
    rows = []
    for point, tally in results:
        if any(most for _, most, _ in statistic.classes(point)[1:]):
            n, f = int(point["n"]), int(point["f"])
            split = results.estimate("unsafe_fraction", **point)
            sums = tally.counts["unsafe_nodes"], tally.counts["unsafe_nodes_squared"]
            whole = bounded_mean(*sums, tally.trials, 1.0, max_unsafe(n, f, n))
            widths = [f"{_round(100 * e.half_width / e.value):,}%" for e in (split, whole)]
            rows.append([str(n), str(f), f"{tally.trials:,}", *widths])
    return _markdown(["n", "f", "trials", "split", "one bound"], rows)


def _stopping() -> str:
    """A row for each target: coverage over all proportions, and bias at p = .01 and below."""
    record = load_record("stopping")
    rows = []
    for target in dict.fromkeys(row[0] for row in record["shares"]):
        some = [row[1:] for row in record["shares"] if row[0] == target]
        covered, small = [row[1] for row in some], [row[2] for row in some if row[0] < 0.01]
        bias = next(row[2] for row in some if row[0] == 0.01)
        cells = [f"{min(covered):.1%} to {max(covered):.1%}", f"{bias:+.1%}", f"{min(small):+.1%} to {max(small):+.1%}"]
        rows.append([f"`{target}`", *cells])
    return _markdown(["a run stops by", "coverage", "bias at p = 10⁻²", "bias at p ≤ 10⁻³"], rows)


def _tails() -> str:
    """A row for each fraction of the large value and precision."""
    rows = [
        [f"{large:.0%}", f"{precision:.5f}".rstrip("0"), f"{mean:.1%}", f"{difference:.1%}"]
        for large, precision, mean, difference in load_record("stopping")["tails"]
    ]
    return _markdown(
        ["fraction of value 100", "`--precision`", "`NormalMean` covers", "`NormalDifference` covers"], rows
    )


def place_unsafe(n: int, q: float) -> float:
    """The failure rate at which Q_n is unsafe with probability q, exactly."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if all_unsafe_probability(n, middle) < q else (low, middle)
    return low


def critical_rows() -> dict[int, list[str]]:
    """For each n: p_1/2 and limits, p_.8/p_.2 and limits, and the columns that follow from n and p_1/2."""
    measured = {
        int(n): [p, f"{low}, {high}", sharp, f"{least}, {most}"]
        for n, (p, low, high, sharp, least, most) in load_record("critical")["rows"].items()
    }
    exact = {
        n: [f"{place_unsafe(n, 0.5):.8f}", "exact", f"{place_unsafe(n, 0.8) / place_unsafe(n, 0.2):.5f}", "exact"]
        for n in (4, 5, 6)
    }
    found = {}
    for n, cells in {**exact, **measured}.items():
        factor, (low, high) = float(cells[0]) / leading_order(n), corrections(n)
        log, root = math.log(n), math.sqrt(n)
        derived = [(factor - 1) * root / log, (factor - 1) * root / log**2]
        found[n] = [*cells, f"{factor:.3f}", f"{low:.2f}, {high:.1f}", *(f"{x:.3f}" for x in derived)]
    return found


def _critical() -> str:
    head = ["n", "p_1/2", "95% limits", "p_.8/p_.2", "95% limits", "p_1/2 / leading", "proved factors"]
    head += ["excess in log n/√n", "excess in (log n)²/√n"]
    return _markdown(head, [[str(n), *cells] for n, cells in critical_rows().items()])


def _gathering() -> str:
    """A row for each number of faulty links of Q_3 and Q_4 that the page shows."""
    trees, gathers = (
        {(row["n"], row["links"]): row for row in load_record(name)["rows"] if row["f"] == 0}
        for name in ("exact-trees", "exact-gather")
    )
    rows = []
    for n, links in ((3, 2), (3, 3), (3, 4), (3, 6), (4, 2), (4, 3), (4, 4), (4, 5), (4, 6)):
        tree, gather = trees[n, links], gathers[n, links]
        cells = [
            tree[name]
            for name in (
                "sink_exists",
                "fault_free",
                "fault_free_exists",
                "fault_free_top_down",
                "tree_faults",
                "optimum",
            )
        ]
        cells += [gather[f"complete_{name}"] for name in ("as_printed", "as_commented", "corrected")]
        rows.append([str(n), str(links), *(f"{float(Fraction(x)):.4g}" for x in cells)])
    head = ["n", "faulty links", "P(a sink exists)", "P(tree of FIND_TREE has no faulty link)", "P(some tree has none)"]
    head += ["P(tree of TOP_DOWN has none)", "mean faulty links, FIND_TREE", "mean faulty links, best tree"]
    return _markdown(
        [*head, *(f"P(all data arrives), `{x}`" for x in ("as_printed", "as_commented", "corrected"))], rows
    )


def _scaling() -> str:
    """A row for each cost of the machinery."""
    record = load_record("scaling")
    rows = [
        [f"{threads} thread{'s' * (threads != '1')} on {cores} core{'s' * (cores != '1')}", f"{speed} million trials/s"]
        for cores, speeds in record["trials"].items()
        for threads, speed in speeds.items()
    ]
    rows += [["driver, per work unit", f"{1e3 * record['driver']:g} ms"]]
    rows += [[f"work unit of one trial through {way}", f"{1e3 * x:g} ms"] for way, x in record["units"].items()]
    rows += [[f"first work unit through {way}", f"{x:g} s"] for way, x in record["first_units"].items()]
    rows += [[f"checkpoint of {int(many):,} points", f"{1e3 * x:g} ms"] for many, x in record["checkpoints"].items()]
    rows += [["start of a run with compiled kernels", f"{record['start']:g} s"]]
    rows += [["`fastcube --help`", f"{record['help']:g} s"]]
    return _markdown([f"run on {record['processor']}, {record['date']}", "speed or CPU time"], rows)


def _merging() -> str:
    """A row for each number of shards."""
    rows = [
        [
            f"{shards:,}",
            *(f"{x:g} s" + (f" ({y:g} s)" if y else "") for x, y in ((merge, merged), (status, shown))),
            f"{memory} MiB",
        ]
        for shards, merge, status, merged, shown, memory in load_record("scaling")["merging"]
    ]
    return _markdown(["shards", "`merge`", "`status`", "memory"], rows)


def _plain(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.15f}".rstrip("0")


def _memory_points() -> str:
    """A row for each point outside of the first grids whose memory was measured."""
    points = load_record("memory")["points"]
    rows = [
        [f"`{study}`", ", ".join(f"{axis} = {_plain(value)}" for axis, value in point.items()), str(worker)]
        for study, point, worker in points
    ]
    return _markdown(["study", "point", "MiB for each further worker"], rows)


def _limits() -> str:
    """A row for each way to use 10,000 cores, from the costs on one machine."""
    record, cores = load_record("scaling"), 10_000
    operations = record["operations"] * cores
    unit = 2 * record["units"]["MPI"] * cores  # handing out takes at most half of the driver's time
    days = 2**60 / (1e6 * record["trials"]["1"]["1"] * cores) / 86400
    start = f"The start: {cores:,} runs make {operations / 1e6:.0f} million file operations."
    rows = [
        ["job array", f"{start} Use whole nodes, and an environment on the node's disk or in an image."],
        ["MPI", f"The driver: work units take {unit:.0f} s, and a stop loses as much of each rank."],
        ["Dask", f"The scheduler: work units take {2 * record['units']['Dask'] * cores:.0f} s. Use fewer workers."],
        ["any", f"The index of a trial is below 2^60: one point is exhausted after {days:.0f} days."],
    ]
    return _markdown(["way", "limit"], rows)


#: The function that makes each table, by the name on its page.
TABLES: dict[str, Callable[[], str]] = {
    "networks-8": lambda: _networks("survival", 8, _nodes(32, 64, 96, 128), "connected"),
    "networks-8-difference": lambda: _networks("survival", 8, _nodes(32, 64, 96, 128), "connected_diff"),
    "networks-9": lambda: _networks("survival-nine", 9, _nodes(64, 128, 192), "connected"),
    "networks-9-difference": lambda: _networks("survival-nine", 9, _nodes(64, 128, 192), "connected_diff"),
    "networks-12": lambda: _networks("survival-sizes", 12, _nodes(1024, 2048), "connected"),
    "networks-12-difference": lambda: _networks("survival-sizes", 12, _nodes(1024, 2048), "connected_diff"),
    **{
        f"networks-links-{n}{suffix}": lambda n=n, statistic=statistic: _networks(
            "survival-links", n, _links(n), statistic
        )
        for n in (8, 9)
        for suffix, statistic in (("", "connected"), ("-difference", "connected_diff"))
    },
    "gather-exact": _gathering,
    "scaling": _scaling,
    "scaling-merging": _merging,
    "scaling-limits": _limits,
    "memory-points": _memory_points,
    "speed": _speed,
    "speed-rare": _rare,
    "critical": _critical,
    "statistics-split": _split,
    "statistics-stopping": _stopping,
    "statistics-tails": _tails,
    "hitting-links": _hitting,
    "domains-boards": _boards,
    "domains-switches": _switches,
    "percolation": _percolation,
    "lifetimes-links": lambda: _lifetimes("hitting-ranking", "links"),
    "lifetimes-nodes": lambda: _lifetimes("hitting-nodes", "nodes"),
    "rules-delivered": lambda: _rules("delivered"),
    "rules-99": _delivery_limits,
    "rules-at-hamming": lambda: _rules("at_hamming"),
    "rules-extra": lambda: _rules("extra_links"),
    "rules-refused": lambda: _rules("refused"),
    "rules-safe": lambda: _status("safe"),
    "rules-rounds": lambda: _status("rounds"),
    "networks-four-cycles": _four_cycles,
    "networks-twists": _twists,
    "networks-half": _half,
    **{f"references-{name}": lambda make=make: _markdown(*make()) for name, make in references.TABLES.items()},
}


def fill_parts(text: str) -> str:
    """Return the text of a page with its tables and code as the sources have them now.

    Raises ValueError for the name of no table or code, and for a mark that is not a line of a pair around them.
    """
    if left := _MARK.search(PLACE.sub("", text)):
        raise ValueError(f"a table must stand between lines <!-- table NAME --> and <!-- end -->, got {left[0]}")
    return PLACE.sub(
        lambda found: f"<!-- {found[1]} {found[2]} -->\n\n{_make_part(*found.groups())}\n<!-- end -->", text
    )


def _make_part(kind: str, name: str) -> str:
    if kind == "code":
        return f"```py\n{_read_code(*name.split(':'))}```\n"
    if name not in TABLES:
        raise ValueError(f"table must be one of {', '.join(TABLES)}, got {name}")
    return TABLES[name]()


def _read_code(file: str, function: str = "") -> str:
    """Return the text of a file of ``docs``, or of one of its functions."""
    if not (path := DOCS / file).is_file():
        raise ValueError(f"code must be of a file in docs, got {file}")
    code = path.read_text()
    if not function:
        return code
    found = [node for node in ast.parse(code).body if getattr(node, "name", "") == function]
    if not found:
        raise ValueError(f"code must be a function of {file}, got {function}")
    return f"{ast.get_source_segment(code, found[0])}\n"


def list_pages() -> list[Path]:
    """Return the pages that can have generated parts."""
    pages = (*DOCS.glob("*.md"), *DOCS.glob("papers/*.md"), *DOCS.glob("readings/*.md"))
    return sorted((DOCS.parent / "README.md", *pages))


def main() -> None:
    """Write the generated parts of all pages."""
    sys.path.insert(0, str(DOCS / "extensions"))
    import drawings
    import errata

    figures = set()
    for page in list_pages():
        page.write_text(fill_parts(text := page.read_text()))
        figures |= {name for _, name in drawings.PLACE.findall(text)}
    drawings.write_figures(figures)
    errata.write_pages()


if __name__ == "__main__":
    main()
