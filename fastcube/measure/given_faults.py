"""Fault sets that a user supplies as CSV, in the format of ``fastcube faults``, and their evaluation one by one."""

from __future__ import annotations

import csv
import difflib
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

from ..errors import (
    ParameterError,
    check_path,
    check_range,
    command_line_text,
    join_alternatives,
    short_repr,
)
from ..networks.dualcube import DualCube
from ..networks.family import LARGEST_TABLED, network
from ..networks.hypercube import Hypercube
from ..networks.network import Network

#: Largest size of a cell in characters, for the faulty links of a large network.
_LONGEST_CELL = 2**27
#: Largest size of a line in characters, so that a file without line ends does not fill the memory.
_LONGEST_LINE = 2**28
#: Largest size in bytes of the text from a pipe that ``fastcube evaluate`` holds in memory.
_MOST_PIPED = 2**28
#: Most columns of a file, because each name is compared with the names of the columns that are read.
_MOST_COLUMNS = 1000
#: Most rows that ``read_fault_sets`` returns, a limit on memory.
_MOST_ROWS = 10**6
#: Cell of faulty nodes that are sampled on demand, and too many to be listed.
ON_DEMAND = "on demand"
#: Most digits of an integer: Python refuses to read more than 4,300.
_MOST_DIGITS = 100
#: Number of characters at which spreadsheets cut a cell.
_CUT_CELL = 32_767

#: The columns with a meaning of their own.  ``f`` and ``links`` must agree with the lists that they count.
_COLUMNS = ("n", "m", "network", "trial", "faulty_nodes", "faulty_links", "f", "links", "s", "t")

#: Other words for source and destination, which ``evaluate`` suggests to rename where it needs ``s`` and ``t``.
_OTHER_ENDS = {"source": "s", "src": "s", "sender": "s", "destination": "t", "target": "t", "dst": "t", "receiver": "t"}

#: Names that say that a column holds faults: their beginning, or the whole name; in lower case, without blanks, - and _.
_FAULTS = re.compile(r"faulty|faults?$|failed.|broken.|(node|link|edge)s?(faulty|faults?|failed|broken)$")

#: Names of columns that can mean faults or the whole network, by the column that holds the faults of this kind.  If the file
#: lacks that column, a cell of several numbers (``_NUMBERS``) shows that faults are meant.
_AMBIGUOUS_NAMES = {
    "faulty_nodes": re.compile(r"(node|vertex|processor)s?$|vertices$"),
    "faulty_links": re.compile(r"(edge|link|arc|channel)s?$"),
}
#: A label, and a cell with several labels.
_LABEL = r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)"
_NUMBERS = re.compile(rf"[\s()\[\]{{}}]*{_LABEL}([\s()\[\]{{}},;:|-]+{_LABEL})+[\s()\[\]{{}}]*")


class FaultSet(NamedTuple):
    """One row of a CSV of fault sets."""

    trial: int  #: the value in the column ``trial``, or without this column the number of the row from 0
    network: Network
    others: dict[str, str]  #: the other columns: axes of the point, source, destination and the like


def read_fault_sets(path: str | Path) -> list[FaultSet]:
    """Read fault sets from a CSV file, such as ``fastcube faults`` writes.

    Parameters
    ----------
    path : str or Path
        The first line names the columns.  Required are ``n`` (for a dual-cube ``m``) and ``faulty_nodes`` or ``faulty_links``.
        Optional are ``network`` and ``trial``, and ``f`` and ``links``, the numbers of faulty nodes and links.  Labels in a cell
        are separated by spaces, the ends of a link by ``-``.  They are decimal numbers, or begin with ``0b`` or ``0x``.

    Returns
    -------
    list of FaultSet
        Each with ``trial``, ``network`` (with its faults) and ``others`` (the other columns, as text).

    Raises
    ------
    ParameterError
        With the line of the file, if a row is not a fault set: a label that looks like bits, ``f`` or ``links`` unlike the number
        of labels in the list, or a trial that occurs twice with equal other columns.  Also for a column whose name is nearly
        that of a column that is read, for one such as ``edges`` that holds lists, and for more than 1,000,000 rows.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "faults.csv")
    ...     with open(path, "w") as file:
    ...         print("n,faulty_nodes,faulty_links", "3,0 5,1-3", sep=os.linesep, file=file)
    ...     fc.read_fault_sets(path)[0].network
    Hypercube(3, faulty_nodes=[0b000, 0b101], faulty_links=[(0b001, 0b011)])
    """
    out = []
    for row in iter_fault_sets(path):
        out.append(row)
        if len(out) > _MOST_ROWS:
            raise ParameterError(f"{path} must have at most {_MOST_ROWS} rows, got more: divide it into several files")
    return out


def iter_fault_sets(
    path: str | Path,
    check: Callable[[FaultSet], object] | None = None,
    copy: io.BytesIO | None = None,
    note: Callable[[int], object] | None = None,
) -> Iterator[FaultSet]:
    """Yield the rows of ``read_fault_sets`` one by one, and write their text to ``copy`` if there is one.

    A ParameterError of ``check(row)`` names the line too.  ``note`` is called with the number of lines after each line.
    """
    path = check_path("path", path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = _iter_lines(path, file, note)
            yield from _iter_rows(path, lines if copy is None else _copy_lines(path, lines, copy), check)
    except OSError as error:
        raise ParameterError(f"path must be a CSV file that can be read, got {path}: {error.strerror}") from None


def _iter_lines(path: Path, file: TextIO, note: Callable[[int], object] | None) -> Iterator[str]:
    """Yield the lines of a file.  Raises ParameterError for a line of more than ``_LONGEST_LINE`` characters."""
    number = 0
    while line := file.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            raise ParameterError(f"{path} must have lines of at most {_LONGEST_LINE} characters, got a longer line")
        number += 1
        if note is not None:
            note(number)
        yield line


def _copy_lines(path: Path, lines: Iterable[str], copy: io.BytesIO) -> Iterator[str]:
    """Yield lines after writing them to ``copy``.  Raises ParameterError for more than ``_MOST_PIPED`` bytes."""
    for line in lines:
        if copy.write(line.encode()) and copy.tell() > _MOST_PIPED:
            raise ParameterError(
                f"{path} must have at most {_MOST_PIPED} bytes from a pipe, got more: write the rows to a file first"
            )
        yield line


def _iter_rows(path: Path, lines: Iterable[str], check: Callable[[FaultSet], object] | None) -> Iterator[FaultSet]:
    """Yield the fault sets of CSV lines.  Raises ParameterError, with the line, for a row that it or ``check`` refuses.

    The ``csv`` module keeps the largest length of a cell per process, and this function sets it.
    """
    csv.field_size_limit(_LONGEST_CELL)
    try:
        reader = csv.DictReader(lines, strict=True)
        columns = set(reader.fieldnames or ())
        if len(columns) < len(reader.fieldnames or ()):
            raise ParameterError(
                f"{path} must name each column once, got {short_repr(','.join(reader.fieldnames or ()))}"
            )
        if len(columns) > _MOST_COLUMNS:
            raise ParameterError(f"{path} must have at most {_MOST_COLUMNS} columns, got {len(columns)}")
        _check_columns(path, columns)
        ambiguous = _find_ambiguous_columns(columns)
        if not columns & {"n", "m"} or not columns & {"faulty_nodes", "faulty_links"}:
            raise ParameterError(
                f"{path} must have the columns n (or m) and faulty_nodes or faulty_links, got "
                f"{short_repr(', '.join(map(str, reader.fieldnames or ())))}"
            )
        if columns >= {"n", "m"}:
            raise ParameterError(f"{path} must have one of the columns n and m, got both")
        seen: set[int] = set()
        for number, row in enumerate(reader):
            try:
                given = _parse_row(row, number)
                _check_ambiguous_columns(given, ambiguous)
                if "trial" in columns:
                    _check_trial(given, row, seen)
                if check is not None:
                    check(given)
            except ParameterError as error:
                raise ParameterError(f"{path}, line {reader.line_num}: {error}") from None
            yield given
    except (csv.Error, UnicodeDecodeError) as error:
        raise ParameterError(f"{path} must be CSV in UTF-8: {error}") from None


def _check_columns(path: Path, columns: set[str]) -> None:
    """Raise ParameterError for a column whose name is nearly that of a column that is read, which would be overlooked."""
    for name in sorted(columns.difference(_COLUMNS)):
        folded = re.sub(r"[\s_-]", "", name).lower()
        similar = [known for known in _COLUMNS if folded == known.replace("_", "")]
        # by spelling alone, because a column such as "edges" may hold no faults (_find_ambiguous_columns)
        similar += difflib.get_close_matches(name[:100].lower(), [known for known in _COLUMNS if len(known) > 4], n=1)
        hint = f"; did you mean {similar[0]}?" if similar else ""
        if hint or _FAULTS.match(folded):
            if _FAULTS.match(folded) and not hint:
                hint = "; did you mean faulty_nodes or faulty_links?"
            raise ParameterError(f"{path} must not have the column {command_line_text(name)}, which is not read{hint}")


def _find_ambiguous_columns(columns: set[str]) -> dict[str, str]:
    """Return the columns that would be overlooked if they hold faults, each with the column that is read in its place."""
    return {
        name: column
        for column, pattern in _AMBIGUOUS_NAMES.items()
        if column not in columns
        for name in sorted(columns.difference(_COLUMNS))
        if pattern.match(re.sub(r"[\s_-]", "", name).lower())
    }


def _check_ambiguous_columns(given: FaultSet, ambiguous: dict[str, str]) -> None:
    """Raise ParameterError if one of these columns holds several numbers, or for nodes one that is not their number."""
    for name, column in ambiguous.items():
        cell = given.others[name].strip()
        is_label = column == "faulty_nodes" and cell.isdecimal() and cell != str(1 << given.network.bits)
        if is_label or _NUMBERS.fullmatch(cell):
            raise ParameterError(
                f"{command_line_text(name)} must be named {column} if it holds faults, or be left out: it is not read, got "
                f"{short_repr(cell)}"
            )


def _check_trial(given: FaultSet, row: dict[str, str], seen: set[int]) -> None:
    """Raise ParameterError if the file has had this trial with equal other columns, apart from its faults and ends.

    ``seen`` holds 64-bit hashes, because the rows of a large file would fill the memory.  Different rows with one hash are
    refused, too, which in a file of 10^6 rows happens with a probability of about 3e-8.
    """
    point = tuple(text for name, text in row.items() if name not in {"faulty_nodes", "faulty_links", "s", "t"})
    if (point_hash := hash(point)) in seen:
        raise ParameterError(f"trial must be different in each row of one point, got {given.trial} twice")
    seen.add(point_hash)


def _parse_integer(name: str, text: object) -> int:
    """Return an integer from 0, in decimal digits.  Raises ParameterError."""
    digits = text.strip() if isinstance(text, str) and text.isascii() else ""
    value = int(digits) if digits.isdigit() and len(digits) <= _MOST_DIGITS else None
    if value is None:
        raise ParameterError(f"{name} must be an integer from 0, got {short_repr(text)}")
    return value


def _parse_label(name: str, text: str, bits: int) -> int:
    """Return a label in decimal digits, or as ``0b...`` or ``0x...``.  Raises ParameterError for digits that look like bits."""
    digits = text.strip()
    if re.fullmatch(r"0[bB][01]{1,100}|0[xX][0-9a-fA-F]{1,100}", digits):
        return int(digits, 0)
    label = _parse_integer(name, text)
    if len(digits) > 1 and (digits[0] == "0" or (len(digits) == bits and set(digits) <= set("01"))):
        hint = f", or 0b{digits} for bits" if set(digits) <= set("01") else ""
        raise ParameterError(f"{name} must be decimal labels without leading zeros{hint}, got {short_repr(digits)}")
    return label


def _check_count(column: str, row: dict[str, str], name: str, length: int) -> None:
    """Raise ParameterError unless the column ``column``, if there is one, is ``length``, the number of entries of ``name``."""
    if column in row:
        stated = _parse_integer(column, row[column])
        if stated != length:
            hint = "" if name in row else " without this column"
            raise ParameterError(f"{column} must be the number of {name}, which is {length}{hint}, got {stated}")
    elif len(row.get(name, "")) == _CUT_CELL:
        raise ParameterError(
            f"{name} must be whole, but has the {_CUT_CELL:,} characters at which spreadsheets cut a cell: "
            f"add the column {column} with the number of {name}"
        )


def _parse_row(row: dict[str, str], number: int) -> FaultSet:
    """Return the fault set of a row; ``number`` is its trial if there is no such column.  Raises ParameterError."""
    if None in row or None in row.values():
        raise ParameterError("a row must have as many cells as the header")
    others = dict(row)
    size = "m" if "m" in others else "n"
    dimension = _parse_integer(size, others[size])
    bits = 2 * dimension + 1 if size == "m" else dimension
    cell = others.pop("faulty_nodes", "")
    if cell == ON_DEMAND:
        raise ParameterError(f"faulty_nodes must be labels, got {ON_DEMAND!r}: they are too many to be listed")
    nodes = [_parse_label("faulty_nodes", text, bits) for text in cell.split()]
    # sorted, because a set of labels that were chosen to have one hash value takes quadratic time
    for node, other in itertools.pairwise(sorted(nodes)):
        if node == other:
            raise ParameterError(f"faulty_nodes must be different labels, got {short_repr(node)} twice")
    links = []
    for text in others.pop("faulty_links", "").split():
        u, _, v = text.partition("-")
        links.append((_parse_label("faulty_links", u, bits), _parse_label("faulty_links", v, bits)))
    for link, next_link in itertools.pairwise(sorted(links, key=sorted)):
        if {*link} == {*next_link}:
            raise ParameterError(f"faulty_links must be different links, got {next_link[0]}-{next_link[1]} twice")
    _check_count("f", row, "faulty_nodes", len(nodes))
    _check_count("links", row, "faulty_links", len(links))
    trial = _parse_integer("trial", others.pop("trial", str(number)))
    if size == "m":
        if links:
            raise ParameterError("faulty_links must be empty for a dual-cube")
        if others.get("network"):
            raise ParameterError(f"network must be empty for m, a dual-cube, got {short_repr(others['network'])}")
        return FaultSet(trial, DualCube(dimension, nodes), others)
    name = others.get("network", "hypercube")
    return FaultSet(trial, network(name, dimension, nodes, links), others)


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
    s, t = (check_end(given.network, name, _parse_label(name, text, bits)) for name, text in texts.items())
    return s, t


def _require_cube(given: FaultSet) -> Hypercube:
    """Return the network of a row.  Raises ParameterError unless it is a hypercube."""
    if not isinstance(given.network, Hypercube):
        name = "a dual-cube" if isinstance(given.network, DualCube) else given.others["network"]
        raise ParameterError(f"network must be hypercube for this study, got {name}")
    return given.network


def _check_survival(given: FaultSet) -> None:
    check_range("bits of a label", given.network.bits, 1, LARGEST_TABLED, "for this study")
    _parse_ends(given)


def _evaluate_survival(given: FaultSet) -> tuple[object, ...]:
    from ..algorithms.shortest import distance
    from ..algorithms.survival import survival

    found, ends = survival(given.network), _parse_ends(given)
    length = None if ends is None else distance(given.network, *ends)
    rest = (len(found.components), found.largest, "" if length is None else length)
    return int(found.connected), found.isolated, *rest


def _evaluate_unsafe(given: FaultSet) -> tuple[object, ...]:
    from ..algorithms.unsafe import find_unsafe

    found = find_unsafe(_require_cube(given))
    return found.count, found.fraction, found.rounds


def _evaluate_trees(given: FaultSet) -> tuple[object, ...]:
    from ..algorithms.trees import find_tree

    found = find_tree(_require_cube(given))
    return int(found is not None), "" if found is None else found.sink


def _check_message(given: FaultSet) -> None:
    _require_cube(given)
    _check_ends(given)


def _check_dual_message(given: FaultSet) -> None:
    if not isinstance(given.network, DualCube):
        raise ParameterError("m must be a column for this study, of dual-cubes")
    _check_ends(given)


def _check_ends(given: FaultSet) -> None:
    _parse_ends(given)
    if not {"s", "t"} <= given.others.keys():
        raise ParameterError("s and t must be columns for this study, of one message")


class Evaluation(NamedTuple):
    """An evaluation of given fault sets by the algorithm of a study."""

    check: Callable[[FaultSet], object]  #: the check of a row
    evaluate: Callable[[FaultSet], tuple[object, ...]]  #: returns the values of a row
    columns: tuple[str, ...]  #: the names of the values that ``evaluate`` returns


def _make_routing_evaluation(check: Callable[[FaultSet], object], *rules: str) -> Evaluation:
    """Return the evaluation of one message by some rules: for each rule its outcome, and the links of a delivered message."""

    def evaluate(given: FaultSet) -> tuple[object, ...]:
        from ..algorithms.paths import route

        if (ends := _parse_ends(given)) is None:
            return ("",) * (2 * len(rules))
        out: list[object] = []
        for rule in rules:
            options = {"seed": given.trial} if rule == "SIDETRACK" else {}
            if rule in {"ROUTE1", "ROUTE2"} and "k" in given.others:
                options["k"] = _parse_integer("k", given.others["k"])
            found = route(given.network, *ends, rule, **options)
            out += [found.outcome, "" if found.length is None else found.length]
        return tuple(out)

    return Evaluation(check, evaluate, tuple(name + end for name in map(str.lower, rules) for end in ("", "_links")))


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

    All rows of the file are checked before the first result; ``note`` is called with the number of lines read.  A pipe can be
    read only once, so a copy of its text is held in memory.
    """
    if study not in EVALUATIONS:
        raise ParameterError(f"study must be {join_alternatives(EVALUATIONS)}, got {short_repr(study)}")
    check, evaluate, columns = EVALUATIONS[study]
    path = check_path("path", path)
    copy = None if path.is_file() else io.BytesIO()
    for _ in iter_fault_sets(path, check, copy, note):
        pass
    if copy is None:
        sets = iter_fault_sets(path, check)
    else:
        copy.seek(0)
        sets = _iter_rows(path, io.TextIOWrapper(copy, encoding="utf-8", newline=""), check)
    yield ["trial", *columns]
    for given in sets:
        try:
            found = evaluate(given)
        except ParameterError as error:
            raise ParameterError(f"{path}, trial {given.trial}: {error}") from None
        yield [given.trial, *found]
