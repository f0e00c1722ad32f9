"""The step of a user's network, as it is compiled for all counts, on many nodes at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, wrap_study_errors

Step = Callable[[int, int, int], int]
Labels64 = NDArray[np.int64]


class SlotEnds(NamedTuple):
    """One slot at all nodes, in the order of the labels.  In a matching each end leads back to its node."""

    ends: Labels64  #: other end of the slot at each node
    returns: Labels64  #: other end of the slot at that end; -1 if the end is no node


class UserStep:
    """A user's step, compiled at its first use.

    Parameters
    ----------
    name : str
        Name of the network, for messages.
    step : callable
        ``step(v, d, n)``, as for ``custom_network``.
    """

    def __init__(self, name: str, step: Step) -> None:
        self._name, self._step = name, step

    @functools.cached_property
    def _kernel(self) -> Any:
        """The compiled loop over the step."""
        from ..kernels.cube.tables import user_step_kernel

        return user_step_kernel(self._step)

    def apply(self, nodes: Any, slots: Any, n: int) -> Labels64:
        """Return the other ends of slots of nodes.  Raises StudyError if the step cannot be compiled."""
        with wrap_study_errors(f"step of {self._name}"):
            ends: Labels64 = self._kernel(
                np.ascontiguousarray(nodes, np.int64), np.ascontiguousarray(slots, np.int64), n
            )
        return ends

    def make_table(self, slot_count: int, n: int) -> NDArray[np.int32]:
        """Return the neighbours of all nodes by slot; the node itself if its slot leads nowhere or not back."""
        nodes = np.arange(1 << n)
        table = np.empty((1 << n, slot_count), np.int32)
        for d, slot in enumerate(self._iter_slots(slot_count, n)):
            table[:, d] = np.where(slot.returns == nodes, slot.ends, nodes)
        return table

    def check_matchings(self, slot_count: int, n: int) -> None:
        """Raise ParameterError, with a node, unless every slot is a matching."""
        for d, slot in enumerate(self._iter_slots(slot_count, n)):
            if (bad := np.flatnonzero(slot.returns != np.arange(1 << n))).size:
                v = bad[0]
                end = slot.returns[v]
                there = f"from there to {end}" if end >= 0 else f"labels end at {(1 << n) - 1}"
                raise ParameterError(
                    f"step of {self._name} must be a matching in every slot, but at n={n} slot {d} leads "
                    f"from {v} to {slot.ends[v]} and {there}"
                )

    def _iter_slots(self, slot_count: int, n: int) -> Iterator[SlotEnds]:
        """Yield each slot at all nodes."""
        nodes = np.arange(1 << n)
        for d in range(slot_count):
            slots = np.full(1 << n, d)
            ends = self.apply(nodes, slots, n)
            is_node = (ends >= 0) & (ends < 1 << n)
            returns = self.apply(np.where(is_node, ends, nodes), slots, n)
            yield SlotEnds(ends, np.where(is_node, returns, -1))
