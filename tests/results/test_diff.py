"""Compare two results: ``fastcube diff``, and its counts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from toy import TOY

import fastcube as fc
from fastcube.cli import main
from fastcube.measure.tally import Tally
from fastcube.results.comparing import compare_results


def counted(trials, seed=0, **axes):
    return fc.run(TOY, trials=trials, seed=seed, work=0.0, **(axes or {"a": [1, 2]}))


def test_the_same_trials_are_compared_by_their_counts():
    one, other = counted(1000), counted(1000)
    found = compare_results(one, other)
    assert (found.same, found.broken, found.compared, found.differ) == (("a=1,work=0.0", "a=2,work=0.0"), (), 0, False)
    key, tally = next(iter(other.tallies.items()))
    other.tallies[key] = Tally(tally.ranges, {**tally.counts, "bit_total": tally.counts["bit_total"] + 1}, tally.maxima)
    found = compare_results(one, other)
    assert (found.same, found.broken, found.differ) == (("a=2,work=0.0",), ("a=1,work=0.0",), True)


def test_other_trials_are_compared_by_their_intervals():
    one, other = counted(4000), counted(5000, seed=1)
    found = compare_results(one, other)
    assert (found.same, found.broken, found.compared, found.differing) == ((), (), 4, ())  # two points, two means
    key, tally = next(iter(other.tallies.items()))
    bits = tally.trials // 4  # a half is expected
    other.tallies[key] = Tally(
        tally.ranges, {**tally.counts, "bit_total": bits, "bit_squares": bits, "bit_nonzero": bits}, tally.maxima
    )
    found = compare_results(one, other)
    assert [(at, name) for at, name, _, _ in found.differing] == [("a=1,work=0.0", "bit")]
    ((_, _, a, b),) = found.differing
    assert b.high < a.low
    assert found.differ
    assert [(name, m, t) for _, name, t, m in compare_results(other, one).differing] == [("bit", a, b)]


def test_another_code_or_revision_has_other_trials():
    one = counted(1000)
    other = replace(one, study=replace(one.study, revision=2))
    assert compare_results(one, other).compared == 4
    assert compare_results(one, other).same == ()


def test_points_of_one_alone():
    found = compare_results(counted(100, a=[1, 3]), counted(100, a=[1, 2, 4]))
    assert (found.only_one, found.only_other) == (("a=3,work=0.0",), ("a=2,work=0.0", "a=4,work=0.0"))
    assert found.differ


def test_other_studies_are_refused():
    other = fc.run("unsafe-fraction", n=5, f=2, trials=10)
    with pytest.raises(
        fc.StudyMismatchError, match=r"^only files of one study can be compared, got toy and unsafe-fraction$"
    ):
        compare_results(counted(10), other)


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    reported = capsys.readouterr()
    return ended.value.code, reported.out, reported.err


def test_the_command(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counted(4000).save("a.h5")
    counted(5000, seed=1, a=[1, 2, 5]).save("b.h5")
    assert call(capsys, "diff", "a.h5", "a.h5")[0] == 0
    code, out, said = call(capsys, "diff", "a.h5", "b.h5")
    assert (code, said) == (1, "")
    assert out.splitlines() == [
        "a.h5: toy revision 1, seed 0, 2 points, 8,000 trials",
        "b.h5: toy revision 1, seed 1, 3 points, 15,000 trials",
        "only in b.h5: 1 point (a=5,work=0.0)",
        (
            "estimates from other trials: 4 compared, 0 differ by more than their intervals "
            "(of estimates of equal numbers about 0.6% do, by chance)"
        ),
    ]
    results = fc.open_results("a.h5")
    for key, tally in results.tallies.items():
        bits = tally.trials // 4
        results.tallies[key] = Tally(
            tally.ranges, {**tally.counts, "bit_total": bits, "bit_squares": bits, "bit_nonzero": bits}, tally.maxima
        )
    results.save("c.h5")
    assert (
        "THE SAME TRIALS WITH OTHER COUNTS: 2 points (a=1,work=0.0; a=2,work=0.0)"
        in call(capsys, "diff", "a.h5", "c.h5")[1]
    )
    code, out, _ = call(capsys, "diff", "c.h5", "b.h5")
    assert code == 1
    assert [line.split()[:2] for line in out.splitlines()[-3:]] == [
        ["point", "statistic"],
        ["a=1,work=0.0", "bit"],
        ["a=2,work=0.0", "bit"],
    ]
