"""The counters of the gathering kernel: five algorithms on one fault set, over FIND_TREE's tree.

A *unit* is the data of one node before the first stage; isolated and faulty nodes hold none.  It is *stranded* (unreachable) if
no path of nonfaulty nodes and links leads from the node to the sink.

A unit consists of common(n) = lcm(1..n-1) lcm(1..n-2) ... lcm(1) equal *parts*, so that a node can divide its data equally at
every stage.  The ``lost_`` counters are of parts.  All units together are less than 2^63 parts up to n = 10, hence two digits in
base 2^32; three digits hold parts times units, four the square.
"""

import math

from ..tally.layout import Counter, Layout, Maximum, Moments

#: The algorithms, with the names of their counters.
RUNS = {
    "as_printed": "FTTC as printed",
    "as_commented": "FTTC as commented",
    "corrected": "FTTC corrected",
    "reroute": "REROUTE",
    "tc": "TC",
}
#: Numbers of steps, with the names of their counters; k is the number of stages with a failing node.
STEPS = {
    "as_commented": "steps of FTTC as commented",
    "corrected": "steps of FTTC corrected",
    "paper": "n + k",
    "reroute": "n + 3k",
    "reroute_hops": "n + 2k",
}

#: Largest n whose amounts fit an int64.
MOST_DIMENSIONS = 10


def common_denominator(n: int) -> int:
    """Return common(n), the number of parts in a unit."""
    return math.prod(math.lcm(*range(1, m + 1)) for m in range(1, n))


GATHER = Layout(
    Counter("sink_exists", "trials with a sink"),
    Moments("expected", "units of data: nodes that hold data"),
    *(Counter(f"complete_{v}", f"trials with a sink in which {what} loses nothing") for v, what in RUNS.items()),
    *(Counter(f"lossy_{v}", f"trials in which {what} loses data") for v, what in RUNS.items()),
    *(Counter(f"lost_{v}", f"parts that {what} loses", digits=2) for v, what in RUNS.items()),
    *(Counter(f"lost_{v}_squared", f"parts that {what} loses, squared", digits=4) for v, what in RUNS.items()),
    *(Counter(f"lost_{v}_expected", f"parts that {what} loses, times units", digits=3) for v, what in RUNS.items()),
    Counter("deadlocked_as_printed", "trials in which FTTC as printed blocks a node for ever"),
    Counter("deadlocked_as_commented", "trials in which FTTC as commented blocks a node for ever"),
    Counter("deadlocked_corrected", "trials in which FTTC corrected blocks a node for ever"),
    Moments("unreachable_data", "stranded units"),
    Counter("unreachable_data_expected", "stranded units, times units"),
    Counter("with_unreachable_data", "trials with a stranded unit"),
    Counter("avoidable_loss", "trials in which FTTC as commented loses more than the stranded units"),
    Counter(
        "blocked_sender_without_helper", "trials in which a failing node has no active neighbour to give a partition to"
    ),
    *(Counter(f"steps_{v}", what) for v, what in STEPS.items()),
    *(Counter(f"steps_{v}_squared", f"{what}, squared") for v, what in STEPS.items()),
    Counter("slowdown_at_least_2", "trials in which FTTC as commented takes 2n steps or more"),
    Maximum("slowest", "most steps of FTTC as commented"),
)

#: The studies ``gather`` and ``rerouting`` use the same kernel.
REROUTING = GATHER
