"""The evaluation of given fault sets, one by one, by the algorithms of some studies: ``fastcube evaluate``."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import ParameterError, check_path, check_range, join_alternatives, short_repr
from ..networks.dualcube import DualCube
from ..networks.family import LARGEST_TABLED
from ..networks.hypercube import Hypercube
from .fault_set_csv import FaultSet, iter_fault_sets, parse_fault_sets, parse_integer, parse_label

#: Largest size in bytes of the text from a pipe that is held in memory.
_MOST_PIPED = 2**28

#: Other words for source and destination.  They are refused with the hint to rename them, where ``s`` or ``t`` is missing.
_OTHER_ENDS = {"source": "s", "src": "s", "sender": "s", "destination": "t", "target": "t", "dst": "t", "receiver": "t"}


class Evaluation(NamedTuple):
    """An evaluation of given fault sets by the algorithm of a study."""

    check: Callable[[FaultSet], object]  #: raises ParameterError for a row that the study refuses
    evaluate: Callable[[FaultSet], tuple[object, ...]]  #: returns the values of a row
    columns: tuple[str, ...]  #: the names of the values that ``evaluate`` returns


def _parse_ends(given: FaultSet) -> tuple[int, int] | None:
    """Return the labels in the columns ``s`` and ``t``; None if both columns are missing or one holds -1.

    Raises ParameterError for one of the columns alone, for another word in its place, such as ``source``, and for a bad label.
    """
    from ..algorithms.registry import check_end

    for name, end in _OTHER_ENDS.items():
        if name in given.others and end not in given.others:
            raise ParameterError(f"{end} must be a column, got {name} in its place: rename it")
    if len(known := {"s", "t"} & given.others.keys()) == 1:
        raise ParameterError(f"s and t must both be columns, got {min(known)} alone")
    texts = {name: given.others.get(name, "-1") for name in ("s", "t")}
    if "-1" in texts.values():
        return None
    bits = given.network.bits
    s, t = (check_end(given.network, name, parse_label(name, text, bits)) for name, text in texts.items())
    return s, t


def _require_cube(given: FaultSet) -> Hypercube:
    """Return the network of a row.  Raises ParameterError unless it is a hypercube."""
    if not isinstance(given.network, Hypercube):
        name = "a dual-cube" if isinstance(given.network, DualCube) else given.others["network"]
        raise ParameterError(f"network must be hypercube for this study, got {name}")
    return given.network


def _require_ends(given: FaultSet) -> None:
    """Raise ParameterError unless the row has source and destination, which may be -1."""
    _parse_ends(given)
    if not {"s", "t"} <= given.others.keys():
        raise ParameterError("s and t must be columns for this study, of one message")


def _check_survival(given: FaultSet) -> None:
    check_range("bits of a label", given.network.bits, 1, LARGEST_TABLED, "for this study")
    _parse_ends(given)


def _check_message(given: FaultSet) -> None:
    _require_cube(given)
    _require_ends(given)


def _check_dual_message(given: FaultSet) -> None:
    if not isinstance(given.network, DualCube):
        raise ParameterError("m must be a column for this study, of dual-cubes")
    _require_ends(given)


def _evaluate_survival(given: FaultSet) -> tuple[object, ...]:
    from ..algorithms.shortest import distance
    from ..algorithms.survival import survival

    found, ends = survival(given.network), _parse_ends(given)
    links = None if ends is None else distance(given.network, *ends)
    connected, components = int(found.connected), len(found.components)
    return connected, found.isolated, components, found.largest, "" if links is None else links


def _evaluate_unsafe(given: FaultSet) -> tuple[object, ...]:
    from ..algorithms.unsafe import find_unsafe

    found = find_unsafe(_require_cube(given))
    return found.count, found.fraction, found.rounds


def _evaluate_trees(given: FaultSet) -> tuple[object, ...]:
    from ..algorithms.trees import find_tree

    found = find_tree(_require_cube(given))
    return int(found is not None), "" if found is None else found.sink


def _make_routing_evaluation(check: Callable[[FaultSet], object], *rules: str) -> Evaluation:
    """Return the evaluation of one message by some rules: for each rule its outcome, and the links of a delivered message."""

    def evaluate_message(given: FaultSet) -> tuple[object, ...]:
        from ..algorithms.paths import route

        if (ends := _parse_ends(given)) is None:
            return ("",) * (2 * len(rules))
        out: list[object] = []
        for rule in rules:
            options = {"seed": given.trial} if rule == "SIDETRACK" else {}
            if rule in {"ROUTE1", "ROUTE2"} and "k" in given.others:
                options["k"] = parse_integer("k", given.others["k"])
            found = route(given.network, *ends, rule, **options)
            out += [found.outcome, "" if found.length is None else found.length]
        return tuple(out)

    columns = (f"{rule.lower()}{end}" for rule in rules for end in ("", "_links"))
    return Evaluation(check, evaluate_message, tuple(columns))


#: Routing rules that need only the status of nodes nearby: of neighbours, and ROUTE1 of nodes up to k links away.
_LOCAL_RULES = ("ROUTE", "ROUTE1", "A1", "DFS", "SIDETRACK")
#: Routing rules that need the status of all nodes.
_GLOBAL_RULES = ("ROUTE3", "LEVELS", "VECTORS")

#: The studies that can evaluate given fault sets.
EVALUATIONS = {
    "survival": Evaluation(
        _check_survival, _evaluate_survival, ("connected", "isolated", "components", "largest", "distance")
    ),
    "unsafe-fraction": Evaluation(_require_cube, _evaluate_unsafe, ("unsafe", "unsafe_fraction", "rounds")),
    "find-tree": Evaluation(_require_cube, _evaluate_trees, ("tree", "sink")),
    "routing": _make_routing_evaluation(_check_message, "ROUTE", "ROUTE1", "ROUTE2", "ROUTE3"),
    "routing-rate": _make_routing_evaluation(_check_message, "ROUTE", "ROUTE1", "ROUTE2"),
    "routing-rules": _make_routing_evaluation(_check_message, *_LOCAL_RULES, *_GLOBAL_RULES),
    "routing-rules-rate": _make_routing_evaluation(_check_message, *_LOCAL_RULES),
    "dualcube-routing": _make_routing_evaluation(_check_dual_message, "PRACTICAL", "OFFLINE"),
}


def iter_evaluations(
    path: str | Path, study: str, note: Callable[[int], object] | None = None
) -> Iterator[list[object]]:
    """Yield rows of results, the header first, for the fault sets of a file.

    Raises ParameterError if ``study`` is not a key of EVALUATIONS, or for a row that is malformed or that the study refuses.

    All rows of the file are checked before the first result; ``note`` is called with the number of lines read.
    """
    if study not in EVALUATIONS:
        raise ParameterError(f"study must be {join_alternatives(EVALUATIONS)}, got {short_repr(study)}")
    evaluation = EVALUATIONS[study]
    path = check_path("path", path)
    checked = _check_fault_sets(path, evaluation.check, note)
    yield ["trial", *evaluation.columns]
    for given in checked:
        try:
            found = evaluation.evaluate(given)
        except ParameterError as error:
            raise ParameterError(f"{path}, trial {given.trial}: {error}") from None
        yield [given.trial, *found]


def _check_fault_sets(
    path: Path, check: Callable[[FaultSet], object], note: Callable[[int], object] | None
) -> Iterator[FaultSet]:
    """Check all rows of a file, and return an iterator over their fault sets, which reads them once more.

    A pipe can be read only once, so a copy of its text is held in memory.  Raises ParameterError for a bad row, or for more
    than ``_MOST_PIPED`` bytes from a pipe.
    """
    copy = None if path.is_file() else io.BytesIO()
    numbers = itertools.count(1)

    def record_line(line: str) -> None:
        if note is not None:
            note(next(numbers))
        if copy is not None and copy.write(line.encode()) and copy.tell() > _MOST_PIPED:
            raise ParameterError(
                f"{path} must have at most {_MOST_PIPED} bytes from a pipe, got more: write the rows to a file first"
            )

    for _ in iter_fault_sets(path, check, record_line):
        pass
    if copy is None:
        return iter_fault_sets(path, check)
    copy.seek(0)
    return parse_fault_sets(path, io.TextIOWrapper(copy, encoding="utf-8", newline=""), check)
