"""Tallies: names and slots of counters (``layout``, which does not import numba), and blocks that update them (``sums``)."""
