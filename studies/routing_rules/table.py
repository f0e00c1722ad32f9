"""``routing-rules``: eight routing rules since 1988 on the same random faults and messages, compared with shortest paths.

Each paper compares its rule with one predecessor, on faults of its own, for n <= 10.  Here all rules run in each trial, with the
faults and messages of ``routing``.  Interpretations V1-V9.  Rules whose definition we have not read are listed in ``MISSING``.
"""

from dataclasses import replace

from fastcube.kernels.routing_rules.layout import NAMES, PROMISING_RULES
from fastcube.measure.routing_rules import routing_rules_study
from fastcube.measure.study import point_text
from fastcube.results.results import Results

#: Rules and safety statuses whose definitions we have not read (V11); ``fc.routing_rules_study`` accepts such rules.
MISSING = (
    "Chiu & Wu 1996",
    "routing capability",
    "unsafety vectors",
    "probability vectors",
    "extended safety vectors",
    "safety path vectors",
    "Gu & Peng's constructions",
)


def _notes(results: Results) -> list[str]:
    lines = ["fractions are of all messages; ROUTE3 refuses where no node is active"]
    broken = {name: max(tally.maxima[f"{name}_wrong"][0] for _, tally in results) for name in PROMISING_RULES}
    for name, most in broken.items():  # 1 if a trial broke the promise, else 0 or -1
        state = "SOME, replay the counterexample" if most > 0 else "none"
        lines.append(f"accepted by {name.upper()} and not delivered over H or H + 2 links: {state}")
    unknown = [(point, tally.counts["levels_unknown"]) for point, tally in results if tally.counts["levels_unknown"]]
    for point, count in unknown:
        lines.append(
            f"  {point_text(point)}: safety statuses of {count} trials are not computed (subcubes of more than 20 dimensions)"
        )
    limits = {name: sum(tally.counts[f"{name}_limit"] for _, tally in results) for name in ("dfs", "sidetrack")}
    if any(limits.values()):
        lines.append(
            f"cut off, at all points together: DFS {limits['dfs']:,} (2^16 hops), SIDETRACK {limits['sidetrack']:,} (8n hops)"
        )
    lines.append(f"not in the table, because we have not read their definitions: {', '.join(MISSING)}")
    return lines


ROUTING_RULES = replace(routing_rules_study([name.upper() for name in NAMES]), notes=_notes)
