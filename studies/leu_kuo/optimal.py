"""``optimal-tree``: FIND_TREE and TOP_DOWN compared with the tree of fewest faulty links (Leu & Kuo, section 2.2; R7, R20)."""

from typing import Any

from fastcube.algorithms.trees import CommunicationTree, find_tree
from fastcube.algorithms.trees_lattice import optimal_tree
from fastcube.kernels.trees import dispatch, layout
from fastcube.measure.asymptotic import Ratio
from fastcube.measure.statistics import Proportion
from fastcube.measure.study import Explanation, Grid, Notes, Point, Study, point_text
from fastcube.results.results import Results

from . import enumeration
from .explanation import explain_tree, sample_trial
from .fault_axis import axis_of_faults, set_log_axis
from .find_tree import AMONG_SINK, SINK_EXISTS, make_mean
from .points import axes_up_to, check_point, link_points


def explain_trial(point: Point, key: int, trial: int) -> Explanation:
    """Return one trial as text and as data, with the best trees."""
    cube = sample_trial(point, key, trial).network
    tree, lines, data = explain_tree(cube)
    optimum = optimal_tree(cube)
    for name, title, found in (
        ("top_down", "TOP_DOWN", find_tree(cube, "TOP_DOWN")),
        ("optimum", "a best tree over sinks with FAULT = 0", optimum),
        ("optimum_any_sink", "a best tree over all sinks", optimal_tree(cube, any_sink=True)),
    ):
        if found is not None:
            lines.append(f"  {title}: {found}, {len(found.faulty_links)} faulty links")
        data[name] = _tree_data(found)
    data["gap"] = None if tree is None or optimum is None else len(tree.faulty_links) - len(optimum.faulty_links)
    return Explanation("\n".join(lines), data)


def _tree_data(tree: CommunicationTree | None) -> dict[str, Any] | None:
    if tree is None:
        return None
    return {"sink": tree.sink, "order": list(tree.order), "tree_faults": len(tree.faulty_links)}


def _figure(results: Results, sheet: Any) -> None:
    """Plot faulty links (above) and fault-free trees (below) of three trees: at n = 7 or the smallest n, and at the largest."""
    sizes = sorted({int(point["n"]) for point, tally in results if tally.trials})
    chosen = sorted({7 if 7 in sizes else sizes[0], sizes[-1]}) if sizes else [1]
    x = axis_of_faults(results)
    panels = sheet.panels(len(chosen), rows=2)
    faults = {"FIND_TREE": "tree_faults", "TOP_DOWN": "tree_faults_top_down", "optimum": "optimum"}
    fault_free = {"FIND_TREE": "fault_free", "TOP_DOWN": "fault_free_top_down", "optimum": "fault_free_exists"}
    for i, n in enumerate(chosen):
        links, fractions = panels[i], panels[len(chosen) + i]
        for panel, statistics in ((links, faults), (fractions, fault_free)):
            panel.compare(results, statistics, x=x, at={"n": n})
            set_log_axis(panel)
        links.set_labels(y="mean faulty links of the tree", title=f"n = {n}: faulty links")
        fractions.scale = "linear"
        fractions.limits(bottom=0)
        fractions.set_labels(y="probability of a fault-free tree", title=f"n = {n}: fault-free trees")
    sheet.title(results.study.title)


def _notes(results: Results) -> list[str]:
    """Return a note on the largest gap between FIND_TREE's tree and a best tree, if there is any gap."""
    worst = max(
        ((tally.maxima["largest_gap"], point) for point, tally in results if tally.trials),
        key=lambda pair: pair[0][0],
        default=None,
    )
    if worst is None or worst[0][0] <= 0:
        return []
    (gap, trial), point = worst
    return [f"largest gap to the optimum: {gap} faulty links, in trial {trial} at {point_text(point)}"]


def _make_proportion(name: str, description: str, condition: str | None = None, shown: bool = True) -> Proportion:
    return Proportion(name=name, description=description, condition=condition, shown=shown)


OPTIMAL_TREE = Study(
    name="optimal-tree",
    title="FIND_TREE and TOP_DOWN compared with the tree with the fewest faulty links",
    source="after Leu & Kuo, sections 2.2 and 3.1",
    revision=1,
    axes=axes_up_to(12),
    tally=layout.OPTIMAL_TREE,
    statistics=(
        _make_proportion(
            "optimal",
            "probability that no sink and order give a tree with fewer faulty links, those of faulty nodes included, than "
            f"FIND_TREE's{AMONG_SINK}",
            SINK_EXISTS.name,
        ),
        make_mean(
            "optimality_gap",
            "number of faulty links of FIND_TREE's tree minus the least of any tree, over all sinks",
            "gap",
        ),
        Ratio(
            name="approximation_ratio",
            description="total faulty links of FIND_TREE's trees divided by the total of the best trees over all "
            f"sinks{AMONG_SINK}",
            numerator="tree_faults",
            denominator="optimum",
            squares=("tree_faults_squared", "product", "optimum_squared"),
            nonzero="with_gap",
            base=1,
            condition=SINK_EXISTS.name,
        ),
        make_mean(
            "tree_faults", "number of faulty links, those of faulty nodes included, of FIND_TREE's tree", "tree_faults"
        ),
        make_mean(
            "optimum_same_sink",
            "least number of faulty links, those of faulty nodes included, of a tree to FIND_TREE's sink, over all orders "
            "of the dimensions",
            "same_sink",
        ),
        make_mean(
            "optimum",
            "least number of faulty links, those of faulty nodes included, of a tree, over all sinks and orders of the "
            "dimensions",
            "optimum",
        ),
        make_mean(
            "optimum_any_sink",
            "least number of faulty links, those of faulty nodes included, of a tree to any node, over all orders of "
            "the dimensions",
            "any_sink",
        ),
        _make_proportion(
            "fault_free",
            "probability that FIND_TREE finds a tree without a faulty link or a link of a faulty node; it finds none "
            "without a sink",
            shown=False,
        ),
        _make_proportion(
            "fault_free_exists",
            "probability that some sink and order of the dimensions give a tree without a faulty link",
            shown=False,
        ),
        make_mean(
            "tree_faults_top_down",
            "number of faulty links, those of faulty nodes included, of TOP_DOWN's tree, which may end at any node",
            "top_down",
        ),
        _make_proportion(
            "fault_free_top_down", "probability that TOP_DOWN's tree has no faulty link, over all trials", shown=False
        ),
    ),
    kernel=lambda point: dispatch.OPTIMAL_TREE.kernel(*point.values()),
    together=64,  # a lattice holds 64 trials and takes 50 ms at n = 12, also for one trial
    grids=(Grid("links", link_points(range(4, 11)), 50_000),),
    check=check_point,
    enumeration=enumeration.optimal_tree,
    explain=explain_trial,
    sample=sample_trial,
    figure=_figure,
    notes=Notes((_notes, ("optimality_gap", "approximation_ratio", "optimal"))),
)
