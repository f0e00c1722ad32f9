"""Impossible results of a user's routing rule stop the run, in one line that names rule, trial and result."""

from __future__ import annotations

import re

import numpy as np
import pytest

import fastcube as fc
from fastcube.blocks import LOST, STUCK, block, first_path, popcount
from fastcube.kernels.draws.faults import FAULTY_NODES
from fastcube.kernels.routing_rules.user_rule_checks import MOST_LINKS, are_believed, is_possible, make_path_checker

#: What the rule ``nonsense`` returns, by the number of faulty nodes, with the part of the message about it.
RESULTS = {
    1: (
        "one link fewer than the Hamming distance",
        r"must return links between nodes (\d) bits apart, that is \1, .* got ",
    ),
    2: ("one link more", r"must return links between nodes (\d) bits apart, that is \1, .* got \d$"),
    3: ("an unknown code", r", or STUCK, LIVELOCK, LIMIT, LOST or REFUSED \(-1 to -5\), got -77$"),
    4: ("a number too large", r" up to 2\^20, or .* got 100000000000000\d$"),
    12: ("the Hamming distance, whatever is faulty", r"got (\d), and no such path has \1 links or fewer$"),
    26: ("two links more", r"got (\d), and no such path has \1 links or fewer$"),
}


@block
def nonsense(world, status, s, t):
    f, h = world.faults.size[FAULTY_NODES], popcount(s ^ t)
    if f == 1:
        return h - 1 if h > 1 else STUCK
    if f == 2:
        return h + 1
    if f == 3:
        return np.int64(-77)
    if f == 4:
        return h + 10**15
    if f == 12:
        return h
    return h + 2


@block
def reckless(world, status, s, t):
    return popcount(s ^ t)


@block
def fraction(world, status, s, t):
    return 0.5


@block
def mixed(world, status, s, t):
    return np.uint64(1) if s else LOST


@block
def text(world, status, s, t):
    return "three"


@block
def nothing(world, status, s, t):
    pass


STUDY = fc.routing_rules_study([nonsense, "ROUTE"])


@pytest.mark.kernels
@pytest.mark.parametrize("f", RESULTS)
def test_an_impossible_result_stops_the_run_and_names_the_trial(f):
    """Its trial is the first of the run whose result is found out: trials before it pass, and it fails alone."""
    with pytest.raises(fc.StudyError) as caught:
        fc.run(STUDY, n=5, f=f, links=0, trials=1000, seed=3)
    said = str(caught.value)
    found = re.match(
        rf"trial (\d+) of routing-rules-nonsense-route at n=5,f={f},links=0 with seed 3: rule nonsense ", said
    )
    assert found and "\n" not in said
    assert re.search(RESULTS[f][1], said), (RESULTS[f][0], said)
    trial, here = int(found[1]), {"n": 5, "f": f, "links": 0}
    STUDY.count(here, trial, seed=3)
    for call in (
        lambda: STUDY.count(here, 1, seed=3, first=trial),
        lambda: STUDY.explain(here, STUDY.key(3, here), trial),
    ):
        with pytest.raises(fc.StudyError, match=r"^rule nonsense must return "):
            call()


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("rule", "kind"), [(fraction, "float64"), (mixed, "float64"), (text, "unicode_type"), (nothing, "none")]
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_result_that_is_no_integer_is_not_compiled(rule, kind, wrapped):
    name = rule.__name__
    line = getattr(rule, "py_func", rule).__code__.co_firstlineno
    expected = rf"rule {name} \({re.escape(__file__)}, line {line}\) must return an integer, got {kind}\b"
    with pytest.raises(fc.StudyError, match=expected) as caught:
        fc.run(fc.routing_rules_study([first_path(rule) if wrapped else rule]), n=5, f=2, links=0, trials=10)
    assert "\n" not in str(caught.value)


@pytest.mark.kernels
def test_tolerance_believes_no_impossible_result():
    with pytest.raises(fc.StudyError, match=r"^nonsense at n=3 with 1 faulty node: rule nonsense .*, got 1$"):
        fc.tolerance(nonsense, 3)
    with pytest.raises(
        fc.StudyError, match=r"^reckless at n=3 with 2 faulty nodes: rule reckless .*, got 2, and no such"
    ):
        fc.tolerance(reckless, 3)
    with pytest.raises(fc.StudyError, match=r"^compiling fraction failed: TypingError: rule fraction \(.*got float64"):
        fc.tolerance(fraction, 2)


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f", "served"), [(8, 60, "whole"), (12, 6, "lanes")])
def test_results_are_checked_in_every_kernel(n, f, served):
    @first_path
    @block
    def short(world, status, s, t):
        return popcount(s ^ t) - 2

    study, here = fc.routing_rules_study(["ROUTE1", short]), {"n": n, "f": f, "links": 0}
    assert served in repr(study.kernel(here))
    with pytest.raises(fc.StudyError, match=r"^rule short must return links between nodes"):
        study.count(here, 2000)


def test_searches_check_the_first_trials_and_every_sixteenth():
    believed = [t for t in range(1060) if are_believed(np.int64(t))]
    assert believed == [*range(1025, 1040), *range(1041, 1056), *range(1057, 1060)]


@pytest.mark.parametrize("h", [1, 2, 5])
def test_only_lengths_of_walks_and_reasons_of_failure_are_possible(h):
    lengths, reasons = range(h, int(MOST_LINKS) + 1, 2), range(-6, 0)
    for links in {*range(-20, 40), *range(int(MOST_LINKS) - 2, int(MOST_LINKS) + 3), -(2**63), 2**63 - 1}:
        assert is_possible(np.int64(links), np.int64(h)) == (links in lengths or links in reasons), links


@pytest.mark.parametrize(
    ("links", "minimal", "may_reach", "possible"),
    [
        (3, 1, True, True),
        (3, 0, True, False),
        (3, -1, True, True),
        (5, 0, True, True),
        (5, 0, False, False),
        (-1, 0, False, True),
    ],
)
def test_a_rule_cannot_deliver_where_no_path_is(links, minimal, may_reach, possible):
    check, results = make_path_checker(["a1", "mine"]), np.array([-1, links])
    if possible:
        assert check(results, 3, minimal, may_reach) == (1 if links == 3 else minimal)
    else:
        with pytest.raises(
            fc.StudyError, match=rf"^rule mine must return .* got {links}, and no such path has {links} links"
        ):
            check(results, 3, minimal, may_reach)
