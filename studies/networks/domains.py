"""``survival-domains``: what boards and switches that fail as one cost, against as many nodes that fail one by one."""

from fastcube.exact.domains import count_domain_sets
from fastcube.measure.study import Grid
from fastcube.measure.survival_domains import make_domain_points, make_domains_study

#: Numbers of failed boards at n = 8 in which 32, 64, ..., 160 of the 256 nodes fail.
_BOARDS = [
    point
    for k in (1, 2, 3)
    for point in make_domain_points(["hypercube", "folded"], 8, f"board-{2**k}", range(32 >> k, 192 >> k, 32 >> k))
]

#: BCube(8, 2), of 512 servers and 192 switches.
_SWITCHES = make_domain_points(["hyperx-8"], 9, "switch", [2, 4, 8, 12, 16, 24, 32, 48], f=[0, 64])

SURVIVAL_DOMAINS = make_domains_study(
    "survival-domains",
    "Connectivity of networks on 2^n nodes when boards or switches fail as one",
    (Grid("boards", _BOARDS, 100_000), Grid("switches", _SWITCHES, 100_000)),
    enumeration=count_domain_sets,
)
