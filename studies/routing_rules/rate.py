"""``routing-rules-rate``: rules without safety statuses if every node is faulty with a given rate, in Q_2 to Q_62.

The status of a node is computed when a rule asks for it.  Gordon and Stout report that the success of sidetracking tends to 1
with n at any fixed rate.  Trials are the same as in ``routing-rate``.
"""

from typing import Any

from fastcube.kernels.routing_rules import dispatch
from fastcube.kernels.routing_rules.layout import BLIND_RULES
from fastcube.kernels.routing_rules.layout import ROUTING_RULES_RATE as TALLY
from fastcube.measure.route_explanations import explain_rule
from fastcube.measure.rule_statistics import make_rule_statistics
from fastcube.measure.statistics import Point
from fastcube.measure.study import Axis, Explanation, Grid, Study, product_grid
from fastcube.results.results import Results

from ..lee_hayes.routing_rate import explain_sample, sample_trial

#: The failure rates of the grid.
_RATES = [round(0.05 * i, 2) for i in range(1, 15)]


def _explain(point: Point, key: int, trial: int) -> Explanation:
    drawn = sample_trial(point, key, trial)
    data, lines = explain_sample(point, drawn)
    if not drawn.others["discarded"]:
        for name in BLIND_RULES:
            data[name.upper()], steps = explain_rule(drawn.network, name.upper(), data["s"], data["t"], (key, trial))
            lines += steps
    return Explanation("\n".join(lines), data)


def _figure(results: Results, sheet: Any) -> None:
    left, right = sheet.panels(2)
    left.lines(results, "sidetrack_delivered", x="rate", by="n", failures=True)
    left.scale = "log"
    left.set_labels(y="fraction of messages", title="SIDETRACK: not delivered within 8n hops")
    right.lines(results, "dfs_extra_links", x="rate", by="n")
    right.set_labels(y="links beyond the Hamming distance", title="DFS: extra links of a delivered message")
    sheet.title("Rules that know their neighbours alone, every node faulty at a rate")


def _notes(results: Results) -> list[str]:
    """Return notes on messages that a rule gave up, and on discarded trials."""
    discarded = sum(tally.trials - tally.counts["valid"] for _, tally in results)
    limits = {name: sum(tally.counts[f"{name}_limit"] for _, tally in results) for name in ("dfs", "sidetrack")}
    return [
        f"cut off, at all points together: DFS {limits['dfs']:,} (2^16 hops), SIDETRACK {limits['sidetrack']:,} (8n hops)",
        f"discarded trials, at all points together: {discarded}",
    ]


ROUTING_RULES_RATE = Study(
    name="routing-rules-rate",
    title="Routing rules that know only the states of neighbours, in Q_n with every node faulty at a rate",
    source="Gordon & Stout 1988, Chen & Shin 1990, Lee & Hayes 1988; docs/readings/routing-rules.md",
    revision=1,
    axes=(
        Axis("n", "dimension of the hypercube", int, 2, 62),
        Axis("rate", "node failure rate", float, 0, 1, open_above=True),
    ),
    tally=TALLY,
    statistics=tuple(
        statistic
        for name in ("sidetrack", *(name for name in BLIND_RULES if name != "sidetrack"))
        for statistic in make_rule_statistics(name, "valid", can_give_up=name in ("dfs", "sidetrack"))
    ),
    kernel=lambda point: dispatch.ROUTING_RULES_RATE.kernel(*point.values()),
    keyed=("routing-rate", {"k": 1}),
    grids=(Grid("rates", product_grid(n=[8, 10, 15, 20, 30, 45, 60], rate=_RATES), 10**4),),
    explain=_explain,
    sample=sample_trial,
    figure=_figure,
    notes=_notes,
)
