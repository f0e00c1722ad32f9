"""What the tree kernels count: FIND_TREE by itself (FIND_TREE), and beside TOP_DOWN and the optimum (OPTIMAL_TREE)."""

from __future__ import annotations

from ..tally.layout import Counter, Extreme, Layout

FIND_TREE = Layout(
    Counter("sink", "trials with a sink"),
    Counter("fault_free", "trials with a tree without a faulty link"),
    Counter("unhindered", "trials with a tree without a failing node"),
    Counter("tree_faults", "faulty links of the tree"),
    Counter("tree_faults_squared", "faulty links of the tree, squared", digits=2),
    Counter("with_tree_faults", "trials with a tree with a faulty link"),
    Counter("failing", "failing nodes of the tree"),
    Counter("failing_squared", "failing nodes of the tree, squared", digits=2),
    Counter("with_failing", "trials with a tree with a failing node"),
    Extreme("most_tree_faults", "most faulty links of FIND_TREE's tree"),
)

OPTIMAL_TREE = Layout(
    Counter("sink", "trials with a sink"),
    Counter("fault_free", "trials in which FIND_TREE's tree has no faulty link"),
    Counter("fault_free_exists", "trials in which some tree has no faulty link"),
    Counter("fault_free_top_down", "trials in which TOP_DOWN's tree has no faulty link"),
    Counter("optimal", "trials with a sink in which FIND_TREE's tree is one of the best"),
    Counter("tree_faults", "faulty links of FIND_TREE's tree"),
    Counter("tree_faults_squared", "faulty links of FIND_TREE's tree, squared"),
    Counter("with_tree_faults", "trials in which FIND_TREE's tree has a faulty link"),
    Counter("gap", "faulty links of FIND_TREE's tree beyond the optimum"),
    Counter("gap_squared", "faulty links of FIND_TREE's tree beyond the optimum, squared"),
    Counter("with_gap", "trials in which FIND_TREE's tree is not one of the best"),
    Counter("optimum", "fewest faulty links over sinks with FAULT = 0"),
    Counter("optimum_squared", "fewest faulty links over sinks with FAULT = 0, squared"),
    Counter("with_optimum", "trials with a sink in which every tree has a faulty link"),
    Counter("product", "faulty links of FIND_TREE's tree times those of the best"),
    Counter("same_sink", "fewest faulty links with FIND_TREE's sink"),
    Counter("same_sink_squared", "fewest faulty links with FIND_TREE's sink, squared"),
    Counter("with_same_sink", "trials in which every tree with FIND_TREE's sink has a faulty link"),
    Counter("any_sink", "fewest faulty links over all sinks"),
    Counter("any_sink_squared", "fewest faulty links over all sinks, squared"),
    Counter("with_any_sink", "trials with a sink in which no sink at all has a tree without a faulty link"),
    Counter("top_down", "faulty links of TOP_DOWN's tree, in trials with a sink"),
    Counter("top_down_squared", "faulty links of TOP_DOWN's tree, squared, in trials with a sink"),
    Counter("with_top_down", "trials with a sink in which TOP_DOWN's tree has a faulty link"),
    Extreme("largest_gap", "most faulty links of FIND_TREE's tree beyond the optimum"),
)
