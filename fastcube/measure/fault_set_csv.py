"""Fault sets that a user supplies as CSV, in the format of ``fastcube faults``."""

from __future__ import annotations

import csv
import hashlib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

from ..errors import ParameterError, check_path, short_repr
from ..networks.dualcube import DualCube
from ..networks.family import network
from ..networks.network import Network
from .fault_set_columns import check_ambiguous_cells, check_columns, find_ambiguous_columns

#: Largest size of a cell in characters, for the faulty links of a large network.
_LONGEST_CELL = 2**27
#: Largest size of a line in characters, so that a file without line ends does not fill the memory.
_LONGEST_LINE = 2**28
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

#: The columns in which a trial that occurs twice may differ: they are sampled, and the other columns name its point.
_SAMPLED_COLUMNS = {"faulty_nodes", "faulty_links", "s", "t"}


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
    watch: Callable[[str], object] | None = None,
) -> Iterator[FaultSet]:
    """Yield the rows of ``read_fault_sets`` one by one, without a limit on their number.

    A ParameterError of ``check(row)`` names the line too.  ``watch`` is called with the text of each line before it is parsed.
    """
    path = check_path("path", path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from parse_fault_sets(path, _iter_lines(path, file, watch), check)
    except OSError as error:
        raise ParameterError(f"path must be a CSV file that can be read, got {path}: {error.strerror}") from None


def _iter_lines(path: Path, file: TextIO, watch: Callable[[str], object] | None) -> Iterator[str]:
    """Yield the lines of a file.  Raises ParameterError for a line of more than ``_LONGEST_LINE`` characters."""
    while line := file.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            raise ParameterError(f"{path} must have lines of at most {_LONGEST_LINE} characters, got a longer line")
        if watch is not None:
            watch(line)
        yield line


def parse_fault_sets(
    path: Path, lines: Iterable[str], check: Callable[[FaultSet], object] | None = None
) -> Iterator[FaultSet]:
    """Yield the fault sets of the lines of a CSV, which messages call ``path``.

    Raises ParameterError if the text or its header is malformed and, with the line, for a row that is not a fault set, repeats
    a trial, or is refused by ``check``.
    """
    try:
        reader = csv.reader(lines, strict=True)
        header = _read_row(reader) or []
        _check_header(path, header)
        ambiguous = find_ambiguous_columns(set(header))
        seen: set[bytes] | None = set() if "trial" in header else None
        number = 0
        while (cells := _read_row(reader)) is not None:
            if not cells:  # an empty line
                continue
            try:
                if len(cells) != len(header):
                    raise ParameterError("a row must have as many cells as the header")
                row = dict(zip(header, cells, strict=True))
                given = _parse_row(row, number)
                check_ambiguous_cells(row, ambiguous, 1 << given.network.bits)
                if seen is not None:
                    _check_trial(given.trial, row, seen)
                if check is not None:
                    check(given)
            except ParameterError as error:
                raise ParameterError(f"{path}, line {reader.line_num}: {error}") from None
            yield given
            number += 1
    except (csv.Error, UnicodeDecodeError) as error:
        raise ParameterError(f"{path} must be CSV in UTF-8: {error}") from None


def _read_row(reader: Iterator[list[str]]) -> list[str] | None:
    """Return the next row of a CSV, or None after the last row.

    The ``csv`` module keeps the largest length of a cell per process, so the user's value is restored after each row.
    """
    limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        return next(reader, None)
    finally:
        csv.field_size_limit(limit)


def _check_header(path: Path, header: Sequence[str]) -> None:
    """Raise ParameterError for a header with a repeated column, too many columns, or without the columns that are required."""
    columns = set(header)
    if len(columns) < len(header):
        raise ParameterError(f"{path} must name each column once, got {short_repr(','.join(header))}")
    if len(columns) > _MOST_COLUMNS:
        raise ParameterError(f"{path} must have at most {_MOST_COLUMNS} columns, got {len(columns)}")
    check_columns(path, columns)
    if not columns & {"n", "m"} or not columns & {"faulty_nodes", "faulty_links"}:
        raise ParameterError(
            f"{path} must have the columns n (or m) and faulty_nodes or faulty_links, got {short_repr(', '.join(header))}"
        )
    if columns >= {"n", "m"}:
        raise ParameterError(f"{path} must have one of the columns n and m, got both")


def _check_trial(trial: int, row: Mapping[str, str], seen: set[bytes]) -> None:
    """Raise ParameterError if ``seen`` has this trial with equal other columns, apart from its faults and ends; else add it.

    ``seen`` holds digests of 16 bytes, because the rows of a large file would fill the memory.
    """
    point = [text for name, text in row.items() if name not in _SAMPLED_COLUMNS]
    digest = hashlib.blake2b(repr(point).encode(), digest_size=16).digest()
    if digest in seen:
        raise ParameterError(f"trial must be different in each row of one point, got {trial} twice")
    seen.add(digest)


def _parse_row(row: Mapping[str, str], number: int) -> FaultSet:
    """Return the fault set of a row; ``number`` is its trial if there is no such column.  Raises ParameterError."""
    size = "m" if "m" in row else "n"
    dimension = parse_integer(size, row[size])
    bits = 2 * dimension + 1 if size == "m" else dimension
    nodes = _parse_nodes(row.get("faulty_nodes", ""), bits)
    links = _parse_links(row.get("faulty_links", ""), bits)
    _check_count("f", row, "faulty_nodes", len(nodes))
    _check_count("links", row, "faulty_links", len(links))
    trial = parse_integer("trial", row["trial"]) if "trial" in row else number
    others = {name: text for name, text in row.items() if name not in {"trial", "faulty_nodes", "faulty_links"}}
    if size == "n":
        return FaultSet(trial, network(row.get("network", "hypercube"), dimension, nodes, links), others)
    if links:
        raise ParameterError("faulty_links must be empty for a dual-cube")
    if row.get("network"):
        raise ParameterError(f"network must be empty for m, a dual-cube, got {short_repr(row['network'])}")
    return FaultSet(trial, DualCube(dimension, nodes), others)


def _parse_nodes(cell: str, bits: int) -> list[int]:
    """Return the labels in a cell.  Raises ParameterError for a bad label, or for two labels that are equal."""
    if cell == ON_DEMAND:
        raise ParameterError(f"faulty_nodes must be labels, got {ON_DEMAND!r}: they are too many to be listed")
    nodes = [parse_label("faulty_nodes", text, bits) for text in cell.split()]
    # sorted, because a set of labels that were chosen to have one hash value takes quadratic time
    for node, other in itertools.pairwise(sorted(nodes)):
        if node == other:
            raise ParameterError(f"faulty_nodes must be different labels, got {short_repr(node)} twice")
    return nodes


def _parse_links(cell: str, bits: int) -> list[tuple[int, int]]:
    """Return the links in a cell.  Raises ParameterError for a bad label, or for two links with the same ends."""
    links = []
    for text in cell.split():
        u, _, v = text.partition("-")
        links.append((parse_label("faulty_links", u, bits), parse_label("faulty_links", v, bits)))
    for link, next_link in itertools.pairwise(sorted(links, key=sorted)):
        if {*link} == {*next_link}:
            raise ParameterError(f"faulty_links must be different links, got {next_link[0]}-{next_link[1]} twice")
    return links


def parse_integer(name: str, text: str) -> int:
    """Return an integer from 0, in decimal digits.  Raises ParameterError, also for more than 100 digits."""
    digits = text.strip() if text.isascii() else ""
    if not digits.isdigit() or len(digits) > _MOST_DIGITS:
        raise ParameterError(f"{name} must be an integer from 0, got {short_repr(text)}")
    return int(digits)


def parse_label(name: str, text: str, bits: int) -> int:
    """Return a label in decimal digits, or as ``0b...`` or ``0x...``.  Raises ParameterError for digits that look like bits."""
    digits = text.strip()
    if re.fullmatch(r"0[bB][01]{1,100}|0[xX][0-9a-fA-F]{1,100}", digits):
        return int(digits, 0)
    label = parse_integer(name, text)
    if len(digits) > 1 and (digits[0] == "0" or (len(digits) == bits and set(digits) <= set("01"))):
        hint = f", or 0b{digits} for bits" if set(digits) <= set("01") else ""
        raise ParameterError(f"{name} must be decimal labels without leading zeros{hint}, got {short_repr(digits)}")
    return label


def _check_count(column: str, row: Mapping[str, str], name: str, length: int) -> None:
    """Raise ParameterError if the column ``column`` is not ``length``, the number of entries of ``name``.

    Without this column a list may have been cut, so a cell of the length at which spreadsheets cut is refused.
    """
    if column in row:
        stated = parse_integer(column, row[column])
        if stated != length:
            hint = "" if name in row else " without this column"
            raise ParameterError(f"{column} must be the number of {name}, which is {length}{hint}, got {stated}")
    elif len(row.get(name, "")) == _CUT_CELL:
        raise ParameterError(
            f"{name} must be whole, but has the {_CUT_CELL:,} characters at which spreadsheets cut a cell: "
            f"add the column {column} with the number of {name}"
        )
