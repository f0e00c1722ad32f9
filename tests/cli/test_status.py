"""Merge and status of the shards of a job array."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from helpers.compiled import mark_others_slow
from helpers.processes import TOY_FILE
from toy import TOY

import fastcube as fc
from fastcube.cli.list import _grid_text
from fastcube.measure import registry
from fastcube.measure.goal import Goal
from fastcube.measure.tally import Tally, count_trials
from fastcube.results import file_header, untrusted_hdf5
from fastcube.results.columns import Identity
from fastcube.results.combining import merge
from fastcube.results.missing_shards import array_list, incomplete_shards
from fastcube.results.reading import open_results
from fastcube.results.results import Results
from fastcube.running.work_units import WorkUnit, run_unit


def shard(i, count, trials, **options):
    return fc.run(fc.study(TOY_FILE), trials=trials, shard=(i, count), output=f"{i}of{count}.h5", **options)


def incomplete(output):
    """Ten trials of a million, and perhaps more, however slow the machine is."""
    for trials, seconds in ((10, None), (10**6, 0.02)):
        fc.run(fc.study(TOY_FILE), trials=trials, work=1e5, a=1, output=output, max_seconds=seconds)


# ---------------------------------------------------------------- merge


def test_merge_adds_and_says_the_digest(cli):
    for i in range(3):
        shard(i, 3, 1000)
    code, out, said = cli("merge", "0of3.h5", "2of3.h5", "1of3.h5", "-o", "all.h5")
    digest = fc.run(TOY, trials=1000).digest()
    assert (code, out) == (0, "")
    assert said == f"merged 3 files, 2,000 trials at 2 points, into all.h5; digest {digest}\n"
    assert cli("merge", "all.h5", "-o", "copy.h5")[2].endswith(f"digest {digest}\n")


def test_merge_refuses_in_one_line_that_names_both_files(cli):
    shard(0, 2, 1000)
    shard(1, 3, 1000)
    shard(1, 2, 1000, seed=7)
    fc.run(TOY, output="whole.h5", trials=10)
    code, _, said = cli("merge", "0of2.h5", "1of3.h5", "-o", "all.h5")
    assert (code, said.count("\n")) == (2, 1)
    assert said == "fastcube: 0of2.h5 and 1of3.h5 overlap at a=1,work=0.0: trials 333..499 are in both\n"
    assert cli("merge", "0of2.h5", "0of2.h5", "-o", "all.h5")[2].startswith("fastcube: 0of2.h5 and 0of2.h5 overlap")
    assert cli("merge", "0of2.h5", "1of2.h5", "-o", "all.h5")[2] == (
        "fastcube: 1of2.h5 has seed 7, 0of2.h5 has seed 0; "
        "parts of one study are runs of one seed, each with its own --shard I/N\n"
    )


def test_merge_does_not_replace_a_file_that_holds_more(cli):
    shard(0, 2, 1000)
    shard(1, 2, 1000)
    assert cli("merge", "0of2.h5", "1of2.h5", "-o", "all.h5")[0] == 0
    assert cli("merge", "0of2.h5", "1of2.h5", "-o", "all.h5")[0] == 0
    extended = fc.run(fc.study(TOY_FILE), trials=1500, output="all.h5").digest()
    code, _, said = cli("merge", "0of2.h5", "1of2.h5", "-o", "all.h5")
    assert (code, said) == (
        2,
        "fastcube: all.h5 holds trials of a=1,work=0.0 that the merge lacks; use another output\n",
    )
    assert open_results("all.h5").digest() == extended


@pytest.mark.slow
def test_many_shards_merge_into_the_whole(tmp_path):
    study, paths = registry.register_live_study(TOY), []
    for i in range(100):
        results = Results(study, 0)
        for point in study.grid().points:
            first, stop = 5 * i, 5 * i + 5
            done = run_unit(WorkUnit(study, 0, tuple(point.items()), first, stop))
            results.tallies[tuple(point.values())] = Tally.from_slots(study.tally, first, stop, done.slots[0])
        paths.append(tmp_path / f"{i}.h5")
        results.save(paths[-1])
    merged = merge(paths)
    assert merged.digest() == fc.run(TOY, trials=500).digest()


# ---------------------------------------------------------------- status


def test_status_of_shards_says_what_to_resubmit(cli):
    for i in (0, 1, 3, 4, 7):
        shard(i, 8, 1000)
    shard(5, 8, 1000, a=1)  # one point of two
    code, out, _ = cli("status", *[f"{i}of8.h5" for i in (0, 1, 3, 4, 5, 7)])
    assert code == 1
    assert out.splitlines()[-1] == "resubmit: --array=2,5-6 (of 8 shards, one per task)"
    reported = json.loads(cli("status", "--json", *[f"{i}of8.h5" for i in (0, 1, 3, 4, 5, 7)])[1])
    assert reported["shards"] == {"count": 8, "resubmit": [2, 5, 6], "array": "2,5-6"}
    assert not reported["complete"]
    assert [(p["point"]["a"], p["done"], p["wanted"], p["missing"]) for p in reported["points"]] == [
        (1, 750, 1000, 250),
        (2, 625, 1000, 375),
    ]
    low, high = reported["points"][0]["low"], reported["points"][0]["high"]
    assert 0 < low < reported["points"][0]["estimate"] < high < 1
    for i in (2, 5, 6):
        shard(i, 8, 1000)
    assert cli("status", *[f"{i}of8.h5" for i in range(8)])[1].splitlines()[-1] == "all 8 shards are complete"


def test_status_names_tasks_that_share_the_shards(cli):
    for i in (0, 1, 2, 4, 6):
        shard(i, 8, 1000)
    files = [f"{i}of8.h5" for i in (0, 1, 2, 4, 6)]
    last = cli("status", "--tasks", "4", *files)[1].splitlines()[-1]
    assert last == "resubmit: --array=1,3 (of 4 tasks, for shards 3,5,7 of 8)"
    assert json.loads(cli("status", "--tasks", "4", "--json", *files)[1])["shards"] == {
        "count": 8,
        "resubmit": [3, 5, 7],
        "array": "1,3",
    }
    for tasks in (0, 9):
        code, out, said = cli("status", "--tasks", str(tasks), *files)
        assert (code, out, said) == (2, "", f"fastcube: tasks must be in [1, 8], got {tasks}\n")
    fc.run(TOY, output="whole.h5", trials=10)
    code, out, said = cli("status", "--tasks", "4", "whole.h5")
    assert (code, out, said) == (2, "", "fastcube: tasks is for shards of a job array, but the files hold none\n")


def test_status_sees_merged_files_and_a_coarser_partition(cli):
    for i in range(4):
        shard(i, 4, 1000)
    merge([f"{i}of4.h5" for i in range(2)]).save("half.h5")
    assert cli("status", "half.h5", "2of4.h5")[1].splitlines()[-1] == "resubmit: --array=3 (of 4 shards, one per task)"
    shard(4, 8, 2000)
    files = ["half.h5", "2of4.h5", "3of4.h5", "4of8.h5"]
    assert cli("status", *files)[1].splitlines()[-1] == "resubmit: --array=5-7 (of 8 shards, one per task)"


@pytest.mark.parametrize(
    ("trials", "count"), mark_others_slow([(1000, 7), (10, 64), (100, 100), (1000, 10**6)], default=3)
)
def test_status_names_the_shards_whose_trials_are_missing(trials, count):
    most, part = Goal(trials, shard=(0, count)), Tally.from_slots(TOY.tally, 3, 9, TOY.tally.new_tally())
    results = Results(TOY, 0, {(1, 0.0): part}, most)
    bounds = [(trials * i // count, trials * (i + 1) // count) for i in range(count)]
    again = [i for i, (first, stop) in enumerate(bounds) if first < stop and (first < 3 or stop > 9)]
    assert incomplete_shards([results], results) == (count, again, trials - 6)


def test_status_of_one_run(cli):
    fc.run(fc.study(TOY_FILE), trials=1000, output="r.h5")
    assert cli("status", "r.h5")[1].splitlines()[-1] == "complete"
    incomplete("r.h5")
    assert cli("status", "r.h5")[1].splitlines()[-1] == "not complete: run the same command again, without force"


def test_status_names_the_command_that_goes_on(cli, monkeypatch):
    monkeypatch.setattr("sys.argv", ["/opt/bin/fastcube", "run", "a toy.py", "--force", "-o", "r.h5"])
    incomplete("r.h5")
    reported = "not complete: go on with: fastcube run 'a toy.py' -o r.h5"
    assert cli("status", "r.h5")[1].splitlines()[-1] == reported
    monkeypatch.setattr("sys.argv", ["/opt/bin/python", "mine.py"])
    merge(["r.h5"]).save("m.h5")
    assert cli("status", "m.h5")[1].splitlines()[-1] == "not complete: run the same command again, without force"


def test_status_sees_which_shards_a_merged_array_lacks(cli, monkeypatch):
    for i, form in ((0, ["--shard", "0/4"]), (2, ["--shard=2/4"])):
        monkeypatch.setattr("sys.argv", ["/opt/fastcube/__main__.py", "run", "toy.py", *form])
        shard(i, 4, 1000)
    monkeypatch.setattr("sys.argv", ["fastcube", "merge", "0of4.h5", "2of4.h5", "-o", "half.h5"])
    merge(["0of4.h5", "2of4.h5"]).save("half.h5")
    merge(["half.h5"]).save("copy.h5")
    for file in ("half.h5", "copy.h5"):
        assert cli("status", file)[1].splitlines()[-1] == "resubmit: --array=1,3 (of 4 shards, one per task)"
    for history in (
        [{"resources": {"merged": [{"runs": [3]}, 5], "engine": 1}, "parameters": []}],
        [],
        [{"resources": 7}],
    ):
        half = open_results("half.h5")
        half.history = history
        half.save("odd.h5")
        assert cli("status", "odd.h5")[1].splitlines()[-1] == "not complete: run the same command again, without force"


def test_a_grid_may_give_each_point_its_own_trials(cli, tmp_path):
    # a = 1 takes 100, a = 2 takes 200; off the grid, the fewest
    file = tmp_path / "uneven.py"
    file.write_text(
        "import dataclasses\n"
        "from toy import TOY\n"
        "own = dataclasses.replace(TOY.grids[0], name='uneven', trials=lambda point: 100 * point['a'])\n"
        "TOY = dataclasses.replace(TOY, grids=(*TOY.grids, own))\n"
    )
    assert cli("run", file, "--grid", "uneven", "--shard", "1/4", "-o", "1.h5", "--progress", "none")[0] == 0
    assert [t.ranges for _, t in open_results("1.h5")] == [((25, 50),), ((50, 100),)]
    reported = json.loads(cli("status", "--json", "1.h5")[1])
    assert [(p["wanted"], p["missing"]) for p in reported["points"]] == [(100, 75), (200, 150)]
    assert reported["shards"] == {"count": 4, "resubmit": [0, 2, 3], "array": "0,2-3"}
    code, script, _ = cli("slurm", file, "--grid", "uneven", "--array", "4")
    assert code == 0 and "--trials" not in script and "the grid's trials of each point in 4 shards" in script
    run = fc.study(str(file))
    assert [t.trials for _, t in fc.run(run, grid="uneven", a=[1, 2, 3])] == [100, 200, 100]
    assert [t.trials for _, t in fc.run(run, grid="uneven", trials=7)] == [7, 7]
    assert "100 to 200 trials each" in _grid_text(run, run.grid("uneven"))
    assert "5,000 trials each" in _grid_text(run, run.grid())


def test_status_tells_the_trials_that_would_reach_a_target(cli):
    fc.run(fc.study(TOY_FILE), a=1, trials=4096, output="r.h5")
    reported = json.loads(cli("status", "r.h5", "--precision", "0.002", "--json")[1])
    need = reported["points"][0]["trials_for_target"]
    reached = fc.run(TOY, a=1, precision=0.002)
    assert need <= sum(count_trials(t.ranges) for _, t in reached) <= 2.2 * need
    assert "trials for target" in cli("status", "r.h5", "--relative", "1%")[1]


def test_status_fits_a_narrow_terminal(cli, monkeypatch):
    fc.run(TOY, trials=5000).save("r.h5")
    wide = cli("status", "r.h5", "--relative", "1%")[1]
    assert "left out" not in wide
    monkeypatch.setenv("COLUMNS", "36")
    out = cli("status", "r.h5", "--relative", "1%")[1]
    head, *_, reported, last = out.splitlines()
    assert head.split() == ["a", "work", "done", "wanted", "missing"]
    assert reported == "left out for width, in --json: bit, trials for target"
    assert last == wide.splitlines()[-1]
    assert all(len(line) <= 36 for line in out.splitlines()[:-2])


def test_status_of_a_target_run(cli):
    fc.run(fc.study(TOY_FILE), a=1, precision=0.02, output="r.h5")
    assert (
        cli("status", "r.h5")[1].splitlines()[-1] == "trials wanted depend on the target of the run, which is reached"
    )


@pytest.mark.parametrize(
    ("tasks", "text"), [([], ""), ([4], "4"), ([3, 1, 2], "1-3"), ([0, 1, 2, 7, 9, 10], "0-2,7,9-10")]
)
def test_array_list(tasks, text):
    assert array_list(tasks) == text


@pytest.mark.slow
def test_shards_that_state_the_same_are_checked_once(cli, monkeypatch):
    """What a merge or a status of many shards does for each: one opening, one digest; and no estimate."""
    first = shard(0, 40, 4000)
    for i in range(1, 40):  # as that shard would be, had its trials come out alike
        tallies = {
            key: Tally(((100 * i, 100 * i + 100),), t.counts, {n: (v, 100 * i) for n, (v, _) in t.maxima.items()})
            for key, t in first.tallies.items()
        }
        Results(first.study, 0, tallies, replace(first.goal, shard=(i, 40)), first.history).save(f"{i}of40.h5")
    done = Counter()

    def count(owner, name):
        counted = getattr(owner, name)

        def call(*arguments, **named):
            done[name] += 1
            return counted(*arguments, **named)

        monkeypatch.setattr(owner, name, call)

    for owner, name in (
        (untrusted_hdf5, "read_whole"),
        (Identity, "digest"),
        (file_header, "parse_measure"),
        (file_header, "numbers_of"),
    ):
        count(owner, name)
    count(Results, "read")
    assert cli("status", *(f"{i}of40.h5" for i in range(40)))[0] == 0
    assert done == {"read_whole": 40, "digest": 40, "parse_measure": 3, "numbers_of": 1, "read": 2}
    done.clear()
    merge([f"{i}of40.h5" for i in range(40)])
    assert done == {"read_whole": 40, "digest": 40, "parse_measure": 3, "numbers_of": 1}
