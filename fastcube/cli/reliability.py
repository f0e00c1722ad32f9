"""The command ``fastcube reliability``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import completion, options, print_message

if TYPE_CHECKING:
    from ..measure.estimate import Estimate


@click.command("reliability")
@click.argument("file", shell_complete=completion.complete_files)
@click.option("--rate", required=True, metavar="P,P,...", help="Failure rates: values, or ranges lo:hi:step.")
@click.option(
    "--plot",
    "figure",
    metavar="FIG",
    callback=options.check_output,
    shell_complete=completion.complete_files,
    help="File for a figure; by default none.",
)
@options.file
def command(file: str, rate: str, figure: str | None, unchecked: bool, study: str | None) -> None:
    """Print the probability that a network stays connected at failure rates, using a survival-curve or survival file over all f.

    Each line has a network, a rate, and the probability with its 95% interval, which for survival-curve holds for any number of
    trials.  For survival the interval is normal, asymptotic, and the line also has the difference from the hypercube on the same
    faults.  Numbers of failures that the file lacks make the interval wider.
    """
    from ..measure.grid import parse_values
    from ..measure.study import Axis
    from ..results.reliability import count_known_faults, crossing, group_by_network, is_curve, reliability
    from ..results.rounding import estimate_text

    if figure is not None:
        from ..plot import check_target

        check_target(figure)
    rates = [float(p) for p in parse_values(Axis("rate", "node failure rate", float, 0, 1), rate)]
    results = options.read_results(file, unchecked, study)
    paired = not is_curve(results)
    rows = [["network", "n", "rate", "connected", *["less the hypercube"] * paired]]
    some = list(group_by_network(results))
    counts = [count_known_faults(own) for _, _, own in some]
    for (name, n, own), (known, every) in zip(some, counts, strict=True):
        for p in rates:
            e = reliability(own, p)
            text = estimate_text(e) if known == every else _format_reliability(e, 0.0)
            row = [name, str(n), f"{p:g}", text]
            if paired and name != "hypercube":
                row.append(_format_reliability(reliability(own, p, against="hypercube"), -1.0))
            rows.append(row + [""] * (len(rows[0]) - len(row)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for (name, n, own), (known, every) in zip(some, counts, strict=True):
        if known < every:
            axis = results.study.axes[2 if paired else 3].name
            what = "faulty nodes" if paired else "failures"
            print_message(
                f"{name}, n={n}: {known:,} of {every:,} numbers of {what} are known or in the file, the others only bound "
                f"the probability (run it with --set {axis}=0:{every - 1})"
            )
        if paired and name != "hypercube":
            found = crossing(own)
            reported = "no crossing is seen at three standard errors"
            if found.rate is not None:
                reported = (
                    f"cross at rate {found.rate:.6f}, by three standard errors in [{found.low:g}, {found.high:g}]"
                )
            click.echo(f"{name} and hypercube, n={n}: {reported}")
    if figure is not None:
        _plot_reliability(some, rates, figure, paired)
        print_message(f"figure in {figure}")


def _format_reliability(e: Estimate, least: float) -> str:
    """Return the estimate; its limits alone if missing numbers of failures dominate the interval; or "not known"."""
    from ..results.reliability import has_narrow_interval
    from ..results.rounding import estimate_text

    if has_narrow_interval(e):
        return estimate_text(e)
    limits = f"[{max(e.low, least):.4f}, {min(e.high, 1.0):.4f}]"
    return "not known" if limits == f"[{least:.4f}, 1.0000]" else limits


def _plot_reliability(some: list[tuple[str, int, Any]], rates: list[float], figure: str, paired: bool) -> None:
    from ..plot import default_style, save_figure
    from ..plot.sheet import Sheet
    from ..results.reliability import reliability

    with default_style():
        sheet = Sheet(None)
        above, *below = sheet.panels(1, 1 + paired)
        for i, (name, n, own) in enumerate(some):
            label = f"{name}, n = {n}"
            above.series(label, [(p, reliability(own, p)) for p in rates], like=i, of=len(some))
            for panel in below if name != "hypercube" else ():
                pairs = [(p, reliability(own, p, against="hypercube")) for p in rates]
                panel.series(label, pairs, like=i, of=len(some))
        above.set_labels(x="failure rate", y="P(connected)", title="Reliability")
        for panel in below:
            panel.set_labels(x="node failure rate", y="less the hypercube", title="Difference on the same faults")
        for panel in (above, *below):
            panel.scale = "linear"
        sheet.title("Reliability polynomials")
        save_figure(sheet.finish(), figure)
