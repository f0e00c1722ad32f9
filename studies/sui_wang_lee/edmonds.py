"""The study ``edge-disjoint-trees``: how many edge-disjoint spanning trees remain in Q_n with random faults.

The study compares two numbers of the nonfaulty graph, the nonfaulty nodes with the nonfaulty links between them:

lambda, ``trees`` in this file: the largest number of spanning trees, rooted at one node, that use each link at most once per
direction.  By Edmonds' theorem (interpretation S11) it is the edge connectivity, for any root.  The statistic
``max_edge_disjoint_trees`` is its mean.

delta, ``degree`` in this file: the smallest degree of a node, which lambda cannot exceed.  The statistic ``min_degree`` is its
mean, and ``packing_equals_min_degree`` is the probability that the two are equal.

The grid ``links`` has faulty links in place of faulty nodes.
"""

import functools
from collections.abc import Callable
from typing import Any

from fastcube import resources
from fastcube.errors import check_integer, check_range
from fastcube.kernels.spanning import dispatch, layout
from fastcube.kernels.spanning.layout import MOST_DIMENSIONS
from fastcube.measure.fault_sets import describe_faulty_nodes
from fastcube.measure.statistics import Mean, Proportion
from fastcube.measure.study import Axis, Explanation, Grid, Notes, Point, Sample, Study, join_limited, point_text
from fastcube.measure.tally import Tally
from fastcube.networks.hypercube import Hypercube
from fastcube.results.results import Results

#: Fractions of faulty nodes or links in the grids, in parts of 32: up to one half.
_PARTS = range(17)
#: Values of n in the grids.
_SIZES = range(3, 9)


def count_links(n: int) -> int:
    """Return the number of links of Q_n."""
    return n << n - 1


def _check_point(point: Point) -> None:
    n = int(point["n"])
    check_range("f", point["f"], 0, 2**n - 2, f"for n={n}")
    check_range("links", point["links"], 0, count_links(n), f"for n={n}")


def trial_cube(key: int, trial: int, point: Point) -> Hypercube:
    """Return the hypercube of a trial, with its faults."""
    from fastcube.kernels.spanning import replay

    n, f, links = (int(point[name]) for name in ("n", "f", "links"))
    return Hypercube(n, *replay.sample_edge_disjoint_trees(key, trial, n, f, links))


#: Number of fault sets by (lambda, delta).
Joint = dict[tuple[int, int], int]


@functools.cache
def joint_counts() -> dict[tuple[int, str], list[Joint]]:
    """Return the counts of ``data/spanning-trees.json``: (n, "nodes" or "links") -> joint counts for 0, 1, 2, ... faults.

    They come from an enumeration in plain Python: all sets of faulty nodes up to Q_4 and of at most 5 of Q_5, all sets of faulty
    links up to Q_3 and of at most 4 of Q_4.  Raises ParameterError where the file is damaged.
    """
    out = {}
    with resources.wrap_damage_errors("spanning-trees"):
        for name, sizes in resources.read_json("spanning-trees").items():
            if name[:2] == "n=":
                n, kind = name[2:].split()
                out[int(n), kind] = [{_parse_pair(text): int(sets) for text, sets in joint.items()} for joint in sizes]
    return out


def _parse_pair(text: str) -> tuple[int, int]:
    """Return lambda and delta from their text, such as ``2,3``."""
    trees, degree = map(int, text.split(","))
    return trees, degree


def _enumeration(point: Point) -> Tally:
    """Return the tally of all fault sets at a point with faulty nodes or faulty links, not both, from ``joint_counts``.

    It has the counters of the exact values only; ``linked``, for example, serves the interval of a mean.
    """
    n, f, links = (int(point[name]) for name in ("n", "f", "links"))
    kind, axis, faults = ("links", "links", links) if links else ("nodes", "f", f)
    check_integer("n", n, 2, max(n for n, known in joint_counts() if known == kind), "for exact values")
    check_integer("f", f, 0, 0 if links else f, f"for exact values at links={links}")
    by_faults = joint_counts()[n, kind]
    joint = by_faults[check_integer(axis, faults, 0, len(by_faults) - 1, f"for exact values at n={n}")]

    def sum_over_sets(value: Callable[[int, int], int]) -> int:
        return sum(sets * value(trees, degree) for (trees, degree), sets in joint.items())

    counts = {
        "trees": sum_over_sets(lambda trees, degree: trees),
        "degree": sum_over_sets(lambda trees, degree: degree),
        "connected": sum_over_sets(lambda trees, degree: trees > 0),
        "isolated_node": sum_over_sets(lambda trees, degree: degree == 0),
        "packing_equals_min_degree": sum_over_sets(lambda trees, degree: trees == degree),
        "packing_equals_min_degree_connected": sum_over_sets(lambda trees, degree: trees == degree > 0),
    }
    largest_gap = max(degree - trees for trees, degree in joint)
    return Tally(((0, sum(joint.values())),), counts, {"largest_gap": (largest_gap, 0)})


# ---------------------------------------------------------------- replay


def _sample_trial(point: Point, key: int, trial: int) -> Sample:
    return Sample(trial_cube(key, trial, point))


def _explain(point: Point, key: int, trial: int) -> Explanation:
    from fastcube.algorithms.spanning_flows import NonfaultyGraph, iterate_members

    cube = trial_cube(key, trial, point)
    links = sorted(cube.faulty_links)
    graph = NonfaultyGraph(cube)
    trees, side = graph.minimum_edge_cut()
    degree = graph.min_degree
    node = graph.find_node_of_degree(degree)
    cut = graph.list_cut(side)
    smaller = min(side, graph.nodes & ~side, key=lambda part: (part.bit_count(), part))
    smaller_nodes = sorted(iterate_members(smaller))
    lines = [describe_faulty_nodes(cube)]
    if links:
        lines.append(f"  {len(links)} faulty links: {join_limited((_link_text(cube, *link) for link in links), 64)}")
    lines.append(
        f"  lambda = {trees} edge-disjoint spanning trees, smallest degree delta = {degree}, at {cube.label(node)}"
    )
    lines.append(f"  a smallest cut: {join_limited((_link_text(cube, *link) for link in cut), 64)}")
    lines.append(
        f"  its smaller side, {len(smaller_nodes)} of {graph.nodes.bit_count()} nodes: "
        f"{join_limited(map(cube.label, smaller_nodes), 64)}"
    )
    data = {
        "faulty_nodes": sorted(cube.faulty_nodes),  # type: ignore[arg-type]
        "faulty_links": [list(link) for link in links],
        "trees": trees,
        "min_degree": degree,
        "node": node,
        "cut": [list(link) for link in cut],
        "side": smaller_nodes,
    }
    return Explanation("\n".join(lines), data)


def _link_text(cube: Hypercube, u: int, v: int) -> str:
    return f"{cube.label(u)}-{cube.label(v)}"


# ---------------------------------------------------------------- figure and notes


def _fault_fraction(point: Point, axis: str) -> float:
    """Return the fraction of the nodes (axis ``f``) or of the links that are faulty."""
    n = int(point["n"])
    return int(point[axis]) / (2**n if axis == "f" else count_links(n))


def _figure(results: Results, sheet: Any) -> None:
    """Plot the means of lambda and delta against the fraction of faults (above), and P(lambda < delta) (below)."""
    done = [point for point, tally in results if tally.trials]
    axis = "links" if any(point["links"] for point in done) and not any(point["f"] for point in done) else "f"
    faulty = "links" if axis == "links" else "nodes"
    above, below = sheet.panels(rows=2)
    sizes = sorted({int(point["n"]) for point in done})
    for i, n in enumerate(sizes):
        points = sorted((p for p in done if p["n"] == n), key=lambda p: (p[axis], p["f"], p["links"]))
        at = [_fault_fraction(point, axis) for point in points]
        estimates = [results.estimates(point) for point in points]
        trees = [e["max_edge_disjoint_trees"] for e in estimates]
        above.series(f"n = {n}", [*zip(at, trees, strict=True)], like=i, of=len(sizes))
        colour = above.measured_lines[-1].look["color"]
        degrees = [e["min_degree"].value for e in estimates]
        above.axes.plot(at, degrees, color=colour, linestyle=":", linewidth=1.2, zorder=1.5)
        fewer = [e["packing_equals_min_degree"].complement for e in estimates]
        below.series(f"n = {n}", [*zip(at, fewer, strict=True)], like=i, of=len(sizes))
    if sizes:
        above.curve([], [], "mean of the smallest\ndegree δ")  # for the legend
    above.scale, below.scale = "linear", "log"
    for panel in (above, below):
        panel.by = ("n",)
    x = f"fraction of faulty {faulty}"
    above.set_labels(x=x, y="mean number", title="Edge-disjoint spanning trees λ, and the smallest degree δ")
    below.set_labels(x=x, y="P(λ < δ)", title="How often there are fewer trees than the smallest degree")
    sheet.title(f"Edge-disjoint spanning trees of Q_n with random faulty {faulty}")


def _notes(results: Results) -> list[str]:
    """Return notes on the largest difference of delta and lambda, and on P(lambda = delta) for few faulty nodes."""
    done = [(point, tally) for point, tally in results if tally.trials]
    if not done:
        return []
    (gap, trial), point = max(((t.maxima["largest_gap"], p) for p, t in done), key=lambda pair: pair[0][0])
    lines = ["no trial with lambda < delta"]
    if gap:
        lines = [f"largest delta - lambda: {gap}, first in trial {trial} at {point_text(point)}"]
    few = [p for p, _ in done if 1 <= p["f"] <= 2 * p["n"] and not p["links"]]
    if few:
        lines.append("P(lambda = delta) for 1 <= f <= 2n:")
        lines += [f"  {point_text(p)}: {_interval_text(results, p)}" for p in few]
    return lines


def _interval_text(results: Results, point: Point) -> str:
    """Return P(lambda = delta) with its interval, or its lower limit if the estimate is 1."""
    e = results.estimates(point)["packing_equals_min_degree"]
    return f"1, above {e.low:.5f}" if e.value == 1 else f"{e.value:.5f} in [{e.low:.5f}, {e.high:.5f}]"


# ---------------------------------------------------------------- the study


def _dimension(point: Point) -> float:
    return float(point["n"])


def _node_points() -> list[Point]:
    return [{"n": n, "f": f, "links": 0} for n in _SIZES for f in sorted({round(j * 2**n / 32) for j in _PARTS})]


def _link_points() -> list[Point]:
    return [
        {"n": n, "f": 0, "links": k} for n in _SIZES for k in sorted({round(j * count_links(n) / 32) for j in _PARTS})
    ]


EDGE_DISJOINT_TREES = Study(
    name="edge-disjoint-trees",
    title="Edge-disjoint spanning trees of Q_n with random faulty nodes and links",
    source="after Sui, Wang & Lee, Theorem 1",
    revision=1,
    axes=(
        Axis("n", "dimension of the hypercube", int, 2, MOST_DIMENSIONS),
        Axis("f", "number of faulty nodes", int, 0, 2**MOST_DIMENSIONS - 2),
        Axis("links", "number of faulty links", int, 0, count_links(MOST_DIMENSIONS)),
    ),
    tally=layout.EDGE_DISJOINT_TREES,
    statistics=(
        Mean(
            name="max_edge_disjoint_trees",
            description="mean lambda, the largest number of spanning trees of the nonfaulty nodes, rooted at one node, "
            "that use each link once per direction, 0 if disconnected",
            total="trees",
            nonzero="connected",
            bound=_dimension,
        ),
        Mean(
            name="min_degree",
            description="mean delta, the smallest number of nonfaulty links to nonfaulty nodes that a nonfaulty node has",
            total="degree",
            nonzero="linked",
            bound=_dimension,
        ),
        Proportion(
            name="packing_equals_min_degree",
            description="probability that lambda, the number of trees that use each link once per direction, is the "
            "smallest degree, over all trials",
        ),
        Proportion(
            name="connected",
            description="probability that the nonfaulty nodes are connected, which is lambda >= 1",
            shown=False,
        ),
        Proportion(
            name="packing_equals_min_degree_connected",
            description="probability that lambda = delta, among trials whose nonfaulty nodes are connected",
            condition="connected",
            shown=False,
        ),
        Proportion(
            name="isolated_node",
            description="probability that some nonfaulty node has no nonfaulty link to a nonfaulty node (delta = 0)",
            shown=False,
        ),
    ),
    kernel=lambda point: dispatch.EDGE_DISJOINT_TREES.kernel(*point.values()),
    grids=(Grid("nodes", _node_points(), 10_000), Grid("links", _link_points(), 10_000)),
    check=_check_point,
    enumeration=_enumeration,
    explain=_explain,
    sample=_sample_trial,
    figure=_figure,
    notes=Notes((_notes, ("max_edge_disjoint_trees", "packing_equals_min_degree"))),
)
