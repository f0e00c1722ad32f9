"""Routing rules under all fault sets of a small cube: every message from node 0, counted or searched for the first loss.

Trial t is number t of the C(2^n - 1, f) sets of f nodes without node 0, in the order of ``next_sparing_set``.  From
FIRST_ELEMENT on ``params`` holds the set of the next trial, as ascending labels less 1, and each trial advances it.  So a call
begins at trial 0 with params (n, f, 0, 0, 1, ..., f - 1), or where the call before ended.  Rules must not be randomised, because
nothing sets ``RuleContext.now``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..draws.faults import is_faulty, next_sparing_set, unsafe_subcubes
from ..machine.bits import ZERO
from ..machine.jit import Kernel, block
from ..machine.trials import trials_kernel
from ..routing.shortest import find_shortest_length
from ..tally.maxima import offer
from .layout import FIRST_ELEMENT, NAMES, REFERENCE, make_layout
from .safety_status import forget_safety_status
from .scalar import find_facts, make_evaluator, set_up
from .user_rule_checks import check_rule, make_path_refuser


def make_sets_kernel(rules: Sequence[Any], names: Sequence[str]) -> Kernel:
    """Return the kernel that tallies all messages from node 0 (``layout.make_layout``) under a table of built-in rules."""
    evaluate = make_evaluator(rules, names, make_layout(names), REFERENCE)

    @block
    def trial_of_set(key, t, params, scratch, tally):
        world = scratch.world
        next_sparing_set(world.n, params[FIRST_ELEMENT:], world.faults)
        unsafe_subcubes(world.faults)
        forget_safety_status(scratch.status, world.faults)
        for x in range(1, 1 << world.n):
            if not is_faulty(world.faults, np.uint64(x)):
                evaluate(scratch, ZERO, np.uint64(x), t, tally)

    return trials_kernel(set_up, trial_of_set)


def make_first_loss_kernel(rule: Any, name: str) -> Kernel:
    """Return the kernel that finds the first fault set at which a rule loses a message from node 0.

    A message is lost if it is not delivered although a nonfaulty path exists.  The tally is a maximum: 1, and (t << n) +
    destination of the first lost message.  Lengths of a user's rule are compared with the shortest path.
    """
    is_own = name not in NAMES
    route = check_rule(rule, name) if is_own else rule
    refuse_path = make_path_refuser((name,))

    @block
    def first_loss(key, t, params, scratch, tally):
        world, status = scratch.world, scratch.status
        next_sparing_set(world.n, params[FIRST_ELEMENT:], world.faults)
        unsafe_subcubes(world.faults)
        forget_safety_status(status, world.faults)
        for x in range(1, 1 << world.n):
            to = np.uint64(x)
            if not is_faulty(world.faults, to):
                find_facts(world, ZERO, to)
                links = route(world, status, ZERO, to)
                if is_own or links < 0:
                    shortest = find_shortest_length(world.faults, ZERO, to, world.n, world.cube)
                    if links < 0 and shortest >= 0:
                        offer(tally, 0, np.int64(1), (t << world.n) + x)
                    if is_own and links >= 0 and (shortest < 0 or links < shortest):
                        refuse_path(0, links)

    return trials_kernel(set_up, first_loss)
