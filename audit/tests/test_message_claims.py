"""The claims about routing and broadcasting: each verdict, and each counterexample replayed with the plain twin."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numba
import pytest
from audit_helpers.decided import decide_claims
from reference.broadcasting import broadcast
from reference.routing import Cube

from fastcube_audit import registries
from fastcube_audit.claims import Effort, Verdict
from fastcube_audit.papers.lee_hayes.cases import climbing_messages

OUTCOMES = {
    "theorem-1": "holds",
    "corollary-1-printed": "misprint",
    "corollary-1": "holds",
    "theorem-2": "holds",
    "route2-n": "holds",
    "cyclic-shifts": "holds",
    "two-more-is-minimal": "holds",
    "route2-1": "holds",
    "route2-2": "depends",
    "route1-3": "holds",
    "conditions-needed": "depends",
    "route3-active": "holds",
    "route3-to-unsafe": "holds",
    "route3-from-unsafe": "holds",
    "route3-different-subcubes": "holds",
    "theorem-4": "holds",
    "theorem-4-attained": "holds",
    "fifteen-percent-messages": "holds",
    "two-comparisons": "holds",
    "theorem-4-links": "holds",
    "floor-half-faults-routing": "holds",
    "ceil-half-faults-routing": "holds",
    "theorem-5": "holds",
    "theorem-6": "holds",
    "theorem-6-attained": "holds",
    "broadcast1-plain": "holds",
    "broadcast2-active": "holds",
    "unsafe-served-last": "holds",
    "no-node-twice": "holds",
    "unsafe-nodes-are-silent": "holds",
    "theorem-6-links": "holds",
    "floor-half-faults-broadcasting": "holds",
    "ceil-half-faults-broadcasting": "holds",
}


#: The claims whose searches take longest, one per theorem; they run with the slow tests.
SEARCHED = {
    "theorem-5", "no-node-twice", "broadcast2-active", "unsafe-served-last", "unsafe-nodes-are-silent", "theorem-6-links",
    "route2-n", "route2-1", "two-more-is-minimal", "route3-different-subcubes", "theorem-4-links",
    "theorem-2", "theorem-6", "corollary-1", "route3-active", "route3-to-unsafe", "route3-from-unsafe",
}  # names, as many as a line holds # fmt: skip
#: Decided by a kernel, whose compilation takes longer than all other claims together.
COMPILED = "fifteen-percent-messages"


def some(quick: bool, names: Iterable[str]) -> dict[str, Verdict]:
    return decide_claims((claim for claim in registries.claims("lee_hayes") if claim.id in names), quick)


@pytest.fixture(scope="module")
def quick() -> dict[str, Verdict]:
    return some(True, OUTCOMES.keys() - SEARCHED - {COMPILED})


def test_quick_effort(quick):
    assert {name: v.outcome for name, v in quick.items()} == {name: OUTCOMES[name] for name in quick}


@pytest.mark.slow
def test_quick_effort_of_what_is_searched_for():
    found = some(True, SEARCHED)
    assert {name: v.outcome for name, v in found.items()} == {name: OUTCOMES[name] for name in SEARCHED}
    assert all(
        counterexample.is_reproduced() for verdict in found.values() for counterexample in verdict.counterexamples
    )


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="many trials need compiled code")
def test_quick_effort_of_what_is_measured():
    assert some(True, [COMPILED])[COMPILED].outcome == OUTCOMES[COMPILED]


@pytest.mark.exhaustive
def test_full_effort():
    assert {name: v.outcome for name, v in some(False, OUTCOMES).items()} == OUTCOMES


def test_every_counterexample_replays_and_is_json(quick):
    for verdict in quick.values():
        for counterexample in verdict.counterexamples:
            assert counterexample.is_reproduced()
            assert json.loads(json.dumps(counterexample.value)) == counterexample.value


def test_counterexamples_are_the_twins(quick):
    for name in ("corollary-1-printed", "route2-2", "theorem-4-attained"):
        data = quick[name].counterexample.data
        cube = Cube(data["n"], data["faulty_nodes"], data["faulty_links"])
        s, t = data["s"], data["t"]
        if name == "theorem-4-attained":
            outcome, path = cube.route("ROUTE3", s, t)
            assert (outcome, len(path) - 1) == ("delivered", cube.shortest(s, t) + 2)
            assert not cube.is_unsafe()
            continue
        one, two = (cube.route(algorithm, s, t, 2) for algorithm in ("ROUTE1", "ROUTE2"))
        if name == "corollary-1-printed":
            around = [
                sum(cube.faulty(x ^ 1 << i) for i in range(cube.n)) for x in range(2**cube.n) if not cube.faulty(x)
            ]
            assert max(around) <= 2
            assert one[0] != "delivered" or len(one[1]) - 1 > cube.shortest(s, t)
        else:
            assert one != two
    data = quick["theorem-6-attained"].counterexample.data
    assert broadcast(Cube(data["n"], data["faulty_nodes"]), "BROADCAST2", data["s"]).steps == data["n"] + 1


def test_climbed_cases_keep_the_conditions_and_come_again():
    few = lambda world: len(world.cube.faulty_nodes) <= 3  # noqa: E731
    runs = [
        [
            (world.cube.n, world.cube.faulty_nodes, s, t)
            for world, s, t in climbing_messages(Effort(quick=True), few, lambda *_: 0)
        ]
        for _ in range(2)
    ]
    assert len(runs[0]) > 50
    assert runs[0] == runs[1]
    assert all(len(faults) <= 3 and not {s, t} & faults for _, faults, s, t in runs[0])


@pytest.mark.slow
def test_climbs_go_toward_the_bound():
    """Climbs that gain the bits of all faults hold more of them than climbs that gain nothing."""
    bits = lambda world, s, t: sum(x.bit_count() for x in world.cube.faulty_nodes)  # noqa: E731
    met = list(climbing_messages(Effort(), lambda world: True, bits))
    level = list(climbing_messages(Effort(), lambda world: True, lambda world, s, t: 0))
    assert sum(bits(*case) for case in met) / len(met) > 1.2 * sum(bits(*case) for case in level) / len(level)
