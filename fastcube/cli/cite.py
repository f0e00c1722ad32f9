"""The command ``fastcube cite``."""

from __future__ import annotations

import click

from ..errors import ParameterError
from . import completion
from .terminal import print_message


@click.command("cite", epilog="\b\nExample:\n  fastcube cite routing")
@click.argument("study", required=False, shell_complete=completion.complete_studies)
def command(study: str | None) -> None:
    """Print BibTeX entries of fastcube, and of the papers, networks, routing rules and methods of STUDY."""
    from ..measure import paper, registry
    from ..results import citing

    if named := [p for p in paper.papers_with_inventory() if p.name == study]:
        raise ParameterError(f"study must be the name of a study, such as {named[0].studies[0]}, got the paper {study}")
    asked = None if study is None else registry.study(study)
    click.echo(citing.software())
    if asked is None:
        return
    about = next((p for p in paper.installed_papers().values() if asked.name in p.studies), None)
    if about in paper.papers_with_inventory():
        entries = [citing.paper(about.inventory)]
    else:
        entries = [] if about is None else citing.package_entries(about.name)
    if not entries:
        print_message(
            f"{asked.name} is about no paper that fastcube knows; its source: {asked.source or 'it names none'}"
        )
    click.echo("\n".join([*entries, *citing.method_entries(asked.name)]))
