"""Tables of routing rules on the faults and messages of the study ``routing``, for :func:`fastcube.routing_rules_study`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ParameterError, check_range, is_many, join_alternatives, short_repr, suggest_name
from ..kernels.machine.captured_values import unwrap_function
from ..kernels.routing.layout import MAX_SEARCHED_DIMENSION
from ..kernels.routing_rules.layout import (
    MOST_RULES,
    NAMES,
    PROMISING_RULES,
    REFERENCE,
    WANDERING_RULES,
    compared_rules,
    fallback_of,
    make_layout,
)
from ..kernels.tally.layout import Layout
from ..networks.hypercube import Hypercube
from .asymptotic import NormalMean
from .fingerprint import hash_functions
from .measurement import NAME
from .rules_figure import draw_rules
from .standing import describe_standing
from .statistics import PairedDifference, Point, Proportion, Statistic
from .study import Axis, Explanation, Grid, Sample, Study, join_limited

if TYPE_CHECKING:
    from ..kernels.machine.dispatch import Alternative
    from ..kernels.machine.jit import Kernel

#: Largest number of faulty nodes, and of faulty links.
MAX_FAULTS = 65536

#: The axes of studies of rules.
AXES = (
    Axis("n", "dimension of the hypercube", int, 1, 62),
    Axis("f", "number of faulty nodes", int, 0, MAX_FAULTS),
    Axis("links", "number of faulty links", int, 0, MAX_FAULTS),
)

#: The study whose faults and messages the tables use, and the axis values that its random key needs in addition.
KEY_SOURCE = ("routing", {"k": 1})

#: The grids of studies of rules.
GRIDS = (
    Grid("nodes", [{"n": n, "f": f, "links": 0} for n in range(5, 13) for f in range(1, 2 * n + 1)], 10**5),
    Grid("heavy", [{"n": n, "f": 2**n * i // 20, "links": 0} for n in (8, 10) for i in range(1, 11)], 10**5),
    Grid(
        "large",
        [{"n": n, "f": f, "links": 0} for n in (14, 16, 18, 20, 24, 30, 60) for f in (n // 2, n, 2 * n)],
        10**5,
    ),
    Grid(
        "links",
        [{"n": n, "f": f, "links": k} for n in range(5, 11) for f in (0, 2) for k in range(1, 2 * n + 1)],
        10**5,
    ),
)


def check_point(point: Point) -> None:
    """Raise ParameterError unless at least two nodes are nonfaulty and the cube has enough links."""
    n = int(point["n"])
    check_range("f", point["f"], 0, min(2**n - 2, MAX_FAULTS), f"for n={n}, which leaves two nonfaulty nodes")
    check_range("links", point["links"], 0, min(n * 2 ** (n - 1), MAX_FAULTS), f"for n={n}")


def sample_trial(point: Point, key: int, trial: int) -> Sample:
    """Return a trial's faults, source and destination."""
    from ..kernels.routing_rules import replay

    n = int(point["n"])
    nodes, links, ends = replay.routing_rules(np.uint64(key), trial, n, int(point["f"]), int(point["links"]))
    return Sample(Hypercube(n, nodes, links.tolist()), {"s": int(ends[0]), "t": int(ends[1])})


def is_searched(point: Point) -> bool:
    """Whether the trials search for reachable destinations, which takes n <= 12."""
    return int(point["n"]) <= MAX_SEARCHED_DIMENSION


#: The number of hops after which a rule gives a message up, in descriptions.
_MOST_HOPS = {"dfs": "2^16", "sidetrack": "8n"}
#: Why a rule refuses a message, in descriptions.
_REFUSALS = {
    "route3": ", because no node is active",
    **dict.fromkeys(("levels", "vectors"), ", because its statuses promise no path"),
}


def _rule_title(name: str) -> str:
    """Return a rule's name in capital letters, with its radius if it has one: these studies have no axis for it."""
    return name.upper() + ("(1)" if name in ("route1", "route3") else "")


def rule_statistics(
    name: str, condition: str | None = None, refuses: bool = False, cut: bool = False
) -> list[Statistic]:
    """Return the statistics of a rule: fractions delivered and delivered over the Hamming distance, and extra links.

    A rule that ``refuses`` messages also has the fraction refused, and a rule that is ``cut`` off the fraction given up.
    """
    rule = _rule_title(name)
    out: list[Statistic] = [
        Proportion(
            name=f"{name}_delivered",
            description=f"fraction of all messages, each between two random nonfaulty nodes, that {rule} delivers",
            condition=condition,
        ),
        Proportion(
            name=f"{name}_at_hamming",
            description=f"fraction of all messages that {rule} delivers in as many links as the Hamming distance",
            condition=condition,
            shown=False,
        ),
        NormalMean(
            name=f"{name}_extra_links",
            description="mean number of hops, steps back included, minus the Hamming distance, among messages that "
            f"{rule} delivers",
            total=f"{name}_extra_links",
            squares=f"{name}_extra_squares",
            nonzero=f"{name}_above_hamming",
            condition=f"{name}_delivered",
            shown=False,
        ),
    ]
    for is_possible, outcome, event in (
        (refuses, "refused", f"refuses to send{_REFUSALS.get(name, '')}"),
        (cut, "limit", f"gives up after {_MOST_HOPS.get(name, 'its largest number of')} hops"),
    ):
        if is_possible:
            out.append(
                Proportion(
                    name=f"{name}_{outcome}",
                    description=f"fraction of all messages that {rule} {event}",
                    condition=condition,
                    shown=False,
                )
            )
    return out


def _make_statistics(names: Sequence[str], reference: str) -> tuple[Statistic, ...]:
    """Return the statistics of a table: of each rule, the losses, the differences from the reference rule, and two of paths."""
    out: list[Statistic] = []
    for name in names:
        is_users = name not in NAMES
        refuses = is_users or name in (*PROMISING_RULES, "route3")
        out += rule_statistics(name, None, refuses, cut=is_users or name in _MOST_HOPS)
    for name in names:
        loss_name, title = f"{name}_loss", _rule_title(name)
        description = f"fraction of all messages that {title} does not deliver though a nonfaulty path exists (n <= 12)"
        out.append(
            PairedDifference(
                name=loss_name,
                description=description,
                total=loss_name,
                nonzero=loss_name,
                defined=is_searched,
                shown=False,
            )
        )
    for name in compared_rules(names, reference):
        title, reference_title = _rule_title(name), _rule_title(reference)
        description = f"fraction of all messages that {title} delivers minus fraction that {reference_title} delivers"
        total, differs = f"{name}_diff", f"{name}_differs"
        difference = _difference_name(name, reference)
        out.append(
            PairedDifference(name=difference, description=description, total=total, nonzero=differs, shown=False)
        )
    reachable = Proportion(
        name="reachable",
        description="fraction of all messages whose source and destination a nonfaulty path joins (n <= 12)",
        defined=is_searched,
        shown=False,
    )
    minimal = Proportion(
        name="hamming_path_exists",
        description="fraction of messages with a nonfaulty path as long as the Hamming distance H, among messages with "
        "H <= 24 or fewer than H faults between the ends",
        condition="hamming_path_known",
        shown=False,
    )
    return *out, reachable, minimal


def _difference_name(name: str, reference: str) -> str:
    """Return the name of the statistic that compares a rule with the reference rule."""
    return f"{name}_minus_{reference}"


def _make_notes(names: Sequence[str], reference: str) -> Callable[[Any], list[str]]:
    """Return the notes of a table: where each rule is ahead of the reference rule, behind it, or within some distance."""

    def compare_rules(results: Any) -> list[str]:
        lines = []
        for name in compared_rules(names, reference):
            difference = _difference_name(name, reference)
            found = ((point, results.estimates(point)[difference]) for point, tally in results if tally.trials)
            if standing := describe_standing(found):
                lines.append(f"  {name}: {standing}")
        heading = (
            f"fraction delivered minus that of {reference.upper() if reference in NAMES else reference} on the same faults and "
            "messages, exact 95% intervals:"
        )
        return [heading, *lines] if lines else []

    return compare_rules


#: Largest number of nodes of a path that are written out, and width of these lines in characters.
_MOST_SHOWN_NODES, _LINE_WIDTH = 200, 110


def explain_rule(cube: Hypercube, rule: str, s: int, t: int, seed: tuple[int, int]) -> tuple[dict[str, Any], list[str]]:
    """Return the route of a built-in rule for a message, as data and as lines of text."""
    from ..algorithms.paths import route
    from ..algorithms.unsafe import find_unsafe

    found = route(cube, s, t, rule, **({"seed": seed} if rule == "SIDETRACK" else {}))
    if rule == "ROUTE3" and find_unsafe(cube).all_unsafe:
        return {"outcome": "refused", "path": [s]}, [f"  {rule}: refused: no node of Q_{cube.n} is active"]
    if found.outcome == "delivered":
        head = f"  {rule}: delivered over {found.length} link{'s' * (found.length != 1)}"
    else:
        head = f"  {rule}: {found.outcome}: {found.reason}"
    labels = [cube.label(x) for x in found.path]
    shown = labels[:_MOST_SHOWN_NODES] + ["..."] * (len(labels) > _MOST_SHOWN_NODES)
    return {"outcome": found.outcome, "path": found.path}, [head, *wrap_steps("   ", shown, "   ")]


def wrap_steps(begin: str, steps: Iterable[str], indent: str) -> list[str]:
    """Return the steps of a path as lines that start with ``begin`` and go on with ``indent``."""
    lines = [begin]
    for step in steps:
        if len(lines[-1]) + len(step) > _LINE_WIDTH:
            lines.append(indent)
        lines[-1] += f" {step}"
    return lines


def explain_faults(drawing: Sample) -> tuple[dict[str, Any], list[str]]:
    """Return a trial's faults as data and as lines of text."""
    cube = drawing.network
    data = {"faulty_nodes": sorted(cube.faulty_nodes), "faulty_links": sorted(map(list, cube.faulty_links))}
    lines = [f"  faulty nodes ({len(data['faulty_nodes'])}): {join_limited(map(cube.label, data['faulty_nodes']), 32)}"]
    if links := [f"{cube.label(u)} : {cube.label(v)}" for u, v in data["faulty_links"]]:
        lines.append(f"  faulty links ({len(links)}): {join_limited(links, 32)}")
    return data, lines


def explain_message(drawing: Sample) -> tuple[dict[str, Any], list[str]]:
    """Return a trial's faults, source and destination, as data and as lines of text, which begin its explanation."""
    cube, s, t = drawing.network, drawing.others["s"], drawing.others["t"]
    data, lines = explain_faults(drawing)
    lines.append(f"  from {cube.label(s)} to {cube.label(t)}, Hamming distance {cube.intact_distance(s, t)}")
    return {**data, "s": s, "t": t}, lines


def _explain_user_rule(counts: Any, name: str, h: int) -> tuple[dict[str, Any], str]:
    """Return the result of a user's rule in a trial, from the counters of this trial alone."""
    if counts[f"{name}_delivered"]:
        links = h + counts[f"{name}_extra_links"]
        return {"outcome": "delivered", "links": links}, f"  {name}: delivered over {links} link{'s' * (links != 1)}"
    for what in ("refused", "limit", "unknown"):
        if counts[f"{name}_{what}"]:
            return {"outcome": what}, f"  {name}: {what}"
    return {"outcome": "failed"}, f"  {name}: not delivered: stuck, lost or in a livelock"


def rule_name(rule: Any, needed: str = "rules must be jitted functions or names") -> str:
    """Return a rule's name.  The rule must be the name of a built-in rule or a jitted function of four arguments.

    ``needed`` begins the message about anything else.
    """
    if isinstance(rule, str):
        if rule.lower() not in NAMES or rule != rule.upper():
            known = [name.upper() for name in NAMES]
            hint = suggest_name(rule, known)
            raise ParameterError(f"{needed} among {join_alternatives(known)}, got {short_repr(rule)}{hint}")
        return rule.lower()
    rule = fallback_of(rule) or rule
    function = getattr(rule, "py_func", rule)
    if not inspect.isfunction(function):
        raise ParameterError(f"{needed}, got {short_repr(rule)}")
    from ..kernels.machine.jit import is_jit_disabled

    if function is rule and not is_jit_disabled():
        raise ParameterError(f"{needed}: write @fc.blocks.block above {function.__name__}")
    arguments = list(inspect.signature(function).parameters)
    if len(arguments) != 4:
        raise ParameterError(f"{function.__name__} must take (world, status, s, t), got ({', '.join(arguments)})")
    if function.__name__.lower() in NAMES:
        raise ParameterError(f"a rule of one's own must not have a built-in rule's name, got {function.__name__}")
    if not NAME.fullmatch(function.__name__):
        raise ParameterError(f"a rule of one's own must be a named function, got {function.__name__}")
    return function.__name__


def _find_reference(compared_with: Any, names: Sequence[str]) -> str:
    """Return the name of the reference rule: the chosen one, else LEVELS if it is in the table, else the first rule."""
    if compared_with is None:
        return REFERENCE if REFERENCE in names else names[0]
    reference = rule_name(compared_with) if callable(compared_with) else compared_with
    if not isinstance(reference, str) or reference not in (*names, *(n.upper() for n in names if n in NAMES)):
        shown = [name.upper() if name in NAMES else name for name in names]
        raise ParameterError(
            f"compared_with must be one of the rules {join_alternatives(shown)}, got {short_repr(compared_with)}"
            f"{suggest_name(compared_with, shown)}"
        )
    return reference if reference in names else reference.lower()


#: Names of the kernels with which a run begins: for any rules, and for built-in rules at points of few nodes.
_SCALAR, _BYTES = "scalar.ROUTING_RULES_SINGLE", "bytes_per_node.ROUTING_RULES_BYTES"


def _make_kernel_choosers(
    rules: Sequence[Any], names: Sequence[str], reference: str
) -> tuple[Callable[[Point], Kernel], Callable[[Point], dict[str, Alternative]]]:
    """Return functions that give the kernel of a table of rules at a point, and its alternatives there, built on first use.

    Lane kernels run users' rules made by ``fc.blocks.first_path``, and other users' rules next to built-in rules for n <= 32.
    Elsewhere users' rules that are not made by ``first_path`` have the scalar kernel.
    """
    user_rules = {name: rule for name, rule in zip(names, rules, strict=True) if not isinstance(rule, str)}
    user_function = next((unwrap_function(fallback_of(rule) or rule) for rule in user_rules.values()), None)
    have_first_paths = all(map(fallback_of, user_rules.values()))

    @functools.cache
    def build_kernel(name: str) -> Kernel:
        from ..kernels.routing_rules.dispatch import ROUTING_RULES
        from ..kernels.routing_rules.rules import RULES

        if tuple(names) == NAMES and reference == REFERENCE:
            return ROUTING_RULES.load_kernel(name)
        if name == _BYTES:
            from ..kernels.routing_rules.bytes_per_node import make_bytes_kernel

            return make_bytes_kernel(tuple(names), reference)
        if name.startswith("whole_cube."):
            from ..kernels.routing_rules.whole_cube import make_whole_cube_kernel

            return make_whole_cube_kernel(
                int(name.rpartition("_")[2]), tuple(names), user_rules, user_function, reference
            )
        if name.startswith("lanes."):
            from ..kernels.routing_rules.lanes import make_lanes_kernel

            return make_lanes_kernel(int(name.rpartition("_")[2]), tuple(names), user_rules, user_function, reference)
        from ..kernels.routing_rules.scalar import make_kernel

        return make_kernel(
            [RULES[rule] if isinstance(rule, str) else rule for rule in rules], names, user_function, reference
        )

    def choose_name(point: Point) -> str:
        from ..kernels.routing_rules.dispatch import ROUTING_RULES, ROUTING_RULES_DIRECT

        fastest = (
            ROUTING_RULES_DIRECT if have_first_paths and set(WANDERING_RULES).isdisjoint(names) else ROUTING_RULES
        ).choose_name(*point.values())
        in_lanes = fastest.startswith("lanes.") and point["n"] <= 32 and len(user_rules) < len(names)
        return fastest if have_first_paths or in_lanes else _SCALAR

    def list_alternatives(point: Point) -> dict[str, Alternative]:
        from ..kernels.machine.dispatch import Alternative
        from ..kernels.routing_rules.dispatch import COMPILE_SECONDS, ROUTING_RULES, estimate_nanoseconds

        chosen = dict.fromkeys([choose_name(point), _SCALAR])
        if not user_rules and ROUTING_RULES.is_served(_BYTES, *point.values()):
            chosen[_BYTES] = None
        n, f, links = (int(value) for value in point.values())
        if len(chosen) == 1:
            return {}
        return {
            name: Alternative(build_kernel(name), COMPILE_SECONDS[name], 1e-9 * estimate_nanoseconds(name, n, f, links))
            for name in chosen
        }

    return lambda point: build_kernel(choose_name(point)), list_alternatives


def routing_rules_study(rules: Sequence[Any], *, compared_with: Any = None) -> Study:
    """Return a study that compares routing rules on the faults and messages of ``routing`` with k = 1, trial by trial.

    Parameters
    ----------
    rules : sequence
        Up to 64 rules of different names: built-in names (``ROUTE``, ``ROUTE1``, ``ROUTE3``, ``LEVELS``, ``VECTORS``, ``A1``,
        ``DFS``, ``SIDETRACK``), or your own blocks ``rule(world, status, s, t)``.  A block returns the number of links on the
        message's path, or STUCK, LIVELOCK, LIMIT, LOST or REFUSED (``fc.blocks``: rules of a table), and an impossible result
        stops the run: no path has fewer links than the Hamming distance H, more than 2^20, or an odd number if H is even and
        vice versa.  In trials 0 to 1,023 and in every 16th trial after them, lengths are also compared with searches for a path
        of H links, and for n <= 12 for any path, unless a built-in rule delivers.  A block made by
        ``fc.blocks.first_path`` runs only in trials with a fault on ROUTE's path, other blocks in all (``docs/speed.md``).
    compared_with : str or block, optional
        The reference rule: the name of one of the rules, or your block.  By default LEVELS if it is one of the rules, else the
        first rule.

    Returns
    -------
    Study
        Statistics of each rule, under its name: fractions delivered, delivered over the Hamming distance, refused and cut off,
        extra links, and loss compared with the reachable fraction.  Further statistics give the reachable fraction itself and
        ``RULE_minus_REFERENCE``, the paired difference of every other rule and the reference rule, with exact intervals.  The
        notes below a table say where each rule is ahead or behind, or within which distance of the reference rule.

    Raises
    ------
    ParameterError
        If a rule is unknown, not jitted, or has the name of another rule, or the reference rule is none of them.
    StudyError
        Raised by a run: your rule returns no integer, or an impossible result, whose trial the message names.

    Examples
    --------
    >>> study = fc.routing_rules_study(["LEVELS", "A1"])
    >>> [axis.name for axis in study.axes]
    ['n', 'f', 'links']
    >>> fc.routing_rules_study(["ROUTE1", "A1"], compared_with="ROUTE1").statistic("a1_minus_route1").interval
    'exact'
    """
    if not is_many(rules):
        raise ParameterError(f"rules must be a list of rules, got {short_repr(rules)}")
    chosen = tuple(rules)
    names = tuple(rule_name(rule) for rule in chosen)
    if not 1 <= len(names) <= MOST_RULES or len(set(names)) < len(names):
        raise ParameterError(f"rules must be 1 to {MOST_RULES} of different names, got {', '.join(names) or 'none'}")
    reference = _find_reference(compared_with, names)
    layout = make_layout(names, reference)
    kernel, alternatives = _make_kernel_choosers(chosen, names, reference)
    code: dict[str, str] = {}
    for rule in chosen:
        if not isinstance(rule, str):
            code |= hash_functions(rule)
            if fallback_of(rule):
                # without first_path the same function makes other trials
                code[f"{rule_name(rule)}: first_path"] = "yes"
    full_name = "routing-rules-" + "-".join(names)
    is_built_in = names == NAMES and reference == REFERENCE
    name = "routing-rules" if is_built_in else full_name if len(full_name) <= 64 else "routing-rules-own"
    return Study(
        name=name,
        title="Routing rules on the same random faults and messages in Q_n",
        source="Gordon & Stout 1988, Lee & Hayes 1988, Chen & Shin 1990, Wu 1997, 1998; docs/readings/routing-rules.md",
        revision=2,
        axes=AXES,
        tally=layout,
        statistics=_make_statistics(names, reference),
        code=code,
        kernel=kernel,
        alternatives=alternatives,
        keyed=KEY_SOURCE,
        grids=GRIDS,
        check=check_point,
        explain=_make_explain(
            chosen, names, layout, lambda point: _find_quick_kernel(kernel(point), alternatives(point))
        ),
        sample=sample_trial,
        figure=lambda results, sheet: draw_rules(results, sheet, names),
        notes=None if is_built_in else _make_notes(names, reference),
    )


def _find_quick_kernel(fastest: Kernel, alternatives: dict[str, Alternative]) -> Kernel:
    """Return the kernel that counts a single trial soonest: one that is compiled, else the one that compiles fastest."""
    ready = next((kernel for kernel in (fastest, *(one.kernel for one in alternatives.values())) if kernel.ready), None)
    if ready is not None or not alternatives:
        return ready or fastest
    return min(alternatives.values(), key=lambda one: one.compile_seconds).kernel


def _make_explain(
    rules: Sequence[Any], names: Sequence[str], layout: Layout, kernel: Callable[[Point], Kernel]
) -> Callable[[Point, int, int], Explanation]:
    def explain(point: Point, key: int, trial: int) -> Explanation:
        drawing = sample_trial(point, key, trial)
        cube, s, t = drawing.network, drawing.others["s"], drawing.others["t"]
        data, lines = explain_message(drawing)
        slots = layout.new_tally()
        params = np.array(list(point.values()), np.float64)
        kernel(point).compiled(np.uint64(key), np.int64(trial), np.int64(trial + 1), params, slots)
        counts = layout.read(slots)[0]
        data |= {what: bool(counts[what]) for what in ("reachable", "hamming_path_exists")}
        if not is_searched(point):
            del data["reachable"]
        for rule, name in zip(rules, names, strict=True):
            if isinstance(rule, str):
                data[rule], rule_lines = explain_rule(cube, rule, s, t, (key, trial))
            else:
                data[name], rule_line = _explain_user_rule(counts, name, cube.intact_distance(s, t))
                rule_lines = [rule_line]
            lines += rule_lines
        return Explanation("\n".join(lines), data)

    return explain
