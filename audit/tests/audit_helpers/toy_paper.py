"""A paper of a user's own that prints what the toy study counts: for the report's tests."""

from pathlib import Path

from toy import TOY

from fastcube.measure.inventory import parse_inventory
from fastcube.measure.paper import Paper
from fastcube.networks.hypercube import Hypercube
from fastcube.plot.network_drawing import Drawing
from fastcube_audit import registries
from fastcube_audit.examples import Example

FILE = str(Path(__file__).parent / "toy_claims.py")

INVENTORY = parse_inventory({
    "paper": "toy",
    "title": "Bits <of> words",
    "authors": ["A. Nobody"],
    "year": None,
    "published": "",
    "short": "Nobody",
    "results": [
        {"id": "figure-1", "kind": "figure", "number": "1", "place": "section 1", "stated": "Bits & <b>bytes</b>.",
         "drawing": "lacking", "shown_by": [{"study": "toy", "statistic": "bit"}]},
        {"id": "table-1", "kind": "table", "number": "1", "place": "section 1", "stated": "A bit is one half of the time.",
         "shown_by": [{"study": "toy", "statistic": "bit"}],
         "printed": [
             {"name": "near", "value": 0.5, "digits": 1, "point": {"a": 1}, "statistic": "bit"},
             {"name": "far", "value": 0.75, "digits": 2, "point": {"a": 2}, "statistic": "bit"},
             {"name": "percent", "value": 50, "digits": 0, "point": {"a": 1}, "statistic": "bit", "unit": 0.01},
             {"name": "nowhere", "value": 0.5, "digits": 1, "point": {"a": 3}, "statistic": "bit"},
         ]},
        {"id": "sizes", "kind": "statement", "place": "section 2", "stated": "All cubes have 8 nodes.",
         "title": "Every size", "printed": [{"name": "nodes", "value": 8, "digits": 0, "claim": "false"}],
         "shown_by": [{"claim": "false"}]},
        {"id": "three", "kind": "statement", "place": "section 2", "stated": "So do 3-cubes.",
         "shown_by": [{"claim": "corrected"}, {"example": "three"}]},
        {"id": "figure-2", "kind": "figure", "number": "2", "place": "section 3", "stated": "A word.",
         "concept": "a drawing of a word"},
    ],
    "beyond": [
        {"id": "end", "kind": "statement", "place": "here", "stated": "There is an end.", "shown_by": [{"claim": "last"}]},
    ],
    "misprints": [],
})  # a table, row by row # fmt: skip


def example_cube() -> Example:
    """A 3-cube with one faulty node."""
    return Example("Q_3 has 8 nodes", "2 ** fc.Hypercube(3).n", 8, (Drawing(Hypercube(3, [5]), (1, 2), {1: "4"}),))


class Toy(Paper):
    """The paper, with its inventory."""

    inventory = INVENTORY


def paper(*claims: str) -> registries.AuditedPaper:
    """The paper with these claims of toy_claims.py."""
    known = {claim.id: claim for claim in registries.claims(FILE)}
    return registries.AuditedPaper(Toy("toy", (TOY,)), tuple(known[name] for name in claims), {"three": example_cube})
