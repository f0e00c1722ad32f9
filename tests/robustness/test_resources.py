"""Damage in the data that come with the package: one line that names the file, whichever command meets it."""

from __future__ import annotations

import copy

import pytest

import fastcube as fc
from fastcube import resources
from fastcube.audit.report import plan
from fastcube.measure import inventory
from fastcube.measure.paper import papers_with_inventory
from fastcube.studies.sui_wang_lee import edmonds

READ = resources.read_json
#: Damages tried of a file, evenly among all.
MOST = 15

NAMES = ("papers", "budget", "spanning-trees", *inventory.papers())


def used(name):
    """Read a file as the commands do."""
    inventory.inventory.cache_clear()
    plan.budget.cache_clear()
    if name == "spanning-trees":
        edmonds.joint_counts.__wrapped__()
    else:
        for paper in inventory.papers():
            inventory.inventory(paper)
        plan.plan_of(papers_with_inventory(), quick=True)


def damages(data):
    """Each field of the upper three levels, as its path, and what takes its place: another type, or nothing."""

    def walk(value, path):
        inside = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
        for key, child in list(inside):
            yield (*path, key)
            if len(path) < 3:
                yield from walk(child, (*path, key))

    for path in [(), *walk(data, ())]:
        yield from ((path, wrong) for wrong in (None, 7, "text", [], {}, [[]], "gone"))


def damaged(data, path, wrong):
    """The data with that in the field's place."""
    out = copy.deepcopy({"": data})
    at = out
    for key in ("", *path)[:-1]:
        at = at[key]
    last = ("", *path)[-1]
    if wrong == "gone":
        if path:
            del at[last]
    else:
        at[last] = wrong
    return out[""]


@pytest.fixture(autouse=True)
def clean():
    yield
    inventory.inventory.cache_clear()
    plan.budget.cache_clear()


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n == "leu_kuo" else n for n in NAMES]
)  # most data
def test_damaged_data_are_one_line(name, monkeypatch):
    place = ("fastcube.audit.report",) if name == "budget" else ()
    whole, at = READ(name, *place), {}
    monkeypatch.setattr(
        resources, "read_json", lambda asked, *place: at["data"] if asked == name else READ(asked, *place)
    )
    wrong = {}
    tried = list(damages(whole))
    for path, value in tried[:: max(1, len(tried) // MOST)]:
        at["data"] = damaged(whole, path, value)
        try:
            used(name)
        except fc.FastcubeError as error:
            if not str(error).isprintable():
                wrong[path, str(value)] = str(error)
        except Exception as error:
            wrong[path, str(value)] = f"{type(error).__name__}: {error}"
    assert wrong == {}


def test_a_file_that_is_not_json_or_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(resources.importlib.resources, "files", lambda _: tmp_path)
    with pytest.raises(fc.ParameterError, match=r"^papers\.json of this installation is damaged: FileNotFoundError"):
        inventory.papers()
    (tmp_path / "papers.json").write_text("{")
    with pytest.raises(fc.ParameterError, match=r"^papers\.json of this installation is damaged: JSONDecodeError"):
        inventory.papers()
