"""Every tally that a test hands to a kernel lies between guard slots: a kernel that writes past it fails the test."""

import numpy as np
import pytest

from fastcube.kernels.layout import Layout

GUARD = 512
#: No sum of a test's counts comes out so.
UNTOUCHED = np.int64(0x5AFE5AFE5AFE5AFE)


class Guards:
    """The tallies given out, each with the slots around it."""

    def __init__(self):
        self.rooms = []

    def around(self, layout, slots):
        """A copy of fresh slots with guard slots before and after."""
        room = np.full(slots.size + 2 * GUARD, UNTOUCHED)
        inside = room[GUARD:-GUARD]
        inside[:] = slots
        self.rooms.append((layout, room))
        return inside

    def check(self):
        """Fail where a guard slot changed; forget all tallies."""
        rooms, self.rooms = self.rooms, []
        for layout, room in rooms:
            outside = np.concatenate([room[:GUARD], room[-GUARD:]])
            assert (outside == UNTOUCHED).all(), (
                f"a kernel wrote outside its tally: {', '.join(c.name for c in layout.counters)}"
            )


@pytest.fixture(autouse=True)
def guards(monkeypatch):
    """Guard every tally that a layout makes."""
    made, fresh = Guards(), Layout.fresh
    monkeypatch.setattr(Layout, "fresh", lambda self: made.around(self, fresh(self)))
    yield made
    made.check()
