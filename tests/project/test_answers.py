"""Each page that answers a question begins with the answer, and its numbers equal the cached results."""

import math
import re
import sys
from pathlib import Path

import pytest

import fastcube as fc
from fastcube.results.rounding import estimate_text

DOCS = Path(__file__).resolve().parents[2] / "docs"

#: Most characters of a question and its answer.
FIRST_SCREEN = 2200


@pytest.fixture(scope="module")
def cached():
    """A function that formats a statistic of cached results as pages print it, and the tables of pages."""
    sys.path.insert(0, str(DOCS))
    import tables

    def show(name, statistic, failures=False, **point):
        found = tables.load_results(name).estimate(statistic, **point)
        return estimate_text(found.complement if failures else found)

    show.tables = tables
    yield show
    sys.path.remove(str(DOCS))
    for name in ("tables", "sheets", "references"):
        sys.modules.pop(name, None)


def read_answer(page):
    """The question and answer of a page, on one line: its text before the first section, list of links or block of code."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8").partition("\n")[2]
    first = " ".join(re.split(r"^(?:##|```|Further reading)", text, maxsplit=1, flags=re.MULTILINE)[0].split())
    assert "?" in first[:300] and len(first) < FIRST_SCREEN, page
    return first


def check(page, *sentences):
    answer = read_answer(page)
    assert [sentence for sentence in sentences if sentence not in answer] == []


def test_rules(cached):
    def ten(statistic, f, **how):
        return cached("routing-rules", statistic, n=10, f=f, **how)

    faults = (5, 10, 20, 50, 100)
    lost = {ten(f"{rule}_delivered", f, failures=True) for rule in ("a1", "sidetrack") for f in faults}
    assert lost == {"< 3.7e-05"}
    half = {
        rule: cached("routing-rules-heavy", f"{rule}_delivered", failures=True, n=10, f=512)
        for rule in ("a1", "sidetrack", "dfs")
    }
    assert half["dfs"] == cached("routing-rules-heavy", "reachable", failures=True, n=10, f=512)
    check(
        "rules",
        "it loses less than 0.000037 of them at each f",
        f"A1 takes {ten('a1_extra_links', 100).rstrip('~')} links more",
        f"SIDETRACK {ten('sidetrack_extra_links', 100).rstrip('~')}.",
        f"LEVELS refuses {ten('levels_refused', 100)} of the messages and VECTORS {ten('vectors_refused', 100)},",
        f"ROUTE3 refuses {ten('route3_refused', 10)} already at f = n = 10",
        f"A1 loses {half['a1']} of the messages and SIDETRACK {half['sidetrack']}.",
        f"A path is missing for only {half['dfs']} of them",
    )


def test_greedy_lookups(cached):
    page = " ".join((DOCS / "rules.md").read_text(encoding="utf-8").split())
    ten, twenty = (cached("routing-rules-rate", "route1_at_hamming", n=60, rate=rate) for rate in (0.1, 0.2))
    assert f"in Q_60 it delivers {ten} of the messages if 10% of the nodes fail, but only {twenty} if 20% fail" in page


def test_critical(cached):
    rows = cached.tables.critical_rows()
    ratios = [float(cells[4]) for n, cells in rows.items() if n >= 7]
    shown = [
        f"{float(rows[n][0]):.5g} [{', '.join(f'{float(limit):.5g}' for limit in rows[n][1].split(', '))}]"
        for n in (10, 20)
    ]
    check(
        "critical",
        f"2^10 nodes are unsafe at a rate of {shown[0]}",
        f"2^20 nodes already at {shown[1]}",
        f"at {min(ratios):.1f} to {max(ratios):.1f} times its asymptotic form",
        f"the ratio {float(rows[7][2]):.2f} at n = 7 and still {float(rows[24][2]):.2f} at n = 24",
    )


def test_percolation(cached):
    def largest(c):
        return cached("survival-curve-percolation", "largest_component", n=14, failed=int((14 - c) * 2**13))

    *rows, limit = [line.strip("| ").split(" | ") for line in cached.tables.TABLES["percolation"]().splitlines()[2:]]
    away = max(abs(float(cell.split()[0]) - float(y)) for cell, y in zip(rows[0][1:5], limit[1:5], strict=True))
    check(
        "percolation",
        f"holds {largest(2)} of the nodes with c = 2 links per node on average",
        f"and {largest(1.5)} with c = 1.5, but only {largest(1)} with c = 1.",
        f"are {limit[3]}, {limit[2]} and 0, and the fractions at n = 8 are still up to {away:.4f} away",
        f"has its peak at c = {rows[-1][5]},",
    )


def test_lee_hayes(cached):
    results = cached.tables.load_results("unsafe-fraction")
    few = {(p["n"], p["f"]): results.estimate("unsafe_fraction", **p) for p, _ in results if 2 * p["f"] <= p["n"]}
    (n, f), most = max(few.items(), key=lambda item: item[1].value)
    assert {size for size, _ in few} == {*range(5, 13)} and most.high < 0.15
    assert all(e.high < most.low for place, e in few.items() if place != (n, f))
    point = {"n": 10, "f": 5, "links": 0, "k": 1}
    route, route3 = (cached("routing", f"{name}_delivered", **point) for name in ("route", "route3"))
    (trials,) = {tally.trials for _, tally in cached.tables.load_results("routing")}
    check(
        "papers/lee_hayes",
        f"ROUTE3 delivers all of {trials:,} messages, so at least a fraction of {route3.removeprefix('> ')},",
        f"ROUTE, which knows no faults, delivers {route}.",
        f"{cached('unsafe-fraction', 'unsafe_fraction', n=10, f=5)} of these nodes are unsafe",
        f"at most {estimate_text(most)} (n = {n}, f = {f}), far below the 15%",
    )


def test_leu_kuo(cached):
    def complete(variant):
        return cached("gather", f"complete_{variant}", n=8, links=32, f=0)

    def trees(statistic):
        return cached("optimal-tree", statistic, n=8, links=16, f=0)

    check(
        "papers/leu_kuo",
        f"in all of 100,000 fault sets, so with a probability above {complete('corrected').removeprefix('> ')}",
        f"this probability is {complete('as_commented')}, and as its figure prints it only {complete('as_printed')},",
        f"no faulty link in {trees('fault_free')} of the fault sets of 16 links of Q_8, although such a tree exists in "
        f"{trees('fault_free_exists')}. Our own TOP_DOWN comes close to this limit and finds one in "
        f"{trees('fault_free_top_down')}.",
    )


def test_li_peng_chu(cached):
    results = cached.tables.load_results("dualcube-routing")
    below = [results.estimate("delivered", **p) for p, _ in results if p["rate"] <= 0.25]
    lengths = {(p["m"], p["rate"]): results.estimate("length_over_shortest", **p) for p, _ in results}
    assert lengths[5, 0.35].low > lengths[5, 0.5].high  # the mean length falls
    check(
        "papers/li_peng_chu",
        f"at least {estimate_text(min(below, key=lambda e: e.value))} of the messages arrive for m = 5 to 9",
        f"only from {cached('dualcube-routing', 'delivered', m=5, rate=0.5)} (m = 5) to "
        f"{cached('dualcube-routing', 'delivered', m=9, rate=0.5)} (m = 9)",
        f"at most {max(e.value for e in lengths.values()):.2f} times as long as the shortest on average",
        f"from {lengths[5, 0.35].value:.3f} at 35% to {lengths[5, 0.5].value:.3f} at 50% for m = 5",
    )


def test_sui_wang_lee(cached):
    results = cached.tables.load_results("edst-broadcast")
    steps, one, least = (
        round(results.estimate(name, n=8, d=1, packets=1024).value)
        for name in ("steps", "steps_one_tree", "lower_bound")
    )
    trees = cached("edge-disjoint-trees", "max_edge_disjoint_trees", n=8, f=64)
    agree = cached.tables.load_results("edge-disjoint-trees").estimate("packing_equals_min_degree_connected", n=8, f=64)
    assert agree.value == 1
    check(
        "papers/sui_wang_lee",
        f"1,024 packets take {steps} steps over the n - 1 = 7 trees, whereas one tree takes {one:,} and no schedule "
        f"fewer than {least}.",
        f"64 random faulty nodes leave {trees} edge-disjoint trees",
    )


def test_wang_lin_kuo(cached):
    def cyclic(statistic):
        return cached("multicast-deadlock", statistic, n=7, f=6)

    one, two = (
        cached("multicast-wormhole", name, n=6, f=0, senders=16, destinations=8)
        for name in ("deadlock", "deadlock_two_channels")
    )
    check(
        "papers/wang_lin_kuo",
        f"has a cycle in {cyclic('cyclic')} of the fault sets",
        f"(none in 2,000 fault sets, so below {cyclic('cyclic_two_channels').removeprefix('< ')})",
        f"with probability {one} on one channel and {two} on two",
    )


def list_targets():
    """The file, statistic, precision and axes of each run of docs/results/sample that has a target."""
    text = (DOCS / "results" / "sample").read_text(encoding="utf-8")
    for line in text.partition("<< 'RUNS'\n")[2].partition("RUNS\n")[0].splitlines():
        name, *options = line.split()
        given = list(zip(options[::2], options[1::2], strict=False))
        if "--target" in options:
            chosen = dict(given)
            file = chosen.get("-o", f"{name}-{chosen.get('--grid')}".removesuffix("-None")).removesuffix(".h5")
            axes = dict(value.split("=") for option, value in given if option == "--set")
            yield file, chosen["--target"], float(chosen["--precision"]), axes


TARGETS = [*list_targets()]


def test_comparisons_have_the_resolution_of_their_target(cached):
    """At every point of a run with a target the interval is as narrow as the target says."""
    counted = 0
    for file, statistic, precision, axes in TARGETS:
        results = cached.tables.load_results(file)
        chosen = {name: set(values.split(",")) for name, values in axes.items()}
        points = [p for p, _ in results if all(str(p[name]) in values for name, values in chosen.items())]
        widths = [results.estimate(statistic, **point).half_width for point in points]
        assert widths and max(widths) <= precision, (file, axes)
        counted += len(points)
    assert counted > 100


def network_sentences(cached):
    """The sentences of docs/networks.md with numbers from cached results, in the answer and below it."""
    tables = cached.tables

    def connected(network):
        return cached("survival", "connected", network=network, n=8, f=128)

    def difference(network, f=128, statistic="connected_diff"):
        return tables.load_results("survival").estimate(statistic, network=network, n=8, f=f)

    def bound(estimates):
        return math.ceil(1e4 * max(max(-e.low, e.high) for e in estimates)) / 1e4

    def lifetime(what, network, n):
        name = {"nodes": "hitting-nodes", "links": "hitting-ranking"}[what]
        return tables.load_results(name).estimate("lifetime_diff", network=network, n=n)

    behind = {network: difference(network) for network in tables.TWISTED[:4]}
    assert all(e.high < 0 for e in behind.values())
    small = bound(difference(network, f) for network in behind for f in (32, 64, 96))
    half = {n: tables.half_faulty("moebius1", n) for n in range(4, 13)}
    assert [n for n, e in half.items() if e.low > 0] == [4, 5] and all(half[n].high < 0 for n in range(6, 12))
    links = {
        n: [
            tables.load_results("survival-links").estimate(
                "connected_diff", network=x, n=n, links=family.links(n) * i // 20
            )
            for x, family in fc.network_families().items()
            for i in (6, 8, 10, 12)
            if x in tables.TWISTED and family.sizes(n)
        ]
        for n in (8, 9)
    }
    points = [(network, n) for n in (4, 5, 6, 7, 8) for network in tables.TWISTED[:4]]
    assert all((lifetime("nodes", *point).low > 0) == (point[1] < 7) for point in points)
    assert all((lifetime("nodes", *point).high < 0) == (point[1] > 6) for point in points)
    long = bound(lifetime("links", network, n) for network in tables.TWISTED[:4] for n in (6, 7, 8))
    pairs = [
        (
            tables.load_results(name).estimate("connected_diff", network=network, n=n, f=f).value,
            tables.first_terms(tables.missing_four_cycles(network, n), n, f),
        )
        for name, network, n, f in tables.twist_rows()
        if 2 * f <= 2**n
    ]
    terms = [abs(measured - predicted) for measured, predicted in pairs]
    servers = cached("survival-nine", "connected", network="hyperx-8", n=9, f=192)
    answer = [
        f"with 8 links per node, are connected with probability {connected('hypercube')}.",
        (
            f"(the folded cube) raises this to {connected('folded')}, and the augmented cube with 15 links reaches "
            f"{connected('augmented')}."
        ),
        "by "
        + " and ".join(
            ", ".join(f"{show_loss(behind[network])} ({network})" for network in some)
            for some in (("locally-twisted", "moebius0", "crossed"), ("moebius1",))
        ),
        f"With up to 96 faulty nodes they are within {small} of it.",
        f"The balanced hypercube is ahead, by {estimate_text(difference('balanced'))} with half",
        f"for moebius1 it is {show_loss(half[10])} at n = 10 and {show_loss(half[11])} at n = 11",
        f"the twisted cubes are within {bound(links[8])} of the hypercube at n = 8 and within {bound(links[9])} at n = 9.",
    ]
    below = [
        f"the terms are within {math.ceil(1e4 * max(terms)) / 1e4} of the measured values at n = 8 and 9",
        (
            f"with f = 160 it is {cached('survival', 'no_isolated_node', network='hypercube', n=8, f=160)} in the hypercube and "
            f"{cached('survival', 'no_isolated_node', network='moebius1', n=8, f=160)} in moebius1"
        ),
        (
            f"it is {cached('survival', 'extra_1', network='hypercube', n=8, f=160)} in the hypercube, and the difference of "
            f"moebius1 on the same faults is {estimate_text(difference('moebius1', 160, 'extra_1_diff'))}"
        ),
        (
            f"moebius1 is ahead by {estimate_text(lifetime('nodes', 'moebius1', 6))} at n = 6 and behind by "
            f"{show_loss(lifetime('nodes', 'moebius1', 8))} at n = 8"
        ),
        f"all twisted cubes are within {long} from n = 6 on",
        f"the others are connected with a probability above {servers.removeprefix('> ')}.",
    ]
    return answer, below


def show_loss(estimate):
    """The size of a negative difference with its interval."""
    return estimate_text(estimate).removeprefix("-")


def test_networks(cached):
    answer, below = network_sentences(cached)
    check("networks", *answer)
    page = " ".join((DOCS / "networks.md").read_text(encoding="utf-8").split())
    assert [sentence for sentence in below if sentence not in page] == []


def test_rare():
    """The numbers of the answer come from the console example, whose output is compared with the command."""
    page = " ".join((DOCS / "rare.md").read_text(encoding="utf-8").split())
    (shown,) = re.findall(r"^40  20  .*\]  (\S+ ± \S+)$", (DOCS / "rare.md").read_text(encoding="utf-8"), re.MULTILINE)
    check("rare", f"make {shown} nodes unsafe on average", "about 6 · 10¹² trials")
    assert "and about 6 · 10¹² for the mean with a normal interval" in page
