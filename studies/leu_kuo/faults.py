"""Shared by the tree studies: axes, grids, and the explanation of a trial's cube as text and as data."""

from collections.abc import Iterable
from typing import Any

from fastcube.algorithms.trees import CommunicationTree, find_tree
from fastcube.errors import check_range
from fastcube.measure.study import Axis, Point, Sample, join_limited
from fastcube.networks.hypercube import Hypercube
from fastcube.results.results import Results

#: Largest number of faulty links, and of faulty nodes, of a point.
MOST_FAULTS = 65536


def axes_up_to(n: int) -> tuple[Axis, ...]:
    """Return the axes of a study for cubes of up to n dimensions."""
    return (
        Axis("n", "dimension of the hypercube", int, 1, n),
        Axis("links", "number of faulty links", int, 0, MOST_FAULTS),
        Axis("f", "number of faulty nodes", int, 0, MOST_FAULTS),
    )


def check_point(point: Point) -> None:
    """Raise ParameterError if Q_n has fewer links or nodes than the point has faults."""
    n = int(point["n"])
    check_range("links", point["links"], 0, min(n * 2 ** (n - 1), MOST_FAULTS), f"for n={n}")
    check_range("f", point["f"], 0, min(2**n, MOST_FAULTS), f"for n={n}")


def doubling_counts(n: int, most: int, below: int = 1) -> list[int]:
    """Return n - below, n, and the powers of two up to ``most``; ascending, each once, without 0."""
    powers = [2**i for i in range(most.bit_length())]
    return sorted({n - below, n, *powers} - {0})


def link_faults(ns: Iterable[int]) -> list[Point]:
    """Return points with f = 0 and n - 1, n and 1, 2, 4, ..., 2^(n-1) faulty links."""
    return [{"n": n, "links": links, "f": 0} for n in ns for links in doubling_counts(n, 2 ** (n - 1))]


def node_faults(ns: Iterable[int]) -> list[Point]:
    """Return points without faulty links and n - 1, n and 1, 2, 4, ..., 2^(n-2) faulty nodes."""
    return [{"n": n, "links": 0, "f": f} for n in ns for f in doubling_counts(n, 2 ** (n - 2))]


def axis_of_faults(results: Results) -> str:
    """Return ``links`` if any point has faulty links, else ``f``."""
    return "links" if any(point["links"] for point, _ in results) else "f"


def set_log_axis(panel: Any) -> None:
    """Make the axis of the numbers of faults logarithmic, because the grids double them."""
    panel.axes.set_xscale("log")


def values_of(point: Point) -> tuple[int, int, int]:
    """Return n, links and f."""
    return int(point["n"]), int(point["links"]), int(point["f"])


def sample_trial(point: Point, key: int, trial: int) -> Sample:
    """Return a trial's cube with its faults."""
    from fastcube.kernels.trees import replay

    return Sample(Hypercube(int(point["n"]), *replay.sample_faults(key, trial, *values_of(point))))


def link_text(cube: Hypercube, u: int, v: int) -> str:
    """Return a link in the paper's notation: ``100-101``."""
    return f"{cube.label(u)}-{cube.label(v)}"


def explain_tree(cube: Hypercube) -> tuple[CommunicationTree | None, list[str], dict[str, Any]]:
    """Return FIND_TREE's tree in a trial, and the lines and data with which the explanations of all tree studies begin."""
    tree = find_tree(cube)
    links, nodes = sorted(cube.faulty_links), sorted(cube.faulty_nodes)  # type: ignore[arg-type]
    lines = [
        f"  {len(links)} faulty links: {join_limited(link_text(cube, u, v) for u, v in links)}",
        f"  {len(nodes)} faulty nodes: {join_limited(cube.label(v) for v in nodes)}",
    ]
    data: dict[str, Any] = {"faulty_links": [list(link) for link in links], "faulty_nodes": nodes}
    if tree is None:
        lines.append("  every node has a faulty link: FIND_TREE finds no sink")
        return None, lines, data | {"sink": None, "order": None, "tree_faults": None}
    lines.append(f"  FIND_TREE: {tree}")
    for i, costs in zip(range(cube.n - 1, 0, -1), tree.costs, strict=True):
        candidates = ", ".join(f"COST({j}) = {cost}" for j, cost in costs.items())
        lines.append(f"    d_{i} = {tree.order[i]}: {candidates}")
    lines.append(f"    d_0 = {tree.order[0]}: the dimension that is left")
    lines += describe_faults_by_stage(tree)
    return (
        tree,
        lines,
        data
        | {
            "sink": tree.sink,
            "order": list(tree.order),
            "tree_faults": len(tree.faulty_links),
            "costs": [{str(j): cost for j, cost in costs.items()} for costs in tree.costs],
            "tree_faulty_links": [list(link) for link in tree.faulty_links],
        },
    )


def describe_faults_by_stage(tree: CommunicationTree) -> list[str]:
    """Return lines about a tree's faulty links, stage by stage."""
    if not tree.faulty_links:
        return ["    no faulty link in the tree"]
    stage = {1 << d: i for i, d in enumerate(tree.order)}
    by_stage: dict[int, list[str]] = {}
    for u, v in tree.faulty_links:
        by_stage.setdefault(stage[u ^ v], []).append(link_text(tree.cube, u, v))
    lines = [f"    {len(tree.faulty_links)} faulty links in the tree (sender-receiver):"]
    return lines + [f"      stage {i}: {join_limited(texts)}" for i, texts in by_stage.items()]
