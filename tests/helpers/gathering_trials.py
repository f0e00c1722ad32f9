"""Trials of gathering by kernel, and by the plain reference."""

import functools
import json
from pathlib import Path

import numpy as np
from reference import gathering as twin
from reference import trees

import fastcube as fc
from fastcube.kernels.gathering.layout import GATHER, common_denominator
from fastcube.kernels.gathering.scalar import GATHER_SINGLE
from helpers.tree_trials import sample_faults

RUNS = {
    "as_printed": ("FTTC", "as_printed"),
    "as_commented": ("FTTC", "as_commented"),
    "corrected": ("FTTC", "corrected"),
    "reroute": ("REROUTE", "as_commented"),
    "tc": ("TC", "as_commented"),
}


def reference_tally(n, nodes, links):
    """The tally of one fault set, by the twin, and its steps."""
    return tally_of_fault_words(n, tuple(trees.detect(n, nodes, links)))


@functools.lru_cache(2**13)
def tally_of_fault_words(n, fault):
    """The same by FAULT words, which links of faulty nodes do not change."""
    out = dict.fromkeys([c.name for c in GATHER.counters], 0)
    tree = trees.find_tree(n, fault)
    if tree is None:
        return out, None
    runs = {name: twin.Run(n, fault, *tree[:2], *how) for name, how in RUNS.items()}
    comment = runs["as_commented"]
    holders, cut = comment.expected, int(comment.unreachable_data)
    alone = any(not comment.partners(v, i) for i, v in comment.failing)
    out |= {
        "sink_exists": 1,
        "expected": holders,
        "expected_squared": holders**2,
        "unreachable_data": cut,
        "unreachable_data_squared": cut**2,
        "unreachable_data_expected": cut * holders,
        "with_unreachable_data": int(cut > 0),
        "avoidable_loss": int(comment.lost > cut),
        "blocked_sender_without_helper": int(alone),
        "slowdown_at_least_2": int(comment.steps_sync >= 2 * n),
    }
    for name, run in runs.items():
        lost = run.lost * common_denominator(n)
        assert lost.denominator == 1
        out |= {f"complete_{name}": int(lost == 0), f"lossy_{name}": int(lost > 0), f"lost_{name}": int(lost)}
        out |= {f"lost_{name}_squared": int(lost) ** 2, f"lost_{name}_expected": int(lost) * holders}
        if f"deadlocked_{name}" in out:
            out[f"deadlocked_{name}"] = int(run.deadlocked)
    steps = {
        "as_commented": comment.steps_sync,
        "corrected": runs["corrected"].steps_sync,
        "paper": comment.steps_paper,
        "reroute": runs["reroute"].steps_paper,
        "reroute_hops": runs["reroute"].steps_sync,
    }
    for name, value in steps.items():
        out |= {f"steps_{name}": value, f"steps_{name}_squared": value**2}
    return out, comment.steps_sync


def check_trials(n, links, f, trials):
    key = np.uint64(fc.study("gather").key(3, {"n": n, "links": links, "f": f}))
    slots = GATHER.new_tally()
    GATHER_SINGLE.compiled(key, 7, 7 + trials, np.array([n, links, f], np.float64), slots)
    sums = None
    for t in range(7, 7 + trials):
        found = reference_tally(n, *sample_faults(key, t, n, links, f))[0]
        sums = found if sums is None else {name: value + found[name] for name, value in sums.items()}
    assert GATHER.read(slots)[0] == sums, (n, links, f)


DATA = Path(__file__).resolve().parents[2] / "data"


TABLES = {name: json.loads((DATA / f"exact-{name}.json").read_text())["rows"] for name in ("trees", "gather")}
