"""The mean of ``unsafe-fraction`` above n = 12: split by classes of unsafe nodes where the last class is proved to be rare."""

import pytest

import fastcube as fc
from fastcube.exact.bounds import max_unsafe
from fastcube.kernels.unsafe.layout import CLASSES
from fastcube.measure import registry
from fastcube.measure.estimate import bounded_mean

STUDY = registry.study("unsafe-fraction")
FRACTION = STUDY.statistic("unsafe_fraction")


def both(n, f, trials):
    """The statistic's estimate, the estimate of a mean with one bound, and the counters."""
    point = STUDY.point({"n": n, "f": f})
    counts = STUDY.count(point, trials).counts
    most = max_unsafe(n, f, n) / 2**n
    whole = bounded_mean(counts["unsafe_nodes"], counts["unsafe_nodes_squared"], trials, 2**n, most)
    return FRACTION.estimate(counts, trials, point), whole, counts


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), [(5, 3), (12, 6), (13, 0), (13, 1), (13, 6), (14, 14), (16, 16), (20, 40)])
def test_not_split_it_is_a_mean_with_one_bound(n, f):
    split, whole, _ = both(n, f, 10_000)
    assert split == whole


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f", "times"), [(18, 9, 5), (20, 10, 50), (20, 20, 2), (24, 24, 1000), (30, 10, 1000)])
def test_split_it_is_narrower_around_the_same_value(n, f, times):
    split, whole, _ = both(n, f, 1_000_000)
    assert (split.value, split.stderr) == (whole.value, whole.stderr)
    assert whole.low <= split.low <= split.value <= split.high
    assert times * (split.high - split.low) < whole.high - whole.low


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), [(13, 20), (14, 30), (16, 40), (16, 70), (17, 60)])
def test_trials_keep_to_the_bounds_of_their_classes(n, f):
    """Points at which many classes occur: in lanes, on whole cubes and by merging."""
    _, _, counts = both(n, f, 20_000)
    sums = FRACTION.sum_classes(counts)
    assert [sum(column) for column in zip(*sums, strict=True)] == [
        counts["with_unsafe"],
        counts["unsafe_nodes"],
        counts["unsafe_nodes_squared"],
    ]
    assert sum(many > 0 for many, *_ in sums) >= 4
    for (many, total, squares), least, above in zip(sums, (1, *CLASSES), (*CLASSES, 2**n + 1), strict=True):
        assert many * least <= total <= many * (above - 1)
        assert total**2 <= many * squares <= many * total * (above - 1)


@pytest.mark.kernels
def test_the_file_needs_no_study(tmp_path, monkeypatch):
    made = fc.run("unsafe-fraction", n=[12, 20], f=[6, 10], trials=20_000, output=tmp_path / "r.h5", progress="none")
    wanted = made.table()

    def not_installed(*_):
        raise fc.ParameterError("study must be one of none")

    monkeypatch.setattr(registry, "study", not_installed)
    read = fc.open_results(tmp_path / "r.h5").table()
    assert [list(map(str, row.values())) for row in read] == [list(map(str, row.values())) for row in wanted]


def test_what_is_proved_of_the_classes_holds_of_the_last():
    for n, f in ((18, 9), (20, 10), (20, 20), (24, 24), (40, 160)):
        rows = FRACTION.classes(STUDY.point({"n": n, "f": f}))
        used = [row for row in rows if row[1]]
        assert all(low <= high for low, high, _ in used)
        assert [high for _, high, _ in used] == sorted(high for _, high, _ in used)
        assert used[-1][1] == max_unsafe(n, f, n) / 2**n
        assert used[-1][2] <= 1e-6 * used[-1][1]
        assert len(rows) == 1 + len(CLASSES)
