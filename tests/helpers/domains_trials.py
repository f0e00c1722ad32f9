"""Trials of ``survival-domains`` by kernel, by the documented sampler and by the reference with NetworkX."""

from __future__ import annotations

from typing import Any

from reference import domains

import fastcube as fc
from fastcube.kernels.survival.layout import COMPARED_EVENTS, SURVIVAL_DOMAINS
from helpers.documented import load_documented_sampler
from helpers.tallies import check_counts, new_counts


def sample_trial(key: int, t: int, point: dict[str, Any], listed: list[set[int]]) -> tuple[list[int], Any, Any]:
    """The failed domains of a trial, its faulty nodes and pair, and those with as many single failures, from the page's NumPy."""
    page, n, f = load_documented_sampler(), point["n"], point["f"]
    failed = page["failed_domains"](key, t, len(listed), point["domains"])
    boards = set().union(*(listed[g] for g in failed)) if point["domain"] != "switch" else set()
    faulty = {*page["fault_set"](key, t, n, f), *boards}
    survivors = 2**n - len(faulty)
    pair = page["pair_beside_domains"](key, t, n, f, boards) if survivors >= 2 else None
    nodes, ends = page["fault_set_and_ends"](key, t, n, len(faulty), 2 if survivors >= 2 else 0)
    return failed, (faulty, pair), (nodes, ends or None)


def count_reference(
    key: int, point: dict[str, Any], trials: range, listed: list[set[int]] | None = None
) -> dict[str, Any]:
    """The tally of these trials."""
    name, n = point["network"], point["n"]
    listed = listed or domains.list_domains(point["domain"], name, n)
    out = new_counts(SURVIVAL_DOMAINS)
    for t in trials:
        failed, (faulty, pair), (nodes, ends) = sample_trial(key, t, point, listed)
        rows = [listed[g] for g in failed] if point["domain"] == "switch" else []
        own, single = domains.evaluate(name, n, faulty, rows, pair), domains.evaluate(name, n, nodes, (), ends)
        out["pairs"] += pair is not None
        for what in COMPARED_EVENTS:
            a, b = bool(getattr(own, what)), bool(getattr(single, what))
            out[what] += a
            out[f"single_{what}"] += b
            out[f"{what}_diff"] += a - b
            out[f"{what}_differs"] += a != b
    return out


def check_domains(point: dict[str, Any], first: int, trials: int, study: Any = None, listed: Any = None) -> None:
    """So many trials by the kernel and by the reference."""
    study = study or fc.study("survival-domains")
    found = study.count(point, trials, seed=11, first=first).counts
    wanted = count_reference(study.key(11, point), point, range(first, first + trials), listed)
    check_counts(found, wanted, f"{point}, trials {first} to {first + trials - 1}")


def check_study(domain: str, trials: int) -> None:
    """The row of the study's table."""
    check_domains({"network": "hyperx-4", "n": 4, "f": 3, "domain": domain, "domains": 3}, 0, trials)
