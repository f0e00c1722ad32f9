"""Each page that answers a question begins with the answer, and its numbers equal the cached results."""

import itertools
import math
import re
import sys
from pathlib import Path

import pytest

import fastcube as fc
from fastcube.results.rounding import estimate_text

DOCS = Path(__file__).resolve().parents[2] / "docs"

#: Most characters of a question and its answer.
FIRST_SCREEN = 2700


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


def read_text(page):
    return (DOCS / f"{page}.md").read_text(encoding="utf-8")


def check(page, *sentences):
    answer = read_answer(page)
    assert [sentence for sentence in sentences if sentence not in answer] == []


def test_rules(cached):
    def ten(statistic, f, **how):
        return cached("routing-rules", statistic, n=10, f=f, **how)

    faults = (5, 10, 20, 50, 100)
    lost = {ten(f"{rule}_delivered", f, failures=True) for rule in ("a1", "sidetrack") for f in faults}
    assert lost == {"< 3.7e-05"}

    def heavy(statistic, **how):
        return cached("routing-rules-heavy", statistic, n=10, f=512, **how).rstrip("~")

    half = {rule: heavy(f"{rule}_delivered", failures=True) for rule in ("a1", "sidetrack", "dfs")}
    results = cached.tables.load_results("routing-rules-heavy")
    (trials,) = {tally.trials for _, tally in results}
    assert half["dfs"] == heavy("reachable", failures=True) and heavy("levels_refused") == heavy("vectors_refused")
    lost_at_limit, lost_at_all = (
        results.estimate(name, n=10, f=512) for name in ("sidetrack_limit", "sidetrack_delivered")
    )
    assert lost_at_limit.value > 0.9 * lost_at_all.complement.value
    check(
        "rules",
        "it loses less than 0.000037 of them at each f",
        f"A1 takes {ten('a1_extra_links', 100).rstrip('~')} links more",
        f"SIDETRACK {ten('sidetrack_extra_links', 100).rstrip('~')}.",
        f"LEVELS refuses {ten('levels_refused', 100)} of the messages and VECTORS {ten('vectors_refused', 100)},",
        f"ROUTE3 refuses {ten('route3_refused', 10)} already at f = n = 10",
        f"(f = 512, {trials:,} messages) even A1 fails to deliver {half['a1']} of the messages, and takes "
        f"{heavy('a1_extra_links')} links more",
        f"SIDETRACK fails to deliver {half['sidetrack']}, nearly always because it gives up after a limit of links, and takes "
        f"{heavy('sidetrack_extra_links')} links more.",
        f"LEVELS and VECTORS both refuse {heavy('levels_refused')} there.",
        f"A path is missing for only {half['dfs']} of the messages",
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
    shown_rates = re.findall(r"^10  (0\.\d+)  1,000,000  (\S+) ± (\S+)$", read_text("critical"), re.MULTILINE)
    (below, low, low_width), (above, high, high_width) = shown_rates
    assert float(low) + float(low_width) < 0.01 < float(high) - float(high_width)
    assert 2.9 < float(rows[10][0]) / float(above) < float(rows[10][0]) / float(below) < 3.2  # a third
    percent, half, rare = (cached.tables.place_unsafe(6, risk) for risk in (0.01, 0.5, 1e-6))
    check(
        "critical",
        f"with 2^10 nodes at a rate between {below} and {above}",
        f"with 2^6 nodes at {percent:.5g} instead of {half:.5g} (exact)",
        f"A risk of 10⁻⁶ is reached at {rare:.5g} with 2^6 nodes (exact)",
        f"2^10 nodes are unsafe at a rate of {shown[0]}",
        f"2^20 nodes already at {shown[1]}",
        f"at {min(ratios):.1f} to {max(ratios):.1f} times its asymptotic form",
        f"the ratio {float(rows[7][2]):.2f} at n = 7 and still {float(rows[24][2]):.2f} at n = 24",
    )


def test_percolation(cached):
    results = cached.tables.load_results("survival-curve-percolation")
    susceptibility = [results.estimates(p)["susceptibility"] for p, _ in results if p["n"] == 14]

    def largest(c):
        return cached("survival-curve-percolation", "largest_component", n=14, failed=int((14 - c) * 2**13))

    *rows, limit = [line.strip("| ").split(" | ") for line in cached.tables.TABLES["percolation"]().splitlines()[2:]]
    ordered = sorted(susceptibility, key=lambda e: e.value, reverse=True)
    assert ordered[0].low > ordered[1].high
    peak = [estimate_text(e) for e in ordered[:2]]
    away = max(abs(float(cell.split()[0]) - float(y)) for cell, y in zip(rows[0][1:5], limit[1:5], strict=True))
    check(
        "percolation",
        f"holds {largest(2)} of the nodes with c = 2 links per node on average",
        f"and {largest(1.5)} with c = 1.5, but only {largest(1)} with c = 1.",
        f"are {limit[3]}, {limit[2]} and 0, and the fractions at n = 8 are still up to {away:.4f} away",
        f"has its peak at c = {rows[-1][5]}, in steps of 1/32. There it is {peak[0]} and at the next value below {peak[1]},",
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
        "the printed bound on the rounds of FIND_UNSAFE is false for n = 6, n = 8 and all n ≥ 10",
    )
    exceeded = [n for n in range(2, 100) if n**2 // 3 > (n**2 / 4 + n / 2 - 1 if n % 2 == 0 else n**2 / 4 + n - 9 / 4)]
    assert exceeded == [6, 8, *range(10, 100)]


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
    (m, rate), longest = max(lengths.items(), key=lambda item: item[1].value)
    assert {size for size, _ in lengths} == {*range(5, 10)}
    assert lengths[5, 0.35].low > lengths[5, 0.5].high  # the mean length falls
    check(
        "papers/li_peng_chu",
        f"at least {estimate_text(min(below, key=lambda e: e.value))} of the messages arrive for m = 5 to 9",
        f"only from {cached('dualcube-routing', 'delivered', m=5, rate=0.5)} (m = 5) to "
        f"{cached('dualcube-routing', 'delivered', m=9, rate=0.5)} (m = 9)",
        f"at most {estimate_text(longest)} times as long as the shortest on average (m = {m} at {rate:.0%}; m = 5 to 9)",
        f"from {estimate_text(lengths[5, 0.35])} at 35% to {estimate_text(lengths[5, 0.5])} at 50% for m = 5",
    )


def test_sui_wang_lee(cached):
    results = cached.tables.load_results("edst-broadcast")
    steps, one, least = (
        round(results.estimate(name, n=8, d=1, packets=1024).value)
        for name in ("steps", "steps_one_tree", "lower_bound")
    )
    trees = cached("edge-disjoint-trees", "max_edge_disjoint_trees", n=8, f=64)
    many = cached.tables.load_results("edge-disjoint-trees")
    (tested,) = (tally.trials for point, tally in many if point == {"n": 8, "f": 64, "links": 0})
    connected = round(tested * many.estimate("connected", n=8, f=64).value)
    agree = cached("edge-disjoint-trees", "packing_equals_min_degree_connected", n=8, f=64)
    check(
        "papers/sui_wang_lee",
        f"1,024 packets take {steps} steps over the n - 1 = 7 trees, whereas one tree takes {one:,} and no schedule "
        f"fewer than {least}.",
        f"64 random faulty nodes leave {trees} edge-disjoint trees in Q_8 on average, as many as the smallest degree in "
        f"all {connected:,} of {tested:,} fault sets whose survivors are connected "
        f"(so above {agree.removeprefix('> ')} of such sets)",
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
    assert difference("balanced", 32).low < 0 < difference("balanced", 64).low
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
    long = bound(
        lifetime("links", network, n)
        for network in tables.TWISTED
        for n in (6, 7, 8)
        if fc.network_families()[network].sizes(n)
    )
    pairs = [
        (
            tables.load_results(name).estimate("connected_diff", network=network, n=n, f=f).value,
            tables.first_terms(tables.missing_four_cycles(network, n), n, f),
        )
        for name, network, n, f in tables.twist_rows()
        if 2 * f <= 2**n
    ]
    terms = [abs(measured - predicted) for measured, predicted in pairs]
    first = {
        (what, quantile): re.sub(
            r"^(\d+) \[\1, \1\]$",
            r"\1",
            cached(name, f"first_disconnection_{quantile}", network="hypercube", failing=what, n=8),
        )
        for name, what in (("hitting-nodes", "nodes"), ("hitting", "links"))
        for quantile in ("q05", "median")
    }
    undecided = lifetime("nodes", "twisted", 7)
    assert undecided.low < 0 < undecided.high
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
        f"With 32, 64 or 96 faulty nodes they are within {small} of it.",
        (
            f"is ahead by {estimate_text(difference('balanced', 64))} with 64 faulty nodes and by "
            f"{estimate_text(difference('balanced'))} with 128"
        ),
        (
            f"for moebius1 it is {show_loss(half[10])} at n = 10 and {show_loss(half[11])}, so at most {bound([half[11]])}, at "
            "n = 11"
        ),
        (
            f"With 30%, 40%, 50% or 60% of the links faulty the twisted cubes are within {bound(links[8])} of the hypercube at "
            f"n = 8 and within {bound(links[9])} at n = 9."
        ),
        (
            f"half of the orders disconnect it after {first['nodes', 'median']} failures or earlier, and 5% after "
            f"{first['nodes', 'q05']} or earlier. If links fail, these numbers are {first['links', 'median']} and "
            f"{first['links', 'q05']} of 1,024"
        ),
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
        "and shorter at n = 7 and 8, except that twisted at n = 7 is undecided",
        f"all twisted cubes are within {long} for n = 6 to 8",
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


def test_first_terms_shrink_as_the_page_says(cached):
    """With half of the nodes faulty, half a node is isolated on average; M of two twisted cubes is near n² 2^n / 20."""
    for n in range(7, 13):
        assert 0.4 < fc.isolated_node_bounds("hypercube", n, f=2 ** (n - 1)).mean < 0.6
    for name, n in itertools.product(("crossed", "moebius1"), range(6, 11)):
        assert 0.04 < cached.tables.missing_four_cycles(name, n) / (n**2 * 2**n) < 0.07


@pytest.mark.parametrize("n", [5, 6])
def test_twisted_cubes_have_fewer_triples_that_few_faults_isolate(n):
    """Three isolated nodes with 3n - 5 neighbours: in the hypercube three neighbours of one node, in a twisted cube fewer."""

    def count(name):
        network = fc.network(name, n)
        near = [{int(w) for w in network.neighbours(v)} for v in range(2**n)]
        triples = itertools.combinations(range(2**n), 3)
        return sum(
            len(near[a] | near[b] | near[c]) == 3 * n - 5 and b not in near[a] and c not in near[a] | near[b]
            for a, b, c in triples
        )

    every = 2**n * math.comb(n, 3)
    assert count("hypercube") == every
    assert all(count(name) < every for name in ("crossed", "locally-twisted", "moebius0", "moebius1"))


def test_rare(cached):
    """The first numbers of the answer are those of the console example, whose output is compared with the command."""
    page = " ".join(read_text("rare").split())
    (shown,) = re.findall(r"^40  20  .*\]  (\S+ ± \S+)$", read_text("rare"), re.MULTILINE)
    isolated = fc.isolated_node_bounds("hypercube", 8, f=8)
    assert isolated.high - isolated.low < 1e-9 * isolated.low and f"{isolated.low:.3e}" == "6.249e-13"

    def eight(statistic):
        return cached("survival", statistic, network="hypercube", n=8, f=64)

    check(
        "rare",
        f"make {shown} nodes unsafe on average",
        "about 6 · 10¹² trials",
        "with f = 8 faulty nodes Q_8 is disconnected with probability 6.249 · 10⁻¹³",
        f"With f = 64, where the probability is {eight('disconnected')}, fewer than "
        f"{float(eight('extra_1').removeprefix('< ')):.7f} of the fault sets",
    )
    assert "and about 6 · 10¹² for the mean with a normal interval" in page


@pytest.mark.parametrize("n", [3, 4, 5])
def test_few_faults_disconnect_only_by_isolated_nodes(n):
    """Up to 2n - 3 faulty nodes, and not beyond."""
    sets = fc.exact_survival("hypercube", n).extra_1
    assert next(f for f in range(2**n) if sets[f]) == 2 * n - 2


def test_comparison(cached):
    rates = [
        int(number.replace(",", ""))
        for number in re.findall(
            r"^\| .*(?:fastcube run|cpyrcolate 0).*\| ([\d,]+) \|$", read_text("comparison"), re.MULTILINE
        )
    ]
    ours, slow, fast = rates
    ratios = {}
    for _, baseline, speed, other in cached.tables.load_record("speed")["rows"]:
        ratios.setdefault(baseline, []).append(speed / other)
    ranges = {
        name: " to ".join(f"{int(float(f'{end(ratios[name]):.3g}')):,}" for end in (min, max))
        for name in ("plain Python", "NetworkX")
    }
    check(
        "comparison",
        f"sweeps {ours:,} percolation curves of Q_8 per second, {ours / fast:.1f} to {ours / slow:.1f} times as many as "
        "cpyrcolate",
        f"are {ranges['plain Python']} times as fast as programs that a user might write in plain Python, and "
        f"{ranges['NetworkX']} times as fast as such programs with NetworkX",
    )
    assert f"fastcube is {ours / fast:.1f} to {ours / slow:.1f} times as fast, see below" in read_text("comparison")
