"""Line mutants of kernels: ten of a subject count otherwise somewhere, or a reason says why they cannot.

``helpers/kernel_mutants.py`` chooses the mutants.  Each runs as plain Python at the points at which other tests compare kernels
with each other, with plain Python or with a reference implementation.  A mutant that counts as the kernel does at all of these
points is a threshold, or a line, that no test would see broken.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from helpers.kernel_mutants import KERNELS
from helpers.processes import CLEAN_ENVIRONMENT
from helpers.study_table import POINTS, STUDIES

import fastcube as fc

pytestmark = pytest.mark.exhaustive

#: All subjects: folders with kernels to choose from and the layout of their counters.
SUBJECTS = sorted(path.parent.name for path in KERNELS.glob("*/layout.py") if path.with_name("dispatch.py").exists())

#: Mutants of each subject, and trials at a point of EDGES.
COUNT, EDGE_TRIALS = 10, 100

#: A mutant of a subject that is always run: it once passed all tests.
FURTHER = {
    "trees": (
        "trees.lanes",
        (
            "find_tree_lanes: crowded = _crowded_lanes(n, count, rows) if links >= n else ZERO"
            " -> crowded = _crowded_lanes(n, count, rows) if links > n else ZERO"
        ),
    )
}

#: Further points: a study, the values of its axes, a kernel, and trials.  They hold events too rare for the other points.
#: A function of helpers gives numbers that are in no tally.
FURTHER_POINTS = (
    ("broadcasting", (), "descents.list_entered", 0),
    ("broadcast", (1, 1, 0), "scalar.BROADCAST_SINGLE", 3),  # the fault and the source are all nodes
    ("broadcast", (4, 2, 1), "scalar.BROADCAST_SINGLE", 40),  # one faulty link, and faults for registers
    ("dualcube-routing", (1, 0.9), "scalar.TRIALS", 5),  # trials without two nonfaulty nodes, which are discarded
    ("spanning", (), "spanning_trials.list_ends", 0),  # neither source nor faulty node is in a tally
    ("edst-broadcast", (3, 2, 4), "scalar.EDST_BROADCAST_SINGLE", 10),  # the trees have packets of different numbers
    ("edge-disjoint-trees", (7, 49, 28), "scalar.EDGE_DISJOINT_TREES_SINGLE", 5),  # a flow to a node above the 64th
    ("edge-disjoint-trees", (7, 67, 3), "scalar.EDGE_DISJOINT_TREES_SINGLE", 3),  # a flow across dimension 6
    ("find-tree", (4, 4, 0), "lanes.find_tree_lanes", 8000),
    # several groups of labels, and trials in which only a search finds an eighth or finds none
    ("free-subcube", (7, 20, 0), "lanes.FREE_SUBCUBE_LANES_8", 130),
    ("free-subcube", (12, 40, 0), "lanes.FREE_SUBCUBE_LANES_16", 64),
    ("free-subcube", (34, 40, 0), "lanes.FREE_SUBCUBE_LANES_32", 32),
    ("free-subcube", (12, 22, 44), "scalar.FREE_SUBCUBE_SINGLE", 20),  # faults in two words
    ("free-subcube", (20, 80, 0), "scalar.FREE_SUBCUBE_SINGLE", 20),
    ("free-subcube", (20, 130, 0), "scalar.FREE_SUBCUBE_SINGLE", 4),
    ("free-subcube", (4, 0, 20), "scalar.FREE_SUBCUBE_SINGLE", 60),
    ("gather", (3, 1, 0), "scalar.GATHER_SINGLE", 60),
    ("gather", (3, 5, 0), "scalar.GATHER_SINGLE", 400),
    ("gather", (4, 14, 1), "scalar.GATHER_SINGLE", 400),
    ("gather", (5, 14, 2), "scalar.GATHER_SINGLE", 80),
    ("gather", (7, 60, 6), "scalar.GATHER_SINGLE", 20),
    ("multicast", (3, 2, 4), "scalar.MULTICAST_SINGLE", 80),
    ("multicast", (9, 20, 60), "scalar.MULTICAST_SINGLE", 20),
    ("multicast-deadlock", (4, 3), "scalar.MULTICAST_DEADLOCK_SINGLE", 5),
    ("wormhole", (), "multicast_trials.list_dependencies", 0),  # few arcs are in the cycles of a tally
    ("multicast-wormhole", (3, 2, 4, 3), "scalar.MULTICAST_WORMHOLE_SINGLE", 40),
    ("multicast-wormhole", (5, 4, 9, 8), "scalar.MULTICAST_WORMHOLE_SINGLE", 10),
    (
        "routing-rules",
        (6, 2, 0),
        "whole_cube.ROUTING_RULES_WHOLE_8",
        64,
    ),  # more than twice as many labels as are needed
    (
        "routing-rules",
        (6, 16, 0),
        "whole_cube.ROUTING_RULES_WHOLE_8",
        64,
    ),  # messages that safety levels deliver by a detour
    ("routing-rules", (8, 6, 0), "lanes.ROUTING_RULES_LANES_16", 600),  # close faults of which one is on the first path
    ("safety-status", (5, 6, 0), "status.SAFETY_STATUS_SINGLE", 20),  # no faulty link, so that safe nodes are marked
    ("two-partition", (12, 64), "bitmap.two_partition_marked", 60),  # pairs in each vector of the cube
    ("two-partition", (60, 222), "lanes.TWO_PARTITION_LANES_32", 30),  # trial 21 has a pair for the search in Q_60
    ("unsafe-fraction", (13, 150), "lanes.LANES_16", 3),  # a subcube of more than twelve dimensions
    ("unsafe-rare", (16, 40), "planting.PLANTED_TRIALS", 10),  # more labels than a vector holds
    # trial 1293 is disconnected by a label that replaces a repeat of the first one
    ("survival", ("hypercube", 4, 5, 0), "close_faults.SURVIVAL_CLOSE_FAULTS_8", 1291),
    ("survival", ("hypercube", 3, 6, 0), "scalar.SURVIVAL_SINGLE", 3),  # two nonfaulty nodes, a single pair
    # as many components as are counted
    ("survival-components", ("crossed", 4, 8, 6), "scalar.SURVIVAL_COMPONENTS", 60),
)

#: Mutants that always count alike, with the reason.
EQUIVALENT = {
    "broadcasting.descent.descent_for: return Descent(np.zeros(5, np.int64), np.zeros(waiting, np.uint64),"
    " np.zeros(waiting, np.uint64), np.zeros(waiting, np.int64), np.zeros(waiting, np.int64), np.zeros(waiting, np.int64),"
    " np.zeros(capacity, np.uint64), np.zeros(capacity, np.uint64), np.zeros(64, np.int64))"
    " -> return Descent(np.zeros(6, np.int64), np.zeros(waiting, np.uint64), np.zeros(waiting, np.uint64),"
    " np.zeros(waiting, np.int64), np.zeros(waiting, np.int64), np.zeros(waiting, np.int64), np.zeros(capacity, np.uint64),"
    " np.zeros(capacity, np.uint64), np.zeros(64, np.int64))": "of the six counters of the mutant five are used",
    "dualcube.lanes._set_up_first_attempt: if (s ^ t) & cross and u_node == 0 -> if s ^ t | cross and u_node == 0": (
        "vector code sets up the trials of one class whose u_node would be 0"
    ),
    "gathering.flow.count_stranded: for i in range(count - 1, -1, -1) -> for i in range(count - 1, -1, -2)": (
        "the mutant counts fewer nodes as joined, so that it only searches the cube more often"
    ),
    "partition.lanes._redraw_repeats: while distinct < wanted -> while distinct <= wanted": (
        "the mutant finds one label more, which goes to the spare row"
    ),
    "survival.drawing.empty_row_index: return max(np.int64(1) << n, np.int64(8)) -> return max(np.int64(2) << n, np.int64(8))": (
        "the empty row has a larger index, and no row between is read"
    ),
    "survival.failed_domains.domain_draws_for: ready = sampled + sampled * sampled // domain_count + 5 & ~np.int64(3)"
    " -> ready = sampled + sampled * sampled // domain_count + 6 & ~np.int64(3)": (
        "the mutant only samples more positions in lanes"
    ),
    "trees.lattice_lanes.optimal_tree_lanes:"
    " scratch = optimal_tree_scratch_for(n, links, np.int64(0), _LATTICE_LANES, np.uint8(0))"
    " -> scratch = optimal_tree_scratch_for(n, links, np.int64(1), _LATTICE_LANES, np.uint8(0))": (
        "the mutant only allocates more memory"
    ),
    "trees.orders.find_top_down_order: unused = (np.int64(1) << n) - 1 -> unused = (np.int64(1) >> n) - 1": (
        "all bits of the mutant are set, of which the lowest n are read"
    ),
    "trees.sparse._find_sparse_order: scratch.cost_outside[j] = 0 -> scratch.cost_outside[j] = 1": (
        "a number added to all costs changes no comparison"
    ),
    "unsafe.closure.rounds_inside: if word_count > spare.state.size -> if word_count >= spare.state.size": (
        "the mutant only allocates memory that it has"
    ),
    "wormhole.dependencies._add_class_arcs: if neighbour < rank and (not is_faulty)"
    " -> if neighbour <= rank and (not is_faulty)": "a neighbour has another rank",
    "routing_rules.safety_status.compute_status: if LEAST_LISTED_DIMENSION <= dimension_of(faults, i) <= MOST_PLANE_DIMENSIONS"
    " and faults.size[FAULTY_LINKS] == 0 and _list_nodes(status, faults, i, kind) -> if LEAST_LISTED_DIMENSION <"
    " dimension_of(faults, i) <= MOST_PLANE_DIMENSIONS and faults.size[FAULTY_LINKS] == 0 and _list_nodes(status, faults, i,"
    " kind)": "the mutant computes planes in place of a list, with the same statuses",
    "routing_rules.bytes_per_node.set_up: world = World(n, np.int64(params[F]), (ONE << np.uint64(n)) - ONE, marks_for(n),"
    " np.zeros(1, np.int64), np.zeros(2, np.uint64), search_scratch_for(np.int64(1)), label_set(nodes), np.empty(nodes,"
    " np.uint64)) -> world = World(n, np.int64(params[F]), (ONE << np.uint64(n)) - ONE, marks_for(n), np.zeros(1, np.int64),"
    " np.zeros(2, np.uint64), search_scratch_for(np.int64(2)), label_set(nodes), np.empty(nodes, np.uint64))": (
        "the mutant only allocates more memory"
    ),
}


def points_of(subject: str) -> list[Any]:
    """Points (study, values of the axes, kernel, trials) of the tests of a subject."""
    names = [name for name, study in STUDIES.items() if study.table.package.endswith(f".{subject}")]
    wanted = [
        (name, tuple(point.values()), kernel, trials)
        for name, point, trials in POINTS
        if name in names
        for kernel in STUDIES[name].find_serving(fc.study(name).point(point))
    ]
    for path in sorted((KERNELS / subject).glob("*.py")):
        edges = getattr(import_module(f"fastcube.kernels.{subject}.{path.stem}"), "EDGES", {})
        study = next((n for n in names if any(k.startswith(f"{path.stem}.") for k in STUDIES[n].table.names)), "")
        wanted += [
            (study, point, kernel, EDGE_TRIALS)
            for point in sorted({point for points in edges.values() for point in points})
            for kernel in STUDIES[study].table.names
            if kernel.startswith(f"{path.stem}.") and STUDIES[study].table.is_served(kernel, *point)
        ]
    return wanted + [point for point in FURTHER_POINTS if point[0] in (subject, *names)]


def run_mutants(subject: str, points: list[Any], count: int) -> dict[str, str]:
    """Where each mutant of a subject counts otherwise, from a process with kernels as plain Python."""
    run = subprocess.run(
        [sys.executable, "-m", "helpers.kernel_mutants"],
        input=json.dumps({"subject": subject, "points": points, "count": count, "further": FURTHER.get(subject)}),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
        env={**CLEAN_ENVIRONMENT, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return dict(json.loads(line) for line in run.stdout.splitlines())


@pytest.mark.parametrize("subject", SUBJECTS)
def test_mutants_of_a_subject_count_otherwise(subject):
    found = run_mutants(subject, points_of(subject), COUNT)
    alive = {mutant for mutant, difference in found.items() if not difference}
    assert len(found) >= COUNT and alive == {mutant for mutant in EQUIVALENT if mutant.startswith(f"{subject}.")}


def test_a_mutant_that_once_passed_all_tests_counts_otherwise():
    found = run_mutants("trees", [point for point in points_of("trees") if tuple(point[1]) == (4, 4, 0)], 0)
    assert len(found) == 1 and "[4, 4, 0]" in next(iter(found.values()))
