"""Compare two results of one study: points, trials, and estimates whose intervals do not overlap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import StudyMismatchError
from ..measure.estimate import UNDEFINED, Estimate
from ..measure.schema import Key
from ..measure.study import point_text
from .results import Results


@dataclass(frozen=True)
class Comparison:
    """The comparison of two results; points are text, ``n=10,f=5``."""

    only_one: tuple[str, ...]  #: points of the first results only
    only_other: tuple[str, ...]  #: points of the second results only
    same: tuple[str, ...]  #: points at which both have the same trials with the same counts
    broken: tuple[str, ...]  #: points at which both have the same trials with different counts
    compared: int  #: number of pairs of estimates, at all other common points, that both have an interval
    #: those pairs whose intervals do not overlap, with point and statistic
    differing: tuple[tuple[str, str, Estimate, Estimate], ...]

    @property
    def differ(self) -> bool:
        """Whether points differ, counts of the same trials differ, or some intervals do not overlap."""
        return bool(self.only_one or self.only_other or self.broken or self.differing)


def compare_results(one: Results, other: Results) -> Comparison:
    """Compare results of one study, for any seeds, trials and revisions; O(points x statistics).

    If both have the same trials at a point (seed, revision, code, ranges), their counts must be equal, and estimates are not
    compared.  Of independent pairs of 95% intervals of equal width some 0.6% do not overlap by chance.

    Raises StudyMismatchError for results of different studies or axes.
    """
    mine, theirs = one.study, other.study
    if (mine.name, [a.name for a in mine.axes]) != (theirs.name, [a.name for a in theirs.axes]):
        raise StudyMismatchError(f"only files of one study can be compared, got {mine.name} and {theirs.name}")
    heads = [part._describe_study() for part in (one, other)]
    my_keys, their_keys = set(one.tallies), set(other.tallies)

    def format_points(results: Results, chosen: set[Key]) -> tuple[str, ...]:
        return tuple(point_text(results.point(key)) for key in sorted(chosen, key=results.study.order))

    common = my_keys & their_keys
    repeated = {key for key in common if heads[0] == heads[1] and one.tallies[key].ranges == other.tallies[key].ranges}
    equal = {key for key in repeated if one.tallies[key] == other.tallies[key]}
    compared = sorted(common - repeated, key=one.study.order)
    pairs = [pair for key in compared for pair in _estimate_pairs(one, other, key)]
    return Comparison(
        format_points(one, my_keys - their_keys),
        format_points(other, their_keys - my_keys),
        format_points(one, equal),
        format_points(one, repeated - equal),
        len(pairs),
        tuple((at, name, a, b) for at, name, a, b in pairs if a.low > b.high or b.low > a.high),
    )


def _estimate_pairs(one: Results, other: Results, key: Key) -> Iterator[tuple[str, str, Estimate, Estimate]]:
    """Yield the pairs of estimates at a point that both have an interval, with the point and the statistic's label."""
    point = one.point(key)
    their_names = {s.name for s in other.study.statistics}
    for statistic in one.study.statistics:
        if statistic.name not in their_names:
            continue
        others = dict(other.labelled_estimates(other.study.statistic(statistic.name), point))
        for label, a in one.labelled_estimates(statistic, point):
            b = others.get(label, UNDEFINED)
            if a.half_width >= 0 and b.half_width >= 0:  # neither is NaN
                yield point_text(point), label, a, b
