"""Routing rules on one trial at a time, for any n, faults, links and rules; the lane kernels give identical counts.

A trial has the fault set and the ends of ``routing`` with k = 1.  All rules of a table run on it.  Facts about the trial that
decide most messages are computed once and passed to all rules; ``rules.py`` defines them, and unsafe subcubes.  Faults are
*closed* when their unsafe subcubes are computed.

A trial takes these steps: sample faults and ends, close the faults, ``begin_trial``, ``find_facts``, run the rules, search for
the paths that no result has shown to exist, tally (``recorders.py``, which also explains ``results``, ``h``, ``reach`` and
``minimal``).  Lane kernels take the first three steps themselves.  In ``trial(key, t, ...)`` t is the trial, beside s it is the
destination.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..draws.faults import (
    FAULTY_LINKS,
    FAULTY_NODES,
    SUBCUBES,
    draw,
    faults_for,
    unsafe_subcubes,
)
from ..machine.array_types import Ints
from ..machine.bits import ONE, ZERO, popcount
from ..machine.jit import Kernel, block, scratch
from ..machine.trials import trials_kernel
from ..routing.layout import MAX_SEARCHED_DIMENSION
from ..routing.rules import is_on_route
from ..routing.shortest import find_shortest_length
from ..tally.layout import Layout
from .layout import LINKS, MOST_RULES, NAMES, REFERENCE, F, N, make_layout
from .minimal_paths import MOST_SEARCHED_DIMENSIONS as MINIMAL_SEARCHED
from .minimal_paths import has_minimal_path
from .recorders import ALWAYS, IF_CLEAR, make_comparison_recorder, make_rules_recorder, make_trial_recorder
from .rules import (
    FAULTS_BETWEEN,
    FIRST_PATH_IS_CLEAR,
    FIRST_PATH_IS_UNSAFE,
    HAS_ACTIVE_NODE,
    POINT_KEY,
    RULES,
    SHARED_UNSAFE_SUBCUBE,
    TRIAL_NUMBER,
    RuleContext,
    rule_context_for,
)
from .safety_status import SafetyStatus, forget_safety_status, safety_status_for
from .user_rule_checks import are_believed, check_rule, make_path_checker


class Scratch(NamedTuple):
    """Scratch memory of trials at one point."""

    world: RuleContext  #: the trial as rules see it
    status: SafetyStatus  #: the nodes' safety levels and vectors
    results: Ints  #: (MOST_RULES): result of each rule, by its index in the table


@scratch(stored=True)
def set_up(params):
    """Return scratch memory for trials at (n, f, links) = params, of up to MOST_RULES rules."""
    n, f, links = np.int64(params[N]), np.int64(params[F]), np.int64(params[LINKS])
    faults = faults_for(n, f, links, np.int64(2))
    world = rule_context_for(n, faults, min(n, np.int64(MINIMAL_SEARCHED)))
    return Scratch(world, safety_status_for(n, f, links), np.zeros(MOST_RULES, np.int64))


@block(always=True, stored=True)
def begin_trial(scratch, trial):
    """Begin a trial, whose faults are closed: discard the safety statuses of the trial before, and set the trial's number.

    The point's key, which randomised rules need too, is set by the caller.
    """
    forget_safety_status(scratch.status, scratch.world.faults)
    scratch.world.now[TRIAL_NUMBER] = np.uint64(trial)


@block(always=True, stored=True)
def find_facts(world, s, t):
    """Compute ``RuleContext.facts`` from closed faults.

    Inlined, because a call would pass a hundred arguments: the arrays of ``world``.
    """
    faults, facts = world.faults, world.facts
    difference = s ^ t
    first_path_clear, first_path_unsafe, has_active = True, False, True
    between, shared = np.int64(0), np.int64(-1)
    for i in range(faults.size[FAULTY_NODES]):
        from_s = faults.labels[i] ^ s
        first_path_clear &= not is_on_route(from_s, faults.labels[i] ^ t)
        between += from_s & ~difference == ZERO
    for j in range(faults.size[FAULTY_LINKS]):
        x, bit = faults.lower[j], ONE << faults.dims[j]  # the first path uses the link if both its ends are on the path
        first_path_clear &= not (is_on_route(x ^ s, x ^ t) and is_on_route(x ^ bit ^ s, x ^ bit ^ t))
        between += bit & difference != ZERO and (x ^ s) & ~difference & ~bit == ZERO
    for i in range(faults.size[SUBCUBES]):
        fixed = ~faults.free[i]
        from_s, from_t = (faults.base[i] ^ s) & fixed, (faults.base[i] ^ t) & fixed
        first_path_unsafe |= is_on_route(from_s, from_t)
        has_active &= faults.free[i] != world.whole
        if from_s | from_t == ZERO:  # both ends are in the subcube
            shared = np.int64(i)
    facts[FIRST_PATH_IS_CLEAR] = first_path_clear
    facts[FIRST_PATH_IS_UNSAFE] = first_path_unsafe
    facts[HAS_ACTIVE_NODE] = has_active
    facts[SHARED_UNSAFE_SUBCUBE] = shared
    facts[FAULTS_BETWEEN] = between


def make_rules_runner(rules: Sequence[Any], names: Sequence[str]) -> Any:
    """Return the block ``run_rules(world, status, s, t, results)``, which writes the result of each rule to ``results``.

    Results of users' rules are checked.
    """

    @block(always=True)
    def run_rules(world, status, s, t, results):
        pass

    for i, (rule, name) in reversed(list(enumerate(zip(rules, names, strict=True)))):
        run_rules = _prepend_rule(rule if name in NAMES else check_rule(rule, name), i, run_rules)
    return run_rules


def _prepend_rule(rule: Any, i: int, rest: Any) -> Any:
    @block(always=True)
    def run_rules(world, status, s, t, results):
        results[i] = rule(world, status, s, t)
        rest(world, status, s, t, results)

    return run_rules


def make_evaluator(rules: Sequence[Any], names: Sequence[str], layout: Layout, reference: str) -> Any:
    """Return the block ``evaluate(scratch, s, t, trial, tally)``: run all rules on closed faults, and tally.

    A path of h links exists if a rule whose result is believed took one, or if fewer than h faults are between the ends: h paths
    inside the subcube of s and t share no node but the ends, and each fault is on one of them at most.  Only in other trials is
    one searched.
    """
    run_rules, record_trial = make_rules_runner(rules, names), make_trial_recorder(layout, names, reference)
    count, is_built_in = len(rules), tuple(name in NAMES for name in names)
    check_paths, has_user_rules = make_path_checker(names), not all(is_built_in)

    @block(always=True)
    def evaluate(scratch, s, t, trial, tally):
        world, status, results = scratch
        h = popcount(s ^ t)
        find_facts(world, s, t)
        run_rules(world, status, s, t, results)
        some_delivers, some_at_hamming = False, False
        believed = not has_user_rules or are_believed(trial)
        for i in range(count):
            some_delivers |= (is_built_in[i] or believed) and results[i] >= 0
            some_at_hamming |= (is_built_in[i] or believed) and results[i] == h
        minimal = (
            np.int64(1)
            if some_at_hamming or world.facts[FAULTS_BETWEEN] < h
            else has_minimal_path(world.faults, s, t, world.between)
        )
        reach = False
        if world.n <= MAX_SEARCHED_DIMENSION:
            reach = some_delivers or minimal == 1 or find_shortest_length(world.faults, s, t, world.n, world.cube) >= 0
        if has_user_rules:
            minimal = check_paths(results, h, minimal, reach or world.n > MAX_SEARCHED_DIMENSION)
        record_trial(tally, results, h, reach, minimal, trial)

    return evaluate


def make_user_rule_evaluator(
    user_rules: Mapping[str, Any], names: Sequence[str], layout: Layout, reference: str
) -> Any:
    """Return the block ``evaluate(scratch, s, t, trial, tally)`` for users' rules.

    It is for trials whose built-in rules lanes have counted.  In these trials a nonfaulty path exists, else lanes would not have
    decided the built-in rules.  All of these deliver, but ROUTE only if its path is clear.
    """
    run_rules, record_rules = (
        make_rules_runner(tuple(user_rules.values()), tuple(user_rules)),
        make_rules_recorder(layout, tuple(user_rules)),
    )
    indices = dict.fromkeys(names, ALWAYS) | {"route": IF_CLEAR} | {name: i for i, name in enumerate(user_rules)}
    record_compared = make_comparison_recorder(layout, names, reference, indices)

    @block(always=True)
    def evaluate(scratch, s, t, trial, tally):
        world, status, results = scratch
        find_facts(world, s, t)
        run_rules(world, status, s, t, results)
        record_rules(tally, results, popcount(s ^ t), world.n <= MAX_SEARCHED_DIMENSION, trial)
        record_compared(tally, results, world.facts[FIRST_PATH_IS_CLEAR] != 0)

    return evaluate


def make_trial(rules: Sequence[Any], names: Sequence[str], layout: Layout, reference: str) -> Any:
    """Return the block ``trial(key, t, params, scratch, tally)`` of a table of rules."""
    evaluate = make_evaluator(rules, names, layout, reference)

    @block
    def trial(key, t, params, scratch, tally):
        world = scratch.world
        draw(key, t, world.n, world.faults)
        unsafe_subcubes(world.faults)
        world.now[POINT_KEY] = key
        begin_trial(scratch, t)
        evaluate(scratch, world.faults.ends[0], world.faults.ends[1], t, tally)

    return trial


def make_kernel(rules: Sequence[Any], names: Sequence[str], code: Any = None, reference: str = REFERENCE) -> Kernel:
    """Return the kernel of a table of rules at (n, f, links) = params; see ``layout.make_layout``."""
    return trials_kernel(set_up, make_trial(rules, names, make_layout(names, reference), reference), code=code)


#: Kernel of the study ``routing-rules`` at (n, f, links) = params; see ``layout.ROUTING_RULES``.
ROUTING_RULES_SINGLE = make_kernel(tuple(RULES.values()), NAMES)
