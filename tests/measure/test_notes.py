"""The notes below a study's table."""

import pytest

import fastcube as fc
from fastcube.measure.tally import Tally
from fastcube.results.results import Results


@pytest.mark.parametrize("name", fc.study_names())
def test_notes_allow_for_points_without_trials(name):
    """An interrupted run leaves such points, and a reader may select them."""
    study = fc.study(name)
    empty = Tally.from_slots(study.tally, 0, 0, study.tally.new_tally())
    for grid in study.grids:
        notes = grid.notes or study.notes
        keys = [tuple(study.point(point).values()) for point in grid.points]
        assert notes is None or isinstance(notes(Results(study, 0, dict.fromkeys(keys, empty), grid=grid.name)), list)
