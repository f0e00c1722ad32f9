"""Small dual-cubes drawn: class 0 below, class 1 above, each cluster a square (of DC(1) a link); larger ones as strings.

The cross edge of a node leads from its cluster to the one of the other class that its position names.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from ..networks.dualcube import DualCube
from .cubes import label, nodes_svg, rim_to_rim, svg_of

#: DC(m) is drawn for m up to here: 8 and 32 nodes.
LARGEST = 2

#: A cluster's width, height and slant, from cluster to cluster, between the classes: so that no cross edge comes within three
#: units of another node's rim (found by trying).
_WIDE, _HIGH, _SLANT, _PITCH, _BETWEEN, _RADIUS = 56.0, 44.0, -25.0, 124.0, 210.0, 8.0


def _place(dual: DualCube, v: int) -> tuple[float, float]:
    """Where a node is set; the cross edges of one cluster fan out to all clusters of the other class."""
    across, up = dual.position(v) & 1, dual.position(v) >> 1
    x = dual.cluster(v) * _PITCH + across * _WIDE + up * _SLANT
    if dual.class_of(v) == 0:
        return x, -up * _HIGH
    return x, -_BETWEEN - (1 - up) * _HIGH if dual.m > 1 else -2 * _HIGH


def in_words(m: int, faulty: list[int], inside: Mapping[int, str]) -> str:
    """The drawing in words: its text alternative."""
    bits = 2 * m + 1
    parts = [f"DC({m})"]
    if faulty:
        parts.append("faulty nodes " + ", ".join(label(v, bits) for v in faulty))
    return "; ".join(parts + [f"{text} = {label(v, bits)}" for v, text in inside.items()])


def dual_svg(m: int, faulty: list[int], inside: Mapping[int, str]) -> str:
    """DC(m), 1 <= m <= 2, as an ``<svg>`` element: ``faulty`` nodes black, texts ``inside`` of others (see :func:`in_words`)."""
    dual = DualCube(m, faulty)
    nodes = range(2**dual.bits)
    places = [_place(dual, v) for v in nodes]
    links = [(u, v) for u in nodes for v in dual.neighbours(u) if u < v]
    way = "".join(rim_to_rim(places[u], places[v], _RADIUS) for u, v in links)
    parts = [f'<path class="link" d="{way}"/>']
    parts += nodes_svg(places, ["faulty" if v in faulty else "plain" for v in nodes], _RADIUS)
    for v, text in inside.items():
        x, y = places[v]
        parts.append(f'<text class="inside" x="{x:.0f}" y="{y + 4:.0f}">{html.escape(text)}</text>')
    names = (
        f'<text x="{x:.0f}" y="{y + _RADIUS + 10:.0f}">{label(v, dual.bits)}</text>' for v, (x, y) in enumerate(places)
    )
    parts.append(f'<g class="name">{"".join(names)}</g>')
    return svg_of("cube dual", places, parts, "")


def told(data: Mapping[str, Any]) -> dict[str, Any]:
    """A witness' dual-cube for the page: ``dual`` where it is drawn, ``lines`` of strings above; empty for anything else."""
    m = data.get("m")
    if data.get("network") != "DualCube" or not isinstance(m, int) or not 1 <= m <= 30:
        return {}
    faulty = [int(v) for v in data.get("faulty_nodes", ())]
    if m > LARGEST:
        return {"lines": ["faulty nodes: " + ", ".join(label(v, 2 * m + 1) for v in faulty)]} if faulty else {}
    inside = [[int(data[name]), name] for name in ("s", "t") if isinstance(data.get(name), int)]
    return {"dual": {"m": m, "faulty_nodes": faulty, "inside": inside}}
