"""Pictures of small networks: every node, link, mark and sign of a drawing is counted against the network."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET

import pytest

import fastcube as fc
from fastcube.plot.network_drawing import (
    DARK,
    LIGHT,
    Drawing,
    describe_drawing,
    drawing_elements,
    drawing_svg,
    name_link,
    node_places,
)

CUBE = fc.Hypercube(4, faulty_nodes=[0, 6, 13], faulty_links=[(1, 3)])
DUAL = fc.DualCube(2, faulty_nodes=[3, 9, 20])
NETWORKS = [*(fc.Hypercube(n, [0], [(0, 1)]) for n in range(1, 7)), fc.DualCube(1, [1]), DUAL]


def count_shapes(svg, name):
    """The nodes, or the stretches of lines, of one class."""
    parsed = ET.fromstring(svg)
    found = [e for e in parsed.iter() if e.get("class") == name]
    circles = [c for e in found for c in e if c.tag.endswith("circle")]
    return len(circles) + sum(e.get("d", "").count("M") for e in found)


def texts(svg, name):
    """The texts of a class, or in a group of it."""
    groups = [e for e in ET.fromstring(svg).iter() if (e.get("class") or "").split(" ")[0] == name]
    return [e.text for group in groups for e in group.iter() if e.text]


@pytest.mark.parametrize("network", NETWORKS, ids=repr)
def test_every_node_link_and_fault_is_drawn(network):
    svg, size = drawing_svg(Drawing(network)), 2**network.bits
    drawn = 15 if isinstance(network, fc.Hypercube) else size - 1  # links of the first four dimensions
    links = [(u, v) for u in range(size) for v in network.neighbours(u) if u < v]
    assert count_shapes(svg, "node faulty") == len(network.faulty_nodes)
    assert count_shapes(svg, "node plain") == size - len(network.faulty_nodes)
    assert count_shapes(svg, "broken") == len(network.faulty_links)
    assert count_shapes(svg, "link") == sum((u ^ v) <= drawn for u, v in links) - len(network.faulty_links)
    assert texts(svg, "inside") == ["×"] * len(network.faulty_nodes)
    bits = min(network.bits, 4) if isinstance(network, fc.Hypercube) else network.bits
    assert texts(svg, "name") == [network.label(v)[-bits:] for v in range(size)]
    blocks = ["".join(first) + "****" for first in itertools.product("01", repeat=network.bits - bits)]
    assert texts(svg, "block") == (blocks if network.bits > bits else [])


def test_faulty_links_between_blocks_are_drawn():
    links = [(0, 16), (0, 32), (5, 4)]
    assert count_shapes(drawing_svg(Drawing(fc.Hypercube(6, [], links))), "broken") == 3


@pytest.mark.parametrize("network", NETWORKS, ids=repr)
def test_no_link_passes_over_another_node_and_the_box_holds_everything(network):
    at, radius = node_places(network), float(re.search(r' r="([\d.]+)"', drawing_svg(Drawing(network)))[1])
    for u, v in itertools.combinations(range(len(at)), 2):
        if network.is_link(u, v):
            for w in set(range(len(at))) - {u, v}:
                along = ((at[w] - at[u]) * (at[v] - at[u]).conjugate()).real / abs(at[v] - at[u]) ** 2
                assert abs(at[w] - at[u] - min(1, max(0, along)) * (at[v] - at[u])) > radius
    left, top, width, height = drawing_elements(Drawing(network))[1]
    assert all(left + radius <= z.real <= left + width - radius for z in at)
    assert all(top + radius <= z.imag <= top + height - radius for z in at)


def test_texts_and_arrows_of_a_drawing():
    drawing = Drawing(CUBE, (1,), {1: "7"}, ((1, 5, "<2>"), (5, 7, ""), (7, 6, "")))
    svg = drawing_svg(drawing)
    assert (count_shapes(svg, "node unsafe"), count_shapes(svg, "node plain")) == (1, 12)
    assert sorted(texts(svg, "inside")) == ["7", "×", "×", "×"]
    assert texts(svg, "word") == ["<2>"]
    assert (count_shapes(svg, "sent"), count_shapes(svg, "sent blocked"), count_shapes(svg, "head")) == (2, 1, 3)
    assert describe_drawing(drawing) == (
        "Q_4; faulty nodes 0000, 0110, 1101; faulty link 00*1; unsafe node 0001: 7, with the step that marks it; "
        "arrows 0001 to 0101 <2>, 0101 to 0111, 0111 to 0110"
    )
    assert 'aria-label="Q_4; ' in svg
    assert 'aria-hidden="true"' in drawing_svg(drawing, captioned=True)
    assert name_link(0, 4, 3) == "*00"


def test_every_colour_has_one_for_dark_screens():
    used = {value for look in LIGHT.values() for value in look.values() if value.startswith("#")}
    assert used == DARK.keys()


# ---------------------------------------------------------------- draw


def signs(picture):
    return texts(str(picture), "legend")


def test_the_unsafe_nodes_of_a_picture_are_those_of_find_unsafe():
    picture, unsafe = fc.draw(CUBE, rounds=True), fc.find_unsafe(CUBE)
    assert count_shapes(str(picture), "node unsafe") == unsafe.count
    assert sorted(t for t in texts(str(picture), "inside") if t != "×") == sorted(map(str, unsafe.round_of))
    assert signs(picture) == ["faulty node", "faulty link", "unsafe node, with its round"]


def test_a_route_is_numbered_from_s_to_t():
    route = fc.route(CUBE, 1, 14, algorithm="ROUTE1", k=2)
    for given in (route, route.path, tuple(route.path)):
        svg = str(fc.draw(CUBE, route=given))
        assert texts(svg, "word") == [str(i) for i in range(1, route.length + 1)]
        assert {"s", "t"} <= set(texts(svg, "inside"))
        assert count_shapes(svg, "sent") == route.length
    lost = fc.route(fc.Hypercube(3, [1, 2]), 0, 3, algorithm="ROUTE")
    assert lost.outcome == "lost"
    assert "t" not in texts(str(fc.draw(fc.Hypercube(3, [1, 2]), route=lost)), "inside")
    twice = str(fc.draw(fc.Hypercube(2), route=[0, 1, 0, 1]))
    assert sorted(texts(twice, "word")) == ["1,3", "2"]
    delivered = fc.route(DUAL, 0, 31)
    assert count_shapes(str(fc.draw(DUAL, route=delivered)), "sent") == delivered.length


def test_the_arrows_of_a_broadcast_are_its_copies():
    found = fc.broadcast(CUBE, 2, algorithm="BROADCAST")
    svg = str(fc.draw(CUBE, broadcast=found))
    assert count_shapes(svg, "sent") == found.copies - found.lost
    assert count_shapes(svg, "sent blocked") == found.lost
    assert sorted(texts(svg, "inside")) == sorted(["s", *"×××", *(str(t) for t in found.received if t > 0)])


def test_the_arrows_of_a_tree_are_its_links():
    tree = fc.CommunicationTree(CUBE, 5, (0, 1, 3, 2))
    svg = str(fc.draw(CUBE, tree=tree))
    assert count_shapes(svg, "sent blocked") == len(tree.faulty_links)
    assert count_shapes(svg, "sent") == 15 - len(tree.faulty_links)
    assert sorted(texts(svg, "word")) == sorted(str(stage) for stage, *_ in tree.links)
    cube = fc.Hypercube(3, [5])
    for parents in fc.edge_disjoint_spanning_trees(cube, 0):
        assert count_shapes(str(fc.draw(cube, tree=parents)), "sent") == 6


def test_a_partition_has_four_links_in_each_2_cube():
    svg = str(fc.draw(fc.Hypercube(5, [1]), partition=(0, 4)))
    assert count_shapes(svg, "within") == 8 * 4
    numbers = [t for t in texts(svg, "inside") if t != "×"]
    assert {n: numbers.count(n) for n in numbers} == {str(i): 4 - (i == 0) for i in range(8)}


#: Q_6 with all its links faulty: no network that is drawn has more components.
ALL_LINKS_FAULTY = fc.Hypercube(
    6, faulty_links=[(u, u ^ 1 << d) for u in range(64) for d in range(6) if not u >> d & 1]
)


@pytest.mark.parametrize(
    "network", [*NETWORKS, ALL_LINKS_FAULTY], ids=lambda network: repr(network) if network in NETWORKS else "no links"
)
def test_letters_of_components_agree_with_survival(network):
    letters = [t for t in texts(str(fc.draw(network, components=True)), "inside") if t != "×"]
    assert sorted((letters.count(x) for x in set(letters)), reverse=True) == fc.survival(network).components


def test_a_node_that_is_cut_off_is_a_component():
    cube = fc.Hypercube(3, [1, 2], [(0, 4)])
    said = " ".join(signs(fc.draw(cube, components=True)))
    assert said == "faulty node faulty link component, with its number of nodes: A 5, B 1"


def test_faults_that_are_sampled_on_demand_are_drawn():
    cube = fc.Hypercube(5, fc.random_faults(0.3, seed=1))
    assert count_shapes(str(fc.draw(cube, rounds=True)), "node faulty") == sum(map(cube.is_faulty, range(32)))


@pytest.mark.parametrize("network", NETWORKS, ids=repr)
def test_a_picture_is_whole_and_the_same_each_time(network, tmp_path):
    picture = fc.draw(network, components=True)
    parsed = ET.fromstring(str(picture))
    name = f"Q_{network.n}" if isinstance(network, fc.Hypercube) else f"DC({network.m})"
    title, description, *_ = parsed
    assert title.text == name
    assert re.match(rf"{re.escape(name)}; faulty nodes? {network.label(min(network.faulty_nodes))}", description.text)
    assert str(fc.draw(network, components=True)) == str(picture) == picture._repr_svg_()
    picture.save(tmp_path / "one.svg")
    assert (tmp_path / "one.svg").read_text() == str(picture)
    assert repr(picture) == f"Picture({parsed.get('width')} x {parsed.get('height')})"
    assert len(str(picture)) <= 60_000


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fc.draw(fc.Hypercube(9)), r"n must be in \[1, 6\] to draw, got 9"),
        (lambda: fc.draw(fc.DualCube(3)), r"m must be in \[1, 2\] to draw, got 3"),
        (lambda: fc.draw(fc.network("moebius1", 4)), "network must be a Hypercube or a DualCube to draw, got "),
        (lambda: fc.draw(CUBE, rounds=2), "rounds must be True or False, got 2"),
        (lambda: fc.draw(DUAL, rounds=True), "rounds needs a Hypercube, got DualCube"),
        (lambda: fc.draw(DUAL, partition=(0, 1)), "partition needs a Hypercube, got DualCube"),
        (lambda: fc.draw(CUBE, partition=(0, 4)), r"partition must be two different dimensions in \[0, 3\] for n=4"),
        (lambda: fc.draw(CUBE, partition=(1, 1)), "partition must be two different dimensions"),
        (lambda: fc.draw(CUBE, route=[0, 3]), "route must follow links of Q_4, got 0 and 3 in a row"),
        (lambda: fc.draw(CUBE, route=[0, 0]), "route must follow links of Q_4, got 0 and 0 in a row"),
        (lambda: fc.draw(CUBE, route=[0, 16]), r"route must be in \[0, 15\] for n=4, got 16"),
        (lambda: fc.draw(CUBE, route=5), "route must be a Route or labels of a path, got 5"),
        (lambda: fc.draw(CUBE, tree=[0] * 16), "tree must be a CommunicationTree or 16 parents, one of them -1, got"),
        (lambda: fc.draw(CUBE, tree=[-1] + [0] * 15), "tree must hold a neighbour of node 3 at 3, got 0"),
        (
            lambda: fc.draw(CUBE, tree=fc.CommunicationTree(fc.Hypercube(4), 0, range(4))),
            r"tree must be a tree of this network, got one of Hypercube\(4\)",
        ),
        (
            lambda: fc.draw(CUBE, broadcast=fc.broadcast(fc.Hypercube(4), 0)),
            "broadcast must be a Broadcast in this network, got Broadcast",
        ),
        (lambda: fc.draw(CUBE).save("q4.png"), r"path must end in \.svg, got q4\.png"),
        (lambda: fc.draw(CUBE).save("no/such/folder.svg"), "path folder no/such does not exist"),
    ],
)
def test_other_networks_and_marks_are_refused_in_one_line(make, message):
    with pytest.raises(fc.FastcubeError, match=message) as error:
        make()
    assert "\n" not in str(error.value)
