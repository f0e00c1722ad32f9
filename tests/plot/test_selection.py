"""Statistics that a user selects, on a new figure or the user's own axes."""

import pytest
from helpers.binned import distribution_results
from helpers.figures import LINE, artists, chosen, reported

import fastcube as fc


def test_the_callers_axes_get_lines_with_labels_and_nothing_else():
    from matplotlib.figure import Figure

    mine = Figure().subplots()
    mine.set(title="mine", xlim=(0, 200), ylim=(0, 5), xlabel="mine", xticks=[0, 100])
    before = {name: getattr(mine, f"get_{name}")() for name in ("title", "xlim", "ylim", "xlabel", "ylabel", "yscale")}
    assert chosen().sel(b=0).plot("wins", "some", x="a", by="rule", axes=mine) is mine.figure
    assert {name: getattr(mine, f"get_{name}")() for name in before} == before
    assert mine.get_legend() is None and mine.get_xticks().tolist() == [0, 100]
    labels, lines = (
        mine.get_legend_handles_labels()[1],
        [list(zip(*line.get_data(), strict=True)) for line in mine.lines[:6]],
    )
    names = [f"chosen {name}, {rule}, $b = 0$" for name in ("wins", "some") for rule in ("zeta", "alpha", "mid")]
    assert labels == names
    assert lines == [[(a, k * (10 * a + 100 * place) / 1000) for a in (1, 2, 3)] for k in (2, 1) for place in range(3)]
    assert len(mine.collections) == 6  # their intervals
    chosen().sel(b=5, rule="mid").plot("some", axes=mine, title="asked for", legend=True)
    assert mine.get_title() == "asked for" and mine.get_xlim() == before["xlim"]
    assert [text.get_text() for text in mine.get_legend().get_texts()] == [*names, "chosen some, mid, $b = 5$"]


def test_the_callers_axes_follow_the_data_and_tell_results_apart():
    from matplotlib.figure import Figure

    mine = Figure().subplots()
    chosen().sel(b=0, rule="mid", a=2).plot("some", axes=mine)
    chosen().sel(b=5, rule="mid", a=[1, 3]).plot("some", x="a", axes=mine)
    first, second = artists(mine, LINE)
    assert first.get_color() != second.get_color() and first.get_marker() != second.get_marker()
    (left, right), (low, high) = mine.get_xlim(), mine.get_ylim()
    for x, y in (*first.get_xydata(), *second.get_xydata()):
        assert left <= x <= right and low <= y <= high


def test_several_results_share_one_pair_of_axes():
    from fastcube.plot import draw_figure

    one, other = chosen().sel(b=0, rule="mid"), chosen().sel(b=5, rule="mid")
    labels, lines = reported(draw_figure([one, other], statistics=["some"]).axes[0])
    assert labels[:2] == ["$b = 0$", "$b = 5$"] and [len(line) for line in lines] == [3, 3]


def test_results_with_equal_labels_are_distinguished():
    from fastcube.plot import draw_figure

    one, other = chosen().sel(b=0, rule="mid"), chosen().sel(b=0, rule="mid", a=[1, 2])
    assert reported(draw_figure([one, other], statistics=["some"]).axes[0])[0][:2] == ["some, file 1", "some, file 2"]
    other.seed = 7
    assert reported(draw_figure([one, other], statistics=["some"]).axes[0])[0][:2] == ["some, seed 0", "some, seed 7"]


def test_a_scale_that_cannot_be_used_is_refused():
    none = chosen().sel(b=0, rule="zeta")
    for tally in none.tallies.values():
        tally.counts.update(some=0, wins=0)
    with pytest.raises(fc.ParameterError, match=r"^log needs an estimate above 0, and every one here is 0"):
        none.plot("some", log=True)


@pytest.mark.slow
def test_an_axis_that_is_neither_is_in_the_label_and_one_statistic_on_the_ordinate():
    axes = chosen().plot("some", x="a", by="b").axes[0]
    labels, lines = reported(axes)
    assert labels[:3] == ["$b = 0$, zeta", "$b = 0$, alpha", "$b = 0$, mid"]
    assert len(lines) == 6
    assert axes.get_ylabel() == "share of some"
    one = chosen().sel(rule="mid", b=5).plot("some").axes[0]
    assert reported(one) == (["some", "95% interval"], [[(a, (10 * a + 205) / 1000) for a in (1, 2, 3)]])


def test_names_along_x_stand_in_their_order():
    axes = chosen().sel(b=0).plot("some", x="rule", by="a", log=True).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["zeta", "alpha", "mid"]
    _, lines = reported(axes)
    assert lines[0] == [(place, (10 + 100 * place) / 1000) for place in range(3)]
    assert axes.get_yscale() == "log"
    assert {line.get_linestyle() for line in artists(axes, LINE)} == {"None"}


@pytest.mark.parametrize(
    ("statistics", "how", "message"),
    [
        (["sone"], {}, "sone is not a statistic of chosen; did you mean some?"),
        (["some"], {"x": "rules"}, "rules is not an axis of chosen, which has a, rule, b; did you mean rule?"),
        (["some"], {"by": "c"}, "c is not an axis of chosen, which has a, rule, b"),
        (["some"], {"x": "a", "by": "a"}, "by must be another axis than x, got a"),
        (["some"], {"log": 3}, "log must be True or False, got 3"),
        ([7], {}, "7 is not a statistic of chosen, which has some, wins"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(statistics, how, message):
    with pytest.raises(fc.ParameterError) as error:
        chosen().plot(*statistics, **how)
    assert str(error.value) == message


def test_a_distribution_is_no_line():
    with pytest.raises(
        fc.ParameterError, match="statistic must be one of one number, got the distribution values: the study"
    ):
        distribution_results().plot("values")


def test_plot_of_the_command_line_takes_statistics(tmp_path, monkeypatch, capsys):
    from fastcube.cli import main

    monkeypatch.chdir(tmp_path)
    chosen().save("r.h5")
    with pytest.raises(SystemExit) as left:
        main(["plot", "r.h5", "--stat", "some,wins", "--x", "a", "--by", "rule", "--log", "--where", "b=0"])
    assert left.value.code == 0
    assert capsys.readouterr().err == "figure in r.png\n"
    assert (tmp_path / "r.png").stat().st_size > 10_000
