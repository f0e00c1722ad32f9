"""Points of every study at which compiled and plain kernels are compared."""

import json

import numpy as np

import fastcube as fc
from helpers.compiled import KERNELS

#: Every kernel serves one of them, and where lanes do there are trials for a vector and some more.
POINTS = [
    ("unsafe-fraction", {"n": 2, "f": 2}, 30),
    ("unsafe-fraction", {"n": 5, "f": 3}, 150),
    ("unsafe-fraction", {"n": 7, "f": 9}, 70),
    ("unsafe-fraction", {"n": 8, "f": 4}, 140),
    ("unsafe-fraction", {"n": 12, "f": 6}, 200),
    ("unsafe-fraction", {"n": 31, "f": 10}, 100),
    ("unsafe-fraction", {"n": 40, "f": 8}, 100),
    ("unsafe-rare", {"n": 6, "f": 5}, 20),
    ("unsafe-rare", {"n": 20, "f": 12}, 10),
    ("unsafe-critical", {"n": 3, "p": 0.3}, 60),
    ("unsafe-critical", {"n": 9, "p": 0.012}, 12),
    ("unsafe-critical", {"n": 10, "p": 0.1}, 3),
    ("routing", {"n": 5, "f": 5, "links": 2, "k": 2}, 20),
    ("routing", {"n": 4, "f": 6, "links": 0, "k": 1}, 100),  # faults before t, which the walks in lanes must meet
    ("routing", {"n": 8, "f": 4, "links": 0, "k": 1}, 300),
    ("routing", {"n": 10, "f": 12, "links": 0, "k": 2}, 100),
    ("routing", {"n": 18, "f": 20, "links": 0, "k": 2}, 60),
    ("routing-rate", {"n": 5, "rate": 0.3, "k": 2}, 200),
    ("routing-rate", {"n": 40, "rate": 0.3, "k": 1}, 200),
    ("broadcast", {"n": 4, "f": 4, "links": 0}, 100),
    ("broadcast", {"n": 5, "f": 5, "links": 2}, 15),
    ("broadcast", {"n": 8, "f": 6, "links": 0}, 50),
    ("broadcast", {"n": 20, "f": 30, "links": 0}, 20),
    ("find-tree", {"n": 5, "links": 4, "f": 0}, 100),
    ("find-tree", {"n": 6, "links": 9, "f": 2}, 20),
    ("find-tree", {"n": 20, "links": 9, "f": 2}, 10),
    ("optimal-tree", {"n": 4, "links": 5, "f": 1}, 20),
    ("optimal-tree", {"n": 5, "links": 5, "f": 0}, 70),
    ("gather", {"n": 4, "links": 6, "f": 1}, 20),
    ("rerouting", {"n": 4, "links": 6, "f": 1}, 20),
    ("dualcube-routing", {"m": 2, "rate": 0.3}, 60),
    ("dualcube-routing", {"m": 4, "rate": 0.4}, 30),
    ("dualcube-routing", {"m": 12, "rate": 0.4}, 40),
    ("edst-broadcast", {"n": 5, "d": 3, "packets": 9}, 4),
    ("edge-disjoint-trees", {"n": 4, "f": 8, "links": 3}, 60),
    ("edge-disjoint-trees", {"n": 7, "f": 20, "links": 60}, 5),
    ("two-partition", {"n": 5, "f": 6}, 80),
    ("two-partition", {"n": 12, "f": 60}, 40),
    ("two-partition", {"n": 24, "f": 20}, 40),
    ("multicast", {"n": 5, "f": 4, "destinations": 5}, 20),
    ("multicast-deadlock", {"n": 3, "f": 2}, 10),
    ("multicast-wormhole", {"n": 3, "f": 1, "senders": 3, "destinations": 2}, 10),
    ("survival", {"network": "crossed", "n": 5, "f": 18, "links": 0}, 60),  # apart in many ways
    ("survival", {"network": "moebius1", "n": 3, "f": 3, "links": 0}, 30),  # the fewest that isolate a node
    ("survival", {"network": "crossed", "n": 3, "f": 7, "links": 0}, 4),  # one survivor
    ("survival", {"network": "hypercube", "n": 4, "f": 4, "links": 0}, 300),
    ("survival", {"network": "hypercube", "n": 4, "f": 5, "links": 0}, 150),
    ("survival", {"network": "hypercube", "n": 9, "f": 12, "links": 0}, 70),
    ("survival", {"network": "twisted", "n": 5, "f": 8, "links": 36}, 20),  # no smaller end names a link
    ("survival-rate", {"network": "crossed", "n": 5, "rate": 0.2, "link_rate": 0.0}, 20),
    ("survival-rate", {"network": "crossed", "n": 5, "rate": 0.2, "link_rate": 0.1}, 20),
    ("survival-components", {"network": "crossed", "n": 5, "f": 6, "links": 3}, 20),
    ("rivals", {"n": 5, "f": 5, "links": 2}, 20),
    ("rivals", {"n": 7, "f": 12, "links": 0}, 70),
    ("rivals", {"n": 9, "f": 12, "links": 0}, 40),
    ("rivals", {"n": 18, "f": 12, "links": 0}, 20),
    ("rivals-rate", {"n": 8, "rate": 0.3}, 30),
    ("rivals-status", {"n": 5, "f": 6, "links": 1}, 20),
]


def serving_kernels(name, point):
    """Names of the kernels that serve a point of a study."""
    return [kernel for kernel in KERNELS[name][0].names if KERNELS[name][0].is_served(kernel, *point.values())]


def count_as_json(name, kernel, point, trials):
    """What a kernel counts, as JSON; the digits that a counter is kept in may differ."""
    study = fc.study(name)
    slots = study.tally.new_tally()
    body = KERNELS[name][0].load_kernel(kernel).compiled
    body(np.uint64(study.key(5, point)), 3, 3 + trials, study.parameters(point), slots)
    return json.dumps(study.tally.read(slots))
