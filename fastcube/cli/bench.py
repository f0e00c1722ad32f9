"""``fastcube bench``."""

from __future__ import annotations

import click

from ..errors import ParameterError


@click.command("bench")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Our kernels against what a user would write instead, on this machine, one core each.

    NAME picks the comparisons whose name or rival holds it.  Comparisons with a library that is not installed are
    left out and named.
    """
    from ..engine import registry
    from ..engine.provenance import cpu_name

    benchmarks = [b for b in registry.benchmarks() if name is None or name in b.name or name in b.rival]
    if not benchmarks:
        raise ParameterError(f"no benchmark holds {name}; see `fastcube bench` for all of them")
    click.echo(f"{cpu_name()}, one core, CPU time, best of 3, ours and theirs in turns")
    click.echo(f"{'':54} {'ours':>12} {'theirs':>12} {'ratio':>9}")
    click.echo(f"{'what, against what':54} {'trials/s':>12} {'trials/s':>12} {'ours/theirs':>11}")
    for benchmark in benchmarks:
        label = f"{benchmark.name}, {benchmark.rival}"
        try:
            ours, theirs = benchmark.measure()
        except ImportError as error:
            click.echo(f"{label:54} left out: {error.name} is not installed")
            continue
        click.echo(f"{label:54} {1 / ours:12,.0f} {1 / theirs:12,.0f} {theirs / ours:10,.0f}x")
