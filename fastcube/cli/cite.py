"""``fastcube cite``."""

from __future__ import annotations

import click

from . import completion, print_message


@click.command("cite")
@click.argument("study", required=False, shell_complete=completion.complete_studies)
def command(study: str | None) -> None:
    """Print BibTeX of fastcube, and of the papers, networks or routing rules that STUDY is about."""
    from ..audit import citing
    from ..measure import paper, registry

    click.echo(citing.software())
    if study is None:
        return
    asked = registry.study(study)
    for printed in paper.papers_with_inventory():
        if asked.name in printed.studies:
            click.echo(citing.paper(printed.inventory))
            return
    for package in paper.installed_papers().values():
        if asked.name in package.studies and (entries := citing.package_entries(package.name)):
            click.echo("\n".join(entries))
            return
    print_message(f"{asked.name} is about none of the five papers; its source: {asked.source or 'it names none'}")
