"""The table for people and the rows for programs: their columns, what is left out, and what is marked."""

import csv
import io
import json
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from helpers.binned import distribution_results

import fastcube as fc
from fastcube.cli import main
from fastcube.kernels.tally.layout import Counter, Layout
from fastcube.measure.statistics import Proportion
from fastcube.measure.study import Notes
from fastcube.measure.tally import Tally
from fastcube.results import table
from fastcube.results.results import Results
from fastcube.results.table import (
    ASYMPTOTIC,
    DOCUMENT_REMARK,
    WIDTH,
    as_csv,
    as_json,
    as_latex,
    as_markdown,
    as_table,
    latex_text,
    sort_points,
)


@pytest.fixture(scope="module")
def routes():
    """Points with and without the search: three statistics are not defined at m = 10."""
    return fc.run("dualcube-routing", m=[5, 10], rate=[0.0, 0.3], trials=200)


def rows(results):
    return list(csv.DictReader(io.StringIO(as_csv(results))))


def test_columns(routes):
    header = as_csv(routes).splitlines()[0]
    assert header == "study,m,rate,statistic,trials,eligible,estimate,stderr,low,high,interval"
    assert list(routes.table()[0]) == header.split(",")


def test_among_is_what_the_statistic_is_over(routes):
    among = {(row["m"], row["statistic"]): row["eligible"] for row in rows(routes) if row["rate"] == "0.3"}
    counts = {point["m"]: tally.counts for point, tally in routes if point["rate"] == 0.3}
    assert among["10", "lookups"] == "4"  # 1 of 64 trials
    assert among["5", "delivered_connected"] == str(counts[5]["connected"])
    assert among["5", "stretch"] == str(counts[5]["delivered"])
    assert {row["trials"] for row in rows(routes)} == {"200"}


def test_a_file_reads_back_where_statistics_are_not_defined(routes, tmp_path):
    routes.save(tmp_path / "routes.h5")
    assert as_csv(fc.open_results(tmp_path / "routes.h5")) == as_csv(routes)


def test_intervals_say_how_they_are_made(routes):
    kinds = {row["statistic"]: row["interval"] for row in rows(routes)}
    assert (kinds["delivered"], kinds["length_over_shortest"], kinds["lookups"]) == (
        "exact",
        "asymptotic",
        "asymptotic",
    )
    assert {row["interval"] for row in rows(fc.run("unsafe-fraction", n=5, f=2, trials=10))} == {"exact", "bounded"}


def test_what_is_not_known_is_empty_and_null(routes):
    undefined = [row for row in rows(routes) if row["m"] == "10" and row["statistic"] == "length_over_shortest"]
    assert len(undefined) == 2
    assert all(
        row["eligible"] == "0" and row["estimate"] == row["stderr"] == row["low"] == row["high"] == ""
        for row in undefined
    )
    assert "nan" not in as_csv(routes)
    kept = [row for row in json.loads(as_json(routes)) if row["m"] == 10 and row["statistic"] == "length_over_shortest"]
    assert all(row["estimate"] is None and row["high"] is None for row in kept)
    line = next(line for line in as_table(routes).splitlines() if line.split()[:2] == ["10", "0.3"])
    assert " - " in line


def test_the_terminal_table_marks_asymptotic_intervals(routes):
    lines = as_table(routes, 200).splitlines()
    header = next(line for line in lines if line.startswith(" m"))
    assert "at_shortest" not in header and "lookups" in header  # not shown; csv has it
    assert {"at_shortest"} <= {row["statistic"] for row in rows(routes)}
    line = next(line for line in lines if line.split()[:2] == ["5", "0.3"])
    assert line.count(ASYMPTOTIC) == 3
    assert any(line.startswith(f"{ASYMPTOTIC} asymptotic interval") for line in lines)
    assert ASYMPTOTIC not in as_table(fc.run("unsafe-fraction", n=5, f=2, trials=10))


@pytest.mark.kernels
@pytest.mark.parametrize("trials", [1, 1000])
@pytest.mark.parametrize(
    "study, points",
    [
        ("unsafe-fraction", {}),
        ("unsafe-critical", {"n": [4, 5, 8]}),
        ("dualcube-routing", {"m": [5, 9]}),
        ("unsafe-fraction", {"n": [16, 30, 60], "f": [8, 30]}),
    ],
)
def test_tables_fit_the_terminal(study, points, trials):
    assert max(map(len, as_table(fc.run(study, trials=trials, **points)).splitlines())) <= WIDTH


def test_what_is_over_fewer_trials_says_over_how_many():
    """Routes among the fault sets that leave an active node; and how many statistics stand in csv alone."""
    results = fc.run("routing", n=5, f=6, links=1, k=1, trials=500)
    counts = next(iter(results))[1].counts
    line = next(line for line in as_table(results, 200).splitlines() if line.startswith("5"))
    assert 0 < counts["route3_delivered"] <= counts["some_active"] < 500
    cells = re.findall(r"\S of (\d+)", line)
    assert cells == [str(counts["route3_delivered"]), str(counts["some_active"])]
    head, conditions = next(pair for pair in pairwise(as_table(results, 200).splitlines()) if pair[0].startswith("n"))
    assert re.findall(r"of \w+", conditions) == ["of route3_delivered", "of some_active"]
    assert conditions.index("of some_active") + len("of some_active") == head.index("route3_delivered") + len(
        "route3_delivered"
    )
    assert "of some_active: trials with an active node" in as_table(results, 200)
    assert results._repr_html_().count("<br>of ") == 2
    hidden = sum(not s.shown for s in results.study.statistics)
    assert f"{hidden} statistics of this study not in the table: fastcube show --format csv has all" in as_table(
        results
    )
    assert f"{hidden} statistics of this study" in results._repr_html_()


def test_columns_that_do_not_fit_are_named():
    results = distribution_results()
    wide = replace(results.study.statistics[0], name="w" * 64)
    study = replace(results.study, statistics=(wide, replace(wide, name="x" * 60), replace(wide, name="last")))
    text = as_table(replace(results, study=study))
    assert "left out for width, but shown by --stat A,B and in csv and json: " + "x" * 60 + ", last" in " ".join(
        text.split()
    )
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize("width", [30, 40, 80, 100, 120, 200])
def test_a_narrow_terminal_loses_statistics_and_never_wraps(routes, width):
    lines = as_table(routes, width).splitlines()
    assert max(map(len, lines)) <= width
    top = next(i for i, line in enumerate(lines) if line.split()[:3] == ["m", "rate", "trials"])
    rule = next(i for i, line in enumerate(lines) if line.lstrip().startswith("--"))
    assert [line.split()[0] for line in lines[rule + 1 : rule + 5]] == ["5", "5", "10", "10"]  # a line per point
    kept = lines[top].split()[3:]
    names = [s.name for s in routes.study.statistics if s.shown]
    assert kept == names[: len(kept)]
    reported = " ".join(" ".join(lines).split()).partition(" in csv and json: ")[2]
    assert all(name in reported for name in names[len(kept) :]) and bool(reported) == (len(kept) < len(names))
    assert len(kept) == {30: 0, 200: len(names)}.get(width, len(kept))


def test_distributions_have_a_row_a_value_up_to_the_largest_seen():
    results = distribution_results()
    found = [(row["a"], row["statistic"], row["estimate"]) for row in rows(results) if row["statistic"] != "some"]
    assert found[:2] == [("1", "value=0", "0.5"), ("1", "value=1", "0.5")]
    assert [name for a, name, _ in found if a == "3"] == [f"value={i}" for i in range(6)]
    assert "value=" not in as_table(results)
    some, values = results.study.statistics
    shown = as_table(replace(results, study=replace(results.study, statistics=(some, replace(values, shown=True)))))
    header = next(line for line in shown.splitlines() if line.startswith("a"))
    assert header.split()[3:] == [f"value={i}" for i in (0, 1, 2, 4)]  # no trial has value 3
    assert shown.endswith("csv and json: value=3, value=5")


def test_show_chooses_statistics_and_points(tmp_path, capsys):
    path = str(tmp_path / "r.h5")
    fc.run("unsafe-fraction", n=[5, 6], f=[1, 2], trials=2000, output=path)
    for arguments, wanted in (
        (["--stat", "close_pair,rounds", "--where", "n=6"], ["n", "f", "trials", "close_pair", "rounds"]),
        (["--where", "f=1", "--where", "n=5:6"], ["n", "f", "trials"]),
    ):
        with pytest.raises(SystemExit) as end:
            main(["show", path, *arguments])
        assert end.value.code == 0
        lines = capsys.readouterr().out.splitlines()
        head = next(line for line in lines if line.startswith("n "))
        assert head.split()[: len(wanted)] == wanted
        assert sum(re.match(r"\d +\d +2,000 ", line) is not None for line in lines) == 2
    with pytest.raises(SystemExit):
        main(["show", path, "--stat", "close_pair", "--format", "csv"])
    assert {line.split(",")[3] for line in capsys.readouterr().out.splitlines()[1:]} == {"close_pair"}
    with pytest.raises(SystemExit) as end:
        main(["show", path, "--stat", "close"])
    assert end.value.code == 2
    assert "did you mean close_pair?" in capsys.readouterr().err


def counted(**columns):
    """Results of a proportion per name at a = 1, 2, ...: events of 1,000 trials; None where it is over none."""
    results = distribution_results()
    rows = list(zip(*columns.values(), strict=True))
    layout = Layout(*(Counter(name, name) for name in columns), Counter("over", "trials with x | y"))
    statistics = tuple(
        Proportion(name=name, description=name, events=name, condition="over", units="links_%") for name in columns
    )
    study = replace(results.study, tally=layout, statistics=statistics, figure=None, notes=None)
    tallies = {
        (a,): Tally(
            ((0, 1000),),
            {name: e or 0 for name, e in zip(columns, row, strict=True)} | {"over": 0 if None in row else 990 + a},
            {},
        )
        for a, row in enumerate(rows, 1)
    }
    return Results(study, 0, tallies)


def test_a_table_says_what_plus_minus_is_where_it_has_one():
    line = "± half the width of the 95% interval"
    assert as_table(counted(some=[500])).splitlines().count(line) == 1
    assert line not in as_table(counted(none=[0, 0]))


def noted(monkeypatch, many, most=6):
    """A table of results whose study has ``many`` notes on one subject and two on another, and the table by ``--stat some``."""
    results = counted(some=[500], other=[400])
    subjects = (("some", many), ("other", 2))
    notes = Notes(*((lambda _, s=s, k=k: [f"note {i} on {s}" for i in range(k)], (s,)) for s, k in subjects), most=most)
    monkeypatch.setattr(table, "find_study", lambda study: replace(study, notes=notes, code=""))
    return as_table(results), as_table(results, statistics=["some"])


@pytest.mark.parametrize(("many", "shown"), [(3, 3), (6, 6), (7, 6), (500, 6)])
def test_many_notes_do_not_hide_the_table(monkeypatch, many, shown):
    text, chosen = noted(monkeypatch, many)
    assert (text.count(" on some"), text.count(" on other"), chosen.count(" on some")) == (shown, 2, many)
    hint = f"{many - shown} more line{'s' * (many - shown != 1)} of notes: fastcube show FILE --stat some"
    assert text.endswith(hint) == (many > shown) and "more line" not in chosen


def test_notes_that_are_a_table_are_whole(monkeypatch):
    text, _ = noted(monkeypatch, 500, most=None)
    assert text.count(" on some") == 500 and "more line" not in text


def shown_columns(text):
    return next(line for line in text.splitlines() if line.startswith("a  trials")).split()[2:]


def test_columns_of_nothing_seen_are_left_out_first():
    results = counted(none=[0, 0], some=[0, 3], also_none=[0, 0], last=[1, 2])
    assert shown_columns(as_table(results, None)) == ["none", "some", "also_none", "last"]
    widths = [shown_columns(as_table(results, width)) for width in (100, 92, 80, 50)]
    assert widths == [["none", "some", "last"], ["none", "some", "last"], ["some", "last"], ["some"]]
    assert "left out for width, but shown by --stat A,B and in csv and json: none, also_none" in " ".join(
        as_table(results, 80).split()
    )


def test_a_pipe_gets_all_columns(tmp_path, capsys, monkeypatch):
    path = str(tmp_path / "r.h5")
    counted(**{f"name_{i}": [1, 2] for i in range(9)}).save(path)
    for columns, shown in ((None, 9), ("100", 2)):
        monkeypatch.delenv("COLUMNS", raising=False)
        if columns:
            monkeypatch.setenv("COLUMNS", columns)
        with pytest.raises(SystemExit):
            main(["show", path])
        assert len(shown_columns(capsys.readouterr().out)) == shown


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("some", "213"),
        ("some:asc", "213"),
        ("some:desc", "123"),
        ("a:desc", "321"),
        ("trials", "123"),
    ],
)
def test_show_sorts_points_by_a_column(tmp_path, capsys, sort, order):
    path = str(tmp_path / "r.h5")
    counted(some=[7, 3, None]).save(path)
    for style in ("table", "csv", "markdown"):
        with pytest.raises(SystemExit):
            main(["show", path, "--sort", sort, "--format", style, "--stat", "some"])
        rows = re.findall(r"^(?:binned,|\| )?(\d)\b", capsys.readouterr().out, re.MULTILINE)
        assert "".join(rows) == order, style


@pytest.mark.parametrize(
    ("sort", "message"),
    [
        ("some:down", "sort must be COLUMN, COLUMN:asc or COLUMN:desc, got some:down"),
        ("sone", "sort must be trials, an axis or a statistic of binned, got sone; did you mean some?"),
        ("values", "sort must be a column of one number, got the distribution values"),
    ],
)
def test_what_cannot_be_sorted_by_is_one_line(sort, message):
    with pytest.raises(fc.ParameterError) as error:
        sort_points(distribution_results(), sort)
    assert str(error.value) == message


def test_markdown_and_latex_have_units_and_escape_what_they_must():
    results = counted(some=[0, 500])
    assert (
        as_markdown(results).splitlines()
        == [
            "| a | trials | some [links_%] of over |",
            "| ---: | ---: | ---: |",
            "| 1 | 1,000 | < 0.0038 of 991 |",
            "| 2 | 1,000 | 0.504 ± 0.032 of 992 |",
            "",
            DOCUMENT_REMARK,
            "",
            "of over: trials with x | y",
            "",
            "all statistics: units, bounds and scales are read from the file and not checked (show --study FILE.py checks them)",
        ][: len(as_markdown(results).splitlines())]
    )
    lines = as_latex(results).splitlines()
    assert lines[:2] == ["% Values of Q_n by hand", r"% needs \usepackage{booktabs}"]
    assert lines[2:4] == [f"% {DOCUMENT_REMARK}", "% of over: trials with x | y"]
    assert lines[4:] == [
        r"\begin{tabular}{rrr}",
        r"\toprule",
        r"a & trials & some [links\_\%] of over \\",
        r"\midrule",
        r"1 & 1,000 & $<$ 0.0038 of 991 \\",
        r"2 & 1,000 & 0.504 $\pm$ 0.032 of 992 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    text = "hyperx-4 & 50% ~ -0.5 ± 1.0e-05 [2^n_{#}]"
    assert latex_text(text) == (
        r"hyperx-4 \& 50\% $\sim$ $-$0.5 $\pm$ $1.0 \times 10^{-5}$ [2\textasciicircum{}n\_\{\#\}]"
    )


def test_notes_follow_the_statistics_that_are_shown():
    def write(text):
        return lambda results: [text]

    results = distribution_results()
    notes = Notes((write("on some"), ("some",)), (write("on values"), ("values", "other")))
    object.__setattr__(results.study, "notes", notes)
    for names, said in ((None, {"on some", "on values"}), (["some"], {"on some"}), (["values"], {"on values"})):
        assert {line for line in as_table(results, 120, names).splitlines() if line.startswith("on ")} == said
    object.__setattr__(results.study, "notes", write("on all"))
    assert "on all" in as_table(results, 120, ["some"])


def test_a_mean_that_its_bound_makes_wide_says_so():
    """Own outputs only: a large bound and few trials; not where the values make the interval, nor a study of fastcube."""
    from helpers.coin import coins

    outputs = [fc.Output("heads", "heads"), fc.Output("cut", "nodes cut off", bound=319)]
    study = fc.trial_study("coin", "t", [fc.Axis("p", "p", float, 0, 1)], outputs, coins, [{"p": 0.5}])

    def remark(trials, times, value):
        counts = {c.name: 0 for c in study.tally.counters}
        counts |= {"cut_total": times * value, "cut_squares": times * value**2, "cut_nonzero": times}
        tally = Tally(((0, trials),), counts, dict.fromkeys(("heads", "cut"), (-1, -1)))
        return "wide because of its bound, not of its values: cut (run more" in " ".join(
            as_table(Results(study, 0, {(0.5,): tally})).split()
        )

    assert remark(20_000, 400, 1) and not remark(20_000, 10_000, 319) and not remark(10**9, 4 * 10**8, 7)
    assert "wide because" not in as_table(fc.run("unsafe-fraction", n=5, f=2, trials=100))
