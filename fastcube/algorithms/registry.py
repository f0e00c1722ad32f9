"""Register algorithms by network and name, for ``route``, ``broadcast``, ``gather`` and similar functions.

A public function with several algorithms has one ``Algorithms`` object, in the same module (``ROUTING`` and ``route`` in
``paths.py``).  Each algorithm registers itself where it is written, in one of the ``homes``: modules of ``fastcube.algorithms``
that are imported when the first algorithm is needed.  It registers with its options::

    @ROUTING.register(Hypercube, "ROUTE1", options={"k": lambda cube, k: check_integer("k", k, 1, cube.n, "...")})
    def route1(cube: Hypercube, s: int, t: int, k: int = 1) -> Route: ...


    @ROUTING.register(Hypercube, "ROUTE3", options={"k": (1,)}, default=True)
    def route3(cube: Hypercube, s: int, t: int, k: int = 1) -> Route: ...

An option is None (the algorithm checks the value), a sequence of the allowed values, or a check.  A check takes the network and
the value, raises ParameterError or returns the value to use.  Options that are not given have the defaults of the algorithm's
signature.  Registration runs at import, so a registering module imports its kernels inside functions, never at the top.
Subclasses of a network have its algorithms.  Users may register their own algorithms on the same objects.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ..errors import ParameterError, as_integer, join_alternatives, short_repr, suggest_name
from ..networks.network import Network

Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])

#: The kinds of options: None for any value (the algorithm checks it), allowed values, or a check of (network, value).
Option = Sequence[str | int] | Callable[[Any, Any], Any] | None


@dataclass(frozen=True)
class Algorithm(Generic[Result]):
    """One registered algorithm: its name, its function, its options by name, and whether it is the default."""

    name: str
    function: Callable[..., Result]
    options: Mapping[str, Option]
    default: bool


@dataclass(eq=False)
class Algorithms(Generic[Result]):
    """The algorithms behind one public function.

    Parameters
    ----------
    function : str
        The public function's name, for messages.
    homes : sequence of str
        Modules of ``fastcube.algorithms`` that register algorithms here.
    network, choice : str
        The public function's parameter names of the network and of the algorithm, for messages.
    """

    function: str
    homes: Sequence[str] = ()
    network: str = "network"
    choice: str = "algorithm"
    _known: dict[type[Network], dict[str, Algorithm[Result]]] = field(default_factory=dict, init=False)

    def register(
        self, network: type[Network], name: str, *, options: Mapping[str, Option] | None = None, default: bool = False
    ) -> Callable[[Function], Function]:
        """Return a decorator that registers an algorithm of ``network``.  Raises ValueError for a second name or default."""

        def add_algorithm(function: Function) -> Function:
            known = self._known.setdefault(network, {})
            if name in known or (default and any(other.default for other in known.values())):
                raise ValueError(f"{self.function} of {network.__name__} has {name if name in known else 'a default'}")
            known[name] = Algorithm(name, function, dict(options or {}), default)
            return function

        return add_algorithm

    def of(self, network: type[Network]) -> Mapping[str, Algorithm[Result]]:
        """Return the algorithms of a type of network by name, the default first; empty if it has none."""
        for home in self.homes:
            importlib.import_module(f".{home}", __package__)
        known = next((self._known[kind] for kind in network.__mro__ if kind in self._known), {})
        return dict(sorted(known.items(), key=lambda item: not item[1].default))

    def choose(
        self, network: object, algorithm: str | None = None, options: Mapping[str, Any] | None = None
    ) -> Callable[..., Result]:
        """Return the function of an algorithm (None: the default) with its options bound.

        Raises ParameterError for an unsupported network, an unknown name or a wrong option.
        """
        known = self.of(type(network))  # type: ignore[arg-type]
        if not known:
            kinds = join_alternatives([kind.__name__ for kind in self._known])
            raise ParameterError(f"{self.network} must be a {kinds}, got {short_repr(network)}")
        kind = type(network).__name__
        name = next(iter(known)) if algorithm is None else algorithm
        chosen = known.get(name) if isinstance(name, str) else None
        if chosen is None:
            hint = suggest_name(algorithm, known)
            raise ParameterError(
                f"{self.choice} must be {join_alternatives(known)} for {kind}, got {short_repr(algorithm)}{hint}"
            )
        checked = {}
        for option, value in (options or {}).items():
            if option not in chosen.options:
                takes = " and ".join(chosen.options) or "no options"
                raise ParameterError(f"{option} is not an option of {chosen.name}, which takes {takes}")
            checked[option] = _check_option(network, chosen, option, value)
        return functools.partial(chosen.function, **checked)


def _check_option(network: object, algorithm: Algorithm[Any], name: str, value: object) -> Any:
    """Return the checked value of an option of ``algorithm``.  Raises ParameterError if the value is not allowed."""
    option = algorithm.options[name]
    if option is None:
        return value
    if callable(option):
        return option(network, value)
    plain = value if isinstance(value, str) else as_integer(value)
    if plain not in option:
        hint = suggest_name(value, [v for v in option if isinstance(v, str)])
        raise ParameterError(
            f"{name} must be {join_alternatives(option)} for {algorithm.name}, got {short_repr(value)}{hint}"
        )
    return plain


def check_end(network: Network, name: str, label: object) -> int:
    """Return the label of a nonfaulty node as an int.  Raises ParameterError for other labels."""
    node = network.check_node(name, label)
    if network.is_faulty(node):
        raise ParameterError(f"{name} must be a nonfaulty node, got {node} ({network.label(node)}), which is faulty")
    return node
