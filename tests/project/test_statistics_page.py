"""Measured tables of docs/statistics.md are what the benchmarks print."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/statistics.md").read_text()


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
@pytest.mark.parametrize("large_share", [0.0, 0.02, 0.2])
def test_heavy_tails(benchmark, large_share):
    module = benchmark("interval_stopping")
    for precision, shown in ((5e-4, ".0005"), (5e-5, ".00005")):
        held = [module.cover_heavy_tail(s, large_share, precision, 1000)[0] for s in (module.MEAN, module.SIGNED)]
        assert f"| {large_share:.0%} | {shown} | {held[0]:.1%} | {held[1]:.1%} |".replace(
            "0% |", "0% |", 1
        ) in PAGE.replace("| 0 |", "| 0% |")
