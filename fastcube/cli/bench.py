"""The command ``fastcube bench``."""

from __future__ import annotations

import textwrap

import click

from ..errors import ParameterError

#: Width of a line's numbers, in characters.
_NUMBERS = 38


@click.command("bench", epilog="\b\nExample:\n  fastcube bench partition")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Compare the speed of the kernels with baselines, code as a user might write it, on one core of this machine.

    NAME selects the comparisons whose name or baseline contains it.  Comparisons with a library that is not installed are
    skipped and named.
    """
    from ..measure.paper import installed_benchmarks
    from ..results.provenance import cpu_name
    from .terminal import line_width

    chosen = [b for b in installed_benchmarks() if name is None or name in b.name or name in b.baseline]
    if not chosen:
        raise ParameterError(f"no benchmark holds {name}; see `fastcube bench` for all of them")
    names = [f"{benchmark.name}, {benchmark.baseline}" for benchmark in chosen]
    longest = max(map(len, names))
    narrow = line_width() < longest + _NUMBERS  # then the numbers are printed under the name

    def print_row(label: str, numbers: str) -> None:
        if narrow and label:
            click.echo(label)
        click.echo(numbers if narrow else label.ljust(longest) + numbers)

    for reported in textwrap.wrap(
        f"{cpu_name()}, one core, CPU time, best of 3, ours and theirs in turns", line_width()
    ):
        click.echo(reported)
    print_row("", f" {'ours':>12} {'theirs':>12} {'ratio':>11}")
    print_row("what, against what", f" {'trials/s':>12} {'trials/s':>12} {'ours/theirs':>11}")
    for name_of, benchmark in zip(names, chosen, strict=True):
        try:
            ours, theirs = benchmark.measure()
        except ImportError as error:
            print_row(name_of, f" left out: {error.name} is not installed")
            continue
        print_row(name_of, f" {1 / ours:12,.0f} {1 / theirs:12,.0f} {theirs / ours:10,.0f}x")
