"""Hypothesis with the settings of our property-based tests; a test file that imports from here is skipped where it is missing."""

import pytest

pytest.importorskip("hypothesis")

from hypothesis import given, settings, strategies

__all__ = ["given", "settings", "strategies"]

# The same examples each time, and no files of earlier runs.
settings.register_profile("fastcube", derandomize=True, database=None, deadline=None, max_examples=60)
settings.load_profile("fastcube")
