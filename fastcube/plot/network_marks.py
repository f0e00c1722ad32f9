"""``draw``: the marks of algorithms on a small network, each from the object that an algorithm returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..algorithms.broadcasting import Broadcast
from ..algorithms.partition import Supercube
from ..algorithms.paths import Route
from ..algorithms.trees import CommunicationTree
from ..algorithms.unsafe import find_unsafe
from ..errors import ParameterError, as_integer, check_flag, is_many, short_repr
from ..networks.dualcube import DualCube
from ..networks.hypercube import Hypercube
from ..networks.network import all_faulty_nodes
from .network_drawing import BLOCK, Arrow, Drawing, check_drawable, is_blocked, path_arrows, title_of
from .picture import Picture, PicturePanel, Sign, compose_picture

Cube = Hypercube | DualCube

#: Largest dimension at which arrows of trees have texts, and largest number of components in a legend.
_MOST_NUMBERED, _MOST_COMPONENTS = 4, 6

#: Names of components: 64, because all links of Q_6 may be faulty.
_COMPONENT_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyzαβγδεζηθικλμ"


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
) -> PicturePanel:
    """Return the drawing with the marks of ``draw``, the channels of a multicast, and texts for the ends of messages.

    Where two marks write into one node, the text of the later is shown.
    """
    marks = _Marks(network)
    if components:
        marks.add_components()
    if partition is not None:
        marks.add_partition(partition)
    if rounds:
        marks.add_rounds()
    if broadcast is not None:
        marks.add_broadcast(broadcast)
    if tree is not None:
        marks.add_tree(tree)
    if route is not None:
        marks.add_route(route)
    if channels:
        marks.add_channels(channels)
    marks.add_ends(ends or {})
    return marks.make_panel(shows_rounds=rounds and broadcast is None)


class _Marks:
    """Marks on a network, collected one algorithm after another, with their signs for the legend."""

    def __init__(self, network: Cube) -> None:
        self.network = network
        self.inside: dict[int, str] = {}
        self.signs: list[Sign] = []
        self.arrows: list[Arrow] = []
        self.grey: tuple[int, ...] = ()
        self.within: tuple[tuple[int, int], ...] = ()

    def add_components(self) -> None:
        """Write the letter of its component into each nonfaulty node."""
        components = _find_components(self.network)
        for letter, component in zip(_COMPONENT_LETTERS, components, strict=False):
            self.inside |= dict.fromkeys(component, letter)
        if components:
            self.signs.append(Sign("A", _describe_components([len(component) for component in components])))

    def add_partition(self, partition: Any) -> None:
        """Thicken the links inside the 2-cubes of a 2-partition, and write the number of its 2-cube into each nonfaulty node."""
        cube = _check_hypercube("partition", self.network)
        lo, hi = _check_dimensions(cube, partition)
        self.within = tuple((v, v ^ 1 << d) for d in (lo, hi) for v in range(2**cube.bits) if not v >> d & 1)
        supercube = Supercube(cube.bits, frozenset(), (lo, hi))
        self.inside |= {v: str(supercube.label(v)) for v in range(2**cube.bits) if not cube.is_faulty(v)}
        self.signs.append(Sign("within", f"2-cubes of P = {{{lo}, {hi}}}"))
        self.signs.append(Sign("#", "number of a 2-cube on the Hamilton path"))

    def add_rounds(self) -> None:
        """Draw unsafe nodes grey, with the round in which FIND_UNSAFE marks them."""
        unsafe = find_unsafe(_check_hypercube("rounds", self.network))
        self.grey = tuple(unsafe.nodes.tolist())
        self.inside |= {v: str(step) for v, step in zip(self.grey, unsafe.round_of.tolist(), strict=True)}

    def add_broadcast(self, broadcast: Any) -> None:
        """Draw the copies of a broadcast, and write into each node the time at which it receives."""
        if not isinstance(broadcast, Broadcast) or broadcast.cube != self.network:
            raise ParameterError(f"broadcast must be a Broadcast in this network, got {short_repr(broadcast)}")
        self.arrows += [(u, v, "") for _, u, v in broadcast.sends]
        received = enumerate(broadcast.received.tolist())
        self.inside |= {v: str(time) if time else "s" for v, time in received if time >= 0}
        self.signs += [Sign("s", "source"), Sign("#", "time unit of receipt"), Sign("sent", "copy of the message")]

    def add_tree(self, tree: Any) -> None:
        """Draw the links of a tree as arrows, and mark its root."""
        root, tree_arrows, meaning = _check_tree(self.network, tree)
        self.arrows += tree_arrows
        self.inside[root] = "r"
        self.signs += [Sign("r", "root"), Sign("sent", meaning)]

    def add_route(self, route: Any) -> None:
        """Draw the hops of a path with their numbers; the last node is marked as destination only if the message arrives."""
        path, is_delivered = _check_route(self.network, route)
        if not path:
            return
        self.inside[path[0]] = "s"
        self.signs.append(Sign("s", "source"))
        if is_delivered:
            self.inside[path[-1]] = "t"
            self.signs.append(Sign("t", "destination"))
        self.arrows += _number_hops(path)
        if len(path) > 1:
            self.signs.append(Sign("sent", "path, with the number of each hop"))

    def add_channels(self, channels: Sequence[tuple[int, int]]) -> None:
        """Draw the channels of a multicast, each once."""
        self.arrows += [(u, v, "") for u, v in dict.fromkeys(channels)]
        self.signs.append(Sign("sent", "channel of the multicast"))

    def add_ends(self, ends: Mapping[int, str]) -> None:
        """Write ``s``, ``t`` or ``d`` into the ends of messages."""
        self.inside |= ends
        meanings = {"s": "source", "t": "destination", "d": "destination"}
        self.signs += [Sign(text, meaning) for text, meaning in meanings.items() if text in ends.values()]

    def make_panel(self, shows_rounds: bool) -> PicturePanel:
        """Return the drawing with its signs, those of faults first; ``shows_rounds`` is whether grey nodes show the rounds."""
        network = self.network
        drawing = Drawing(network, self.grey, self.inside, tuple(self.arrows), self.within)
        signs = [*_list_fault_signs(drawing, shows_rounds), *self.signs]
        if network.bits > BLOCK and isinstance(network, Hypercube):
            first = "0" * (network.bits - BLOCK - 1) + "1"
            text = f"0110 at {first}**** is node {first}0110; links between blocks: only if faulty or marked"
            signs.append(Sign("", text))
        return PicturePanel(drawing, tuple(dict.fromkeys(signs)))


def _list_fault_signs(drawing: Drawing, shows_rounds: bool) -> list[Sign]:
    """Return the signs of faults, of unsafe nodes and of arrows that meet a fault, as far as the drawing has them."""
    network = drawing.network
    faulty = frozenset(all_faulty_nodes(network).tolist())
    signs = []
    if faulty:
        signs.append(Sign("faulty", "faulty node"))
    if network.faulty_links:
        signs.append(Sign("broken", "faulty link"))
    if drawing.grey:
        signs.append(Sign("unsafe", "unsafe node, with its round" if shows_rounds else "unsafe node"))
    if any(is_blocked(network, faulty, arrow) for arrow in drawing.arrows):
        signs.append(Sign("blocked", "arrow that meets a fault"))
    return signs


def _check_hypercube(name: str, network: Cube) -> Hypercube:
    """Return the network.  Raises ParameterError for a mark ``name`` in another network than a hypercube."""
    if not isinstance(network, Hypercube):
        raise ParameterError(f"{name} needs a Hypercube, got {short_repr(network)}")
    return network


def _check_dimensions(cube: Hypercube, partition: Any) -> tuple[int, int]:
    """Return a pair of dimensions (lo, hi), which need not be fault-tolerant.  Raises ParameterError for anything else."""
    given = list(partition) if is_many(partition) else []
    dims = sorted(d for value in given if (d := as_integer(value)) is not None and 0 <= d < cube.n)
    if len(given) != 2 or len(set(dims)) != 2:
        wanted = f"two different dimensions in [0, {cube.n - 1}] for n={cube.n}"
        raise ParameterError(f"partition must be {wanted}, got {short_repr(partition)}")
    return dims[0], dims[1]


def _check_tree(network: Cube, tree: Any) -> tuple[int, list[Arrow], str]:
    """Return the root of a tree, its arrows and their meaning in words.  Raises ParameterError for a tree of another network."""
    numbered = network.bits <= _MOST_NUMBERED
    if isinstance(tree, CommunicationTree):
        if tree.cube != network:
            raise ParameterError(f"tree must be a tree of this network, got one of {short_repr(tree.cube)}")
        arrows = [(u, v, str(stage) if numbered else "") for stage, u, v in tree.links]
        return tree.sink, arrows, "tree link, with its stage" if numbered else "tree link"
    parents = [as_integer(parent) for parent in tree] if is_many(tree) else []
    roots = [v for v, parent in enumerate(parents) if parent == -1]
    if len(parents) != 2**network.bits or len(roots) != 1:
        wanted = f"a CommunicationTree or {2**network.bits} parents, one of them -1"
        raise ParameterError(f"tree must be {wanted}, got {short_repr(tree)}")
    arrows = []
    for v, parent in enumerate(parents):
        if parent not in (-1, -2):
            if parent is None or not 0 <= parent < len(parents) or not network.is_link(parent, v):
                raise ParameterError(f"tree must hold a neighbour of node {v} at {v}, got {short_repr(parent)}")
            arrows.append((parent, v, ""))
    return roots[0], arrows, "tree link"


def _check_route(network: Cube, route: Any) -> tuple[list[int], bool]:
    """Return the labels of a path, and whether the message arrives.  Raises ParameterError if it leaves the links."""
    is_delivered = route.outcome == "delivered" if isinstance(route, Route) else True
    labels = route.path if isinstance(route, Route) else route
    if not is_many(labels):
        raise ParameterError(f"route must be a Route or labels of a path, got {short_repr(route)}")
    path = [network.check_node("route", v) for v in labels]
    for u, v, _ in path_arrows(path):
        if u == v or not network.is_link(u, v):
            raise ParameterError(f"route must follow links of {title_of(network)}, got {u} and {v} in a row")
    return path, is_delivered


def _number_hops(path: Sequence[int]) -> list[Arrow]:
    """Return one arrow per link and direction, with the numbers of the hops that cross it."""
    hops: dict[tuple[int, int], list[str]] = {}
    for i, (u, v, _) in enumerate(path_arrows(path), 1):
        hops.setdefault((u, v), []).append(str(i))
    return [(u, v, ",".join(numbers)) for (u, v), numbers in hops.items()]


def _find_components(network: Cube) -> list[list[int]]:
    """Return the connected components of the nonfaulty nodes, the largest first, then by smallest label."""
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
    entries = [f"{letter} {size}" for letter, size in zip(_COMPONENT_LETTERS, sizes, strict=False)]
    if len(entries) > _MOST_COMPONENTS:
        entries[_MOST_COMPONENTS:] = [f"... {len(sizes)} in all"]
    return f"component, with its number of nodes: {', '.join(entries)}"
