"""The counters of the tree kernels: of FIND_TREE alone (FIND_TREE), and compared with TOP_DOWN and the optimum (OPTIMAL_TREE)."""

from ..tally.layout import Counter, Layout, Maximum, Moments

FIND_TREE = Layout(
    Counter("sink_exists", "trials with a sink"),
    Counter("fault_free", "trials with a tree without a faulty link"),
    Counter("no_blocked_sender", "trials with a tree without a blocked sender"),
    Moments("tree_faults", "faulty links of the tree", square_digits=2, nonzero="with_tree_faults"),
    Moments("blocked_senders", "blocked senders of the tree", square_digits=2, nonzero="with_blocked_senders"),
    Maximum("most_tree_faults", "most faulty links of FIND_TREE's tree"),
)

OPTIMAL_TREE = Layout(
    Counter("sink_exists", "trials with a sink"),
    Counter("fault_free", "trials in which FIND_TREE's tree has no faulty link"),
    Counter("fault_free_exists", "trials in which some tree has no faulty link"),
    Counter("fault_free_top_down", "trials in which TOP_DOWN's tree has no faulty link"),
    Counter("optimal", "trials with a sink in which FIND_TREE's tree is one of the best"),
    Moments("tree_faults", "faulty links of FIND_TREE's tree", nonzero="with_tree_faults"),
    Moments("gap", "faulty links of FIND_TREE's tree beyond the optimum", nonzero="with_gap"),
    Moments("optimum", "fewest faulty links over sinks with FAULT = 0", nonzero="with_optimum"),
    Counter("product", "faulty links of FIND_TREE's tree times those of the best"),
    Moments("same_sink", "fewest faulty links with FIND_TREE's sink", nonzero="with_same_sink"),
    Moments("any_sink", "fewest faulty links over all sinks", nonzero="with_any_sink"),
    Moments("top_down", "faulty links of TOP_DOWN's tree, in trials with a sink", nonzero="with_top_down"),
    Maximum("largest_gap", "most faulty links of FIND_TREE's tree beyond the optimum"),
)
