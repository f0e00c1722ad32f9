"""Trials of routing rules by kernel, and by the plain reference."""

from __future__ import annotations

from collections import Counter

import numpy as np
from reference import routing as lee_hayes
from reference.routing_rules import Cube
from reference.unsafe import find_unsafe

import fastcube as fc
from fastcube.kernels.routing_rules import replay
from fastcube.kernels.routing_rules.layout import BLIND_RULES, COMPARED_RULES, PROMISING_RULES
from fastcube.kernels.routing_rules.rules import RULES
from fastcube.networks.faults import RandomFaults
from helpers.routing_rules_drawing import sidetrack_chooser


def reference_routes(rules, n, faults, cut, s, t, choice):
    """Route one message by each rule, in plain Python: the outcome, and the links beyond the Hamming distance."""
    old, new = lee_hayes.Cube(n, faults, cut), Cube(n, faults, cut)
    out = {}
    for rule in rules:
        if rule == "ROUTE3" and old.is_unsafe():
            outcome, path = "refused", [s]
        elif rule in ("ROUTE", "ROUTE1", "ROUTE3"):
            outcome, path = old.route(rule, s, t)
        else:
            outcome, path = new.route(rule, s, t, choice)
        out[rule.lower()] = outcome, len(path) - 1 - (s ^ t).bit_count()
    return out


def record_routes(counts, maxima, found, trial):
    """Enter into a tally what :func:`reference_routes` finds."""
    for name, (outcome, extra) in found.items():
        if outcome != "delivered":
            counts[f"{name}_{outcome}"] += 1
            continue
        counts[f"{name}_delivered"] += 1
        counts[f"{name}_at_hamming"] += extra == 0
        counts[f"{name}_extra_links"] += extra
        counts[f"{name}_extra_squares"] += extra**2
        counts[f"{name}_above_hamming"] += extra > 0
        update_maximum(maxima, f"{name}_most", extra, trial)


def update_maximum(maxima, name, value, trial):
    """Let a trial, later than all before, compete for a maximum."""
    if value > maxima.get(name, (-1, -1))[0]:
        maxima[name] = value, trial


def check_tally(tally, counts, maxima):
    """Whether a study's tally equals the tally of the reference implementation, which names only counters that occur."""
    assert tally.counts == {name: counts[name] for name in tally.counts}
    assert tally.maxima == {name: maxima.get(name, (-1, -1)) for name in tally.maxima}


#: How a message ends that a word promises a path.
PROMISED_OUTCOMES = (("delivered", 0), ("delivered", 2))


def check_rules(n, f, links, trials):
    """So many trials of ``routing-rules``."""
    point = {"n": n, "f": f, "links": links}
    study = fc.study("routing-rules")
    key = study.key(0, point)
    counts, maxima = Counter(hamming_path_known=trials), {}
    for trial in range(trials):
        nodes, cut, (s, t) = (drawn.tolist() for drawn in replay.routing_rules(np.uint64(key), trial, n, f, links))
        cube = Cube(n, nodes, cut)
        found = reference_routes(RULES, n, nodes, cut, s, t, sidetrack_chooser(key, trial))
        delivers = {name: outcome == "delivered" for name, (outcome, _) in found.items()}
        reach = cube.shortest(s, t) is not None
        record_routes(counts, maxima, found, trial)
        counts["reachable"] += reach
        counts["hamming_path_exists"] += cube.hamming_path_exists(s, t)
        for name, arrives in delivers.items():
            counts[f"{name}_loss"] += reach and not arrives
        for name in COMPARED_RULES:
            counts[f"{name}_diff"] += delivers[name] - delivers["levels"]
            counts[f"{name}_differs"] += delivers[name] != delivers["levels"]
        for name in PROMISING_RULES:
            outcome, extra = found[name]
            update_maximum(
                maxima, f"{name}_wrong", outcome != "refused" and (outcome, extra) not in PROMISED_OUTCOMES, trial
            )
    check_tally(study.count(point, trials), counts, maxima)


def check_rate(n, rate, trials):
    """So many trials of ``routing-rules-rate``."""
    point = {"n": n, "rate": rate}
    study = fc.study("routing-rules-rate")
    key = study.key(0, point)
    counts, maxima = Counter(), {}
    for trial in range(trials):
        valid, status_key, s, t = replay.routing_rules_rate(np.uint64(key), trial, n, rate)
        if valid:
            counts["valid"] += 1
            faults = RandomFaults(rate, int(status_key))
            faulty = [x for x in range(2**n) if x in faults]
            found = reference_routes(
                map(str.upper, BLIND_RULES), n, faulty, (), int(s), int(t), sidetrack_chooser(key, trial)
            )
            record_routes(counts, maxima, found, trial)
    check_tally(study.count(point, trials), counts, maxima)


def check_status(n, f, links, trials):
    """So many trials of ``safety-status``."""
    point = {"n": n, "f": f, "links": links}
    study = fc.study("safety-status")
    key = study.key(0, point)
    counts, maxima = Counter(known=trials), {}
    for trial in range(trials):
        nodes, cut, _ = (drawn.tolist() for drawn in replay.safety_status(np.uint64(key), trial, n, f, links))
        cube = Cube(n, nodes, cut)
        marked, steps = cube.wu_fernandez()
        _, own, level_steps = cube.levels()
        vectors, vector_steps = cube.vectors()
        unsafe = find_unsafe(n, nodes, cut)
        found = {
            "lee_hayes": (2**n - f - len(unsafe), max(unsafe.values(), default=0)),
            "wu_fernandez": (2**n - f - len(marked), steps),
            "levels": (sum(level == n for level in own.values()), level_steps),
            "vectors": (sum(all(vectors[v]) for v in cube.nonfaulty), vector_steps),
        }
        if links:
            del found["wu_fernandez"]
        for word, (safe, rounds) in found.items():
            counts[f"{word}_nodes"] += safe
            counts[f"{word}_squares"] += safe**2
            counts[f"{word}_some"] += safe > 0
            counts[f"{word}_steps"] += rounds
            counts[f"{word}_steps_squares"] += rounds**2
            counts[f"{word}_steps_some"] += rounds > 0
            update_maximum(maxima, f"{word}_most_rounds", rounds, trial)
    check_tally(study.count(point, trials), counts, maxima)
