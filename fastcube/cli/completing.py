"""What TAB offers: names of studies, grids, axes, statistics, papers and claims, from a catalogue; files by the shell.

A press of TAB is a process of its own, so nothing heavy is imported here: the studies are loaded (0.6 s of CPU) only
when the catalogue in the cache folder is not of the studies installed now.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ZshComplete, add_completion_class

from ..kernels.machine.homes import homes

#: Bytes of the largest catalogue that is read; ours has 20 kB.
_LARGEST = 2**22

#: The group of studies; ``registry.GROUP``, which is not imported here.
GROUP = "fastcube.studies"


# ---------------------------------------------------------------- the catalogue


def _stamp() -> str:
    """Names the studies installed now: the entry points, and names and times of their packages' files."""
    digest = hashlib.sha256(b"1")
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda p: p.name):
        digest.update(f"{point.name}={point.value}\0".encode())
        with contextlib.suppress(ImportError, ValueError, AttributeError):
            spec = importlib.util.find_spec(point.value.partition(":")[0])
            folders = [Path(f) for f in (spec.submodule_search_locations or ())] if spec else []
            files = [p for folder in folders for p in folder.glob("*.py")]
            if spec and spec.origin and not files:
                files = [Path(spec.origin)]
            for path in sorted(files):
                digest.update(f"{path}={path.stat().st_mtime_ns}\0".encode())
    return digest.hexdigest()


def _made() -> dict[str, Any]:
    """The catalogue from the studies themselves."""
    from ..measure import registry
    from ..papers import ledgers

    return {
        "studies": {
            study.name: {
                "title": study.title,
                "grids": [grid.name for grid in study.grids],
                "axes": {axis.name: axis.description for axis in study.axes},
                "statistics": {s.name: s.description for s in study.statistics},
            }
            for study in registry.studies().values()
        },
        "claims": {paper: [claim.id for claim in ledger] for paper, ledger in ledgers.ledgers().items()},
    }


def _own(path: Path) -> str:
    """The text of a file that is ours: its names land in the line being typed.  Raises OSError for any other."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), encoding="utf-8") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_size > _LARGEST:
            raise OSError(f"{path} is not ours")
        return file.read()


def _sum(made: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()


def catalogue() -> dict[str, Any]:
    """Studies and claims by name: from the cache folder when it is of what is installed now, else made and kept there."""
    stamp = _stamp()
    for home in homes():
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            known = json.loads(_own(home / "names.json"))
            if known["stamp"] == stamp and known.pop("sha256") == _sum(known):
                return dict(known)
    made = {"stamp": stamp, **_made()}
    for home in homes():
        with contextlib.suppress(OSError):
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=home, prefix=".names")
            with os.fdopen(handle, "w") as file:
                json.dump({**made, "sha256": _sum(made)}, file)
            os.replace(name, home / "names.json")  # noqa: PTH105
            break
    return made


# ---------------------------------------------------------------- what to offer

_Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Files, which the shell lists."""
    return [CompletionItem(incomplete, type="file")]


def _offered(names: Iterable[str] | dict[str, str], incomplete: str, end: str = "") -> list[CompletionItem[str]]:
    helps = names if isinstance(names, dict) else {}
    return [CompletionItem(name + end, help=helps.get(name)) for name in names if name.startswith(incomplete)]


def _of_study(ctx: click.Context) -> dict[str, Any]:
    """What the catalogue says of the study that the line names; empty for a file or a name it does not have."""
    known = catalogue()["studies"]
    given = [ctx.params.get("study"), ctx.params.get("file"), *(ctx.params.get("studies") or ()), *ctx.args]
    # an option without its value, which is being typed, ends click's parsing: the words before it are in ctx.args
    return next((dict(known[word]) for word in given if word in known), {})


def studies(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Studies by name; files, which may hold studies or results, where none begins so."""
    known = {name: study["title"] for name, study in catalogue()["studies"].items()}
    return _offered(known, incomplete) or files(ctx, param, incomplete)


def grids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The study's grids."""
    return _offered(_of_study(ctx).get("grids", []), incomplete)


def axes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The study's axes, each with ``=``."""
    return _offered(_of_study(ctx).get("axes", {}), incomplete, "=")


def point(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The next axis of a point such as ``n=10,f=``."""
    before, comma, last = incomplete.rpartition(",")
    known = _of_study(ctx).get("axes", {})
    given = {part.partition("=")[0] for part in before.split(",")}
    some = {name: what for name, what in known.items() if name not in given}
    return [CompletionItem(before + comma + item.value, help=item.help) for item in _offered(some, last, "=")]


def statistics(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The study's statistics."""
    return _offered(_of_study(ctx).get("statistics", {}), incomplete)


def papers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Papers that have a ledger; files where none begins so."""
    return _offered(catalogue()["claims"], incomplete) or files(ctx, param, incomplete)


def claims(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The paper's claims."""
    return _offered(catalogue()["claims"].get(ctx.params.get("paper"), []), incomplete)


def one_of(*names: str) -> _Completer:
    """Offers some words."""
    return lambda ctx, param, incomplete: _offered(names, incomplete)


class _Calm:
    """What a shell's class lacks: where anything fails, as in an environment that no shell made, nothing is offered.

    A traceback would land in the line being typed.  What is offered can be encoded.
    """

    def complete(self) -> str:
        """The completions, as the shell's script takes them."""
        try:
            text: str = super().complete()  # type: ignore[misc]
        except Exception:
            return ""
        return text.encode(errors="replace").decode()


class _Bash(_Calm, BashComplete):
    """Bash, without the blank that would part ``n=`` from its values."""

    source_template = BashComplete.source_template.replace(
        "COMPREPLY+=($value)", "COMPREPLY+=($value)\n            [[ $value == *[=:] ]] && compopt -o nospace"
    )


class _Zsh(_Calm, ZshComplete):
    """Zsh, likewise."""

    source_template = ZshComplete.source_template.replace(
        "_describe -V unsorted completions_with_descriptions -U",
        "local -a ends; [[ $key == *= ]] && ends=(-S '')\n"
        '        _describe -V unsorted completions_with_descriptions -U "${ends[@]}"',
    )


class _Fish(_Calm, FishComplete):
    """Fish, as click has it."""


add_completion_class(_Fish)
add_completion_class(_Bash)
add_completion_class(_Zsh)
