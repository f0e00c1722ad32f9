"""Damage in the data that come with the package: one line that names the file, whichever command reads it."""

from __future__ import annotations

import pytest
from helpers.damaged_data import damages_with_other_errors

import fastcube as fc
from fastcube import resources
from fastcube.exact import survival
from fastcube.measure import inventory
from fastcube.studies.sui_wang_lee import edmonds

NAMES = ("papers", "spanning-trees", *inventory.papers())


def used(name):
    """Read a file as the commands do."""
    inventory.inventory.cache_clear()
    if name == "spanning-trees":
        edmonds.joint_counts.__wrapped__()
    else:
        for paper in inventory.papers():
            inventory.inventory(paper)


@pytest.fixture(autouse=True)
def clean():
    yield
    inventory.inventory.cache_clear()


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n == "leu_kuo" else n for n in NAMES]
)  # most data
def test_damaged_data_are_one_line(name, monkeypatch):
    assert damages_with_other_errors(monkeypatch, name, lambda: used(name)) == {}


def test_a_file_that_is_not_json_or_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(resources.importlib.resources, "files", lambda _: tmp_path)
    with pytest.raises(fc.ParameterError, match=r"^papers\.json of this installation is damaged: FileNotFoundError"):
        inventory.papers()
    (tmp_path / "papers.json").write_text("{")
    with pytest.raises(fc.ParameterError, match=r"^papers\.json of this installation is damaged: JSONDecodeError"):
        inventory.papers()


@pytest.mark.parametrize(
    ("key", "f", "value"),
    [("nodes", 3, 4961), ("nodes", 0, 2), ("nodes", 5, -1), ("extra_1", 3, 1), ("extra_1", 30, -1)],
)
def test_more_fault_sets_than_there_are_make_no_probability(monkeypatch, key, f, value):
    """All C(32, 3) = 4960 sets of three faulty nodes leave the hypercube connected."""
    whole = resources.read_json("exact-survival")
    assert fc.exact_survival("hypercube", 5).nodes[3] == 4960
    whole["networks"]["hypercube"][key][f] = value
    monkeypatch.setattr(survival, "read_json", lambda name: whole)
    message = rf"^exact-survival\.json of this installation is damaged: ValueError: hypercube has more sets of {f} faulty nodes"
    with pytest.raises(fc.ParameterError, match=message):
        fc.exact_survival("hypercube", 5).probabilities("nodes")
