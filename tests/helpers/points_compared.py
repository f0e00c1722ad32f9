"""Counts of a kernel at a point of the study table."""

import json

import numpy as np

import fastcube as fc
from helpers.study_table import STUDIES


def count_as_json(name, kernel, point, trials):
    """What a kernel counts, as JSON; the digits that a counter is kept in may differ."""
    study = fc.study(name)
    slots = study.tally.new_tally()
    body = STUDIES[name].table.load_kernel(kernel).compiled
    body(np.uint64(study.key(5, point)), 3, 3 + trials, study.parameters(point), slots)
    return json.dumps(study.tally.read(slots))
