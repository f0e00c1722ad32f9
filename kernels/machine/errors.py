"""Base classes of errors that kernel layouts raise; ``fastcube/errors.py`` defines all other errors."""

#: Message about a trial that uses a stateful random number generator.
NOT_OF_TRIAL = (
    "not a function of (key, t): a trial may use uniform(key, t, i) and random_below(key, t, i, m) of fc.blocks"
)

#: Most characters of a message.  A longer message, such as a path of thousands of nodes, is shortened in the middle.
_LONGEST = 900


def plain_text(text: str, most: int = 200) -> str:
    """Return text of unknown origin as one line without control characters, cut to ``most`` characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= most else line[: most - 3] + "..."


class FastcubeError(Exception):
    """Base of every error that fastcube raises on purpose.  Its text is one line of printable characters, whatever it quotes.

    Compiled code cannot format text, so it supplies a format string and the numbers for it.
    """

    __module__ = "fastcube.errors"  # the module from which users import it

    def __init__(self, text: str = "", *numbers: float | str) -> None:
        super().__init__(text.format(*numbers) if numbers else text)

    def __str__(self) -> str:
        text = super().__str__()
        line = text if text.isprintable() else plain_text(text, len(text))
        return line if len(line) <= _LONGEST else f"{line[: _LONGEST // 2]} ... {line[-_LONGEST // 2 + 5 :]}"


class ParameterError(FastcubeError, ValueError):
    """An argument is out of its range; the message names it, the range and the value got."""

    __module__ = "fastcube.errors"


class StudyError(FastcubeError, RuntimeError):
    """Code of a study raised an exception: a trial, a statistic, its notes, its figure.  The counts are not affected."""

    __module__ = "fastcube.errors"


class ImpossibleResultError(StudyError):
    """A user's function returned what cannot be true.  A run adds the trial to its text."""
