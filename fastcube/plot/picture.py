"""Pictures of one small network or of one trial, as SVG that stands alone: for slides, exercises, bug reports and notebooks.

A picture has its own ground and, on a screen with dark colours, dark ones.  Colour never carries a meaning alone, so it can be
printed in grey.  Several drawings of one trial, such as the paths of several algorithms, are panels, one below the other.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..algorithms.broadcasting import BROADCASTING, Broadcast
from ..algorithms.broadcasting import broadcast as run_broadcast
from ..algorithms.partition import Supercube
from ..algorithms.paths import Route
from ..algorithms.spanning import edge_disjoint_spanning_trees
from ..algorithms.trees import CommunicationTree
from ..algorithms.unsafe import find_unsafe
from ..errors import ParameterError, as_integer, check_flag, is_many, short_repr
from ..networks.dualcube import DualCube
from ..networks.hypercube import Hypercube
from ..networks.network import all_faulty_nodes
from . import check_picture_target, save_picture
from .network_drawing import (
    BLOCK,
    DARK,
    LIGHT,
    Arrow,
    Drawing,
    check_drawable,
    describe_drawing,
    drawing_elements,
    is_blocked,
    path_arrows,
    title_of,
)

Cube = Hypercube | DualCube

# Lengths of the text around a drawing, in the drawing's units.

#: Least width of a picture, so that a legend fits.
_LEAST_WIDTH = 300.0

#: Distance of two lines of text, and size of letters.
_LINE, _LETTERS = 17.0, 12.0

#: Distance from a sign to its words, and gap between two entries of a legend.
_SIGN, _GAP = 30.0, 14.0

#: The mean width of a sans-serif letter, as a fraction of its size; wide enough for every common font.
_LETTER_WIDTH = 0.56

#: Largest dimension at which arrows of trees have texts, and largest number of components in a legend.
_MOST_NUMBERED, _MOST_COMPONENTS = 4, 6

#: Names of components: 64, because all links of Q_6 may be faulty.
_COMPONENT_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyzαβγδεζηθικλμ"


class Picture:
    """A picture as SVG text, made by ``fastcube.draw``.

    A notebook shows it, ``str`` returns the text, and ``save`` writes a file.
    """

    __slots__ = ("_svg",)

    def __init__(self, svg: str) -> None:
        self._svg = svg

    def __str__(self) -> str:
        return self._svg

    def __repr__(self) -> str:
        width, height = re.findall(r' (?:width|height)="(\d+)"', self._svg)[:2]
        return f"Picture({width} x {height})"

    def _repr_svg_(self) -> str:
        return self._svg

    def save(self, path: str) -> None:
        """Write the picture to a file whose name ends in ``.svg``.

        Raises ParameterError for another name, and ResultFileError if the file cannot be written or is not a picture.
        """
        save_picture("path", check_picture_target("path", path, (".svg",)), self._svg.encode())


@dataclass(frozen=True)
class Panel:
    """One drawing with a line above it, and the signs of its marks: pairs of a sign and words."""

    drawing: Drawing
    signs: tuple[tuple[str, str], ...] = ()
    heading: str = ""


# ---------------------------------------------------------------- marks


def draw(
    network: Hypercube | DualCube,
    *,
    route: Route | Iterable[int] | None = None,
    rounds: bool = False,
    tree: Any = None,
    broadcast: Broadcast | None = None,
    partition: Iterable[int] | None = None,
    components: bool = False,
) -> Picture:
    """Draw a small network with its faults, and the marks of algorithms.

    Parameters
    ----------
    network : Hypercube or DualCube
        n <= 6 or m <= 2.
    route : Route, or iterable of labels
        A path, as numbered arrows from s to t.
    rounds : bool
        Whether to draw unsafe nodes grey, with the round in which FIND_UNSAFE marks them.  Hypercubes only.
    tree : CommunicationTree, or array of 2^n parents
        A tree, as arrows; parents as from :func:`edge_disjoint_spanning_trees`: -1 at the root, -2 outside the tree.
    broadcast : Broadcast
        The copies, as arrows, and in each node the time unit in which it receives.
    partition : pair of dimensions
        A 2-partition of a hypercube: links inside its 2-cubes are thick, and nodes have the number of their 2-cube.
    components : bool
        Whether to mark the connected components of the nonfaulty nodes by letters, A for the largest.

    Returns
    -------
    Picture
        SVG text: notebooks show it, ``str`` returns it, ``save(path)`` writes it.

    Raises
    ------
    ParameterError
        If the network is larger, or a mark is not one of this network.

    Notes
    -----
    Where two marks write into one node, the later of this list is shown: components, 2-cubes, rounds, times of a broadcast,
    the root of a tree, ends of a route.  Milliseconds.

    Examples
    --------
    >>> cube = fc.Hypercube(4, faulty_nodes=[0b0000, 0b0110, 0b1101])
    >>> picture = fc.draw(cube, rounds=True, route=fc.route(cube, 0b0001, 0b1110))
    >>> picture
    Picture(412 x 308)
    >>> picture.save("q4.svg")  # doctest: +SKIP
    """
    panel = mark_network(
        check_drawable(network),
        route=route,
        rounds=check_flag("rounds", rounds),
        tree=tree,
        broadcast=broadcast,
        partition=partition,
        components=check_flag("components", components),
    )
    return compose_picture(title_of(network), [panel])


def mark_network(
    network: Cube,
    *,
    route: Any = None,
    rounds: bool = False,
    tree: Any = None,
    broadcast: Any = None,
    partition: Any = None,
    components: bool = False,
    channels: Sequence[tuple[int, int]] = (),
    ends: Mapping[int, str] | None = None,
) -> Panel:
    """Return the drawing with the marks of ``draw``, the channels of a multicast, and texts for the ends of messages."""
    inside: dict[int, str] = {}
    signs: list[tuple[str, str]] = []
    arrows: list[Arrow] = []
    grey: tuple[int, ...] = ()
    within: tuple[tuple[int, int], ...] = ()
    if components:
        parts = _find_components(network)
        inside |= {v: _COMPONENT_LETTERS[i] for i, part in enumerate(parts) for v in part}
        if parts:
            signs.append(("A", _describe_components([len(part) for part in parts])))
    if partition is not None:
        lo, hi = _check_dimensions(_check_hypercube("partition", network), partition)
        within = tuple((v, v ^ 1 << d) for d in (lo, hi) for v in range(2**network.bits) if not v >> d & 1)
        supercube = Supercube(network.bits, frozenset(), (lo, hi))
        inside |= {v: str(supercube.label(v)) for v in range(2**network.bits) if not network.is_faulty(v)}
        signs += [("within", f"2-cubes of P = {{{lo}, {hi}}}"), ("#", "number of a 2-cube on the Hamilton path")]
    if rounds:
        unsafe = find_unsafe(_check_hypercube("rounds", network))
        grey = tuple(unsafe.nodes.tolist())
        inside |= {v: str(step) for v, step in zip(grey, unsafe.round_of.tolist(), strict=True)}
    if broadcast is not None:
        sends, received = _check_broadcast(network, broadcast)
        arrows += [(u, v, "") for _, u, v in sends]
        inside |= {v: str(time) if time else "s" for v, time in enumerate(received) if time >= 0}
        signs += [("s", "source"), ("#", "time unit of receipt"), ("sent", "copy of the message")]
    if tree is not None:
        root, tree_arrows, meaning = _check_tree(network, tree)
        arrows += tree_arrows
        inside[root] = "r"
        signs += [("r", "root"), ("sent", meaning)]
    if route is not None:
        path, delivered = _check_route(network, route)
        if path:
            inside[path[0]] = "s"
            inside |= {path[-1]: "t"} if delivered else {}
            arrows += _number_hops(path)
            signs += [("s", "source"), *([("t", "destination")] if delivered else [])]
            signs += [("sent", "path, with the number of each hop")] * (len(path) > 1)
    if channels:
        arrows += [(u, v, "") for u, v in dict.fromkeys(channels)]
        signs.append(("sent", "channel of the multicast"))
    inside |= ends or {}
    end_signs = (("s", "source"), ("t", "destination"), ("d", "destination"))
    signs += [sign for sign in end_signs if sign[0] in (ends or {}).values()]
    drawing = Drawing(network, grey, inside, tuple(arrows), within)
    if network.bits > BLOCK and isinstance(network, Hypercube):
        first = "0" * (network.bits - BLOCK - 1) + "1"
        signs.append(("", f"0110 at {first}**** is node {first}0110; links between blocks: only if faulty or marked"))
    return Panel(drawing, tuple(dict.fromkeys(_fault_signs(drawing, rounds and broadcast is None) + signs)))


def _fault_signs(drawing: Drawing, rounds: bool) -> list[tuple[str, str]]:
    """Return the signs of faults and unsafe nodes; ``rounds`` says whether the nodes show the rounds."""
    network = drawing.network
    faulty = frozenset(all_faulty_nodes(network).tolist())
    signs = [("faulty", "faulty node")] * bool(faulty)
    signs += [("broken", "faulty link")] * bool(network.faulty_links)
    if drawing.grey:
        signs.append(("unsafe", "unsafe node, with its round" if rounds else "unsafe node"))
    if any(is_blocked(network, faulty, arrow) for arrow in drawing.arrows):
        signs.append(("blocked", "arrow that meets a fault"))
    return signs


def _check_hypercube(name: str, network: Cube) -> Hypercube:
    """Return the network.  Raises ParameterError for a mark ``name`` in another network than a hypercube."""
    if not isinstance(network, Hypercube):
        raise ParameterError(f"{name} needs a Hypercube, got {short_repr(network)}")
    return network


def _check_dimensions(cube: Hypercube, partition: Any) -> tuple[int, int]:
    """Return a pair of dimensions (lo, hi), which need not be fault-tolerant."""
    given = list(partition) if is_many(partition) else []
    dims = sorted(d for value in given if (d := as_integer(value)) is not None and 0 <= d < cube.n)
    if len(given) != 2 or len(set(dims)) != 2:
        wanted = f"two different dimensions in [0, {cube.n - 1}] for n={cube.n}"
        raise ParameterError(f"partition must be {wanted}, got {short_repr(partition)}")
    return dims[0], dims[1]


def _check_broadcast(network: Cube, broadcast: Any) -> tuple[list[tuple[int, int, int]], list[int]]:
    """Return the copies of a broadcast and the time at which each node receives."""
    if not isinstance(broadcast, Broadcast) or broadcast.cube != network:
        raise ParameterError(f"broadcast must be a Broadcast in this network, got {short_repr(broadcast)}")
    return broadcast.sends, broadcast.received.tolist()


def _check_tree(network: Cube, tree: Any) -> tuple[int, list[Arrow], str]:
    """Return the root of a tree, its arrows and their meaning in words."""
    numbered = network.bits <= _MOST_NUMBERED
    if isinstance(tree, CommunicationTree):
        if tree.cube != network:
            raise ParameterError(f"tree must be a tree of this network, got one of {short_repr(tree.cube)}")
        arrows = [(u, v, str(stage) if numbered else "") for stage, u, v in tree.links]
        return tree.sink, arrows, "tree link, with its stage" if numbered else "tree link"
    parents = [as_integer(parent) for parent in tree] if is_many(tree) else []
    tops = [v for v, parent in enumerate(parents) if parent == -1]
    if len(parents) != 2**network.bits or len(tops) != 1:
        wanted = f"a CommunicationTree or {2**network.bits} parents, one of them -1"
        raise ParameterError(f"tree must be {wanted}, got {short_repr(tree)}")
    arrows = []
    for v, parent in enumerate(parents):
        if parent not in (-1, -2):
            if parent is None or not 0 <= parent < len(parents) or not network.is_link(parent, v):
                raise ParameterError(f"tree must hold a neighbour of node {v} at {v}, got {short_repr(parent)}")
            arrows.append((parent, v, ""))
    return tops[0], arrows, "tree link"


def _check_route(network: Cube, route: Any) -> tuple[list[int], bool]:
    """Return the labels of a path, and whether its last one is the destination."""
    delivered = route.outcome == "delivered" if isinstance(route, Route) else True
    labels = route.path if isinstance(route, Route) else route
    if not is_many(labels):
        raise ParameterError(f"route must be a Route or labels of a path, got {short_repr(route)}")
    path = [network.check_node("route", v) for v in labels]
    for u, v, _ in path_arrows(path):
        if u == v or not network.is_link(u, v):
            raise ParameterError(f"route must follow links of {title_of(network)}, got {u} and {v} in a row")
    return path, delivered


def _number_hops(path: Sequence[int]) -> list[Arrow]:
    """Return one arrow per link and direction, with the numbers of the hops that cross it."""
    hops: dict[tuple[int, int], list[str]] = {}
    for i, (u, v, _) in enumerate(path_arrows(path), 1):
        hops.setdefault((u, v), []).append(str(i))
    return [(u, v, ",".join(numbers)) for (u, v), numbers in hops.items()]


def _find_components(network: Cube) -> list[list[int]]:
    """Return the components of the nonfaulty nodes, the largest first, then by smallest label."""
    unreached = set(range(2**network.bits)).difference(all_faulty_nodes(network).tolist())
    components = []
    while unreached:
        component = [min(unreached)]
        unreached.remove(component[0])
        for u in component:  # grows while it is read
            reached = [v for v in network.neighbours(u) if v in unreached and not network.is_faulty_link(u, v)]
            unreached.difference_update(reached)
            component += reached
        components.append(sorted(component))
    return sorted(components, key=len, reverse=True)


def _describe_components(sizes: Sequence[int]) -> str:
    """Return the text of a legend for components: the first of them with their sizes."""
    named = [f"{letter} {size}" for letter, size in zip(_COMPONENT_LETTERS, sizes, strict=False)]
    end = [f"... {len(sizes)} in all"] * (len(named) > _MOST_COMPONENTS)
    return f"component, with its number of nodes: {', '.join(named[:_MOST_COMPONENTS] + end)}"


# ---------------------------------------------------------------- one trial


#: Names in a trial's data that say that its algorithm uses unsafe nodes.
_UNSAFE = {"unsafe_nodes", "some_active", "lee_hayes_safe"}


def draw_trial(heading: str, network: object, data: Mapping[str, Any]) -> Picture:
    """Draw one trial: the network with its faults, and the marks that the data of its explanation hold.

    These are, by name in the data: ``path``, also of each algorithm (``{"ROUTE": {"path": [...]}}``), with ``s`` and ``t``;
    ``sink`` and ``order`` of a communication tree; results of ``BROADCAST``, ``BROADCAST1`` and ``BROADCAST2`` from ``s``;
    ``heights`` of edge-disjoint trees from ``s``; ``partition`` or ``exhaustive``; ``uses`` of channels with ``source`` and
    ``destinations``; ``components``; and the names of ``_UNSAFE``.  Equal drawings of several algorithms share one panel.

    Raises ParameterError for a network that is not drawn, and for an order of failures, which has no single fault set.
    """
    cube = check_drawable(network)
    if "disconnected_at" in data:
        raise ParameterError("draw needs a trial with one fault set, got a whole order of failures")
    common: dict[str, Any] = {
        "rounds": isinstance(cube, Hypercube) and not _UNSAFE.isdisjoint(data),
        "components": "components" in data,
        "partition": data.get("partition") or data.get("exhaustive"),
    }
    ends = dict.fromkeys(data["destinations"], "d") if "uses" in data else {}
    ends |= {data[name]: name[0] for name in ("t", "s", "source") if type(data.get(name)) is int and data[name] >= 0}
    headings: dict[str, list[str]] = {}
    panels: dict[str, Panel] = {}
    for name, marks in _list_marks(cube, data):
        panel = mark_network(cube, **common | marks, ends=ends)
        shown = repr(panel.drawing)
        panels.setdefault(shown, panel)
        headings.setdefault(shown, []).append(name)
    headed = [replace(panel, heading=_join_headings(headings[shown])) for shown, panel in panels.items()]
    return compose_picture(heading, headed or [mark_network(cube, **common, ends=ends)])


def _join_headings(headings: Sequence[str]) -> str:
    """Join ``ROUTE: delivered`` and ``ROUTE1: delivered`` to ``ROUTE, ROUTE1: delivered``."""
    names: dict[str, list[str]] = {}
    for text in headings:
        name, _, outcome = text.partition(": ")
        names.setdefault(outcome, []).append(name)
    return "; ".join(f"{', '.join(joined)}{': ' * bool(outcome)}{outcome}" for outcome, joined in names.items())


def _list_marks(cube: Cube, data: Mapping[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the headings and the marks of the algorithms of a trial."""
    for name, value in {"": data, **data}.items():
        if isinstance(value, Mapping) and isinstance(value.get("path"), list):
            outcome = str(value.get("outcome", "delivered"))
            yield f"{name}: {outcome}".removeprefix(": "), {"route": Route(outcome, value["path"])}  # type: ignore[arg-type]
        if (
            isinstance(value, Mapping)
            and isinstance(cube, Hypercube)
            and None is not value.get("sink")
            and "order" in value
        ):
            yield name.upper() or "FIND_TREE", {"tree": CommunicationTree(cube, value["sink"], value["order"])}
        if name in BROADCASTING.of(Hypercube) and isinstance(value, Mapping) and isinstance(cube, Hypercube):
            sent = run_broadcast(cube, data["s"], name)
            yield f"{name}: {sent.reached} nodes reached", {"broadcast": sent}
    if "heights" in data and isinstance(cube, Hypercube):
        for i, parents in enumerate(edge_disjoint_spanning_trees(cube, data["s"])):
            yield f"tree {i}", {"tree": parents}
    if "uses" in data:
        yield "", {"channels": [(use["u"], use["v"]) for use in data["uses"]]}


# ---------------------------------------------------------------- the whole picture


def compose_picture(title: str, panels: Sequence[Panel]) -> Picture:
    """Return the panels, one below the other, each with its heading and its signs in words; ``title`` is above all of them."""
    drawn = [(panel, *drawing_elements(panel.drawing, LIGHT)) for panel in panels]
    width = max(_LEAST_WIDTH, *(box[2] for _, _, box in drawn)) + 8
    parts, y = [], 6.0
    for line in _wrap(title, width - 16, _LETTERS + 1):
        y += _LINE
        parts.append(_write(8, y, line, "heading", _LETTERS + 1, "700"))
    for panel, elements, (left, top, drawing_width, drawing_height) in drawn:
        for line in _wrap(panel.heading, width - 16, _LETTERS):
            y += _LINE
            parts.append(_write(8, y, line, "heading", _LETTERS))
        y += 4
        move = f"translate({(width - drawing_width) / 2 - left:.1f} {y - top:.1f})"
        parts.append(f'<g transform="{move}">{elements}</g>')
        y += drawing_height + 2
        legend, y = _write_signs(panel.signs, width, y)
        parts.append(legend)
        y += 8
    size = f"{width:.0f}", f"{y:.0f}"
    text = ". ".join(filter(None, (f"{p.heading}: {describe_drawing(p.drawing)}".removeprefix(": ") for p in panels)))
    dark = "".join(
        f'.fastcube-drawing [{key}="{light}"]{{{key}:{dark}}}'
        for light, dark in DARK.items()
        for key in ("fill", "stroke")
    )
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="fastcube-drawing" viewBox="0 0 {size[0]} {size[1]}" '
        f'width="{size[0]}" height="{size[1]}" role="img" font-family="ui-monospace,DejaVu Sans Mono,Consolas,monospace">'
        f"<title>{html.escape(title)}</title><desc>{html.escape(text)}</desc>"
        f"<style>@media (prefers-color-scheme:dark){{{dark}}}</style>"
        f'<rect class="ground" width="{size[0]}" height="{size[1]}" fill="{LIGHT["ground"]["fill"]}"/>'
        f"{''.join(parts)}</svg>\n"
    )


def _wrap(text: str, width: float, letters: float) -> list[str]:
    """Return a text as lines that fit into ``width`` with letters of this size."""
    return textwrap.wrap(text, int(width / (letters * _LETTER_WIDTH)))


def _write(x: float, y: float, text: str, name: str, letters: float, weight: str = "400") -> str:
    """Return a text of the class ``name`` as SVG, with letters of this size."""
    style = f'font-family="Helvetica,Arial,DejaVu Sans,sans-serif" font-size="{letters:g}" font-weight="{weight}"'
    fill = LIGHT[name]["fill"]
    return f'<text class="{name}" x="{x:.0f}" y="{y:.0f}" fill="{fill}" {style}>{html.escape(text)}</text>'


def _write_signs(signs: Sequence[tuple[str, str]], width: float, y: float) -> tuple[str, float]:
    """Return the signs with their words, as many in a line as there is space for, and the bottom of the last line."""
    parts, x = [], width
    for sign, meaning in signs:
        indent = _SIGN * bool(sign)
        lines = _wrap(meaning, width - indent - 16, _LETTERS)
        length = indent + max(map(len, lines)) * _LETTERS * _LETTER_WIDTH + _GAP
        if x + length - _GAP > width - 8:
            x, y = 8.0, y + _LINE
        parts.append(_draw_sign(sign, x, y - 4))
        for i, line in enumerate(lines):
            y += _LINE * bool(i)
            parts.append(_write(x + indent, y, line, "legend", _LETTERS))
        x += length
    return "".join(parts), y


def _draw_sign(sign: str, x: float, y: float) -> str:
    """Return a sign: a node, a line, an arrow, a node with a text in it, or nothing."""
    if not sign:
        return ""
    if sign in ("broken", "within", "sent", "blocked"):
        line = f'<path class="sign" {_look_attributes(sign)} d="M{x:.0f} {y:.0f}h24"/>'
        head = f'<path class="sign" {_look_attributes("head")} d="M{x + 26:.0f} {y:.0f}l-8 -4v8z"/>'
        return line + head * (sign in ("sent", "blocked"))
    kind = sign if sign in ("faulty", "unsafe") else "plain"
    text = {"faulty": "\N{MULTIPLICATION SIGN}", "unsafe": "1"}.get(sign, sign)
    look = _look_attributes("inside faulty" if kind == "faulty" else "inside")
    return (
        f'<circle class="sign" cx="{x + 12:.0f}" cy="{y:.0f}" r="7.5" {_look_attributes(kind)}/>'
        f'<text class="sign" x="{x + 12:.0f}" y="{y + 4:.0f}" {look} font-size="11" text-anchor="middle">{text}</text>'
    )


def _look_attributes(kind: str) -> str:
    """Return the attributes of a class on light ground."""
    return " ".join(f'{key}="{value}"' for key, value in LIGHT[kind].items())
