"""An axis of names: a coordinate of a point whose values are names, such as the network."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..errors import ParameterError, check_flag, check_line, command_line_text, is_many, short_repr, suggest_name

#: The form of the values of an axis of names.
CHOICE_NAME = re.compile(r"[a-z0-9-]{1,64}")


@dataclass(frozen=True)
class Choice:
    """One coordinate of a point that is a name.

    Parameters
    ----------
    name, description : str
        As of an :class:`Axis`.
    names : sequence of str
        The values in their order, each of at most 64 of the characters a-z, 0-9 and -.  A kernel gets a name as its index in
        this sequence.  The index is part of no key and no file.
    keyed : bool
        Whether the name is part of the random key.  If not, points that differ only in this axis have the same trials.
    key_name : str
        As of an :class:`Axis`.

    Examples
    --------
    >>> fc.Choice("rule", "the rule", ("greedy", "careful")).parameter("careful")
    1.0
    """

    name: str
    description: str = field(compare=False)
    # not compared: a later fastcube may know more names, and files with this axis must still belong to one study
    names: tuple[str, ...] = field(compare=False)
    keyed: bool = True
    key_name: str = field(default="", compare=False)

    #: The type of the values.
    kind = str

    def __post_init__(self) -> None:
        check_line("name", self.name)
        check_line("description", self.description)
        check_line("key_name", self.key_name)
        object.__setattr__(self, "keyed", check_flag("keyed", self.keyed))
        if not is_many(self.names):
            raise ParameterError(f"names of axis {self.name} must be a list, got {short_repr(self.names)}")
        names = tuple(self.names)
        for given in names:
            if not isinstance(given, str) or not CHOICE_NAME.fullmatch(given):
                raise ParameterError(
                    f"names of axis {self.name} must be of a-z, 0-9 and -, at most 64, got {short_repr(given)}"
                )
        if not names or len(set(names)) < len(names):
            raise ParameterError(
                f"names of axis {self.name} must be one or more, each once, got {', '.join(names) or 'none'}"
            )
        object.__setattr__(self, "names", names)

    @functools.cached_property
    def _indices(self) -> dict[str, int]:
        """The index of each name."""
        return {name: i for i, name in enumerate(self.names)}

    def check(self, value: object) -> Any:
        """Return the name.  Raises ParameterError, with the most similar name, unless it is a value of the axis."""
        if isinstance(value, str) and value in self._indices:
            return str(value)
        raise ParameterError(
            f"{self.name} must be one of {', '.join(self.names)}, got {command_line_text(value)}{suggest_name(value, self.names)}"
        )

    def sort_key(self, value: Any) -> tuple[int, str]:
        """Return the sort key of a name: its index; names that are unknown here come last."""
        return self._indices.get(value, len(self.names)), value

    def parameter(self, value: Any) -> float:
        """Return the number that a kernel gets: the name's index."""
        return float(self._indices[value])

    def with_names(self, names: Iterable[Any]) -> Choice:
        """Return the axis with those of ``names`` that it lacks, sorted, after its own."""
        others = sorted(set(names) - set(self.names))
        return Choice(self.name, self.description, (*self.names, *others), self.keyed, self.key_name)
