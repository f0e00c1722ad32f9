"""Figures of made-up results, and what is drawn in them."""

from fastcube.measure.estimate import proportion
from fastcube.plot.sheet import Sheet

LINE, BAR, LIMIT, STATEMENT = "line", "bar", "limit", "statement"


NONE, FEW, MANY = proportion(0, 1000), proportion(5, 1000), proportion(900, 1000)


def artists(axes, kind):
    return [line for line in axes.lines if line.get_gid() == kind]


def drawn(pairs, scale="auto", **how):
    """A figure of one series; its axes."""
    sheet = Sheet()
    panel = sheet.panel()
    panel.scale = scale
    panel.series("what", pairs, **how)
    sheet.finish()
    return panel.axes


def chosen():
    """Results with an axis of names, made by hand: events are 10 a + 100 times the name's place, wins twice as many."""
    from fastcube.kernels.tally.layout import Counter, Layout
    from fastcube.measure.statistics import Proportion
    from fastcube.measure.study import Axis, Choice, Explanation, Grid, Study
    from fastcube.measure.tally import Tally
    from fastcube.results.results import Results

    axes = (
        Axis("a", "a label", int, 0, 9),
        Choice("rule", "the rule", ("zeta", "alpha", "mid")),
        Axis("b", "", int, 0, 9),
    )
    study = Study(
        name="chosen",
        title="By hand",
        source="",
        revision=1,
        axes=axes,
        tally=Layout(Counter("some", "some"), Counter("wins", "wins")),
        statistics=tuple(
            Proportion(name=name, description=f"share of {name}", events=name) for name in ("some", "wins")
        ),
        kernel=lambda point: None,
        grids=(Grid("default", [{"a": 1, "rule": "mid", "b": 0}], 100),),
        explain=lambda point, key, trial: Explanation("", {}),
    )
    tallies = {
        (a, rule, b): Tally(((0, 1000),), {"some": (e := 10 * a + 100 * place + b), "wins": 2 * e}, {})
        for a in (1, 2, 3)
        for place, rule in enumerate(("zeta", "alpha", "mid"))
        for b in (0, 5)
    }
    return Results(study, 0, tallies)


def reported(axes):
    """Label and points of each line."""
    entries = [
        text.get_text() for legend in (axes.get_legend(), *axes.figure.legends) if legend for text in legend.texts
    ]
    return entries, [list(zip(*line.get_data(), strict=True)) for line in artists(axes, LINE)]


def caption(figure):
    return figure.legends[0].get_title().get_text()
