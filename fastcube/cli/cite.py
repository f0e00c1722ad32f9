"""``fastcube cite``."""

from __future__ import annotations

import click

from . import completion, say


@click.command("cite")
@click.argument("study", required=False, shell_complete=completion.studies)
def command(study: str | None) -> None:
    """Print BibTeX of fastcube, and of the paper that STUDY is about."""
    from ..audit import citing
    from ..measure import paper, registry

    click.echo(citing.software())
    if study is None:
        return
    asked = registry.study(study)
    for printed in paper.printed():
        if any(s.name == asked.name for s in printed.studies):
            click.echo(citing.paper(printed.inventory))
            return
    say(f"{asked.name} is about none of the five papers; its source: {asked.source or 'it names none'}")
