"""The random faults and messages of the study ``routing``, which studies of routing rules share: axes, grids and samples.

A message has a random source and a random destination among the nonfaulty nodes.
"""

from __future__ import annotations

import numpy as np

from ..errors import check_range
from ..kernels.routing.layout import MAX_SEARCHED_DIMENSION
from ..networks.hypercube import Hypercube
from .statistics import Point
from .study import Axis, Grid, Sample

#: Largest number of faulty nodes, and of faulty links, which kernels list one by one.
MAX_FAULTS = 65536

#: The axes of studies of rules.
AXES = (
    Axis("n", "dimension of the hypercube", int, 1, 62),
    Axis("f", "number of faulty nodes", int, 0, MAX_FAULTS),
    Axis("links", "number of faulty links", int, 0, MAX_FAULTS),
)

#: The study whose faults and messages the tables use, and the axis values that its random key needs in addition.
KEY_SOURCE = ("routing", {"k": 1})

#: The grids of studies of rules.
GRIDS = (
    Grid("nodes", [{"n": n, "f": f, "links": 0} for n in range(5, 13) for f in range(1, 2 * n + 1)], 10**5),
    Grid("heavy", [{"n": n, "f": 2**n * i // 20, "links": 0} for n in (8, 10) for i in range(1, 11)], 10**5),
    Grid(
        "large",
        [{"n": n, "f": f, "links": 0} for n in (14, 16, 18, 20, 24, 30, 60) for f in (n // 2, n, 2 * n)],
        10**5,
    ),
    Grid(
        "links",
        [{"n": n, "f": f, "links": k} for n in range(5, 11) for f in (0, 2) for k in range(1, 2 * n + 1)],
        10**5,
    ),
)


def check_point(point: Point) -> None:
    """Raise ParameterError unless at least two nodes are nonfaulty and the cube has enough links."""
    n = int(point["n"])
    check_range("f", point["f"], 0, min(2**n - 2, MAX_FAULTS), f"for n={n}, which leaves two nonfaulty nodes")
    check_range("links", point["links"], 0, min(n * 2 ** (n - 1), MAX_FAULTS), f"for n={n}")


def sample_trial(point: Point, key: int, trial: int) -> Sample:
    """Return a trial's faults, source and destination."""
    from ..kernels.routing_rules import replay

    n = int(point["n"])
    nodes, links, ends = replay.routing_rules(np.uint64(key), trial, n, int(point["f"]), int(point["links"]))
    return Sample(Hypercube(n, nodes, links.tolist()), {"s": int(ends[0]), "t": int(ends[1])})


def is_searched(point: Point) -> bool:
    """Whether the trials search for reachable destinations, which takes n <= 12."""
    return int(point["n"]) <= MAX_SEARCHED_DIMENSION
