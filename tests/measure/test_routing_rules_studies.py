"""The studies of routing rules: samples, statistics compared with one instance, tables of own rules, and bad input."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

import fastcube as fc
from fastcube.blocks import (
    FIRST_PATH_IS_CLEAR,
    LIMIT,
    LOST,
    POINT_KEY,
    REFUSED,
    SHARED_UNSAFE_SUBCUBE,
    TRIAL_NUMBER,
    block,
    first_path,
    level,
    popcount,
    random_below,
)
from fastcube.kernels.routing_rules.rules import RULES, route1
from fastcube.kernels.routing_rules.scalar import make_kernel
from fastcube.measure.rules_figure import _plot_statistic, choose_fault_axis
from fastcube.measure.tally import Tally
from fastcube.results.results import Results
from fastcube.studies.lee_hayes.routing import ROUTING
from fastcube.studies.lee_hayes.routing_rate import ROUTING_RATE
from fastcube.studies.routing_rules.rate import ROUTING_RULES_RATE
from fastcube.studies.routing_rules.status import SAFETY_STATUS
from fastcube.studies.routing_rules.table import ROUTING_RULES

POINTS = [(3, 2, 0), (5, 3, 4), (6, 0, 7), (8, 9, 0), (8, 60, 0), (16, 12, 0), (30, 30, 5)]


def asked(n, f, links):
    return {"n": n, "f": f, "links": links}


# ---------------------------------------------------------------- the same faults and messages


@pytest.mark.kernels
@pytest.mark.parametrize("point", POINTS)
def test_trial_t_is_routings_trial_t(point):
    """Fault set and pair, trial by trial, from each study's own key."""
    here = asked(*point)
    there = {**here, "k": 1}
    assert ROUTING_RULES.key(5, here) == SAFETY_STATUS.key(5, here) == ROUTING.key(5, there)
    for t in range(20):
        ours = ROUTING_RULES.explain(here, ROUTING_RULES.key(5, here), t).data
        theirs = ROUTING.explain(there, ROUTING.key(5, there), t).data
        status = SAFETY_STATUS.explain(here, SAFETY_STATUS.key(5, here), t).data
        for name in ("faulty_nodes", "faulty_links", "s", "t"):
            assert ours[name] == theirs[name] == status[name]
        assert ours["ROUTE1"] == theirs["ROUTE1"]
        assert ours["ROUTE3"]["outcome"] == (theirs["ROUTE3"]["outcome"] if theirs["some_active"] else "refused")


@pytest.mark.kernels
def test_shares_are_routings_among_all():
    here = asked(8, 6, 0)
    ours, theirs = ROUTING_RULES.count(here, 3000).counts, ROUTING.count({**here, "k": 1}, 3000).counts
    for name in ("route_delivered", "route1_delivered", "route3_delivered", "reachable"):
        assert ours[name] == theirs[name]
    assert ours["route3_refused"] == 3000 - theirs["some_active"]


@pytest.mark.kernels
def test_explain_tells_every_way():
    here = asked(6, 20, 0)
    reported = ROUTING_RULES.explain(here, ROUTING_RULES.key(0, here), 3)
    for rule in ("ROUTE", "ROUTE1", "ROUTE3", "LEVELS", "VECTORS", "A1", "DFS", "SIDETRACK"):
        assert f"  {rule}: {reported.data[rule]['outcome']}" in reported.text
    slots = ROUTING_RULES.count(here, 1, first=3)
    assert slots.counts["a1_delivered"] == (reported.data["A1"]["outcome"] == "delivered")
    assert slots.counts["sidetrack_delivered"] == (reported.data["SIDETRACK"]["outcome"] == "delivered")


# ---------------------------------------------------------------- status


@pytest.mark.parametrize(
    "point", [(2, 1, 0), (3, 2, 2), (4, 5, 0), (5, 4, 6), (7, 20, 0), (8, 9, 3), (9, 200, 0), (40, 40, 0)]
)
def test_status_counts_what_one_instance_says(point):
    check_status(point)


@pytest.mark.slow
def test_status_counts_of_large_cubes_are_those_of_one_instance():
    check_status((14, 60, 0))


def check_status(point):
    here = asked(*point)
    key = SAFETY_STATUS.key(0, here)
    for t in range(12):
        reported = SAFETY_STATUS.explain(here, key, t).data
        tally = SAFETY_STATUS.count(here, 1, first=t)
        for word in ("lee_hayes", "wu_fernandez", "levels", "vectors"):
            if f"{word}_safe" not in reported:
                assert tally.counts[f"{word}_nodes"] == 0
                continue
            assert tally.counts[f"{word}_nodes"] == reported[f"{word}_safe"], (point, t, word)
            assert tally.counts[f"{word}_squares"] == reported[f"{word}_safe"] ** 2
            assert tally.counts[f"{word}_steps"] == reported[f"{word}_rounds"], (point, t, word)
            assert tally.maxima[f"{word}_most_rounds"] == (reported[f"{word}_rounds"], t)
        if point[0] <= 14 and not point[2]:
            cube = fc.Hypercube(point[0], reported["faulty_nodes"])
            assert reported["levels_safe"] == (fc.safety_levels(cube).levels == cube.n).sum()
            assert reported["vectors_safe"] == fc.safety_vectors(cube).vectors.all(axis=1).sum()


def test_words_call_more_nodes_safe_one_after_another():
    """V10: Lee-Hayes safe, then Wu-Fernandez safe, then level n; and level n gives a full vector."""
    for f in (3, 8, 20):
        counts = SAFETY_STATUS.count(asked(7, f, 0), 2000).counts
        safe = [counts[f"{word}_nodes"] for word in ("lee_hayes", "wu_fernandez", "levels", "vectors")]
        assert safe == sorted(safe)


# ---------------------------------------------------------------- rates


@pytest.mark.parametrize(("n", "rate"), [(4, 0.3), (8, 0.5), (20, 0.4), (60, 0.6)])
def test_rate_trials_are_what_one_instance_says(n, rate):
    here = {"n": n, "rate": rate}
    for t in range(25):
        key = ROUTING_RULES_RATE.key(0, here)
        reported = ROUTING_RULES_RATE.explain(here, key, t).data
        tally = ROUTING_RULES_RATE.count(here, 1, first=t)
        if reported.get("discarded"):
            continue
        h = (reported["s"] ^ reported["t"]).bit_count()
        for rule in ("ROUTE", "ROUTE1", "A1", "DFS", "SIDETRACK"):
            name, delivered = rule.lower(), reported[rule]["outcome"] == "delivered"
            assert tally.counts[f"{name}_delivered"] == delivered, (t, rule)
            assert tally.counts[f"{name}_extra_links"] == (len(reported[rule]["path"]) - 1 - h if delivered else 0)
            assert tally.counts.get(f"{name}_limit", 0) == (reported[rule]["outcome"] == "limit")
        assert reported["ROUTE1"]["path"][0] == reported["s"]


def test_rate_draws_as_routing_rate():
    here = {"n": 20, "rate": 0.3}
    there = {**here, "k": 1}
    assert ROUTING_RULES_RATE.key(0, here) == ROUTING_RATE.key(0, there)
    ours, theirs = ROUTING_RULES_RATE.count(here, 2000).counts, ROUTING_RATE.count(there, 2000).counts
    for name in ("valid", "route_delivered", "route1_delivered", "route1_at_hamming"):
        assert ours[name] == theirs[name]


# ---------------------------------------------------------------- tables of one's own


@block
def straight(world, status, s, t):
    """ROUTE, once more."""
    return popcount(s ^ t) if world.facts[FIRST_PATH_IS_CLEAR] else LOST


@pytest.mark.kernels
def test_a_rule_of_ones_own_stands_in_the_table():
    study = fc.routing_rules_study(["LEVELS", straight, "A1"])
    here = asked(6, 8, 0)
    assert study.key(0, here) == ROUTING_RULES.key(0, here)
    ours, whole = study.count(here, 2000), ROUTING_RULES.count(here, 2000)
    assert ours.counts["straight_delivered"] == whole.counts["route_delivered"]
    for name in ("levels_delivered", "a1_diff", "levels_refused", "a1_loss", "reachable", "hamming_path_exists"):
        assert ours.counts[name] == whole.counts[name]
    reported = study.explain(here, study.key(0, here), 4)
    assert reported.data["straight"]["outcome"] in ("delivered", "failed")
    assert "  straight: " in reported.text
    rows = fc.run(study, n=6, f=8, links=0, trials=500).table()
    assert {"straight_delivered", "levels_delivered", "a1_minus_levels"} <= {row["statistic"] for row in rows}


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), [(10, 5), (12, 6), (20, 40)])
def test_a_rule_of_ones_own_passes_the_filter(n, f):
    """In lanes, on trials that the filter decides and on those with close faults."""
    study = fc.routing_rules_study(["ROUTE", straight])
    here = asked(n, f, 0)
    assert "lanes" in repr(study.kernel(here))
    ours, whole = study.count(here, 3000), fc.routing_rules_study(["ROUTE"]).count(here, 3000)
    for what in ("delivered", "at_hamming", "extra_links", "refused", "loss"):
        assert ours.counts[f"straight_{what}"] == ours.counts[f"route_{what}"] == whole.counts[f"route_{what}"]
    assert ours.maxima["straight_most"] == whole.maxima["route_most"]
    assert ours.counts["reachable"] == whole.counts["reachable"]


@block
def hesitating(world, status, s, t):
    """A rule that samples random words, looks up statuses, and is sometimes refused or cut off."""
    if world.facts[SHARED_UNSAFE_SUBCUBE] >= 0 and level(status, world.faults, world.n, s) < world.n:
        return REFUSED
    if random_below(world.now[POINT_KEY], np.int64(world.now[TRIAL_NUMBER]), np.int64(0), np.int64(3)) == 0:
        return LIMIT
    return route1(world, status, s, t)


hesitating_elsewhere = first_path(hesitating)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("n", "f", "served"),
    [
        (6, 8, "whole"),
        (8, 60, "whole"),
        (9, 100, "whole"),
        (10, 10, "whole"),
        (12, 6, "lanes"),
        (16, 16, "lanes"),
        (40, 39, "lanes"),
    ],
)
def test_a_rule_that_takes_a_free_first_path_is_decided_in_lanes(n, f, served):
    """Every counter equals the sum over single trials."""
    rules = ["LEVELS", "ROUTE", hesitating_elsewhere, "ROUTE1"]
    study, here = fc.routing_rules_study(rules), asked(n, f, 0)
    assert served in repr(study.kernel(here))
    alone = make_kernel(
        [hesitating_elsewhere if rule is hesitating_elsewhere else RULES[rule] for rule in rules],
        ("levels", "route", "hesitating", "route1"),
    )
    slots = study.tally.new_tally()
    key = study.key(0, here)
    alone.compiled(np.uint64(key), np.int64(0), np.int64(3000), np.array(list(here.values()), np.float64), slots)
    ours = study.count(here, 3000)
    assert (ours.counts, ours.maxima) == study.tally.read(slots)
    assert ours.counts["hesitating_delivered"] >= ours.counts["route_delivered"]


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("rules", "reference", "points"),
    [
        (["ROUTE", "LEVELS", "A1"], "LEVELS", [(8, 20), (10, 5), (16, 16)]),
        (["ROUTE", "LEVELS", "A1"], "ROUTE", [(8, 20), (10, 5), (16, 16)]),
        (["ROUTE", "LEVELS", hesitating], "ROUTE", [(10, 5)]),
        (["ROUTE", hesitating, "A1"], hesitating, [(10, 5)]),
        (["ROUTE", "LEVELS", hesitating_elsewhere], "ROUTE", [(8, 20), (10, 5), (20, 40)]),
        (["ROUTE", hesitating_elsewhere, "A1"], hesitating_elsewhere, [(8, 20), (10, 5)]),
    ],
)
def test_every_rule_is_compared_with_the_reference_rule_in_every_kernel(rules, reference, points):
    """The gains equal those of single trials, and differences of deliveries; each trial that differs is counted."""
    study = fc.routing_rules_study(rules, compared_with=reference)
    names = [rule.lower() if isinstance(rule, str) else "hesitating" for rule in rules]
    base = names[[rule is reference or rule == reference for rule in rules].index(True)]
    alone = make_kernel([RULES.get(rule, rule) if isinstance(rule, str) else rule for rule in rules], names, None, base)
    for n, f in points:
        here = asked(n, f, 0)
        assert "scalar" not in repr(study.kernel(here))
        slots = study.tally.new_tally()
        params = np.array(list(here.values()), np.float64)
        alone.compiled(np.uint64(study.key(0, here)), np.int64(0), np.int64(2000), params, slots)
        ours = study.count(here, 2000)
        assert (ours.counts, ours.maxima) == study.tally.read(slots), (n, f)
        for name in set(names) - {base}:
            gain, difference = ours.counts[f"{name}_diff"], ours.counts[f"{name}_differs"]
            assert gain == ours.counts[f"{name}_delivered"] - ours.counts[f"{base}_delivered"]
            assert abs(gain) <= difference and (difference - gain) % 2 == 0
            e = study.statistic(f"{name}_minus_{base}").estimate(ours.counts, 2000, here)
            assert e.low <= e.value == gain / 2000 <= e.high


def test_the_reference_rule_is_chosen_and_said_in_the_notes():
    """By default LEVELS or the first rule; a note per other rule: ahead, behind or within."""
    for rules, chosen, base in (
        (["A1", straight, "LEVELS"], None, "levels"),
        (["A1", straight], None, "a1"),
        (["A1", straight], "straight", "straight"),
        (["A1", straight], straight, "straight"),
        (["ROUTE1", "A1"], "A1", "a1"),
    ):
        study = fc.routing_rules_study(rules, compared_with=chosen)
        others = {rule.lower() if isinstance(rule, str) else "straight" for rule in rules} - {base}
        assert {s.name for s in study.statistics if "_minus_" in s.name} == {f"{name}_minus_{base}" for name in others}
    study = fc.routing_rules_study([straight, "ROUTE1", "A1"], compared_with="ROUTE1")
    tallies = {}
    for f, gain, difference in ((1, 50, 60), (2, -50, 60), (3, 0, 4)):
        counts = dict.fromkeys((c.name for c in study.tally.counters), 0)
        counts |= {"straight_diff": gain, "straight_differs": difference}
        tallies[6, f, 0] = Tally(((0, 1000),), counts, {e.name: (-1, -1) for e in study.tally.maxima})
    heading, line, other = study.notes(Results(study, 0, tallies))
    assert heading.startswith(
        "fraction delivered minus that of ROUTE1 on the same faults and messages, exact 95% intervals"
    )
    form = r"  straight: ahead by 0.0\d+ to 0.0\d+ at n=6,f=1,links=0; behind by .* at n=6,f=2,links=0; within 0.0\d+ at n=6,f=3"
    assert re.match(form, line) and re.match("  a1: within 0.0", other)
    with pytest.raises(fc.ParameterError, match="compared_with must be one of the rules straight or A1, got 'LEVELS'"):
        fc.routing_rules_study([straight, "A1"], compared_with="LEVELS")


@pytest.mark.kernels
def test_without_the_free_first_path_it_is_another_study():
    study, other = fc.routing_rules_study([hesitating_elsewhere]), fc.routing_rules_study([hesitating])
    assert study.code != other.code
    here = asked(7, 4, 0)
    assert study.count(here, 300).counts["hesitating_limit"] < other.count(here, 300).counts["hesitating_limit"]


def test_the_eight_rules_are_study_routing_rules():
    study = fc.routing_rules_study([name.upper() for name in ROUTING_RULES_NAMES])
    assert (study.name, study.tally, study.statistics) == (
        ROUTING_RULES.name,
        ROUTING_RULES.tally,
        ROUTING_RULES.statistics,
    )


ROUTING_RULES_NAMES = ("route", "route1", "route3", "levels", "vectors", "a1", "dfs", "sidetrack")


def plain(world, status, s, t):
    return 0


@block
def too_few(world, s, t):
    return np.int64(0)


@pytest.mark.parametrize(
    ("rules", "line"),
    [
        ([], "rules must be 1 to 64 of different names, got none"),
        (["A1", "A1"], "rules must be 1 to 64 of different names, got a1, a1"),
        (["LEVEL"], "rules must be jitted functions or names among .*got 'LEVEL'; did you mean"),
        (["a1"], "rules must be jitted functions or names among .*got 'a1'"),
        ("A1", "rules must be a list of rules, got 'A1'"),
        ([3], "rules must be jitted functions or names, got 3"),
        ([plain], "rules must be jitted functions or names: write @fc.blocks.block above plain"),
        ([first_path(plain)], "rules must be jitted functions or names: write @fc.blocks.block above plain"),
        ([first_path(first_path(too_few))], r"too_few must take \(world, status, s, t\), got \(world, s, t\)"),
        ([too_few], r"too_few must take \(world, status, s, t\), got \(world, s, t\)"),
    ],
)
def test_bad_tables_are_one_line(rules, line):
    with pytest.raises(fc.ParameterError, match=line) as caught:
        fc.routing_rules_study(rules)
    assert "\n" not in str(caught.value)


def test_a_first_path_is_that_of_a_block():
    with pytest.raises(TypeError, match="first_path must be given a block, got 3"):
        first_path(3)


@pytest.mark.parametrize(
    ("point", "line"),
    [
        (asked(3, 7, 0), r"f must be in \[0, 6\] for n=3"),
        (asked(3, 0, 13), r"links must be in \[0, 12\] for n=3"),
        (asked(0, 0, 0), r"n must be in \[1, 62\]"),
    ],
)
def test_impossible_points_are_one_line(point, line):
    for study in (ROUTING_RULES, SAFETY_STATUS):
        with pytest.raises(fc.ParameterError, match=line):
            study.count(point, 1)


@pytest.mark.kernels
def test_a_table_of_ones_own_rules_draws_all_of_them_on_one_pair_of_axes():
    study = fc.routing_rules_study(["LEVELS", "A1", "SIDETRACK", "ROUTE"])
    left, right = fc.run(study, n=6, f=[2, 4, 6], links=0, trials=4096).plot().axes
    lines = [[line for line in axes.lines if line.get_gid() == "line"] for axes in (left, right)]
    assert [len(found) for found in lines] == [6, 3]  # two of what no rule can deliver; ROUTE has no extra links
    labels = [text.get_text() for text in left.figure.legends[0].get_texts()]
    assert labels[:6] == ["no path of $H$ links exists", "LEVELS", "A1", "SIDETRACK", "ROUTE", "no path exists"]


@pytest.mark.parametrize(
    ("grid", "found"),
    [
        ("nodes", ("f", {"n": 10, "links": 0})),
        ("large", ("f", {"n": 14, "links": 0})),  # at n = 60 nothing is lost
        ("links", ("links", {"n": 10, "f": 0})),
    ],
)
def test_the_figure_is_of_the_n_nearest_to_ten(grid, found):
    sampled = SimpleNamespace(trials=1)
    assert choose_fault_axis([(point, sampled) for point in ROUTING_RULES.grid(grid).points]) == found


def test_extra_links_of_few_delivered_messages_are_not_drawn():
    """One detour among 29 messages drew a peak of .07 where the other rules have .01."""
    drawn = {}

    class Sampled(list):
        def estimates(self, point):
            return {"a1_extra_links": SimpleNamespace(value=0.5)}

    sampled = Sampled(
        ({"f": f, "n": 10}, SimpleNamespace(trials=1000, counts={"a1_delivered": many}))
        for f, many in ((1, 900), (2, 100), (3, 99), (4, 0))
    )
    panel = SimpleNamespace(series=lambda label, pairs, *_, **__: drawn.update({label: [f for f, _ in pairs]}))
    _plot_statistic(sampled, panel, "a1_extra_links", "A1", "f", {"n": 10}, 0, 1)
    assert drawn == {"A1": [1, 2]}
