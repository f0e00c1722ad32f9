"""docs/random_numbers.py alone gives the key of every study, and the fault sets of studies that share a key."""

import ast
import re
import subprocess
import sys

import pytest
from helpers.documented import SAMPLER, load_documented_sampler

import fastcube as fc

pytestmark = pytest.mark.kernels


def ring(v, d, n):
    return v ^ (1 << d)


OWN = [
    fc.survival_study(fc.custom_network("ring-cube", "Q_n again", step=ring, slots=lambda n: n)),
    fc.routing_rules_study(["LEVELS", "A1"]),
    fc.survival_study("crossed", domain="board-4"),
    fc.survival_curve_study(fc.custom_network("ring-cube", "Q_n again", step=ring, slots=lambda n: n)),
]


def test_the_page_shows_each_function_of_the_file_once():
    functions = [node.name for node in ast.parse(SAMPLER.read_text()).body if isinstance(node, ast.FunctionDef)]
    text = SAMPLER.with_name("random.md").read_text()
    shown = re.findall(r"^<!-- code random_numbers\.py:(\w+) -->$", text, re.MULTILINE)
    assert len(functions) > 25
    assert sorted(shown) == sorted(functions)


def test_the_file_needs_numpy_alone(tmp_path):
    code = (
        f"import sys; sys.path.insert(0, {str(SAMPLER.parent)!r}); import random_numbers as r; "
        "print(r.fault_set(r.study_key('unsafe-fraction', 0, {'n': 10, 'f': 5}), 77, 10, 5), "
        "[m for m in ('fastcube', 'numba', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "[265, 679, 835, 23, 885] []\n"


@pytest.mark.parametrize("study", [*map(fc.study, fc.study_names()), *OWN], ids=lambda study: study.name)
def test_the_page_gives_the_key_of_every_study(study):
    page = load_documented_sampler()
    for grid in study.grids:
        for point in (grid.points[0], grid.points[-1]):
            assert page["study_key"](study.name, 3, point) == study.key(3, point), point


@pytest.mark.parametrize(
    ("study", "point"),
    [
        (fc.study("survival"), {"network": "crossed", "n": 6, "f": 9, "links": 5}),
        (fc.study("survival-components"), {"network": "moebius1", "n": 6, "f": 9, "links": 5}),
        (OWN[0], {"network": "ring-cube", "n": 6, "f": 9, "links": 5}),
        (fc.study("routing-rules"), {"n": 7, "f": 11, "links": 3}),
        (fc.study("safety-status"), {"n": 7, "f": 11, "links": 3}),
        (OWN[1], {"n": 7, "f": 11, "links": 3}),
    ],
    ids=lambda case: case.name if hasattr(case, "name") else None,
)
def test_the_page_draws_the_fault_sets(study, point):
    page = load_documented_sampler()
    key = page["study_key"](study.name, 3, point)
    for trial in (0, 5, 1000):
        drawn = study.sample(study.point(point), study.key(3, point), trial)
        nodes, (s, t) = page["fault_set_and_ends"](key, trial, point["n"], point["f"], 2)
        assert sorted(drawn.network.faulty_nodes) == sorted(nodes)
        if drawn.others:
            assert (drawn.others["s"], drawn.others["t"]) == (s, t)
        if study.name == "routing-rules":
            links = page["link_set"](key, trial, point["n"], point["links"])
            assert set(drawn.network.faulty_links) == {(v, v | 1 << d) for v, d in links}
