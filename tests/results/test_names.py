"""Studies whose own names are names of the format: each is refused when it is made, or written, read, exported and merged."""

import csv
import inspect
import io
import json
from dataclasses import replace

import h5py
import pytest
from helpers.coin import coins

import fastcube as fc
from fastcube.measure.names import CALL_PARAMETERS, list_names
from fastcube.measure.tally import Tally
from fastcube.results.export import columns_of
from fastcube.results.reading import open_results
from fastcube.results.results import Results
from fastcube.results.table import as_csv, as_json, as_table

#: Trials of the two shards of each point.
SHARDS = ((0, 100), (100, 250))


def own_study(axis="side", output="heads"):
    """A study with an axis and an output of these names; both occur in all that the format does with names."""
    axes = [fc.Axis(axis, "an own axis", int, 0, 99), fc.Choice("kind", "a choice", ("old", "new"))]
    outputs = [
        fc.Output(output, "an own output", bound=3, distribution=True),
        fc.Output("tails", "a ratio", bound=3, denominator=output),
        fc.Output("gain", "a difference", bound=3, compared_with=output),
    ]
    points = [{axis: side, "kind": kind} for side in (41, 43) for kind in ("old", "new")]
    return fc.trial_study("coin", "a coin", axes, outputs, coins, points)


def shard_results(study, first, stop):
    """Results with possible counters of these trials, without running any."""
    one = {c.name: (stop - first, *[0] * (c.bins - 1)) if c.bins else 0 for c in study.tally.counters}
    maxima = {e.name: (0, first) for e in study.tally.maxima}
    tallies = {tuple(p.values()): Tally(((first, stop),), one, maxima) for p in study.grids[0].points}
    return Results(study, 0, tallies)


def format_names(tmp_path):
    """All names in a file of such a study, in its tables and in calls, and the names that own names are turned into."""
    path = tmp_path / "plain.h5"
    results = shard_results(own_study(), 0, 250)
    results.save(path)
    with h5py.File(path) as file:
        names = {*file.attrs, *file["raw"].attrs}
        file.visit(lambda place: names.update(place.split("/")))
    study = json.loads(h5py.File(path)["study/json"][()])
    names |= {key for part in study.values() for entry in part for key in entry} | set(study)
    names |= set(columns_of(results)) | set(json.loads(as_json(results))[0])
    for function in (fc.run, fc.fault_sets, Results.sel, Results.estimate, Results.plot):
        names |= set(inspect.signature(function).parameters)
    return sorted(names - {"side", "heads", "kind", "tails", "gain"})


def check_round_trip(study, tmp_path, axis):
    """Write, read, export and merge results of the study, and find every point's value wherever it belongs."""
    xarray = pytest.importorskip("xarray")
    paths = [tmp_path / f"{first}.h5" for first, _ in SHARDS]
    for path, trials in zip(paths, SHARDS, strict=True):
        shard_results(study, *trials).save(path)
    read = open_results(paths[0])
    assert read.tallies == shard_results(study, *SHARDS[0]).tallies
    fc.merge(paths).save(tmp_path / "merged.h5")
    merged, whole = open_results(tmp_path / "merged.h5"), shard_results(study, 0, 250)
    assert merged.digest() == whole.digest()
    rows = list(csv.DictReader(io.StringIO(as_csv(merged))))
    parsed = json.loads(as_json(merged))
    assert {row[axis] for row in rows} == {"41", "43"} and {row[axis] for row in parsed} == {41, 43}
    assert {row["trials"] for row in rows} == {"250"} and {row["trials"] for row in parsed} == {250}
    assert as_table(merged).count("41") >= 2
    assert set(merged.to_dataframe()[axis]) == {41, 43}
    with xarray.open_dataset(tmp_path / "merged.h5") as data:
        assert data[axis].values.tolist() == [41, 43] and (data["trials"].values == 250).all()
        assert data.identical(merged.to_xarray()) or set(data.variables) == set(merged.to_xarray().variables)
        for s in study.statistics:
            assert merged.sel(**{axis: 41, "kind": "old"})[s.name]
            assert data[s.name].sel({axis: 41, "kind": "old"}).size
    with h5py.File(tmp_path / "merged.h5") as file:
        assert file["raw"][f"axis_{axis}"][()].tolist() == [41, 41, 43, 43]


def test_every_name_of_the_format_is_refused_or_serves(tmp_path):
    study = own_study()
    listed = list_names([axis.name for axis in study.axes], study.statistics)
    reserved = {name for _, name, what in listed if "side" not in what}
    names = format_names(tmp_path)
    assert {"ranges", "point", "range", "number", "count_heads_total", "bin_heads_bins", "trials", "heads_low"} <= set(
        names
    )
    served: dict[str, list[str]] = {"axis": [], "output": []}
    for what, able in served.items():
        for name in names:
            try:
                own_study(**{what: name})
                able.append(name)
            except fc.ParameterError as error:
                said = str(error)
                assert name in said and "\n" not in said and name in reserved, (what, name, said)
    assert min(map(len, served.values())) > len(names) / 2  # few names are reserved
    for i, axis in enumerate(served["axis"]):
        output = served["output"][(i + 1) % len(served["output"])]
        (folder := tmp_path / f"{i}-{axis}").mkdir()
        check_round_trip(own_study(axis, "heads" if output == axis else output), folder, axis)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"axis": "trials"},
            "axis trials of coin must have another name: in the results file trials is the number of trials",
        ),
        ({"axis": "raw"}, "axis raw of coin must have another name: in the results file raw is a group"),
        ({"axis": "low"}, "axis low of coin must have another name: in every table low is a column"),
        ({"axis": "seed"}, "axis seed of coin must have another name: in calls of .* seed is a parameter"),
        ({"axis": "trial"}, "axis trial of coin must have another name: in a table of fault sets trial is a column"),
        ({"output": "study"}, "statistic study of coin must have another name: in the results file study is a group"),
        ({"axis": "heads_low"}, "lower 95% limit of statistic heads .* heads_low is axis heads_low"),
        ({"output": "side"}, "statistic side of coin must have another name: in the results file side is axis side"),
    ],
)
def test_a_reserved_name_is_one_line_with_both_owners(given, message):
    with pytest.raises(fc.ParameterError, match=f"^{message}$"):
        own_study(**given)


def test_the_reader_refuses_what_the_writer_refuses(tmp_path, monkeypatch):
    study = own_study()
    with monkeypatch.context() as patch:
        patch.setattr("fastcube.measure.measurement.check_names", lambda *parts: None)
        bad = replace(study, axes=(fc.Axis("low", "an own axis", int, 0, 99), study.axes[1]))
        shard_results(study, 0, 100)
        results = shard_results(study, 0, 100)
        Results(bad, 0, results.tallies).save(tmp_path / "bad.h5")
    with pytest.raises(
        fc.ResultFileError, match="axis low of coin must have another name: in every table low is a column"
    ):
        open_results(tmp_path / "bad.h5")


def test_parameters_of_calls_are_reserved():
    calls = {name for call in (fc.run, fc.fault_sets) for name in inspect.signature(call).parameters}
    assert set(CALL_PARAMETERS) == calls - {"axes"}


def test_no_sample_has_the_name_of_a_column():
    with pytest.raises(fc.ParameterError, match="others must have no name of another column of fault sets, got trial"):
        fc.Sample(fc.Hypercube(3), {"trial": 1})
