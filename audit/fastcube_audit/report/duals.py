"""Draw small dual-cubes: class 0 at the bottom, class 1 at the top, each cluster a square (in DC(1) a link).

The position of a node in its cluster names the cluster of the other class to which its cross edge leads.  Larger dual-cubes are
described by text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from fastcube.networks.dualcube import DualCube

from . import network_drawings
from .network_drawings import label, list_text, network_svg

#: DC(m) is drawn up to this m: DC(1) has 8 nodes and DC(2) has 32.
LARGEST = 2

#: Lengths of the drawing: a cluster's width, height and slant, the distance of clusters, the gap between the classes, and the
#: radius of a node.  With these values no cross edge comes within three units of another node's rim (found by trying).
_NODE_WIDTH_STEP, _NODE_HEIGHT_STEP, _SLANT, _PITCH, _CLASS_GAP, _RADIUS = 56.0, 44.0, -25.0, 124.0, 210.0, 8.0


def _node_position(dual: DualCube, v: int) -> complex:
    """Return the position of a node.  The cross edges of one cluster fan out to all clusters of the other class."""
    across, up = dual.position(v) & 1, dual.position(v) >> 1
    x = dual.cluster(v) * _PITCH + across * _NODE_WIDTH_STEP + up * _SLANT
    if dual.class_of(v) == 0:
        return complex(x, -up * _NODE_HEIGHT_STEP)
    return complex(x, -_CLASS_GAP - (1 - up) * _NODE_HEIGHT_STEP if dual.m > 1 else -2 * _NODE_HEIGHT_STEP)


def describe_drawing(m: int, faulty: list[int], inside: Mapping[int, str], paths: Sequence[Sequence[int]] = ()) -> str:
    """Return the drawing as text, for the text alternative."""
    bits = 2 * m + 1
    parts = [f"DC({m})"]
    if faulty:
        parts.append(list_text("faulty node", [label(v, bits) for v in faulty]))
    parts += [f"{text} = {label(v, bits)}" for v, text in inside.items()]
    return "; ".join(parts + ["path " + ", ".join(label(v, bits) for v in path) for path in paths])


def dual_svg(m: int, faulty: list[int], inside: Mapping[int, str], paths: Sequence[Sequence[int]] = ()) -> str:
    """Return DC(m), 1 <= m <= 2, as an ``<svg>``: ``faulty`` nodes black, texts ``inside`` nodes, ``paths`` as arrows."""
    dual = DualCube(m, faulty)
    nodes = range(2**dual.bits)
    hops = dict.fromkeys(hop for path in paths for hop in pairwise(path))
    return network_svg(
        "cube dual large" if m > 1 else "cube dual",
        [_node_position(dual, v) for v in nodes],
        {"link": [(u, v) for u in nodes for v in dual.neighbours(u) if u < v]},
        [(u, v, "") for u, v in hops],
        ["faulty" if v in faulty else "plain" for v in nodes],
        inside,
        {v: label(v, dual.bits) for v in nodes},
        (_RADIUS + 10) * 1j,
        _RADIUS,
        "",
    )


def _cluster_tree(m: int, faulty: list[int], k: Any) -> list[int] | None:
    """Return the binomial tree T_k(0) if all faults are in the cluster of node 0 and that cluster can be drawn, else None."""
    if m > network_drawings.LARGEST or not isinstance(k, int) or not faulty or max(faulty) >= 2**m:
        return None
    return DualCube(m, faulty).binomial_tree(0, k)


def render_counterexample(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a counterexample's dual-cube for the page, or {} for any other network.

    Up to m = 2 the dual-cube is drawn (key ``dual``).  For larger m the cluster of node 0 is drawn as a hypercube if it contains
    all faults (key ``drawings``); otherwise the faulty nodes are listed (key ``lines``).
    """
    m = data.get("m")
    if data.get("network") != "DualCube" or not isinstance(m, int) or not 1 <= m <= 30:
        return {}
    faulty = [int(v) for v in data.get("faulty_nodes", ())]
    if m > LARGEST:
        if (tree := _cluster_tree(m, faulty, data.get("k"))) is not None:
            inside = [[int(v), "T"] for v in sorted(tree)]
            whole = {
                "n": m,
                "faulty_nodes": faulty,
                "faulty_links": [],
                "inside": inside,
                "arrows": [],
                "unsafe": False,
            }
            return {"drawings": [whole]}
        return {"lines": [list_text("faulty node", [label(v, 2 * m + 1) for v in faulty])]} if faulty else {}
    inside = [[int(data[name]), name] for name in ("s", "t") if isinstance(data.get(name), int)]
    paths = [[int(v) for v in path] for path in data.get("paths", ())]
    return {"dual": {"m": m, "faulty_nodes": faulty, "inside": inside, "paths": paths}}
