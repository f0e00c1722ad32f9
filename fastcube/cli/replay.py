"""The command ``fastcube replay``."""

from __future__ import annotations

import json

import click

from ..errors import ParameterError, check_range, parse_count, wrap_study_errors
from . import completion, options
from .terminal import print_message


@click.command("replay", epilog="\b\nExample:\n  fastcube replay unsafe.h5 --point n=6,f=4 --trial 77 --draw trial.svg")
@click.argument("file", shell_complete=completion.complete_studies)
@click.option(
    "--point",
    multiple=True,
    metavar="n=10,f=5",
    shell_complete=completion.complete_point,
    help="The point; an axis with a single value in FILE may be left out.",
)
@click.option("--trial", required=True, metavar="T", help="Index of the trial.")
@click.option("--seed", metavar="S", help="Seed, if FILE is the name of a study; by default 0.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON only.")
@click.option(
    "--draw",
    metavar="FILE.svg",
    callback=options.check_output,
    shell_complete=completion.complete_files,
    help="Picture of the trial, in a hypercube with n <= 6 or a dual-cube with m <= 2.",
)
@options.file
def command(
    file: str,
    point: tuple[str, ...],
    trial: str,
    seed: str | None,
    as_json: bool,
    draw: str | None,
    unchecked: bool,
    study: str | None,
) -> None:
    """Show one trial in full: the fault set and the steps of the algorithm, as text and as JSON.

    FILE is a results file or the name of a study, because a trial depends only on study, seed, point and index.
    With --draw, write a picture too: faults, unsafe nodes by round, paths, trees, broadcasts, 2-partitions and components.
    """
    from ..measure import registry
    from ..measure.fault_sets import iter_samples
    from ..measure.goal import MOST_TRIALS
    from ..measure.study import point_text

    if file in registry.STUDIES.points or file.partition(":")[0].endswith(".py"):
        chosen, used_seed = registry.study(file), 0 if seed is None else parse_count("seed", seed)
        single_values: dict[str, object] = {}
    else:
        results = options.read_results(file, unchecked, study)
        chosen, used_seed = registry.study_of(results.study), results.seed
        if seed is not None and parse_count("seed", seed) != used_seed:
            raise ParameterError(f"seed must be {used_seed} for {file}, got {seed}")
        values = {axis.name: {where[axis.name] for where, _ in results} for axis in chosen.axes}
        single_values = {name: next(iter(of_axis)) for name, of_axis in values.items() if len(of_axis) == 1}
    if draw is not None:
        from ..plot import check_picture_target

        check_picture_target("draw", draw, (".svg",))
    parts = [part.strip() for text in point for part in text.split(",")]
    where = chosen.point({**single_values, **options.parse_axes(tuple(filter(None, parts)), "point")})
    index = parse_count("trial", trial)
    check_range("trial", index, 0, MOST_TRIALS - 1)
    heading = f"trial {index} of {chosen.name} at {point_text(where)}"
    with wrap_study_errors(heading):
        reported = chosen.explain(where, chosen.key(used_seed, where), index)
        network = None if draw is None else next(iter_samples(chosen, where, used_seed, index, 1)).network
    if draw is not None:
        from ..plot.trial_picture import draw_trial

        draw_trial(heading, network, reported.data).save(draw)
        print_message(f"picture in {draw}")
    data = {"study": chosen.name, "seed": used_seed, "point": where, "trial": index, **reported.data}
    if not as_json:
        click.echo(heading)
        click.echo(reported.text)
        click.echo()
    click.echo(json.dumps(data))
