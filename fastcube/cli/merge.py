"""The command ``fastcube merge``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..errors import ParameterError, count_text
from . import completion, options
from .terminal import print_message

if TYPE_CHECKING:
    from ..results.results import Results


def _check_nothing_lost(merged: Results, held: Results, output: str) -> None:
    """Raise ParameterError if the output has trials that the merge lacks, because replacing it would lose them."""
    from ..measure.study import point_text
    from ..measure.tally import missing_trials

    merged.check_same_study(held, "the merge", output)
    for key, tally in held.tallies.items():
        ranges = merged.tallies[key].ranges if key in merged.tallies else ()
        if any(missing_trials(ranges, *r) for r in tally.ranges):
            raise ParameterError(
                f"{output} holds trials of {point_text(held.point(key))} that the merge lacks; use another output"
            )


@click.command("merge", epilog="\b\nExample:\n  fastcube merge part-*.h5 -o whole.h5")
@click.argument("shards", nargs=-1, required=True, shell_complete=completion.complete_files)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    callback=options.check_output,
    shell_complete=completion.complete_files,
    help="Results file of the sum.",
)
def command(shards: tuple[str, ...], output: str) -> None:
    """Add the results of disjoint trials of one study and seed.  The sum is exact, in any order."""
    from ..measure.grid import find_near_values
    from ..results.combining import merge_files
    from ..results.missing_shards import missing_shards_text
    from ..results.output import OutputFile
    from ..results.provenance import available_cpus
    from ..results.reading import open_results

    file = OutputFile(output)
    merged = merge_files(shards, available_cpus())
    if file.path.exists():
        _check_nothing_lost(merged, open_results(file.path), output)
    file.save(merged)
    for line in find_near_values(merged.study.axes, merged.tallies):
        print_message(line)
    counted = f"{merged.trials:,} trials at {count_text(len(merged.tallies), 'point')}"
    missing = missing_shards_text(merged)
    print_message(
        f"merged {count_text(len(shards), 'file')}, {counted}, into {output}; "
        f"digest {merged.digest()}{'; ' if missing else ''}{missing}"
    )
