"""Fault sets that a user supplies as CSV, in the format of ``fastcube faults``, and their evaluation one by one."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import ParameterError, as_integer, check_path, join_alternatives, short_repr
from ..networks.dualcube import DualCube
from ..networks.family import network
from ..networks.hypercube import check_cube
from ..networks.network import Network

#: Largest size of a cell in characters, for the faulty links of a large network.
_LONGEST_CELL = 2**27
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


def iter_fault_sets(path: str | Path) -> Iterator[FaultSet]:
    """Yield the rows of ``read_fault_sets`` one by one."""
    path = check_path("path", path)
    csv.field_size_limit(_LONGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
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
            for number, row in enumerate(reader):
                try:
                    yield _parse_row(row, number)
                except ParameterError as error:
                    raise ParameterError(f"{path}, line {reader.line_num}: {error}") from None
    except OSError as error:
        raise ParameterError(f"path must be a CSV file that can be read, got {path}: {error.strerror}") from None
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
    nodes = [_parse_integer("faulty_nodes", text) for text in left.pop("faulty_nodes", "").split()]
    links = []
    for text in left.pop("faulty_links", "").split():
        u, _, v = text.partition("-")
        links.append((_parse_integer("faulty_links", u), _parse_integer("faulty_links", v)))
    trial = _parse_integer("trial", left.pop("trial", str(number)))
    if "m" in left:
        if links:
            raise ParameterError("faulty_links must be empty for a dual-cube")
        return FaultSet(trial, DualCube(_parse_integer("m", left["m"]), nodes), left)
    name = left.get("network", "hypercube")
    return FaultSet(trial, network(name, _parse_integer("n", left["n"]), nodes, links), left)


def _evaluate_survival(given: FaultSet) -> dict[str, Any]:
    from ..algorithms.shortest import distance
    from ..algorithms.survival import survival

    found = survival(given.network)
    told = {"connected": int(found.connected), "isolated": found.isolated, "components": len(found.components)}
    s, t = (given.others.get(name, "-1") for name in ("s", "t"))
    far = None
    if s != "-1" and t != "-1":
        far = distance(given.network, _parse_integer("s", s), _parse_integer("t", t))
    return {**told, "largest": found.largest, "distance": "" if far is None else far}


def _evaluate_unsafe(given: FaultSet) -> dict[str, Any]:
    from ..algorithms.unsafe import find_unsafe

    found = find_unsafe(check_cube(given.network))
    return {"unsafe": found.count, "unsafe_fraction": found.fraction, "rounds": found.rounds}


def _evaluate_trees(given: FaultSet) -> dict[str, Any]:
    from ..algorithms.trees import find_tree

    found = find_tree(check_cube(given.network))
    return {"tree": int(found is not None), "sink": "" if found is None else found.sink}


#: The studies that can evaluate given fault sets, with their evaluation.
EVALUATIONS: dict[str, Callable[[FaultSet], dict[str, Any]]] = {
    "survival": _evaluate_survival,
    "unsafe-fraction": _evaluate_unsafe,
    "find-tree": _evaluate_trees,
}


def iter_evaluations(path: str | Path, study: str) -> Iterator[list[object]]:
    """Yield rows of results, the header first, for the fault sets of a file.  ``study`` must be a key of EVALUATIONS."""
    if study not in EVALUATIONS:
        raise ParameterError(f"study must be {join_alternatives(EVALUATIONS)}, got {short_repr(study)}")
    for number, given in zip(itertools.count(), iter_fault_sets(path)):
        found = EVALUATIONS[study](given)
        if number == 0:
            yield ["trial", *found]
        yield [given.trial, *found.values()]
