"""Fault sets that a user supplies as CSV, in the format of ``fastcube faults``, and their evaluation one by one."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

from ..errors import ParameterError, as_integer, check_path, check_range, join_alternatives, short_repr
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
#: Cell of faulty nodes that are sampled on demand, and too many to be listed.
ON_DEMAND = "on demand"
#: Most digits of an integer: Python refuses to read more than 4,300.
_MOST_DIGITS = 100


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
        Optional are ``network`` and ``trial``.  Labels in a cell are separated by spaces, the ends of a link by ``-``.

    Returns
    -------
    list of FaultSet
        Each with ``trial``, ``network`` (with its faults) and ``others`` (the other columns, as text).

    Raises
    ------
    ParameterError
        With the line of the file, if a row is not a fault set.

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
    return list(iter_fault_sets(path))


def iter_fault_sets(
    path: str | Path, check: Callable[[FaultSet], object] | None = None, copy: io.BytesIO | None = None
) -> Iterator[FaultSet]:
    """Yield the rows of ``read_fault_sets`` one by one, and write their text to ``copy`` if there is one.

    A ParameterError of ``check(row)`` names the line too.
    """
    path = check_path("path", path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = _iter_lines(path, file)
            yield from _iter_rows(path, lines if copy is None else _copy_lines(path, lines, copy), check)
    except OSError as error:
        raise ParameterError(f"path must be a CSV file that can be read, got {path}: {error.strerror}") from None


def _iter_lines(path: Path, file: TextIO) -> Iterator[str]:
    while line := file.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            raise ParameterError(f"{path} must have lines of at most {_LONGEST_LINE} characters, got a longer line")
        yield line


def _copy_lines(path: Path, lines: Iterable[str], copy: io.BytesIO) -> Iterator[str]:
    """Yield lines after a copy.  Raises ParameterError if the copy would have more than ``_MOST_PIPED`` bytes."""
    for line in lines:
        if copy.write(line.encode()) and copy.tell() > _MOST_PIPED:
            raise ParameterError(
                f"{path} must have at most {_MOST_PIPED} bytes from a pipe, got more: write the rows to a file first"
            )
        yield line


def _iter_rows(path: Path, lines: Iterable[str], check: Callable[[FaultSet], object] | None) -> Iterator[FaultSet]:
    csv.field_size_limit(_LONGEST_CELL)
    try:
        reader = csv.DictReader(lines, strict=True)
        columns = set(reader.fieldnames or ())
        if len(columns) < len(reader.fieldnames or ()):
            raise ParameterError(
                f"{path} must name each column once, got {short_repr(','.join(reader.fieldnames or ()))}"
            )
        if not columns & {"n", "m"} or not columns & {"faulty_nodes", "faulty_links"}:
            raise ParameterError(
                f"{path} must have the columns n (or m) and faulty_nodes or faulty_links, got "
                f"{short_repr(', '.join(map(str, reader.fieldnames or ())))}"
            )
        if columns >= {"n", "m"}:
            raise ParameterError(f"{path} must have one of the columns n and m, got both")
        for number, row in enumerate(reader):
            try:
                given = _parse_row(row, number)
                if check is not None:
                    check(given)
            except ParameterError as error:
                raise ParameterError(f"{path}, line {reader.line_num}: {error}") from None
            yield given
    except (csv.Error, UnicodeDecodeError) as error:
        raise ParameterError(f"{path} must be CSV in UTF-8: {error}") from None


def _parse_integer(name: str, text: object) -> int:
    digits = text.strip() if isinstance(text, str) and text.isascii() else ""
    value = as_integer(int(digits)) if digits.isdigit() and len(digits) <= _MOST_DIGITS else None
    if value is None:
        raise ParameterError(f"{name} must be an integer from 0, got {short_repr(text)}")
    return value


def _parse_row(row: dict[str, str], number: int) -> FaultSet:
    if None in row or None in row.values():
        raise ParameterError("a row must have as many cells as the header")
    left = dict(row)
    cell = left.pop("faulty_nodes", "")
    if cell == ON_DEMAND:
        raise ParameterError(f"faulty_nodes must be labels, got {ON_DEMAND!r}: they are too many to be listed")
    nodes = [_parse_integer("faulty_nodes", text) for text in cell.split()]
    seen: set[int] = set()
    for node in nodes:
        if node in seen:
            raise ParameterError(f"faulty_nodes must be different labels, got {short_repr(node)} twice")
        seen.add(node)
    links: dict[frozenset[int], tuple[int, int]] = {}
    for text in left.pop("faulty_links", "").split():
        u, _, v = text.partition("-")
        link = _parse_integer("faulty_links", u), _parse_integer("faulty_links", v)
        if frozenset(link) in links:
            raise ParameterError(f"faulty_links must be different links, got {link[0]}-{link[1]} twice")
        links[frozenset(link)] = link
    trial = _parse_integer("trial", left.pop("trial", str(number)))
    if "m" in left:
        if links:
            raise ParameterError("faulty_links must be empty for a dual-cube")
        return FaultSet(trial, DualCube(_parse_integer("m", left["m"]), nodes), left)
    name = left.get("network", "hypercube")
    return FaultSet(trial, network(name, _parse_integer("n", left["n"]), nodes, links.values()), left)


def _parse_ends(given: FaultSet) -> tuple[int, int] | None:
    """Return the labels in the columns ``s`` and ``t``; None if a column is missing or holds -1."""
    from ..algorithms.registry import check_end

    texts = {name: given.others.get(name, "-1") for name in ("s", "t")}
    if "-1" in texts.values():
        return None
    s, t = (check_end(given.network, name, _parse_integer(name, text)) for name, text in texts.items())
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
    far = None if ends is None else distance(given.network, *ends)
    rest = (len(found.components), found.largest, "" if far is None else far)
    return int(found.connected), found.isolated, *rest


def _evaluate_unsafe(given: FaultSet) -> tuple[object, ...]:
    from ..algorithms.unsafe import find_unsafe

    found = find_unsafe(_require_cube(given))
    return found.count, found.fraction, found.rounds


def _evaluate_trees(given: FaultSet) -> tuple[object, ...]:
    from ..algorithms.trees import find_tree

    found = find_tree(_require_cube(given))
    return int(found is not None), "" if found is None else found.sink


class Evaluation(NamedTuple):
    """An evaluation of given fault sets by the algorithm of a study."""

    check: Callable[[FaultSet], object]  #: the check of a row
    evaluate: Callable[[FaultSet], tuple[object, ...]]
    columns: tuple[str, ...]  #: the names of the values that ``evaluate`` returns


#: The studies that can evaluate given fault sets.
EVALUATIONS = {
    "survival": Evaluation(
        _check_survival, _evaluate_survival, ("connected", "isolated", "components", "largest", "distance")
    ),
    "unsafe-fraction": Evaluation(_require_cube, _evaluate_unsafe, ("unsafe", "unsafe_fraction", "rounds")),
    "find-tree": Evaluation(_require_cube, _evaluate_trees, ("tree", "sink")),
}


def iter_evaluations(path: str | Path, study: str) -> Iterator[list[object]]:
    """Yield rows of results, the header first, for the fault sets of a file.  ``study`` must be a key of EVALUATIONS.

    All rows of the file are checked before the first result.  A pipe can be read only once, so a copy of its text is held
    in memory.
    """
    if study not in EVALUATIONS:
        raise ParameterError(f"study must be {join_alternatives(EVALUATIONS)}, got {short_repr(study)}")
    check, evaluate, columns = EVALUATIONS[study]
    path = check_path("path", path)
    copy = None if path.is_file() else io.BytesIO()
    for _ in iter_fault_sets(path, check, copy):
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
