"""``fastcube replay``."""

from __future__ import annotations

import json

import click

from ..errors import ParameterError, check_range
from . import completing, options


@click.command("replay")
@click.argument("file", shell_complete=completing.studies)
@click.option("--point", required=True, metavar="n=10,f=5", shell_complete=completing.point, help="The point.")
@click.option("--trial", required=True, metavar="T", help="The trial's index.")
@click.option("--seed", metavar="S", help="Seed, when FILE is the name of a study; by default 0.")
@click.option("--json", "as_json", is_flag=True, help="As JSON only.")
@options.file
def command(
    file: str, point: str, trial: str, seed: str | None, as_json: bool, unchecked: bool, study: str | None
) -> None:
    """Show one trial in full: the fault set and what the algorithm did, in words and as JSON.

    FILE is a results file, or the name of a study: a trial needs no results, only study, seed, point and index.
    """
    from ..engine import registry
    from ..engine.goal import MOST_TRIALS
    from ..engine.grid import parse_count
    from ..engine.study import point_key

    if file in registry.studies() or file.partition(":")[0].endswith(".py"):
        chosen, number = registry.find(file), 0 if seed is None else parse_count("seed", seed)
    else:
        results = options.read(file, unchecked, study)
        chosen, number = registry.study_of(results.study), results.seed
        if seed is not None and parse_count("seed", seed) != number:
            raise ParameterError(f"seed must be {number} for {file}, got {seed}")
    where = chosen.point(options.parse_axes(tuple(part for part in point.split(",") if part)))
    index = parse_count("trial", trial)
    check_range("trial", index, 0, MOST_TRIALS - 1)
    told = chosen.explain(where, point_key(chosen.name, number, where), index)
    data = {"study": chosen.name, "seed": number, "point": where, "trial": index, **told.data}
    if not as_json:
        click.echo(told.words)
        click.echo()
    click.echo(json.dumps(data))
