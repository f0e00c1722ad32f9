"""``fastcube reliability``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import completion, options, print_message

if TYPE_CHECKING:
    from ..measure.estimate import Estimate


@click.command("reliability")
@click.argument("file", shell_complete=completion.complete_files)
@click.option("--rate", required=True, metavar="P,P,...", help="Node failure rates: values, or ranges lo:hi:step.")
@click.option(
    "--plot", "figure", metavar="FIG", shell_complete=completion.complete_files, help="The polynomials as a figure."
)
@options.file
def command(file: str, rate: str, figure: str | None, unchecked: bool, study: str | None) -> None:
    """Probability that a network stays connected at a node failure rate, from a survival file over all f.

    A network at a rate is a line: the probability and, on the same faults, its difference to the hypercube, each with a
    95% interval (normal, asymptotic).  Numbers of faults that the file lacks widen it.
    """
    from ..measure.grid import parse_values
    from ..measure.study import Axis
    from ..results.reliability import count_known_faults, crossing, group_by_network, reliability

    if figure is not None:
        from ..plot import check_target

        check_target(figure)
    rates = [float(p) for p in parse_values(Axis("rate", "node failure rate", float, 0, 1), rate)]
    results = options.read_results(file, unchecked, study)
    rows = [["network", "n", "rate", "connected", "less the hypercube"]]
    some = list(group_by_network(results))
    for name, n, own in some:
        for p in rates:
            gain = "" if name == "hypercube" else _format_reliability(reliability(own, p, against="hypercube"), -1.0)
            rows.append([name, str(n), f"{p:g}", _format_reliability(reliability(own, p), 0.0), gain])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for name, n, own in some:
        known, every = count_known_faults(own)
        if known < every:
            print_message(
                f"{name}, n={n}: {known:,} of {every:,} numbers of faulty nodes are known or in the file, the others only bound "
                f"the probability (run it with --set f=0:{every - 1})"
            )
        if name != "hypercube":
            found = crossing(own)
            told = (
                "undecided" if found.rate is None else f"{found.rate:.6f}, decided in [{found.low:g}, {found.high:g}]"
            )
            click.echo(f"{name} and hypercube cross, n={n}: {told}")
    if figure is not None:
        _plot_reliability(some, rates, figure)
        print_message(f"figure in {figure}")


def _format_reliability(e: Estimate, least: float) -> str:
    """The estimate, or its limits alone where what the file lacks is most of the interval."""
    from ..results.reliability import has_narrow_interval
    from ..results.rounding import estimate_text

    return estimate_text(e) if has_narrow_interval(e) else f"[{max(e.low, least):.4f}, {min(e.high, 1.0):.4f}]"


def _plot_reliability(some: list[tuple[str, int, Any]], rates: list[float], figure: str) -> None:
    from ..plot import default_style, save_figure
    from ..plot.sheet import Sheet
    from ..results.reliability import reliability

    with default_style():
        sheet = Sheet(None)
        above, below = sheet.panels(1, 2)
        for i, (name, n, own) in enumerate(some):
            label = f"{name}, n = {n}"
            above.series(label, [(p, reliability(own, p)) for p in rates], like=i, of=len(some))
            if name != "hypercube":
                pairs = [(p, reliability(own, p, against="hypercube")) for p in rates]
                below.series(label, pairs, like=i, of=len(some))
        above.scale = below.scale = "linear"
        above.set_labels(x="node failure rate", y="P(connected)", title="Node reliability")
        below.set_labels(x="node failure rate", y="less the hypercube", title="Difference on the same faults")
        sheet.title("Reliability polynomials")
        save_figure(sheet.finish(), figure)
