"""The page of the command line: a section per command with its help, an example, its arguments and its options."""

import inspect
import re
import tomllib
from pathlib import Path

import click

#: Where the sections go, in the source of the page.
MARK = ".. commands\n"


def read_arguments():
    """The arguments of each command, in words."""
    return tomllib.loads((Path(__file__).parents[1] / "commands.toml").read_text())


def _rst(text):
    """Click's help as reStructuredText: backquotes and options are code."""
    pieces = re.split(r"(`+[^`]+`+|(?<![^\s(\[])--?[a-z][a-z-]*(?:=[^\s,;.]+)?(?=[\s,;:.)\]]|$))", text)
    pieces[::2] = [piece.replace("*", r"\*").replace("|", r"\|") for piece in pieces[::2]]
    pieces[::2] = [
        re.sub(r"(\d)\^(\d+)(?=[\s,;:.)]|$)", r"\1\\ :sup:`\2`", piece).replace("<=", "≤") for piece in pieces[::2]
    ]
    pieces[1::2] = [f"``{piece.strip('`')}``" for piece in pieces[1::2]]
    return "".join(pieces)


def _definitions(title, pairs):
    if not pairs:
        return []
    lines = [f".. rubric:: {title}", "", ".. list-table::", "   :class: options", "   :widths: auto", ""]
    for term, text in pairs:
        lines += [f"   * - {term}", f"     - {text}"]
    return [*lines, ""]


def command_section(name, command, about):
    """The lines of a command's section."""
    context = click.Context(command, info_name=f"fastcube {name}")
    title = f"fastcube {name}"
    usage = command.get_usage(context).removeprefix("Usage: ")
    lines = [title, "-" * len(title), "", *_rst(inspect.cleandoc(command.help or "")).splitlines(), ""]
    lines += [".. code-block:: console", "", f"   $ {command.epilog.splitlines()[-1].strip()}", ""]
    lines += [".. code-block:: text", "", *(f"   {line}" for line in usage.splitlines()), ""]
    arguments = [(f"``{key}``", _rst(text)) for key, text in about.items()]
    options = [
        (f"``{record[0]}``", " ".join(_rst(record[1]).split()))
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option) and (record := parameter.get_help_record(context))
    ]
    return [*lines, *_definitions("Arguments", arguments), *_definitions("Options", options)]


def add_sections(app, page, source):
    """Write the sections into the page."""
    if page == "cli":
        from fastcube.cli import AUDIT_COMMANDS, COMMANDS, group

        about = read_arguments()
        sections = []
        for name in (*COMMANDS, *AUDIT_COMMANDS):
            sections += command_section(name, group.get_command(None, name), about[name])
        source[0] = source[0].replace(MARK, "\n".join(sections))


def setup(app):
    app.connect("source-read", add_sections)
    return {"parallel_read_safe": True}
