"""Checks of what users' rules return, so that an impossible result ends a run instead of entering a table.

A result is possible if it is a reason of failure, or the length of a walk between the ends: at least the Hamming distance H, and
odd exactly if H is odd.  Each result is checked for that.  In some trials (``are_believed``) the paths of users' rules are
compared with searches as well, because searches in all trials took 12% of the time of a table of one rule in Q_10.  Built-in
rules are tested against reference implementations and not checked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..machine.bits import popcount
from ..machine.errors import ImpossibleResultError
from ..machine.jit import block, require_integer, scratch
from .layout import NAMES, fallback_of
from .rules import UNKNOWN, first_path

#: Largest number of links of a route.  The sum of 2^22 squares of it fits into the int64 of a work unit.
MOST_LINKS = np.int64(1 << 20)

#: Message about a rule that delivers where it cannot, with its name and its number of links.
_NO_PATH = "rule {0} must return the number of links of a path without faults, got {1}, and no such path has {1} links or fewer"

#: Users' paths are compared with searches in the trials below the first number, and in those that the second one divides.
_FIRST_TRIALS, _EACH = np.int64(1024), np.int64(16)


@block(always=True)
def are_believed(trial):
    """Whether paths of users' rules are not compared with searches in this trial."""
    return trial >= _FIRST_TRIALS and trial % _EACH != 0


@block(always=True)
def is_possible(links, h):
    """Whether ``links`` is a reason of failure, or the length of a walk between nodes of Hamming distance ``h``."""
    return h <= links <= MOST_LINKS and (links ^ h) & 1 == 0 if links >= 0 else links >= UNKNOWN


def check_rule(rule: Any, name: str) -> Any:
    """Return the user's rule ``name`` as a block that raises ImpossibleResultError for an impossible result.

    A rule that returns no integer is not compiled.
    """
    fallback = fallback_of(rule)
    if fallback is not None:
        return first_path(check_rule(fallback, name))
    code = getattr(rule, "py_func", rule).__code__
    says = (
        f"rule {name} must return links between nodes {{0}} bits apart, that is {{0}}, {{1}}, {{2}}, ... up to 2^20, or STUCK, "
        "LIVELOCK, LIMIT, LOST or REFUSED (-1 to -5), got {3}"
    )

    @scratch  # a block cannot raise an exception with numbers, which allocates
    def refuse(h, links):
        raise ImpossibleResultError(says, h, h + 2, h + 4, links)

    @block(always=True)
    def run_rule(world, status, s, t):
        return rule(world, status, s, t)

    run_rule = require_integer(
        run_rule, f"rule {name} ({code.co_filename}, line {code.co_firstlineno}) must return an integer"
    )

    @block(always=True)
    def run_checked(world, status, s, t):
        links, h = np.int64(run_rule(world, status, s, t)), popcount(s ^ t)
        if not is_possible(links, h):
            refuse(h, links)
        return links

    return run_checked


def make_path_refuser(names: Sequence[str]) -> Any:
    """Return the function ``refuse_path(i, links)``, which says that no path lets rule i deliver over so many links."""
    rules = tuple(names)

    @scratch
    def refuse_path(i, links):
        raise ImpossibleResultError(_NO_PATH, rules[i], links)

    return refuse_path


def make_path_checker(names: Sequence[str]) -> Any:
    """Return the block ``check_paths(results, h, minimal, may_reach)``, which returns ``minimal`` after the results of rules.

    ``minimal`` is 1 if a nonfaulty path over the Hamming distance h exists, 0 if not and -1 if that is not known; ``may_reach``
    says whether any nonfaulty path may exist.  The block raises ImpossibleResultError if a user's rule delivers over a path that
    these exclude.  Where ``minimal`` is not known, a user's rule that delivers over h links is believed, so 1 is returned.
    """
    user_rules = tuple(i for i, name in enumerate(names) if name not in NAMES)
    refuse_path = make_path_refuser(names)

    @block(always=True)
    def check_paths(results, h, minimal, may_reach):
        for i in user_rules:
            if results[i] >= 0 and (not may_reach or (minimal == 0 and results[i] == h)):
                refuse_path(i, results[i])
            if results[i] == h:
                minimal = np.int64(1)
        return minimal

    return check_paths
