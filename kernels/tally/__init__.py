"""Tallies: names and slots of counters and maxima (``layout``, which does not import numba), and the blocks that update them."""
