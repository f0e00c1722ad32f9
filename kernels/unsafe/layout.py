"""The counters of the unsafe-node kernels: one layout each for f faults, rare events and independent failures."""

from ..tally.layout import Counter, Layout, Maximum, Moments

#: Indices of the axes in the parameters of a point with f faults.
N, F = range(2)
#: Index of the rate in the parameters of a point with independent failures; N is as above.
P = 1

#: Above this dimension trials with 8 unsafe nodes or more are also counted by classes; CLASSES has the least number of each.
SPLIT_ABOVE = 12
CLASSES = (8, 32, 128, 512, 2048, 8192, 1 << 15, 1 << 17, 1 << 19)

UNSAFE_FRACTION = Layout(
    Moments("unsafe_nodes", "unsafe nodes", 2, 4),
    Counter("with_unsafe", "trials with an unsafe node"),
    Counter("all_unsafe", "trials without an active node"),
    Moments("rounds", "rounds of FIND_UNSAFE"),
    Counter("close_pair", "trials with two faults within distance 2"),
    Counter("rounds_known", "trials whose rounds are known: no subcube of more than 30 dimensions"),
    Counter("rounds_bins", "trials by their rounds of FIND_UNSAFE, 31 or more in the last bin", bins=32),
    *(Counter(f"reached_{u}", f"trials with {u} unsafe nodes or more, n > {SPLIT_ABOVE}") for u in CLASSES),
    *(Counter(f"unsafe_nodes_{u}", f"unsafe nodes in class {u}, n > {SPLIT_ABOVE}", 2) for u in CLASSES),
    *(
        Counter(f"unsafe_nodes_squared_{u}", f"unsafe nodes in class {u}, squared, n > {SPLIT_ABOVE}", 4)
        for u in CLASSES
    ),
    Maximum("rounds", "most rounds of FIND_UNSAFE"),
)

#: Classes by the dimension of a trial's largest subcube, each with its least dimension.
DIMENSIONS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)

#: Classes that can have unsafe nodes.
MARKING = DIMENSIONS[1:]

#: Tally over importance-sampled trials that count; classes are by the largest subcube's dimension.
UNSAFE_RARE = Layout(
    Counter("acceptance", "trials that count: the planted pair is the first within distance 2"),
    *(Counter(f"unsafe_subcube_{d}", f"trials with a subcube of {d} dimensions or more") for d in MARKING),
    *(Counter(f"unsafe_nodes_{d}", f"unsafe nodes in class {d}", 2) for d in MARKING),
    *(Counter(f"unsafe_nodes_squared_{d}", f"unsafe nodes in class {d}, squared", 4) for d in MARKING),
    Counter("with_unsafe", "trials with an unsafe node"),
    Counter("all_unsafe", "trials without an active node"),
    Moments("rounds", "rounds of FIND_UNSAFE, where they are known"),
    Counter("rounds_unknown", "trials whose rounds are not known: a subcube of more than 30 dimensions"),
    Maximum("rounds", "most rounds of FIND_UNSAFE"),
    Maximum("largest", "dimension of the largest subcube"),
)

#: Largest n of ``unsafe-critical``.
MOST_CRITICAL_DIMENSIONS = 30

UNSAFE_CRITICAL = Layout(
    Moments("unsafe_nodes", "unsafe nodes", 1, 2, nonzero="with_unsafe"),
    Counter("all_unsafe", "trials without an active node"),
    Moments("rounds", "rounds of FIND_UNSAFE"),
    Counter(
        "rounds_bins",
        "trials by their rounds of FIND_UNSAFE, at most floor(n^2 / 3)",
        bins=MOST_CRITICAL_DIMENSIONS**2 // 3 + 1,
    ),
    Counter("faults", "faulty nodes"),
    Maximum("rounds", "most rounds of FIND_UNSAFE"),
)
