"""``find-tree``: how often FIND_TREE's tree has no faulty link, and how many it has (Leu & Kuo, section 3.1; R3-R6)."""

import math
from typing import Any

from fastcube.kernels.trees import dispatch, layout
from fastcube.measure.statistics import Mean, Proportion
from fastcube.measure.study import Explanation, Grid, Notes, Point, Study
from fastcube.results.results import Results

from . import enumeration
from .explanation import explain_tree, sample_trial
from .fault_axis import axis_of_faults, set_log_axis
from .points import axes_up_to, check_point, link_points, node_points

#: The trials that a statistic counts, as the end of its description.
AMONG_SINK = ", among trials with a sink"

#: The statistic whose trials ``AMONG_SINK`` names.
SINK_EXISTS = Proportion(
    name="sink_exists",
    description="probability that a sink exists: a nonfaulty node whose n links and n neighbours are nonfaulty",
)


def most_faults(point: Point) -> float:
    """Return a bound on the faulty links of a tree, those of faulty nodes included, and on its blocked senders.

    Each blocked sender has a link of its own, towards the sink, that is faulty or leads to a faulty node.  So both numbers are at
    most 2^n - 1, the links of a tree, and at most links + n f.  The bound is at least 1, without faults too.
    """
    n = int(point["n"])
    return float(max(1, min(2**n - 1, int(point["links"]) + n * int(point["f"]))))


def make_mean(name: str, description: str, counter: str) -> Mean:
    """Return the mean number of a tree's faulty links or blocked senders, as a statistic."""
    return Mean(
        name=name,
        description=f"mean {description}{AMONG_SINK}",
        total=counter,
        bound=most_faults,
        condition=SINK_EXISTS.name,
    )


def explain_trial(point: Point, key: int, trial: int) -> Explanation:
    """Return the faults of a trial, the choices of FIND_TREE and its tree, as text and as data."""
    _, lines, data = explain_tree(sample_trial(point, key, trial).network)
    return Explanation("\n".join(lines), data)


# ---------------------------------------------------------------- comparison with a fixed tree


def fixed_tree_probability(point: Point) -> float:
    """Return the probability that a FIXED tree has no faulty link, C(E - T, L) / C(E, L); NaN with faulty nodes.

    E = n 2^(n-1) is the number of links of Q_n, T = 2^n - 1 of a tree, and L of faulty links.
    """
    n, links = int(point["n"]), int(point["links"])
    all_links, tree_links = n * 2 ** (n - 1), 2**n - 1
    if point["f"]:
        return math.nan
    if links > all_links - tree_links:
        return 0.0
    return math.exp(math.fsum(math.log1p(-tree_links / (all_links - i)) for i in range(links)))


def fixed_tree_mean(point: Point) -> float:
    """Return the mean number of faulty links of a FIXED tree, L T / E in the notation above; NaN with faulty nodes."""
    n = int(point["n"])
    return math.nan if point["f"] else int(point["links"]) * (2**n - 1) / (n * 2 ** (n - 1))


def _figure(results: Results, sheet: Any) -> None:
    """Plot trees without a faulty link, and faulty links of trees.

    Every faulty node has a faulty link in the tree, so for faulty nodes plot trees without a blocked sender, and blocked senders.
    """
    left, right = sheet.panels(2)
    if axis_of_faults(results) == "links":
        for panel, statistic, fixed in (
            (left, "fault_free", fixed_tree_probability),
            (right, "tree_faults", fixed_tree_mean),
        ):
            panel.lines(results, statistic, x="links", by="n")
            panel.reference(fixed, "a fixed tree")
            _mark_bound(panel)
        left.set_labels(y="probability of a fault-free tree", title="FIND_TREE's tree has no faulty link")
        right.set_labels(y="mean faulty links of the tree", title="Faulty links of FIND_TREE's tree")
    else:
        for panel, statistic in ((left, "no_blocked_sender"), (right, "blocked_senders")):
            panel.lines(results, statistic, x="f", by="n")
        left.set_labels(
            y="probability of a tree without a blocked sender", title="FIND_TREE's tree has no blocked sender"
        )
        right.set_labels(y="mean blocked senders of the tree", title="Blocked senders of FIND_TREE's tree")
    for panel in (left, right):
        set_log_axis(panel)
    left.scale = "linear"
    left.limits(bottom=0)
    sheet.title(results.study.title)


def _is_at_bound(point: Point) -> bool:
    """Whether the point has the 2^(n-1) faulty links of Theorem 3 and no faulty node."""
    return not point["f"] and point["links"] == 2 ** (int(point["n"]) - 1)


def _mark_bound(panel: Any) -> None:
    """Mark Theorem 3's 2^(n-1) on each line."""
    rows = (row for line in panel.measured_lines for row in zip(line.x, line.estimates, line.points, strict=True))
    if marked := [(x, e.value) for x, e, point in rows if _is_at_bound(point) and math.isfinite(e.value)]:
        panel.marks([x for x, _ in marked], [y for _, y in marked], "Theorem 3's 2^(n-1)")


def _notes(results: Results) -> list[str]:
    """Return the numbers of fault sets without a sink at Theorem 3's 2^(n-1) faulty links."""
    lines = []
    for point, tally in results:
        if tally.trials and _is_at_bound(point):
            without_sink = tally.trials - tally.counts["sink_exists"]
            lines.append(
                f"  n={point['n']}: {without_sink} of {tally.trials:,} sets of 2^(n-1) faulty links leave no sink"
            )
    if lines:
        lines.insert(0, "Theorem 3 promises a sink below 2^(n-1) faulty links:")
    return lines


FIND_TREE = Study(
    name="find-tree",
    title="FIND_TREE's communication tree under random faults",
    source="Leu & Kuo, section 3.1, Figure 10",
    revision=2,
    axes=axes_up_to(62),
    tally=layout.FIND_TREE,
    statistics=(
        Proportion(
            name="fault_free",
            description="probability that FIND_TREE finds a tree without a faulty link or a link of a faulty node; it "
            "finds none without a sink",
        ),
        SINK_EXISTS,
        Proportion(
            name="no_blocked_sender",
            description="probability that FIND_TREE finds a tree on which every nonfaulty, non-isolated node has a usable "
            "link towards the sink",
        ),
        make_mean(
            "tree_faults", "number of faulty links, those of faulty nodes included, of FIND_TREE's tree", "tree_faults"
        ),
        make_mean(
            "blocked_senders",
            "number of nonfaulty, non-isolated nodes whose link towards the sink in FIND_TREE's tree is faulty or leads to "
            "a faulty node",
            "blocked_senders",
        ),
    ),
    kernel=lambda point: dispatch.FIND_TREE.kernel(*point.values()),
    grids=(
        Grid("links", link_points(range(4, 13)), 10**6),
        Grid("nodes", node_points(range(4, 11)), 10**5),
        Grid(
            "large",
            [{"n": n, "links": links * n, "f": 0} for n in (16, 24, 32, 48, 60) for links in (1, 4, 16, 64)],
            10**5,
        ),
    ),
    check=check_point,
    enumeration=enumeration.find_tree,
    explain=explain_trial,
    sample=sample_trial,
    figure=_figure,
    notes=Notes((_notes, ("sink_exists",))),
)
