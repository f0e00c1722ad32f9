"""The networks of counterexamples: as JSON in the report's folder, and as drawings on its page.

Hypercubes are drawn up to Q_6 and dual-cubes up to DC(2).  Larger networks are described by text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastcube.algorithms.unsafe import Unsafe, find_unsafe
from fastcube.networks.dualcube import DualCube
from fastcube.networks.hypercube import Hypercube
from fastcube.networks.network import label_text
from fastcube.plot.network_drawing import (
    LARGEST_CUBE,
    LARGEST_DUAL,
    Drawing,
    list_names,
    name_link,
    path_arrows,
    title_of,
)

#: Largest number of faulty nodes or links in a description.
_MOST_NAMED_FAULTS = 32


def render_counterexample(data: Mapping[str, Any], value: Any, unsafe: bool) -> dict[str, Any]:
    """Return a counterexample's network for the page: ``drawings``, ``dual``, ``lines`` of text, or {} for other data.

    A hypercube up to Q_6 has ``drawings``.  With ``unsafe``, unsafe nodes are marked with the round in which they became unsafe.
    Sources and destinations of ``messages`` in the data are named inside their nodes.  If ``value`` is a list of links, they are
    drawn as arrows.  If it is a list of trees (parents by label), each tree is one drawing; ``trees`` in the data take its place.

    A dual-cube up to DC(2) is ``dual``.  For larger m the cluster of node 0 is drawn as a hypercube if it contains all faults.
    """
    if data.get("network") == "DualCube":
        return _render_dual(data)
    n = data.get("n")
    if not isinstance(n, int) or not 1 <= n <= 62 or "network" in data or "faulty_nodes" not in data:
        return {}
    nodes = [int(v) for v in data["faulty_nodes"]]
    links = [(int(u), int(v)) for u, v in data.get("faulty_links", ())]
    found: Unsafe | None = find_unsafe(Hypercube(n, nodes, links)) if unsafe else None
    if n <= LARGEST_CUBE:
        inside = (
            {} if found is None else {int(v): str(int(r)) for v, r in zip(found.nodes, found.round_of, strict=True)}
        ) | _endpoint_labels(data.get("messages", ()))
        whole = {
            "n": n,
            "faulty_nodes": nodes,
            "faulty_links": links,
            "inside": [[v, inside[v]] for v in sorted(inside)],
            "unsafe": found is not None,
        }
        return {"drawings": [whole | {"arrows": arrows} for arrows in _arrows(n, data.get("trees", value)) or [[]]]}
    lines = [list_names("faulty node", [label_text(v, n) for v in nodes], _MOST_NAMED_FAULTS)] if nodes else []
    lines += [list_names("faulty link", [name_link(u, v, n) for u, v in links], _MOST_NAMED_FAULTS)] if links else []
    if found is not None:
        lines.append(list_names("unsafe subcube", [str(part) for part in found.subcubes], _MOST_NAMED_FAULTS))
    return {"lines": lines}


def _endpoint_labels(messages: Sequence[Any]) -> dict[int, str]:
    """Return texts for the ends of messages: ``s1`` for the first source, ``t1`` for its destinations, and so on."""
    endpoint_labels: dict[int, list[str]] = {}
    for i, (source, destinations) in enumerate(messages, 1):
        endpoint_labels.setdefault(int(source), []).append(f"s{i}")
        for v in destinations:
            endpoint_labels.setdefault(int(v), []).append(f"t{i}")
    return {v: ",".join(some) for v, some in endpoint_labels.items()}


def _arrows(n: int, value: Any) -> list[list[tuple[int, int, str]]]:
    """Return the arrows of a value: one list for a list of links, one list per tree for trees, else no list."""
    if not isinstance(value, list) or not value or not all(isinstance(row, list) for row in value):
        return []
    labels = range(2**n)
    if all(len(row) == 2 and all(v in labels for v in row) and (row[0] ^ row[1]).bit_count() == 1 for row in value):
        return [[(u, v, "") for u, v in value]]
    if all(len(row) == 2**n and all(type(p) is int and p < 2**n for p in row) for row in value):
        return [[(parent, v, "") for v, parent in enumerate(row) if parent >= 0] for row in value]
    return []


def _render_dual(data: Mapping[str, Any]) -> dict[str, Any]:
    m = data.get("m")
    if not isinstance(m, int) or not 1 <= m <= 30:
        return {}
    faulty = [int(v) for v in data.get("faulty_nodes", ())]
    if m > LARGEST_DUAL:
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
        return {"lines": [list_names("faulty node", [label_text(v, 2 * m + 1) for v in faulty])]} if faulty else {}
    inside = [[int(data[name]), name] for name in ("s", "t") if isinstance(data.get(name), int)]
    paths = [[int(v) for v in path] for path in data.get("paths", ())]
    return {"dual": {"m": m, "faulty_nodes": faulty, "inside": inside, "paths": paths}}


def _cluster_tree(m: int, faulty: list[int], k: Any) -> list[int] | None:
    """Return the binomial tree T_k(0) if all faults are in the cluster of node 0 and that cluster can be drawn, else None."""
    if m > LARGEST_CUBE or not isinstance(k, int) or not faulty or max(faulty) >= 2**m:
        return None
    return DualCube(m, faulty).binomial_tree(0, k)


def drawings_of(drawing: Mapping[str, Any]) -> list[Drawing]:
    """Return the drawings of ``render_counterexample`` from their JSON form."""
    out = []
    for held in drawing.get("drawings", ()):
        inside = {int(v): str(text) for v, text in held["inside"]}
        links = [(int(u), int(v)) for u, v in held["faulty_links"]]
        arrows = tuple((int(u), int(v), str(word)) for u, v, word in held["arrows"])
        grey = tuple(sorted(inside)) if held["unsafe"] else ()
        out.append(Drawing(Hypercube(held["n"], held["faulty_nodes"], links), grey, inside, arrows))
    return out + ([_dual_drawing(drawing["dual"])] if "dual" in drawing else [])


def _dual_drawing(held: Mapping[str, Any]) -> Drawing:
    dual = DualCube(held["m"], held["faulty_nodes"])
    inside = {int(v): str(text) for v, text in held["inside"]}
    arrows = tuple(dict.fromkeys(arrow for path in held["paths"] for arrow in path_arrows(path)))
    faulty = [dual.label(v) for v in sorted(held["faulty_nodes"])]
    parts = [title_of(dual), *([list_names("faulty node", faulty)] if faulty else [])]
    parts += [f"{text} = {dual.label(v)}" for v, text in inside.items()]
    parts += ["path " + ", ".join(map(dual.label, path)) for path in held["paths"]]
    return Drawing(dual, inside=inside, arrows=arrows, caption="; ".join(parts))
