"""The papers' inventories: nothing is left out, and all that they name is there."""

import copy

import pytest

from fastcube import inventory as inv
from fastcube import packaged
from fastcube.engine import registry
from fastcube.errors import ParameterError

#: Of each paper and kind the largest number; every number below it is there too.
NUMBERED = {
    "lee_hayes": {"figure": 12, "theorem": 6, "corollary": 1},
    "leu_kuo": {"figure": 16, "property": 2, "theorem": 7, "equation": 9, "example": 4},
    "sui_wang_lee": {"figure": 9, "lemma": 6, "theorem": 2},
    "wang_lin_kuo": {"figure": 19, "table": 3, "lemma": 1, "theorem": 2},
    "li_peng_chu": {"algorithm": 3, "lemma": 2, "theorem": 1, "figure": 2},
}
WRITTEN = [paper for paper in inv.papers() if (registry.examples(paper))]


@pytest.mark.parametrize("paper", WRITTEN)
def test_numbers_run_without_gaps(paper):
    numbers = {}
    for item in inv.inventory(paper).items:
        if item.number.isdigit():
            numbers.setdefault(item.kind, []).append(int(item.number))
    assert numbers == {kind: list(range(1, last + 1)) for kind, last in NUMBERED[paper].items()}


@pytest.mark.parametrize("paper", WRITTEN)
def test_all_that_is_named_is_there_and_all_that_is_there_is_named(paper):
    assert inv.missing(inv.inventory(paper)) == []


@pytest.mark.parametrize("paper", WRITTEN)
def test_examples_replay(paper):
    for name, made in registry.examples(paper).items():
        example = made()
        assert example.replay(), name
        for cube in example.cubes:
            assert 1 <= cube.n <= 4, name


# ---------------------------------------------------------------- what is wrong is told in a line


@pytest.fixture
def data():
    return packaged.read("lee_hayes")


def item(data, name):
    return next(entry for entry in data["items"] if entry["id"] == name)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.pop("beyond"), "data/lee_hayes.json lacks beyond"),
        (lambda d: d["items"].append(copy.deepcopy(d["items"][0])), "two items f-and-g"),
        (lambda d: item(d, "figure-8").pop("number"), "figure-8 is a figure without a number"),
        (lambda d: item(d, "figure-8").pop("shown_by"), "must either be shown by something or be a concept"),
        (lambda d: item(d, "figure-8").update(kind="picture"), "has the kind picture"),
        (lambda d: item(d, "figure-8").update(colour="red"), "has colour, which Item does not"),
        (lambda d: item(d, "figure-8").pop("place"), "figure-8: Item.__init__() missing 1 required"),
        (lambda d: item(d, "figure-8")["shown_by"][0].pop("statistic"), "a study without a statistic"),
        (lambda d: item(d, "figure-8")["shown_by"][0].update(claim="theorem-3"), "not exactly one study, claim or example"),
        (lambda d: item(d, "fifteen-percent")["printed"][0].update(digits=1), "with other digits than it has"),
        (lambda d: item(d, "fifteen-percent")["printed"][0].pop("digits"), "with other digits than it has"),
    ],
)  # fmt: skip
def test_malformed_data_are_refused_with_one_line(data, change, said):
    change(data)
    with pytest.raises(ParameterError) as error:
        inv.of_data(data)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: item(d, "figure-8")["shown_by"][0].update(statistic="unsafe"), "unsafe-fraction has no statistic unsafe"),
        (lambda d: item(d, "figure-8")["shown_by"][0].update(grid="figure-9"), "unsafe-fraction has no grid figure-9"),
        (lambda d: item(d, "theorem-2")["shown_by"][0].update(claim="theorem-9"), "there is no claim theorem-9"),
        (lambda d: item(d, "figure-6")["shown_by"][0].update(example="figure-5"), "there is no example figure-5"),
        (lambda d: item(d, "theorem-2")["shown_by"][0].update(claim="theorem-1"), "claim theorem-2 is not in its inventory"),
        (lambda d: d["beyond"].clear(), "study unsafe-rare is not in its inventory"),
    ],
)  # fmt: skip
def test_names_that_are_not_there_are_told(data, change, said):
    change(data)
    assert any(said in line for line in inv.missing(inv.of_data(data)))


def test_printed_values_are_read_by_name():
    lee = inv.inventory("lee_hayes")
    assert lee.value("fifteen-percent") == 0.15
    assert lee.value("f-and-g", "f_2(001101, 001010)") == 5
    with pytest.raises(ParameterError, match="f-and-g has 6 printed numbers"):
        lee.value("f-and-g")
    with pytest.raises(ParameterError, match="figure-88"):
        lee.item("figure-88")
    with pytest.raises(ParameterError, match="paper must be"):
        inv.inventory("lee_heyes")


def test_table_3_stands_in_its_item_as_in_its_rows():
    wang = inv.inventory("wang_lin_kuo")
    table = wang.tables["table3"]
    printed = {p.name: (p.value, p.point) for p in wang.item("table-3").printed}
    for row, f, destinations, channels, percent in table["rows"]:
        point = {"n": table["n"], "f": f, "destinations": destinations}
        assert printed.pop(f"N, row {row}") == (channels, point)
        assert printed.pop(f"percent, row {row}") == (percent, point)
        assert round(100 * channels / (10 * 2**10), 2) == percent
    assert not printed
