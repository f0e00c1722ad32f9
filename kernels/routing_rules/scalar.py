"""Routing rules on one trial at a time, for any n, faults, links and rules; the lane kernels give identical counts.

A trial has the fault set and the ends of ``routing`` with k = 1.  All rules run on it.  Facts about the trial that decide most
messages are computed once and passed to all rules (``rules.py`` defines them).  In ``trial(key, t, ...)`` t is the trial, beside
s it is the destination.

Parameters of the blocks: ``h`` is the Hamming distance of the message, ``results`` holds the result of each rule by its index in
the table, ``reach`` says whether a nonfaulty path exists (False for n > MAX_SEARCHED_DIMENSION, where that is not searched), and
``minimal`` is the answer of ``has_minimal_path``: 1 if one over h links exists, 0 if not, -1 if that is not known.  Faults are
*closed* when their unsafe subcubes are computed.
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
    is_faulty,
    next_sparing_set,
    unsafe_subcubes,
)
from ..machine.array_types import Ints
from ..machine.bits import ONE, ZERO, popcount
from ..machine.jit import Kernel, block, scratch
from ..machine.trials import trials_kernel
from ..routing.layout import MAX_SEARCHED_DIMENSION
from ..routing.rules import LIMIT, is_on_route
from ..routing.shortest import find_shortest_length
from ..tally.layout import Layout
from ..tally.maxima import offer
from ..tally.sums import add_quantity
from .layout import (
    FIRST_ELEMENT,
    LINKS,
    MOST_RULES,
    NAMES,
    REFERENCE,
    F,
    N,
    compared_rules,
    make_layout,
    promising_rules,
)
from .minimal_paths import MOST_SEARCHED_DIMENSIONS as MINIMAL_SEARCHED
from .minimal_paths import has_minimal_path
from .rules import (
    FAULTS_BETWEEN,
    FIRST_PATH_IS_CLEAR,
    FIRST_PATH_IS_UNSAFE,
    HAS_ACTIVE_NODE,
    POINT_KEY,
    REFUSED,
    RULES,
    SHARED_UNSAFE_SUBCUBE,
    TRIAL_NUMBER,
    UNKNOWN,
    RuleContext,
    rule_context_for,
)
from .safety_status import SafetyStatus, forget_safety_status, safety_status_for
from .user_rule_checks import are_believed, check_rule, make_path_checker, make_path_refuser


class Scratch(NamedTuple):
    """Scratch memory of trials at one point."""

    world: RuleContext  #: the trial as rules see it
    status: SafetyStatus  #: the nodes' safety levels and vectors
    results: Ints  #: result of each rule


@scratch(stored=True)
def set_up(params):
    """Return scratch memory for trials at (n, f, links) = params, of up to MOST_RULES rules."""
    n, f, links = np.int64(params[N]), np.int64(params[F]), np.int64(params[LINKS])
    faults = faults_for(n, f, links, np.int64(2))
    world = rule_context_for(n, faults, min(n, np.int64(MINIMAL_SEARCHED)))
    return Scratch(world, safety_status_for(n, f, links), np.zeros(MOST_RULES, np.int64))


@block(always=True, stored=True)
def begin_trial(scratch, trial):
    """Begin a trial, whose faults are closed: discard the safety statuses of the trial before."""
    forget_safety_status(scratch.status, scratch.world.faults)
    scratch.world.now[TRIAL_NUMBER] = np.uint64(trial)


@block(always=True, stored=True)
def find_facts(world, s, t):
    """Compute the facts that decide most messages (``rules``) from closed faults.

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


def make_route_recorder(layout: Layout, names: Sequence[str]) -> Any:
    """Return the block ``record_route(tally, i, result, h, trial)``, which tallies the result of rule i."""
    delivered, at_hamming, limit = (
        tuple(int(layout.counter(f"{name}_{end}")) for name in names) for end in ("delivered", "at_hamming", "limit")
    )
    extra_links = tuple(layout.moments(f"{name}_extra_links") for name in names)
    most_extra = tuple(int(layout.maximum(f"{name}_most")) for name in names)

    @block(always=True)
    def record_route(tally, i, result, h, trial):
        if result >= 0:
            tally[delivered[i]] += 1
            tally[at_hamming[i]] += result == h
            add_quantity(tally, extra_links[i], result - h)
            offer(tally, most_extra[i], result - h, trial)
        else:
            tally[limit[i]] += result == LIMIT

    return record_route


def make_rules_recorder(layout: Layout, names: Sequence[str]) -> Any:
    """Return the block ``record_rules(tally, results, h, reach, trial)``, which tallies the results of all rules."""
    count, record_route = len(names), make_route_recorder(layout, names)
    refused, unknown, loss = (
        tuple(int(layout.counter(f"{name}_{end}")) for name in names) for end in ("refused", "unknown", "loss")
    )

    @block(always=True)
    def record_rules(tally, results, h, reach, trial):
        for i in range(count):
            result = results[i]
            record_route(tally, i, result, h, trial)
            if result < 0:
                tally[refused[i]] += result == REFUSED
                tally[unknown[i]] += result == UNKNOWN
                tally[loss[i]] += reach

    return record_rules


#: In place of the index of a result, for a rule that is not run: it delivers in every trial, or if the first path is clear.
ALWAYS, IF_CLEAR = -1, -2


def make_comparison_recorder(layout: Layout, names: Sequence[str], reference: str, indices: Mapping[str, int]) -> Any:
    """Return the block ``record_compared(tally, results, clear)``, which tallies each rule's delivery less the reference rule's.

    ``indices`` has the index of each rule's result in ``results``, or ALWAYS or IF_CLEAR.  ``clear`` says whether the first path
    has no fault.
    """
    pairs = tuple(
        (indices[name], int(layout.counter(f"{name}_diff")), int(layout.counter(f"{name}_differs")))
        for name in compared_rules(names, reference)
    )
    reference_index, has_pairs = indices.get(reference, ALWAYS), len(pairs) > 0

    @block(always=True)
    def is_delivered(results, index, clear):
        return np.int64(results[index] >= 0 if index >= 0 else index == ALWAYS or clear)

    @block(always=True)
    def record_pairs(tally, results, clear):
        by_reference = is_delivered(results, reference_index, clear)
        for index, diff_slot, differs_slot in pairs:
            diff = is_delivered(results, index, clear) - by_reference
            tally[diff_slot] += diff
            tally[differs_slot] += diff != 0

    @block(always=True)
    def record_compared(tally, results, clear):
        if has_pairs:
            record_pairs(tally, results, clear)

    return record_compared


def make_trial_recorder(layout: Layout, names: Sequence[str], reference: str) -> Any:
    """Return the block ``record_trial(tally, results, h, reach, minimal, trial)`` for the counters of ``layout.make_layout``.

    The block tallies one trial: the results of all rules, their comparisons, and which paths exist.
    """
    record_rules = make_rules_recorder(layout, names)
    reachable_slot, exists_slot, known_slot = (
        int(layout.counter(c)) for c in ("reachable", "hamming_path_exists", "hamming_path_known")
    )
    record_compared = make_comparison_recorder(layout, names, reference, {name: i for i, name in enumerate(names)})
    promising = tuple((names.index(name), int(layout.maximum(f"{name}_wrong"))) for name in promising_rules(names))

    @block(always=True)
    def record_wrong(tally, results, h, trial):
        for i, slot in promising:
            # a rule whose status promises a path delivers over H or H + 2 links
            is_as_promised = results[i] in (REFUSED, UNKNOWN, h, h + 2)
            offer(tally, slot, np.int64(not is_as_promised), trial)

    has_promising = len(promising) > 0

    @block(always=True)
    def record_trial(tally, results, h, reach, minimal, trial):
        record_rules(tally, results, h, reach, trial)
        tally[reachable_slot] += reach
        tally[exists_slot] += minimal == 1
        tally[known_slot] += minimal >= 0
        record_compared(tally, results, False)
        if has_promising:
            record_wrong(tally, results, h, trial)

    return record_trial


def make_evaluator(rules: Sequence[Any], names: Sequence[str], layout: Layout, reference: str) -> Any:
    """Return the block ``evaluate(scratch, s, t, trial, tally)``: run all rules on closed faults, and tally."""
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


def make_sets_kernel(rules: Sequence[Any], names: Sequence[str]) -> Kernel:
    """Return the kernel of all C(2^n - 1, f) fault sets and messages from node 0, with params (n, f, 0, 0, 1, ..., f - 1).

    The rules must not be randomised, because ``RuleContext.now`` is not set.
    """
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
    """Return the kernel that finds the first of all C(2^n - 1, f) fault sets at which a rule loses a message from node 0.

    A message is lost if it is not delivered, to a nonfaulty node that a path reaches.  Trial t is set number t, and ``params``
    and ``rule`` are as in ``make_sets_kernel``.  The tally is a maximum: 1, and (t << n) + destination of the first lost message.
    Lengths of a user's rule are compared with the shortest path.
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


#: Kernel of the study ``routing-rules`` at (n, f, links) = params; see ``layout.ROUTING_RULES``.
ROUTING_RULES_SINGLE = make_kernel(tuple(RULES.values()), NAMES)
