"""Pages have the tables and figures of the present sources, and the sentences about tables hold."""

import math
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

import fastcube as fc

DOCS = Path(__file__).resolve().parents[2] / "docs"
TWISTS = ("crossed", "locally-twisted", "moebius0", "moebius1", "twisted")


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import tables

    yield tables
    for name in ("tables", "sheets", "references", "drawings"):
        sys.modules.pop(name, None)


def test_every_table_has_one_place_and_is_that_of_its_sources(tables):
    places = []
    for page in tables.list_pages():
        text = page.read_text()
        places += [name for kind, name in tables.PLACE.findall(text) if kind == "table"]
        assert text == tables.fill_parts(text), f"python docs/tables.py writes other tables into {page}"
    assert sorted(places) == sorted(tables.TABLES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!-- table rules-saffe -->\n<!-- end -->", r"^table must be one of networks-8, .*, got rules-saffe$"),
        ("See <!-- table rules-safe -->\n<!-- end -->", r"^a table must stand between lines .*, got See <!-- table"),
        ("<!-- table rules safe -->\n<!-- end -->", "^a table must stand between"),
        ("<!-- Table rules-safe -->\n<!-- end -->", "^a table must stand between"),
        ("<!-- table rules-safe -->\n\nText.", "^a table must stand between"),
        ("<!-- table rules-safe -->\n<!-- table rules-rounds -->\n<!-- end -->", "got <!-- table rules-safe -->$"),
        ("<!-- end -->", "^a table must stand between"),
        ("<!-- code lost.py -->\n<!-- end -->", "^code must be of a file in docs, got lost.py$"),
        ("<!-- code tables.py:lost -->\n<!-- end -->", "^code must be a function of tables.py, got lost$"),
    ],
)
def test_a_place_that_is_not_understood_is_one_error(tables, text, message):
    with pytest.raises(ValueError, match=message) as caught:
        tables.fill_parts(f"# Title\n\n{text}\n\nText.\n")
    assert "\n" not in str(caught.value)


def test_the_text_of_a_page_is_left_as_it_is(tables):
    page = "A.\n\n<!-- table rules-safe -->\n\nold\n<!-- end -->\n\nB.\n<!-- other -->\n"
    filled = tables.fill_parts(page)
    assert filled.startswith("A.\n\n<!-- table rules-safe -->\n\n| status |") and filled.endswith(
        " |\n\n<!-- end -->\n\nB.\n<!-- other -->\n"
    )


def test_figures_are_small_and_show_the_cached_results(tables):
    """A file holds the digest of its results, so that results and figure agree without plotting."""
    import drawings

    pages = [page.read_text() for page in tables.list_pages()]
    names = {name for text in pages for _, name in drawings.PLACE.findall(text)}
    linked = {name for text in pages for name in re.findall(r"figures/([\w-]+)\.png", text)}
    assert names == linked == {path.stem for path in drawings.FOLDER.iterdir()}
    for name in names:
        path = drawings.FOLDER / f"{name}.png"
        assert path.stat().st_size <= drawings.LARGEST, name
        assert drawings.read_source(path) == drawings.describe_source(name), f"python docs/tables.py draws {name} again"


def test_sentences_about_networks(tables):
    """The outcome of each kind of network where the page states one."""

    def difference(name, network, n, f):
        return tables.load_results(name).estimate("connected_diff", network=network, n=n, f=f)

    for name, network, n, f in tables.twist_rows():
        found = difference(name, network, n, f)
        assert found.low <= 0 if 2 * f < 2**n else found.high < 0, (network, n, f)
    for network in ("folded", "enhanced-2", "hyperx-4", "augmented"):
        assert all(difference("survival", network, 8, f).low > 0 for f in (64, 96, 128))
    assert [difference("survival", "balanced", 8, f).low > 0 for f in (32, 64, 96, 128)] == [False, True, True, True]
    for name in TWISTS:
        sizes = [n for n in (3, 4, 5) if fc.network_families()[name].sizes(n)]
        assert all(tables.half_faulty(name, n).value > 0 for n in sizes)
    assert all(tables.half_faulty(name, n).high < 0 for name in ("crossed", "moebius1") for n in range(6, 12))
    mine, theirs = (fc.exact_survival(name, 4).nodes for name in ("moebius1", "hypercube"))
    assert [f for f, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a < b] == [6]


def test_cycles_of_four_links_give_the_first_differences(tables):
    """2M fewer connected sets at f = 2n - 2, 3M more with four survivors, exactly, where M is the number of missing 4-cycles."""
    for n in (3, 4, 5):
        hypercube = fc.exact_survival("hypercube", n)
        assert tables.count_four_cycles("hypercube", n) == n * (n - 1) * 2 ** (n - 3)
        for name in TWISTS:
            if not fc.network_families()[name].sizes(n):
                continue
            missing, twisted = tables.missing_four_cycles(name, n), fc.exact_survival(name, n)
            gains = [a - b for a, b in zip(twisted.nodes, hypercube.nodes, strict=True)]
            assert missing > 0 and gains[2**n - 4] == 3 * missing
            if n == 5:
                first = next(f for f, gain in enumerate(gains) if gain)
                assert (first, gains[first]) == (2 * n - 2, -2 * missing)


def test_smallest_cuts_of_links_give_the_first_difference():
    """The first difference with 4n - 8 faulty links is the number of cuts of so many links that a network lacks, n = 3, 4."""

    def is_connected(nodes, neighbours):
        reached = frontier = nodes & -nodes
        while frontier:
            frontier = sum_of(neighbours[v] for v in bits(frontier)) & nodes & ~reached
            reached |= frontier
        return reached == nodes

    def bits(mask):
        while mask:
            yield (mask & -mask).bit_length() - 1
            mask &= mask - 1

    def sum_of(masks):
        union = 0
        for mask in masks:
            union |= mask
        return union

    def count_cuts(name, n, size):
        network, whole = fc.network(name, n), 2**2**n - 1
        neighbours = [sum_of(1 << int(u) for u in network.neighbours(v)) for v in range(2**n)]
        halves = (part for part in range(1, whole, 2))  # the side of node 0
        cut = (
            part
            for part in halves
            if sum((neighbours[v] & ~part).bit_count() for v in bits(part)) == size and part != whole
        )
        return sum(is_connected(part, neighbours) and is_connected(whole ^ part, neighbours) for part in cut)

    for n in (3, 4):
        counts = {name: count_cuts(name, n, 4 * n - 8) for name in ("hypercube", *TWISTS[:4])}
        links = {name: fc.exact_survival(name, n).links for name in counts}
        for name in TWISTS[:4]:
            gains = [a - b for a, b in zip(links[name], links["hypercube"], strict=True)]
            assert gains[: 4 * n - 8] == [0] * (4 * n - 8)
            assert gains[4 * n - 8] == counts["hypercube"] - counts[name] > 0


def test_numbers_of_small_cuts(tables):
    """Connected sets of one, two and three nodes by the number of their neighbours: of the paths, 4M have one more."""
    for n in (4, 5):
        for name in ("hypercube", *TWISTS):
            if not fc.network_families()[name].sizes(n):
                continue
            network = fc.network(name, n)
            near = [set(map(int, network.neighbours(v))) for v in range(2**n)]
            sets = {1: {frozenset([v]) for v in range(2**n)}}
            for size in (2, 3):
                sets[size] = {part | {u} for part in sets[size - 1] for v in part for u in near[v] - part}
            counts = {
                size: Counter(len(set().union(*(near[v] for v in part)) - part) for part in some)
                for size, some in sets.items()
            }
            missing, paths = tables.missing_four_cycles(name, n), 2 ** (n - 1) * n * (n - 1)
            assert counts[1] == {n: 2**n} and counts[2] == {2 * n - 2: n * 2 ** (n - 1)}
            assert counts[3] == Counter({3 * n - 5: paths - 4 * missing, 3 * n - 4: 4 * missing})


def test_first_terms_agree_with_measured_differences(tables):
    """With at most half of the nodes faulty; and they are the truth where they alone count, at f = 2n - 2 for n = 5."""
    for name in TWISTS:
        missing = tables.missing_four_cycles(name, 5)
        exact = -2 * missing / math.comb(32, 8)
        assert tables.first_terms(missing, 5, 8) == pytest.approx(exact, rel=0.02)  # but for the factor e^-mean


def test_higher_degree_is_never_behind(tables):
    """In each column of P(connected) no interval lies above the interval of a network of higher degree."""
    known = fc.network_families()
    columns = [
        ("survival", 8, tables._nodes(32, 64, 96, 128)),
        ("survival-nine", 9, tables._nodes(64, 128, 192)),
        ("survival-sizes", 12, tables._nodes(1024, 2048)),
        *(("survival-links", n, tables._links(n)) for n in (8, 9)),
    ]
    for name, n, faults in columns:
        results = tables.load_results(name)
        names = {str(point["network"]) for point, _ in results if point["n"] == n}
        for chosen in faults.values():
            found = {x: results.estimate("connected", network=x, n=n, **chosen(known[x])) for x in names}
            for x in names:
                higher = [y for y in names if known[y].degree(n) > known[x].degree(n)]
                assert all(found[x].low <= found[y].high for y in higher)


def test_sentences_about_rules(tables):
    results = tables.load_results("routing-rules")

    def percent(name, f):
        return 100 * results.estimate(name, n=10, f=f).value

    for f in (5, 10, 20, 50, 100):
        assert percent("a1_delivered", f) == percent("sidetrack_delivered", f) == percent("dfs_delivered", f) == 100
        assert percent("vectors_delivered", f) >= percent("levels_delivered", f)
    limits = {rule: tables.delivery_limits(rule) for rule in tables.RULES}
    assert all(limits[rule][0] > 100 for rule in ("a1", "sidetrack")) and limits["dfs"] == (512, None)
    for enough, few in limits.values():
        assert enough is None or few is None or enough < few
    assert percent("route3_refused", 10) > 50
    assert 45 < percent("vectors_refused", 100) < percent("levels_refused", 100)


@pytest.mark.kernels
def test_the_balanced_hypercube_is_behind_where_the_page_says():
    results = fc.run("survival", network="balanced", n=6, f=40, links=0, trials=20_000)
    assert results.estimate("connected_diff", network="balanced").high < 0
