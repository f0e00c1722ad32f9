"""The one line on standard error with which a command ends after a user's mistake or an error of the system."""

from __future__ import annotations

import click

from ..errors import FastcubeError, plain_text, suggest_name


def _unknown_option_text(name: str, ctx: click.Context) -> str:
    """Return the message about an unknown option, with a similar option or the way to set an axis."""
    flags = [flag for parameter in ctx.command.params for flag in parameter.opts if flag.startswith("--")]
    if near := suggest_name(name.lstrip("-"), [flag[2:] for flag in flags]):
        return f"No such option '{name}'{near.replace('mean ', 'mean --')}"  # names are compared without dashes
    axes = ", and --set AXIS=VALUES sets an axis" if "--set" in flags else ""
    return f"No such option '{name}'; {ctx.command_path} -h shows the options{axes}"


def _missing_module_text(error: ImportError) -> str:
    """Return the message about a module that cannot be imported, of a package for which no command has tested."""
    package = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or not package:
        return f"a module cannot be imported: {plain_text(str(error), 400)}"
    if package == "fastcube":
        return f"this copy of fastcube lacks its module {error.name}: use git clone, or pip install"
    return f"the package {plain_text(package)} is missing: pip install {plain_text(package)}"


def _usage_error_text(error: click.ClickException) -> str:
    """Return the message about a wrong command line, in which each word of the user's is shortened; click repeats them whole."""
    ctx = getattr(error, "ctx", None)
    text = error.format_message()
    if isinstance(error, click.NoSuchOption) and ctx is not None:
        text = _unknown_option_text(error.option_name, ctx)
    sentence = " ".join(plain_text(word) for word in text.split())
    if isinstance(error, click.MissingParameter) and ctx is not None:
        return f"{sentence.removesuffix('.')}; {ctx.command_path} -h shows the usage"
    return sentence


def _system_error_text(error: OSError) -> str:
    """Return the message about an error of the operating system for which the command has no message of its own."""
    if error.errno is None:  # a library of machine code that cannot be loaded
        return plain_text(str(error))
    if error.filename is None:
        return f"output cannot be written: {error.strerror}"
    return f"{plain_text(str(error.filename))} cannot be used: {error.strerror}"


def error_text(error: Exception) -> str:
    """Return the message about an error that ends a command, on one line."""
    match error:
        case click.ClickException():
            return _usage_error_text(error)
        case FastcubeError():
            return str(error)
        case ImportError():
            return _missing_module_text(error)
        case OSError():
            return _system_error_text(error)
    return f"not enough memory{': ' * bool(str(error))}{plain_text(str(error))}"
