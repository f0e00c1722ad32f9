"""Tables of routing rules on the faults and messages of the study ``routing``, for :func:`fastcube.routing_rules_study`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ParameterError, is_many, join_alternatives, short_repr, suggest_name
from ..kernels.routing_rules.layout import MOST_RULES, NAMES, REFERENCE, fallback_of, make_layout
from ..kernels.tally.layout import Layout
from .fingerprint import hash_functions
from .measurement import NAME
from .random_messages import AXES, GRIDS, KEY_SOURCE, check_point, is_searched, sample_trial
from .route_explanations import explain_message, explain_rule
from .rule_kernels import RuleKernels
from .rule_statistics import make_table_notes, make_table_statistics
from .rules_figure import draw_rules
from .statistics import Point
from .study import Explanation, Study


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


def _make_explain(
    rules: Sequence[Any], names: Sequence[str], layout: Layout, kernels: RuleKernels
) -> Callable[[Point, int, int], Explanation]:
    """Return the function that explains a trial: its faults and message, and what each rule does with it."""

    def explain_trial(point: Point, key: int, trial: int) -> Explanation:
        sample = sample_trial(point, key, trial)
        cube, s, t = sample.network, sample.others["s"], sample.others["t"]
        data, lines = explain_message(sample)
        slots = layout.new_tally()
        params = np.array(list(point.values()), np.float64)
        kernel = kernels.find_quick_kernel(point)
        kernel.compiled(np.uint64(key), np.int64(trial), np.int64(trial + 1), params, slots)
        counts = layout.read(slots)[0]
        events = ("reachable", "hamming_path_exists") if is_searched(point) else ("hamming_path_exists",)
        data |= {event: bool(counts[event]) for event in events}
        for rule, name in zip(rules, names, strict=True):
            if isinstance(rule, str):
                data[rule], rule_lines = explain_rule(cube, rule, s, t, (key, trial))
                lines += rule_lines
            else:
                data[name], line = _explain_user_rule(counts, name, cube.intact_distance(s, t))
                lines.append(line)
        return Explanation("\n".join(lines), data)

    return explain_trial


def _explain_user_rule(counts: Any, name: str, distance: int) -> tuple[dict[str, Any], str]:
    """Return the result of a user's rule in a trial, from the counters of this trial alone and the Hamming distance."""
    if counts[f"{name}_delivered"]:
        links = distance + counts[f"{name}_extra_links"]
        return {"outcome": "delivered", "links": links}, f"  {name}: delivered over {links} link{'s' * (links != 1)}"
    for outcome in ("refused", "limit", "unknown"):
        if counts[f"{name}_{outcome}"]:
            return {"outcome": outcome}, f"  {name}: {outcome}"
    return {"outcome": "failed"}, f"  {name}: not delivered: stuck, lost or in a livelock"


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
    kernels = RuleKernels(chosen, names, reference)
    is_built_in = names == NAMES and reference == REFERENCE
    return Study(
        name="routing-rules" if is_built_in else _name_study(names),
        title="Routing rules on the same random faults and messages in Q_n",
        source="Gordon & Stout 1988, Lee & Hayes 1988, Chen & Shin 1990, Wu 1997, 1998; docs/readings/routing-rules.md",
        revision=2,
        axes=AXES,
        tally=layout,
        statistics=make_table_statistics(names, reference),
        code=_hash_rules(chosen),
        kernel=kernels.choose_kernel,
        alternatives=kernels.list_alternatives,
        keyed=KEY_SOURCE,
        grids=GRIDS,
        check=check_point,
        explain=_make_explain(chosen, names, layout, kernels),
        sample=sample_trial,
        figure=lambda results, sheet: draw_rules(results, sheet, names),
        notes=None if is_built_in else make_table_notes(names, reference),
    )


def _name_study(names: Sequence[str]) -> str:
    """Return the name of a study of rules other than the eight built-in rules: with the rules' names, unless it is too long."""
    name = "-".join(["routing-rules", *names])
    return name if NAME.fullmatch(name) else "routing-rules-own"


def _hash_rules(rules: Sequence[Any]) -> dict[str, str]:
    """Return the hashes of the functions of users' rules, as ``Study.code``."""
    code: dict[str, str] = {}
    for rule in rules:
        if not isinstance(rule, str):
            code |= hash_functions(rule)
            if fallback_of(rule):
                # without first_path the same function makes other trials
                code[f"{rule_name(rule)}: first_path"] = "yes"
    return code
