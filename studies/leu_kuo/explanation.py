"""A trial of the tree studies: its cube, and FIND_TREE's tree there as text and as data."""

from typing import Any

from fastcube.algorithms.trees import CommunicationTree, find_tree
from fastcube.measure.study import Point, Sample, join_limited
from fastcube.networks.hypercube import Hypercube

from .points import values_of


def sample_trial(point: Point, key: int, trial: int) -> Sample:
    """Return a trial's cube with its faults."""
    from fastcube.kernels.trees import replay

    return Sample(Hypercube(int(point["n"]), *replay.sample_faults(key, trial, *values_of(point))))


def _link_text(cube: Hypercube, u: int, v: int) -> str:
    """Return a link in the paper's notation: ``100-101``."""
    return f"{cube.label(u)}-{cube.label(v)}"


def explain_tree(cube: Hypercube) -> tuple[CommunicationTree | None, list[str], dict[str, Any]]:
    """Return FIND_TREE's tree in a trial, and the lines and data with which the explanations of all tree studies begin."""
    tree = find_tree(cube)
    links, nodes = sorted(cube.faulty_links), sorted(cube.faulty_nodes)  # type: ignore[arg-type]
    lines = [
        f"  {len(links)} faulty links: {join_limited(_link_text(cube, u, v) for u, v in links)}",
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
    lines += _describe_faults_by_stage(tree)
    data |= {
        "sink": tree.sink,
        "order": list(tree.order),
        "tree_faults": len(tree.faulty_links),
        "costs": [{str(j): cost for j, cost in costs.items()} for costs in tree.costs],
        "tree_faulty_links": [list(link) for link in tree.faulty_links],
    }
    return tree, lines, data


def _describe_faults_by_stage(tree: CommunicationTree) -> list[str]:
    """Return lines about a tree's faulty links, stage by stage."""
    if not tree.faulty_links:
        return ["    no faulty link in the tree"]
    stage = {1 << d: i for i, d in enumerate(tree.order)}
    by_stage: dict[int, list[str]] = {}
    for u, v in tree.faulty_links:
        by_stage.setdefault(stage[u ^ v], []).append(_link_text(tree.cube, u, v))
    lines = [f"    {len(tree.faulty_links)} faulty links in the tree (sender-receiver):"]
    return lines + [f"      stage {i}: {join_limited(texts)}" for i, texts in by_stage.items()]
