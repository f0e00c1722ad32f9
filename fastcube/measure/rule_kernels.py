"""The kernels that run a table of routing rules: which kernel serves a point, and what else can run there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..kernels.machine.captured_values import unwrap_function
from ..kernels.routing_rules.layout import NAMES, REFERENCE, WANDERING_RULES, fallback_of
from .statistics import Point

if TYPE_CHECKING:
    from ..kernels.machine.dispatch import Alternative
    from ..kernels.machine.jit import Kernel

#: Names of the kernels with which a run begins: for any rules, and for built-in rules at points of few nodes.
_SCALAR, _BYTES = "scalar.ROUTING_RULES_SINGLE", "bytes_per_node.ROUTING_RULES_BYTES"


class RuleKernels:
    """The kernels of a table of routing rules, each built on first use.

    Lane kernels run users' rules made by ``fc.blocks.first_path``, and other users' rules next to built-in rules for n <= 32.
    Elsewhere users' rules that are not made by ``first_path`` have the scalar kernel.

    Parameters
    ----------
    rules : sequence
        Names of built-in rules in capital letters, and users' blocks.
    names : sequence of str
        The names of the rules, as counters have them.
    reference : str
        The name of the reference rule.
    """

    def __init__(self, rules: Sequence[Any], names: Sequence[str], reference: str) -> None:
        self._rules, self._names, self._reference = tuple(rules), tuple(names), reference
        self._user_rules = {name: rule for name, rule in zip(names, rules, strict=True) if not isinstance(rule, str)}
        functions = (unwrap_function(fallback_of(rule) or rule) for rule in self._user_rules.values())
        self._user_function = next(functions, None)
        self._have_first_paths = all(map(fallback_of, self._user_rules.values()))
        self._built: dict[str, Kernel] = {}

    def choose_kernel(self, point: Point) -> Kernel:
        """Return the fastest kernel at a point."""
        return self._require_kernel(self._choose_name(point))

    def list_alternatives(self, point: Point) -> dict[str, Alternative]:
        """Return the kernels that count a point alike with their costs, by their names; none if there is a single kernel."""
        from ..kernels.machine.dispatch import Alternative
        from ..kernels.routing_rules.dispatch import COMPILE_SECONDS, ROUTING_RULES, estimate_nanoseconds

        names = dict.fromkeys([self._choose_name(point), _SCALAR])
        if not self._user_rules and ROUTING_RULES.is_served(_BYTES, *point.values()):
            names[_BYTES] = None
        if len(names) == 1:
            return {}
        n, f, links = (int(value) for value in point.values())
        return {
            name: Alternative(
                self._require_kernel(name), COMPILE_SECONDS[name], 1e-9 * estimate_nanoseconds(name, n, f, links)
            )
            for name in names
        }

    def find_quick_kernel(self, point: Point) -> Kernel:
        """Return the kernel that counts a single trial soonest: one that is compiled, else the one that compiles fastest."""
        fastest, alternatives = self.choose_kernel(point), self.list_alternatives(point).values()
        for kernel in (fastest, *(alternative.kernel for alternative in alternatives)):
            if kernel.ready:
                return kernel
        if not alternatives:
            return fastest
        return min(alternatives, key=lambda alternative: alternative.compile_seconds).kernel

    def _choose_name(self, point: Point) -> str:
        """Return the name of the fastest kernel at a point."""
        from ..kernels.routing_rules.dispatch import ROUTING_RULES, ROUTING_RULES_DIRECT

        is_direct = self._have_first_paths and set(WANDERING_RULES).isdisjoint(self._names)
        fastest = (ROUTING_RULES_DIRECT if is_direct else ROUTING_RULES).choose_name(*point.values())
        have_built_in = len(self._user_rules) < len(self._names)
        is_in_lanes = fastest.startswith("lanes.") and point["n"] <= 32 and have_built_in
        return fastest if self._have_first_paths or is_in_lanes else _SCALAR

    def _require_kernel(self, name: str) -> Kernel:
        """Return the kernel called ``name``, which is built if it is asked for the first time."""
        if name not in self._built:
            self._built[name] = self._build_kernel(name)
        return self._built[name]

    def _build_kernel(self, name: str) -> Kernel:
        from ..kernels.routing_rules.dispatch import ROUTING_RULES
        from ..kernels.routing_rules.rules import RULES

        if self._names == NAMES and self._reference == REFERENCE:
            return ROUTING_RULES.load_kernel(name)
        if name == _BYTES:
            from ..kernels.routing_rules.bytes_per_node import make_bytes_kernel

            return make_bytes_kernel(self._names, self._reference)
        table = self._names, self._user_rules, self._user_function, self._reference
        if name.startswith("whole_cube."):
            from ..kernels.routing_rules.whole_cube import make_whole_cube_kernel

            return make_whole_cube_kernel(_read_width(name), *table)
        if name.startswith("lanes."):
            from ..kernels.routing_rules.lanes import make_lanes_kernel

            return make_lanes_kernel(_read_width(name), *table)
        from ..kernels.routing_rules.scalar import make_kernel

        blocks = [RULES[rule] if isinstance(rule, str) else rule for rule in self._rules]
        return make_kernel(blocks, self._names, self._user_function, self._reference)


def _read_width(name: str) -> int:
    """Return the width of a lane in bits, which ends the name of a kernel."""
    return int(name.rpartition("_")[2])
