"""Checks of what ``fastcube slurm`` takes over for sbatch and for the shell: options of sbatch, a time limit, lines of set-up."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator

from ..errors import ParameterError, plain_text

#: A time limit in one of Slurm's formats.
_TIME = re.compile(r"\d{1,9}(:\d{1,2}){0,2}|\d{1,9}-\d{1,2}(:\d{1,2}){0,2}", re.ASCII)

#: Option of sbatch that would break the script, under any engine -> the reason, or the option of this command to use instead.
_OWNED = {
    **dict.fromkeys(("cpus-per-gpu", "cpus-per-task", "tres-per-task"), "use --cpus"),
    **dict.fromkeys(("mem", "mem-per-cpu", "mem-per-gpu"), "use --mem"),
    **dict.fromkeys(("ntasks", "ntasks-per-gpu"), "use --engine mpi --ranks"),
    **dict.fromkeys(("no-requeue", "requeue"), "the script requeues its tasks"),
    **dict.fromkeys(("open-mode", "output"), "the script writes its log"),
    **dict.fromkeys(("time", "time-min"), "use --time"),
    "array": "use --array and --max-running",
    "chdir": "use -o FOLDER/NAME",
    "job-name": "the script names its job and log",
    "signal": "use --margin",
    "test-only": "with it sbatch submits nothing",
    "wait": "the script submits jobs that wait for each other",
    "wrap": "the script is the job",
}

#: Further options that would break a task with threads, which is one process on one node.
_OWNED_THREADS = dict.fromkeys(
    ("nodes", "ntasks-per-core", "ntasks-per-node", "ntasks-per-socket"), "a task is one process on one node"
)

#: Short options of sbatch that would break the script, by their long names.
_SHORT = {
    "D": "chdir",
    "J": "job-name",
    "N": "nodes",
    "W": "wait",
    "a": "array",
    "c": "cpus-per-task",
    "n": "ntasks",
    "o": "output",
    "t": "time",
}

#: Short options of sbatch after which another short option may follow in one word.
_SHORT_FLAGS = "HIOQVWhksuv"


def _option_names(word: str) -> Iterator[str]:
    """Yield the long options that sbatch finds in a word, which may be abbreviated, and the short ones of ``_SHORT``."""
    if word.startswith("--"):
        yield word[2:].partition("=")[0]
    elif word.startswith("-"):
        for letter in word[1:]:
            if letter in _SHORT:
                yield _SHORT[letter]
            if letter not in _SHORT_FLAGS:
                return


def takes_whole_node(directives: Iterable[str]) -> bool:
    """Whether an option of sbatch is ``--exclusive``."""
    names = {name for text in directives for word in shlex.split(text) for name in _option_names(word)}
    return any(len(name) > 3 and "exclusive".startswith(name) for name in names)


def check_directives(directives: tuple[str, ...], engine: str) -> None:
    """Raise ParameterError for a text that is not an option of sbatch, or for an option that would break the script."""
    all_owned = _OWNED | (_OWNED_THREADS if engine == "threads" else {})
    for text in directives:
        if not re.match(r"-[A-Za-z]|--[a-z]", text):
            raise ParameterError(
                f"sbatch must be an option of sbatch, such as --account=physics, got {plain_text(text)}"
            )
        try:
            names = [name for word in shlex.split(text) for name in _option_names(word)]
        except ValueError as error:
            raise ParameterError(f"sbatch must be an option of sbatch, got {plain_text(text)} ({error})") from None
        for name in names:
            # sbatch takes the beginning of a name for the name; "time" is also one of "time-min"
            if owned := next((known for known in sorted(all_owned) if known.startswith(name)), ""):
                raise ParameterError(f"sbatch must not set {owned}, got {plain_text(text)}; {all_owned[owned]}")


def check_setup(lines: tuple[str, ...]) -> None:
    """Raise ParameterError for lines that bash cannot parse on their own, or that a scheduler would read as its options."""
    if directive := next((line for line in lines if re.match("#(SBATCH|PBS|BSUB)", line)), None):
        raise ParameterError(f"setup must be shell commands, got {plain_text(directive)}; use --sbatch")
    text, bash = "\n".join(lines) + "\n", shutil.which("bash")
    reason = "its last line would go on with the script's next" if text.endswith("\\\n") else ""
    if bash is not None and not reason:
        settings = {**os.environ, "LC_ALL": "C"}
        parsed = subprocess.run([bash, "-n"], input=text, env=settings, capture_output=True, text=True, check=False)
        reason = parsed.stderr.partition("\n")[0].removeprefix(f"{bash}: ")
    if reason:
        shown = plain_text(" ; ".join(lines))
        raise ParameterError(f"setup must be lines that bash can parse, got {shown} ({plain_text(reason)})")


def parse_time_limit(time: str) -> int:
    """Return a time limit in Slurm's format in seconds.  Raises ParameterError."""
    if not _TIME.fullmatch(time):
        raise ParameterError(
            f"time must be minutes, [hours:]minutes:seconds or days-hours[:minutes[:seconds]], got {plain_text(time)}"
        )
    days, dash, clock = time.rpartition("-")
    hours, minutes, seconds = [*map(int, clock.split(":")), 0, 0][:3]
    if not dash and clock.count(":") < 2:  # without days and hours the minutes come first
        hours, minutes, seconds = 0, hours, minutes
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds
