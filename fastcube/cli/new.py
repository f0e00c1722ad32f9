"""``fastcube new``: fills the templates in ``cli/templates``, which contain the placeholders NAME, MODULE, RUN and PATH."""

from __future__ import annotations

import contextlib
import importlib.util
import keyword
import re
import shlex
from importlib.resources import files
from pathlib import Path

import click

from ..errors import ParameterError, ResultFileError, plain_text
from .terminal import print_message

#: The files to write, each with its template, without and with --package.
_FILE = {"{name}.py": "study.py", "test_{name}.py": "test_study.py"}
_PACKAGE = {
    "{name}/pyproject.toml": "pyproject.toml",
    "{name}/{name}/__init__.py": "__init__.py",
    "{name}/{name}/study.py": "study.py",
    "{name}/tests/test_{name}.py": "test_study.py",
}


def _check_name(name: str) -> None:
    """Raise ParameterError unless the name is valid and free for a module, a study and a package."""
    from ..measure.registry import STUDIES

    shown = plain_text(name, 60)
    if not re.fullmatch(r"_*[A-Za-z][A-Za-z0-9_]*", name) or len(name) > 60 or keyword.iskeyword(name):
        proposal = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
        is_valid = proposal != name and proposal.isidentifier() and proposal.isascii() and len(proposal) <= 60
        hint = f"; {proposal} is one" if is_valid and not keyword.iskeyword(proposal) else ""
        raise ParameterError(
            f"name must be a Python identifier with a letter, of at most 60 ASCII characters, no keyword, got {shown}{hint}"
        )
    if name in STUDIES.points:
        raise ParameterError(f"name must be one that no study has, got {shown}")
    if _has_module(name) and not Path(f"{name}.py").exists():
        raise ParameterError(f"name must be one that no module has, got {shown}: a file of that name would hide it")


def _has_module(name: str) -> bool:
    """Whether there is a module of this name."""
    try:
        return importlib.util.find_spec(name) is not None
    except ValueError:  # a module without a specification, such as __main__
        return True


def _fill_template(template: str, replacements: dict[str, str]) -> str:
    """Return a template with its placeholders replaced."""
    text = (files(__package__) / "templates" / f"{template}.txt").read_text("utf-8")
    return re.sub(r"\b(NAME|MODULE|RUN|PATH)\b", lambda found: replacements[found[0]], text)


@click.command("new", epilog="\b\nExample:\n  fastcube new mine")
@click.argument("name")
@click.option(
    "--package",
    is_flag=True,
    help="Write a package in place of a file; once pip has installed it, `fastcube list` shows the study.",
)
def command(name: str, package: bool) -> None:
    """Write a study that runs, NAME.py, and its test, test_NAME.py, as a start for your own study.

    Existing files are never overwritten.
    """
    _check_name(name)
    targets = {Path(path.format(name=name)): template for path, template in (_PACKAGE if package else _FILE).items()}
    for path in [Path(name)] if package else targets:
        if path.exists() or path.is_symlink():
            raise ParameterError(f"{path} exists and is not overwritten: take another name, or another folder")
    run = f"fastcube run {name}" if package else f"fastcube run {name}.py"
    *_, test = targets
    replacements = {"NAME": name, "MODULE": f"{name}.study" if package else name, "RUN": f"`{run}`", "PATH": str(test)}
    created: list[Path] = []
    try:
        for path, template in targets.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                created.append(path)
                file.write(_fill_template(template, replacements))
    except OSError as error:  # files and folders that stay would be in the way of the next try
        folders = {folder for target in targets for folder in target.parents if folder != Path()}
        for remove, paths in ((Path.unlink, created), (Path.rmdir, sorted(folders, reverse=True))):
            for partial in paths:
                with contextlib.suppress(OSError):
                    remove(partial)
        raise ResultFileError(f"{path} cannot be written: {error.strerror}") from None
    print_message(f"written: {', '.join(str(path) for path in targets)}")
    install = [f"pip install --editable {shlex.quote('./' + name)}"] if package else []
    print_message(f"go on with: {' && '.join([*install, f'python {test}', f'{run} --trials 1e4'])}")
