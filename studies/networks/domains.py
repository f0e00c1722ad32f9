"""``survival-domains``: what boards and switches that fail as one cost, against as many nodes that fail one by one."""

from fastcube.exact.domains import count_domain_sets
from fastcube.measure.study import Grid, product_grid
from fastcube.measure.survival_domains import make_domains_study

_NETWORKS = ("hypercube", "crossed", "folded", "augmented")

#: Numbers of failed boards at n = 8 in which 32, 64, 96, 128, 160 and 192 nodes fail.
_BOARDS = [
    point
    for k, domain in enumerate(("board-2", "board-4", "board-8"), 1)
    for point in product_grid(
        network=_NETWORKS, n=8, f=0, domain=domain, domains=[nodes >> k for nodes in range(32, 193, 32)]
    )
]

#: BCube(8, 2), of 512 servers and 192 switches.
_SWITCHES = product_grid(network="hyperx-8", n=9, f=[0, 64], domain="switch", domains=[2, 4, 8, 12, 16, 24, 32, 48])

SURVIVAL_DOMAINS = make_domains_study(
    "survival-domains",
    "Connectivity of networks on 2^n nodes when boards or switches fail as one",
    (Grid("boards", _BOARDS, 100_000), Grid("switches", _SWITCHES, 100_000)),
    enumeration=count_domain_sets,
)
