"""Small cubes drawn as the papers draw them: faulty nodes black, unsafe ones grey, times inside; larger ones as strings.

Q_4 is two 3-cubes beside each other, Q_5 and Q_6 are two and four Q_4, between which no link is drawn.
Colours are classes of the page's style sheet, so that a drawing follows dark mode.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..examples import Drawing

#: Dimensions up to here are drawn.
LARGEST = 6

#: Dimensions whose links are drawn, and up to which every node is named.
_MOST_LINKED_DIMENSIONS = 4

#: Where a step along each dimension leads, to the right and i times down in the units of the drawing: so that no link passes
#: over a node.
_STEPS = (84.0, -84.0j, 40.0 - 34.0j, 220.0 + 48.0j, 440.0, -250.0j)
_RADIUS = 12.0
_MARGIN = 30.0

#: Faulty nodes and links named in words, at most.
_MOST_NAMED_FAULTS = 32

#: What stands inside of nodes and is told in words, at most: all of Q_4.
_MOST_NODE_LABELS = 16


def label(v: int, n: int) -> str:
    """A node as n bits."""
    return format(v, f"0{n}b")


def link_text(u: int, v: int, n: int) -> str:
    """A link as a ternary string: the bit that differs is ``*``."""
    return "".join("*" if a != b else a for a, b in zip(label(u, n), label(v, n), strict=True))


def describe_drawing(drawing: Drawing) -> str:
    """The drawing in words: its text alternative."""
    n = drawing.n
    parts = [f"Q_{n}"]
    if drawing.faulty_nodes:
        parts.append("faulty nodes " + ", ".join(label(v, n) for v in drawing.faulty_nodes))
    if drawing.faulty_links:
        parts.append("faulty links " + ", ".join(link_text(u, v, n) for u, v in drawing.faulty_links))
    if drawing.grey and set(drawing.grey) != set(drawing.inside):
        parts.append(_limited_list("unsafe nodes", [label(v, n) for v in drawing.grey], _MOST_NODE_LABELS))
    if drawing.inside:
        marked = set(drawing.grey) == set(drawing.inside)
        what = "unsafe nodes with the step that marks each" if marked else "in the nodes"
        inside = [f"{label(v, n)}: {text}" for v, text in sorted(drawing.inside.items())]
        parts.append(_limited_list(what, inside, _MOST_NODE_LABELS))
    if drawing.arrows:
        parts.append(
            "arrows " + ", ".join(f"{label(u, n)} to {label(v, n)} {word}".strip() for u, v, word in drawing.arrows)
        )
    if n > _MOST_LINKED_DIMENSIONS:
        parts.append(
            f"links of the {'last dimension' if n == _MOST_LINKED_DIMENSIONS + 1 else 'last two dimensions'} are not drawn"
        )
    return "; ".join(parts)


def _limited_list(what: str, names: Sequence[str], most: int) -> str:
    """What there is and its names, at most so many of them: a drawing tells more than words could."""
    more = f", ... ({len(names)} in all)" if len(names) > most else ""
    return f"{what} {', '.join(names[:most])}{more}"


def _link(one: complex, other: complex, radius: float) -> str:
    """A link between the rims of two nodes, as a part of a path."""
    rim = (other - one) / abs(other - one) * radius
    a, b = one + rim, other - rim
    return f"M{a.real:.0f} {a.imag:.0f} {b.real:.0f} {b.imag:.0f}"


def _arrow(one: complex, other: complex, word: str, radius: float) -> str:
    """An arrow beside its link, from rim to rim, with its word at two fifths of the way."""
    along = (other - one) / abs(other - one)
    aside = 4j * along  # so that both ways are seen
    tail, tip = one + (radius + 2) * along + aside, other - (radius + 2) * along + aside
    head = [f"{at.real:.1f} {at.imag:.1f}" for at in (tip, tip - 8 * along + aside, tip - 8 * along - aside)]
    at = one + 0.4 * (other - one) + 3 * aside + 4j
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
    words: str,
) -> str:
    """The ``<svg>`` element of a class around nodes at their places, each of a kind; links are given by kind too.

    Names stand ``beside`` nodes; ``words`` are the text alternative, if the drawing needs one.
    """
    ways = {kind: [_link(places[u], places[v], radius) for u, v in some] for kind, some in links.items() if some}
    parts = [f'<path class="{kind}" d="{"".join(some)}"/>' for kind, some in ways.items()]
    parts += [_arrow(places[u], places[v], word, radius) for u, v, word in arrows]
    circles: dict[str, list[str]] = {}  # those of a kind together: what they look like is said once
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
    role = f'role="img" aria-label="{html.escape(words, quote=True)}"' if words else 'aria-hidden="true"'
    return f'<svg class="{name}" {box} {role}>{"".join(parts)}</svg>'


def cube_svg(drawing: Drawing, *, told: bool = False) -> str:
    """The drawing as an ``<svg>`` element of the classes cube, link, broken, node, faulty, unsafe, inside, name, sent, head.

    Where :func:`describe_drawing` is ``render_witness`` beside it, it has no text alternative of its own.

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
        "" if told else describe_drawing(drawing),
    )


def render_witness(data: Mapping[str, Any], value: Any, unsafe: bool) -> dict[str, Any]:
    """A witness' network for the page: ``drawings`` (fields of a Drawing each) up to Q_6, and ``lines`` of strings for any other.

    With ``unsafe``, its unsafe nodes too, and inside of each the round in which it became so; ends of ``messages`` in the data
    are named inside.  A ``value`` that is a list of links is drawn as arrows, one of trees (parents by label) as a cube each;
    ``trees`` of the data take its place.
    Empty where the data do not hold a hypercube.
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
    lines = [_limited_list("faulty nodes:", [label(v, n) for v in nodes], _MOST_NAMED_FAULTS)] if nodes else []
    lines += (
        [_limited_list("faulty links:", [link_text(u, v, n) for u, v in links], _MOST_NAMED_FAULTS)] if links else []
    )
    if found is not None:
        lines.append(_limited_list("unsafe subcubes:", [str(part) for part in found.subcubes], _MOST_NAMED_FAULTS))
    return {"lines": lines}


def _endpoint_labels(messages: Sequence[Any]) -> dict[int, str]:
    """What stands inside of the ends of messages (source, destinations): ``s1`` and ``t1`` of the first; of several, both."""
    words: dict[int, list[str]] = {}
    for i, (source, destinations) in enumerate(messages, 1):
        words.setdefault(int(source), []).append(f"s{i}")
        for v in destinations:
            words.setdefault(int(v), []).append(f"t{i}")
    return {v: ",".join(some) for v, some in words.items()}


def _arrows(n: int, value: Any) -> list[list[tuple[int, int, str]]]:
    """The arrows of a value: one list of links, or a list for each of some trees; empty where it is neither."""
    if not isinstance(value, list) or not value or not all(isinstance(row, list) for row in value):
        return []
    labels = range(2**n)
    if all(len(row) == 2 and all(v in labels for v in row) and (row[0] ^ row[1]).bit_count() == 1 for row in value):
        return [[(u, v, "") for u, v in value]]
    if all(len(row) == 2**n and all(type(p) is int and p < 2**n for p in row) for row in value):
        return [[(parent, v, "") for v, parent in enumerate(row) if parent >= 0] for row in value]
    return []


def _find_unsafe_nodes(n: int, nodes: Sequence[int], links: Sequence[tuple[int, int]]) -> Any:
    from ...algorithms.unsafe import find_unsafe
    from ...networks.hypercube import Hypercube

    return find_unsafe(Hypercube(n, nodes, links))


def drawings_of(told: Mapping[str, Any]) -> list[Drawing]:
    """The drawings of :func:`render_witness`, as they come back from JSON."""
    out = []
    for held in told.get("drawings", ()):
        inside = {int(v): str(text) for v, text in held["inside"]}
        links = tuple((int(u), int(v)) for u, v in held["faulty_links"])
        arrows = tuple((int(u), int(v), str(word)) for u, v, word in held["arrows"])
        grey = tuple(sorted(inside)) if held["unsafe"] else ()
        out.append(Drawing(held["n"], tuple(held["faulty_nodes"]), grey, links, inside, arrows))
    return out
