"""The command ``fastcube lifetime``."""

from __future__ import annotations

import math
from typing import Any

import click

from ..errors import ParameterError, command_line_text, suggest_name
from . import completion, options
from .reliability import echo_rows, format_estimate, network, read_sources

#: Short names of distributions of scipy.stats.
_SHORT_NAMES = {"weibull": "weibull_min", "exponential": "expon", "lognormal": "lognorm"}


@click.command(
    "lifetime", epilog="\b\nExample:\n  fastcube lifetime hypercube --n 3 --distribution weibull:0.7 --mean 5 --at 1,2"
)
@click.argument("file", shell_complete=completion.complete_files)
@click.option(
    "--distribution",
    default="exponential",
    show_default=True,
    metavar="NAME[:SHAPE,...]",
    help="Distribution of one life: exponential, weibull:SHAPE, or another of scipy.stats with its shape parameters.",
)
@click.option("--mean", default="1", show_default=True, metavar="M", help="Mean of one life.")
@click.option(
    "--quantile", metavar="Q,Q,...", help="Fractions of such networks: print the times until which they disconnect."
)
@click.option("--at", metavar="T,T,...", help="Times: print the probabilities of no disconnection until then.")
@network
@options.file
def command(
    file: str,
    distribution: str,
    mean: str,
    quantile: str | None,
    at: str | None,
    n: int | None,
    fail: str,
    unchecked: bool,
    study: str | None,
) -> None:
    """Print how long a network stays connected if its nodes, or links, have independent random lives.

    The lines have the mean time of the first disconnection, in the unit of --mean, then quantiles and probabilities.  FILE is of
    hitting, or of survival-curve with failing links.  In its place a network with --n gives exact values, for n to 4 and up to 32
    links.  The 95% intervals hold for any number of trials.  If failed nodes or links are repaired, use `fastcube reliability` at
    their unavailability.
    """
    from ..exact.survival import exact_survival
    from ..measure.grid import parse_number, parse_values
    from ..measure.study import Axis
    from ..results.lifetime import lifetime

    fractions = parse_values(Axis("quantile", "fraction", float, 0, 1), quantile) if quantile else []
    times = parse_values(Axis("at", "time", float, 0, float("inf")), at) if at else []
    life = _parse_distribution(distribution, parse_number("mean", mean))
    rows = [["network", "n", "quantity", "estimate"]]
    for source in read_sources(file, n, fail, unchecked, study):
        if source.results is None:
            found = lifetime(exact_survival(source.name, source.n).probabilities(source.what, "first"), life)
        else:
            found = lifetime(source.results, life)
        quantities = {"mean": found.mean} | {f"quantile {q:g}": found.quantile(q) for q in fractions}
        quantities |= {f"P(T > {t:g})": found.survival(t) for t in times}
        rows += [[source.label, str(source.n), name, format_estimate(e)] for name, e in quantities.items()]
    echo_rows(rows)


def _parse_distribution(text: str, mean: float) -> Any:
    """Return the distribution that ``NAME:SHAPE,...`` describes, frozen and scaled to the mean.  Raises ParameterError."""
    import numpy as np
    from scipy import stats

    from ..measure.grid import parse_number

    name, _, shapes = text.partition(":")
    known = {
        **{full: d for full, d in vars(stats).items() if isinstance(d, stats.rv_continuous)},
        **{short: getattr(stats, full) for short, full in _SHORT_NAMES.items()},
    }
    if name not in known:
        raise ParameterError(
            f"distribution must be exponential, weibull or another distribution of scipy.stats, got {command_line_text(name)}"
            f"{suggest_name(name, known)}"
        )
    values = [
        parse_number("distribution", shape, "a name and shape parameters that are numbers")
        for shape in shapes.split(",")
        if shape
    ]
    names = (known[name].shapes or "").split(", ") if known[name].numargs else []
    if len(values) != len(names):
        raise ParameterError(
            f"distribution must have the shape parameters {', '.join(names) or 'none'} for {name}, got {text}"
        )
    unscaled = known[name](*values)
    with np.errstate(all="ignore"):  # a mean out of range is refused below
        shortest_life, unscaled_mean = float(unscaled.support()[0]), float(unscaled.mean())
    if not shortest_life >= 0:
        raise ParameterError(f"distribution must be a distribution of lives, which are not negative, got {text}")
    if not all(map(math.isfinite, values)) or not 0 < mean < math.inf or not 0 < unscaled_mean < math.inf:
        raise ParameterError(
            f"mean must be positive and finite, of a distribution with a finite mean, got {mean:g} for {text}"
        )
    return known[name](*values, scale=mean / unscaled_mean)
