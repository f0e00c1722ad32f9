"""A result whose statistic is a distribution, for figures and tables."""


def distribution_results():
    """Results of a study with a distribution, made by hand."""
    from fastcube.kernels.tally.layout import Counter, Layout
    from fastcube.measure.binned import Distribution
    from fastcube.measure.statistics import Proportion
    from fastcube.measure.study import Axis, Explanation, Grid, Study
    from fastcube.measure.tally import Tally
    from fastcube.results.results import Results

    study = Study(
        name="binned",
        title="Values of Q_n by hand",
        source="",
        revision=1,
        axes=(Axis("a", "a label", int, 0, 9),),
        tally=Layout(Counter("some", "some"), Counter("values", "values", bins=8)),
        statistics=(
            Proportion(name="some", description="some", events="some"),
            Distribution(name="values", description="value", counter="values", label="value"),
        ),
        kernel=lambda point: None,
        grids=(Grid("default", [{"a": 1}], 100),),
        explain=lambda point, key, trial: Explanation("", {}),
    )
    bins = {1: (50, 50, 0, 0, 0, 0, 0, 0), 2: (20, 60, 20, 0, 0, 0, 0, 0), 3: (1, 40, 30, 0, 28, 1, 0, 0)}
    tallies = {(a,): Tally(((0, 100),), {"some": 10 * a, "values": values}, {}) for a, values in bins.items()}
    return Results(study, 0, tallies)
