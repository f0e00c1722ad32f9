"""The public blocks of a trial: every name of ``fc.blocks`` compiles, and draws by the recipe."""

import re
from pathlib import Path

import numpy as np
import pytest
from helpers.documented import load_documented_sampler

import fastcube as fc
from fastcube import blocks
from fastcube.kernels.draws.faults import trial_faults

#: A call of each in a trial; ``faults`` are of Q_4 with two faulty nodes, a faulty link and two ends, drawn and closed.
CALLS = {
    "add_product": "fc.blocks.add_product(out, 0, 3, 5)",
    "add_quantity": "fc.blocks.add_quantity(out, QUANTITY, np.int64(3))",
    "add_square": "fc.blocks.add_square(out, 0, 3)",
    "add_wide": "fc.blocks.add_wide(out, 0, 3)",
    "random_below": "fc.blocks.random_below(key, t, np.int64(3), np.int64(10))",
    "blocked_bits": "fc.blocks.blocked_bits(faults, ZERO, np.uint64(15))",
    "blocked": "fc.blocks.blocked(faults, ZERO, ONE)",
    "unsafe_subcubes": "fc.blocks.unsafe_subcubes(faults)",
    "draw": "fc.blocks.draw(key, t, np.int64(4), faults)",
    "forget_safety_status": "fc.blocks.forget_safety_status(status, faults)",
    "faults_for": "fc.blocks.faults_for(np.int64(4), np.int64(2), np.int64(1), np.int64(2))",
    "highest": "fc.blocks.highest(ONE)",
    "is_closed": "fc.blocks.is_closed(faults, ZERO)",
    "is_faulty": "fc.blocks.is_faulty(faults, ZERO)",
    "is_faulty_link": "fc.blocks.is_faulty_link(faults, ZERO, ONE)",
    "is_safe": "fc.blocks.is_safe(faults, np.int64(4))",
    "level": "fc.blocks.level(status, faults, np.int64(4), ONE)",
    "link_status": "fc.blocks.link_status(fc.blocks.link_status_key(key, np.uint64(t)), ONE, ONE)",
    "link_status_key": "fc.blocks.link_status_key(key, np.uint64(t))",
    "lowest": "fc.blocks.lowest(ONE)",
    "offer": "fc.blocks.offer(out, 0, 3, t)",
    "popcount": "fc.blocks.popcount(ONE)",
    "route3_rule": "fc.blocks.route3_rule(faults, ZERO, ONE, np.uint64(15), np.int64(1), search)",
    "route_passes": "fc.blocks.route_passes(faults, faults.ends[0], faults.ends[1])",
    "search_scratch_for": "fc.blocks.search_scratch_for(np.int64(1))",
    "status": "fc.blocks.status(fc.blocks.status_key(key, np.uint64(t)), ONE)",
    "status_key": "fc.blocks.status_key(key, np.uint64(t))",
    "threshold": "fc.blocks.threshold(0.25)",
    "highest_bit": "fc.blocks.highest_bit(ONE)",
    "uniform": "fc.blocks.uniform(key, t, np.int64(3))",
    "vector_bit": "fc.blocks.vector_bit(status, faults, np.int64(4), ONE, np.int64(2))",
    "simulate_route1": "fc.blocks.simulate_route1(faults, faults.ends[0], faults.ends[1], np.uint64(15), np.int64(1), search)",
    "simulate_route2": "fc.blocks.simulate_route2(faults, faults.ends[0], faults.ends[1], np.uint64(15), np.int64(1), search)",
    "simulate_route3": "fc.blocks.simulate_route3(faults, faults.ends[0], faults.ends[1], np.uint64(15), np.int64(1), search)",
    "safety_status_for": "fc.blocks.safety_status_for(np.int64(4), np.int64(2), np.int64(1))",
    "random_word": "fc.blocks.random_word(key, np.uint64(t), ZERO, np.uint64(2**31))",
}
#: Names that make blocks and kernels, and names that are not functions.
MAKERS = {"block", "first_path", "kernel", "make_route_rules", "scratch", "trials_kernel", "make_simulator"}
VALUES = {"ONE", "ZERO", "Faults", "TRIALS_SIGNATURE"}
VALUES |= {
    "STUCK",
    "LIVELOCK",
    "LIMIT",
    "LOST",
    "REFUSED",
    "FIRST_PATH_IS_CLEAR",
    "FIRST_PATH_IS_UNSAFE",
    "HAS_ACTIVE_NODE",
    "SHARED_UNSAFE_SUBCUBE",
    "FAULTS_BETWEEN",
    "POINT_KEY",
    "TRIAL_NUMBER",
}

TRIAL = """
@fc.blocks.kernel("void(uint64, int64, int64[::1])", variant="{name}", cache=False)
def called(key, t, out):
    faults = fc.blocks.faults_for(np.int64(4), np.int64(2), np.int64(1), np.int64(2))
    search = fc.blocks.search_scratch_for(np.int64(1))
    fc.blocks.draw(key, t, np.int64(4), faults)
    fc.blocks.unsafe_subcubes(faults)
    status = fc.blocks.safety_status_for(np.int64(4), np.int64(2), np.int64(1))
    {call}
"""


def test_the_list_is_the_list():
    assert set(blocks.__all__) == set(CALLS) | MAKERS | VALUES
    public = {name for name in vars(blocks) if not name.startswith("_") and name != "annotations"}
    assert public == set(blocks.__all__)
    page = (Path(__file__).parents[2] / "docs/api/blocks.rst").read_text()
    assert not [name for name in blocks.__all__ if not re.search(rf"``[^`]*\b{name}\b[^`]*``", page)]


@pytest.mark.kernels
def test_each_compiles_by_its_long_name():
    """All calls in one function, so that it compiles once."""
    names = {"fc": fc, "np": np, "ONE": blocks.ONE, "ZERO": blocks.ZERO}
    names["QUANTITY"] = fc.Layout(fc.Moments("links", "links")).moments("links")
    exec(TRIAL.format(name="all", call="\n    ".join(CALLS.values())), names)
    names["called"](np.uint64(5), np.int64(7), np.zeros(8, np.int64))


@pytest.mark.kernels
def test_makers_make():
    @blocks.block
    def halfway(faults, curr, difference, whole, k, search):
        return blocks.highest_bit(difference)

    @blocks.scratch
    def set_up(params):
        return blocks.faults_for(np.int64(params[0]), np.int64(1), np.int64(0), np.int64(2)), blocks.search_scratch_for(
            1
        )

    walk = blocks.make_simulator(halfway)

    @blocks.block
    def trial(key, t, params, scratch, tally):
        faults, search = scratch
        blocks.draw(key, t, np.int64(params[0]), faults)
        tally[0] += walk(faults, faults.ends[0], faults.ends[1], np.uint64(15), np.int64(1), search) > 0

    tally = np.zeros(1, np.int64)
    blocks.trials_kernel(set_up, trial)(np.uint64(3), np.int64(0), np.int64(50), np.array([4.0]), tally)
    assert 0 < tally[0] <= 50


@blocks.kernel("float64(uint64, int64, int64)", cache=False)
def one_uniform(key, t, i):
    return blocks.uniform(key, t, i)


@blocks.kernel("int64(uint64, int64, int64, int64)", cache=False)
def one_below(key, t, i, m):
    return blocks.random_below(key, t, i, m)


@blocks.kernel("uint64(uint64, int64, uint64, uint64)", cache=False)
def one_link(key, t, x, bit):
    return blocks.link_status(blocks.link_status_key(key, np.uint64(t)), x, bit)


@pytest.mark.parametrize("key", [1, 2**63 + 12345])
def test_the_stream_is_the_documented_one(key):
    for t in (0, 2, 2**40):
        for i in (0, 1, 3, 20):
            assert one_uniform(key, t, i) == load_documented_sampler()["uniform"](key, t, i)
            # for 2^63 - 1 a word is kept half of the time, so attempts after the first are met
            for m in (1, 2, 10, 2**32 + 1, 3 * 2**61, 2**63 - 1):
                assert one_below(key, t, i, m) == load_documented_sampler()["random_below"](key, t, i, m)
        for x in (0, 5, 2**56 + 3):
            for d in (0, 2, 56):
                one = one_link(key, t, x, 1 << d)
                assert one == one_link(key, t, x ^ 1 << d, 1 << d)
                assert (one < 2**62) == load_documented_sampler()["is_link_faulty"](key, t, x, d, 0.25)


def test_known_answers():
    assert one_below(1, 2, 3, 10) == 3
    assert one_uniform(1, 2, 3) == 0.7172534499967621


def test_whole_numbers_are_equally_likely():
    """Chi-square of 3 at 30,000 draws: above 28 in 1e-6 of the cases."""
    counts = np.bincount([one_below(9, t, 0, 3) for t in range(30_000)], minlength=3)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 28


def test_node_and_link_statuses_do_not_share():
    """Under the nodes' key the link of x in dimension d would have the status of node 64 x + d."""

    @blocks.kernel("uint64(uint64, int64, uint64)", cache=False)
    def node(key, t, x):
        return blocks.status(blocks.status_key(key, np.uint64(t)), x)

    assert node(7, 3, 64 * 2 + 0) != one_link(7, 3, 2, 1)


def test_labels_may_be_of_either_type():
    """An int64 label shifted signs in: 0.6 of all nodes were faulty at a rate of 0.3."""

    @blocks.kernel("uint64(uint64, int64, int64, int64)", cache=False)
    def statuses(key, t, v, bit):
        return blocks.status(blocks.status_key(key, t), v) + blocks.link_status(blocks.link_status_key(key, t), v, bit)

    @blocks.kernel("uint64(uint64, int64, uint64, uint64)", cache=False)
    def wanted(key, t, v, bit):
        return blocks.status(blocks.status_key(key, np.uint64(t)), v) + one_link_status(key, t, v, bit)

    @blocks.block
    def one_link_status(key, t, v, bit):
        return blocks.link_status(blocks.link_status_key(key, np.uint64(t)), v, bit)

    for v in range(64):
        assert statuses(11, v // 8, v, 1 << (v % 6)) == wanted(11, v // 8, v, 1 << (v % 6))


#: Numbers of :func:`faults_for` that no cube has, and the range that is told.
TOO_MANY = [
    ((63, 0, 0, 0), "n must be in [1, 62], got 63"),
    ((3, 9, 0, 0), "f must be in [0, 8] for n=3, ends=0, got 9"),
    ((3, 7, 0, 2), "f must be in [0, 6] for n=3, ends=2, got 7"),
    ((3, -1, 0, 0), "f must be in [0, 8] for n=3, ends=0, got -1"),
    ((3, 0, 0, 9), "ends must be in [0, 8] for n=3, got 9"),
    ((3, 0, 13, 0), "links must be in [0, 12] for n=3, got 13"),
    ((58, 0, -1, 0), "links must be in [0, 8358680908399640576] for n=58, got -1"),
    ((59, 0, -1, 0), "links must be in [0, 59 * 2^58] for n=59, got -1"),
    ((62, 0, -(2**40), 0), "links must be in [0, 62 * 2^61] for n=62, got -1099511627776"),
    ((62, -1, 0, 2), "f must be in [0, 4611686018427387902] for n=62, ends=2, got -1"),
]


@fc.trial
def workspace_for(params):
    return blocks.faults_for(np.int64(params[0]), np.int64(params[1]), np.int64(params[2]), np.int64(params[3]))


@fc.trial
def holds_one(key, t, params, faults, out):
    out[0] = faults.labels.size > 0


@pytest.mark.slow
def test_faults_that_cannot_be_drawn_are_told_from_python_and_from_a_set_up(tmp_path):
    axes = [fc.Axis(name, name, int, -(2**40), 100) for name in ("n", "f", "links", "ends")]
    point = dict(zip(("n", "f", "links", "ends"), (3, 6, 12, 2), strict=True))
    study = fc.trial_study("odd", "odd", axes, [fc.Output("odd", "odd")], holds_one, [point], set_up=workspace_for)
    for numbers, reported in TOO_MANY:
        with pytest.raises(fc.ParameterError, match=rf"^{re.escape(reported)}$"):
            blocks.faults_for(*numbers)
        given = dict(zip(point, numbers, strict=True))
        where = f"set-up of odd at {','.join(f'{name}={value}' for name, value in given.items())}"
        with pytest.raises(fc.ParameterError, match=rf"^{re.escape(f'{where}: {reported}')}$"):
            fc.run(study, trials=100, output=tmp_path / "odd.h5", **given)
        assert not [*tmp_path.iterdir()]
    assert study.count(point, 1000).counts["odd_total"] == 1000  # all that there are
    blocks.faults_for(62, 3, 3, 2)


@blocks.block
def any_open(faults, curr, difference, whole, k, search, key, t, links):
    """Uniform among the open dimensions nearer, else among all open dimensions."""
    near = difference & ~blocks.blocked_bits(faults, curr, whole)
    among = near if near else whole & ~blocks.blocked_bits(faults, curr, whole)
    if among == blocks.ZERO:
        return blocks.ZERO
    for _ in range(blocks.random_below(key, t, links, blocks.popcount(among))):
        among ^= blocks.highest_bit(among)
    return blocks.highest_bit(among)


walk_any = blocks.make_simulator(any_open, drawing=True)


@blocks.kernel("int64(uint64, int64, int64, int64)", cache=False)
def one_wander(key, t, n, f):
    faults, search = blocks.faults_for(n, f, np.int64(0), np.int64(2)), blocks.search_scratch_for(np.int64(1))
    blocks.draw(key, t, n, faults)
    whole = (blocks.ONE << np.uint64(n)) - blocks.ONE
    return walk_any(faults, faults.ends[0], faults.ends[1], whole, np.int64(1), search, key, t)


def wandered(key, t, n, f):
    """The same in plain Python, with the numbers of docs/random.md."""
    nodes, _, ends = (x.tolist() for x in trial_faults(np.uint64(key), t, n, f, 0, 2))
    curr, links = ends[0], 0
    while curr != ends[1]:
        if links == 8 * n:
            return -3
        open_ = [1 << d for d in reversed(range(n)) if curr ^ 1 << d not in nodes]
        among = [bit for bit in open_ if bit & (curr ^ ends[1])] or open_
        if not among:
            return -1
        curr ^= among[load_documented_sampler()["random_below"](key, t, links, len(among))]
        links += 1
    return links


@pytest.mark.kernels
def test_a_rule_that_draws_walks_as_its_recipe_and_may_come_by_a_node_again():
    got = [one_wander(np.uint64(77), t, 4, 9) for t in range(300)]
    assert got == [wandered(77, t, 4, 9) for t in range(300)]
    assert {-1, -3} < set(got)
    assert max(got) > 4  # further than the cube is wide, back and forth
