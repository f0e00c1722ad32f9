"""Axes of names: keys, files, tables, plots, and names that are not known here."""

from __future__ import annotations

import hashlib
import io
import json

import h5py
import numpy as np
import pytest
from helpers.adding import merge_results
from helpers.forgery import edit_hdf5, text_attribute

import fastcube as fc
from fastcube.errors import FormatTooNewError, StudyMismatchError
from fastcube.kernels.draws import philox
from fastcube.measure import grid
from fastcube.measure.study import GENERATOR
from fastcube.results.table import as_csv


@fc.trial
def dice(key, t, params, out):
    word = philox.random_word(key, np.uint64(t), np.uint64(0), philox.LABELS)
    out[0] = np.int64(word & np.uint64(1))
    out[1] = np.int64(params[0]) + 10 * np.int64(word & np.uint64(1))


def study(*names, keyed=False):
    return fc.trial_study(
        "choosing",
        "a choice",
        [fc.Choice("rule", "which rule", names, keyed), fc.Axis("a", "a label", int, 0, 9)],
        [fc.Output("bit", "one bit"), fc.Output("place", "its place", 100)],
        dice,
        [{"rule": name, "a": a} for a in (1, 2) for name in names],
        trials=200,
    )


NAMES = ("zeta", "alpha-2", "mid")


def test_a_choice_is_checked():
    axis = fc.Choice("rule", "which", NAMES)
    assert axis.check(np.str_("mid")) == "mid" and axis.keyed and [axis.parameter(n) for n in NAMES] == [0, 1, 2]
    for wrong, message in (
        ("alpha2", "rule must be one of zeta, alpha-2, mid, got alpha2; did you mean alpha-2?"),
        (1, "got 1"),
    ):
        with pytest.raises(fc.ParameterError, match=message.replace("?", r"\?")):
            axis.check(wrong)
    for names in ((), ("a", "a"), ("A",), ("a b",), ("x" * 65,), "ab", (1,), None):
        with pytest.raises(fc.ParameterError, match="names of axis rule must be"):
            fc.Choice("rule", "which", names)


def test_a_name_enters_the_key_only_where_the_axis_says_so():
    def key(text):
        return int(hashlib.sha256(f"{GENERATOR}|{text}".encode()).hexdigest()[:16], 16)

    assert study(*NAMES).key(3, {"rule": "mid", "a": 1}) == key("choosing|3|a=1")
    assert study(*NAMES, keyed=True).key(3, {"rule": "mid", "a": 1}) == key("choosing|3|rule=mid|a=1")
    from dataclasses import replace

    other = replace(study(*NAMES), name="other", keyed=("choosing", {"b": 0.5}))
    assert other.key(3, {"rule": "zeta", "a": 1}) == key("choosing|3|a=1|b=0.5")


def test_all_names_have_the_same_trials():
    """The law of an axis that is not in the key: what is drawn is the same, the kernel gets the place."""
    tallies = [study(*NAMES).count({"rule": name, "a": 1}, 500, seed=5).counts for name in NAMES]
    assert len({t["bit_nonzero"] for t in tallies}) == 1
    assert [t["place_total"] - 10 * t["bit_nonzero"] for t in tallies] == [0, 500, 1000]
    separate = [
        study(*NAMES, keyed=True).count({"rule": name, "a": 1}, 500, seed=5).counts["bit_nonzero"] for name in NAMES
    ]
    assert len(set(separate)) > 1


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("choice") / "choosing.h5"
    return fc.run(study(*NAMES), seed=5, output=path), path


def test_files_show_names_in_their_order(run):
    import xarray

    results, path = run
    again = fc.open_results(path)
    assert again.digest() == results.digest()
    assert [point["rule"] for point, _ in again] == ["zeta"] * 2 + ["alpha-2"] * 2 + ["mid"] * 2
    with h5py.File(path, locking=False) as file:
        assert [name.decode() for name in file["rule"][:]] == list(NAMES)
        assert tuple(file.attrs["format_version"]) >= (2, 1)
    with xarray.open_dataset(path) as data:
        assert data["rule"].values.tolist() == list(NAMES)
        assert data["bit"].sel(rule="mid", a=2).item() == again.estimate("bit", rule="mid", a=2).value
        assert again.to_xarray().identical(data.load())
    with xarray.open_dataset(path, group="raw") as raw:
        assert again.to_xarray(raw=True)["axis_rule"].values.tolist() == raw["axis_rule"].values.tolist()
    assert again.to_dataframe()["rule"].tolist()[::2] == [p["rule"] for p, _ in again]
    assert ",mid,2,bit,200," in as_csv(again)
    assert len(again.sel(rule="mid,zeta").tallies) == 4
    with pytest.raises(fc.ParameterError, match="did you mean alpha-2"):
        again.sel(rule="alpha")


def test_the_same_trials_whatever_the_order_of_names(run):
    """No file contains the position of a name, only its text."""
    results, _ = run
    turned = fc.run(study(*NAMES[::-1]), seed=5)
    keep = {key: tally.counts["bit_nonzero"] for key, tally in turned.tallies.items()}
    assert keep == {key: tally.counts["bit_nonzero"] for key, tally in results.tallies.items()}


def test_a_run_takes_names(tmp_path):
    some = fc.run(study(*NAMES), rule="mid,zeta", a=2, trials=50)
    assert sorted(key[0] for key in some.tallies) == ["mid", "zeta"]
    assert grid.values_text({"b", "a"}) == "a, b"
    with pytest.raises(fc.ParameterError, match="rule must be one of"):
        fc.run(study(*NAMES), rule="5:6")


def test_plots_have_a_line_a_name(run):
    figure = run[0].plot()
    labels = [text.get_text() for text in figure.legends[0].get_texts()] if figure.legends else []
    labels += [t.get_text() for ax in figure.axes if ax.get_legend() for t in ax.get_legend().get_texts()]
    assert [label for label in labels if label in NAMES] == list(NAMES)


# ---------------------------------------------------------------- names that are not known here


def test_names_of_a_later_fastcube_are_read_shown_and_merged(run, tmp_path):
    _, path = run
    few = study("zeta", "mid")
    older = fc.run(few, seed=5, trials=100, a=1, output=tmp_path / "older.h5")
    later = fc.open_results(path)
    assert "alpha-2" in as_csv(later)
    rest = fc.run(study(*NAMES), seed=5, rule="alpha-2", a=3)
    for parts in ([("a", older), ("b", rest)], [("b", rest), ("a", fc.open_results(tmp_path / "older.h5"))]):
        both = merge_results(parts)
        both.save(tmp_path / "both.h5", force=True) if (tmp_path / "both.h5").exists() else both.save(
            tmp_path / "both.h5"
        )
        again = fc.open_results(tmp_path / "both.h5")
        assert {key[0] for key in again.tallies} == set(NAMES)
        assert again.digest() == both.digest()
        (tmp_path / "both.h5").unlink()


def test_another_axis_is_another_study(tmp_path):
    keyed = fc.run(study(*NAMES, keyed=True), seed=5, trials=50)
    other = fc.run(study(*NAMES), seed=5, trials=50)
    with pytest.raises(StudyMismatchError, match="other axes"):
        merge_results([("a", keyed), ("b", other)])


def forged(path, tmp_path, change):
    other = tmp_path / "forged.h5"
    other.write_bytes(path.read_bytes())
    edit_hdf5(other, change)
    return other


def test_a_word_that_the_file_does_not_list_is_refused(run, tmp_path):
    def rename(word):
        def change(file):
            file["raw/axis_rule"][0] = word

        return change

    for word in ("unlisted", "\x1b[31m", "mid\n"):
        with pytest.raises(fc.ResultFileError, match="is damaged: rule is no column of its names"):
            fc.open_results(forged(run[1], tmp_path, rename(word)))


@pytest.mark.parametrize("word", ["Zeta", "a b", "\x1b[31m", "x" * 65])
def test_a_list_of_other_than_words_is_refused(run, tmp_path, word):
    def change(file):
        data = json.loads(file["study/json"][()])
        data["axes"][0]["names"][0] = word
        del file["study/json"]
        file["study"].create_dataset("json", data=json.dumps(data))

    with pytest.raises(fc.ResultFileError, match="is damaged"):
        fc.open_results(forged(run[1], tmp_path, change))


def test_files_of_before_are_read(tmp_path):
    from toy import TOY

    path = tmp_path / "toy.h5"
    results = fc.run(TOY, trials=20, output=path)

    def make_format_2(file):
        file.attrs.modify("format_version", np.array([2, 0]))
        for name in ("a", "work"):
            file["raw"].move(f"axis_{name}", name)

    edit_hdf5(path, make_format_2)
    assert fc.open_results(path).digest() == results.digest()
    edit_hdf5(path, text_attribute("generator", GENERATOR))
    edit_hdf5(path, lambda file: file.attrs.modify("format_version", np.array([4, 0])))
    with pytest.raises(FormatTooNewError):
        fc.open_results(path)


def test_csv_is_text(run):
    assert io.StringIO(as_csv(run[0])).readline().startswith("study,rule,a,statistic,")


@pytest.mark.slow
def test_a_goal_may_name_a_thousand_points(tmp_path):
    """Each with a number of trials of its own."""
    points = [{"rule": "mid", "a": a} for a in range(10)]
    many = fc.Grid("many", points, lambda point: 10 + point["a"])
    from dataclasses import replace

    axes = (fc.Choice("rule", "which", NAMES), fc.Axis("a", "a label", int, 0, 2000))
    wide = replace(
        study(*NAMES), axes=axes, grids=(replace(many, points=[{"rule": "mid", "a": a} for a in range(1000)]),)
    )
    results = fc.run(wide, output=tmp_path / "many.h5")
    assert fc.open_results(tmp_path / "many.h5").digest() == results.digest()
