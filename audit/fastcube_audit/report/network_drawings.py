"""Draw small hypercubes as the papers do: faulty nodes black, unsafe nodes grey, times inside nodes.

Q_4 is two 3-cubes next to each other.  Q_5 and Q_6 are two and four Q_4, and links between these are not drawn.  Larger cubes are
described by text.  Colours are classes of the page's style sheet, so a drawing follows dark mode.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..examples import Drawing

#: Largest dimension that is drawn.
LARGEST = 6

#: Largest dimension with all links and all node labels drawn.
_MOST_LINKED_DIMENSIONS = 4

#: The offset of a step along each dimension: right (real part) and down (imaginary part), in units of the drawing.  With these
#: values no link passes over a node.
_STEPS = (84.0, -84.0j, 40.0 - 34.0j, 220.0 + 48.0j, 440.0, -250.0j)
_RADIUS = 12.0
_MARGIN = 30.0

#: Possible places of an arrow's text, as fractions of its length, and the wanted distance from other texts, in drawing units.
_LABEL_FRACTIONS, _LABEL_SPACE = (0.4, 0.55, 0.3, 0.65), 18.0

#: Largest number of faulty nodes or links in a description.
_MOST_NAMED_FAULTS = 32

#: Largest number of node labels in a description: all nodes of Q_4.
_MOST_NODE_LABELS = 16


def label(v: int, n: int) -> str:
    """Return a node as a string of n bits."""
    return format(v, f"0{n}b")


def link_text(u: int, v: int, n: int) -> str:
    """Return a link as a ternary string, with ``*`` at the bit in which its ends differ."""
    return "".join("*" if a != b else a for a, b in zip(label(u, n), label(v, n), strict=True))


def describe_drawing(drawing: Drawing) -> str:
    """Return the drawing as text, for the text alternative."""
    n = drawing.n
    parts = [f"Q_{n}"]
    if drawing.faulty_nodes:
        parts.append(list_text("faulty node", [label(v, n) for v in drawing.faulty_nodes]))
    if drawing.faulty_links:
        parts.append(list_text("faulty link", [link_text(u, v, n) for u, v in drawing.faulty_links]))
    if drawing.grey and set(drawing.grey) != set(drawing.inside):
        parts.append(list_text("unsafe node", [label(v, n) for v in drawing.grey], _MOST_NODE_LABELS))
    if drawing.inside:
        inside = [f"{label(v, n)}: {text}" for v, text in sorted(drawing.inside.items())]
        if set(drawing.grey) == set(drawing.inside):
            unsafe = list_text("unsafe node", inside, _MOST_NODE_LABELS)
            parts.append(f"{unsafe}, {'each ' * (len(inside) > 1)}with the step that marks it")
        else:
            parts.append(_limited_list("in the nodes", inside, _MOST_NODE_LABELS))
    if drawing.arrows:
        parts.append(
            "arrows " + ", ".join(f"{label(u, n)} to {label(v, n)} {word}".strip() for u, v, word in drawing.arrows)
        )
    if n > _MOST_LINKED_DIMENSIONS:
        parts.append(
            f"links of the {'last dimension' if n == _MOST_LINKED_DIMENSIONS + 1 else 'last two dimensions'} are not drawn"
        )
    return "; ".join(parts)


def list_text(noun: str, names: Sequence[str], most: int | None = None) -> str:
    """Return names after a noun in the number that fits, such as ``faulty node 0``; of many names the first ``most``."""
    return _limited_list(noun + "s" * (len(names) != 1), names, len(names) if most is None else most)


def _limited_list(what: str, names: Sequence[str], most: int) -> str:
    """Return ``what`` and its names, or the first ``most`` names and their number."""
    more = f", ... ({len(names)} in all)" if len(names) > most else ""
    return f"{what} {', '.join(names[:most])}{more}"


def _link(one: complex, other: complex, radius: float) -> str:
    """Return the segment between the rims of two nodes, as part of an SVG path."""
    rim = (other - one) / abs(other - one) * radius
    a, b = one + rim, other - rim
    return f"M{a.real:.0f} {a.imag:.0f} {b.real:.0f} {b.imag:.0f}"


def _arrow(one: complex, other: complex, word: str, radius: float, taken: list[complex]) -> str:
    """Return an arrow next to its link, from rim to rim, with its text at two fifths of the way, or where no other text is."""
    along = (other - one) / abs(other - one)
    aside = 4j * along  # arrows in opposite directions must not overlap
    tail, tip = one + (radius + 2) * along + aside, other - (radius + 2) * along + aside
    head = [f"{at.real:.1f} {at.imag:.1f}" for at in (tip, tip - 8 * along + aside, tip - 8 * along - aside)]
    places = [one + fraction * (other - one) + 3 * aside + 4j for fraction in _LABEL_FRACTIONS]
    distances = [min([abs(place - word) for word in taken] + [_LABEL_SPACE]) for place in places]
    at = places[distances.index(max(distances))]
    taken += [at] * bool(word)
    text = f'<text class="word" x="{at.real:.1f}" y="{at.imag:.1f}">{html.escape(word)}</text>'
    way = f'<path class="sent" d="M {tail.real:.1f} {tail.imag:.1f} L {head[0]}"/>'
    return f'{way}<path class="head" d="M {" L ".join(head)} z"/>' + (text if word else "")


def network_svg(
    name: str,
    places: Sequence[complex],
    links: Mapping[str, Sequence[tuple[int, int]]],
    arrows: Iterable[tuple[int, int, str]],
    kinds: Sequence[str],
    inside: Mapping[int, str],
    named: Mapping[int, str],
    beside: complex,
    radius: float,
    description: str,
) -> str:
    """Return an ``<svg>`` element of class ``name`` with nodes at ``places``; ``kinds`` are the classes of the nodes.

    ``links`` are given by class.  ``beside`` is the offset of a node's name.  ``description`` is the text alternative, if needed.
    """
    ways = {kind: [_link(places[u], places[v], radius) for u, v in some] for kind, some in links.items() if some}
    parts = [f'<path class="{kind}" d="{"".join(some)}"/>' for kind, some in ways.items()]
    taken = [places[v] + beside for v in named]
    parts += [_arrow(places[u], places[v], word, radius, taken) for u, v, word in arrows]
    circles: dict[str, list[str]] = {}  # circles of one kind share a group, so their style class is written once
    for at, kind in zip(places, kinds, strict=True):
        circles.setdefault(kind, []).append(f'<circle cx="{at.real:.0f}" cy="{at.imag:.0f}" r="{radius:g}"/>')
    parts += [f'<g class="node {kind}">{"".join(some)}</g>' for kind, some in circles.items()]
    for v in sorted(inside):
        at = places[v] + 4j
        text = html.escape(inside[v])
        parts.append(f'<text class="inside {kinds[v]}" x="{at.real:.0f}" y="{at.imag:.0f}">{text}</text>')
    names = ((places[v] + beside, text) for v, text in named.items())
    texts = (f'<text x="{at.real:.0f}" y="{at.imag:.0f}">{text}</text>' for at, text in names)
    parts.append(f'<g class="name">{"".join(texts)}</g>')
    left, top = min(at.real for at in places) - _MARGIN - 12, min(at.imag for at in places) - _MARGIN
    width = max(at.real for at in places) + _MARGIN - left
    height = max(at.imag for at in places) + _MARGIN + 6 - top
    box = f'viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    role = f'role="img" aria-label="{html.escape(description, quote=True)}"' if description else 'aria-hidden="true"'
    return f'<svg class="{name}" {box} {role}>{"".join(parts)}</svg>'


def cube_svg(drawing: Drawing, *, captioned: bool = False) -> str:
    """Return the drawing as an ``<svg>`` of the classes cube, link, broken, node, faulty, unsafe, inside, name, sent, head.

    If ``captioned``, the page shows ``describe_drawing`` next to it, so the element has no text alternative.

    Raises ValueError beyond dimension 6.
    """
    n = drawing.n
    if not 1 <= n <= LARGEST:
        raise ValueError(f"a cube is drawn for 1 <= n <= {LARGEST}, got {n}")
    nodes = range(2**n)
    broken = {frozenset(link) for link in drawing.faulty_links}
    links = [(u, u | 1 << i) for u in nodes for i in range(min(n, _MOST_LINKED_DIMENSIONS)) if not u >> i & 1]
    return network_svg(
        "cube large" if n > _MOST_LINKED_DIMENSIONS else "cube",
        [sum((step for i, step in enumerate(_STEPS) if v >> i & 1), 0j) for v in nodes],
        {
            "link": [link for link in links if frozenset(link) not in broken],
            "broken": [link for link in links if frozenset(link) in broken],
        },
        drawing.arrows,
        ["faulty" if v in drawing.faulty_nodes else "unsafe" if v in drawing.grey else "plain" for v in nodes],
        drawing.inside,
        {v: label(v, n) for v in nodes if n <= _MOST_LINKED_DIMENSIONS or v in drawing.faulty_nodes},
        -8 + (_RADIUS + 12) * 1j if n <= _MOST_LINKED_DIMENSIONS else -(_RADIUS + 4) * 1j,
        _RADIUS,
        "" if captioned else describe_drawing(drawing),
    )


def render_counterexample(data: Mapping[str, Any], value: Any, unsafe: bool) -> dict[str, Any]:
    """Return a counterexample's hypercube for the page: ``drawings`` (fields of a Drawing) up to Q_6, ``lines`` of text beyond.

    With ``unsafe``, unsafe nodes are marked with the round in which they became unsafe.  Sources and destinations of
    ``messages`` in the data are named inside their nodes.  If ``value`` is a list of links, they are drawn as arrows.  If it is
    a list of trees (parents by label), each tree is one drawing; ``trees`` in the data take its place.
    The result is {} if the data do not hold a hypercube.
    """
    n = data.get("n")
    if not isinstance(n, int) or not 1 <= n <= 62 or "network" in data or "faulty_nodes" not in data:
        return {}
    nodes = [int(v) for v in data["faulty_nodes"]]
    links = [(int(u), int(v)) for u, v in data.get("faulty_links", ())]
    found = _find_unsafe_nodes(n, nodes, links) if unsafe else None
    if n <= LARGEST:
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
    lines = [list_text("faulty node", [label(v, n) for v in nodes], _MOST_NAMED_FAULTS)] if nodes else []
    lines += [list_text("faulty link", [link_text(u, v, n) for u, v in links], _MOST_NAMED_FAULTS)] if links else []
    if found is not None:
        lines.append(list_text("unsafe subcube", [str(part) for part in found.subcubes], _MOST_NAMED_FAULTS))
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


def _find_unsafe_nodes(n: int, nodes: Sequence[int], links: Sequence[tuple[int, int]]) -> Any:
    from fastcube.algorithms.unsafe import find_unsafe
    from fastcube.networks.hypercube import Hypercube

    return find_unsafe(Hypercube(n, nodes, links))


def drawings_of(drawing: Mapping[str, Any]) -> list[Drawing]:
    """Return the drawings of ``render_counterexample`` from their JSON form."""
    out = []
    for held in drawing.get("drawings", ()):
        inside = {int(v): str(text) for v, text in held["inside"]}
        links = tuple((int(u), int(v)) for u, v in held["faulty_links"])
        arrows = tuple((int(u), int(v), str(word)) for u, v, word in held["arrows"])
        grey = tuple(sorted(inside)) if held["unsafe"] else ()
        out.append(Drawing(held["n"], tuple(held["faulty_nodes"]), grey, links, inside, arrows))
    return out
