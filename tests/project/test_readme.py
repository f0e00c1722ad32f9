"""README: its length, its printed table, and the numbers of its sentences, against cached results, studies and records."""

import gzip
import json
import re
from pathlib import Path

import pytest

import fastcube as fc

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text()
ONE_LINE = " ".join(TEXT.split())


@pytest.fixture(scope="module")
def figure_8(tmp_path_factory):
    path = tmp_path_factory.mktemp("readme") / "fig8.h5"
    path.write_bytes(gzip.decompress((ROOT / "docs" / "results" / "unsafe-fraction.h5.gz").read_bytes()))
    return fc.open_results(path)


def test_it_is_short():
    assert len(TEXT.splitlines()) <= 160


def test_the_table_is_the_printed_one(figure_8):
    """Header and last rows.  The columns of shown rows are as wide as those of all rows are printed."""
    from fastcube.results.table import as_table

    (block,) = re.findall(r"^```text\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    printed = as_table(figure_8).splitlines()
    rows = [line.split() for line in printed]
    header, *shown = [line.split() for line in block.splitlines()]
    assert header in rows and len(shown) == 4
    last = rows.index(shown[-1])
    assert rows[last - 3 : last + 1] == shown
    assert not re.match(r" *\d", printed[last + 1])
    assert header[:3] == ["n", "f", "trials"]
    for column in header[2:]:
        assert f"`{column}`" in TEXT.partition(block)[2], column


def test_sentences_about_figure_8(figure_8):
    trials = sum(tally.trials for _, tally in figure_8)
    assert f"from {trials // 10**6} million random fault sets" in ONE_LINE and trials % 10**6 == 0


def test_speed_is_that_of_the_record():
    record = {tuple(row[:2]): row[2:] for row in json.loads((ROOT / "data" / "speed.json").read_text())["rows"]}
    table = TEXT.partition("\n## Speed\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+ .+=.+) \| ([\d,]+) \| ([\d,]+) \((.+)\) \|$", table, re.MULTILINE)
    assert len(rows) == 3
    for name, *numbers, baseline in rows:
        rounded = [float(f"{value:.3g}") for value in record[name, baseline]]
        assert [float(number.replace(",", "")) for number in numbers] == rounded, name


def test_limitations_are_those_of_the_axes():
    from fastcube.kernels.dualcube.layout import SEARCH_M

    limits = {
        name: {axis.name: axis.high for axis in fc.study(name).axes if hasattr(axis, "high")}
        for name in fc.study_names()
    }
    text = ONE_LINE.partition("## Limitations")[2]
    largest, faults = re.search(r"up to n = (\d+) and ([\d,]+) faults", text).groups()
    of_cubes = [axes["n"] for axes in limits.values() if "n" in axes]
    assert of_cubes.count(int(largest)) > len(of_cubes) / 3 and max(of_cubes) == int(largest)
    assert int(faults.replace(",", "")) == limits["unsafe-fraction"]["f"]
    stated = text.partition("faults. ")[2].partition(", and studies of deadlock at ")
    for names, n in re.findall(r"((?:`[\w-]+`(?:, | and )?)+) (?:stops at n = |at )(\d+)", stated[0]):
        for name in re.findall(r"`([\w-]+)`", names):
            assert limits.pop(name)["n"] == int(n), name
    for name in ("multicast-deadlock", "multicast-wormhole"):
        assert limits.pop(name)["n"] == int(stated[2].partition(".")[0])
    others = {name for name, axes in limits.items() if axes.get("n", int(largest)) < int(largest)}
    assert others == {"survival-rate", "survival-components", "survival-curve"}  # as `survival`
    assert f"known for m <= {SEARCH_M}." in text
