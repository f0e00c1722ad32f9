"""Measured tables of docs/statistics.md equal the output of the benchmarks."""

import importlib
import json
from pathlib import Path

import pytest

from fastcube.measure.estimate import proportion

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/statistics.md").read_text()
RECORD = json.loads((ROOT / "data/stopping.json").read_text())


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module


def test_coverage_of_paired_differences(benchmark):
    module = benchmark("interval_coverage")
    for above, below, trials in module.DIFFERENCES:
        held, bernstein, width = module.difference_coverage(above, below, trials)
        text = f"{above:g} of +1, {below:g} of -1, {trials:,} trials"
        assert held >= 0.95 and f"{text:58}{held:8.2%}{bernstein:9.2%}{width:8.2f}\n" in PAGE


@pytest.mark.slow
def test_table_of_coverage(benchmark, capsys):
    benchmark("interval_coverage").main()
    assert capsys.readouterr().out in PAGE


@pytest.mark.slow
@pytest.mark.parametrize("target", ["--events 10", "--relative .2", "--precision p"])
def test_record_of_runs_that_stop(benchmark, target):
    module = benchmark("interval_stopping")
    for p, *measured in (row[1:] for row in RECORD["shares"] if row[0] == target):
        assert measured == pytest.approx(module.cover_proportion(target, p), abs=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("row", RECORD["tails"], ids=str)
def test_heavy_tails(benchmark, row):
    module, (large_fraction, precision, *measured) = benchmark("interval_stopping"), row
    for statistic, held in zip((module.MEAN, module.SIGNED), measured, strict=True):
        assert module.cover_heavy_tail(statistic, large_fraction, precision, RECORD["tail_runs"])[0] == held


def test_sentences():
    page = " ".join(PAGE.split())
    assert min(row[2] for row in RECORD["shares"]) >= 0.935  # at most a point and a half below 95%
    none = proportion(0, 10**6).high
    assert f"`< {none:.7f}`" in page and f"{none * 10**6:.1f}/T at the upper end" in page
    widths = [float(line.split()[-1]) for line in PAGE.splitlines() if " of -1, " in line]
    assert len(widths) == 6 and 4 <= 1 / min(widths) < 5
