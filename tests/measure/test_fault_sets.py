"""Fault sets for other simulators: for every study the sets that replay shows, as arrays and as rows of CSV."""

import csv
import io
import shlex
from dataclasses import replace

import numpy as np
import pytest
from helpers.fault_sets import check_replay, small_points
from helpers.processes import run_without_compiling
from toy import TOY

import fastcube as fc
from fastcube.cli import main
from fastcube.measure import registry
from fastcube.measure.fault_sets import iter_csv_rows


@pytest.mark.kernels
@pytest.mark.parametrize(("study", "point"), [*small_points()])
def test_a_trial_draws_what_replay_shows(study, point):
    check_replay(study, point)


PLAIN = """
from helpers.fault_sets import check_replay, small_points
for param in {param.values[0].name: param for param in small_points()}.values():
    check_replay(*param.values, trials=(0, 70))
"""


def test_a_trial_draws_what_replay_shows_as_plain_python():
    """One point of each study; their kernels take half a minute to compile."""
    run_without_compiling(PLAIN)


def test_shapes_and_types():
    nodes = fc.fault_sets("unsafe-fraction", n=8, f=4, seed=0, first=3, trials=7)
    assert nodes.shape == (7, 4) and nodes.dtype == np.int64 and (np.diff(nodes) > 0).all()
    assert (nodes == fc.fault_sets("unsafe-fraction", n="8", f=[4], trials="10")[3:]).all()
    assert fc.fault_sets("unsafe-fraction", n=8, f=4, trials=0).shape == (0, 0)
    none = fc.fault_sets("routing", field="s", n=8, f=4, links=0, k=1, trials=0)
    assert none.shape == (0,) and none.dtype == np.int64
    links = fc.fault_sets("find-tree", field="faulty_links", n=6, links=5, f=0, trials=4)
    assert links.shape == (4, 5, 2) and (links[..., 0] < links[..., 1]).all()
    assert fc.fault_sets("routing", field="s", n=8, f=4, links=0, k=1, trials=4).shape == (4,)
    keys = fc.fault_sets("routing-rate", field="status_key", n=60, rate=0.1, k=1, trials=4)
    assert keys.dtype == np.uint64 and keys.shape == (4,)


@pytest.mark.kernels
def test_a_set_of_ends_is_a_row():
    assert fc.fault_sets("multicast", field="destinations", n=6, f=3, destinations=5, trials=2).shape == (2, 5)


@pytest.mark.kernels
def test_rows_of_unlike_length_end_with_minus_one():
    faults = fc.fault_sets("unsafe-critical", n=6, p=0.2, trials=50)
    lengths = (faults >= 0).sum(axis=1)
    assert lengths.max() == faults.shape[1] > lengths.min()
    assert all(
        (row[:length] >= 0).all() and (row[length:] == -1).all() for row, length in zip(faults, lengths, strict=True)
    )


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"n": 8}, "f is missing"),
        ({"n": 8, "f": [1, 2]}, "f must be one value, got 2"),
        ({"n": 8, "f": 999}, r"f must be in \[0, 256\] for n=8, got 999"),
        (
            {"n": 8, "f": 2, "field": "faulty_node"},
            r"field must be faulty_nodes or faulty_links .* did you mean faulty_nodes\?",
        ),
        ({"n": 8, "f": 2, "field": "t", "trials": 0}, r"field must be faulty_nodes or faulty_links .* got t"),
        ({"n": 8, "f": 2, "seed": -1}, r"seed must be in \[0, "),
        ({"n": 8, "f": 2, "first": 2**60 - 9}, r"trials must be in \[0, 9\] for first="),
        (
            {"n": 8, "f": 2, "trials": 2**60},
            r"trials must be in \[0, 1000000\] in one array, got 1152921504606846976: .* CSV from `fastcube faults",
        ),
    ],
)
def test_what_is_not_drawn_is_refused(axes, message):
    with pytest.raises(fc.ParameterError, match=message):
        fc.fault_sets("unsafe-fraction", **{"trials": 10, **axes})


def test_what_cannot_be_listed_is_refused():
    with pytest.raises(fc.ParameterError, match=r"at most 2\^20 labels to be listed, got 2\^60; status_key decides"):
        fc.fault_sets("routing-rate", n=60, rate=0.1, k=1, trials=1)
    with pytest.raises(fc.ParameterError, match=r"study must declare its samples \(sample=\), got toy"):
        fc.fault_sets(TOY, a=1, work=0, trials=1)


def test_csv_has_the_same_fault_sets(capsys):
    with pytest.raises(SystemExit) as done:
        main(shlex.split("faults routing --set n=6,7 --set f=3 --set links=2 --set k=1 --first 4 --trials 2 --seed 9"))
    assert done.value.code == 0
    read = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(read[0]) == ["n", "f", "links", "k", "trial", "faulty_nodes", "faulty_links", "s", "t"]
    assert [(row["n"], row["trial"]) for row in read] == [("6", "4"), ("6", "5"), ("7", "4"), ("7", "5")]
    for n, part in (("6", read[:2]), ("7", read[2:])):
        point = {"n": n, "f": 3, "links": 2, "k": 1, "seed": 9, "first": 4, "trials": 2}
        assert [row["faulty_nodes"] for row in part] == [
            " ".join(map(str, v)) for v in fc.fault_sets("routing", **point)
        ]
        links = fc.fault_sets("routing", field="faulty_links", **point).tolist()
        assert [row["faulty_links"] for row in part] == [" ".join(f"{u}-{v}" for u, v in one) for one in links]
        assert [int(row["s"]) for row in part] == fc.fault_sets("routing", field="s", **point).tolist()


def test_csv_of_lazy_faults():
    study = registry.study("routing-rate")
    header, row = iter_csv_rows(study, [study.point({"n": 60, "rate": 0.1, "k": 1})], 0, 0, 1)
    cells = dict(zip(header, row, strict=True))
    assert cells["faulty_nodes"] == "on demand"
    assert (
        int(cells["status_key"]) == fc.fault_sets("routing-rate", field="status_key", n=60, rate=0.1, k=1, trials=1)[0]
    )


def test_a_study_of_ones_own_says_what_it_draws():
    study = replace(
        TOY, sample=lambda point, key, trial: fc.Sample(fc.Hypercube(4, [trial, 2 * trial]), {"rounds": [trial] * 3})
    )
    assert fc.fault_sets(study, a=1, work=0, first=1, trials=2).tolist() == [[1, 2], [2, 4]]
    assert fc.fault_sets(study, a=1, work=0, first=1, trials=2, field="rounds").tolist() == [[1] * 3, [2] * 3]
    assert fc.fault_sets(study, a=1, work=0, trials=2).tolist() == [[0, -1], [1, 2]]


def test_a_sample_with_the_name_of_an_axis_has_its_own_column():
    study = replace(
        fc.study("multicast"), sample=lambda point, key, t: fc.Sample(fc.Hypercube(3), {"destinations": [1, 6], "s": 0})
    )
    point = study.grids[0].points[0]
    header, row = iter_csv_rows(study, [point], 0, 0, 1)
    assert header == [*point, "trial", "faulty_nodes", "faulty_links", "sampled_destinations", "s"]
    assert row[-2:] == ["1 6", "0"] and len(set(header)) == len(header)


def test_no_trials_have_the_header_alone():
    study = fc.study("unsafe-fraction")
    point = study.point({"n": 4, "f": 2})
    none, one = (list(iter_csv_rows(study, [point], 0, 0, trials)) for trials in (0, 1))
    assert none == one[:1] == [["n", "f", "trial", "faulty_nodes", "faulty_links"]]
