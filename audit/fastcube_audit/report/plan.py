"""The plan of ``fastcube reproduce``: one piece per grid of a study, per claim and per worked example of the papers.

The trials of a quick run and the cost of each piece were measured once and are stored in ``budget.json`` (written by
``audit/benchmarks/reproduce_budget.py``).  A grid without an entry uses a hundredth of its trials.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fastcube import resources
from fastcube.errors import check_integer
from fastcube.measure import registry
from fastcube.measure.goal import MOST_TRIALS, Goal, make_goal
from fastcube.measure.study import point_text

if TYPE_CHECKING:
    from fastcube.measure.inventory import Evidence
    from fastcube.measure.paper import Paper
    from fastcube.measure.study import Grid, Study

    from ..claims import Claim
    from ..examples import Example
    from ..registries import AuditedPaper

#: Assumed CPU seconds of a piece without a measured cost.
_DEFAULT_SECONDS = 5.0

#: A quick run of a grid without an entry in the budget uses the grid's trials divided by this number.
_QUICK_DIVISOR = 100


@dataclass(frozen=True)
class StudyPiece:
    """A grid of a study, as a piece of the report.  ``goal`` is None for a grid that is never run, only shown if it exists."""

    paper: Paper
    study: Study
    grid: Grid
    goal: Goal | None
    seconds: float

    @property
    def name(self) -> str:
        """Name of the piece's files: the study, and the grid unless it is the first."""
        return self.study.name if self.grid.name == self.study.grids[0].name else f"{self.study.name}-{self.grid.name}"

    def is_named_by(self, evidence: Evidence) -> bool:
        """Whether an inventory's evidence names this grid; evidence without a grid means the study's first grid."""
        return (evidence.study, evidence.grid or self.study.grids[0].name) == (self.study.name, self.grid.name)

    def is_done(self, have: Mapping[str, int]) -> bool:
        """Whether the goal is reached, given the trials of each point (by its text) that are complete from trial 0 on."""
        goal = self.goal
        points = [self.study.point(point) for point in self.grid.points]
        return goal is None or all(have.get(point_text(point), 0) >= goal.trials_at(point) for point in points)


@dataclass(frozen=True)
class ClaimPiece:
    """One claim of a paper, as a piece of the report."""

    paper: Paper
    claim: Claim
    seconds: float

    @property
    def name(self) -> str:
        """Name of the piece's file."""
        return f"{self.paper.name}-{self.claim.id}"


@dataclass(frozen=True)
class ExamplePiece:
    """One worked example; ``key`` is its name in the paper's inventory."""

    paper: Paper
    key: str
    make: Callable[[], Example]
    seconds: float = 0.5

    @property
    def name(self) -> str:
        """Name of the piece's file."""
        return f"{self.paper.name}-{self.key}"


@dataclass(frozen=True)
class Plan:
    """All pieces of a report, in the order in which they are computed."""

    papers: tuple[Paper, ...]
    quick: bool
    studies: tuple[StudyPiece, ...] = field(default=())
    claims: tuple[ClaimPiece, ...] = field(default=())
    examples: tuple[ExamplePiece, ...] = field(default=())

    def __iter__(self) -> Iterator[StudyPiece | ClaimPiece | ExamplePiece]:
        return iter((*self.studies, *self.claims, *self.examples))

    def __len__(self) -> int:
        return len(self.studies) + len(self.claims) + len(self.examples)


@functools.cache
def budget() -> Mapping[str, Any]:
    """Return the measured trials and CPU seconds of pieces."""
    held: Mapping[str, Any] = resources.read_json("budget", __package__)
    return held


def _study_piece(paper: Paper, study: Study, grid: Grid, quick: bool) -> StudyPiece:
    entry = budget()["studies"].get(study.name, {}).get(grid.name)
    if entry is None:
        least = min(grid.trials_of_points().values())
        entry = {"quick": max(1, least // _QUICK_DIVISOR), "seconds": (_DEFAULT_SECONDS, _DEFAULT_SECONDS)}
    trials = check_integer("quick", entry["quick"], 0, MOST_TRIALS, f"for {study.name}")
    if not trials:
        return StudyPiece(paper, study, grid, None, 0.0)
    goal = Goal(trials) if quick else make_goal(study, grid)
    return StudyPiece(paper, study, grid, goal, float(entry["seconds"][not quick]))


def claim_seconds(claims: Sequence[Claim], quick: bool) -> dict[tuple[str, str], float]:
    """Return the CPU seconds that deciding costs, by paper and id.  Raises ParameterError if the package's data are damaged."""
    with resources.wrap_damage_errors("budget"):
        held = budget()["claims"]
        return {
            claim.key: float(held.get(claim.paper, {}).get(claim.id, (_DEFAULT_SECONDS, _DEFAULT_SECONDS))[not quick])
            for claim in claims
        }


def plan_of(chosen: Sequence[AuditedPaper], quick: bool) -> Plan:
    """Return the pieces of some papers, for quick or full effort.  Raises ParameterError if the package's data are damaged."""
    studies, claims, examples = [], [], []
    for audited in chosen:
        paper = audited.paper
        own = [registry.study(name) for name in paper.studies]
        with resources.wrap_damage_errors("budget"):
            studies += [_study_piece(paper, study, grid, quick) for study in own for grid in study.grids]
        costs = claim_seconds(audited.claims, quick)
        claims += [ClaimPiece(paper, claim, costs[claim.key]) for claim in audited.claims]
        examples += [ExamplePiece(paper, key, make) for key, make in audited.examples.items()]
    return Plan(tuple(audited.paper for audited in chosen), quick, tuple(studies), tuple(claims), tuple(examples))
