"""Progress reports: one rewritten line on a terminal or in a notebook, or a line with the time every 30 s in a log.

Trials that were read from a file do not count for the speed.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections import deque
from typing import TextIO

from ..errors import ParameterError, command_line_text

#: Seconds until the first line of a run that compiles, so that a person soon sees why nothing is counted.
_SOON = 1.0

#: The styles of a report; ``auto`` chooses between the next two.
STYLES = ("auto", "bar", "lines", "none")


def clock_text(seconds: float) -> str:
    """Return a duration as ``[Dd ]HH:MM:SS``."""
    days, rest = divmod(round(seconds), 86400)
    return (f"{days}d " if days else "") + f"{rest // 3600:02d}:{rest % 3600 // 60:02d}:{rest % 60:02d}"


def _fit_parts(parts: list[str], fraction: float | None, width: int) -> str:
    """Return the bar and as many parts as fit into ``width``; only the last part may be cut, at a word."""
    blocks = 20 if width >= 72 else width // 6
    full = int(blocks * min(1.0, fraction or 0.0))
    line = "" if fraction is None else "█" * full + "░" * (blocks - full) + " "
    *first, last = [part for part in parts if part]
    for part in first:
        gap = "  " if line and not line.endswith(" ") else ""
        if len(line + gap + part) > width:
            return line
        line += gap + part
    space = width - len(line) - 2
    cut = last if len(last) <= space else last[: max(0, space) + 1].rpartition(" ")[0]
    return f"{line}  {cut}" if cut else line


class Progress:
    """Reports the number of finished trials out of the wanted trials.

    Parameters
    ----------
    style : str
        ``auto`` (bar on a terminal and in a notebook, else lines), ``bar``, ``lines`` or ``none``.
    file : text file
        The output; standard error by default.
    unit : str
        The word for what is counted.

    Raises
    ------
    ParameterError
        If ``style`` is unknown.
    """

    def __init__(self, style: str = "auto", file: TextIO | None = None, unit: str = "trials") -> None:
        if not isinstance(style, str) or style not in STYLES:
            raise ParameterError(f"progress must be one of {', '.join(STYLES)}, got {command_line_text(style)}")
        self.file, self.unit = file or sys.stderr, unit
        terminal = self.file.isatty() if hasattr(self.file, "isatty") else False
        notebook = type(self.file).__module__.startswith("ipykernel.")  # notebooks rewrite a line too
        self.style = ("bar" if terminal or notebook else "lines") if style == "auto" else style
        self.every = (1.0 if notebook else 0.2) if self.style == "bar" else 30.0
        self.begun = time.monotonic()
        self.last = self.begun  #: time of the last report
        self.counting = self.begun  #: time from which the rate of the whole run is computed: without compiling
        self.before = 0  #: trials that were done before this run
        #: Times of the last reports and the trials done by then, from which the present rate is computed.
        self.window: deque[tuple[float, int]] = deque([(self.begun, 0)], maxlen=64)
        self.shown = 0  #: characters of the bar on the line, which the next text must overwrite

    def start(self, done: int) -> None:
        """Record the trials that were done before this run."""
        self.window[0] = self.begun, done
        self.before = done

    def note_first_trials(self, seconds: float) -> None:
        """Record that the first trials took ``seconds``; the time before them was compiling, which is left out of the rate."""
        _, done = self.window.popleft()
        self.counting = time.monotonic() - seconds
        self.window.appendleft((self.counting, done))

    def note_compiling(self, seconds: float) -> None:
        """Leave ``seconds`` out of the rate, in which workers compiled a kernel or waited for one instead of counting."""
        self.counting += seconds
        self.window = deque(((at + seconds, done) for at, done in self.window), self.window.maxlen)

    def is_due(self, final: bool = False, compiles: bool = False) -> bool:
        """Whether ``update`` would report now; check first, because adding up the trials takes time.

        A log gets its first line soon if a run ``compiles``.
        """
        if self.style == "none":
            return False
        soon = compiles and self.last == self.begun
        return final or time.monotonic() - self.last >= (min(_SOON, self.every) if soon else self.every)

    @property
    def interval(self) -> float:
        """Longest time to wait between two looks at ``is_due``."""
        return min(_SOON, self.every) if self.last == self.begun else self.every

    def update(self, done: int, wanted: int | None, where: str, final: bool = False, compiling: str = "") -> None:
        """Report the progress.

        ``wanted`` is None if unknown.  ``where`` is the present point with its estimate, ``compiling`` what is compiled.
        """
        if self.style == "none":
            return
        self.last = now = time.monotonic()
        began, before = (self.counting, self.before) if final else self.window[0]
        rate = (done - before) / (now - began) if now > began else 0.0
        self.window.append((now, done))
        parts = [f"{100 * done / wanted:5.1f}%" if wanted else f"{done:,} {self.unit}"]
        if now > began and (rate > 0 or not compiling):  # else workers compiled all the time, and the rate is unknown
            parts.append(f"{rate:.3g} {self.unit}/s")
        if compiling:
            parts.append(compiling)
        if final:
            parts.append(f"{clock_text(now - self.begun)} elapsed")
        elif wanted and rate > 0 and not compiling:  # another kernel will count at another speed
            parts.append(f"{clock_text(max(0, wanted - done) / rate)} left")
        self._write([*parts, where], done / wanted if wanted else None, final)

    def count(
        self, done: int, wanted: int, what: str, where: str, final: bool = False, left: float | None = None
    ) -> None:
        """Report ``done`` of ``wanted`` things called ``what``, which take different times; ``left`` is in seconds, or None."""
        if self.style == "none":
            return
        self.last = now = time.monotonic()
        parts = [f"{done} of {wanted} {what}", f"{clock_text(now - self.begun)} elapsed"]
        if left is not None and not final:
            parts.append(f"{clock_text(left)} left")
        self._write([*parts, where], done / wanted, final)

    def print_line(self, text: str) -> None:
        """Print a separate line, above the bar if there is one."""
        with contextlib.suppress(OSError, ValueError):  # a closed pipe must not end the run
            if self.shown:
                self.file.write("\r" + " " * self.shown + "\r")
                self.shown = 0
            self.file.write(text + "\n" if text else "")
            self.file.flush()

    def _write(self, parts: list[str], fraction: float | None, final: bool) -> None:
        try:
            if self.style == "bar":
                width = max(20, shutil.get_terminal_size().columns - 1)
                line = _fit_parts(parts, fraction, width)
                self.file.write("\r" + line.ljust(min(self.shown, width)) + ("\n" if final else ""))
                self.shown = 0 if final else len(line)
            else:
                text = "  ".join(part for part in parts if part)
                self.file.write(time.strftime("%Y-%m-%dT%H:%M:%S  ") + text + "\n")
            self.file.flush()
        except (OSError, ValueError):
            self.style = "none"  # a closed pipe must not end the run
