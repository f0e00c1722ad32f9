"""The papers' inventories: nothing is left out, and all that they name is there."""

import copy

import pytest

from fastcube import resources
from fastcube.errors import ParameterError, join_alternatives
from fastcube.measure import inventory as inv
from fastcube.measure import registry
from fastcube.measure.paper import installed_papers
from fastcube.networks.hypercube import Hypercube
from fastcube_audit import registries

#: Of each paper and kind the largest number; every number below it is there too.
NUMBERED = {
    "lee_hayes": {"figure": 12, "theorem": 6, "corollary": 1},
    "leu_kuo": {"figure": 16, "property": 2, "theorem": 7, "equation": 9, "example": 4},
    "sui_wang_lee": {"figure": 9, "lemma": 6, "theorem": 2},
    "wang_lin_kuo": {"figure": 19, "table": 3, "lemma": 1, "theorem": 2},
    "li_peng_chu": {"algorithm": 3, "lemma": 2, "theorem": 1, "figure": 2},
}
WRITTEN = [paper for paper in inv.papers() if registries.audited_paper(installed_papers()[paper]).examples]


#: What an item can be; each but a statement has a number.
KINDS = (
    "figure",
    "table",
    "theorem",
    "lemma",
    "corollary",
    "property",
    "algorithm",
    "equation",
    "example",
    "statement",
)


def wrong(item):
    """What an item breaks of the rules of the form, the first of it; empty where it breaks none."""
    rules = {
        f"has the kind {item.kind}, which must be {join_alternatives(KINDS)}": item.kind not in KINDS,
        "is a statement with a number": item.kind == "statement" and bool(item.number),
        f"is a {item.kind} without a number": item.kind != "statement" and not item.number,
        "has no words or no place": not item.stated or not item.place,
        "must either be shown by something or be a concept": bool(item.shown_by) == bool(item.concept),
        "is shown by something that is not exactly one study, claim or example": any(
            sum(map(bool, (shown.study, shown.claim, shown.example))) != 1 for shown in item.shown_by
        ),
        "has a side that is no claim": any(shown.side and not shown.claim for shown in item.shown_by),
        "is shown by a study without a statistic, or by a grid or statistic without a study": any(
            bool(shown.study) != bool(shown.statistic) or (shown.grid and not shown.study) for shown in item.shown_by
        ),
    }
    rules |= {f"prints {p.name} with other digits than it has": misfit(p) for p in item.printed}
    return next((rule for rule, broken in rules.items() if broken), "")


def misfit(p):
    """Whether digits are given for a text, none for a number, or fewer than it has."""
    if isinstance(p.value, str) or p.digits is None:
        return isinstance(p.value, str) != (p.digits is None)
    return round(p.value, p.digits) != p.value


def missing(found):
    """What an inventory names and is not there, and which of the paper's studies and claims it does not name; one line each."""
    audited = registries.audited_paper(installed_papers()[found.paper])
    every = registry.studies()
    claims = {claim.id for claim in audited.claims}
    examples = audited.examples
    out = []
    for item, shown in found.iter_evidence():
        if shown.study:
            out += [f"{found.paper} {item.id}: {line}" for line in of_study(shown, every)]
        if shown.claim and shown.claim not in claims:
            out.append(f"{found.paper} {item.id}: there is no claim {shown.claim}")
        if shown.example and shown.example not in examples:
            out.append(f"{found.paper} {item.id}: there is no example {shown.example}")
    out += [
        f"{found.paper} {item.id}: there is no claim {printed.claim}"
        for item in found.results
        for printed in item.printed
        if printed.claim and printed.claim not in claims
    ]
    named = {
        kind: {getattr(shown, kind) for _, shown in found.iter_evidence()} for kind in ("study", "claim", "example")
    }
    there = {"study": {*audited.paper.studies}, "claim": claims, "example": set(examples)}
    out += [
        f"{found.paper} {kind} {name} is not in its inventory"
        for kind in there
        for name in sorted(there[kind] - named[kind])
    ]
    return out


def of_study(shown, every):
    if shown.study not in every:
        yield f"there is no study {shown.study}"
        return
    study = every[shown.study]
    if shown.grid and shown.grid not in {grid.name for grid in study.grids}:
        yield f"{study.name} has no grid {shown.grid}"
    if shown.statistic not in {statistic.name for statistic in study.statistics}:
        yield f"{study.name} has no statistic {shown.statistic}"


@pytest.mark.parametrize("paper", WRITTEN)
def test_every_item_has_its_form(paper):
    found = inv.inventory(paper)
    assert not [f"{item.id} {wrong(item)}" for item in (*found.results, *found.beyond) if wrong(item)]


@pytest.mark.parametrize("paper", WRITTEN)
def test_numbers_run_without_gaps(paper):
    numbers = {}
    for item in inv.inventory(paper).results:
        if item.number.isdigit():
            numbers.setdefault(item.kind, []).append(int(item.number))
    assert numbers == {kind: list(range(1, last + 1)) for kind, last in NUMBERED[paper].items()}


@pytest.mark.parametrize("paper", WRITTEN)
def test_all_that_is_named_is_there_and_all_that_is_there_is_named(paper):
    assert missing(inv.inventory(paper)) == []


@pytest.mark.parametrize(
    "paper", [pytest.param(p, marks=[pytest.mark.kernels] * (p == "li_peng_chu")) for p in WRITTEN]
)
def test_examples_replay(paper):
    for name, make in registries.audited_paper(installed_papers()[paper]).examples.items():
        example = make()
        assert example.is_reproduced(), name
        for drawing in example.cubes:
            network = drawing.network
            assert 1 <= (network.n if isinstance(network, Hypercube) else network.m) <= 4, name


# ---------------------------------------------------------------- errors are one line


@pytest.fixture
def data():
    return resources.read_json("lee_hayes")


def item(data, name):
    return next(entry for entry in data["results"] if entry["id"] == name)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.pop("beyond"), "data/lee_hayes.json lacks beyond"),
        (lambda d: d["results"].append(copy.deepcopy(d["results"][0])), "one entry for each id, got two of f-and-g"),
        (lambda d: item(d, "figure-8").update(colour="red"), "has colour, which PublishedResult does not"),
        (lambda d: item(d, "figure-8").pop("place"), "figure-8: PublishedResult.__init__() missing 1 required"),
        (lambda d: d["results"].append("figure-9"), "results must be a list of objects, got ["),
        (lambda d: d.update(misprints=7), "misprints must be a list of objects, got 7"),
        (lambda d: item(d, "figure-8").update(printed=7), "figure-8: printed must be a list of objects, got 7"),
        (lambda d: item(d, "figure-8").update(shown_by=[7]), "figure-8: shown_by must be a list of objects, got [7]"),
    ],
)
def test_malformed_data_are_refused_with_one_line(data, change, said):
    change(data)
    with pytest.raises(ParameterError) as error:
        inv.parse_inventory(data)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda d: item(d, "figure-8")["shown_by"][0].update(statistic="unsafe"),
            "unsafe-fraction has no statistic unsafe",
        ),
        (lambda d: item(d, "figure-8")["shown_by"][0].update(grid="figure-9"), "unsafe-fraction has no grid figure-9"),
        (lambda d: item(d, "theorem-2")["shown_by"][0].update(claim="theorem-9"), "there is no claim theorem-9"),
        (lambda d: item(d, "figure-6")["shown_by"][0].update(example="figure-5"), "there is no example figure-5"),
        (
            lambda d: item(d, "theorem-2")["shown_by"][0].update(claim="theorem-1"),
            "claim theorem-2 is not in its inventory",
        ),
        (lambda d: d["beyond"].clear(), "study unsafe-rare is not in its inventory"),
    ],
)
def test_names_that_are_not_there_are_told(data, change, said):
    change(data)
    assert any(said in line for line in missing(inv.parse_inventory(data)))


def test_printed_values_are_read_by_name():
    lee = inv.inventory("lee_hayes")
    assert lee.value("fifteen-percent") == 0.15
    assert lee.value("f-and-g", "f_2(001101, 001010)") == 5
    with pytest.raises(ParameterError, match="f-and-g has 6 printed numbers"):
        lee.value("f-and-g")
    with pytest.raises(ParameterError, match="figure-88"):
        lee.result("figure-88")
    with pytest.raises(ParameterError, match="paper must be"):
        inv.inventory("lee_heyes")


def test_table_3_stands_in_its_item_as_in_its_rows():
    wang = inv.inventory("wang_lin_kuo")
    table = wang.tables["table3"]
    printed = {p.name: (p.value, p.point) for p in wang.result("table-3").printed}
    for row, f, destinations, channels, percent in table["rows"]:
        point = {"n": table["n"], "f": f, "destinations": destinations}
        assert printed.pop(f"N, row {row}") == (channels, point)
        assert printed.pop(f"percent, row {row}") == (percent, point)
        assert round(100 * channels / (10 * 2**10), 2) == percent
    assert not printed


@pytest.mark.parametrize(
    ("change", "name", "said"),
    [
        (lambda i: i.pop("number"), "figure-8", "is a figure without a number"),
        (lambda i: i.pop("shown_by"), "figure-8", "must either be shown by something or be a concept"),
        (lambda i: i.update(kind="picture"), "figure-8", "has the kind picture"),
        (lambda i: i["shown_by"][0].pop("statistic"), "figure-8", "is shown by a study without a statistic"),
        (lambda i: i["shown_by"][0].update(claim="x"), "figure-8", "not exactly one study, claim or example"),
        (lambda i: i["printed"][0].update(digits=1), "fifteen-percent", "with other digits than it has"),
        (lambda i: i["printed"][0].pop("digits"), "fifteen-percent", "with other digits than it has"),
    ],
)
def test_items_out_of_form_are_told(data, change, name, said):
    change(item(data, name))
    assert said in wrong(inv.parse_inventory(data).result(name))
