"""The columns of a CSV of fault sets, and checks for columns that hold faults under another name.

A column with a name of its own is allowed, because it may be an axis of the point.  A column of faults that is not read would
be overlooked, so it is refused: by its name alone, or if the name can mean something else by the cells too.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Set
from pathlib import Path

from ..errors import ParameterError, command_line_text, short_repr

#: The columns with a meaning of their own.  ``f`` and ``links`` must agree with the lists that they count.
_COLUMNS = ("n", "m", "network", "trial", "faulty_nodes", "faulty_links", "f", "links", "s", "t")

#: The columns whose misspellings are found.  Shorter names are similar to too many others.
_LONG_COLUMNS = [name for name in _COLUMNS if len(name) > 4]

#: Number of characters of a name that are compared with other names, which takes time by the square of the length.
_COMPARED_CHARACTERS = 100

#: Names that say that a column holds faults: their beginning, or the whole name, as ``_fold_name`` returns them.
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


def _fold_name(name: str) -> str:
    """Return the name of a column in lower case, without blanks, - and _."""
    return re.sub(r"[\s_-]", "", name).lower()


def check_columns(path: Path, columns: Set[str]) -> None:
    """Raise ParameterError for a column whose name says that it holds faults, or is nearly that of a column that is read."""
    for name in sorted(columns - set(_COLUMNS)):
        folded = _fold_name(name)
        similar = [known for known in _COLUMNS if folded == known.replace("_", "")]
        # by spelling alone, because a column such as "edges" may hold no faults (find_ambiguous_columns)
        similar += difflib.get_close_matches(name[:_COMPARED_CHARACTERS].lower(), _LONG_COLUMNS, n=1)
        if similar:
            hint = similar[0]
        elif _FAULTS.match(folded):
            hint = "faulty_nodes or faulty_links"
        else:
            continue
        raise ParameterError(
            f"{path} must not have the column {command_line_text(name)}, which is not read; did you mean {hint}?"
        )


def find_ambiguous_columns(columns: Set[str]) -> dict[str, str]:
    """Return the columns that would be overlooked if they hold faults, each with the column that is read in its place."""
    return {
        name: column
        for column, pattern in _AMBIGUOUS_NAMES.items()
        if column not in columns
        for name in sorted(columns - set(_COLUMNS))
        if pattern.match(_fold_name(name))
    }


def check_ambiguous_cells(cells: Mapping[str, str], ambiguous: Mapping[str, str], size: int) -> None:
    """Raise ParameterError if a cell of an ambiguous column holds several numbers, or for nodes a number other than ``size``.

    ``ambiguous`` is from ``find_ambiguous_columns``; ``size`` is the network's number of nodes.
    """
    for name, column in ambiguous.items():
        cell = cells[name].strip()
        is_label = column == "faulty_nodes" and cell.isdecimal() and cell != str(size)
        if is_label or _NUMBERS.fullmatch(cell):
            raise ParameterError(
                f"{command_line_text(name)} must be named {column} if it holds faults, or be left out: it is not read, got "
                f"{short_repr(cell)}"
            )
