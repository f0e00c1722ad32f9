"""The errors that a subject's layout raises; ``fastcube/errors.py`` has the rest of their family, and names these too."""

#: What is said of a trial that draws from a state.
NOT_OF_TRIAL = (
    "not a function of (key, t): random numbers of a trial are fc.blocks.uniform(key, t, i) and below(key, t, i, m)"
)

#: Characters of a message that quotes more, such as a path of thousands: its begin and its end.
_LONGEST = 900


def plain_text(text: str, most: int = 200) -> str:
    """Text from elsewhere for one line of a terminal: without control characters, cut to ``most`` characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= most else line[: most - 3] + "..."


class FastcubeError(Exception):
    """Base of every error that fastcube raises on purpose.  As text one line of printable characters, whatever it quotes.

    Compiled code, which formats nothing, gives a text with places, and the numbers for them.
    """

    __module__ = "fastcube.errors"  # where users know it

    def __init__(self, text: str = "", *numbers: float) -> None:
        super().__init__(text.format(*numbers) if numbers else text)

    def __str__(self) -> str:
        text = super().__str__()
        line = text if text.isprintable() else plain_text(text, len(text))
        return line if len(line) <= _LONGEST else f"{line[: _LONGEST // 2]} ... {line[-_LONGEST // 2 + 5 :]}"


class ParameterError(FastcubeError, ValueError):
    """An argument is out of its range; the message names it, the range and the value got."""

    __module__ = "fastcube.errors"
