"""The first change that CONTRIBUTING describes: its statistic is right, and files of before resume as it says."""

import dataclasses
import re
import textwrap
from pathlib import Path

import pytest

import fastcube as fc

PAGE = (Path(__file__).resolve().parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
STUDY = fc.study("unsafe-fraction")


def changed_study():
    """Return the study with the statistic of the page."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    statistic = eval(textwrap.dedent(code).strip(), {"TailProportion": fc.TailProportion})
    return dataclasses.replace(STUDY, statistics=(*STUDY.statistics, statistic)), statistic


def test_the_statistic_is_the_tail_of_the_rounds():
    study, statistic = changed_study()
    results = fc.run(study, n=6, f=6, trials=2000)
    fractions = [e.value for e in results.distribution("rounds_distribution")]
    assert 0 < results.estimate(statistic.name).value == pytest.approx(sum(fractions[4:]))


def test_a_file_of_before_is_extended_and_has_it_for_all_trials(tmp_path):
    study, statistic = changed_study()
    fc.run(STUDY, n=6, f=6, trials=500, output=tmp_path / "r.h5")
    fc.run(study, n=6, f=6, trials=800, output=tmp_path / "r.h5")
    results, whole = fc.open_results(tmp_path / "r.h5"), fc.run(study, n=6, f=6, trials=800)
    assert results.digest() == whole.digest() == fc.run(STUDY, n=6, f=6, trials=800).digest()
    assert results.estimate(statistic.name) == whole.estimate(statistic.name)


def test_a_file_of_another_revision_is_read_and_merged_but_not_extended(tmp_path):
    before = dataclasses.replace(STUDY, revision=STUDY.revision + 1)
    for i in (0, 1):
        fc.run(before, n=6, f=6, trials=500, shard=(i, 2), output=tmp_path / f"{i}.h5")
    merged = fc.merge([tmp_path / f"{i}.h5" for i in (0, 1)])
    assert merged.digest() == fc.run(before, n=6, f=6, trials=500).digest()
    with pytest.raises(fc.FastcubeError, match="has revision"):
        fc.run(STUDY, n=6, f=6, trials=800, output=tmp_path / "0.h5")
