"""Pages have the tables and figures of the present sources, and the sentences about tables hold."""

import re
import sys
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
        places += tables.PLACE.findall(text)
        assert text == tables.fill_tables(text), f"python docs/tables.py writes other tables into {page}"
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
    ],
)
def test_a_place_that_is_not_understood_is_one_error(tables, text, message):
    with pytest.raises(ValueError, match=message) as caught:
        tables.fill_tables(f"# Title\n\n{text}\n\nText.\n")
    assert "\n" not in str(caught.value)


def test_the_text_of_a_page_is_left_as_it_is(tables):
    page = "A.\n\n<!-- table rules-safe -->\n\nold\n<!-- end -->\n\nB.\n<!-- other -->\n"
    filled = tables.fill_tables(page)
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
    cells, same = {}, {}
    for name in ("networks-8", "networks-9", "networks-12", "networks-links-8", "networks-links-9"):
        text = tables.TABLES[f"{name}-difference"]()
        for line in text.splitlines()[2:]:
            if line.startswith("| "):
                network, *some = [cell.strip() for cell in line.strip("| ").split("|")]
                cells.setdefault(network, []).extend(some)
        same[name] = set(text.split("Not distinguished in any column: ")[1].strip().rstrip(".").split(", "))
    for name in TWISTS:  # never distinguished
        assert name not in cells and any(name in some for some in same.values())
    for name in ("folded", "enhanced-2"):  # above the hypercube where distinguished
        assert all(cell == "–" or cell.startswith("0.") for cell in cells[name])
    assert [cell.startswith("0.") for cell in cells["balanced"]] == [False, False, True, True]  # f = 32, 64, 96, 128
    mine, theirs = (fc.exact_survival(name, 4).nodes for name in ("moebius1", "hypercube"))
    assert [f for f, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a < b] == [6]
    rate = 0.102939  # R = sum over f of connected sets p^f (1 - p)^(16 - f)
    sign = [
        sum((a - b) * p**f * (1 - p) ** (16 - f) for f, (a, b) in enumerate(zip(mine, theirs, strict=True)))
        for p in (rate - 1e-6, rate + 1e-6)
    ]
    assert sign[0] < 0 < sign[1]


def test_higher_degree_is_never_behind(tables):
    """In each column of P(connected) no interval lies above that of a network of higher degree."""
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
    assert percent("route3_refused", 10) > 50
    assert (
        45 < percent("vectors_refused", 100) < percent("levels_refused", 100)
        and round(percent("levels_refused", 100)) == 56
    )
    assert round(percent("route1_delivered", 100)) == 99  # README: of rules that look at their neighbours


@pytest.mark.kernels
def test_the_balanced_hypercube_is_behind_where_the_page_says():
    results = fc.run("survival", network="balanced", n=6, f=40, links=0, trials=20_000)
    assert results.estimate("connected_diff", network="balanced").high < 0
