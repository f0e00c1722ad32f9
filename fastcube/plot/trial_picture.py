"""The picture of one trial, from the data of its explanation: ``replay --draw``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..algorithms.broadcasting import BROADCASTING
from ..algorithms.broadcasting import broadcast as run_broadcast
from ..algorithms.paths import Route
from ..algorithms.spanning import edge_disjoint_spanning_trees
from ..algorithms.trees import CommunicationTree
from ..errors import ParameterError
from ..networks.hypercube import Hypercube
from .network_drawing import check_drawable
from .network_marks import Cube, mark_network
from .picture import Picture, PicturePanel, compose_picture

#: Entries of a trial's data that only algorithms with unsafe nodes have.
_UNSAFE_ENTRIES = {"unsafe_nodes", "some_active", "lee_hayes_safe"}


def draw_trial(heading: str, network: object, data: Mapping[str, Any]) -> Picture:
    """Draw one trial: the network with its faults, and the marks that the data of its explanation hold.

    These are, by name in the data: ``path``, also of each algorithm (``{"ROUTE": {"path": [...]}}``), with ``s`` and ``t``;
    ``sink`` and ``order`` of a communication tree; results of ``BROADCAST``, ``BROADCAST1`` and ``BROADCAST2`` from ``s``;
    ``heights`` of edge-disjoint trees from ``s``; ``partition`` or ``exhaustive``; ``uses`` of channels with ``source`` and
    ``destinations``; ``components``; and the entries of algorithms with unsafe nodes.  Equal drawings of several algorithms
    share one panel.

    Raises ParameterError for a network that is not drawn, and for an order of failures, which has no single fault set.
    """
    cube = check_drawable(network)
    if "disconnected_at" in data:
        raise ParameterError("draw needs a trial with one fault set, got a whole order of failures")
    common: dict[str, Any] = {
        "rounds": isinstance(cube, Hypercube) and not _UNSAFE_ENTRIES.isdisjoint(data),
        "components": "components" in data,
        "partition": data.get("partition") or data.get("exhaustive"),
    }
    ends = dict.fromkeys(data["destinations"], "d") if "uses" in data else {}
    ends |= {data[name]: name[0] for name in ("t", "s", "source") if type(data.get(name)) is int and data[name] >= 0}
    headings: dict[str, list[str]] = {}  # by drawing, because equal drawings share a panel
    panels: dict[str, PicturePanel] = {}
    for name, marks in _list_marks(cube, data):
        panel = mark_network(cube, **common | marks, ends=ends)
        key = repr(panel.drawing)
        panels.setdefault(key, panel)
        headings.setdefault(key, []).append(name)
    headed = [replace(panel, heading=_join_headings(headings[key])) for key, panel in panels.items()]
    return compose_picture(heading, headed or [mark_network(cube, **common, ends=ends)])


def _join_headings(headings: Sequence[str]) -> str:
    """Join ``ROUTE: delivered`` and ``ROUTE1: delivered`` to ``ROUTE, ROUTE1: delivered``."""
    names: dict[str, list[str]] = {}
    for text in headings:
        name, _, outcome = text.partition(": ")
        names.setdefault(outcome, []).append(name)
    return "; ".join(f"{', '.join(joined)}{': ' * bool(outcome)}{outcome}" for outcome, joined in names.items())


def _list_marks(cube: Cube, data: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the headings and the marks of the algorithms of a trial, as arguments of ``mark_network``."""
    for name, value in {"": data, **data}.items():
        if not isinstance(value, Mapping):
            continue
        if isinstance(value.get("path"), list):
            outcome = str(value.get("outcome", "delivered"))
            yield f"{name}: {outcome}".removeprefix(": "), {"route": Route(outcome, value["path"])}  # type: ignore[arg-type]
        if not isinstance(cube, Hypercube):
            continue
        if value.get("sink") is not None and "order" in value:
            yield name.upper() or "FIND_TREE", {"tree": CommunicationTree(cube, value["sink"], value["order"])}
        if name in BROADCASTING.of(Hypercube):
            sent = run_broadcast(cube, data["s"], name)
            yield f"{name}: {sent.reached} nodes reached", {"broadcast": sent}
    if "heights" in data and isinstance(cube, Hypercube):
        for i, parents in enumerate(edge_disjoint_spanning_trees(cube, data["s"])):
            yield f"tree {i}", {"tree": parents}
    if "uses" in data:
        yield "", {"channels": [(use["u"], use["v"]) for use in data["uses"]]}
