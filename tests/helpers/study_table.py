"""One row per study, for the tests of kernels, of compiling and of many trials."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import fastcube as fc
from fastcube.kernels.broadcasting import dispatch as broadcasting
from fastcube.kernels.dualcube import dispatch as dualcube
from fastcube.kernels.free_subcube import dispatch as free_subcube
from fastcube.kernels.gathering import dispatch as gathering
from fastcube.kernels.machine.dispatch import KernelTable
from fastcube.kernels.multicasting import dispatch as multicasting
from fastcube.kernels.partition import dispatch as partition
from fastcube.kernels.routing import dispatch as routing
from fastcube.kernels.routing_rules import dispatch as routing_rules
from fastcube.kernels.spanning import dispatch as spanning
from fastcube.kernels.survival import dispatch as survival
from fastcube.kernels.trees import dispatch as trees
from fastcube.kernels.unsafe import dispatch as unsafe
from fastcube.kernels.wormhole import dispatch as wormhole

#: Numbers of faults, links and destinations that are looked through: all small numbers, then ten to a doubling.
SIZES = tuple(sorted({*range(34), *(round(2 ** (i / 10)) for i in range(50, 161))}))
RATES = tuple(i / 200 for i in range(1, 200, 3))


@dataclass(frozen=True, eq=False)
class Sweep:
    """Points at which every two kernels are compared: the axis n (or m) by ``along``, at each of ``others``."""

    along: str
    values: tuple[float, ...]
    others: tuple[dict[str, Any], ...] = ({},)

    def find_points(self, name: str, others: dict[str, Any]) -> dict[tuple[int, int], dict[str, Any]]:
        """Return the possible points of a study, by n and the number of the value."""
        study = fc.study(name)
        axis = next(axis for axis in study.axes if axis.name in ("n", "m"))
        out = {}
        for n, (i, value) in itertools.product(range(int(axis.low), int(axis.high) + 1), enumerate(self.values)):
            try:
                point = study.point({axis.name: n, self.along: value, **others})
                study.check(point)
            except fc.ParameterError:
                continue
            out[n, i] = point
        return out


@dataclass(frozen=True)
class Study:
    """The row of a study.

    Parameters
    ----------
    table
        Its kernels.
    default
        The kernel that default tests compile and compare with the reference implementation; "" for the two that take as long to
        compile as the ten quickest, and that stand beside another study of their subject.
    points
        Points, with a number of trials, at which all kernels are compared with plain Python.  Every kernel serves one of them;
        where lanes serve, there are trials for a vector and some more.
    sweep
        Points at which every two kernels count the same trials; None where one kernel serves all points.
    reference
        Function of ``helpers`` that compares trials with the reference implementation, and its arguments before the
        number of trials; None where the sweep compares with another kernel.
    """

    table: KernelTable
    default: str
    points: tuple[tuple[dict[str, Any], int], ...]
    sweep: Sweep | None = None
    reference: tuple[str, tuple[Any, ...]] | None = None

    def find_serving(self, point: dict[str, Any]) -> list[str]:
        """Return the names of the kernels that serve a point."""
        return [name for name in self.table.names if self.table.is_served(name, *point.values())]

    def load_reference(self) -> Callable[[int], None]:
        """Return the comparison with the reference implementation, a function of the number of trials."""
        assert self.reference is not None
        (name, arguments) = self.reference
        module, _, function = name.partition(".")
        compare = getattr(importlib.import_module(f"helpers.{module}"), function)
        return lambda trials: compare(*arguments, trials)


STUDIES = {
    "unsafe-fraction": Study(
        unsafe.UNSAFE_FRACTION,
        "small.SMALL_6",
        (
            ({"n": 2, "f": 2}, 30),
            ({"n": 5, "f": 3}, 150),
            ({"n": 7, "f": 9}, 70),
            ({"n": 8, "f": 4}, 140),
            ({"n": 12, "f": 6}, 200),
            ({"n": 31, "f": 10}, 100),
            ({"n": 40, "f": 8}, 100),
        ),
        sweep=Sweep("f", SIZES),
    ),
    "unsafe-rare": Study(
        unsafe.UNSAFE_RARE,
        "planting.PLANTED_TRIALS",
        (
            ({"n": 6, "f": 5}, 20),
            ({"n": 20, "f": 12}, 10),
        ),
        reference=(
            "planted_trials.check_planted",
            (
                6,
                5,
                0,
            ),
        ),
    ),
    "unsafe-critical": Study(
        unsafe.UNSAFE_CRITICAL,
        "rate.unsafe_digits",
        (
            ({"n": 3, "p": 0.3}, 60),
            ({"n": 9, "p": 0.012}, 12),
            ({"n": 10, "p": 0.1}, 3),
        ),
        sweep=Sweep("p", RATES),
        reference=(
            "unsafe_rate_trials.check_critical",
            (
                4,
                0.25,
            ),
        ),
    ),
    "routing": Study(
        routing.ROUTING,
        "scalar.ROUTING_SINGLE",
        (
            ({"n": 5, "f": 5, "links": 2, "k": 2}, 20),
            ({"n": 4, "f": 6, "links": 0, "k": 1}, 100),  # faults before t, which the walks in lanes must meet
            ({"n": 8, "f": 4, "links": 0, "k": 1}, 300),
            ({"n": 10, "f": 12, "links": 0, "k": 2}, 100),
            ({"n": 18, "f": 20, "links": 0, "k": 2}, 60),
        ),
        sweep=Sweep("f", SIZES, tuple({"links": 0, "k": k} for k in (1, 2, 4))),
    ),
    "routing-rate": Study(
        routing.ROUTING_RATE,
        "rate.routing_rate",
        (
            ({"n": 5, "rate": 0.3, "k": 2}, 200),
            ({"n": 40, "rate": 0.3, "k": 1}, 200),
        ),
        reference=(
            "routing_trials.check_rate",
            (
                6,
                0.3,
                2,
            ),
        ),
    ),
    "broadcast": Study(
        broadcasting.BROADCAST,
        "scalar.BROADCAST_SINGLE",
        (
            ({"n": 4, "f": 4, "links": 0}, 100),
            ({"n": 5, "f": 5, "links": 2}, 15),
            ({"n": 8, "f": 6, "links": 0}, 50),
            ({"n": 20, "f": 30, "links": 0}, 20),
        ),
        sweep=Sweep("f", SIZES, ({"links": 0},)),
    ),
    "find-tree": Study(
        trees.FIND_TREE,
        "scalar.FIND_TREE_DENSE",
        (
            ({"n": 5, "links": 4, "f": 0}, 100),
            ({"n": 6, "links": 9, "f": 2}, 20),
            ({"n": 20, "links": 9, "f": 2}, 10),
        ),
        sweep=Sweep("links", SIZES, ({"f": 0},)),
    ),
    "optimal-tree": Study(
        trees.OPTIMAL_TREE,
        "lattice.OPTIMAL_TREE_8",
        (
            ({"n": 4, "links": 5, "f": 1}, 20),
            ({"n": 5, "links": 5, "f": 0}, 70),
        ),
        sweep=Sweep("links", SIZES, ({"f": 0},)),
    ),
    "gather": Study(
        gathering.GATHER,
        "scalar.GATHER_SINGLE",
        (({"n": 4, "links": 6, "f": 1}, 20),),
        reference=(
            "gathering_trials.check_trials",
            (
                4,
                6,
                1,
            ),
        ),
    ),
    "rerouting": Study(
        gathering.REROUTING,
        "scalar.GATHER_SINGLE",
        (({"n": 4, "links": 6, "f": 1}, 20),),
        reference=(
            "gathering_trials.check_trials",
            (
                4,
                6,
                1,
            ),
        ),
    ),
    "dualcube-routing": Study(
        dualcube.DUALCUBE_ROUTING,
        "scalar.TRIALS",
        (
            ({"m": 2, "rate": 0.3}, 60),
            ({"m": 4, "rate": 0.4}, 30),
            ({"m": 12, "rate": 0.4}, 40),
        ),
        sweep=Sweep("rate", tuple(i / 10 for i in range(10))),
        reference=(
            "dualcube_trials.check_trials",
            (
                3,
                0.4,
            ),
        ),
    ),
    "edst-broadcast": Study(
        spanning.EDST_BROADCAST,
        "scalar.EDST_BROADCAST_SINGLE",
        (({"n": 5, "d": 3, "packets": 9}, 4),),
        reference=(
            "spanning_trials.check_packets",
            (
                {"n": 4, "d": 3, "packets": 7},
                0,
            ),
        ),
    ),
    "edge-disjoint-trees": Study(
        spanning.EDGE_DISJOINT_TREES,
        "scalar.EDGE_DISJOINT_TREES_SINGLE",
        (
            ({"n": 4, "f": 8, "links": 3}, 60),
            ({"n": 7, "f": 20, "links": 60}, 5),
        ),
        reference=(
            "spanning_trials.check_numbers",
            (
                {"n": 4, "f": 3, "links": 4},
                0,
            ),
        ),
    ),
    "two-partition": Study(
        partition.TWO_PARTITION,
        "scalar.TWO_PARTITION_SINGLE",
        (
            ({"n": 5, "f": 6}, 80),
            ({"n": 12, "f": 60}, 40),
            ({"n": 24, "f": 20}, 40),
        ),
        sweep=Sweep("f", SIZES),
    ),
    "free-subcube": Study(
        free_subcube.FREE_SUBCUBE,
        "scalar.FREE_SUBCUBE_SINGLE",
        (
            ({"n": 4, "f": 4, "links": 0}, 140),
            ({"n": 6, "f": 5, "links": 9}, 20),
            ({"n": 10, "f": 14, "links": 0}, 60),
            ({"n": 10, "f": 70, "links": 0}, 5),
            ({"n": 18, "f": 19, "links": 0}, 40),
            ({"n": 40, "f": 10, "links": 0}, 40),
        ),
        sweep=Sweep("f", SIZES, ({"links": 0},)),
    ),
    "multicast": Study(
        multicasting.MULTICAST,
        "scalar.MULTICAST_SINGLE",
        (({"n": 5, "f": 4, "destinations": 5}, 20),),
        reference=(
            "multicast_trials.check_multicasts",
            (
                3,
                2,
                3,
                0,
            ),
        ),
    ),
    "multicast-deadlock": Study(
        wormhole.MULTICAST_DEADLOCK,
        "scalar.MULTICAST_DEADLOCK_SINGLE",
        (({"n": 3, "f": 2}, 10),),
        reference=(
            "multicast_trials.check_graphs",
            (
                3,
                2,
                0,
            ),
        ),
    ),
    "multicast-wormhole": Study(
        wormhole.MULTICAST_WORMHOLE,
        "scalar.MULTICAST_WORMHOLE_SINGLE",
        (({"n": 3, "f": 1, "senders": 3, "destinations": 2}, 10),),
        reference=(
            "multicast_trials.check_simulations",
            (
                (3, 1, 3, 2),
                0,
            ),
        ),
    ),
    "survival": Study(
        survival.SURVIVAL,
        "scalar.SURVIVAL_SINGLE",
        (
            ({"network": "crossed", "n": 5, "f": 18, "links": 0}, 60),  # different in many ways
            ({"network": "moebius1", "n": 3, "f": 3, "links": 0}, 30),  # the fewest that isolate a node
            ({"network": "crossed", "n": 3, "f": 7, "links": 0}, 4),  # one survivor
            ({"network": "hypercube", "n": 4, "f": 4, "links": 0}, 300),
            ({"network": "hypercube", "n": 4, "f": 5, "links": 0}, 150),
            ({"network": "hypercube", "n": 9, "f": 12, "links": 0}, 70),
            ({"network": "twisted", "n": 5, "f": 8, "links": 36}, 20),  # no smaller end names a link
        ),
        sweep=Sweep(
            "f",
            SIZES,
            (
                {"network": "hypercube", "links": 0},
                {"network": "crossed", "links": 0},
                {"network": "moebius1", "links": 9},
            ),
        ),
    ),
    "survival-rate": Study(
        survival.SURVIVAL_RATE,
        "",
        (
            ({"network": "crossed", "n": 5, "rate": 0.2, "link_rate": 0.0}, 20),
            ({"network": "crossed", "n": 5, "rate": 0.2, "link_rate": 0.1}, 20),
        ),
        sweep=Sweep("rate", RATES, ({"network": "crossed", "link_rate": 0.0},)),
    ),
    "survival-components": Study(
        survival.SURVIVAL_COMPONENTS,
        "scalar.SURVIVAL_COMPONENTS",
        (({"network": "crossed", "n": 5, "f": 6, "links": 3}, 20),),
        reference=(
            "survival_trials.check_parts",
            (
                "crossed",
                4,
                5,
                2,
                0,
            ),
        ),
    ),
    "survival-curve": Study(
        survival.CURVE,
        "curve.CURVE_NODES",
        (
            ({"network": "hypercube", "failing": "nodes", "n": 7, "failed": 60}, 4),
            ({"network": "crossed", "failing": "nodes", "n": 4, "failed": 9}, 20),
            ({"network": "exchanged", "failing": "links", "n": 4, "failed": 12}, 10),
        ),
        sweep=Sweep("failed", SIZES, ({"network": "hypercube", "failing": "nodes"},)),
        reference=(
            "curve_trials.check_curve",
            (
                "crossed",
                "nodes",
                4,
                1,
                0,
            ),
        ),
    ),
    "survival-domains": Study(
        survival.SURVIVAL_DOMAINS,
        "domains.SURVIVAL_BOARDS",
        (
            ({"network": "crossed", "n": 5, "f": 9, "domain": "board-2", "domains": 5}, 140),  # nodes that fail twice
            ({"network": "hypercube", "n": 4, "f": 0, "domain": "board-4", "domains": 3}, 20),  # most boards fail
            (
                {"network": "folded", "n": 9, "f": 300, "domain": "board-8", "domains": 3},
                5,
            ),  # most nodes fail one by one
            ({"network": "hyperx-4", "n": 4, "f": 3, "domain": "switch", "domains": 3}, 20),
        ),
        reference=("domains_trials.check_study", ("board-2",)),
    ),
    "hitting": Study(
        survival.HITTING,
        "hitting.HITTING_NODES",
        (
            ({"network": "hypercube", "failing": "nodes", "n": 6}, 4),
            ({"network": "crossed", "failing": "nodes", "n": 4}, 20),
            ({"network": "twisted", "failing": "links", "n": 3}, 10),
        ),
        reference=(
            "curve_trials.check_hitting",
            (
                "crossed",
                "nodes",
                4,
                0,
            ),
        ),
    ),
    "routing-rules": Study(
        routing_rules.ROUTING_RULES,
        "",
        (
            ({"n": 5, "f": 5, "links": 2}, 20),
            ({"n": 7, "f": 12, "links": 0}, 70),
            ({"n": 9, "f": 12, "links": 0}, 40),
            ({"n": 18, "f": 12, "links": 0}, 20),
        ),
        sweep=Sweep("f", SIZES, ({"links": 0},)),
        reference=(
            "routing_rules_trials.check_rules",
            (
                4,
                4,
                1,
            ),
        ),
    ),
    "routing-rules-rate": Study(
        routing_rules.ROUTING_RULES_RATE,
        "rate.ROUTING_RULES_RATE_SINGLE",
        (({"n": 8, "rate": 0.3}, 30),),
        reference=(
            "routing_rules_trials.check_rate",
            (
                4,
                0.4,
            ),
        ),
    ),
    "safety-status": Study(
        routing_rules.SAFETY_STATUS,
        "status.SAFETY_STATUS_SINGLE",
        (({"n": 5, "f": 6, "links": 1}, 20),),
        reference=(
            "routing_rules_trials.check_status",
            (
                4,
                5,
                0,
            ),
        ),
    ),
}

#: All points at which kernels are compared with plain Python: study, point, number of trials.
POINTS = [(name, point, trials) for name, study in STUDIES.items() for point, trials in study.points]
