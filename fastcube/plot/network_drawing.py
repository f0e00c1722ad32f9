"""Draw small networks as SVG, as the papers do: faulty nodes black, unsafe nodes grey, texts inside nodes, arrows along links.

Q_4 is two 3-cubes next to each other.  Q_5 and Q_6 are two and four Q_4, one below the other, each under the first bits of its
labels; links between these are drawn only where they are faulty or marked.  In a dual-cube class 0 is at the bottom and class 1
at the top, each cluster a square (in DC(1) a link); a node's position in its cluster names the cluster of the other class to
which its cross edge leads.

Every element has a class.  The report and the site give the classes their colours; ``LIGHT`` and ``DARK`` are those of a picture
that stands alone (``picture.py``).
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ..errors import ParameterError, check_range, short_repr
from ..networks.dualcube import DualCube
from ..networks.hypercube import Hypercube
from ..networks.network import Network, all_faulty_nodes, label_text

#: Largest n of a hypercube and largest m of a dual-cube that are drawn.
LARGEST_CUBE, LARGEST_DUAL = 6, 2

#: Largest dimension of a hypercube that is drawn with all its links, in one block.
BLOCK = 4

#: The offset of a step along each dimension: right (real part) and down (imaginary part), in units of the drawing.  No link
#: comes within 9.6 units of the centre of another node (found by trying).
_STEPS = (84.0, -84.0j, 40.0 - 34.0j, 220.0 + 48.0j, -37.0 + 229.0j, 51.0 + 440.0j)

#: The place of a block's name, from its node with the smallest label.
_BLOCK_NAME = 282.0 - 86.0j

#: Lengths of a dual-cube: a cluster's width, height and slant, the distance of clusters, and the gap between the classes.  No
#: cross edge comes within three units of another node's rim (found by trying).
_NODE_WIDTH_STEP, _NODE_HEIGHT_STEP, _SLANT, _PITCH, _CLASS_GAP = 56.0, 44.0, -25.0, 124.0, 210.0

#: Possible places of an arrow's text, as fractions of its length, and the wanted distance from other texts, in drawing units.
_LABEL_FRACTIONS, _LABEL_SPACE = (0.4, 0.55, 0.3, 0.65), 18.0

#: Largest number of unsafe nodes, and of nodes with a text, that a description lists: all nodes of Q_4.
_MOST_NODE_LABELS = 16

#: The text of a faulty node that has no other.
_CROSS = "\N{MULTIPLICATION SIGN}"

#: Colours of lines and letters, of the ground, of names, of arrows and of faulty links.
_INK, _GROUND, _DIM, _SENT, _BROKEN = "#1a1a1a", "#ffffff", "#4d4d4d", "#0b4fa3", "#b3261e"

#: Attributes of each class in a picture that stands alone.  They are attributes and no style sheet, so that office programs,
#: which read little CSS, show the same picture.
LIGHT: dict[str, dict[str, str]] = {
    "ground": {"fill": _GROUND},
    "link": {"fill": "none", "stroke": "#8c8c8c", "stroke-width": "1.2"},
    "within": {"fill": "none", "stroke": _INK, "stroke-width": "3.5"},
    "broken": {"fill": "none", "stroke": _BROKEN, "stroke-width": "2.4", "stroke-dasharray": "3 4"},
    "sent": {"fill": "none", "stroke": _SENT, "stroke-width": "2"},
    "blocked": {"fill": "none", "stroke": _SENT, "stroke-width": "2", "stroke-dasharray": "7 4"},
    "head": {"fill": _SENT},
    "plain": {"fill": _GROUND, "stroke": _INK, "stroke-width": "1.4"},
    "unsafe": {"fill": "#bdbdbd", "stroke": _INK, "stroke-width": "1.4"},
    "faulty": {"fill": _INK, "stroke": _INK, "stroke-width": "2"},
    "inside": {"fill": _INK, "font-weight": "600"},
    "inside faulty": {"fill": _GROUND, "font-weight": "600"},
    "name": {"fill": _DIM},
    "block": {"fill": _INK, "font-weight": "700"},
    "word": {"fill": _SENT, "font-weight": "600"},
    "halo": {"fill": "none", "stroke": _GROUND, "stroke-width": "3", "stroke-linejoin": "round"},
    "heading": {"fill": _INK},
    "legend": {"fill": _INK},
}

#: The colours that stand for those of ``LIGHT`` on a dark screen.
DARK = {
    _GROUND: "#131416",
    _INK: "#e6e6e6",
    _DIM: "#b8b8b8",
    _SENT: "#8ab8ff",
    _BROKEN: "#ff9288",
    "#8c8c8c": "#7d8186",
    "#bdbdbd": "#5c5f64",
}

#: An arrow along a link: from, to, and the text next to it.
Arrow = tuple[int, int, str]


@dataclass(frozen=True)
class Drawing:
    """A small network with its faults, and the marks of an algorithm.

    Parameters
    ----------
    network : Hypercube or DualCube
        With n <= 6 or m <= 2.
    grey : tuple of int
        Nodes drawn grey: unsafe nodes.
    inside : dict
        Texts inside nodes, by label: times, or labels of supernodes.
    arrows : tuple of (int, int, str)
        Arrows along links: from, to, and a text next to the arrow, such as a time or a number.  An arrow over a faulty link or
        at a faulty node is dashed.
    within : tuple of (int, int)
        Links drawn thick: those inside the 2-cubes of a 2-partition.
    caption : str
    """

    network: Hypercube | DualCube
    grey: tuple[int, ...] = ()
    inside: Mapping[int, str] = field(default_factory=dict)
    arrows: tuple[Arrow, ...] = ()
    within: tuple[tuple[int, int], ...] = ()
    caption: str = ""


def check_drawable(network: object) -> Hypercube | DualCube:
    """Return the network.  Raises ParameterError unless it is a hypercube with n <= 6 or a dual-cube with m <= 2."""
    if isinstance(network, Hypercube):
        check_range("n", network.n, 1, LARGEST_CUBE, "to draw")
    elif isinstance(network, DualCube):
        check_range("m", network.m, 1, LARGEST_DUAL, "to draw")
    else:
        raise ParameterError(f"network must be a Hypercube or a DualCube to draw, got {short_repr(network)}")
    return network


# ---------------------------------------------------------------- descriptions


def name_link(u: int, v: int, n: int) -> str:
    """Return a link as a ternary string, with ``*`` at the bit in which its ends differ."""
    return "".join("*" if a != b else a for a, b in zip(label_text(u, n), label_text(v, n), strict=True))


def list_names(noun: str, names: Sequence[str], most: int | None = None) -> str:
    """Return names after a noun in the number that fits, such as ``faulty node 0``; of many names the first ``most``."""
    return _limit_list(noun + "s" * (len(names) != 1), names, len(names) if most is None else most)


def _limit_list(heading: str, names: Sequence[str], most: int) -> str:
    """Return names after a heading, or the first ``most`` names and their number."""
    end = f", ... ({len(names)} in all)" if len(names) > most else ""
    return f"{heading} {', '.join(names[:most])}{end}"


def title_of(network: Hypercube | DualCube) -> str:
    """Return the name of a network: ``Q_4`` or ``DC(2)``."""
    return f"Q_{network.n}" if isinstance(network, Hypercube) else f"DC({network.m})"


def describe_drawing(drawing: Drawing) -> str:
    """Return the drawing as text, for the text alternative."""
    network = drawing.network
    faulty, bits = all_faulty_nodes(network).tolist(), network.bits
    parts = [title_of(network)]
    if faulty:
        parts.append(list_names("faulty node", [label_text(v, bits) for v in faulty]))
    if network.faulty_links:
        parts.append(list_names("faulty link", [name_link(u, v, bits) for u, v in sorted(network.faulty_links)]))
    if drawing.grey and set(drawing.grey) != set(drawing.inside):
        parts.append(list_names("unsafe node", [label_text(v, bits) for v in drawing.grey], _MOST_NODE_LABELS))
    if drawing.inside:
        inside = [f"{label_text(v, bits)}: {text}" for v, text in sorted(drawing.inside.items())]
        if set(drawing.grey) == set(drawing.inside):
            unsafe = list_names("unsafe node", inside, _MOST_NODE_LABELS)
            parts.append(f"{unsafe}, {'each ' * (len(inside) > 1)}with the step that marks it")
        else:
            parts.append(_limit_list("in the nodes", inside, _MOST_NODE_LABELS))
    if drawing.arrows:
        arrows = (f"{label_text(u, bits)} to {label_text(v, bits)} {word}".strip() for u, v, word in drawing.arrows)
        parts.append("arrows " + ", ".join(arrows))
    if bits > BLOCK and isinstance(network, Hypercube):
        last = "last dimension" if bits == BLOCK + 1 else "last two dimensions"
        parts.append(f"links of the {last} are drawn only if they are faulty or marked")
    return "; ".join(parts)


# ---------------------------------------------------------------- places


def node_places(network: Hypercube | DualCube) -> list[complex]:
    """Return the place of every node: right (real part) and down (imaginary part)."""
    if isinstance(network, DualCube):
        return [_place_in_dual(network, v) for v in range(2**network.bits)]
    return [sum((step for i, step in enumerate(_STEPS) if v >> i & 1), 0j) for v in range(2**network.n)]


def _place_in_dual(dual: DualCube, v: int) -> complex:
    """Return the place of a node.  The cross edges of one cluster fan out to all clusters of the other class."""
    across, up = dual.position(v) & 1, dual.position(v) >> 1
    x = dual.cluster(v) * _PITCH + across * _NODE_WIDTH_STEP + up * _SLANT
    if dual.class_of(v) == 0:
        return complex(x, -up * _NODE_HEIGHT_STEP)
    return complex(x, -_CLASS_GAP - (1 - up) * _NODE_HEIGHT_STEP if dual.m > 1 else -2 * _NODE_HEIGHT_STEP)


@dataclass(frozen=True)
class _Layout:
    """The places of nodes and names, and the sizes of circles and letters."""

    places: list[complex]
    radius: float
    names: Mapping[int, str]
    beside: complex  #: from a node to the beginning or the middle of its name
    middle: complex  #: from a node to the middle of its name
    anchor: str  #: which of the two ``beside`` is
    blocks: Mapping[complex, str]
    letters: float  #: size of the letters of names
    box: tuple[float, float, float, float]  #: left, top, width, height


def _lay_out(network: Hypercube | DualCube) -> _Layout:
    """Return the layout of a network, with larger circles and letters for fewer nodes."""
    places, bits = node_places(network), network.bits
    names, blocks = {v: label_text(v, bits) for v in range(2**bits)}, {}
    if isinstance(network, DualCube):
        radius, beside, anchor, letters = 8.0, 19j, "middle", 12.0
    elif bits <= BLOCK:
        radius, beside, anchor, letters = 12.0, 6 + 24j, "start", 11.0
    else:
        radius, beside, anchor, letters = 9.5, 6 + 21j, "start", 12.0
        for first in range(0, 2**bits, 2**BLOCK):
            blocks[places[first] + _BLOCK_NAME] = label_text(first >> BLOCK, bits - BLOCK) + "*" * BLOCK
        names = {v: text[-BLOCK:] for v, text in names.items()}
    half = 0.3 * letters * len(names[0])  # of the width of a name
    middle = beside + half * (anchor == "start")
    left = min(at.real for at in places) + min(-radius, middle.real - half) - 8
    top = min(at.imag for at in places) - radius - 8
    right = max(at.real for at in places) + max(radius, middle.real + half) + 8
    bottom = max(at.imag for at in places) + beside.imag + 10
    box = left, top, right - left, bottom - top
    return _Layout(places, radius, names, beside, middle, anchor, blocks, letters, box)


# ---------------------------------------------------------------- SVG


def _class_attributes(name: str, look: Mapping[str, Mapping[str, str]], style: str | None = None) -> str:
    """Return the attributes of a class: its name, and in a picture that stands alone its look."""
    looks = "".join(f' {key}="{value}"' for key, value in look.get(style or name, {}).items())
    return f'class="{name}"{looks}'


def _link_path(one: complex, other: complex, radius: float) -> str:
    """Return the segment between the rims of two nodes, as part of an SVG path."""
    rim = (other - one) / abs(other - one) * radius
    a, b = one + rim, other - rim
    return f"M{a.real:.0f} {a.imag:.0f} {b.real:.0f} {b.imag:.0f}"


def _text_element(at: complex, text: str) -> str:
    """Return a text at a place as an SVG element."""
    return f'<text x="{at.real:.0f}" y="{at.imag:.0f}">{html.escape(text)}</text>'


def _text_group(
    name: str, texts: Iterable[str], size: float, anchor: str, look: Mapping[str, Mapping[str, str]]
) -> str:
    """Return texts of one class; in a picture that stands alone each over a wider copy in the colour of the ground."""
    written, fonts = "".join(texts), f'font-size="{size:g}" text-anchor="{anchor}"'
    halo = f'<g aria-hidden="true" {_class_attributes("halo", look)} {fonts}>{written}</g>' if look else ""
    return f"{halo}<g {_class_attributes(name, look)} {fonts}>{written}</g>" if written else ""


def _place_word(one: complex, other: complex, taken: list[complex]) -> complex:
    """Return the place of an arrow's text, at two fifths of the way or farther from other texts, and add it to ``taken``."""
    aside = 12j * (other - one) / abs(other - one)
    places = [one + fraction * (other - one) + aside + 4j for fraction in _LABEL_FRACTIONS]
    distances = [min([abs(place - word) for word in taken] + [_LABEL_SPACE]) for place in places]
    taken.append(at := places[distances.index(max(distances))])
    return at


def _arrow_element(
    one: complex, other: complex, kind: str, radius: float, look: Mapping[str, Mapping[str, str]]
) -> str:
    """Return an arrow next to its link, from rim to rim."""
    along = (other - one) / abs(other - one)
    aside = 4j * along  # arrows in opposite directions must not overlap
    tail, tip = one + (radius + 2) * along + aside, other - (radius + 2) * along + aside
    head = [f"{at.real:.1f} {at.imag:.1f}" for at in (tip, tip - 8 * along + aside, tip - 8 * along - aside)]
    name = "sent" if kind == "sent" else f"sent {kind}"
    line = f'<path {_class_attributes(name, look, kind)} d="M {tail.real:.1f} {tail.imag:.1f} L {head[0]}"/>'
    return f'{line}<path {_class_attributes("head", look)} d="M {" L ".join(head)} z"/>'


def is_blocked(network: Network, faulty: Iterable[int], arrow: Arrow) -> bool:
    """Whether an arrow crosses a faulty link, or begins or ends at a faulty node."""
    u, v, _ = arrow
    return network.is_faulty_link(u, v) or u in faulty or v in faulty


def drawing_elements(
    drawing: Drawing, look: Mapping[str, Mapping[str, str]] | None = None
) -> tuple[str, tuple[float, float, float, float]]:
    """Return the elements of a drawing and their box (left, top, width, height), with the attributes of ``look`` by class."""
    network, look = check_drawable(drawing.network), look or {}
    plan, faulty = _lay_out(network), frozenset(all_faulty_nodes(network).tolist())
    at, grey, broken = plan.places, frozenset(drawing.grey), network.faulty_links
    within = {(min(link), max(link)) for link in drawing.within} - broken
    shown = BLOCK if isinstance(network, Hypercube) else network.bits
    links = {(u, v) for u in range(len(at)) for v in network.neighbours(u) if u < v and (u ^ v) >> shown == 0}
    parts = []
    for kind, links_of_kind in (("link", links - broken - within), ("within", within), ("broken", broken)):
        path = "".join(_link_path(at[u], at[v], plan.radius) for u, v in sorted(links_of_kind))
        parts += [f'<path {_class_attributes(kind, look)} d="{path}"/>'] * bool(path)
    for arrow in drawing.arrows:
        kind = "blocked" if is_blocked(network, faulty, arrow) else "sent"
        parts.append(_arrow_element(at[arrow[0]], at[arrow[1]], kind, plan.radius, look))
    kinds = ["faulty" if v in faulty else "unsafe" if v in grey else "plain" for v in range(len(at))]
    for kind in dict.fromkeys(kinds):  # circles of one kind share a group, so their style class is written once
        places = (place for place, node_kind in zip(at, kinds, strict=True) if node_kind == kind)
        circles = (f'<circle cx="{z.real:.0f}" cy="{z.imag:.0f}" r="{plan.radius:g}"/>' for z in places)
        parts.append(f"<g {_class_attributes(f'node {kind}', look, kind)}>{''.join(circles)}</g>")
    inside = dict.fromkeys(faulty, _CROSS) | dict(drawing.inside)
    for v in sorted(inside):
        style = "inside faulty" if v in faulty else "inside"
        size = f'font-size="{12 if plan.radius > 9 else 11}" text-anchor="middle"'
        text = f'x="{at[v].real:.0f}" y="{at[v].imag + 4:.0f}">{html.escape(inside[v])}</text>'
        parts.append(f"<text {_class_attributes(f'inside {kinds[v]}', look, style)} {size} {text}")
    names = (_text_element(at[v] + plan.beside, text) for v, text in plan.names.items())
    parts.append(_text_group("name", names, plan.letters, plan.anchor, look))
    taken = [at[v] + plan.middle for v in plan.names]
    marks = [_text_element(_place_word(at[u], at[v], taken), word) for u, v, word in drawing.arrows if word]
    parts.append(_text_group("word", marks, 12, "middle", look))
    parts.append(_text_group("block", (_text_element(z, text) for z, text in plan.blocks.items()), 13, "middle", look))
    return "".join(parts), plan.box


def drawing_svg(drawing: Drawing, *, captioned: bool = False) -> str:
    """Return the drawing as an ``<svg>`` for a page, whose style sheet gives the classes their colours.

    The element has the class cube, and dual for a dual-cube.  Its parts are the classes link, within, broken, sent, blocked,
    head, node, plain, unsafe, faulty, inside, name, block and word.  If ``captioned``, the page shows the text alternative next
    to the element, which then has none.

    Raises ParameterError beyond n = 6 and m = 2.
    """
    elements, box = drawing_elements(drawing)
    name = "cube" if isinstance(drawing.network, Hypercube) else "cube dual"
    left, top, width, height = (f"{side:.0f}" for side in box)
    size = f'viewBox="{left} {top} {width} {height}" width="{width}" height="{height}"'
    text = html.escape(describe_drawing(drawing), quote=True)
    role = 'aria-hidden="true"' if captioned else f'role="img" aria-label="{text}"'
    return f'<svg class="{name}" {size} {role}>{elements}</svg>'


def path_arrows(labels: Sequence[int]) -> tuple[Arrow, ...]:
    """Return the arrows of a path."""
    return tuple((u, v, "") for u, v in pairwise(labels))
