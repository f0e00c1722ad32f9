"""Find claims: in the registries of installed packages, or in the registry of a user's Python file.

A package with claims has an entry point of the group ``fastcube.claims``.  It names a ``PaperClaims``, whose name is that of
the entry point.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fastcube.errors import ParameterError, join_alternatives, plain_text, suggest_name
from fastcube.measure.installed import Installed, load_or_refuse, warn_of_package
from fastcube.measure.paper import Paper
from fastcube.measure.registry import module_of_file

from .claims import Claim, ClaimRegistry
from .examples import Example


@dataclass(frozen=True)
class PaperClaims:
    """The claims of a paper, or of a question beyond the papers.

    Parameters
    ----------
    package : str
        The package's ``__name__``, whose last part is the paper's short name.
    modules : tuple of str
        Modules of the package that register claims, in the order of the claims; the first imports the registry of claims as
        ``registry``.
    examples : str, optional
        The module of the package with the worked examples, ``EXAMPLES``.
    """

    package: str
    modules: tuple[str, ...]
    examples: str = ""

    @property
    def name(self) -> str:
        """The paper's short name."""
        return self.package.rpartition(".")[2]

    def registry(self) -> ClaimRegistry:
        """Return the claims, in the order of their modules and lines.  Raises ParameterError if an import fails."""
        modules = [self._import_module(name) for name in self.modules]
        registry = getattr(modules[0], "registry", None) if modules else None
        if not isinstance(registry, ClaimRegistry):
            raise ParameterError(
                f"the first module of the claims of {self.package} must have a ClaimRegistry `registry`"
            )
        registry.sort_by_modules([module.__name__ for module in modules])
        return registry

    def worked_examples(self) -> Mapping[str, Callable[[], Example]]:
        """Return the worked examples by their names in the inventory.  Raises ParameterError if the import fails."""
        examples: Mapping[str, Callable[[], Example]] = (
            self._import_module(self.examples).EXAMPLES if self.examples else {}
        )
        return examples

    def _import_module(self, name: str) -> Any:
        module = f"{self.package}.{name}"
        return load_or_refuse(lambda: module, lambda: importlib.import_module(module))


#: The claims of installed packages.
CLAIMS = Installed("fastcube.claims", PaperClaims, "claims of")


@dataclass(frozen=True)
class AuditedPaper:
    """A paper with its claims and its worked examples, which are named in its inventory."""

    paper: Paper
    claims: tuple[Claim, ...]
    examples: Mapping[str, Callable[[], Example]]


def audited_paper(paper: Paper) -> AuditedPaper:
    """Return a paper with its claims and examples, if it has any.  Raises ParameterError if an import fails."""
    if paper.name not in CLAIMS.points:
        return AuditedPaper(paper, (), {})
    claims = CLAIMS.load(CLAIMS.point(paper.name))
    return AuditedPaper(paper, tuple(claims.registry()), claims.worked_examples())


def claim_registries() -> dict[str, ClaimRegistry]:
    """Return the registries of all installed papers and questions with claims, by name.  A broken package costs a warning."""
    out = {}
    for name, paper in CLAIMS.all().items():
        try:
            out[name] = paper.registry()
        except ParameterError as error:
            warn_of_package(CLAIMS.points[name], str(error))
    return out


def claims(paper: str | None = None, name: str | None = None) -> list[Claim]:
    """Return the claims of all registries, of one paper (or of a Python file with a ClaimRegistry), or those called ``name``.

    A name is a claim's, or a fact's that several claims are about.

    With ``paper``, no other paper is imported.  Raises ParameterError, with the most similar name, if paper or claim is unknown.
    """
    if paper is None:
        return [claim for registry in claim_registries().values() for claim in registry]
    if paper.endswith(".py"):
        registry = _registry_of_file(paper)
        return [replace(claim, file=paper) for claim in (registry if name is None else registry.named(name))]
    if paper not in CLAIMS.points:
        known = [*CLAIMS.points, "a Python file"]
        raise ParameterError(
            f"paper must be {join_alternatives(known)}, got {plain_text(paper)}{suggest_name(paper, CLAIMS.points)}"
        )
    registry = CLAIMS.load(CLAIMS.point(paper)).registry()
    return [*registry] if name is None else registry.named(name)


def _registry_of_file(path: str) -> ClaimRegistry:
    if not Path(path).is_file():
        raise ParameterError(f"{plain_text(path)} does not exist")
    found = [
        value for value in vars(module_of_file(str(Path(path).resolve()))).values() if isinstance(value, ClaimRegistry)
    ]
    if len(found) != 1:
        raise ParameterError(f"{path} must hold one ClaimRegistry, it holds {len(found)}")
    return found[0]
