"""The command ``fastcube reliability``, and what ``fastcube lifetime`` shares with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from ..errors import ParameterError
from . import completion, options
from .terminal import print_message

if TYPE_CHECKING:
    from ..measure.estimate import Estimate
    from ..results.failure_curves import Curve, Reading, Strata
    from ..results.results import Results

#: The options that name a network in place of a file.
network = options.combine_options(
    click.option("--n", type=int, metavar="N", help="Dimension of a network that is given in place of a file."),
    click.option(
        "--fail",
        type=click.Choice(["nodes", "links"]),
        default="nodes",
        show_default=True,
        help="What fails in a network that is given in place of a file.",
    ),
)


class Source(NamedTuple):
    """A network, with the results about it."""

    name: str
    what: str  #: what fails: nodes, links, or empty for results of survival, where nodes fail
    n: int
    results: Results | None  #: None if exact values are computed

    @property
    def label(self) -> str:
        """The network, with what fails if that can be both."""
        return f"{self.name} {self.what}" if self.what else self.name


def read_sources(given: str, n: int | None, fail: str, unchecked: bool, study: str | None) -> list[Source]:
    """Return the networks in a results file, or the network ``given`` if it has an ``n``.  Raises ParameterError if none."""
    from ..networks.family import find_family, network_families
    from ..results.reliability import group_by_network

    if n is not None:
        family = find_family(given)
        return [Source(family.name, fail, family.check_size(n), None)]
    if given in network_families():
        raise ParameterError(f"n must be given for a network, such as {given} --n 4")
    results = options.read_results(given, unchecked, study)
    if not (sources := [Source(*group) for group in group_by_network(results)]):
        raise ParameterError(f"{given} must have trials of at least one network, got none")
    return sources


def format_estimate(e: Estimate) -> str:
    """Return the estimate; ten digits of an exact value, whose further digits are errors of the computation."""
    from ..results.rounding import estimate_text

    return f"{e.value:.10g}" if e.half_width <= 1e-9 * abs(e.value) else estimate_text(e)


def echo_rows(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of cells, the first with the names of the columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@click.command("reliability", epilog="\b\nExample:\n  fastcube reliability hypercube --n 4 --rate 0.1,0.2,0.3")
@click.argument("file", shell_complete=completion.complete_files)
@click.option("--rate", required=True, metavar="P,P,...", help="Failure rates: values, or ranges lo:hi:step.")
@click.option("--stat", default="connected", show_default=True, metavar="STAT", help="Statistic of the survivors.")
@network
@click.option(
    "--plan",
    metavar="WIDTH",
    help="Width of an interval: print the run of survival-curve, with few numbers of failures, that reaches it at all rates.",
)
@click.option(
    "--plot",
    "figure",
    metavar="FIG",
    callback=options.check_output,
    shell_complete=completion.complete_files,
    help="File for a figure; by default none.",
)
@options.file
def command(
    file: str,
    rate: str,
    stat: str,
    n: int | None,
    fail: str,
    plan: str | None,
    figure: str | None,
    unchecked: bool,
    study: str | None,
) -> None:
    """Print the probability that a network stays connected, or another statistic, at failure rates.

    FILE is of survival-curve, or of survival over all f.  In its place a network with --n gives exact probabilities, for n to 5
    if nodes fail and to 32 links.  Each line has a network, a rate, and the value with its 95% interval, which for
    survival-curve holds for any number of trials.  For survival the interval is normal, asymptotic, and the line also has the
    difference from the hypercube on the same faults.  Numbers of failures that the file lacks make the interval wider.  With
    repair, give the unavailability of a node or link as the rate: the value is then the mean in the long run.
    """
    from ..measure.grid import parse_number, parse_values
    from ..measure.study import Axis
    from ..results.reliability import plan_run

    if figure is not None:
        from ..plot import check_target

        check_target(figure)
    rates = [float(p) for p in parse_values(Axis("rate", "failure rate", float, 0, 1), rate)]
    sources = read_sources(file, n, fail, unchecked, study)
    if plan is not None:
        for source in sources:
            click.echo(plan_run(source.name, source.what or fail, source.n, stat, rates, parse_number("plan", plan)))
        return
    curves = [_SourceCurve(source, *_read_curves(source, stat)) for source in sources]
    has_differences = any(difference is not None for *_, difference in curves)
    rows = [["network", "n", "rate", stat, *["less the hypercube"] * has_differences]]
    for source, curve, difference in curves:
        for p in rates:
            shown = (curve, *[difference] * has_differences)
            cells = [_format_reading(one.read(p)) if one else "" for one in shown]
            rows.append([source.label, str(source.n), f"{p:g}", *cells])
    echo_rows(rows)
    for source, curve, difference in curves:
        _report_unknown_faults(source, curve)
        if difference is not None and stat == "connected":
            _report_crossing(source)
    if figure is not None:
        lines = [(f"{source.label}, n = {source.n}", curve.read, difference) for source, curve, difference in curves]
        _plot_reliability(lines, rates, stat, figure)
        print_message(f"figure in {figure}")


class _SourceCurve(NamedTuple):
    """A statistic of a network over the numbers of failures, and its difference from the hypercube if the file has it."""

    source: Source
    curve: Curve | Strata
    difference: Strata | None


def _read_curves(source: Source, stat: str) -> tuple[Curve | Strata, Strata | None]:
    """Return the statistic of a network, and its difference from the hypercube.  Raises ParameterError."""
    from ..results.failure_curves import Strata
    from ..results.reliability import read_curve

    if source.results is None:
        from ..exact.survival import exact_probabilities

        return read_curve(exact_probabilities(source.name, source.n, source.what, stat)), None
    curve = read_curve(source.results, stat)
    if not isinstance(curve, Strata) or source.name == "hypercube" or stat not in ("connected", "extra_1"):
        return curve, None
    difference = read_curve(source.results, stat, "hypercube")
    return curve, difference if isinstance(difference, Strata) else None


def _report_unknown_faults(source: Source, curve: Curve | Strata) -> None:
    """Print a message if some numbers of failures have no value, with the remedy."""
    from ..results.failure_curves import Strata, count_known_faults

    known, total = count_known_faults(curve)
    if known == total:
        return
    advice = f"run it with --set f=0:{total - 1}" if isinstance(curve, Strata) else "--plan prints a run"
    noun = "faulty nodes" if isinstance(curve, Strata) else "failures"
    print_message(
        f"{source.label}, n={source.n}: {known:,} of {total:,} numbers of {noun} are known or in the file, the others "
        f"only bound the value ({advice})"
    )


def _report_crossing(source: Source) -> None:
    """Print the rate at which a network and the hypercube are equally reliable, as far as its results decide it."""
    from ..results.reliability import find_crossing

    assert source.results is not None
    found = find_crossing(source.results)
    report = "no crossing is seen at three standard errors"
    if found.rate is not None:
        report = f"cross at rate {found.rate:.6f}, by three standard errors in [{found.low:g}, {found.high:g}]"
    click.echo(f"{source.name} and hypercube, n={source.n}: {report}")


def _format_reading(reading: Reading) -> str:
    """Return the estimate; its limits alone if missing numbers of failures dominate the interval; or "not known"."""
    e = reading.estimate
    if reading.gap <= e.half_width:
        return format_estimate(e)
    limits = f"[{max(e.low, reading.least):.4f}, {min(e.high, reading.most):.4f}]"
    return "not known" if limits == f"[{reading.least:.4f}, {reading.most:.4f}]" else limits


def _plot_reliability(
    lines: Sequence[tuple[str, Callable[[float], Reading], Strata | None]], rates: list[float], stat: str, figure: str
) -> None:
    """Write a figure of named lines, with the differences from the hypercube in a second panel if there are any."""
    from ..plot import default_style, save_figure
    from ..plot.sheet import Sheet

    has_differences = any(difference is not None for *_, difference in lines)
    with default_style():
        sheet = Sheet(None)
        above, *below = sheet.panels(1, 1 + has_differences)
        for i, (label, read, difference) in enumerate(lines):
            above.series(label, [(p, read(p).estimate) for p in rates], like=i, of=len(lines))
            if difference is not None:
                below[0].series(label, [(p, difference.read(p).estimate) for p in rates], like=i, of=len(lines))
        name = "P(connected)" if stat == "connected" else stat
        above.set_labels(x="failure rate", y=name, title="Reliability" if stat == "connected" else None)
        for panel in below:
            panel.set_labels(x="node failure rate", y="less the hypercube", title="Difference on the same faults")
        for panel in (above, *below):
            panel.scale = "linear"
        sheet.title("Reliability polynomials" if stat == "connected" else "Means over random failures")
        save_figure(sheet.finish(), figure)
