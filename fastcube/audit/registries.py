"""Find claims: in the registries of installed packages, or in the registry of a user's Python file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from ..errors import ParameterError, plain_text
from ..measure.installed import warn_of_package
from ..measure.paper import PAPERS, Paper, installed_paper, installed_papers
from ..measure.registry import module_of_file
from .claims import Claim, ClaimRegistry
from .examples import Example


def registry_of(paper: Paper) -> ClaimRegistry:
    """Return the claims of a paper, in the order of its modules and of their lines.  The paper must have claims."""
    modules = [paper.import_module(name) for name in paper.claims]
    registry: ClaimRegistry = modules[0].registry
    registry.sort_by_modules([module.__name__ for module in modules])
    return registry


def stated(paper: Paper) -> tuple[Claim, ...]:
    """Return the claims of a paper, empty if it has none.  Raises ParameterError if a module cannot be imported."""
    return tuple(registry_of(paper)) if paper.claims else ()


def worked_examples(paper: Paper) -> Mapping[str, Callable[[], Example]]:
    """Return the worked examples of a paper by their names in the inventory.  Raises ParameterError if the import fails."""
    examples: Mapping[str, Callable[[], Example]] = (
        paper.import_module(paper.examples).EXAMPLES if paper.examples else {}
    )
    return examples


def claim_registries() -> dict[str, ClaimRegistry]:
    """Return the registries of all installed papers and questions with claims, by name.  A broken package costs a warning."""
    out = {}
    for name, paper in installed_papers().items():
        if paper.claims:
            try:
                out[name] = registry_of(paper)
            except ParameterError as error:
                warn_of_package(PAPERS.points[name], str(error))
    return out


def claims(paper: str | None = None, name: str | None = None) -> list[Claim]:
    """Return the claims of all registries, of one paper (or of a Python file with a ClaimRegistry), or the claim ``name`` of it.

    With ``paper``, no other paper is imported.  Raises ParameterError, with the most similar name, if paper or claim is unknown.
    """
    if paper is None:
        return [claim for registry in claim_registries().values() for claim in registry]
    if paper.endswith(".py"):
        registry = _registry_of_file(paper)
        return [replace(claim, file=paper) for claim in (registry if name is None else [registry[name]])]
    chosen = installed_paper(paper)
    if not chosen.claims:
        raise ParameterError(f"paper must be one with claims, got {paper}")
    return [*registry_of(chosen)] if name is None else [registry_of(chosen)[name]]


def _registry_of_file(path: str) -> ClaimRegistry:
    if not Path(path).is_file():
        raise ParameterError(f"{plain_text(path)} does not exist")
    found = [
        value for value in vars(module_of_file(str(Path(path).resolve()))).values() if isinstance(value, ClaimRegistry)
    ]
    if len(found) != 1:
        raise ParameterError(f"{path} must hold one ClaimRegistry, it holds {len(found)}")
    return found[0]
