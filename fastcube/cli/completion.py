"""Completion by TAB: names of studies, grids, axes and statistics; the shell completes file names.

Each completion is a new process.  Names of studies and papers come from entry points, without any import.  Names of grids, axes
and statistics come from the study in the command line.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ZshComplete, add_completion_class

from ..errors import FastcubeError

_Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]


def complete_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Let the shell complete a file name."""
    return [CompletionItem(incomplete, type="file")]


def matching_items(
    names: Iterable[str] | Mapping[str, str], incomplete: str, end: str = ""
) -> list[CompletionItem[str]]:
    """Return the names that begin with ``incomplete``, with their helps if ``names`` maps to helps."""
    helps = names if isinstance(names, Mapping) else {}
    return [CompletionItem(name + end, help=helps.get(name)) for name in names if name.startswith(incomplete)]


def complete_values(*names: str) -> _Completer:
    """Return a completer that offers these words."""
    return lambda ctx, param, incomplete: matching_items(names, incomplete)


def _study_items(ctx: click.Context, kind: str) -> dict[str, str]:
    """Return names and descriptions of a study's grids, axes or statistics; none if the line names no installed study."""
    from ..measure import registry

    known = registry.STUDIES.points
    given = [ctx.params.get("study"), ctx.params.get("file"), *(ctx.params.get("studies") or ()), *ctx.args]
    # click stops parsing at an option whose value is still being typed, and leaves the words before it in ctx.args
    study = next((registry.study(word) for word in given if word in known), None)
    return {part.name: getattr(part, "description", "") for part in getattr(study, kind, ())}


def complete_studies(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Return the names of studies, or else files, which may contain studies or results.

    Shells that show descriptions also get titles, for which only the matching studies are imported.
    """
    from ..measure.installed import GROUP, find_entry_points

    names = [name for name in find_entry_points(GROUP) if name.startswith(incomplete)]
    titles = {}
    if os.environ.get("_FASTCUBE_COMPLETE") != "bash_complete":
        from ..measure import registry

        for name in names:
            with contextlib.suppress(FastcubeError):
                titles[name] = registry.study(name).title
    return [CompletionItem(name, help=titles.get(name)) for name in names] or complete_files(ctx, param, incomplete)


def complete_grids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Return the names of the study's grids."""
    return matching_items(_study_items(ctx, "grids"), incomplete)


def complete_axes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Return the names of the study's axes, each followed by ``=``."""
    return matching_items(_study_items(ctx, "axes"), incomplete, "=")


def complete_point(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Return completions with the next axis of a point such as ``n=10,f=``."""
    before, comma, last = incomplete.rpartition(",")
    given = {part.partition("=")[0] for part in before.split(",")}
    free_axes = {name: text for name, text in _study_items(ctx, "axes").items() if name not in given}
    return [
        CompletionItem(before + comma + item.value, help=item.help) for item in matching_items(free_axes, last, "=")
    ]


def complete_statistics(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Return the names of the study's statistics."""
    return matching_items(_study_items(ctx, "statistics"), incomplete)


class _SafeCompletion:
    """A shell's class that offers nothing if an error occurs, as in an environment that no shell has prepared.

    A traceback would appear in the line that the user is typing.  The completions can always be encoded.
    """

    def complete(self) -> str:
        """Return the completions in the form of the shell's script."""
        try:
            text: str = super().complete()  # type: ignore[misc]
        except Exception:
            return ""
        return text.encode(errors="replace").decode()


class _Bash(_SafeCompletion, BashComplete):
    """Bash, without the space that would separate ``n=`` from its values."""

    source_template = BashComplete.source_template.replace(
        "COMPREPLY+=($value)", "COMPREPLY+=($value)\n            [[ $value == *[=:] ]] && compopt -o nospace"
    )


class _Zsh(_SafeCompletion, ZshComplete):
    """Zsh, without the space that would separate ``n=`` from its values."""

    source_template = ZshComplete.source_template.replace(
        "_describe -V unsorted completions_with_descriptions -U",
        "local -a ends; [[ $key == *= ]] && ends=(-S '')\n"
        '        _describe -V unsorted completions_with_descriptions -U "${ends[@]}"',
    )


class _Fish(_SafeCompletion, FishComplete):
    """Fish, as click supports it."""


add_completion_class(_Fish)
add_completion_class(_Bash)
add_completion_class(_Zsh)
