"""The command ``fastcube diff``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..errors import count_text
from . import completion, options

if TYPE_CHECKING:
    from ..measure.estimate import Estimate

#: Largest number of points named on a line.
_MAX_NAMED = 5


@click.command("diff", epilog="\b\nExample:\n  fastcube diff old.h5 new.h5")
@click.argument("one", metavar="A.h5", shell_complete=completion.complete_files)
@click.argument("other", metavar="B.h5", shell_complete=completion.complete_files)
@options.file
@click.pass_context
def command(ctx: click.Context, one: str, other: str, unchecked: bool, study: str | None) -> None:
    """Compare two results files of one study: points, trials, and estimates whose intervals do not overlap.

    The files may have different seeds, goals and revisions.  The exit status is 1 if anything differs, as with diff.
    """
    from ..results.comparing import compare_results

    pair = options.read_results(one, unchecked, study), options.read_results(other, unchecked, study)
    found = compare_results(*pair)
    for path, results in zip((one, other), pair, strict=True):
        click.echo(
            f"{path}: {results.study.name} revision {results.study.revision}, seed {results.seed}, "
            f"{count_text(len(results), 'point')}, {results.trials:,} trials"
        )
    for path, points in ((one, found.only_one), (other, found.only_other)):
        if points:
            click.echo(f"only in {path}: {_name_points(points)}")
    if found.same:
        click.echo(f"the same trials with the same counts: {_name_points(found.same)}")
    if found.broken:
        click.echo(f"THE SAME TRIALS WITH OTHER COUNTS: {_name_points(found.broken)}")
    if found.compared:
        click.echo(
            f"estimates from other trials: {found.compared:,} compared, {len(found.differing):,} differ by more than their "
            "intervals (of estimates of equal numbers about 0.6% do, by chance)"
        )
    _print_differences(found.differing)
    ctx.exit(1 if found.differ else 0)


def _name_points(points: tuple[str, ...]) -> str:
    """Return the number of points, and the first of them."""
    end = f"; and {len(points) - _MAX_NAMED:,} more" if len(points) > _MAX_NAMED else ""
    return f"{count_text(len(points), 'point')} ({'; '.join(points[:_MAX_NAMED])}{end})"


def _print_differences(differing: tuple[tuple[str, str, Estimate, Estimate], ...]) -> None:
    """Print a table of pairs of estimates with their point and statistic; nothing without any."""
    from ..results.rounding import estimate_texts
    from ..results.table import fit_columns

    rows = [(point, label, *estimate_texts([a, b])) for point, label, a, b in differing]
    columns = [list(column) for column in zip(("point", "statistic", "A", "B"), *rows, strict=True)] if rows else []
    for cells in zip(*fit_columns(columns, 0, None)[0], strict=True):
        click.echo("  ".join(cells))
