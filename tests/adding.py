"""Results in memory, added as files are."""

from dataclasses import replace

from fastcube.results.columns import Columns
from fastcube.results.combining import combine
from fastcube.results.reading import Part


def part_of(results):
    """What a file of these results would hold."""
    columns = Columns.of(results.study.tally, results.tallies)
    return Part(replace(results, tallies={}), columns, results.digest())


def added(named):
    """Pairs of a name and results, combined."""
    return combine((name, part_of(results)) for name, results in named)
