"""Generated command lines, with values right, odd and hostile, and how each must end."""

import faulthandler
import logging
import re
import warnings

import pytest

from fastcube.cli import main
from helpers.processes import STUCK_SECONDS

#: Tried for every option and argument.
HOSTILE = [
    "", " ", "-", "--", "-1", "0", "1", "-0", "+1", "1e999999999", "1e-999999999", "nan", "inf", "-inf", "1.5", "0x10", "²",
    "1_000", "١٢",
    "9" * 400, "x" * 300, "x" * 5000, "a\nb", "\x1b[2J", "\r", "é" * 100, "\udcff", "../../etc/passwd", "/dev/zero",
    "/dev/full", "/", ".", "..", "~", "*", "$(reboot)", "';", '"', "n=5", "=", "=5", "a=", "a=1,work=0", "1,2,3", "1:2:3", "5:1",
    "0:1e9", "0:1e18:1e-9", "%", "1%", "1/0", "0/1", "1/2", "3/2", "True", "None", "[]", "{}", "{0.__class__}", "%s%n", "-h",
    "--force", "no.h5", "no.py", "no.py:NAME", "d.py", "d.h5", "text.h5", "cut.h5", "r.h5", "toy", "lee_hayes", "table",
    "unsafe-fraction",
]  # a table, row by row # fmt: skip


def generate_line(rng, lines, needed, often=()):
    """One command line: most values as they should be, some not.

    ``lines`` has for each command the usual values of its arguments and of its options (None where an option takes no value),
    ``needed`` the options without which a command asks for them.
    """
    name = rng.choice([*lines, *often])
    arguments, options = lines[name]

    def value(usual):
        return rng.choice(HOSTILE) if rng.random() < 0.15 else rng.choice(usual)

    line = [value(usual) for usual in arguments]
    chosen = [*needed.get(name, []), *rng.sample(sorted(options), rng.randrange(min(5, len(options) + 1)))]
    for option in dict.fromkeys(chosen):
        usual = options[option]
        line += [option] if usual is None else [option, value(usual)]
    if rng.random() < 0.03:
        line.append(rng.choice(HOSTILE))
    return [name, *line]


#: Output that may stand before a refusal: news, the log where -v asks for it, a bar where one is asked for.
PASSING = re.compile(
    r"(fastcube: )?(compiling|waiting)|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d +(fastcube|\d+\.\d%|[\d,]+ trials)|[█░]+ +\d+\.\d%"
)


def check_end(line, code, out, said):
    """Exit status and words as they should be: 1 says that files differ, or that trials are missing."""
    outcome = f"{line!r}: {code}\n{said[-2000:]}"
    assert code in {0, 2, 75} or (line[0], code) in {("diff", 1), ("status", 1)}, outcome
    assert "Traceback" not in said + out, outcome
    if code == 2:
        lines = [
            s for s in said.replace("\r", "\n").split("\n") if s.strip() and not PASSING.match(s)
        ]  # a log, where -v asks for one, has lines of its own
        assert len(lines) == 1, outcome
        assert lines[0].startswith("fastcube: "), outcome
        assert lines[0].isprintable(), outcome
        assert len(lines[0]) < 1000, outcome


class _LeftError(Exception):
    """The process would have ended."""


def leaves(code):
    raise _LeftError(code)


def run_line(line):
    """Run a command line in this process and return its exit status; ``exit_process`` must be replaced by ``leaves``."""
    log = logging.getLogger("fastcube")
    faulthandler.dump_traceback_later(STUCK_SECONDS, exit=True)  # a hang ends here
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            main(line)
        return 0
    except (SystemExit, _LeftError) as ended:
        return ended.args[0] if ended.args else 0
    except BaseException as error:
        pytest.fail(f"{line!r} raised {type(error).__name__}: {error}")
    finally:
        faulthandler.cancel_dump_traceback_later()
        log.handlers[:] = []  # a process has one command line: the effect of -v ends with it
        log.setLevel(logging.NOTSET)
